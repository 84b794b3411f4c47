"""What a bandit is given: each error names the value and what would be right, and changes nothing."""

import datetime
import enum
import math
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import thrifty
from tests.support.live import EVERYWHERE, Widening, column, everything, refused, state, warm
from thrifty.online.ids import Ids
from thrifty.online.rewards import Rewards
from thrifty.policies import Policy, batch_size

VALUE, TYPE = thrifty.InvalidValue, thrifty.InvalidType

# Rewards -------------------------------------------------------------------------------------------------

BAD: list[tuple[Any, type[Exception], str]] = [
    (math.nan, VALUE, "must be finite, got nan"),
    (math.inf, VALUE, "must be finite, got inf"),
    (-math.inf, VALUE, "must be finite, got -inf"),
    (np.float32("nan"), VALUE, "must be finite, got"),
    (1.0000001, VALUE, r"must be in \[0.0, 1.0\], got 1.0000001"),
    (-1e-9, VALUE, r"must be in \[0.0, 1.0\], got -1e-09"),
    (2, VALUE, r"must be in \[0.0, 1.0\], got 2"),
    (10**400, VALUE, "must be finite, got 1000.*000"),
    (10**5000, VALUE, "must be finite, got a huge int"),
    ("1", TYPE, "must be a number, got '1'"),
    (b"1", TYPE, "must be a number, got b'1'"),
    (None, TYPE, "must be a number, got None"),
    (1j, TYPE, "must be a number, got 1j"),
    (np.complex128(1.0), TYPE, "must be a number, got np.complex128"),
    (Decimal("0.5"), TYPE, "must be a number, got Decimal"),
    ([0.5], TYPE, r"must be a number, got \[0.5\]"),
    (np.array(0.5), TYPE, "must be a number, got array"),
]


@pytest.fixture
def bandit() -> thrifty.Bandit:
    bandit = thrifty.Bandit(thrifty.TSMA(), ["a", "b", "c"], seed=0)
    bandit.update_many(bandit.select_many(3), [0.0, 0.5, 1.0])
    bandit.select_many(4)
    return bandit


@pytest.mark.parametrize(("reward", "error", "match"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_rewards(bandit: thrifty.Bandit, reward: Any, error: type[Exception], match: str) -> None:
    """One by one, and in a batch, of which nothing is taken then."""
    with refused(error, "^reward " + match, bandit):
        bandit.update("a", reward)
    with refused(error, r"^rewards\[1\] " + match, bandit):
        bandit.update_many(["a", "b", "c"], [0.5, reward, 0.25])
    with refused(error, r"^rewards\[2\] " + match, bandit):
        bandit.update_many(["a", "b", "c"], (r for r in [0, 1, reward]))


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-1.0, 4.0), (None, None)], ids=["unit", "scaled", "any"]
)
def test_true_and_false_are_one_and_zero(low: float | None, high: float | None) -> None:
    """Python's and NumPy's, one by one, in lists, among numbers and as an array."""
    span = None if low is None or high is None else (low, high)
    bandits = [thrifty.Bandit(thrifty.TSMA(), 3, seed=1, reward_range=span) for _ in range(2)]
    for bandit, one, zero in zip(bandits, (True, 1.0), (False, 0.0), strict=True):
        bandit.update(0, one)
        bandit.update(1, zero)
        bandit.update_many([0, 1, 2], [one, 0.5, zero])
    bandits[0].update(2, np.True_)  # type: ignore[arg-type]
    bandits[0].update_many([0, 1], np.array([True, False]))
    bandits[0].update_many([0, 1], [np.False_, np.True_])  # type: ignore[list-item]
    bandits[1].update_many([2, 0, 1, 0, 1], [1.0, 1.0, 0.0, 0.0, 1.0])
    assert everything(bandits[0]) == everything(bandits[1])
    dearer = thrifty.Bandit(thrifty.TSMA(), 2, reward_range=(2.0, 3.0))
    with refused(VALUE, r"^reward must be in \[2.0, 3.0\], got 1", dearer):
        dearer.update(0, True)


