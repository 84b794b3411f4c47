"""Who chooses: control, the floor or the policy, each with the probability that it should."""

import math
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY, assert_share
from tests.support.live import refused, warm
from tests.support.own import Bell

COUNT = 4000  # decisions, each of them cancelled


def settled(arms: int = 5, policy: Any = None, **options: Any) -> thrifty.Bandit:
    """A bandit that would choose the last arm, and then the one before it."""
    pulls, means = [400] * arms, [0.1 + 0.8 * i / arms for i in range(arms)]
    return warm(policy or thrifty.UCB1(), pulls, means, seed=5, **options)


def chosen(bandit: thrifty.Bandit, **question: Any) -> Counter[Any]:
    """How often each arm is chosen, by control and otherwise, in the same situation."""
    found: Counter[Any] = Counter()
    for _ in range(COUNT):
        decision = bandit.decide(**question)
        found[decision.arm, decision.control] += 1
        bandit.cancel(decision)
    return found


def assert_law(found: Counter[Any], expected: dict[Any, float]) -> None:
    """Chi-square; what has no probability does not happen."""
    assert sum(expected.values()) == pytest.approx(1.0)
    assert found.keys() <= {key for key, p in expected.items() if p > 0.0}
    keys = [key for key, p in expected.items() if p > 0.0]
    observed = np.array([found[key] for key in keys])
    assert stats.chisquare(observed, COUNT * np.array([expected[key] for key in keys])).pvalue > UNLUCKY


@pytest.mark.parametrize("question", [{}, {"among": [0, 2, 3]}, {"exclude": [4, 1]}], ids=str)
@pytest.mark.parametrize(("control", "floor"), [(0.3, 0.0), (0.0, 0.12), (0.25, 0.05), (0.0, 0.2)])
def test_the_law(control: float, floor: float, question: dict[str, Any]) -> None:
    """p = c/m + (1 - c)(f + (1 - m f) p), with p = 1 for the best eligible arm."""
    eligible = [arm for arm in question.get("among", range(5)) if arm not in question.get("exclude", [])]
    bandit, m = settled(control=control, floor=floor), len(eligible)
    expected = {(arm, True): control / m for arm in eligible}
    for arm in eligible:
        best = arm == max(eligible)
        expected[arm, False] = (1 - control) * (floor + (1 - m * floor) * best)
    assert_law(chosen(bandit, **question), expected)


def test_a_control_arm() -> None:
    bandit = settled(control=0.3, control_arm=1, floor=0.1)
    expected = {(1, True): 0.3} | {(arm, False): 0.07 for arm in range(4)} | {(4, False): 0.42}
    assert_law(chosen(bandit), expected)
    assert_law(
        chosen(bandit, exclude=[4, 0]), {(1, True): 0.3, (1, False): 0.07, (2, False): 0.07, (3, False): 0.56}
    )


def test_a_control_arm_that_is_not_eligible() -> None:
    """The policy decides, and such a decision is compared with nothing."""
    bandit = settled(control=0.5, control_arm=1)
    questions: list[dict[str, Any]] = [{"among": [0, 2]}, {"exclude": [1]}]
    for question in questions:
        made = bandit.decide(count=30, **question)
        assert not any(each.control for each in made)
        assert all(bandit.reward(each, 1.0) for each in made)
    bandit.pause(1)
    assert not any(each.control for each in bandit.decide(count=30))
    assert bandit._ledger.sides.policy.rewards == 0
    bandit.resume(1)
    assert any(each.control for each in bandit.decide(count=30))
    assert bandit.decide(rank=3, exclude=[1])
    with refused(thrifty.InvalidValue, "rank must be 1 at most with a control_arm, .* got 3", bandit):
        bandit.decide(rank=3)
    with refused(thrifty.InvalidValue, "arm must not be the control_arm, which stays, got 1", bandit):
        bandit.remove_arm(1)


def test_slates_at_random() -> None:
    """Of control, and of the floor: every slate in every order is equally likely."""
    bandit = settled(control=0.3, floor=0.1)
    found: Counter[Any] = Counter()
    for _ in range(COUNT):
        slate = bandit.decide(rank=2, exclude=[4])
        assert len({each.control for each in slate}) == 1
        found[tuple(each.arm for each in slate), slate[0].control] += 1
        for each in slate:
            bandit.cancel(each)
    pairs = [pair for both in combinations(range(4), 2) for pair in (both, both[::-1])]
    expected = {(pair, True): 0.3 / 12 for pair in pairs} | {(pair, False): 0.7 * 0.4 / 12 for pair in pairs}
    expected[(3, 2), False] += 0.7 * 0.6
    assert_law(found, expected)


