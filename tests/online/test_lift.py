"""What the policy gains over control: sums that are kept, and an interval that holds."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY
from tests.support.live import refused
from thrifty.online import lift
from thrifty.online.decisions import Slate
from thrifty.online.lift import Side, Sides
from thrifty.online.rewards import Rewards
from thrifty.policies import Policy
from thrifty.replays import intervals

UNIT = Rewards(thrifty.TSMA(), (0.0, 1.0))
Z = stats.norm.isf(0.025)


def side_of(rewards: Any, weights: Any = None, slates: Any = None) -> Side:
    """The sums of these rewards, one after the other."""
    side, seen = Side(), {}
    weights = np.ones(len(rewards)) if weights is None else weights
    for i, (reward, weight) in enumerate(zip(rewards, weights, strict=True)):
        key = i if slates is None else slates[i]
        count, total = seen.get(key, (0, 0.0))
        side = side.plus(float(reward), float(weight), count, total)
        seen[key] = count + 1, total + reward
    return side


@pytest.mark.parametrize("offset", [0.0, -7.0, 1e9])
@pytest.mark.parametrize("size", [1, 3])
def test_sums_are_those_of_the_formulas(offset: float, size: int) -> None:
    """Rewards of a slate may come in any order."""
    rng = np.random.default_rng(1)
    slates = rng.permutation(np.repeat(np.arange(120), size))
    rewards = offset + rng.normal(size=slates.size) + rng.normal(size=120)[slates]
    weights = np.array([2.0, 20.0])[rng.integers(2, size=120)][slates]
    side = side_of(rewards, weights, slates)
    whole, mean = weights.sum(), np.average(rewards, weights=weights)
    sums = np.bincount(slates, weights * (rewards - mean))
    assert (side.rewards, side.slates) == (120 * size, 120)
    digits = 1e-12 if abs(offset) < 10 else 1e-6
    assert side.mean == pytest.approx(mean, rel=1e-14, abs=1e-12)
    assert side.square == pytest.approx((sums**2).sum(), rel=digits)
    assert side.variance == pytest.approx((weights * (rewards - mean) ** 2).sum() / whole, rel=digits)
    assert side.effective == pytest.approx(whole**2 / (weights**2).sum(), rel=1e-12)
    assert side.size == pytest.approx((np.bincount(slates, weights) ** 2).sum(), rel=1e-12)


# Newcombe 1998, table II, method 10.
NEWCOMBE = [
    (56, 70, 48, 80, 0.0524, 0.3339),
    (9, 10, 3, 10, 0.1705, 0.8090),
    (6, 7, 2, 7, 0.0582, 0.8062),
    (5, 56, 0, 29, -0.0381, 0.1926),
    (0, 10, 0, 20, -0.1611, 0.2775),
    (0, 10, 0, 10, -0.2775, 0.2775),
    (10, 10, 0, 20, 0.6791, 1.0000),
    (10, 10, 0, 10, 0.6075, 1.0000),
]


@pytest.mark.parametrize("case", NEWCOMBE, ids=str)
def test_the_interval_is_newcombes_for_clicks(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lift, "FEWEST", 1)
    x1, n1, x2, n2, low, high = case
    sides = Sides(*(side_of([1.0] * x + [0.0] * (n - x)) for x, n in ((x1, n1), (x2, n2))))
    found = sides.lift(0.95, UNIT)
    assert found.difference == pytest.approx(x1 / n1 - x2 / n2)
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)
    one = sides.policy.interval(Z, 0.0, 1.0, sides.control)
    assert one == pytest.approx(intervals.score(x1 / n1, n1, 0.95))


def test_limits_far_away_are_none() -> None:
    """With and without them the interval is the normal one, if the mean is far from both ends."""
    rng = np.random.default_rng(2)
    one, other = (side_of(rng.normal(3.0, 1.0, 5000)) for _ in range(2))
    error = math.sqrt(one.variance / one.rewards)
    for limits in ((-math.inf, math.inf), (-1e6, math.inf), (-1e6, 1e6), (-1e99, 1e6)):
        found = one.interval(Z, *limits, other)
        assert found == pytest.approx((one.mean - Z * error, one.mean + Z * error), abs=1e-5)


def test_equal_rewards() -> None:
    """In the range they are no surprise; at an end, the other side knows what a click is worth."""
    fives, half = side_of([0.5] * 300), side_of([0.0, 0.02] * 100)
    zeros, ones = side_of([0.0] * 300), side_of([1.0] * 300)
    assert fives.interval(Z, 0.0, 1.0, half) == (0.5, 0.5)
    assert zeros.interval(Z, 0.0, 1.0, ones) == pytest.approx(intervals.score(0.0, 300, 0.95))
    assert ones.interval(Z, 0.0, 1.0, zeros) == pytest.approx(intervals.score(1.0, 300, 0.95))
    assert zeros.interval(Z, 0.0, math.inf, zeros) == pytest.approx((0.0, Z**2 / 300))
    assert zeros.interval(Z, 0.0, 1.0, half)[1] < 0.02 * zeros.interval(Z, 0.0, 1.0, ones)[1]


def test_rewards_are_in_the_unit_of_the_caller() -> None:
    found = []
    for low, high in ((0.0, 1.0), (-50.0, 150.0)):
        bandit = thrifty.Bandit(thrifty.UCB1(), 3, seed=1, control=0.5, reward_range=(low, high))
        rng = np.random.default_rng(1)
        for _ in range(600):
            decision = bandit.decide()
            bandit.reward(decision, low + (high - low) * rng.random())
        found.append(bandit.lift(0.9))
    unit, wide = found
    for name in ("difference", "low", "high"):
        assert getattr(wide, name) == pytest.approx(200.0 * getattr(unit, name))
    for name in ("policy", "control"):
        assert getattr(wide, name) == pytest.approx(-50.0 + 200.0 * getattr(unit, name))
    assert unit.difference == unit.policy - unit.control
    assert (unit.policy_rewards + unit.control_rewards, unit.level) == (600, 0.9)
    assert bandit.lift(0.99).low < wide.low < wide.difference < wide.high < bandit.lift(0.99).high


def test_too_few_rewards() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), 4, seed=1, control=0.5)
    with refused(thrifty.InvalidCall, "at least 200 decisions of control .*: 0 are too few", bandit):
        bandit.lift()
    control = 0
    while control < 199:
        decision = bandit.decide()
        if decision.control:
            control += 1
            bandit.reward(decision, 1.0)
    with refused(thrifty.InvalidCall, "at least 200 decisions of control .*: 199 are too few", bandit):
        bandit.lift()
    bandit.control = 1.0 - 1e-6
    bandit.reward(bandit.decide(), 1.0)
    with refused(thrifty.InvalidCall, "at least 200 decisions of the policy .*: 0 are too few", bandit):
        bandit.lift()
    for level in (0.0, 1.0, 95, "high"):
        with refused(thrifty.ThriftyError, "level must be", bandit):
            bandit.lift(level)


def test_a_slate_is_one_decision() -> None:
    """Its rewards may all be alike: ten clicks of one user are no better than one."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 20, seed=1, control=0.5)
    rng = np.random.default_rng(3)
    for k in (1, 5):
        bandit = thrifty.Bandit(thrifty.TSMA(), 20, seed=1, control=0.5)
        while min(side.slates for side in bandit._ledger.sides) < 200:
            slate, mood = bandit.decide(rank=k), float(rng.random() < 0.5)
            for each in slate:
                bandit.reward(each, mood)
        found = bandit.lift()
        assert found.control_rewards == k * bandit._ledger.sides.control.slates
        width = found.high - found.low
        assert width == pytest.approx(2 * Z * math.sqrt(0.25 / 200 + 0.25 / 200), rel=0.1)