@EVERYWHERE
def test_bad_rewards_change_nothing_in_any_engine(policy: Policy, engine: str) -> None:
    bandit = thrifty.Bandit(policy, 3, seed=0, engine=engine)
    bandit.update_many(bandit.select_many(3), [0.0, 1.0, 1.0])
    for bad in (math.nan, -1.0, "1", None):
        with refused((VALUE, TYPE), "^reward must be", bandit):  # type: ignore[arg-type]
            bandit.update(0, bad)
        with refused((VALUE, TYPE), r"^rewards\[1\] must be", bandit):  # type: ignore[arg-type]
            bandit.update_many([0, 1], [1.0, bad])


@pytest.mark.parametrize(
    ("rewards", "error", "match"),
    [
        (np.array([0.5, math.nan, 0.5]), VALUE, r"rewards\[1\] must be finite, got"),
        (np.array([0.5, 0.5, 1.5]), VALUE, r"rewards\[2\] must be in \[0.0, 1.0\], got"),
        (np.array([0, -1, 7]), VALUE, r"rewards\[1\] must be in \[0.0, 1.0\], got"),
        (np.array(["0", "1", "1"]), TYPE, r"rewards\[0\] must be a number, got np.str_"),
        (np.array([0.5, None, 0.5]), TYPE, r"rewards\[1\] must be a number, got None"),
        (np.array([1j, 0, 0]), TYPE, r"rewards\[0\] must be a number, got"),
        (np.array([[0.1], [0.2], [0.3]]), TYPE, r"rewards\[0\] must be a number, got array"),
        (np.array(0.5), TYPE, "rewards must be a sequence, got array"),
        (0.5, TYPE, "rewards must be a sequence, got 0.5"),
        ("010", TYPE, "rewards must be a sequence, got '010'"),
        (b"\x00\x01\x00", TYPE, "rewards must be a sequence, got b"),
        (None, TYPE, "rewards must be a sequence, got None"),
        ({0.0, 0.5, 1.0}, TYPE, "rewards must be a sequence, got {0.0, 0.5, 1.0}"),
        ({"a": 1.0, "b": 0.0, "c": 0.5}, TYPE, "rewards must be a sequence, got {'a': 1.0"),
        ([0.5, 0.5], VALUE, "arms and rewards must be equally many, got 3 arms and 2 rewards"),
        ([], VALUE, "arms and rewards must be equally many, got 3 arms and 0 rewards"),
        ([0.5, [0.5], 0.5], TYPE, r"rewards\[1\] must be a number, got \[0.5\]"),
    ],
)
def test_bad_batches(bandit: thrifty.Bandit, rewards: Any, error: type[Exception], match: str) -> None:
    with refused(error, match, bandit):
        bandit.update_many(["a", "b", "c"], rewards)


def kind(value: object) -> str:
    """The name of a case: a text without an address in it, the same in every process."""
    return type(value).__name__


@pytest.mark.parametrize(
    "rewards",
    [
        [0, 1, 0.5],
        (0.0, 1.0, 0.5),
        np.array([0.0, 1.0, 0.5]),
        np.array([0.0, 1.0, 0.5], np.float16),
        np.array([0, 1, 0.5], object),
        [np.float64(0.0), np.int8(1), Fraction(1, 2)],
        (x for x in [0, 1, 0.5]),
        {0: "", 1: "", 0.5: ""}.keys(),
    ],
    ids=kind,
)
def test_good_batches(bandit: thrifty.Bandit, rewards: Any) -> None:
    bandit.update_many(("c", "b", "a"), rewards)
    assert column(bandit, "pulls") == {"a": 2, "b": 2, "c": 2}
    assert column(bandit, "mean") == {"a": 0.25, "b": 0.75, "c": 0.5}


def test_an_empty_batch(bandit: thrifty.Bandit) -> None:
    before = everything(bandit)
    bandit.update_many([], [])
    bandit.update_many(np.empty(0, np.int64), np.empty(0))
    assert bandit.select_many(0) == []
    assert everything(bandit) == before


LONG = 1000


