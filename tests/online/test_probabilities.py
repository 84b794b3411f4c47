"""How likely a decision was, against numerical integration and against how often it is made."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import thrifty
from tests.support.chance import UNLUCKY
from tests.support.live import refused, warm
from tests.support.own import Bell
from thrifty.numerics import normal

FRESH = thrifty.ThompsonSampling

# Of scipy, by the name of the law: the distribution of an arm's index after n pulls with sum s.
LAWS: dict[str, Callable[[float, float], Any]] = {
    "gaussian": lambda n, s: stats.norm(s / n, n**-0.5),
    "beta": lambda n, s: stats.beta(s + 1, n - s + 1),
    "gamma": lambda n, s: stats.gamma(s + 1, scale=1 / n),
    "inverse-gamma": lambda n, s: stats.invgamma(n, scale=s),
}


def by_integration(laws: Sequence[Any]) -> Any:
    """P(i has the largest), an integral over F_i: Simpson's rule, in ln x where x is positive."""
    points = 2001
    low, high = max(law.ppf(1e-13) for law in laws), max(law.isf(1e-13) for law in laws)
    x = (np.geomspace if low > 0.0 else np.linspace)(low, high, points)
    t, scale = (np.log(x), x) if low > 0.0 else (x, 1.0)
    logs = [law.logcdf(x) for law in laws]
    whole = np.sum(logs, axis=0)
    rows = [np.exp(whole - log + law.logpdf(x)) * scale for law, log in zip(laws, logs, strict=True)]
    return np.array([integrate.simpson(np.nan_to_num(row), x=t) for row in rows])


def arms_of(bandit: thrifty.Bandit) -> dict[Any, tuple[float, float]]:
    """(n, sum) of each arm, with its prior."""
    table, (mean, weight) = bandit.statistics(), bandit._player.prior or (0.0, 0.0)
    rows = zip(table["arm"], table["weight"], np.nan_to_num(table["mean"]), strict=True)
    return {a: (n + weight, n * m + mean * weight) for a, n, m in rows}


def probabilities(bandit: thrifty.Bandit, arms: Sequence[Any] | None = None, **question: Any) -> Any:
    return np.array([bandit.probability(arm, **question) for arm in (bandit.arms if arms is None else arms)])


def assert_close(found: Any, exact: Any) -> None:
    """The goals of ``docs/probabilities.md``."""
    assert found.sum() == pytest.approx(1.0, abs=1e-9)
    assert (found >= 0.0).all()
    assert 0.5 * np.abs(found - exact).sum() < 1e-3
    np.testing.assert_allclose(found[exact > 0.01], exact[exact > 0.01], rtol=0.01)
    np.testing.assert_allclose(found[exact > 1e-6], exact[exact > 1e-6], rtol=0.1)


def assert_right(bandit: thrifty.Bandit, law: str, arms: Sequence[Any], **question: Any) -> None:
    known = arms_of(bandit)
    exact = by_integration([LAWS[law](*known[arm]) for arm in arms])
    assert_close(probabilities(bandit, arms, **question), exact)


def played(law: Any, arms: int, seed: int = 3, **options: Any) -> thrifty.Bandit:
    """A bandit whose arms have from 1 to many pulls."""
    rng = np.random.default_rng(seed)
    pulls = np.ceil(2 * rng.pareto(0.7, arms)).clip(2, 5000).astype(int)
    means = rng.binomial(pulls - 1, rng.random(arms)) / pulls + 0.5 / pulls
    return warm(FRESH(law=law), pulls.tolist(), means.tolist(), seed=seed, **options)


