"""Every check of a loaded state, by a file that fails in this and in nothing that is looked at before."""

import copy
import json
import math
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.own import Fading
from tests.support.recorded import begun, go_on
from thrifty import storage
from thrifty.engines.sleepers import line
from thrifty.engines.sleepers.duel import NEWEST, OLDEST
from thrifty.engines.sleepers.line import GROUPS
from thrifty.online import snapshot, sound
from thrifty.state.lists import CURSOR, LEFT, STAGE
from thrifty.state.statistics import CLOCK, HANDED

Edit = Callable[[dict[str, Any]], None]


def put(name: str, place: Any, value: Any) -> Edit:
    """An entry of an array."""

    def edit(arrays: dict[str, Any]) -> None:
        arrays[name][place] = value

    return edit


def reverse_line(arrays: dict[str, Any]) -> None:
    on_line = arrays["ends"][GROUPS]
    arrays["line"][:on_line] = arrays["line"][:on_line][::-1].copy()


def shorten_line(arrays: dict[str, Any]) -> None:
    """The last arm falls off; the sum of rates does not tell."""
    arrays["ends"][arrays["ends"] == arrays["ends"][GROUPS]] -= 1


def empty_reserve(arrays: dict[str, Any]) -> None:
    """As a whole, but not its groups."""
    arrays["reserve_ends"][:] = 3
    arrays["reserve_ends"][GROUPS] = 0


def ring(arrays: dict[str, Any]) -> None:
    """The newest arm of the list is followed by the oldest one."""
    oldest, newest = arrays["queue"][[OLDEST, NEWEST]]
    arrays["newer"][newest], arrays["older"][oldest] = oldest, newest


def overlap(arrays: dict[str, Any]) -> None:
    arrays["spans"][1, 0] = arrays["spans"][0, 0]


def swap_rewards(arrays: dict[str, Any]) -> None:
    """Two rewards of an arm in the wrong order."""
    arm = int(np.argmax(arrays["spans"][:, 1]))
    start = arrays["spans"][arm, 0]
    arrays["history"][[start, start + 1]] = arrays["history"][[start + 1, start]]


def shorten_history(arrays: dict[str, Any]) -> None:
    arrays["history"] = arrays["history"][:5]


def unflag(arrays: dict[str, Any]) -> None:
    """An arm without a pending pull has a flag."""
    arm = int(np.argmin(arrays["pending"][:, 0]))
    arrays["pending"][arm] = (0, 1)