@pytest.mark.parametrize(
    ("reward", "error", "match"),
    [
        (math.nan, VALUE, "must be finite, got nan$"),
        (1.5, VALUE, r"must be in \[0.0, 1.0\], got 1.5$"),
        (2, VALUE, r"must be in \[0.0, 1.0\], got 2$"),
        (-(2**63) - 1, VALUE, r"must be in \[0.0, 1.0\], got -9223372036854775809$"),
        (2**63, VALUE, r"must be in \[0.0, 1.0\], got 9223372036854775808$"),
        (2**64, VALUE, r"must be in \[0.0, 1.0\], got 18446744073709551616$"),
    ],
    ids=str,
)
@pytest.mark.parametrize("good", [0.5, 1], ids=["floats", "ints"])
def test_a_bad_reward_in_a_long_list(good: float, reward: Any, error: type[Exception], match: str) -> None:
    """It is named, as it is and not as NumPy sees it, and so is the first of several."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=0)
    rewards: list[Any] = [good] * LONG
    rewards[777] = reward
    with refused(error, r"^rewards\[777\] " + match, bandit):
        bandit.update_many([1] * LONG, rewards)
    rewards[888] = -1
    with refused(error, r"^rewards\[777\] " + match, bandit):
        bandit.update_many([1] * LONG, rewards)


@pytest.mark.parametrize("arm", [3, -1, 2**63, 2**64, -(2**63) - 1, 2**61 - 1, 0.5, "1"], ids=str)
@pytest.mark.parametrize("plain", [True, False], ids=["numbers", "names"])
def test_a_bad_arm_in_a_long_list(arm: Any, plain: bool) -> None:
    """The hash of 2^61 - 1 is 0, which is an arm."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 3 if plain else [0, 1, 2], seed=0)
    arms: list[Any] = [1] * LONG
    arms[777] = arm
    match = rf"^arms\[777\] must be one of the 3 arms, got {arm!r}$"
    with refused(VALUE, match, bandit):
        bandit.update_many(arms, [0.5] * LONG)
    arms[888] = -2
    with refused(VALUE, match, bandit):
        bandit.update_many(arms, [0.5] * LONG)


def test_integers_beyond_64_bits_are_rewards_too() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 5, reward_range=None)
    huge = [2**63, -(2**63) - 1, 2**64, 10**99]
    bandit.update_many([0, 1, 2, 3], huge)
    bandit.update_many([4, 4], [2**63, -1])
    assert bandit.statistics()["mean"].tolist() == [*map(float, huge), 2.0**62]


