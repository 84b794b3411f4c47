"""Arms are added and removed while others go on: laws and statistics stay with the arms they belong to."""

import copy
import math
from collections import Counter
from collections.abc import Callable, Hashable
from itertools import cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import given as supposing
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY
from tests.support.live import (
    EVERY,
    EVERYWHERE,
    FIELDS,
    PATIENT,
    Coins,
    Widening,
    column,
    everything,
    kept,
    refused,
    state,
    warm,
)
from thrifty.engines import ENGINES
from thrifty.engines.sleepers.line import SWEEPING, SWEPT
from thrifty.numerics import families
from thrifty.online.ids import Ids
from thrifty.policies import Policy

Floats = NDArray[np.float64]
NEVER_ENDING = 1e15  # a phase I


def chances(bandit: thrifty.Bandit, draws: float = 1.0, epsilon: float = 1.0) -> Floats:
    """P(arm i has the largest index), from the statistics as they are shown, by quadrature.

    The index is the best of some draws from N(mean, 1/n), or with probability 1 - epsilon the mean itself. No
    two means are equal here.
    """
    table = bandit.statistics()
    n, mean = table["pulls"][:, None], table["mean"][:, None]
    assert np.unique(mean).size == mean.size
    grid = np.unique(np.concatenate([np.linspace(mean.min() - 8.0, mean.max() + 8.0, 6001), mean[:, 0]]))

    def below(x: Floats, side: str) -> Floats:
        drawn = stats.norm.cdf(np.sqrt(n) * (x - mean)) ** draws
        return epsilon * drawn + (1.0 - epsilon) * (mean <= x if side == "right" else mean < x)

    def others(factors: Floats) -> Floats:
        """The product of all rows but each."""
        logs = np.log(np.maximum(factors, 1e-300))
        return np.exp(logs.sum(axis=0) - logs)

    right, left = below(grid, "right"), below(grid, "left")
    smooth = 0.5 * (others(right)[:, :-1] + others(left)[:, 1:]) * (left[:, 1:] - right[:, :-1])
    atoms = others(right) * (right - left)
    won: Floats = smooth.sum(axis=1) + atoms.sum(axis=1)
    assert abs(won.sum() - 1.0) < 1e-4
    return won / won.sum()


def assert_chosen_by(probabilities: Floats, bandit: thrifty.Bandit, chosen: list[Hashable]) -> None:
    """Chi-square over the arms; those that are expected less than ten times are counted together."""
    counts = np.array([chosen.count(arm) for arm in bandit.statistics()["arm"]])
    expected = counts.sum() * probabilities
    common = expected >= 10.0
    assert common.sum() > 2
    observed = np.append(counts[common], counts[~common].sum())
    expected = np.append(expected[common], max(expected[~common].sum(), 1e-9))
    observed, expected = (observed[:-1], expected[:-1]) if expected[-1] < 1.0 else (observed, expected)
    assert stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue > UNLUCKY


