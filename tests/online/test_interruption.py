"""``select_many`` in slices: where they are cut changes nothing, and an interrupted call changes nothing."""

import copy
import itertools
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.live import EVERYWHERE, Coins, Widening, decide, everything, refused
from thrifty.online import core
from thrifty.policies import Policy

MEANS = [0.9, 0.5, 0.8, 0.1, 0.7]


def cut(start: int, stop: int, *_: Any) -> Iterator[tuple[int, int]]:
    """Slices of odd lengths."""
    for length in itertools.cycle([1, 2, 37, 5]):
        if start >= stop:
            return
        yield start, min(start + length, stop)
        start += length


class Stopping:
    """Ctrl-C, at the end of a slice: of the n-th."""

    def __init__(self, n: int) -> None:
        self._left = n

    def __call__(self, start: int, stop: int, *_: Any) -> Iterator[tuple[int, int]]:
        for part in cut(start, stop):
            yield part
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt


def young(policy: Policy, engine: str) -> thrifty.Bandit:
    """Some arms have rewards, one waits for its first, and one was not handed out yet."""
    bandit = thrifty.Bandit(policy, len(MEANS), seed=4, engine=engine)
    decide(bandit, Coins(MEANS, 4), 3)
    bandit.select()
    return bandit


def old(policy: Policy, engine: str) -> thrifty.Bandit:
    bandit = thrifty.Bandit(policy, len(MEANS), seed=4, engine=engine)
    decide(bandit, Coins(MEANS, 4), 40)
    return bandit


@EVERYWHERE
def test_cuts_change_nothing(policy: Policy, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bandits = [make(policy, engine) for make in (young, old)]
    twins = copy.deepcopy(bandits)
    whole = [bandit.select_many(300) for bandit in bandits]
    monkeypatch.setattr(core, "MOST", 0)
    monkeypatch.setattr(core, "slices", cut)
    assert [bandit.select_many(300) for bandit in twins] == whole
    assert list(map(everything, twins)) == list(map(everything, bandits))


@EVERYWHERE
def test_an_interrupted_call_changes_nothing(
    policy: Policy, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "MOST", 0)
    for make, n in itertools.product((young, old), (1, 2, 11)):
        bandit = make(policy, engine)
        monkeypatch.setattr(core, "slices", Stopping(n))
        with refused(KeyboardInterrupt, "^$", bandit):
            bandit.select_many(300)


def test_an_interrupted_call_with_an_index_of_your_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "MOST", 0)
    monkeypatch.setattr(core, "slices", Stopping(3))
    bandit = old(Widening(), "scan")
    with refused(KeyboardInterrupt, "^$", bandit):
        bandit.select_many(300)