@pytest.mark.parametrize("arms", [2, 3, 20, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("law", LAWS)
def test_they_are_those_of_integration(law: str, arms: int) -> None:
    bandit = played(law, arms)
    everyone = bandit.arms
    assert_right(bandit, law, everyone)
    best = np.argsort(-probabilities(bandit))
    leaders = [everyone[i] for i in best[:5]] if arms > 7 else [everyone[best[0]]]
    rest = [arm for arm in everyone if arm not in leaders]
    assert_right(bandit, law, rest, exclude=leaders)
    assert probabilities(bandit, leaders, exclude=leaders).tolist() == [0.0] * len(leaders)
    few = everyone[:: max(arms // 10, 1)]
    assert_right(bandit, law, few, among=few)
    assert bandit.probability(everyone[0], among=[everyone[0]]) == 1.0


@pytest.mark.parametrize("law", ["gaussian", "beta"])
def test_they_follow_what_is_learnt(law: str) -> None:
    """Arms come and go, are paused, are forgotten; in between there are rewards."""
    rng = np.random.default_rng(8)
    bandit = played(law, 12, prior=(0.5, 2.0), probabilities=True)
    names = list(range(12))
    truth = rng.random(40)
    for step in range(12):
        for _ in range(40):
            decision = bandit.decide(probability=True)
            assert 0.0 < decision.probability <= 1.0
            bandit.reward(decision, float(rng.random() < truth[decision.arm]))
        kind = step % 6
        if kind == 0:
            names.append(12 + step)
            bandit.add_arm(12 + step)
            bandit.update(12 + step, 1.0)
        elif kind == 1 and len(names) > 4:
            bandit.remove_arm(names.pop(int(rng.integers(len(names)))))
        elif kind == 2:
            bandit.forget(0.5)
        elif kind == 3:
            bandit.merge({"arm": names[:2], "pulls": [5, 5], "mean": [0.4, 0.6]})
        elif kind == 4:
            bandit.pause(names[-1])
            assert bandit.probability(names[-1]) == 0.0
            assert_right(bandit, law, names[:-1])
            bandit.resume(names[-1])
        assert_right(bandit, law, names)
    assert_right(bandit, law, names[3:], exclude=names[:3])


def test_levels_that_were_kept_are_as_good_as_new_ones(tmp_path: Path) -> None:
    """After many rewards, against a bandit that never kept any; a copy and a file go on."""
    bandit, rng = played("beta", 300), np.random.default_rng(1)
    truth = rng.random(300)
    assert bandit.probability(0) >= 0.0
    for _ in range(40):
        arms = [bandit.decide(probability=True).arm for _ in range(5)]
        more = rng.integers(300, size=200).tolist()
        bandit.update_many(more, (rng.random(200) < truth[more]).astype(float))
        for arm in arms:
            assert bandit.probability(arm) <= 1.0
    kept = probabilities(bandit)
    fresh = warm(FRESH(law="beta"), *(bandit.statistics()[name].tolist() for name in ("pulls", "mean")))
    assert_close(kept, probabilities(fresh))
    bandit.save(tmp_path / "levels.npz")
    assert_close(probabilities(thrifty.Bandit.load(tmp_path / "levels.npz")), kept)
    twin = copy.deepcopy(bandit)
    assert probabilities(twin).tolist() == kept.tolist()
    for each in (bandit, twin):
        each.update(7, 1.0)
    assert probabilities(twin).tolist() == probabilities(bandit).tolist()


def test_sums_leave_no_trace() -> None:
    """What is added to R at a level and subtracted again is gone, to the last bit."""
    bandit = played("gaussian", 30, probabilities=True)
    field = bandit._player.core.memory.field
    before = field("totals")[:-1].copy()
    for _ in range(50):
        for arm in range(30):
            bandit.pause(arm)
            bandit.resume(arm)
    np.testing.assert_array_equal(field("totals")[:-1], before)


COUNT = 4000  # decisions, each of them cancelled


def assert_frequent(bandit: thrifty.Bandit, **question: Any) -> None:
    """Arms are chosen as often as they are likely, and never if they are not; a decision says how likely."""
    expected = probabilities(bandit, **question)
    assert expected.sum() == pytest.approx(1.0, abs=1e-9)
    found = np.zeros(expected.size)
    for i in range(COUNT):
        told = i % 100 == 0
        decision = bandit.decide(probability=told, **question)
        if told:
            assert decision.probability == pytest.approx(expected[decision.arm], rel=1e-6)
        bandit.cancel(decision)
        found[decision.arm] += 1
    some = COUNT * expected > 5.0
    rest = [found[~some].sum(), COUNT * expected[~some].sum()]
    seen, wanted = np.append(found[some], rest[0]), np.append(COUNT * expected[some], max(rest[1], 1e-9))
    assert stats.chisquare(seen, wanted * COUNT / wanted.sum()).pvalue > UNLUCKY
    assert found[expected == 0.0].sum() == 0


PULLS, MEANS = [1, 2, 2, 4, 1, 6], [0.0, 0.5, 1.0, 1.0, 1.0, 0.5]
SHARES: dict[str, Any] = {"control": 0.2, "floor": 0.05}


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        (FRESH(), SHARES),
        (FRESH(law="inverse-gamma-flat"), {}),  # arms with one pull are at infinity
        (thrifty.EpsilonTS(epsilon=0.3), {}),
        (thrifty.EpsilonTS(law="beta", epsilon=0.9), {"control": 0.3, "control_arm": 1}),
        (thrifty.ExpTS(), {}),  # which has atoms at 0 and 1
        (thrifty.ExpTS(family="poisson"), {}),  # and at infinity
        (thrifty.ExpTSPlus(), {}),  # where they tie with means
        (thrifty.UCB1(), SHARES),  # ties, on scan
        (thrifty.MOSS(), {"floor": 0.1}),  # with a horizon
        (thrifty.TSMA(), SHARES),
    ],
    ids=repr,
)
def test_they_are_how_often_it_happens(policy: Any, options: dict[str, Any]) -> None:
    bandit = warm(policy, PULLS, MEANS, seed=11, **options)
    assert_frequent(bandit)
    assert_frequent(bandit, exclude=[2, 5])
    if options:
        bandit.pause(3)
        assert_frequent(bandit, among=[0, 1, 3, 5])


@pytest.mark.parametrize("policy", [thrifty.UCB1(), thrifty.TSMA()], ids=repr)
def test_other_engines(policy: Any) -> None:
    """Ties of 40 arms, on kinetic and tournament."""
    bandit = warm(policy, PULLS[:4] * 20, MEANS[:4] * 20, seed=11, control=0.1, floor=0.001)
    assert bandit.engine != "scan"
    assert_frequent(bandit)


def test_first_pulls_are_certain() -> None:
    bandit = thrifty.Bandit(FRESH(), 3, seed=1, floor=0.1, burn_in=2, probabilities=True)
    assert probabilities(bandit).tolist() == pytest.approx([0.8, 0.1, 0.1])
    assert bandit.probability(1, among=[1, 2]) == pytest.approx(0.9)
    bandit.floor = 0.0
    for arm in (0, 0, 1, 1, 2, 2):
        decision = bandit.decide(probability=True)
        assert (decision.arm, decision.probability) == (arm, 1.0)
        assert bandit.probability(arm, among=[arm]) == 1.0
    assert probabilities(bandit).tolist() == pytest.approx([1 / 3] * 3)  # nobody has a reward
    bandit.update(1, 1.0)
    assert probabilities(bandit).tolist() == [0.0, 1.0, 0.0]
    assert bandit.probability(2, exclude=[1]) == 0.5


def test_of_a_slate_the_first_place() -> None:
    bandit = played("beta", 6)
    expected = probabilities(bandit, exclude=[2])
    slate = bandit.decide(rank=3, exclude=[2], probability=True)
    assert [each.probability for each in slate] == [pytest.approx(expected[slate[0].arm]), None, None]
    several = bandit.decide(count=2, probability=True)
    assert all(0.0 < each.probability <= 1.0 for each in several)
    assert bandit.decide().probability is None


@dataclass(frozen=True)
class Normal(thrifty.Law):
    """The Gaussian law as a user would write it; not a number above ``end``."""

    end: float = 1e9

    def parameters(self, n: float, s: float) -> tuple[float, float]:
        return s / n, n**-0.5

    def sf(self, a: float, b: float, c: float) -> float:
        return normal.sf((c - a) / b) if c < self.end else math.nan

    def isf(self, a: float, b: float, p: float) -> float:
        return a + b * normal.isf(p)


def test_laws_of_ones_own() -> None:
    ours, theirs = played("gaussian", 15), played(Normal(), 15)
    np.testing.assert_allclose(probabilities(theirs), probabilities(ours), rtol=1e-9)
    for _ in range(20):
        for bandit in (ours, theirs):
            bandit.update(3, 1.0)
    np.testing.assert_allclose(probabilities(theirs), probabilities(ours), rtol=1e-9)
    np.testing.assert_allclose(theirs.outlook()["loss"], ours.outlook()["loss"], rtol=1e-9)
    broken = played(Normal(end=0.7), 15)
    message = "sf and isf of the law of .*Normal.* must be numbers, got NaN"
    with refused(thrifty.InvalidValue, message, broken):
        broken.probability(0, among=[0, 1, 2])
    with pytest.raises(thrifty.InvalidValue, match=message):
        broken.decide(probability=True)
    with pytest.raises(thrifty.InvalidValue, match=message):
        broken.outlook()
    broken.update(1, 1.0)  # which does not need sf
    assert broken.statistics()["pending"].sum() == 0


@pytest.mark.parametrize(
    ("policy", "options", "message"),
    [
        (thrifty.UCB1(), {}, "no decision is a matter of chance"),
        (thrifty.TSMA(), {}, "no decision is a matter of chance"),
        (thrifty.TSTD(), {"floor": 0.1}, "it has no law that says so"),
        (thrifty.Softmax(), {"floor": 0.1}, "it has no law that says so"),
        (FRESH(law=Bell()), {"floor": 0.1}, "a posterior of your own only draws"),
    ],
    ids=["UCB1", "TSMA", "TSTD", "Softmax", "Bell"],
)
def test_who_has_none_says_so(policy: Any, options: Any, message: str) -> None:
    bandit = thrifty.Bandit(policy, 3, seed=1, **options)
    bandit.update_many([0, 1, 2], [1.0, 0.0, 1.0])
    with refused(thrifty.InvalidCall, message, bandit):
        bandit.probability(0)
    with refused(thrifty.InvalidCall, message, bandit):
        bandit.decide(probability=True)
    with pytest.raises(thrifty.InvalidCall, match=message):
        thrifty.Bandit(policy, 3, probabilities=True, **options)


def test_what_is_refused() -> None:
    bandit = played("beta", 5)
    with refused(thrifty.InvalidValue, "arm must be one of", bandit):
        bandit.probability(5)
    with refused(thrifty.InvalidType, "probability must be True or False", bandit):
        bandit.decide(probability="yes")
    with pytest.raises(thrifty.InvalidType, match="probabilities must be True or False"):
        played("beta", 5, probabilities=None)
    with refused(thrifty.InvalidValue, "at least one arm", bandit):
        bandit.probability(0, among=[])
    with refused(thrifty.InvalidValue, "at least one arm", bandit):
        bandit.decide(exclude=range(5), probability=True)
    with refused(thrifty.InvalidType, "among must be a collection", bandit):
        bandit.probability(0, among=3)


def logged(decisions: int, seed: int) -> dict[str, list[Any]]:
    """A log of Thompson sampling, with its probabilities."""
    rng = np.random.default_rng(seed)
    bandit = thrifty.Bandit(FRESH(law="beta"), 3, seed=seed, prior=(0.5, 2.0), floor=0.1)
    log: dict[str, list[Any]] = {"arm": [], "reward": [], "propensity": []}
    for _ in range(decisions):
        decision = bandit.decide(probability=True)
        reward = float(rng.random() < (0.3, 0.5, 0.7)[decision.arm])
        bandit.reward(decision, reward)
        for column, value in zip(log.values(), (decision.arm, reward, decision.probability), strict=True):
            column.append(value)
    return log


@pytest.mark.parametrize(
    ("logs", "decisions", "error"), [(40, 100, 0.1), pytest.param(1000, 800, 0.005, marks=pytest.mark.slow)]
)
def test_a_log_goes_through_replay(logs: int, decisions: int, error: float) -> None:
    """The mean estimate of what arm 1 pays is right, up to three standard errors."""
    found = [
        thrifty.replay(thrifty.FixedArm(1), logged(decisions, seed), "ips", runs=1, trust=True, arms=3).value
        for seed in range(logs)
    ]
    spread = np.std(found, ddof=1) / math.sqrt(logs)
    assert spread < error * 0.5 * (1.0 if logs > 100 else 2.0)
    assert abs(np.mean(found) - 0.5) < 3.0 * spread


def loss_by_integration(laws: Sequence[Any]) -> Any:
    """E[max - mu_i] = int (F_i - G) dx."""
    x = np.linspace(min(law.ppf(1e-12) for law in laws), max(law.isf(1e-12) for law in laws), 40_001)
    rows = np.array([law.cdf(x) for law in laws])
    return np.array([integrate.simpson(row - rows.prod(axis=0), x=x) for row in rows])


@pytest.mark.parametrize("law", ["gaussian", "beta", "gamma"])
@pytest.mark.parametrize("arms", [2, 30])
def test_outlook(law: str, arms: int) -> None:
    bandit = played(law, arms, reward_range=(0.0, 1.0))
    laws = [LAWS[law](*known) for known in arms_of(bandit).values()]
    exact, losses = by_integration(laws), loss_by_integration(laws)
    found = bandit.outlook(bandit.arms)
    assert found["arm"] == bandit.arms
    assert_close(found["probability"], exact)
    np.testing.assert_allclose(found["loss"], losses, rtol=2e-3, atol=1e-6)
    best = bandit.outlook()
    assert best["arm"] == np.argsort(-found["probability"], kind="stable")[:10].tolist()
    np.testing.assert_array_equal(best["loss"], found["loss"][best["arm"]])
    if arms > 2:
        bandit.pause(best["arm"][0])
        left = [law for i, law in enumerate(laws) if i != best["arm"][0]]
        rest = [arm for arm in bandit.arms if arm != best["arm"][0]]
        np.testing.assert_allclose(
            bandit.outlook(rest)["loss"], loss_by_integration(left), rtol=2e-3, atol=1e-6
        )
        assert bandit.outlook(best["arm"][:1])["probability"] == 0.0


def test_outlook_of_others() -> None:
    """Of a policy without a law; in another unit; of a law that is tempered to explore, as if it were not."""
    pulls, means = [40, 50, 60], [0.5, 0.6, 0.55]
    unit = warm(FRESH(), pulls, means).outlook()
    for policy in (thrifty.UCB1(), thrifty.TSMA(alpha=0.5)):
        law = "gaussian" if isinstance(policy, thrifty.UCB1) else None
        other = warm(policy, pulls, means).outlook(law=law)
        assert other["arm"] == unit["arm"]
        np.testing.assert_allclose(
            [*other["probability"], *other["loss"]], [*unit["probability"], *unit["loss"]]
        )
    cents = warm(FRESH(), pulls, [100 * mean for mean in means], reward_range=(0.0, 100.0)).outlook()
    np.testing.assert_allclose(cents["loss"], 100 * unit["loss"])
    bandit = thrifty.Bandit(thrifty.UCB1(), 3)
    with refused(thrifty.InvalidValue, "law must be given for UCB1", bandit):
        bandit.outlook()
    with refused(thrifty.InvalidCall, "3 have none", bandit):
        bandit.outlook(law="beta")
    with refused(thrifty.InvalidValue, "law must be", bandit):
        bandit.outlook(law="normal")
    with refused(thrifty.InvalidValue, "arms", bandit):
        bandit.outlook(arms=[4], law="beta")


@pytest.mark.parametrize("law", ["beta", "gaussian"])
def test_an_arm_that_rests_and_of_which_nothing_is_known_has_no_outlook(law: str) -> None:
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=law), 3, seed=1)
    bandit.update_many([0, 0, 1, 1], [1.0, 0.0, 1.0, 0.0])
    bandit.pause(2)
    assert sorted(bandit.outlook()["arm"]) == [0, 1]
    with refused(thrifty.InvalidCall, "1 have none", bandit):
        bandit.outlook([0, 2])


def test_bends_that_move_are_followed() -> None:
    """At its mean the distribution function of ExpTS has a bend: levels of before would be 3 % off."""
    bandit = thrifty.Bandit(thrifty.ExpTS(), 3, seed=5)
    bandit.update_many([0] * 5 + [1] * 3 + [2], [0.0] * 4 + [1.0] + [0.0, 0.0, 1.0] + [1.0])
    probabilities(bandit)
    bandit.update_many([0, 0, 1, 1, 2, 2], [0.0, 1.0] * 3)
    found = probabilities(bandit)
    np.testing.assert_allclose(found, probabilities(copy.copy(bandit), among=bandit.arms), rtol=1e-9)
    np.testing.assert_allclose(found.sum(), 1.0, atol=1e-9)
    count = 100_000
    often = np.bincount(bandit.select_many(count), minlength=3) / count
    assert (
        np.abs(often - found) < stats.norm.isf(UNLUCKY / 6) * np.sqrt(found * (1.0 - found) / count)
    ).all()