class Stage:
    """A bandit and what its statistics should be."""

    def __init__(self, policy: Policy, arms: int, **options: Any) -> None:
        self.rng = np.random.default_rng(5)
        pulls = self.rng.integers(2, 30, arms).tolist()
        means = self.rng.uniform(0.3, 0.6, arms).tolist()
        self.bandit = warm(policy, pulls, means, reward_range=None, **options)
        self.known: dict[Hashable, tuple[int, float]] = dict(enumerate(zip(pulls, means, strict=True)))

    def reward(self, arm: Hashable, reward: float) -> None:
        n, mean = self.known.get(arm, (0, 0.0))
        self.known[arm] = n + 1, (n * mean + reward) / (n + 1)
        self.bandit.update(arm, reward)

    def add(self, arm: Hashable, *rewards: float) -> None:
        self.bandit.add_arm(arm)
        for reward in rewards:
            self.reward(arm, reward)

    def remove(self, arm: Hashable) -> None:
        del self.known[arm]
        self.bandit.remove_arm(arm)

    def come_and_go(self) -> None:
        """Arms from the beginning, the middle and the end; new ones, one of which goes and comes again."""
        self.add("x", 0.7, 0.4)
        self.remove(0)
        self.add("y", 0.52)
        self.bandit.select_many(3)
        self.remove(len(self.known) // 2)
        self.remove("x")
        self.reward(2, 0.61)
        self.add("z", 0.45, 0.71, 0.56)
        self.add("x", 0.58)
        self.remove("z")
        self.add("last", 0.49)
        self.check()

    def check(self) -> None:
        table = self.bandit.statistics()
        assert dict(zip(table["arm"], table["pulls"].tolist(), strict=True)) == {
            arm: n for arm, (n, _) in self.known.items()
        }
        means = [self.known[arm][1] for arm in table["arm"]]
        np.testing.assert_allclose(table["mean"], means, rtol=1e-12)


FRESH = [
    (thrifty.ThompsonSampling(), 1.0, "scan"),
    (thrifty.ThompsonSampling(), 1.0, "sleepers"),
    (thrifty.EpsilonTS(epsilon=0.3), 0.3, "scan"),
    (thrifty.EpsilonTS(epsilon=0.3), 0.3, "sleepers"),
    (thrifty.TSTD(phi=NEVER_ENDING), 1.0, "scan"),
    (thrifty.TSTD(phi=NEVER_ENDING), 1.0, "sleepers"),
]


@pytest.mark.parametrize(("policy", "epsilon", "engine"), FRESH, ids=str)
def test_arms_are_chosen_by_their_chances_afterwards(policy: Policy, epsilon: float, engine: str) -> None:
    """While no reward comes, the laws stay what they are, and a hundred thousand choices show them."""
    stage = Stage(policy, 12, seed=1, engine=engine)
    stage.come_and_go()
    chosen = stage.bandit.select_many(100_000)
    assert_chosen_by(chances(stage.bandit, epsilon=epsilon), stage.bandit, chosen)


def coins_and_changes(policy: Policy, engine: str) -> thrifty.Bandit:
    """Rewards of 0 and 1, some arms always the same, while others come and go."""
    bandit = thrifty.Bandit(policy, 9, seed=ENGINES.index(engine), engine=engine)
    for arm, (ones, zeros) in enumerate(
        [(3, 1), (2, 0), (9, 3), (0, 2), (5, 2), (4, 0), (1, 1), (6, 3), (2, 0)]
    ):
        bandit.update_many([arm] * (ones + zeros), [1] * ones + [0] * zeros)
    for gone in (0, 3, 8):
        bandit.remove_arm(gone)
    for name, coins in {"x": [1, 1, 0], "y": [1], "z": [0, 1, 1, 1]}.items():
        bandit.add_arm(name)
        bandit.update_many([name] * len(coins), coins)
    bandit.remove_arm("y")
    bandit.remove_arm(6)
    return bandit


@pytest.mark.parametrize(
    "policy",
    [
        thrifty.ThompsonSampling("beta"),
        thrifty.ThompsonSampling("gamma"),
        thrifty.ThompsonSampling("inverse-gamma"),
        thrifty.ExpTS(),
        thrifty.ExpTSPlus(),
        thrifty.EpsilonTS("gamma", epsilon=0.3),
        thrifty.TSTD(law="beta", phi=NEVER_ENDING),
    ],
    ids=repr,
)
def test_sleepers_choose_like_scan_afterwards(policy: Policy) -> None:
    """Whatever the law, atoms included: two samples of choices, while no reward comes."""
    bandits = [coins_and_changes(policy, engine) for engine in ("scan", "sleepers")]
    chosen = [Counter(bandit.select_many(60_000)) for bandit in bandits]
    table = np.array([[counts[arm] for arm in bandits[0].statistics()["arm"]] for counts in chosen])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    assert table.shape[1] > 2
    assert stats.chi2_contingency(table, correction=False).pvalue > UNLUCKY


@pytest.mark.parametrize("policy", [thrifty.ThompsonSampling(), thrifty.TSTD(phi=NEVER_ENDING)], ids=repr)
def test_arms_may_move_while_the_level_of_sleepers_does(policy: Policy) -> None:
    """In the middle of a sweep, arms on either side of it go, and others take their numbers."""
    stage = Stage(policy, 300, seed=2, engine="sleepers")
    now = state(stage.bandit)
    rewards = cycle(sorted(stage.known, key=lambda arm: -stage.known[arm][1]))
    while now.sweep[SWEPT] < 100:  # the best arms turn out to be worse, until the level is too high
        stage.bandit.select()
        stage.reward(next(rewards), 0.05)
    swept = int(now.sweep[SWEPT])
    assert now.levels[0] < now.levels[1]
    for number in (3, 50, swept - 1, swept, swept + 1, 250, 292, 0):
        stage.remove(stage.bandit._ids.name(number))
    stage.bandit.add_arm("new")
    stage.bandit.select_many(20)
    stage.bandit.remove_arm("new")
    now = state(stage.bandit)
    assert now.sweep[SWEEPING]
    assert 0 < now.sweep[SWEPT] < len(now.pulls)
    stage.check()
    chosen = stage.bandit.select_many(100_000)
    assert_chosen_by(chances(stage.bandit), stage.bandit, chosen)


@pytest.mark.parametrize("runs", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_indices_that_are_kept_stay_with_their_arms(runs: int) -> None:
    """TS-MA: the first choice after everything, of many bandits, each arm at the best of phi draws."""
    for engine in ("scan", "tournament"):
        chosen = []
        for seed in range(runs):
            stage = Stage(thrifty.TSMA(phi=3), 5, seed=seed, engine=engine)
            stage.add("x", 0.7, 0.4)
            stage.remove(0)
            stage.remove(4)
            stage.add("y", 0.57)
            chosen.append(stage.bandit.select())
        assert_chosen_by(chances(stage.bandit, draws=3.0), stage.bandit, chosen)


def play_and_move(policy: Policy, engine: str, seed: int) -> tuple[list[Hashable], dict[Hashable, Any]]:
    """Arms whose phase I has ended and others whose has not, some of them removed and some renumbered."""
    bandit = warm(
        policy, [3, 8, 5, 2, 9, 4, 6, 7], [0.4, 0.6, 0.5, 0.55, 0.45, 0.5, 0.6, 0.3], seed=seed, engine=engine
    )
    chosen = [bandit.select()]
    bandit.update(2, 1.0)
    chosen += bandit.select_many(2)
    bandit.update(6, 0.0)
    chosen += bandit.select_many(2)  # 2 and 6 are in phase I, the others in phase II
    bandit.remove_arm(0)
    bandit.add_arm("new")
    bandit.update("new", 0.0)
    bandit.update("new", 1.0)
    chosen.append(bandit.select())
    bandit.remove_arm(2)
    bandit.remove_arm(3)
    chosen += bandit.select_many(2)
    bandit.add_arm(0)
    bandit.update(0, 1.0)
    return chosen + bandit.select_many(4), column(bandit, "draws")


@pytest.mark.parametrize("times", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_both_phases_of_ts_td_move_alike_on_scan_and_on_sleepers(times: int) -> None:
    """Two samples of one law: each decision, and the draws of each arm."""
    runs = {
        engine: [play_and_move(thrifty.TSTD(phi=4), engine, seed) for seed in range(first, first + times)]
        for engine, first in (("scan", 0), ("sleepers", 10_000))
    }
    decisions = [np.array([[str(arm) for arm in chosen] for chosen, _ in runs[engine]]) for engine in runs]
    counts = [np.array([list(draws.values()) for _, draws in runs[engine]]) for engine in runs]
    assert runs["scan"][0][1].keys() == runs["sleepers"][0][1].keys()
    tests = [
        *zip(*(array.T for array in decisions), strict=True),
        *zip(*(array.T for array in counts), strict=True),
    ]
    assert len(tests) == 12 + 7
    for first, second in tests:
        values, cells = np.unique(np.concatenate([first, second]), return_inverse=True)
        table = np.array([np.bincount(half, minlength=values.size) for half in np.split(cells, 2)])
        rare = table.sum(axis=0) < 20
        table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
        table = table[:, table.sum(axis=0) > 0]
        if table.shape[1] > 1:
            assert stats.chi2_contingency(table, correction=False).pvalue > UNLUCKY


FOLLOWERS = [
    policy for policy in EVERY if policy.runs_on[-1] in ("tournament", "kinetic") and policy.rewards != "any"
] + [
    thrifty.TSMA(),
    thrifty.BayesUCB(c=3.0),
    *(
        thrifty.KLUCB(c=c, family=family)
        for c in (0.0, 3.0)
        for family in families.CODES
        if c or family != "bernoulli"
    ),
]


@pytest.mark.parametrize("policy", FOLLOWERS, ids=repr)
def test_tournament_and_kinetic_stay_equal_to_scan(policy: Policy) -> None:
    """Whatever comes and goes, over several sizes of the tree; ties and rewards on their way included."""
    rng = np.random.default_rng(4)
    pair = [thrifty.Bandit(policy, 70, 5000, seed=6, engine=engine) for engine in policy.runs_on]
    names: list[Hashable] = list(range(70))
    flying: list[Hashable] = []
    for step in range(700):
        first, second = (bandit.select_many(1 + step % 3) for bandit in pair)
        assert first == second
        flying += first
        while flying and rng.random() < 0.7:
            arm, reward = flying.pop(rng.integers(len(flying))), float(rng.random() < 0.5)
            for bandit in pair:
                bandit.update(arm, reward)
        grow, shrink = (0.4, 0.05) if step % 500 < 250 else (0.05, 0.4)
        if rng.random() < grow:
            names.append(f"arm {step}")
            for bandit in pair:
                bandit.add_arm(names[-1])
        if rng.random() < shrink and len(names) > 2:
            gone = names.pop(rng.integers(len(names)))
            flying = [arm for arm in flying if arm != gone]
            for bandit in pair:
                bandit.remove_arm(gone)
    first, second = (bandit.statistics() for bandit in pair)
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])
    np.testing.assert_array_equal(state(pair[0]).rng, state(pair[1]).rng)


@pytest.mark.parametrize("engine", ["scan", "sleepers"])
def test_draws_are_counted_for_the_arm_that_they_are_made_for(engine: str) -> None:
    """Vanilla TS: one for each arm with a reward, in each decision that is not a first pull."""
    bandit, rng = (
        thrifty.Bandit(thrifty.ThompsonSampling(), 4, seed=0, engine=engine, pending_for=None),
        np.random.default_rng(1),
    )
    draws, rewarded, asked = dict.fromkeys(range(4), 0), set(), set()
    for t in range(400):
        arm = bandit.select()
        if arm in rewarded | asked:
            draws = {name: count + (name in rewarded) for name, count in draws.items()}
        asked.add(arm)
        if rng.random() < 0.6:
            rewarded.add(arm)
            bandit.update(arm, 0.5)
        if t % 7 == 3:
            bandit.add_arm(f"arm {t}")
            draws[f"arm {t}"] = 0
        if t % 11 == 5:
            gone = list(draws)[rng.integers(len(draws))]
            bandit.remove_arm(gone)
            del draws[gone]
            rewarded.discard(gone)
        assert column(bandit, "draws") == draws
    assert min(draws.values()) == 0
    assert max(draws.values()) > 100


@PATIENT
def test_an_id_comes_back_as_a_new_arm(policy: Policy, engine: str) -> None:
    bandit = thrifty.Bandit(policy, ["a", "b", "c"], seed=3, engine=engine)
    for _ in range(50):
        arm = bandit.select()
        bandit.update(arm, float(arm == "b"))
    before = column(bandit, "pulls")
    bandit.remove_arm("b")
    bandit.add_arm("b")
    assert column(bandit, "pulls") == before | {"b": 0}
    assert column(bandit, "draws")["b"] == column(bandit, "pending")["b"] == 0
    assert bandit.select() == "b"
    bandit.update("b", 1.0)
    assert column(bandit, "mean")["b"] == 1.0
    assert "b" in bandit.select_many(200)


@PATIENT
def test_down_to_one_arm_and_up_again(policy: Policy, engine: str) -> None:
    bandit, coins = thrifty.Bandit(policy, 5, seed=3, engine=engine), Coins([0.2, 0.9, 0.4, 0.6, 0.1], 1)
    for _ in range(30):
        arm = bandit.select()
        bandit.update(arm, coins.toss(arm))
    for arm in (1, 4, 0, 3):
        bandit.remove_arm(arm)
    assert bandit.select_many(5) == [2] * 5
    for arm in range(100, 140):
        bandit.add_arm(arm)
    assert bandit.select_many(40) == list(range(100, 140))
    assert bandit.select() == 2
    bandit.update_many(range(100, 140), [1.0] * 40)
    assert set(bandit.select_many(200)) <= {2, *range(100, 140)}
    assert len(bandit) == 41


def test_an_arm_goes_before_its_reward_comes() -> None:
    """Whether it is the first, or was handed out or not; the others are handed out once."""
    for engine in ("scan", "tournament"):
        bandit = thrifty.Bandit(thrifty.TSMA(), list("abcdef"), seed=0, engine=engine)
        assert bandit.select_many(3) == ["a", "b", "c"]
        bandit.remove_arm("a")
        bandit.remove_arm("e")
        assert sorted(bandit.select_many(2)) == ["d", "f"]
        assert column(bandit, "pending") == {"b": 1, "c": 1, "d": 1, "f": 1}
        with refused(thrifty.InvalidValue, "arm must be one of the 4 arms, got 'a'", bandit):
            bandit.update("a", 1.0)


def test_a_policy_follows_the_number_of_arms() -> None:
    """Epsilon-TS with epsilon = 1/K, and what an index of your own calls self.arms."""
    bandit = thrifty.Bandit(thrifty.EpsilonTS(), 4, seed=0)
    bandit.add_arm("e")
    assert state(bandit).rule.epsilon == 1.0 / 5.0
    bandit.remove_arm(0)
    bandit.remove_arm(1)
    assert state(bandit).rule.epsilon == 1.0 / 3.0
    own = warm(Widening(), [9, 9], [0.5, 0.4], seed=0)
    own.add_arm("c")
    assert state(own).rule.arms == 3
    assert own.select() == "c"


@pytest.mark.parametrize("prior", [(0.5, 2.0), ([0.5, 0.4, 0.3], [2.0, 1.5, 3.0])], ids=["one", "each"])
@EVERYWHERE
def test_new_arms_with_a_prior_need_no_pull(policy: Policy, engine: str, prior: Any) -> None:
    bandit = thrifty.Bandit(policy, 3, seed=1, prior=prior, engine=engine)
    bandit.select_many(5)
    for arm in range(3, 9):
        bandit.add_arm(arm, (0.9, 4.0) if np.ndim(prior[0]) else None)
    bandit.remove_arm(1)
    now = state(bandit)
    numbers = {arm: bandit._ids.number(arm) for arm in (0, 2, 8)}
    expected = {0: 0.5, 2: 0.3 if np.ndim(prior[0]) else 0.5, 8: 0.9 if np.ndim(prior[0]) else 0.5}
    assert {arm: now.means[number] for arm, number in numbers.items()} == pytest.approx(expected)
    assert now.waiting[0] == 0
    assert set(bandit.select_many(100)) <= {0, *range(2, 9)}
    assert not bandit.statistics()["pulls"].any()


ARMS_OF = {"numbers": 3, "names": ["a", 1, ("b", 2)]}


@pytest.mark.parametrize("arms", ARMS_OF.values(), ids=ARMS_OF)
@EVERYWHERE
def test_what_is_refused_changes_nothing(policy: Policy, engine: str, arms: Any) -> None:
    bandit = thrifty.Bandit(policy, arms, seed=1, engine=engine)
    first, one, _ = bandit.select_many(3)
    bandit.update(first, 1.0)
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: bandit.add_arm(first), thrifty.InvalidValue, "id must be a new one, got .* again"),
        (lambda: bandit.add_arm(1.0), thrifty.InvalidValue, r"id must be a new one, got 1\.0 again"),
        (lambda: bandit.add_arm(["a"]), thrifty.InvalidType, r"id must be hashable, got \['a'\]"),
        (lambda: bandit.add_arm(math.nan), thrifty.InvalidValue, "id must equal itself, got nan"),
        (
            lambda: bandit.add_arm("new", (0.5, 1.0)),
            thrifty.InvalidValue,
            "prior must be None, as no arm has",
        ),
        (
            lambda: bandit.remove_arm("none"),
            thrifty.InvalidValue,
            "arm must be one of the 3 arms, got 'none'",
        ),
        (lambda: bandit.remove_arm([]), thrifty.InvalidValue, r"arm must be one of the 3 arms, got \[\]"),
        (lambda: bandit.remove_arm(math.nan), thrifty.InvalidValue, "arm must be one of the 3 arms, got nan"),
        (
            lambda: bandit.update("none", 1.0),
            thrifty.InvalidValue,
            "arm must be one of the 3 arms, got 'none'",
        ),
        (
            lambda: bandit.update_many([one, "none"], [1.0, 1.0]),
            thrifty.InvalidValue,
            r"arms\[1\] must be one of the 3 arms, got 'none'",
        ),
    ]
    for call, error, match in calls:
        with refused(error, match, bandit):
            call()


