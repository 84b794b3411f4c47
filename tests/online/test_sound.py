"""Every check of a loaded state, by a file that fails in this and in nothing that is looked at before."""

import copy
import math
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.recorded import begun
from thrifty import storage
from thrifty.engines.state import GROUPS
from thrifty.online import snapshot, sound

Edit = Callable[[dict[str, Any], dict[str, Any]], None]


def put(name: str, place: Any, value: Any) -> Edit:
    """An entry of an array, or a number."""

    def edit(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
        if place is None:
            numbers[name] = value
        else:
            arrays[name][place] = value

    return edit


def reverse_line(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    on_line = arrays["ends"][GROUPS]
    arrays["line"][:on_line] = arrays["line"][:on_line][::-1].copy()


def shorten_line(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The last arm falls off; the sum of rates does not tell."""
    arrays["ends"][arrays["ends"] == arrays["ends"][GROUPS]] -= 1


def lower_levels(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    numbers["level_new"] = numbers["level_old"] = -5.0


def ring(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The newest arm of the list is followed by the oldest one."""
    arrays["newer"][numbers["newest"]] = numbers["oldest"]
    arrays["older"][numbers["oldest"]] = numbers["newest"]


def overlap(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["spans"][1, 0] = arrays["spans"][0, 0]


def swap_rewards(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Two rewards of an arm in the wrong order."""
    arm = int(np.argmax(arrays["spans"][:, 1]))
    start = arrays["spans"][arm, 0]
    arrays["history"][[start, start + 1]] = arrays["history"][[start + 1, start]]


def shorten_history(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["history"] = arrays["history"][:5]


def unflag(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    """An arm without a pending pull has a flag."""
    arm = int(np.argmin(arrays["pending"][:, 0]))
    arrays["pending"][arm] = (0, 1)


def lose_kept(numbers: dict[str, Any], arrays: dict[str, Any]) -> None:
    arm = int(np.argmax(arrays["pending"][:, 1]))
    arrays["pending"][arm, 1], arrays["kept"][arm] = 2, -math.inf


EDITS: list[tuple[str, Edit, str]] = [
    ("scan-gaussian", put("rng", ..., 0), "rng must be"),
    ("scan-gaussian", put("pulls", 3, -1), "pulls and pending must be"),
    ("scan-gaussian", put("pulls", 3, 10**6), "pulls and pending must be"),
    ("scan-gaussian", put("pending", (3, 0), -1), "pulls and pending must be"),
    ("scan-gaussian", put("sums", 3, -1e-9), "sums must be"),
    ("scan-gamma", put("sums", 3, -1e-9), "sums must be"),
    ("scan-gamma", put("sums", 3, math.inf), "sums must be"),
    ("scan-gaussian", put("pending", (3, 1), 1), "pending must be"),
    ("tournament-ts-ma", unflag, "pending must be"),
    ("tournament-ts-ma", put("pending", (3, 1), 4), "pending must be"),
    ("scan-gaussian", put("draws", 3, -1), "draws must be"),
    ("scan-gaussian", put("draws", 3, 2**62), "draws must be"),
    ("scan-gaussian", put("index", 3, math.nan), "index must be numbers"),
    ("scan-gaussian", put("evaluations", None, -1), "evaluations must be"),
    ("scan-gaussian", put("clock", None, -1), "clock must be"),
    ("scan-gaussian", put("handed", None, -1), "handed must be"),
    ("scan-gaussian", put("handed", None, 21), "handed must be"),
    ("scan-priors", put("prior", (3, 0), 1.5), "prior must be"),
    ("scan-priors", put("prior", (3, 1), 0.0), "prior must be"),
    ("tournament-ts-ma", put("index", 3, -math.inf), "index must be above -inf for arms with"),
    ("tournament-ts-ma", put("kept", 3, math.nan), "kept must be"),
    ("tournament-ts-ma", lose_kept, "kept must be"),
    ("scan-duel", put("best", 3, math.nan), "best must be"),
    ("scan-duel", put("age", 3, -1), "age must be"),
    ("scan-duel", put("age", ..., 4), "pending must be flagged in phase II"),
    ("sleepers-gaussian", put("ends", 3, 101), "ends must be"),
    ("sleepers-gaussian", put("ends", GROUPS, 0), "ends must be"),
    ("sleepers-gaussian", put("line", (0, 1), 100.0), "line must be different arms"),
    ("sleepers-gaussian", put("line", (0, 1), 1.5), "line must be different arms"),
    ("sleepers-gaussian", put("line", (slice(2), 1), 7.0), "line must be different arms"),
    ("sleepers-gaussian", put("line", (0, 0), 51.0), "line must be rates in their groups"),
    ("sleepers-gaussian", reverse_line, "line must be rates in their groups"),
    ("sleepers-gaussian", put("level_total", None, math.nan), "level_total must be"),
    ("sleepers-gaussian", put("sweeping", None, 2), "sweeping must be"),
    ("sleepers-gaussian", put("swept", None, 1), "swept must be"),
    ("sleepers-gaussian", put("level_new", None, 3.0), "level_new and level_old must be"),
    ("sleepers-gaussian", lower_levels, "level_new and level_old must be"),
    ("sleepers-beta", lower_levels, "level_new and level_old must be"),
    ("sleepers-texts", lower_levels, "level_new and level_old must be"),
    ("sleepers-gaussian", put("level_slope", None, 0.0), "level_slope must be"),
    ("sleepers-gaussian", put("level_drawn", None, -1.0), "level_drawn must be"),
    ("sleepers-gaussian", put("level_ahead", None, math.inf), "level_ahead must be"),
    ("sleepers-gaussian", put("level_since", None, 1e9), "level_since must be"),
    ("sleepers-gaussian", put("start", ..., 10**6), "start must be"),
    ("sleepers-gaussian", shorten_line, "line must be of all arms with a reward or a prior"),
    ("sleepers-duel", put("index", ..., 0.5), "line and index must be"),
    ("sleepers-duel", put("index", ..., -math.inf), "pending must be flagged in phase II"),
    ("sleepers-duel-texts", ring, "older, newer, oldest and newest must be"),
    ("sleepers-duel-texts", put("oldest", None, -1), "older, newer, oldest and newest must be"),
    ("sleepers-duel-texts", put("newest", None, 2**40), "older, newer, oldest and newest must be"),
    ("sleepers-duel-texts", put("newer", ..., 0), "older, newer, oldest and newest must be"),
    ("sleepers-duel-texts", put("since", ..., 10**6), "since must be"),
    ("sleepers-duel-texts", put("seen", ..., -1), "seen must be"),
    ("scan-variance", put("squares", 3, -1.0), "squares must be"),
    ("scan-variance", put("squares", 3, 1e9), "squares must be"),
    ("ada-ucb", put("weights", 3, math.nan), "weights must be"),
    ("npts", shorten_history, "history must be of at least 6 entries"),
    ("npts", put("used", None, 10**6), "spans and used must be"),
    ("npts", put("spans", (0, 0), -1), "spans and used must be"),
    ("npts", put("spans", (0, 1), 10**6), "spans and used must be"),
    ("npts", overlap, "spans and used must be"),
    ("npts", swap_rewards, "history must be rewards that fit"),
    ("npts", put("history", (slice(None), 1), 1.0), "history must be rewards that fit"),
    ("npts", put("history", (slice(None), 0), math.nan), "history must be rewards that fit"),
    ("imed-bounded", put("params", (0, 0), 1.5), "params must be"),
    ("dmed", put("cursor", None, -1), "cursor must be"),
    ("dmed", put("stage", None, -1), "stage must be"),
    ("dmed", put("marks", 0, 2**60), "marks must be"),
    ("ucb-improved", put("marks", 0, 2), "marks must be"),
    ("ucb-improved", put("stage", None, 65), "stage must be"),
    ("dirichlet-sampling", put("left", None, 100), "left must be"),
    ("scan-gaussian", put("expired", (3, 0), -1), "expired must be"),
    ("scan-gaussian", put("expired", (3, 0), 10**6), "expired must be"),
    ("scan-gaussian", put("ring", 0, -1), "ring must be counts first"),
    ("scan-gaussian", put("ring", 1, -1), "ring must be counts first"),
    ("scan-gaussian", put("ring", 2, -1), "ring must be counts first"),
    ("scan-gaussian", put("ring", 5, 10**6), "ring must be decisions whose pulls count or were dealt with"),
    ("scan-gaussian", put("expired", (3, 1), 999), "ring must be decisions"),
]


@cache
def saved(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a sound file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bandit.npz"
        begun(case).save(file)
        header, arrays = storage.read(file, "bandit")
    del header["format"], header["digest"]
    return header, arrays


def assert_refused(file: Path, header: dict[str, Any], arrays: dict[str, Any], words: str) -> None:
    digest = snapshot._digest(header, arrays)
    storage.write(file, header | {"digest": digest}, arrays, compressed=False)
    with pytest.raises(thrifty.FileError, match=f"bandit.npz is not a whole snapshot of a bandit: {words}"):
        thrifty.Bandit.load(file)


@pytest.mark.parametrize(("case", "edit", "words"), EDITS, ids=[f"{e[0]}-{i}" for i, e in enumerate(EDITS)])
def test_what_kernels_rely_on(case: str, edit: Edit, words: str, tmp_path: Path) -> None:
    header, arrays = copy.deepcopy(saved(case))
    edit(header["numbers"], arrays)
    assert_refused(tmp_path / "bandit.npz", header, arrays, words)


def test_phase_two_comes_after_phi_rounds(tmp_path: Path) -> None:
    """So many draws could not be counted."""
    header, arrays = copy.deepcopy(saved("sleepers-duel"))
    header["policy"]["phi"] = 1e300
    assert_refused(tmp_path / "bandit.npz", header, arrays, "line and index must be")


def test_every_check_has_a_file_that_fails_it() -> None:
    tables = [table for table in vars(sound).values() if isinstance(table, tuple)]
    tables += sound.LISTS.values()
    checks = [check for table in tables for check in table if isinstance(check, sound.Check)]
    found = {f"{check.name} must be {check.right}" for check in checks}
    assert len(found) > 30
    for text in found:
        assert any(text.startswith(words) for _, _, words in EDITS), text
