"""How it starts and is set up: one server for each store, settings from three places, what is said."""

import asyncio
import gc
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.served import COLOURS, PROGRAM, play, serving, url_of
from thrifty.cli import main
from thrifty.errors import FileError, InvalidCall, InvalidValue
from thrifty.serve import config, run
from thrifty.serve.app import App, create
from thrifty.serve.service import Service
from thrifty.serve.store import Store, meta


def test_a_second_server_is_refused_and_a_dead_one_is_no_obstacle(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, "serve", "--port", "0", "--store", url_of(tmp_path)]
    with serving(tmp_path) as (server, _):
        second = subprocess.run(command, capture_output=True, text=True)
        assert second.returncode == 2
        assert "must have one server at a time" in second.stderr
        assert second.stderr.count("\n") == 1
        with pytest.raises(InvalidCall, match="one server at a time"):
            Service(url_of(tmp_path)).open()
        server.kill()

    async def scenario(client: object, app: App) -> None:
        with pytest.raises(InvalidCall, match="one server at a time"):
            create(url_of(tmp_path)).service.open()

    play(tmp_path, scenario)


def test_flags_come_before_variables_and_those_before_the_file(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('store = "sqlite:///a.db"\nport = 1\nhost = "::1"\n')
    found = config.read(
        {"port": "3", "host": None}, file, {"THRIFTY_PORT": "2", "THRIFTY_STORE": "sqlite:///b.db"}
    )
    assert found == config.Settings(store="sqlite:///b.db", host="::1", port=3)
    assert config.read({}, None, {}) == config.Settings()


@pytest.mark.parametrize("text", ["port = '1'", "port = 99999999", "port ="])
def test_a_wrong_setting_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(text)
    with pytest.raises((InvalidValue, FileError)):
        config.read({}, file, {})


def test_an_unknown_setting_is_refused_by_its_name(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text("prot = 1")
    with pytest.raises(InvalidValue, match=r"serve.toml: prot must be one of store, host, port"):
        config.read({}, file, {})
    for name in ("THRIFTY_PROT", "THRIFTY_port"):
        with pytest.raises(InvalidValue, match=f"^{name} must be one of THRIFTY_STORE, THRIFTY_HOST"):
            config.read({}, None, {name: "1"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--host", "0.0.0.0"], "as long as there is no key"),
        (["--store", "mysql:///x"], "store must be the URL of a file"),
        (["--store", "sqlite:///:memory:"], "store must be the URL of a file"),
        (["--port", "x"], "port"),
    ],
)  # fmt: skip
def test_what_cannot_be_served_is_said_in_a_line(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *options]) == 2
    assert said in capsys.readouterr().err


def test_a_store_that_is_none_or_newer_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thrifty.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(FileError, match="cannot be opened as a store"):
        Service(url_of(tmp_path)).open()
    (tmp_path / "thrifty.db").unlink()
    store = Store(url_of(tmp_path))
    store.open(0)
    with store.writing() as connection:
        connection.execute(meta.update().where(meta.c.name == "schema").values(value="999"))
    store.close()
    with pytest.raises(FileError, match="upgrade thrifty"):
        Service(url_of(tmp_path)).open()


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["starlette"] = None
from thrifty.cli import main
sys.exit(main(["serve"]))"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\\n")) == (2, 0)
    assert "pip install 'thrifty[serve]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_when_it_is_ready_is_not_looked_through_for_garbage(tmp_path: Path) -> None:
    async def whole() -> int:
        app = create(url_of(tmp_path))
        app.started = run.keep
        async with app.lifespan():
            await app.starting
            await asyncio.sleep(0)
            return gc.get_freeze_count()

    try:
        assert asyncio.run(whole()) > 10_000
    finally:
        gc.unfreeze()


def test_nor_is_what_an_experiment_brought(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> int:
        app.service.created = gc.freeze
        await client.put("/v1/experiments/colours", json=COLOURS)
        return gc.get_freeze_count()

    try:
        assert play(tmp_path, scenario) > 10_000
    finally:
        gc.unfreeze()