def test_the_last_arm_stays() -> None:
    bandit = thrifty.Bandit(thrifty.TSMA(), ["a", "b"], seed=0)
    bandit.remove_arm("a")
    with refused(thrifty.InvalidValue, "must keep at least one arm, got the last one, 'b'", bandit):
        bandit.remove_arm("b")
    assert bandit.select() == "b"


def test_priors_of_arms_that_have_one_each() -> None:
    bandit = thrifty.Bandit(thrifty.KLUCBPlusPlus(), ["a", "b"], prior=([0.1, 0.2], 2.0))
    for prior, error, match in [
        (None, thrifty.InvalidValue, r"prior must be \(mean, weight\), as every arm has one, got None"),
        (0.5, thrifty.InvalidType, r"prior must be a pair \(mean, weight\), got 0.5"),
        ("ab", thrifty.InvalidType, r"prior must be a pair \(mean, weight\), got 'ab'"),
        ((0.5,), thrifty.InvalidType, r"prior must be a pair \(mean, weight\), got \(0.5,\)"),
        ((1.5, 1.0), thrifty.InvalidValue, r"prior mean must be in \[0.0, 1.0\], got 1.5"),
        ((0.5, 0.0), thrifty.InvalidValue, "prior weight must be above 0, got 0.0"),
        ((0.5, math.inf), thrifty.InvalidValue, "prior weight must be finite, got inf"),
        ((None, 1.0), thrifty.InvalidType, "prior mean must be a number, got None"),
    ]:
        with refused(error, match, bandit):
            bandit.add_arm("c", prior)