@pytest.mark.parametrize("heard", [False, True])
def test_a_call_of_one_slice_is_made_whole_or_not_at_all(
    heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel hears nothing. Pulls that it has handed out are counted, though nobody was told of them."""
    bandit = old(thrifty.TSMA(), "scan")
    before, select = everything(bandit), bandit._player.core.select_many

    def stopping(t: int, out: Any) -> None:
        select(t, out)
        raise KeyboardInterrupt

    def stopped(count: int) -> Iterator[tuple[int, int]]:
        raise KeyboardInterrupt

    if heard:
        monkeypatch.setattr(bandit._player.core, "slices", stopped)
    else:
        monkeypatch.setattr(bandit._player.core, "select_many", stopping)
    with pytest.raises(KeyboardInterrupt):
        bandit.select_many(20)
    assert bandit.decisions == 40 + (0 if heard else 20)
    assert bandit.statistics()["pending"].sum() == (0 if heard else 20)
    assert (everything(bandit) == before) == heard


def test_how_many_decisions_are_made_at_once() -> None:
    """On scan a choice looks at all arms, but those that were not handed out yet cost little. Only more than
    one slice needs a copy of everything."""

    def parts(bandit: thrifty.Bandit, count: int) -> tuple[list[int], bool]:
        cuts = list(bandit._player.core.slices(count))
        assert np.diff(cuts).sum() == count
        return [end - start for start, end in cuts], bandit._player.core.checkpoint(count) is not None

    scan = thrifty.Bandit(thrifty.IMED(), 10**5)
    assert parts(scan, 20) == ([20], False)
    assert parts(scan, 10**5) == ([10**5], False)
    assert parts(scan, 10**5 + 20) == ([5000, *[10_000] * 1, 20_000, 40_000, 25_000, 1, 2, 4, 8, 5], True)
    assert parts(thrifty.Bandit(thrifty.TSMA(), 10**5), 10**5) == ([10**5], False)
    batch = thrifty.Bandit(thrifty.TSMA(phi=1e5, sampling="batch"), 100, prior=(0.5, 1.0))
    assert parts(batch, 10) == ([10], False)
    assert parts(batch, 30)[1]
    npts = thrifty.Bandit(thrifty.NPTS(), 2)
    assert parts(npts, 4000) == ([4000], False)
    npts.update_many([0, 1] * 50_000, np.random.default_rng(1).random(10**5))
    assert parts(npts, 20) == ([20], False)
    assert parts(npts, 4000)[1]


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Heard by Python's own handler, whoever runs the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# What is called, the kernels' side of it, and how many arms and decisions there are if it counts.
CALLS: dict[str, tuple[Callable[[thrifty.Bandit], Any], str, int, int]] = {
    "select": (lambda bandit: bandit.select(), "select", 3, 2),
    "update": (lambda bandit: bandit.update(0, 1.0), "update", 3, 1),
    "update, of a pull that was not asked for": (lambda bandit: bandit.update(1, 1.0), "update", 3, 1),
    "update_many": (lambda bandit: bandit.update_many([1, 1], [1, 1]), "update_many", 3, 1),
    "observe": (lambda bandit: bandit.observe(0, 1.0), "observe", 3, 1),
    "cancel": (lambda bandit: bandit.cancel(0), "cancel", 3, 0),
    "add_arms": (lambda bandit: bandit.add_arms(["x", "y"]), "add", 5, 1),
    "remove_arm": (lambda bandit: bandit.remove_arm(1), "remove", 2, 1),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_interruption_that_is_heard_after_the_work_leaves_a_bandit_that_can_be_saved(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ctrl_c: None
) -> None:
    """Ctrl-C while a kernel runs is heard when it returns: what it did counts, and ids and arms agree."""
    bandit = thrifty.Bandit(thrifty.UCB1(), 3, seed=1)
    bandit.update_many([0, 1, 2], [1.0, 0.0, 0.5])
    assert bandit.select() == 0
    make, name, arms, decisions = CALLS[call]
    work = getattr(core.Core, name)

    def interrupted(*arguments: Any, **more: Any) -> Any:
        done = work(*arguments, **more)
        signal.raise_signal(signal.SIGINT)
        return done

    with monkeypatch.context() as patch:
        patch.setattr(core.Core, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            make(bandit)
    assert bandit.decisions == decisions
    bandit.save(tmp_path / "bandit.npz")
    again = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert again.arms == bandit.arms
    assert len(again.statistics()["pulls"]) == len(again) == arms
    assert again.statistics()["mean"][bandit.arms.index(2)] == 0.5
    assert again.select_many(9) == bandit.select_many(9)


def test_a_decision_that_is_cancelled_when_the_interruption_is_heard(
    monkeypatch: pytest.MonkeyPatch, ctrl_c: None
) -> None:
    bandit = thrifty.Bandit(thrifty.UCB1(), 3, seed=1)
    decision, work = bandit.decide(), core.Core.cancel

    def interrupted(*arguments: Any, **more: Any) -> None:
        work(*arguments, **more)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(core.Core, "cancel", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bandit.cancel(decision)
    assert bandit.decisions == bandit.statistics()["pending"].sum() == 0
    assert not bandit.cancel(decision)


@pytest.mark.parametrize("call", ["add_arm", "remove_arm"])
def test_arms_come_and_go_whole_whenever_ctrl_c_comes(call: str, tmp_path: Path, ctrl_c: None) -> None:
    first, rng, heard = (
        thrifty.Bandit(thrifty.TSMA(), list("abcdefgh"), 10**6, seed=1),
        np.random.default_rng(1),
        0,
    )
    first.update_many(list("abcdefgh"), [i / 8 for i in range(8)])
    first.add_arm("new")
    first.remove_arm("new")
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        for n in range(300):
            bandit = copy.deepcopy(first)
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 8e-5))
                bandit.add_arm("new") if call == "add_arm" else bandit.remove_arm("b")
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except KeyboardInterrupt:
                heard += 1
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            table = bandit.statistics()
            means = dict(zip(table["arm"], table["mean"].tolist(), strict=True))
            assert all(means[arm] == i / 8 for i, arm in enumerate("abcdefgh") if arm in means)
            assert len(means) == len(bandit) == bandit._player.core.memory.state.rule.arms
            assert len(bandit) in ((8, 9) if call == "add_arm" else (8, 7))
            if n % 30 == 0:
                bandit.save(tmp_path / "bandit.npz")
                assert thrifty.Bandit.load(tmp_path / "bandit.npz").arms == bandit.arms
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert heard > 20


@pytest.mark.parametrize("policy", [thrifty.TSMA(), thrifty.TSTD(phi=5), thrifty.ThompsonSampling()])
@pytest.mark.parametrize("when", ["before the way back", "behind it"])
def test_an_interrupted_preview_changes_nothing(
    policy: Policy, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bandit = thrifty.Bandit(policy, 30, seed=4, prior=(0.5, 1.0))
    decide(bandit, Coins([0.5] * 30, 4), 40)
    before = everything(bandit)
    way_back, heard = core.Core._way_back, []

    def interrupted(self: core.Core) -> Callable[[], None]:
        back = way_back(self)

        def once() -> None:
            heard.append(when)
            if len(heard) > 1:
                return back()
            if when == "behind it":
                back()
            raise KeyboardInterrupt

        return once

    monkeypatch.setattr(core.Core, "_way_back", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bandit.preview(count=3)
    monkeypatch.undo()
    assert heard == [when, when]
    assert everything(bandit) == before
