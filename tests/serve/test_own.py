"""Policies of the operator's own: those that the configuration lists, and no others."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.served import COLOURS, check_memory, decide, play, reward, url_of
from thrifty.cli import main
from thrifty.errors import InvalidValue
from thrifty.serve import config, own
from thrifty.serve.app import App

URL = "/v1/experiments/colours"
HERE = "tests.support.own:"


@pytest.fixture(autouse=True)
def _listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own, "LISTED", {})
    own.allow([f"{HERE}{name}" for name in ("Sampler", "Steady", "Fading", "Latest")])


async def some(client: httpx.AsyncClient, **ask: Any) -> None:
    made = await decide(client, **ask)
    await reward(client, *({"decision": one["id"], "reward": i % 3 / 2} for i, one in enumerate(made)))


@pytest.mark.parametrize("name", ["Sampler", "Steady"])
def test_one_that_is_listed_is_played(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = {"name": f"{HERE}{name}"}

    async def first(client: httpx.AsyncClient, app: App) -> None:
        answer = await client.put(URL, json=COLOURS | {"policy": policy})
        assert answer.status_code == 201, answer.text
        assert answer.json()["policy"]["name"] == f"{HERE}{name}"
        await some(client, count=30)
        await some(client, rank=2)
        check_memory(app)

    async def second(client: httpx.AsyncClient, app: App) -> None:
        check_memory(app)
        await some(client, count=10)

    play(tmp_path, first)
    play(tmp_path, second)
    monkeypatch.setattr(own, "LISTED", {})
    target = str(tmp_path / "colours.parquet")
    assert main(["export", "colours", "--parquet", target, "--store", url_of(tmp_path)]) == 0
    assert "wrote 42 decisions" in capsys.readouterr().out
    with pytest.raises(InvalidValue, match="that the configuration lists, got"):
        play(tmp_path, second)


def test_one_that_fails_in_the_middle_decides_nothing(tmp_path: Path) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        await client.put(
            URL, json=COLOURS | {"policy": {"name": f"{HERE}Sampler", "until": 20}, "floor": 0.01}
        )
        await some(client, count=15)
        answer = await client.post(f"{URL}/decisions", json={"count": 300})
        assert answer.status_code == 422
        assert "must be a number, got NaN" in answer.json()["detail"]
        assert (await client.get(URL)).json()["decisions"] == 15
        check_memory(app)
        await some(client, count=4)
        check_memory(app)

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"{HERE}Spiked", "that the configuration lists"),  # there, and not listed
        ("os:system", "that the configuration lists"),
        (f"{HERE}Fading", "whatever their order"),
        (f"{HERE}Latest", "whatever their order"),
    ],
)
def test_others_are_refused(tmp_path: Path, name: str, said: str) -> None:
    async def scenario(client: httpx.AsyncClient, app: App) -> None:
        answer = await client.put(URL, json=COLOURS | {"policy": {"name": name}})
        assert answer.status_code == 422
        assert said in answer.json()["detail"]

    play(tmp_path, scenario)


@pytest.mark.parametrize("name", ["nowhere:Policy", "math:pi", f"{HERE}Nobody", "thrifty:TSMA", "TSMA", ":x"])
def test_what_cannot_be_listed_is_said(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--policies", name]) == 2
    assert "policies must be module:Class" in capsys.readouterr().err


def test_the_configuration_lists_them(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text('policies = ["a:B", "c:D"]\nlog_requests = true\n')
    found = config.read({}, file, {})
    assert (found.policies, found.log_requests) == (["a:B", "c:D"], True)
    found = config.read({}, file, {"THRIFTY_POLICIES": "e:F", "THRIFTY_LOG_REQUESTS": "false"})
    assert (found.policies, found.log_requests) == (["e:F"], False)