def test_whole_numbers_are_ids_like_others() -> None:
    """They are equal to other numbers as in a dictionary, before arms come and go and after."""
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=0, prior=(0.5, 1.0))
    before = everything(bandit)
    for _ in range(2):
        for same in (1, np.int64(1), 1.0, True, np.float32(1.0), 1 + 0j):
            bandit.update(same, 1.0)
            with refused(thrifty.InvalidValue, "must be a new one", bandit):
                bandit.add_arm(same)
        for other in (3, -1, 0.5, "1", None, 10**30, np.int64(-1)):
            with refused(thrifty.InvalidValue, "must be one of the 3 arms", bandit):
                bandit.update(other, 1.0)
        bandit.add_arm("new")
        bandit.remove_arm("new")
    assert column(bandit, "pulls") == {0: 0, 1: 12, 2: 0}
    assert before != everything(bandit)


@supposing(st.integers(1, 8), st.lists(st.tuples(st.booleans(), st.integers(0, 30)), max_size=40))
def test_ids_that_are_numbers_come_and_go_as_in_a_table(arms: int, steps: list[tuple[bool, int]]) -> None:
    """Nothing is kept for those that nobody has touched, and nobody sees that: names by number, numbers by
    name, one by one and many at once."""
    table, names = Ids(arms), [*range(arms)]
    for comes, which in steps:
        if comes and which not in names:
            name = float(which) if which % 3 == 0 else which
            table.add(table.new([name]))
            names.append(name)
        elif not comes and len(names) > 1:
            gone, middle, last = which % len(names), len(names) // 2, len(names) - 1
            moves = [(middle, gone), (last, middle)] if gone < middle else [(last, gone)]
            table.remove(gone, moves)
            for source, target in moves:
                names[target] = names[source]
            names.pop()
        numbers = [*range(len(names))]
        assert [*map(type, table.names())] == [*map(type, names)]
        assert table.names() == [table.name(number) for number in numbers] == names
        assert table.names(numbers) == names
        assert len(copy.deepcopy(table)) == len(table) == len(names)
        assert table.numbers(names).tolist() == [table.number(name) for name in names] == numbers
        for name in [*range(31), -1, 0.5, "0"]:
            assert (name in table) == (name in names)
            if name not in names:
                with pytest.raises(thrifty.InvalidValue, match="one of the"):
                    table.numbers([name])


