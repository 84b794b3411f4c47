"""Decisions in a file: those that are open can be rewarded after a load, and what cannot be is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.online.test_snapshots import assert_refused, saved, signed
from tests.support.live import lasting, ledger
from thrifty import storage
from thrifty.online.ledger_arrays import NAMES


def at_work() -> tuple[thrifty.Bandit, list[thrifty.Decision]]:
    """A bandit with open decisions: of arms that are there and gone, single ones and slates."""
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), ["a", "b", "c", "d"], seed=1, control=0.5)
    bandit.update_many(list("abcd"), [0.0, 1.0, 0.5, 1.0])
    made = [each for now in range(10) for each in bandit.decide(rank=3, now=now)]
    made += bandit.decide(count=10, now=3.5)
    for each in made[::3]:
        bandit.reward(each, 0.25)
    bandit.remove_arm("c")
    return bandit, made


def test_decisions_go_on(tmp_path: Path) -> None:
    bandit, made = at_work()
    again = saved(bandit, tmp_path)
    assert lasting(again) == lasting(bandit)
    for step, each in enumerate(made):
        assert again.reward(each.id, step % 2) == bandit.reward(each, step % 2)
        assert ledger(again) == ledger(bandit)
    assert again.expire(1e12) == bandit.expire(1e12)
    assert lasting(saved(again, tmp_path)) == lasting(bandit)


def test_a_file_of_a_bandit_without_decisions_has_nothing_of_them(tmp_path: Path) -> None:
    """And one from before there were any loads: there are no such settings in it."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=1)
    bandit.select()
    file = tmp_path / "bandit.npz"
    bandit.save(file)
    header, arrays = storage.read(file, "bandit")
    assert not set(arrays) & set(NAMES)
    late = ("control", "control_arm", "floor", "burn_in")
    signed(
        file, {"settings": {name: value for name, value in header["settings"].items() if name not in late}}
    )
    assert lasting(thrifty.Bandit.load(file)) == lasting(bandit)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    at_work()[0].save(tmp_path / "bandit.npz")
    return tmp_path / "bandit.npz"


def changed(file: Path, name: str, where: Any, value: Any) -> Any:
    array = storage.read(file, "bandit")[1][name].copy()
    array[where] = value
    return array


@pytest.mark.parametrize(
    ("name", "where", "value", "match"),
    [
        ("open_rows", (0, 0), 3, "open_rows must be of arms, or of -1"),
        ("open_rows", (0, 0), -2, "open_rows must be of arms, or of -1"),
        ("open_rows", (slice(None), 0), 0, "open_rows must be of arms with as many pending pulls"),
        ("open_rows", (0, 1), 2, "open_rows must say of each whether it is control's"),
        ("open_rows", (0, 2), 10**6, "open_rows must say of each whether it is control's"),
        ("open_rows", (0, 2), -5, "open_rows must say of each whether it is control's"),
        ("open_since", (0, 0), np.nan, "open_since must be times and shares"),
        ("open_since", (0, 1), 1e-300, "open_since must be times and shares"),
        ("open_since", (0, 1), 1.0 - 1e-12, "open_since must be times and shares"),
        ("open_since", (0, 1), -0.5, "open_since must be times and shares"),
        ("open_since", (slice(None), 1), 0.0, "open_since must have a share where control has chosen"),
        ("slates", (0, 0), 0.5, "slates must have counts"),
        ("slates", (0, 0), -1.0, "slates must have counts"),
        ("slates", (0, 1), 7.0, "slates must have sums of so many rewards"),
        ("slates", (0, 1), np.inf, "slates must have sums of so many rewards"),
        ("lift", (0, 0), 0.5, "lift must be sums of weighted rewards"),
        ("lift", (0, 0), 1e300, "lift must be sums of weighted rewards"),
        ("lift", (1, 1), 10**9, "lift must be sums of weighted rewards"),
        ("lift", (1, 2), 1.5, "lift must be sums of weighted rewards"),
        ("lift", (1, 3), 0.0, "lift must be sums of weighted rewards"),
        ("lift", (1, 4), 0.0, "lift must be sums of weighted rewards"),
        ("lift", (1, 5), -1.0, "lift must be sums of weighted rewards"),
        ("lift", (1, 6), np.nan, "lift must be sums of weighted rewards"),
    ],
)
def test_impossible_decisions(file: Path, name: str, where: Any, value: Any, match: str) -> None:
    signed(file, **{name: changed(file, name, where, value)})
    assert_refused(file, match)


@pytest.mark.parametrize(
    ("arrays", "match"),
    [
        ({"open_ids": np.frombuffer(b'["x"]', np.uint8)}, "open_rows must be int64 of shape"),
        ({"open_ids": np.frombuffer(b'["x", "x"]', np.uint8)}, "open_ids must be different texts"),
        ({"open_ids": np.frombuffer(b"[1, 2]", np.uint8)}, "open_ids must be different texts"),
        ({"open_ids": np.frombuffer(b"{}", np.uint8)}, "open_ids must be different texts"),
        ({"open_ids": np.frombuffer(b"[", np.uint8)}, "Expecting value"),
        ({"open_rows": np.zeros((3, 3))}, "open_rows must be int64 of shape"),
        ({"open_since": np.zeros(3)}, "open_since must be float64 of shape"),
        ({"slates": np.zeros((2, 3))}, "slates must be float64 of shape"),
        ({"lift": np.zeros((2, 3))}, "lift must be float64 of shape"),
    ],
    ids=str,
)
def test_impossible_arrays(file: Path, arrays: Any, match: str) -> None:
    signed(file, **arrays)
    assert_refused(file, match)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_a_column_is_missing(file: Path, name: str) -> None:
    header, arrays = storage.read(file, "bandit")
    del header["format"], header["digest"], arrays[name]
    digest = thrifty.online.snapshot._digest(header, arrays)
    storage.write(file, header | {"digest": digest}, arrays, compressed=False)
    assert_refused(file, name)


@pytest.mark.parametrize(
    ("setting", "value", "match"),
    [
        ("control", 1.5, r"control must be in \[0, 1\]"),
        ("control", "half", "control must be a number"),
        ("control_arm", "z", "control_arm must be one of the 3 arms, got 'z'"),
        ("control_arm", ["a"], "control_arm must be one of the 3 arms"),
        ("floor", 0.5, "floor must be at most 1/3"),
        ("floor", None, "floor must be a number"),
        ("burn_in", -1, "burn_in must be at least 0"),
    ],
)
def test_impossible_settings(file: Path, setting: str, value: Any, match: str) -> None:
    settings = storage.read(file, "bandit")[0]["settings"]
    signed(file, {"settings": settings | {setting: value}})
    assert_refused(file, match)