def test_decisions_remember_their_share() -> None:
    """And those without a choice between control and policy are not compared."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 4, seed=1)
    made = []
    for share in (0.0, 0.2, 1.0, 0.8):
        bandit.control = share
        made.append(bandit.decide(count=30))
    bandit.control = 0.5
    for decisions in made:
        for each in decisions:
            bandit.reward(each, 0.5)
    policy, control = bandit._ledger.sides
    counts = [sum(each.control for each in made[i]) for i in (1, 3)]
    assert control.weight == pytest.approx(counts[0] / 0.2 + counts[1] / 0.8)
    assert policy.weight == pytest.approx((30 - counts[0]) / 0.8 + (30 - counts[1]) / 0.2)
    assert (policy.mean, control.mean) == (0.5, 0.5)


def test_what_does_not_count() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), ["a", "b"], seed=1, control=0.5)
    decisions = [bandit.decide(among=["a"]), bandit.decide(among=["b"]), bandit.decide(), bandit.decide()]
    bandit.remove_arm("a")
    bandit.reward(decisions[0], 1.0)
    bandit.cancel(decisions[1])
    bandit.update("b", 1.0)
    bandit.observe("b", 1.0)
    assert bandit._ledger.sides == Sides()
    assert Slate().seen == (0, 0.0)
    assert bandit.expire(1e12, reward=0.25) == 2


# How often the interval holds ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("means", "ours", "normal"),
    [
        ((0.02, 0.02), 0.953, 0.904),
        ((0.03, 0.02), 0.953, 0.904),
        ((0.05, 0.03), 0.954, 0.923),
        ((0.05, 0.05), 0.951, 0.931),
        ((0.5, 0.4), 0.950, 0.948),
    ],
    ids=str,
)
def test_exactly_how_often_it_holds_for_clicks(means: Any, ours: float, normal: float) -> None:
    """3,800 rewards of a policy that has settled, and 200 of control: all that can happen, by its
    probability; as docs/decisions.md says. Beside it the normal interval."""
    laws = [stats.binom(n, mean) for n, mean in zip((3800, 200), means, strict=True)]
    sums = [np.arange(int(law.ppf(1e-6)), int(law.isf(1e-6)) + 1) for law in laws]
    sums = [each[:: max(1, each.size // 60)] for each in sums]  # neighbours of a large sum differ little
    sides = [[_clicked(int(x), n) for x in each] for each, n in zip(sums, (3800, 200), strict=True)]
    p = [law.pmf(each) / law.pmf(each).sum() for law, each in zip(laws, sums, strict=True)]
    held, truth = np.zeros(2), means[0] - means[1]
    for i, policy in enumerate(sides[0]):
        for j, control in enumerate(sides[1]):
            found = Sides(policy, control).lift(0.95, UNIT)
            reach = Z * math.sqrt(policy.variance / 3800 + control.variance / 200)
            inside = found.low <= truth <= found.high, abs(found.difference - truth) <= reach
            held += p[0][i] * p[1][j] * np.array(inside)
    assert held == pytest.approx([ours, normal], abs=0.0006)


def _clicked(x: int, n: int) -> Side:
    spread = n * (x / n) * (1 - x / n)
    return Side(n, n, x / n, n, n, spread, spread, 0.0, n)


def clicks(means: Any) -> Any:
    return lambda arm, step, rng: (float(rng.random() < means[arm]), means[arm])


def drifting(means: Any, after: int) -> Any:
    """All clicks become half as likely."""

    def reward(arm: int, step: int, rng: Any) -> tuple[float, float]:
        mean = means[arm] * (1.0 if step < after else 0.5)
        return float(rng.random() < mean), mean

    return reward


def smooth(means: Any) -> Any:
    return lambda arm, step, rng: (rng.beta(4 * means[arm], 4 - 4 * means[arm]), means[arm])


def holds(policy: Policy, reward: Any, shares: list[float], late: int, k: int | None, seed: int) -> bool:
    """Whether the interval of one bandit has the difference of what both sides could expect: arms 0 to 3, a
    share of control for each decision, rewards so many decisions late, and single decisions or slates."""
    bandit, rng = thrifty.Bandit(policy, 4, seed=seed), np.random.default_rng(seed)
    flying: list[Any] = []
    sums, weights, uniform = 0.0, 0.0, 0.0
    for step, share in enumerate(shares):
        if bandit.control != share:
            bandit.control = share
        slate = bandit.decide(rank=k) if k else [bandit.decide()]
        mood = rng.random() < 0.5 or not k  # of a user, who sees the whole slate
        for each in slate:
            value, mean = reward(each.arm, step, rng)
            flying.append((each, value if mood else 0.0))
            if not each.control:
                weights += 1.0 / (1.0 - share)
                sums += mean * (0.5 if k else 1.0) / (1.0 - share)
        uniform += np.mean([reward(arm, step, rng)[1] for arm in range(4)]) * (0.5 if k else 1.0)
        while len(flying) > late:
            bandit.reward(*flying.pop(rng.integers(len(flying))))
    for each in flying:
        bandit.reward(*each)
    found = bandit.lift()
    return bool(found.low <= sums / weights - uniform / len(shares) <= found.high)


RARE, EVEN = [0.02, 0.03, 0.04, 0.05], [0.5, 0.45, 0.4, 0.55]
BETA, UCB = thrifty.ThompsonSampling("beta"), thrifty.UCB1()
FLAT, RISING = [0.08] * 4000, [0.06] * 2000 + [0.25] * 2000

# policy, rewards, the share of control in each decision, how late rewards are, and the size of slates
CASES: dict[str, Any] = {
    "rare clicks, TS": (BETA, clicks(RARE), FLAT, 0, None),
    "rare clicks, UCB1": (UCB, clicks(RARE), FLAT, 0, None),
    "half of all, late": (BETA, clicks(EVEN), FLAT, 500, None),
    "continuous, UCB1": (UCB, smooth(EVEN), FLAT, 0, None),
    "changed share, drift": (BETA, drifting(EVEN, 2000), RISING, 0, None),
    "changed share, drift, rare": (BETA, drifting(RARE, 2000), RISING, 100, None),
    "slates of two": (BETA, clicks(EVEN), FLAT, 0, 2),
}
SHORT = {
    "rare clicks": (BETA, clicks(RARE), [0.5] * 520, 0, None),
    "half of all, late": (UCB, clicks(EVEN), [0.5] * 520, 50, None),
    "changed share, drift": (BETA, drifting(EVEN, 400), [0.3] * 400 + [0.6] * 300, 0, None),
    "slates of two": (BETA, clicks(EVEN), [0.5] * 520, 0, 2),
}


def assert_holds(case: Any, runs: int) -> None:
    """Not less often than 95 % in truth: fewer hits would happen once in 10^9 times."""
    hits = sum(holds(*case, seed) for seed in range(runs))
    assert stats.binomtest(hits, runs, 0.95, "less").pvalue > UNLUCKY


@pytest.mark.parametrize("case", SHORT)
def test_the_interval_holds(case: str) -> None:
    assert_holds(SHORT[case], 30)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_interval_holds_in_many_runs(case: str) -> None:
    assert_holds(CASES[case], 1000)