# Many at once ----------------------------------------------------------------------------------------------


@EVERYWHERE
@pytest.mark.parametrize("prior", [None, (0.5, 1.0), ([0.5, 0.25, 0.75], [1.0, 3.0, 0.5])], ids=str)
def test_many_arms_at_once_are_as_good_as_one_by_one(policy: Policy, engine: str, prior: Any) -> None:
    """Afterwards everything that is kept is the same, but for what was drawn, and the bandit goes on."""
    own = prior is not None and np.ndim(prior[0]) > 0
    priors: Any = ([0.5, 0.9, 0.1] * 3, [2.0, 4.0, 0.5] * 3) if own else None
    names = [f"new {i}" for i in range(9)]
    bandits = [thrifty.Bandit(policy, 3, seed=1, prior=prior, engine=engine) for _ in range(2)]
    for bandit in bandits:
        bandit.update_many(bandit.select_many(5), [0.0, 1.0, 1.0, 0.0, 1.0])
    bandits[0].add_arms(iter(names), priors)
    for i, name in enumerate(names):
        bandits[1].add_arm(name, (priors[0][i], priors[1][i]) if own else None)
    many, one = map(state, bandits)
    drawn = {
        "rng",
        "index",
        "keys",
        "tree",
        "kept",
        "best",
        "races",
        "changed",
        "line",
        "levels",
        "place",
        "start",
        "since",
        "ends",
        "evaluations",
        "sweep",
    }
    for a, b in zip(many.spans, one.spans, strict=True):
        assert kept(many, a).tolist() == kept(one, b).tolist()
    for name in FIELDS - drawn:
        np.testing.assert_array_equal(getattr(many, name), getattr(one, name), err_msg=name)
    for bandit in bandits:
        assert bandit.arms == [0, 1, 2, *names]
        chosen = bandit.select_many(40)
        bandit.update_many(chosen, [1.0] * 40)
        assert {*chosen} >= ({*names} if prior is None and policy.resolve(3, 3).first else set())
        assert bandit.statistics()["pulls"].sum() == 45