def test_a_floor_is_there_in_every_call() -> None:
    bandit = settled(floor=0.2, pending_for=None)
    for arms in (
        [bandit.select() for _ in range(500)],
        bandit.select_many(500),
        [bandit.rank(1)[0] for _ in range(500)],
        [bandit.preview() for _ in range(500)],
        bandit.preview(count=500),
    ):
        assert_share(arms.count(4), 500, 0.2)
        assert len(set(arms)) == 5
    assert (bandit.decisions, bandit.statistics()["pending"].sum()) == (1500, 1500)


def test_with_a_posterior_of_your_own() -> None:
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=Bell()), 4, seed=1, control=0.5, floor=0.2)  # type: ignore[arg-type]
    decisions = [bandit.decide() for _ in range(500)]
    assert_share(sum(each.control for each in decisions), 500, 0.5)
    assert all(bandit.reward(each, 1.0) for each in decisions)
    assert bandit.lift().policy == 1.0


@pytest.mark.parametrize(
    "call",
    [lambda b: b.select(), lambda b: b.select(among=[1]), lambda b: b.select_many(2), lambda b: b.rank(2)],
)
def test_with_control_every_decision_needs_an_id(call: Any) -> None:
    bandit = settled(control=0.05)
    with refused(thrifty.InvalidCall, "with control=0.05 decisions must have an id, .*: call decide", bandit):
        call(bandit)
    bandit.update(0, 1.0)
    bandit.control = 0.0
    assert call(bandit) is not None


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"control": 1.5}, thrifty.InvalidValue, r"control must be in \[0, 1\], got 1.5"),
        ({"control": 1e-9}, thrifty.InvalidValue, "control must be 0, 1 or 1e-06 away from both"),
        ({"control": math.nan}, thrifty.InvalidValue, "control must be finite"),
        ({"control": "5%"}, thrifty.InvalidType, "control must be a number, got '5%'"),
        ({"control_arm": 5}, thrifty.InvalidValue, "control_arm must be one of the 5 arms, got 5"),
        ({"floor": 0.21}, thrifty.InvalidValue, "floor must be at most 1/5 with 5 arms, got 0.21"),
        ({"floor": -0.1}, thrifty.InvalidValue, r"floor must be in \[0, 1\]"),
        ({"burn_in": -1}, thrifty.InvalidValue, "burn_in must be at least 0"),
        ({"burn_in": 0.5}, thrifty.InvalidType, "burn_in must be an integer"),
    ],
    ids=str,
)
def test_bad_options(options: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        thrifty.Bandit(thrifty.TSMA(), 5, **options)
    bandit = thrifty.Bandit(thrifty.TSMA(), 5)
    for name, value in options.items():
        if name in ("control", "floor"):
            with refused(error, match, bandit):
                setattr(bandit, name, value)


def test_an_arm_that_a_floor_has_no_room_for() -> None:
    bandit = settled(floor=0.15)
    bandit.add_arm("six")
    with refused(thrifty.InvalidValue, "with floor=0.15 there must be at most 6 arms, got 7", bandit):
        bandit.add_arm("seven")
    with refused(thrifty.InvalidValue, "with floor=0.15 there must be at most 6 arms, got 8", bandit):
        bandit.add_arms(["seven", "eight"])
    bandit.floor = 0.1
    bandit.add_arms(["seven", "eight"])
    assert bandit.floor == 0.1
    for arms in range(1, 500):
        assert thrifty.online.shares.read_floor(1.0 / arms, arms) == 1.0 / arms


@pytest.mark.parametrize("arms", [1, 3, 93, 98, 1000])
def test_a_floor_of_one_for_each_arm(arms: int) -> None:
    """1 / (1 / 93) is a little less than 93."""
    bandit = thrifty.Bandit(thrifty.UCB1(), arms, floor=1.0 / arms)
    with refused(thrifty.InvalidValue, f"at most {arms} arms, got {arms + 1}", bandit):
        bandit.add_arm(arms)


def test_shares_are_kept(tmp_path: Path) -> None:
    bandit = settled(control=0.25, control_arm=2, floor=0.05, burn_in=3)
    bandit.save(tmp_path / "bandit.npz")
    again = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert (again.control, again._ledger.shares.arm, again.floor, again._player.burn_in) == (0.25, 2, 0.05, 3)
    one, other = ([(each.arm, each.control) for each in b.decide(count=300)] for b in (bandit, again))
    assert one == other
