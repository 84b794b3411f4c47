"""Sweeps of Python objects: the same folder as of a file that says the same, or a refusal before anything."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.own import Fading
from thrifty.errors import InvalidType, InvalidValue
from thrifty.sweeps import chunks, grid, run
from thrifty.sweeps.local import Job, Played, _sendable

TOML = """
horizon = [30, 60]
runs = 5
seed = 3
prior = [0.5, 2]
delay = {kind = "uniform", low = 1, high = 4}
checkpoints = [10, 20]
[[problem]]
kind = "bernoulli"
means = [0.9, 0.5, 0.4]
[[problem]]
kind = "beta"
a = [2, 1]
b = [1, 2]
[[policies]]
name = "TSMA"
alpha = [0.0, 0.8]
[[policies]]
name = "Binarised"
[policies.policy]
name = "UCB1"
"""
OWN = """
[[policies]]
name = "tests.support.own:Fading"
speed = 0.5
"""
OBJECTS: dict[str, Any] = {
    "horizon": (30, 60),
    "runs": 5,
    "seed": 3,
    "prior": (0.5, 2),
    "delay": thrifty.UniformDelay(1, 4),
    "checkpoints": np.array([10, 20]),
    "problem": [thrifty.Bernoulli([0.9, 0.5, 0.4]), thrifty.Beta([2, 1], [1, 2])],
    "policies": [
        thrifty.TSMA(0.0),
        thrifty.TSMA(0.8),
        thrifty.Binarised(thrifty.UCB1()),
    ],
}
ONE: dict[str, Any] = {
    "horizon": 30,
    "runs": 2,
    "problem": thrifty.Bernoulli([0.9, 0.5]),
    "policies": [thrifty.TSMA()],
}


@dataclass(frozen=True)
class Inside(thrifty.IndexPolicy):
    """A policy whose class is in a file."""

    def index(self, mean: float) -> float:
        return mean


def contents(folder: Path) -> dict[str, bytes]:
    """Everything but where it came from."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.suffix != ".json" or path.name == "sweep.json"
    }


class Here:
    """Chunks played by nobody else: processes take seconds to begin."""

    workers = 1

    def play(self, jobs: Sequence[Job]) -> Played:
        return ((number, chunks.play(*job)) for number, job in enumerate(jobs))


def test_objects_are_what_a_file_says(tmp_path: Path) -> None:
    """With processes; and a folder that the one began, the other goes on with."""
    (tmp_path / "spec.toml").write_text(TOML)
    told = dict(run.run(grid.load(tmp_path / "spec.toml"), tmp_path / "told", Here()))  # type: ignore[arg-type]
    made = thrifty.sweep(OBJECTS, tmp_path / "made", workers=2)
    assert list(made) == list(told) == ["bernoulli-1-T30", "bernoulli-1-T60", "beta-2-T30", "beta-2-T60"]
    assert contents(tmp_path / "made") == contents(tmp_path / "told")
    for name in ("beta-2-T60.npz", "beta-2-T60.json"):
        (tmp_path / "told" / name).unlink()
    again = dict(run.run(grid.given(OBJECTS), tmp_path / "told", Here()))  # type: ignore[arg-type]
    assert contents(tmp_path / "made") == contents(tmp_path / "told")
    assert again["bernoulli-1-T30"].provenance == told["bernoulli-1-T30"].provenance