@EVERYWHERE
def test_all_arms_are_added_or_none(policy: Policy, engine: str) -> None:
    plain = thrifty.Bandit(policy, ["a", "b"], seed=1, engine=engine)
    own = thrifty.Bandit(policy, ["a", "b"], seed=1, engine=engine, prior=([0.5, 0.5], 1.0))
    for bandit in (plain, own):
        bandit.update_many(bandit.select_many(3), [0.0, 1.0, 1.0])
    prior = (0.5, 1.0)
    calls: list[tuple[thrifty.Bandit, Any, Any, type[Exception], str]] = [
        (plain, ["x", "y", "a"], None, thrifty.InvalidValue, "id must be a new one, got 'a' again"),
        (plain, ["x", "y", "x"], None, thrifty.InvalidValue, "id must be a new one, got 'x' again"),
        (plain, ["x", ["y"]], None, thrifty.InvalidType, r"id must be hashable, got \['y'\]"),
        (plain, ["x", math.nan], None, thrifty.InvalidValue, "id must equal itself, got nan"),
        (plain, "xy", None, thrifty.InvalidType, "arms must be a sequence, got 'xy'"),
        (plain, 3, None, thrifty.InvalidType, "arms must be a sequence, got 3"),
        (plain, ["x", "y"], prior, thrifty.InvalidValue, "prior must be None, as no arm has its own"),
        (
            own,
            ["x", "y"],
            None,
            thrifty.InvalidValue,
            r"prior must be \(mean, weight\), as every arm has one",
        ),
        (own, ["x", "y"], ([0.5] * 3, 1.0), thrifty.InvalidValue, "an entry for each of the 2 arms, got 3"),
        (own, ["x", "y"], (0.5, [1.0, -1.0]), thrifty.InvalidValue, r"prior weight\[1\] must be above 0"),
    ]
    for bandit, arms, given, error, match in calls:
        with refused(error, match, bandit):
            bandit.add_arms(arms, given)
    for bandit, given in ((plain, None), (own, prior)):
        before = everything(bandit)
        bandit.add_arms([], given)
        assert everything(bandit) == before
        bandit.add_arms(("x", "y"), given)
        assert bandit.arms == ["a", "b", "x", "y"]