def test_a_list_is_read_as_an_array_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain numbers are checked all at once. Others, equal to plain ones, are read one by one."""
    rng = np.random.default_rng(0)
    arms, rewards = rng.integers(0, 5, LONG), rng.random(LONG)
    rewards[::7] = rewards[::7].round()
    listed = [int(reward) if reward in (0.0, 1.0) else reward for reward in rewards.tolist()]
    bandits = [thrifty.Bandit(thrifty.TSMA(), 5, seed=0) for _ in range(3)]
    bandits[0].update_many(arms, rewards)
    bandits[1].update_many([True if arm == 1 else arm for arm in arms.tolist()], list(rewards))
    with monkeypatch.context() as without:
        for reader, name in ((Ids, "number"), (Rewards, "read")):
            without.delattr(reader, name)
        bandits[2].update_many(arms.tolist(), listed)
    assert everything(bandits[0]) == everything(bandits[1]) == everything(bandits[2])


@pytest.mark.parametrize(
    "policy", [thrifty.ThompsonSampling(law="beta"), thrifty.ExpTS(), thrifty.ExpTSPlus()]
)
def test_policies_for_rewards_of_0_and_1(policy: Policy) -> None:
    """They accept the ends of the range, and nothing in between."""
    bandit = thrifty.Bandit(policy, 2, reward_range=(-2.5, 0.7))
    for reward in (0.5, 0, 1.0, -2.4999999, 0.6999999):
        with refused(VALUE, "reward must be", bandit):
            bandit.update(0, reward)
    with refused(VALUE, r"reward must be -2.5 or 0.7 for this policy, got 0.5", bandit):
        bandit.update(0, 0.5)
    with refused(VALUE, r"rewards\[1\] must be -2.5 or 0.7 for this policy, got", bandit):
        bandit.update_many([0, 0], np.array([0.7, 0.0]))
    bandit.update_many([0, 0, 1], [-2.5, 0.7, 0.7])
    assert state(bandit).sums.tolist() == [1.0, 1.0]
    np.testing.assert_allclose(bandit.statistics()["mean"], [-0.9, 0.7])


@pytest.mark.parametrize(
    ("low", "high"), [(0.0, 1.0), (-3.0, 7.0), (-0.3, 0.1), (1e6, 1e6 + 1.0), (0.1, 0.7)]
)
def test_policies_see_rewards_between_0_and_1(low: float, high: float) -> None:
    """And callers see them in their own unit, the ends included, whatever was rounded."""
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), 3, reward_range=(low, high))
    unit = thrifty.Bandit(thrifty.ThompsonSampling(), 3)
    shares = np.random.default_rng(0).random(40)
    bandit.update_many(
        [0] * 40 + [1] * 3 + [2] * 7,
        [*(low + (high - low) * shares).clip(low, high), *[low] * 3, *[high] * 7],
    )
    unit.update_many([0] * 40 + [1] * 3 + [2] * 7, [*shares, *[0.0] * 3, *[1.0] * 7])
    np.testing.assert_allclose(state(bandit).sums, state(unit).sums, rtol=1e-9)
    mean = bandit.statistics()["mean"]
    np.testing.assert_allclose(mean[0], low + (high - low) * shares.mean(), rtol=1e-9)
    assert (mean[1:] == [low, high]).all()
    thrifty.Bandit(thrifty.TSMA(), 3, reward_range=(low, high), statistics=bandit.statistics())


def test_any_reward_is_one_without_a_range() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 2, reward_range=None)
    bandit.update_many([0, 1], [-1e100, 1e100])
    assert bandit.statistics()["mean"].tolist() == [-1e100, 1e100]
    for bad, match in ((math.inf, "finite"), (1.1e100, r"at most 1e\+100 in size"), ("1", "a number")):
        with refused((VALUE, TYPE), match, bandit):  # type: ignore[arg-type]
            bandit.update(0, bad)
        with refused((VALUE, TYPE), match, bandit):  # type: ignore[arg-type]
            bandit.update_many([0], [bad])


@pytest.mark.parametrize(
    ("reward_range", "error", "match"),
    [
        ((1.0, 0.0), VALUE, r"with low < high, got \(1.0, 0.0\)"),
        ((1.0, 1.0), VALUE, r"with low < high, got \(1.0, 1.0\)"),
        ((math.nan, 1.0), VALUE, r"reward_range\[0\] must be finite, got nan"),
        ((0.0, math.inf), VALUE, r"reward_range\[1\] must be finite, got inf"),
        ((0.0, 1e101), VALUE, r"reward_range\[1\] must be at most 1e\+100 in size"),
        (("0", 1.0), TYPE, r"reward_range\[0\] must be a number, got '0'"),
        ((False, True), TYPE, r"reward_range\[0\] must be a number, got False"),
        ((0.0, 0.5, 1.0), TYPE, r"must be None or \(low, high\), got \(0.0, 0.5, 1.0\)"),
        (1.0, TYPE, r"must be None or \(low, high\), got 1.0"),
        ({0.0, 1.0}, TYPE, r"must be None or \(low, high\), got {0.0, 1.0}"),
    ],
    ids=str,
)
def test_bad_ranges(reward_range: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        thrifty.Bandit(thrifty.TSMA(), 2, reward_range=reward_range)


@pytest.mark.parametrize("policy", [thrifty.KLUCBPlusPlus(), thrifty.TSMA(law="beta"), thrifty.ExpTS()])
def test_some_policies_need_a_range(policy: Policy) -> None:
    with pytest.raises(VALUE, match=r"reward_range must be \(low, high\) for .*, got None"):
        thrifty.Bandit(policy, 2, reward_range=None)


# Arms and decisions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arms", "error", "match"),
    [
        (0, VALUE, "arms must be at least 1, got 0"),
        (-5, VALUE, "arms must be at least 1, got -5"),
        (10**12, VALUE, "arms must be at most 1000000000, got 1000000000000"),
        (2.5, TYPE, "arms must be a number of arms or a sequence of their ids, got 2.5"),
        (True, TYPE, "arms must be a number of arms or a sequence of their ids, got True"),
        (None, TYPE, "arms must be a number of arms or a sequence of their ids, got None"),
        ("abc", TYPE, "arms must be a number of arms or a sequence of their ids, got 'abc'"),
        ({"a", "b"}, TYPE, "arms must be a number of arms or a sequence of their ids, got {'a', 'b'}"),
        ({"a": 1}, TYPE, "arms must be a number of arms or a sequence of their ids, got {'a': 1}"),
        (np.array(3), TYPE, "arms must be a number of arms or a sequence of their ids, got array"),
        ([], VALUE, "arms must have at least one id, got none"),
        (["a", "b", "a"], VALUE, "an arm's id must be a new one, got 'a' again"),
        ([1, 1.0], VALUE, "an arm's id must be a new one, got 1.0 again"),
        ([["a"], ["b"]], TYPE, r"an arm's id must be hashable, got \['a'\]"),
        (np.zeros((2, 2)), TYPE, r"an arm's id must be hashable, got \[0.0, 0.0\]"),
        (["a", math.nan], VALUE, "an arm's id must equal itself, got nan"),
    ],
    ids=kind,
)
def test_bad_arms(arms: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        thrifty.Bandit(thrifty.TSMA(), arms)


@pytest.mark.parametrize(
    ("arms", "names"),
    [
        (3, [0, 1, 2]),
        (np.int32(2), [0, 1]),
        (range(5, 7), [5, 6]),
        (("a", ("b", 1), None, 2.5), ["a", ("b", 1), None, 2.5]),
        (np.array(["x", "y"]), ["x", "y"]),
        ((c for c in "pq"), ["p", "q"]),
        ({"a": 1, "b": 2}.keys(), ["a", "b"]),
    ],
    ids=kind,
)
def test_arms_are_a_number_or_ids(arms: Any, names: list[Any]) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), arms)
    assert bandit.select_many(len(names)) == bandit.statistics()["arm"] == names
    assert len(bandit) == len(names)
    for name in names:
        bandit.update(name, 1.0)
    assert bandit.select() in names


@pytest.mark.parametrize("plain", [True, False], ids=["numbers", "names"])
@pytest.mark.parametrize(
    ("arms", "error", "match"),
    [
        ([0, 7], VALUE, r"arms\[1\] must be one of the 3 arms, got 7"),
        ([-1, 0], VALUE, r"arms\[0\] must be one of the 3 arms, got -1"),
        (np.array([0, 3]), VALUE, r"arms\[1\] must be one of the 3 arms, got np.int64\(3\)"),
        (np.array([2**64 - 1, 0], np.uint64), VALUE, r"arms\[0\] must be one of the 3 arms, got np.uint64"),
        (np.array([[0, 1]]), VALUE, r"arms\[0\] must be one of the 3 arms, got array"),
        ([0, [1]], VALUE, r"arms\[1\] must be one of the 3 arms, got \[1\]"),
        (0, TYPE, "arms must be a sequence, got 0"),
        ("01", TYPE, "arms must be a sequence, got '01'"),
        ({0, 1}, TYPE, "arms must be a sequence, got {0, 1}"),
        (None, TYPE, "arms must be a sequence, got None"),
    ],
    ids=str,
)
def test_bad_arms_of_a_batch(arms: Any, error: type[Exception], match: str, plain: bool) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 3 if plain else [0, 1, 2])
    with refused(error, match, bandit):
        bandit.update_many(arms, [1.0, 1.0])


@pytest.mark.parametrize(
    ("count", "error", "match"),
    [
        (-1, VALUE, "count must be at least 0, got -1"),
        (10**10, VALUE, "count must be at most 1000000000, got 10000000000"),
        (2.5, TYPE, "count must be an integer, got 2.5"),
        (True, TYPE, "count must be an integer, got True"),
        ("2", TYPE, "count must be an integer, got '2'"),
        (None, TYPE, "count must be an integer, got None"),
    ],
)
def test_bad_counts(bandit: thrifty.Bandit, count: Any, error: type[Exception], match: str) -> None:
    with refused(error, match, bandit):
        bandit.select_many(count)


# Settings ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "error", "match"),
    [
        ({"horizon": 0}, VALUE, "horizon must be at least 1, got 0"),
        ({"horizon": 2**53 + 1}, VALUE, "horizon must be at most 9007199254740992, got"),
        ({"horizon": 1.5}, TYPE, "horizon must be an integer, got 1.5"),
        ({"seed": -1}, VALUE, "seed must be at least 0, got -1"),
        ({"seed": 1.5}, TYPE, "seed must be an integer, got 1.5"),
        ({"seed": "x"}, TYPE, "seed must be an integer, got 'x'"),
        ({"engine": "sleepers"}, VALUE, "engine must be one of scan, tournament for"),
        (
            {"engine": "fast"},
            VALUE,
            "engine must be one of auto, scan, tournament, sleepers, kinetic, got 'fast'",
        ),
        ({"engine": None}, TYPE, "engine must be one of auto, scan, tournament, sleepers, kinetic, got None"),
        ({"policy": thrifty.TSMA}, TYPE, r"policy must be a policy such as TSMA\(\), got <class"),
        ({"policy": "TSMA"}, TYPE, r"policy must be a policy such as TSMA\(\), got 'TSMA'"),
    ],
    ids=str,
)
def test_bad_settings(settings: dict[str, Any], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        thrifty.Bandit(**({"policy": thrifty.TSMA(), "arms": 3} | settings))


def test_the_same_seed_gives_the_same_decisions_and_none_gives_others() -> None:
    first, second, *others = (
        thrifty.Bandit(thrifty.ThompsonSampling(), 50, prior=(0.5, 1.0), seed=seed).select_many(20)
        for seed in (2**80, 2**80, 1, None, None)
    )
    assert first == second
    assert len({tuple(chosen) for chosen in (first, *others)}) == 4


def test_a_horizon_is_used_where_it_is_needed() -> None:
    for policy in (thrifty.TSMA(), thrifty.TSTD(), thrifty.KLUCBPlusPlus()):
        assert thrifty.Bandit(policy, 10, horizon=77).horizon == 77
        assert thrifty.Bandit(policy, 10).horizon == 1024
        assert thrifty.Bandit(policy, 1000).horizon == 2000
    assert state(thrifty.Bandit(thrifty.TSMA(), 10, horizon=777)).rule.phi == batch_size(777, 0.0)
    assert thrifty.Bandit(thrifty.ThompsonSampling(), 10, horizon=77).horizon is None
    assert thrifty.Bandit(Widening(), 10, horizon=77).horizon == 77


def test_an_index_of_your_own_learns_that_its_horizon_was_doubled() -> None:
    bandit = thrifty.Bandit(Widening(), 2, seed=0)
    bandit.update_many([0, 1], [0.0, 1.0])
    bandit.select_many(1022)
    assert bandit.horizon == state(bandit).rule.horizon == 1024
    bandit.select()
    assert bandit.horizon == state(bandit).rule.horizon == 2048


def test_an_index_that_is_not_a_number_changes_nothing() -> None:
    """Decisions of the same batch that were fine until then are not made either."""
    bandit = warm(Widening(width=-1.0), [1, 1], [0.5, 0.4], seed=0)
    bandit.add_arm("new")
    with refused(
        VALUE,
        r"index of Widening\(width=-1.0\) must be a number, got NaN or an error after 3 pulls",
        bandit,
    ):
        bandit.select_many(5)
    assert column(bandit, "pending") == {0: 0, 1: 0, "new": 0}
    assert bandit.select() == "new"
    with refused(VALUE, "must be a number, got NaN or an error after 3 pulls", bandit):
        bandit.select()


def test_what_a_bandit_says_about_itself(bandit: thrifty.Bandit) -> None:
    assert bandit.policy == thrifty.TSMA()
    assert bandit.engine == "scan"
    assert bandit.decisions == 7
    assert repr(bandit) == f"<Bandit of 3 arms, {thrifty.TSMA()!r}, 7 decisions>"
    assert thrifty.Bandit(thrifty.TSMA(), 64).engine == "tournament"
    table = bandit.statistics()
    assert list(table) == ["arm", "pulls", "weight", "mean", "draws", "pending"]
    assert {len(values) for values in table.values()} == {3}
    before = everything(bandit)
    for values in table.values():
        values[0] = 0  # a copy
    assert everything(bandit) == before


# What is known before ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prior", "error", "match"),
    [
        (0.5, TYPE, r"prior must be a pair \(mean, weight\), got 0.5"),
        ((0.5,), TYPE, r"prior must be a pair \(mean, weight\), got \(0.5,\)"),
        ((0.5, 1.0, 2.0), TYPE, r"prior must be a pair \(mean, weight\), got \(0.5, 1.0, 2.0\)"),
        ("ab", TYPE, r"prior must be a pair \(mean, weight\), got 'ab'"),
        ({0.5: 1.0, 0.6: 2.0}, TYPE, r"prior must be a pair \(mean, weight\), got {"),
        ((1.5, 1.0), VALUE, r"prior mean must be in \[0.0, 1.0\], got 1.5"),
        ((math.nan, 1.0), VALUE, "prior mean must be finite, got nan"),
        ((True, 1.0), TYPE, "prior mean must be a number, got True"),
        ((0.5, 0.0), VALUE, "prior weight must be above 0, got 0.0"),
        ((0.5, -1.0), VALUE, "prior weight must be above 0, got -1.0"),
        ((0.5, None), TYPE, "prior weight must be a number, got None"),
        (([0.5, 0.5], 1.0), VALUE, "prior mean must have an entry for each of the 3 arms, got 2"),
        ((0.5, [1.0] * 4), VALUE, "prior weight must have an entry for each of the 3 arms, got 4"),
        (([0.5, 1.5, 0.5], 1.0), VALUE, r"prior mean\[1\] must be in \[0.0, 1.0\], got"),
        (([0.5, "x", 0.5], 1.0), TYPE, r"prior mean\[1\] must be a number, got 'x'"),
        ((0.5, [1.0, 2.0, 0.0]), VALUE, r"prior weight\[2\] must be above 0, got 0.0"),
        ((0.5, np.ones((3, 1))), TYPE, "prior weight must be a flat sequence of numbers, got"),
        (("abc", 1.0), TYPE, "prior mean must be a sequence of numbers, got 'abc'"),
        (({0.5}, 1.0), TYPE, "prior mean must be a sequence of numbers, got {"),
    ],
    ids=str,
)
def test_bad_priors(prior: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        thrifty.Bandit(thrifty.TSMA(), 3, prior=prior)


GOOD = {"arm": [0, 2], "pulls": [3, 4], "mean": [0.5, 0.25]}


@pytest.mark.parametrize(
    ("change", "error", "match"),
    [
        ([1, 2], TYPE, r"statistics must be a table with columns, got \[1, 2\]"),
        ({"arm": None}, TYPE, "statistics arm must be a sequence, got None"),
        ({"arm": [0]}, VALUE, "statistics must have columns of equal length, got 1, 2 and 2"),
        ({"arm": [0, 3]}, VALUE, r"statistics arm\[1\] must be one of the 3 arms, got 3"),
        ({"arm": [2, 2]}, VALUE, "statistics must have every arm once, got 2 again"),
        ({"pulls": 3}, TYPE, "statistics pulls must be a sequence, got 3"),
        ({"pulls": [3]}, VALUE, "statistics must have columns of equal length, got 2, 1 and 2"),
        ({"pulls": [3, -1]}, VALUE, r"statistics pulls\[1\] must be at least 0, got -1"),
        ({"pulls": np.array([3, -1])}, VALUE, r"statistics pulls\[1\] must be at least 0, got"),
        ({"pulls": [3.0, 4.5]}, TYPE, r"statistics pulls\[1\] must be an integer, got 4.5"),
        ({"pulls": [3, True]}, TYPE, r"statistics pulls\[1\] must be an integer, got True"),
        ({"pulls": [3, 10**17]}, VALUE, r"statistics pulls\[1\] must be at most 9007199254740992, got"),
        ({"pulls": [3, 10**30]}, VALUE, r"statistics pulls\[1\] must be at most 9007199254740992, got"),
        ({"mean": [0.5, 1.25]}, VALUE, r"statistics mean\[1\] must be in \[0.0, 1.0\], got 1.25"),
        ({"mean": np.array([math.nan, 0.5])}, VALUE, r"statistics mean\[0\] must be finite, got"),
        ({"mean": [0.5, None]}, TYPE, r"statistics mean\[1\] must be a number, got None"),
        ({"mean": "ab"}, TYPE, "statistics mean must be a sequence, got 'ab'"),
        ({"mean": [0.5]}, VALUE, "statistics must have columns of equal length, got 2, 2 and 1"),
    ],
    ids=str,
)
def test_bad_statistics(change: Any, error: type[Exception], match: str) -> None:
    table = GOOD | change if isinstance(change, dict) else change
    with pytest.raises(error, match=match):
        thrifty.Bandit(thrifty.TSMA(), 3, statistics=table)


def test_statistics_without_a_column() -> None:
    for name in GOOD:
        table = {column: values for column, values in GOOD.items() if column != name}
        wrong = f"must have the columns arm, pulls, mean, and lacks {name}: it has {', '.join(table)}$"
        with pytest.raises(VALUE, match=f"^statistics {wrong}"):
            thrifty.Bandit(thrifty.TSMA(), 3, statistics=table)


class Frame:
    """A DataFrame, as pandas and polars have them: columns by name."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._table = table
        self.columns = list(table)

    def __getitem__(self, name: str) -> Any:
        return self._table[name]