def test_a_policy_of_ones_own_is_told_by_its_code_too(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(TOML + OWN)
    written = grid.written(grid.given(OBJECTS | {"policies": [*OBJECTS["policies"], Fading(speed=0.5)]}))
    assert written == grid.written(grid.load(tmp_path / "spec.toml"))
    assert re.search(r'"tests.support.own:Fading": "[0-9a-f]{64}"', written)


def test_tables_and_objects_may_be_mixed() -> None:
    table = {"name": "TSMA", "alpha": [0.0, 0.8]}
    problem = {"kind": "bernoulli", "means": np.array([0.9, 0.5])}
    mixed = grid.given(
        ONE | {"policies": [table, thrifty.UCB1()], "problem": problem, "horizon": range(30, 50, 10)}
    )
    made = [thrifty.TSMA(0.0), thrifty.TSMA(0.8), thrifty.UCB1()]
    assert grid.written(mixed) == grid.written(grid.given(ONE | {"policies": made, "horizon": [30, 40]}))
    for one in (table | {"alpha": 0.8}, thrifty.TSMA(0.8), (thrifty.TSMA(0.8),)):
        (case,) = grid.given(ONE | {"policies": one})
        assert case.spec.policies == (thrifty.TSMA(0.8),)


def test_another_object_does_not_fit_the_folder(tmp_path: Path) -> None:
    thrifty.sweep(ONE, tmp_path / "out", workers=1)
    with pytest.raises(thrifty.FileError, match=r"has another sweep.*(?s:.)*alpha"):
        thrifty.sweep(ONE | {"policies": [thrifty.TSMA(0.5)]}, tmp_path / "out", workers=1)


def local() -> thrifty.Policy:
    """A policy whose class nobody else can find."""

    @dataclass(frozen=True)
    class Hidden(Inside):
        """What a user defines in passing."""

    return Hidden()


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"policies": [thrifty.UCB1(), local()]}, InvalidType,
         r"policies\[1\] must be what pickle can send to other processes, got .*Hidden\(\)"),
        ({"policies": [thrifty.UCB1(), "UCB1"]}, InvalidType, r"policies\[1\] must be a table, got 'UCB1'"),
        ({"policies": [thrifty.UCB1(), {1, 2}]}, InvalidType,
         r"policies\[1\] must be a policy such as TSMA\(\), got \{1, 2\}"),
        ({"policies": thrifty.UCB1}, InvalidType, r"policies\[0\] must be a policy such as .*, got <class"),
        ({"policies": []}, InvalidValue, "policies must have at least one policy, got none"),
        ({"policies": [thrifty.TSMA(), {"name": "TSMA", "alpha": 0.0}]}, InvalidValue,
         r"policies\[1\] is the same as policies\[0\], TSMA\(alpha=0.0"),
        ({"problem": thrifty.UCB1()}, InvalidType, r"problem must be a problem such as .*, got UCB1\(\)"),
        ({"problem": [ONE["problem"]] * 2}, InvalidValue, r"problem\[1\] is the same as problem\[0\]"),
        ({"horizon": np.array([10, 20, 10])}, InvalidValue, r"horizon\[2\] is the same as horizon\[0\]"),
        ({"delay": thrifty.UCB1()}, InvalidType, r"delay must be a number of decisions or a delay"),
        ({"horizn": 10}, InvalidValue, r"horizn is unknown; allowed: .*did you mean horizon\?"),
        ({3: 10}, InvalidValue, "3 is unknown; allowed: "),
    ],
)  # fmt: skip
def test_mistakes(tmp_path: Path, change: dict[Any, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        thrifty.sweep(ONE | change, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("spec", [3, None, [thrifty.TSMA()], b"spec.toml"])
def test_what_is_no_spec(tmp_path: Path, spec: Any) -> None:
    with pytest.raises(InvalidType, match="spec must be a TOML file or a table with its keys, got "):
        thrifty.sweep(spec, tmp_path / "out")


def test_progress_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(InvalidType, match="progress must be True, False or None, got 'no'"):
        thrifty.sweep(ONE, tmp_path / "out", progress="no")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


CONSOLE = """
import thrifty
from collections.abc import Sequence
from dataclasses import dataclass

@dataclass(frozen=True)
class Typed(thrifty.IndexPolicy):
    def index(self, mean):
        return mean

problem = thrifty.Bernoulli([0.9, 0.5])
thrifty.sweep({"policies": Typed(), "problem": problem, "horizon": 10}, "out", workers=1)
"""


def test_a_class_from_a_console_is_refused_by_name(tmp_path: Path) -> None:
    """In another process there is no such console."""
    told = subprocess.run([sys.executable, "-c", CONSOLE], cwd=tmp_path, capture_output=True, text=True)
    assert "policies[0] must be of a class in a file" in told.stderr
    assert "got Typed()" in told.stderr
    assert not (tmp_path / "out").exists()


class Odd(Exception):
    """Pickle makes it anew with one argument, which is too few."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(f"{what} in {where}")


def test_an_error_that_cannot_be_sent_is_told() -> None:
    error = _sendable(Odd("smoke", "the kitchen"))
    assert type(error) is thrifty.ThriftyError
    assert str(error) == "a worker met Odd: smoke in the kitchen"
    mine = KeyError("mine")
    assert _sendable(mine) is mine


def test_a_class_that_a_worker_cannot_find_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its module is known here alone."""
    module = type(sys)("nowhere")
    module.__file__ = __file__
    known = dataclass(frozen=True)(type("Inside", (Inside,), {"__module__": "nowhere"}))
    module.Inside = known  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "nowhere", module)
    with pytest.raises(thrifty.ThriftyError, match="a worker cannot read what it is to play: No module"):
        thrifty.sweep(ONE | {"policies": known()}, tmp_path / "out", workers=1)