@pytest.mark.parametrize("own", [True, False], ids=["own priors", "one prior"])
def test_histories_have_room_for_many_arms_at_once(own: bool) -> None:
    """Each arm begins with its prior as a reward that it has had."""
    weights = [1.0, 2.0]
    bandit = thrifty.Bandit(thrifty.NPTS(), 2, seed=1, prior=(0.5, weights if own else 1.0))
    bandit.update_many([0, 1] * 300, np.linspace(0.0, 1.0, 600))
    bandit.add_arms([f"a{i}" for i in range(3000)], (0.25, 1.5) if own else None)
    now = state(bandit)
    assert kept(now, now.spans[0])[:, 1].sum() == 301.0
    for i in (2, 1000, 3001):
        assert kept(now, now.spans[i]).tolist() == [[0.25, 1.5] if own else [0.5, 1.0]]
    bandit.update_many(["a2999"] * 3, [0.125, 0.75, 1.0])
    now = state(bandit)
    assert kept(now, now.spans[3001])[:, 0].tolist() == [0.125, 0.25 if own else 0.5, 0.75, 1.0]


def test_orders_of_ada_ucb_after_many_arms_at_once() -> None:
    """H of every arm is what a bandit that begins with these arms has."""
    rng = np.random.default_rng(3)
    pulls, weights = rng.integers(0, 5, 20), rng.integers(1, 6, 50) / 2.0
    bandit = thrifty.Bandit(thrifty.AdaUCB(), 20, horizon=1000, prior=([0.5] * 20, weights[:20]))
    bandit.update_many(np.repeat(np.arange(20), pulls), [1.0] * int(pulls.sum()))
    bandit.add_arms(range(20, 50), ([0.5] * 30, weights[20:]))
    now = state(bandit)
    n = weights + np.append(pulls, np.zeros(30))
    assert now.weights.tolist() == n.tolist()
    assert sorted(now.order.tolist()) == list(range(50))
    assert now.order[now.position].tolist() == list(range(50))
    np.testing.assert_allclose(
        now.spread, np.sqrt(n) * np.sqrt(np.minimum.outer(n, n)).sum(axis=1), rtol=1e-12
    )
