"""The manual of the service: commands of its first page are run one after the other, and say what it shows;
the other pages say what the code does."""

import doctest
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.support.served import url_of
from thrifty.serve import bodies, config, lines, log, messages, metrics, recent, run
from thrifty.serve.app import Api
from thrifty.serve.clock import SECOND
from thrifty.serve.pages import routes, sessions
from thrifty.serve.service import MOST_EXPERIMENTS, STATUS, Service

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


class Reader:
    """Somebody who follows the page, in a folder of his own and at another port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.server: subprocess.Popen[str] | None = None
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "THRIFTY_PORT": str(self.port),
        }

    def serve(self, command: str) -> None:
        words = command.split()
        self.server = subprocess.Popen(
            words, cwd=self.folder, env=self.environment, stdout=subprocess.DEVNULL, text=True
        )
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz", trust_env=False).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError(f"{command} did not become ready")

    def stop(self) -> None:
        """Ctrl-C."""
        if self.server is not None:
            self.server.send_signal(signal.SIGINT)
            self.server.wait(30)
            self.server = None

    def run(self, script: str) -> str:
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, script + done.stdout + done.stderr
        return done.stdout


def test_every_command_of_the_page_says_what_the_page_shows(tmp_path: Path) -> None:
    reader, said, served = Reader(tmp_path), "", 0
    try:
        for block in BLOCK.finditer(PAGE.read_text()):
            kind, text = block[1], block[2]
            before = PAGE.read_text()[: block.start()].rstrip().splitlines()[-1]
            if "Stop it with Ctrl-C" in before:
                reader.stop()
            text = text.replace("uv run ", "").replace(
                'Client("', 'Client(decide_timeout=60, url="'
            )  # a slow machine
            text = text.replace("8642", str(reader.port))
            if kind == "python":
                (tmp_path / re.findall(r"as `(\w+\.py)`", before)[0]).write_text(text)
            elif kind == "text":
                assert doctest.OutputChecker().check_output(text, said.strip() + "\n", FLAGS), (text, said)
            elif text.startswith("thrifty serve"):
                reader.serve(text)
                served += 1
            else:
                assert kind == "sh", kind
                said = reader.run(text)
    finally:
        reader.stop()
    assert served == 2
    assert (tmp_path / "button.parquet").exists()


def page(name: str) -> str:
    return (PAGE.parent / name).read_text()


def test_the_api_has_every_path_with_its_scope(tmp_path: Path) -> None:
    paths = Api(Service(url_of(tmp_path)), None)._paths()
    wanted = {
        (f"{method} {path}", operation.scope)
        for path, methods in paths.items()
        for method, (operation, _) in methods.items()
    }
    found = re.findall(r"^\| `([A-Z]+ /[^`]*)` \| (\w*) ?\|", page("service-api.md"), re.MULTILINE)
    assert set(found) == wanted
    assert len(found) == len(wanted)


@pytest.mark.parametrize("kind", [messages.Definition, messages.Ask, messages.Decisions, messages.Problem])
def test_the_api_shows_every_field(kind: type[msgspec.Struct]) -> None:
    """Examples are read as what they are, and show what is left out."""
    names = {*kind.__struct_fields__} - {"type"}
    shown = [json.loads(block[2]) for block in BLOCK.finditer(page("service-api.md")) if block[1] == "json"]
    (example,) = [one for one in shown if {*one} == names]
    read = msgspec.convert(example, kind)
    if kind is messages.Definition:
        assert read == messages.Definition(policy=example["policy"], arms=example["arms"])
    if kind is messages.Ask:
        assert read == messages.Ask(count=1)


def test_statuses_and_events_are_those_that_there_are() -> None:
    text = page("service-api.md")
    assert {*STATUS.values(), "refused", "unknown"} <= {*re.findall(r"`(\w+)`", text)}
    assert {*lines.EVENTS.values(), "change", "decisions"} <= {*re.findall(r"`(\w+)`", text)}


def test_limits_are_those_of_the_code() -> None:
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", page("service-operating.md"), re.MULTILINE))
    wanted = {
        "bytes of a body": f"{bodies.BODY // 2**20} MB, else 413",
        "seconds of a body": f"{bodies.SLOW:g}, else 408",
        "decisions, or arms to rank, of a request": f"{messages.MOST_DECISIONS:,}",
        "rewards of a request": f"{messages.MOST_REWARDS:,}",
        "arms that a request adds": f"{messages.MOST_NEW:,}; one that creates may name all of them",
        "arms of an experiment, with those that went": f"{messages.MOST_ARMS:,}",
        "experiments": f"{MOST_EXPERIMENTS:,}",
        "bytes of a form": f"{routes.FORM // 2**20} MB, else 413",
        "sessions": f"{sessions.MOST:,}; the oldest make room",
        "connections": f"{run.CONNECTIONS:,}, else 503",
        "decisions that wait for the store": f"{log.QUEUE:,}, else 503",
        "answers that are kept for keys of questions": f"{recent.MOST:,} decisions, "
        f"{recent.KEPT // SECOND} seconds",
    }
    assert {what: rows[what] for what in wanted} == wanted


def test_settings_and_metrics_are_those_of_the_code(tmp_path: Path) -> None:
    text = page("service-operating.md")
    settings = config.Settings.__struct_fields__
    rows = re.findall(r"^\|(?: `--([\w-]+)`)? \| `THRIFTY_(\w+)` \| `(\w+)` \|", text, re.MULTILINE)
    assert rows == [
        ("" if name == "secret" else name.replace("_", "-"), name.upper(), name) for name in settings
    ]
    exposed = metrics.exposed(Service(url_of(tmp_path))).decode()
    assert {*re.findall(r"^# TYPE (\w+)", exposed, re.MULTILINE)} == {*re.findall(r"`(thrifty_\w+)`", text)}


def test_promises_name_the_tests_that_there_are() -> None:
    named = {*re.findall(r"`tests/serve/(test_\w+\.py)`", page("service-promises.md"))}
    assert named <= {path.name for path in Path(__file__).parent.iterdir()}