def lose_kept(arrays: dict[str, Any]) -> None:
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
    ("scan-gaussian", put("evaluations", 0, -1), "evaluations must be"),
    ("scan-gaussian", put("count", CLOCK, -1), "count[CLOCK] must be"),
    ("scan-gaussian", put("count", HANDED, -1), "count[HANDED] must be"),
    ("scan-gaussian", put("count", HANDED, 21), "count[HANDED] must be"),
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
    ("sleepers-gaussian", put("levels", line.TOTAL, math.nan), "levels[TOTAL] must be"),
    ("sleepers-gaussian", put("sweep", line.SWEEPING, 2), "sweep[SWEEPING] must be"),
    ("sleepers-gaussian", put("sweep", line.SWEPT, 1), "sweep[SWEPT] must be"),
    ("sleepers-gaussian", put("levels", line.NEW, 3.0), "levels[NEW] and [OLD] must be"),
    ("sleepers-gaussian", put("levels", slice(line.OLD + 1), -math.inf), "levels[NEW] and [OLD] must be"),
    ("sleepers-gaussian", put("levels", line.SLOPE, 0.0), "levels[SLOPE] must be"),
    ("sleepers-gaussian", put("levels", line.DRAWN, -1.0), "levels[DRAWN] must be"),
    ("sleepers-gaussian", put("levels", line.AHEAD, math.inf), "levels[AHEAD] must be"),
    ("sleepers-gaussian", put("levels", line.SINCE, 1e9), "levels[SINCE] must be"),
    ("sleepers-gaussian", put("start", ..., 10**6), "start must be"),
    ("sleepers-gaussian", shorten_line, "line must be of all arms with a reward or a prior"),
    ("sleepers-duel", put("index", ..., 0.5), "line and index must be"),
    ("sleepers-duel", put("index", ..., -math.inf), "pending must be flagged in phase II"),
    ("sleepers-duel-texts", ring, "older, newer and queue must be"),
    ("sleepers-duel-texts", put("queue", OLDEST, -1), "older, newer and queue must be"),
    ("sleepers-duel-texts", put("queue", NEWEST, 2**40), "older, newer and queue must be"),
    ("sleepers-duel-texts", put("newer", ..., 0), "older, newer and queue must be"),
    ("sleepers-duel-texts", put("since", ..., 10**6), "since must be"),
    ("sleepers-duel-texts", put("seen", ..., -1), "seen must be"),
    ("scan-variance", put("squares", 3, -1.0), "squares must be"),
    ("scan-variance", put("squares", 3, 1e9), "squares must be"),
    ("ada-ucb", put("weights", 3, math.nan), "weights must be"),
    ("npts", shorten_history, "history must be of at least 6 entries"),
    ("npts", put("used", 0, 10**6), "spans and used must be"),
    ("npts", put("spans", (0, 0), -1), "spans and used must be"),
    ("npts", put("spans", (0, 1), 10**6), "spans and used must be"),
    ("npts", overlap, "spans and used must be"),
    ("npts", swap_rewards, "history must be rewards that fit"),
    ("npts", put("history", (slice(None), 1), 1.0), "history must be rewards that fit"),
    ("npts", put("history", (slice(None), 0), math.nan), "history must be rewards that fit"),
    ("own", put("last", 3, -1), "last must be"),
    ("own", put("last", 3, 2**62), "last must be"),
    ("imed-bounded", put("own", 0, 1.5), "own must be"),
    ("discounted", put("own", 0, -1e-9), "own must be a weight up to pulls"),
    ("discounted", put("own", 1, 1e3), "own must be a weight up to pulls"),
    ("discounted", put("own", slice(None, None, 2), 1e3), "own must be a weight up to pulls"),
    ("window", put("window", 0, -1), "window must be a count first"),
    ("window", put("window", 5, 12), "window must be arms that are there"),
    ("window", put("window", 5, -2), "window must be arms that are there"),
    ("window", put("window_rewards", 5, math.nan), "window must be arms that are there"),
    ("window", put("window", slice(1, None), 0), "recent must be"),
    ("window", put("recent", (3, 0), 41.0), "recent must be"),
    ("window", put("recent", (3, 1), -1.0), "recent must be"),
    ("dmed", put("lists", CURSOR, -1), "lists[CURSOR] must be"),
    ("dmed", put("lists", STAGE, -1), "lists[STAGE] must be"),
    ("dmed", put("marks", 0, 2**60), "marks must be"),
    ("ucb-improved", put("marks", 0, 2), "marks must be"),
    ("ucb-improved", put("lists", STAGE, 65), "lists[STAGE] must be"),
    ("dirichlet-sampling", put("lists", LEFT, 100), "lists[LEFT] must be the number of marks"),
    ("fixed-arm", put("lists", CURSOR, 99), "lists[CURSOR] must be an arm"),
    ("fixed-arm", put("lists", CURSOR, -1), "lists[CURSOR] must be an arm"),
    ("explore-then-commit", put("lists", CURSOR, -1), "lists[CURSOR] must be a count"),
    ("explore-then-commit", put("lists", LEFT, 99), "lists[LEFT] must be 0, or an arm"),
    ("scan-gaussian", put("expired", (3, 0), -1), "expired must be"),
    ("scan-gaussian", put("expired", (3, 0), 10**6), "expired must be"),
    ("kinetic-forgetting", put("faded", 3, -1.0), "faded must be 0, or from 1e-100 to pulls"),
    ("kinetic-forgetting", put("faded", 3, 1e-200), "faded must be"),
    ("kinetic-forgetting", put("faded", 3, math.nan), "faded must be"),
    ("kinetic-forgetting", put("faded", 3, 1e6), "faded must be"),
    ("kinetic-forgetting", put("turn", 0, -1), "turn[NEXT] must be a count"),
    ("sleepers-duel", put("stale", 0, 1), "stale must be arms in order"),
    ("sleepers-duel", put("stale", 1, 10**6), "stale must be arms in order"),
    ("sleepers-duel", put("stale", 2, -1), "stale[STRIDE] must be a count"),
    ("sleepers-duel", put("stale", 1, 3), "former must be what a law was tempered by"),
    ("kinetic-forgetting", put("turn", 1, 7), "turn[MADE] must be fewer than the cycle has"),
    ("scan-gaussian", put("ring", 0, -1), "ring must be counts first"),
    ("scan-gaussian", put("ring", 1, -1), "ring must be counts first"),
    ("scan-gaussian", put("ring", 2, -1), "ring must be counts first"),
    ("scan-gaussian", put("ring", 5, 10**6), "ring must be decisions whose pulls count or were dealt with"),
    ("scan-gaussian", put("expired", (3, 1), 999), "ring must be decisions"),
    ("scan-gaussian", put("barred", 3, 2), "barred must be 0, or 1"),
    ("scan-gaussian", put("barred", ..., 1), "barred must be 0 for an arm at least"),
    ("dmed", put("barred", 1, 1), "barred must be 0 where all arms must be eligible"),
    ("sleepers-gaussian", put("barred", 3, 1), "line must be of all arms"),
    ("sleepers-gaussian", put("reserve_levels", line.DEMAND, math.nan), "levels[DEMAND] and [ASKED] must be"),
    ("sleepers-gaussian", put("reserve_ends", 3, 101), "ends must be where on the line"),
    ("sleepers-gaussian", empty_reserve, "ends must be where on the line"),
    ("sleepers-gaussian", put("reserve_line", (0, 1), 100.0), "line must be different arms, in the reserve"),
]


