"""Which Pythons ``.ci/pythons.py`` runs, what it says of the others, and when it fails."""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
SPEC = importlib.util.spec_from_file_location("pythons", ROOT / ".ci" / "pythons.py")
CI: Any = importlib.util.module_from_spec(SPEC)  # type: ignore[arg-type]
SPEC.loader.exec_module(CI)  # type: ignore[union-attr]
Python = CI.Python
WHEELS = {(3, 10), (3, 11), (3, 12), (3, 13)}
TESTED = Python((3, 11, 7), "/tested")


def choose(*pythons: Any) -> tuple[list[Any], list[str]]:
    chosen, others = CI.choose(pythons, TESTED, (3, 11), WHEELS)
    assert others[0] == "CPython 3.11.7: ran the whole suite"
    return chosen, others[1:]


def test_the_newest_release_of_every_other_version_is_run_once() -> None:
    old, new = Python((3, 13, 2), "/old"), Python((3, 13, 10), "/new")
    other, beside = Python((3, 12, 1), "/other"), Python((3, 11, 9), "/beside")
    assert choose(old, new, new, other, beside, TESTED) == (
        [other, new],
        ["CPython 3.13.2: CPython 3.13.10 stands for it", "CPython 3.11.9: CPython 3.11.7 stands for it"],
    )


@pytest.mark.parametrize(
    ("python", "said"),
    [
        (Python((3, 10, 13), "/a"), "CPython 3.10.13: not supported, it is too old"),
        (Python((2, 7, 18), "/a"), "CPython 2.7.18: not supported, it is too old"),
        (Python((3, 14, 0), "/a"), "CPython 3.14.0: not supported yet, Numba has no wheel for it"),
        (Python((3, 13, 1), "/a", "PyPy"), "PyPy 3.13.1: not supported, it is not CPython"),
        (
            Python((3, 13, 1), "/a", free_threaded=True),
            "CPython 3.13.1t: not supported, it is free-threaded",
        ),
    ],
)
def test_what_is_not_supported_is_reported_and_not_run(python: Any, said: str) -> None:
    assert choose(python) == ([], [said])


def test_the_files_say_what_is_supported() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    lock = CI.wheels((ROOT / "uv.lock").read_text())
    first = CI.oldest(project)
    assert first == (3, 11)
    classified = {(3, minor) for minor in range(100) if f':: 3.{minor}"' in project}
    assert classified == {minor for minor in lock if minor >= first}


def test_a_wheel_for_free_threads_is_none() -> None:
    lock = '[[package]]\nname = "numba"\nwheels = [{ url = "a/numba-1-cp311-cp311-linux.whl" }, '
    lock += '{ url = "a/numba-1-cp314-cp314t-linux.whl" }]\n[[package]]\nname = "numpy"\n'
    assert CI.wheels(lock) == {(3, 11)}


def test_an_interpreter_describes_itself() -> None:
    this = Python(sys.version_info[:3], os.path.realpath(sys.executable))
    assert CI.ask(sys.executable) == this


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """``main``, where these interpreters are installed and commands with the word ``broken`` in them fail:
    its exit code, the commands that it ran, and its summary."""

    def main(pythons: dict[str, Any], broken: str = "nothing") -> tuple[int, list[str], list[str]]:
        commands: list[str] = []

        def run(*command: str) -> bool:
            commands.append(" ".join(command))
            return broken not in commands[-1]

        def ask(path: str) -> Any:
            if pythons[path] is None:
                raise OSError("not executable")
            return pythons[path]

        monkeypatch.setattr(CI, "installed", lambda: set(pythons))
        monkeypatch.setattr(CI, "ask", ask)
        monkeypatch.setattr(CI, "run", run)
        code = CI.main(TESTED)
        summary = capfd.readouterr().out.partition("Pythons:\n")[2]
        return code, commands, [line.strip() for line in summary.splitlines()]

    return main


NEW = Python((3, 13, 1), "/new")
OLDEST = "CPython 3.11.7 with the oldest libraries: the smoke set"


def test_all_that_was_found_is_run_and_named(here: Any) -> None:
    code, commands, summary = here({"a": TESTED, "b": NEW, "c": Python((3, 10, 1), "/older")})
    assert code == 0
    assert commands[0] == "uv run --locked --isolated --python /new pytest tests/test_smoke.py"
    assert [command.split()[1] for command in commands[1:3]] == ["venv", "pip"]
    assert "--resolution lowest-direct" in commands[2]
    assert commands[3].endswith("/bin/python -m pytest tests/test_smoke.py")
    assert summary == [
        "CPython 3.11.7: ran the whole suite",
        "CPython 3.10.1: not supported, it is too old",
        "CPython 3.13.1: the smoke set passed, 0 s",
        f"{OLDEST} passed, 0 s",
    ]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("--isolated", "CPython 3.13.1: the smoke set FAILED, 0 s"),
        ("venv", f"{OLDEST} FAILED, 0 s"),
        ("lowest-direct", f"{OLDEST} FAILED, 0 s"),
        ("-m pytest", f"{OLDEST} FAILED, 0 s"),
    ],
)
def test_one_that_fails_fails_the_whole_after_all_have_run(here: Any, broken: str, said: str) -> None:
    code, commands, summary = here({"a": TESTED, "b": NEW}, broken)
    assert code == 1
    assert summary[-1] == said
    assert any("lowest-direct" in command or "venv" in command for command in commands)


def test_one_that_is_found_and_does_not_start_is_a_failure(here: Any) -> None:
    code, _, summary = here({"a": TESTED, "/broken": None})
    assert code == 1
    assert summary[-1] == "/broken was found and cannot be run: not executable"