def test_statistics_from_a_data_frame() -> None:
    """Columns of other names are welcome, and so are counts that have become floats, as joins make them."""
    table = {"arm": ["b", "a"], "pulls": [3.0, 0.0], "mean": [0.25, None], "more": ["x", "y"]}
    expected = thrifty.Bandit(thrifty.TSMA(), ["a", "b"], seed=1, statistics={**table, "mean": [0.25, 0.0]})
    for frame in (Frame(table), polars.DataFrame(table)):
        bandit = thrifty.Bandit(thrifty.TSMA(), ["a", "b"], seed=1, statistics=frame)
        assert everything(bandit) == everything(expected)
    assert column(expected, "pulls") == {"a": 0, "b": 3}
    lacking = r"^statistics must have the columns arm, pulls, mean, and lacks pulls: it has arm, mean$"
    for frame in (Frame, polars.DataFrame):
        with pytest.raises(VALUE, match=lacking):
            thrifty.Bandit(thrifty.TSMA(), 2, statistics=frame({"arm": [0], "mean": [0.5]}))


# Ids -------------------------------------------------------------------------------------------------------


class Colour(enum.StrEnum):
    RED = "red"
    GREEN = "green"


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 7


class Named(str):
    """A text with another idea of what is equal to it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and super().__eq__(other)

    def __hash__(self) -> int:
        return hash(("named", str(self)))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (list(Colour), ["red", "green"]),
        (list(Size), [1, 7]),
        ([np.int64(3), np.uint8(4), np.str_("x")], [3, 4, "x"]),
        (np.array(["x", "y"]), ["x", "y"]),
        (np.array([5, 6], np.int16), [5, 6]),
    ],
    ids=["StrEnum", "IntEnum", "scalars", "texts", "integers"],
)
def test_ids_of_other_classes_are_what_they_equal(given: Any, kept: list[Any], tmp_path: Path) -> None:
    """Whether they were there at first or came later, they are returned and saved so, and found as either."""
    later = thrifty.Bandit(thrifty.TSMA(), ["first"], seed=1)
    later.add_arms(given)
    later.remove_arm("first")
    for bandit in (thrifty.Bandit(thrifty.TSMA(), given, seed=1), later):
        assert sorted(map(repr, bandit.arms)) == sorted(map(repr, kept))
        for arm, plain in zip(given, kept, strict=True):
            bandit.update(arm, 1.0)
            bandit.update(plain, 0.5)
            assert arm in bandit
            with refused(VALUE, "id must be a new one, got .* again", bandit):
                bandit.add_arm(arm)
        assert {type(arm) for arm in bandit.select_many(20)} <= {int, str}
        bandit.save(tmp_path / "ids.npz")
        assert thrifty.Bandit.load(tmp_path / "ids.npz").statistics()["arm"] == bandit.arms


def test_ids_that_equal_nothing_else_stay_as_they_are(tmp_path: Path) -> None:
    """Tuples, dates and the like go on working. They cannot be saved, and the error names the first."""
    day = datetime.date(2026, 1, 2)
    for others in ([(1, "a"), day], [day], [Named("x"), "x"], [True, 2], [1.5]):
        bandit = thrifty.Bandit(thrifty.TSMA(), others, seed=1)
        bandit.update_many(bandit.select_many(3), [1.0] * 3)
        assert [(type(arm), arm) for arm in bandit.arms] == [(type(arm), arm) for arm in others]
        text = re.escape(f"ids must be texts or integers to be saved, got {others[0]!r}")
        with refused(TYPE, text, bandit):
            bandit.save(tmp_path / "ids.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arms", [3, ["a", 7, (1, 2)]], ids=["plain", "named"])
def test_a_bandit_is_a_collection_of_its_ids(arms: Any) -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), arms, seed=1)
    ids = list(range(3)) if arms == 3 else arms
    assert bandit.arms == list(bandit) == bandit.statistics()["arm"] == ids
    assert all(arm in bandit for arm in ids)
    assert not any(arm in bandit for arm in ("b", 3, -1, 0.5, None, ["a"], math.nan))
    bandit.remove_arm(ids[0])
    bandit.add_arm("new")
    assert ids[0] not in bandit
    assert "new" in bandit
    assert set(bandit) == {*ids[1:], "new"}
    bandit.arms.clear()  # a list of its own
    assert len(bandit) == 3