def begun_own() -> thrifty.Bandit:
    """Of a policy that asks when an arm was last pulled."""
    bandit = thrifty.Bandit(Fading(), 5, seed=1)
    bandit.update_many(bandit.select_many(5), [1.0] * 5)
    return bandit


@cache
def saved(case: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the arrays of a sound file."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bandit.npz"
        (begun(case) if case != "own" else begun_own()).save(file)
        header, arrays = storage.read(file, "bandit")
    del header["format"], header["digest"]
    return header, arrays


def write(file: Path, header: dict[str, Any], arrays: dict[str, Any]) -> None:
    digest = snapshot._digest(header, arrays)
    storage.write(file, header | {"digest": digest}, arrays, compressed=False)


def assert_refused(file: Path, header: dict[str, Any], arrays: dict[str, Any], words: str) -> None:
    write(file, header, arrays)
    match = f"bandit.npz is not a whole snapshot of a bandit: {re.escape(words)}"
    with pytest.raises(thrifty.FileError, match=match):
        thrifty.Bandit.load(file, policies=[Fading])


@pytest.mark.parametrize(("case", "edit", "words"), EDITS, ids=[f"{e[0]}-{i}" for i, e in enumerate(EDITS)])
def test_what_kernels_rely_on(case: str, edit: Edit, words: str, tmp_path: Path) -> None:
    header, arrays = copy.deepcopy(saved(case))
    edit(arrays)
    assert_refused(tmp_path / "bandit.npz", header, arrays, words)


def test_phase_two_comes_after_phi_rounds(tmp_path: Path) -> None:
    """So many draws could not be counted."""
    header, arrays = copy.deepcopy(saved("sleepers-duel"))
    header["policy"]["phi"] = 1e300
    assert_refused(tmp_path / "bandit.npz", header, arrays, "line and index must be")


@pytest.mark.parametrize(
    "case", ["sleepers-gaussian", "sleepers-beta", "sleepers-texts", "sleepers-duel", "sleepers-duel-texts"]
)
def test_a_level_below_all_arms_that_sleep_keeps_nobody_busy(case: str, tmp_path: Path) -> None:
    """A draw below it, which hardly exists or not at all, is given up."""
    header, arrays = copy.deepcopy(saved(case))
    arrays["levels"][[line.NEW, line.OLD]] = -5.0
    write(tmp_path / "bandit.npz", header, arrays)
    bandit = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert len(go_on(bandit, 300)) == 300


def test_every_check_has_a_file_that_fails_it() -> None:
    tables = [table for table in vars(sound).values() if isinstance(table, tuple)]
    tables += [*sound.LISTS.values(), *sound.OWN.values()]
    checks = [check for table in tables for check in table if isinstance(check, sound.Check)]
    found = {f"{check.name} must be {check.right}" for check in checks}
    assert len(found) > 30
    for text in found:
        assert any(text.startswith(words) for _, _, words in EDITS), text


def test_a_duel_that_has_forgotten_its_best_draws(tmp_path: Path) -> None:
    """A file without that component: arms would come to phase II with nothing, and never be chosen."""
    begun("sleepers-duel").save(tmp_path / "bandit.npz")
    header, arrays = storage.read(tmp_path / "bandit.npz", "bandit")
    del header["format"], header["digest"], header["components"]["duel"], arrays["best"], arrays["age"]
    header |= {"format": storage.FORMAT, "digest": snapshot._digest(header, arrays)}
    np.savez(tmp_path / "edited.npz", header=np.array(json.dumps(header)), **arrays)
    with pytest.raises(thrifty.FileError, match="best must be above -inf where a draw was seen"):
        thrifty.Bandit.load(tmp_path / "edited.npz")


def test_classes_come_in_a_list(tmp_path: Path) -> None:
    with pytest.raises(thrifty.InvalidType, match="policies must be a list of classes, got <class"):
        thrifty.Bandit.load(tmp_path / "bandit.npz", policies=thrifty.TSMA)  # type: ignore[arg-type]
