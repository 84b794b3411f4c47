"""Decisions about some arms, for several, and with arms paused: the law of scan, on every engine."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import thrifty
from thrifty.engines.sleepers import line
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online import eligible

from ..support.chance import assert_uniform
from ..support.live import refused
from ..support.own import Bell

ARMS = 12
EXACT = [
    (thrifty.TSMA(), "tournament"),
    (thrifty.TSMA(law="beta", phi=3), "tournament"),
    (thrifty.KLUCBPlusPlus(), "tournament"),
    (thrifty.MOSS(), "tournament"),
    (thrifty.Greedy(), "tournament"),
    (thrifty.UCB1(), "kinetic"),
    (thrifty.KLUCB(), "kinetic"),
    (thrifty.BayesUCB(), "kinetic"),
    (thrifty.UCBV(), "kinetic"),
]
LISTS = [thrifty.DMED(), thrifty.UCBImproved(), thrifty.DirichletSampling(), thrifty.ExploreThenCommit()]


def life(policy, engine, seed, rounds=150, prior=True):
    """Decisions of all kinds, late rewards, pauses, arms that come and go. Returns who was chosen. Without
    priors arms may tie, and then only the first place of a slate is as on scan."""
    rng = np.random.default_rng(seed)
    priors = (rng.uniform(0.2, 0.8, ARMS), rng.uniform(0.5, 2.0, ARMS)) if prior else None
    bandit = thrifty.Bandit(policy, list(range(ARMS)), seed=3, engine=engine, prior=priors, pending_for=20)
    unit = (lambda: float(rng.random() < 0.6)) if policy.rewards == "binary" else rng.random
    chosen, open_ = [], []
    for step in range(rounds):
        arms = bandit.arms
        free = [arm for arm in arms if arm not in bandit.paused]
        some = rng.permutation(free)[: rng.integers(1, len(free))].tolist()
        kind = rng.integers(7)
        if kind == 0:
            new = [bandit.select(among=some)]
        elif kind == 1:
            new = [bandit.select(exclude=some)]
        elif kind == 2:
            new = bandit.rank(int(rng.integers(len(some))) * prior + 1, among=some)
        elif kind == 3:
            new = bandit.rank(int(rng.integers(len(free) - len(some))) * prior + 1, exclude=some)
        elif kind == 4 and len(free) > 2:
            bandit.pause(free[rng.integers(len(free))])
            new = [bandit.select()]
        elif kind == 5 and bandit.paused:
            bandit.resume(bandit.paused[0])
            new = bandit.select_many(2)
        else:
            new = [bandit.select()]
        paused = set(bandit.paused)
        assert not paused & set(new)
        assert kind not in (1, 3) or not set(some) & set(new)
        assert kind not in (0, 2) or set(new) <= set(some)
        chosen += new
        open_ += new
        while open_ and rng.random() < 0.7:
            arm = open_.pop(rng.integers(len(open_)))
            if arm in bandit:
                if rng.random() < 0.1:
                    bandit.cancel(arm)
                else:
                    bandit.update(arm, unit())
        if step % 40 == 20:
            bandit.add_arm(1000 + step, prior=(rng.random(), 1.0) if prior else None)
            gone = bandit.arms[int(rng.integers(len(bandit)))]
            if gone in paused or len(bandit) - len(paused) > 1:
                bandit.remove_arm(gone)
                open_ = [arm for arm in open_ if arm != gone]
    return chosen


@pytest.mark.parametrize("prior", [False, True], ids=["no prior", "priors"])
@pytest.mark.parametrize(("policy", "engine"), EXACT, ids=lambda each: str(getattr(each, "label", each)))
def test_engines_choose_as_scan_does(policy, engine, prior):
    for seed in range(3):
        assert life(policy, engine, seed, prior=prior) == life(policy, "scan", seed, prior=prior)


@pytest.mark.parametrize(
    ("policy", "engine"),
    [(thrifty.TSMA(), "tournament"), (thrifty.KLUCBPlusPlus(), "tournament"), (thrifty.UCB1(), "kinetic")],
    ids=lambda each: str(getattr(each, "label", each)),
)
def test_few_or_many_are_left_out_where_arms_tie_and_lead(policy, engine):
    """Some arms lead, the others are tied in groups; those left out are the leaders and any others."""

    def chosen(engine):
        rng, unit = np.random.default_rng(5), np.random.default_rng(6)
        pulls = rng.integers(1, 4, 150)
        known = {"arm": range(150), "pulls": pulls, "mean": rng.integers(0, pulls + 1) / pulls}
        bandit = thrifty.Bandit(policy, 150, 10**4, seed=3, engine=engine, statistics=known)
        arms = []
        for step in range(300):
            many = int(rng.choice([1, 10, 50, 100, 140]))
            arm = bandit.select(exclude=rng.permutation(150)[:many].tolist() + arms[-1:])
            arms.append(arm)
            if step % 7 == 0 and policy == thrifty.UCB1():  # what it leaves open is compared again
                bandit.preview(rank=min(5, 150 - many), exclude=rng.permutation(150)[:many].tolist())
                bandit.reseed(step)
            if step % 3:
                bandit.update(arm, float(unit.random() < 0.3))
        return arms

    assert chosen(engine) == chosen("scan")


@pytest.mark.parametrize("order", ["neighbours", "apart"])
@pytest.mark.parametrize("arms", [32, 33, 36, 1000])
def test_slates_are_found_where_the_best_are_neighbours_or_apart(arms, order):
    """The best arms lie in a few blocks of the tree, or in all of them; a front needs 33 arms."""

    def slates(engine):
        rng = np.random.default_rng(1)
        means = np.linspace(0.0, 0.9, arms)
        known = {
            "arm": range(arms),
            "pulls": [500] * arms,
            "mean": means if order == "neighbours" else rng.permutation(means),
        }
        bandit = thrifty.Bandit(thrifty.TSMA(), arms, 10**4, seed=3, engine=engine, statistics=known)
        chosen = []
        for step in range(40):
            out = chosen[-1][: step % 10] if chosen else []
            chosen.append(bandit.rank(10, exclude=out))
            for arm in chosen[-1][: step % 11]:  # the others are spent
                bandit.update(arm, float(rng.random() < 0.5))
        return chosen

    assert slates("tournament") == slates("scan")


@pytest.mark.parametrize(("policy", "engine"), [(thrifty.UCB1(), "kinetic"), (thrifty.UCB1(), "scan")])
def test_a_slate_of_equals_is_in_random_order(policy, engine):
    """Arm 3 leads, and two places are left for five of the six that are tied."""
    pulls, mean = [4] * 7, [0.25, 0.25, 0.25, 1.0, 0.25, 0.25, 0.25]
    known = {"arm": range(7), "pulls": pulls, "mean": mean}
    bandit = thrifty.Bandit(policy, 7, seed=1, engine=engine, statistics=known)
    slates = [tuple(bandit.preview(rank=3, exclude=[5])) for _ in range(4000)]
    assert {slate[0] for slate in slates} == {3}
    pairs = list(itertools.permutations([0, 1, 2, 4, 6], 2))
    counts = Counter(slate[1:] for slate in slates)
    assert_uniform([counts[pair] for pair in pairs])
    assert sum(counts.values()) == sum(counts[pair] for pair in pairs)


@pytest.mark.parametrize(
    "policy",
    [
        thrifty.ThompsonSampling(),
        thrifty.ThompsonSampling("beta"),
        thrifty.EpsilonTS(epsilon=0.2),
        thrifty.TSTD(phi=5),
        thrifty.ExpTS(),
        thrifty.IMED(),
        thrifty.NPTS(),
        thrifty.Uniform(),
        thrifty.EpsilonGreedy(),
        thrifty.EpsilonDecreasing(),
        thrifty.Softmax(),
    ],
    ids=lambda policy: policy.label,
)
def test_every_engine_lives_with_restrictions(policy):
    for engine in policy.runs_on:
        assert len(life(policy, engine, 1, rounds=60)) >= 60


# The law --------------------------------------------------------------------------------------------------


def taught(arms, leaders, policy=None, **options):
    """A bandit on sleepers with a few leaders that are known well, and many arms that are not."""
    policy = thrifty.ThompsonSampling() if policy is None else policy
    rng = np.random.default_rng(5)
    pulls = rng.integers(30, 60, arms)
    pulls[:leaders] = 4000
    means = rng.uniform(0.1, 0.3, arms)
    means[:leaders] = np.linspace(0.8, 0.9, leaders)
    table = {"arm": range(arms), "pulls": pulls, "mean": means}
    bandit = thrifty.Bandit(policy, arms, seed=2, engine="sleepers", statistics=table, **options)
    return bandit, means, 1.0 / np.sqrt(pulls)


def picks(bandit, count, size, among=None, exclude=None):
    """So many decisions that leave nothing pending."""
    who = eligible.read(bandit._ids, eligible.some(among, exclude))
    return np.array([bandit._player.core.pick(bandit._player.t, size, who) for _ in range(count)])


def wins(means, sds, left):
    """P(the draw of an arm is the largest of those left), by integration."""
    x = np.linspace(means[left].min() - 1.0, means[left].max() + 1.2, 4001)
    logs = stats.norm.logcdf(x[:, None], means[left], sds[left])
    density = stats.norm.pdf(x[:, None], means[left], sds[left])
    return np.trapezoid(density * np.exp(logs.sum(1)[:, None] - logs), x, axis=0)


def fits(counts, chances):
    """By Pearson's chi-square; arms that are expected less than five times are one cell."""
    total = counts.sum()
    rare = chances * total < 5.0
    observed = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(chances[~rare], chances[rare].sum()) * total
    keep = expected > 0.0
    assert observed[~keep].sum() == 0
    expected *= observed.sum() / expected.sum()
    assert stats.chisquare(observed[keep], expected[keep]).pvalue > 1e-4


@pytest.mark.parametrize("arms", [40, 700], ids=["drawn for all", "by the reserve"])
def test_without_the_leaders_by_integration(arms):
    bandit, means, sds = taught(arms, 5)
    found = picks(bandit, 6000, 1, exclude=range(5))[:, 0]
    left = np.arange(5, arms)
    fits(np.bincount(found, minlength=arms)[5:], wins(means, sds, left))
    assert bandit._player.core.memory.field("reserve_levels")[line.TOTAL] > 0.0 or arms == 40


def test_arms_that_seldom_win_are_left_out_on_the_line():
    bandit, means, sds = taught(700, 5)
    found = picks(bandit, 3000, 1, exclude=range(5, 20))[:, 0]
    left = np.delete(np.arange(700), range(5, 20))
    fits(np.bincount(found, minlength=700)[left], wins(means, sds, left))


def test_among_some_by_integration():
    bandit, means, sds = taught(700, 5)
    some = [3, 600, 17, 44, 45, 46]
    found = picks(bandit, 4000, 1, among=some[1:])[:, 0]
    left = np.array(sorted(some[1:]))
    fits(np.bincount(found, minlength=700)[left], wins(means, sds, left))


@pytest.mark.parametrize(("arms", "leaders"), [(6, 0), (700, 0)])
def test_the_first_two_places_by_integration(arms, leaders):
    """P(i, then j) = the integral of f_j (1 - F_i) times F_l for all others. With many arms, the second."""
    bandit, means, sds = taught(arms, leaders)
    slates = picks(bandit, 5000, 2)
    assert (slates[:, 0] != slates[:, 1]).all()
    x = np.linspace(means.min() - 1.0, means.max() + 1.2, 4001)
    cdf, pdf = stats.norm.cdf(x[:, None], means, sds), stats.norm.pdf(x[:, None], means, sds)
    everyone = np.exp(np.log(cdf).sum(1))
    odds = (1.0 - cdf) / cdf
    second = np.trapezoid(pdf / cdf * everyone[:, None] * (odds.sum(1)[:, None] - odds), x, axis=0)
    fits(np.bincount(slates[:, 0], minlength=arms), wins(means, sds, np.arange(arms)))
    fits(np.bincount(slates[:, 1], minlength=arms), second)
    if arms == 6:
        pairs = np.trapezoid(
            (pdf / cdf)[:, None, :] * odds[:, :, None] * everyone[:, None, None] * (1 - np.eye(arms)),
            x,
            axis=0,
        )
        fits(np.bincount(slates @ [arms, 1], minlength=arms**2), pairs.ravel())


@pytest.mark.parametrize(
    "policy",
    [thrifty.ThompsonSampling("beta"), thrifty.EpsilonTS(epsilon=0.1), thrifty.TSTD(phi=40), thrifty.ExpTS()],
    ids=lambda policy: policy.label,
)
def test_sleepers_rank_as_scan_does(policy):
    """The same state on both engines: three of a slate, without a leader, in law."""
    rng = np.random.default_rng(1)
    table = {"arm": range(9), "pulls": rng.integers(2, 9, 9), "mean": rng.integers(0, 3, 9) / 2.0}
    counts = []
    runs = 300 if policy.schedule == "duel" else 1  # whose draws are not independent of those before
    for engine in ("scan", "sleepers"):
        made = [thrifty.Bandit(policy, 9, seed=seed, engine=engine, statistics=table) for seed in range(runs)]
        slates = np.concatenate([picks(bandit, 2400 // runs, 3, exclude=[4])[-2000:] for bandit in made])
        assert not (slates == 4).any()
        counts.append([np.bincount(place, minlength=9)[np.arange(9) != 4] for place in slates.T])
    for ours, theirs in zip(*counts, strict=True):
        seen = ours + theirs > 0
        assert stats.chi2_contingency([ours[seen], theirs[seen]]).pvalue > 1e-4


def test_a_spent_index_is_replaced_in_phase_two():
    """Among some arms as among all: the arm does not begin anew."""
    bandit = thrifty.Bandit(thrifty.TSTD(phi=2), 3, horizon=1000, seed=1, engine="sleepers")
    bandit.update_many([0, 1, 2], [0.5] * 3)
    bandit.select_many(20)
    for _ in range(20):
        assert bandit.select(among=[0, 1]) in (0, 1)
        assert len(set(bandit.rank(3, among=[0, 1, 2]))) == 3
        assert (bandit._player.core.memory.field("index") > -math.inf).all()


def test_the_reserve_asks_for_more():
    """A slate that is too long for the reserve is drawn from all, and for the next one it is long enough."""
    bandit, _, _ = taught(3000, 5)
    levels = bandit._player.core.memory.field("reserve_levels")
    before = levels[line.DEMAND]
    assert len(set(bandit.rank(100))) == 100
    assert levels[line.DEMAND] > before
    evaluations = bandit._player.core.memory.field("evaluations")
    start = int(evaluations[0])
    assert len(set(bandit.rank(100))) == 100
    assert evaluations[0] - start < 1500


def test_paused_leaders_leave_the_others_fast():
    """The reserve decides until the level has come down."""
    bandit, _, _ = taught(3000, 5)
    for arm in range(5):
        bandit.pause(arm)
    evaluations = bandit._player.core.memory.field("evaluations")
    start = int(evaluations[0])
    found = picks(bandit, 1, 1)
    chosen = [bandit.select() for _ in range(10)]
    assert min(chosen) >= 5 <= found.min()
    assert evaluations[0] - start < 12 * 3000


@pytest.mark.parametrize(
    "policy", [thrifty.TSTD(), thrifty.Forgetting(thrifty.ThompsonSampling("beta"), 3)], ids=["duel", "fresh"]
)
def test_nobody_is_left_on_the_line(policy, tmp_path):
    """The only arm with a reward is paused, and gives another one, or is forgotten a little."""
    bandit = thrifty.Bandit(policy, 5, horizon=1000, seed=1, engine="sleepers")
    first = bandit.select()
    bandit.update(first, 1.0)
    bandit.pause(first)
    bandit.update(first, 1.0)
    assert first not in bandit.select_many(8)
    assert np.isfinite(bandit._player.core.memory.field("levels")[line.SLOPE])
    bandit.save(tmp_path / "bandit.npz")
    thrifty.Bandit.load(tmp_path / "bandit.npz")


# What is refused ------------------------------------------------------------------------------------------


def refuses(bandit, call, error, match):
    with refused(error, match, bandit):
        call()


@pytest.mark.parametrize("policy", [thrifty.TSMA(), thrifty.UCB1(), thrifty.ThompsonSampling()])
def test_bad_sets_are_refused_and_change_nothing(policy):
    bandit = thrifty.Bandit(policy, ["a", "b", "c"], seed=1, engine="auto")
    bandit.pause("c")
    bandit.select(among=["a"])  # what is compiled lies in the block
    bandit.rank(2)
    refuses(
        bandit,
        lambda: bandit.select(among=["a", "x"]),
        InvalidValue,
        r"among\[1\] must be one of the 3 arms, got 'x'",
    )
    refuses(bandit, lambda: bandit.select(exclude=[[]]), InvalidValue, r"exclude\[0\] must be one of")
    refuses(bandit, lambda: bandit.select(among=[]), InvalidValue, "one arm of 3 must be left .* got none")
    refuses(bandit, lambda: bandit.select(among=["c"]), InvalidValue, "got none.* 1 are paused")
    refuses(bandit, lambda: bandit.select(exclude=["a", "b"]), InvalidValue, "got none")
    refuses(bandit, lambda: bandit.select(among=["a"], exclude=["a", "a"]), InvalidValue, "got none")
    refuses(
        bandit, lambda: bandit.rank(3), InvalidValue, "rank must be at most 2 of 3 .* got 3: 1 are paused$"
    )
    why = "at most 1 of 3 .* got 2: among and exclude leave no more and 1 are paused$"
    refuses(bandit, lambda: bandit.rank(2, exclude={"a"}), InvalidValue, why)
    refuses(bandit, lambda: bandit.rank(0), InvalidValue, "k must be at least 1, got 0")
    refuses(bandit, lambda: bandit.rank(True), InvalidType, "k must be")
    refuses(
        bandit,
        lambda: bandit.select(among="abc"),
        InvalidType,
        "among must be a collection of ids, got 'abc'",
    )
    refuses(
        bandit, lambda: bandit.select(exclude=3), InvalidType, "exclude must be a collection of ids, got 3"
    )
    refuses(bandit, lambda: bandit.pause("x"), InvalidValue, "arm must be one of the 3 arms, got 'x'")
    bandit.pause("b")
    refuses(
        bandit, lambda: bandit.pause("a"), InvalidValue, "at least one arm must be left that is not paused"
    )
    refuses(
        bandit,
        lambda: bandit.remove_arm("a"),
        InvalidValue,
        "at least one arm must be left that is not paused",
    )
    assert [bandit.select() for _ in range(5)] == ["a"] * 5
    assert bandit.select(exclude=[]) == "a"
    assert bandit.select(among={"a", "b"}) == "a"
    assert bandit.paused == ["b", "c"]


@pytest.mark.parametrize(
    "policy",
    [thrifty.TSMA(), thrifty.UCB1(), thrifty.ThompsonSampling(), thrifty.ThompsonSampling(Bell())],
    ids=["TS-MA", "UCB1", "TS", "a posterior in Python"],
)
@pytest.mark.parametrize("number", [3, 2**40, 2**63, 2**64 - 1, 2**64, -1])
def test_numbers_that_are_no_arm_are_refused(policy, number):
    bandit = thrifty.Bandit(policy, 3, seed=1)
    bandit.rank(3)
    for name in ("among", "exclude"):
        match = rf"^{name}\[1\] must be one of the 3 arms, got {number}$"
        for call in (bandit.select, lambda **who: bandit.rank(2, **who), bandit.decide, bandit.preview):
            refuses(bandit, lambda call=call, name=name: call(**{name: [1, number]}), InvalidValue, match)
    assert bandit.select(exclude=[0, True, 0, 1, 1, 0]) == 2  # more ids than arms, of any kind
    assert bandit.select(among=[np.int64(1), 1.0]) == 1


@pytest.mark.parametrize("policy", [*LISTS, thrifty.FixedArm(1)], ids=lambda policy: policy.label)
def test_lists_refuse(policy):
    bandit = thrifty.Bandit(policy, 4, seed=1)
    for call in (lambda: bandit.select(among=[1]), lambda: bandit.rank(2), lambda: bandit.pause(2)):
        with pytest.raises(InvalidValue, match="has no index to choose by"):
            call()
    assert bandit.decisions == 0
    other = thrifty.Bandit(policy, 4, seed=1)
    for nobody in ([], (), set(), np.array([], int)):  # where nobody is excluded, all are eligible
        assert bandit.select(exclude=nobody) == other.select()
        assert bandit.decide(exclude=nobody).arm == other.decide().arm


def test_a_paused_arm_takes_its_rewards_and_keeps_its_statistics():
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=1)
    first = bandit.select()
    bandit.pause(first)
    bandit.pause(first)
    bandit.update(first, 1.0)
    index = bandit._player.core.memory.field("index")[first]
    assert {bandit.select() for _ in range(20)} == {0, 1, 2} - {first}
    bandit.resume(first)
    bandit.resume(first)
    assert bandit._player.core.memory.field("index")[first] == index > -math.inf
    assert bandit.statistics()["pulls"][first] == 1


@pytest.mark.parametrize("engine", ["scan", "sleepers"])
def test_phase_one_of_a_paused_arm_begins_anew(engine):
    """It draws nothing meanwhile, after a reward either."""
    table = {"arm": range(3), "pulls": [3, 3, 3], "mean": [0.5, 0.5, 0.5]}
    bandit = thrifty.Bandit(thrifty.TSTD(phi=4), 3, horizon=500, seed=1, engine=engine, statistics=table)
    draws = []
    for call in (
        lambda: bandit.select_many(2),
        lambda: bandit.pause(0),
        lambda: bandit.select_many(10),
        lambda: bandit.update(0, 0.5),
        lambda: bandit.select_many(10),
        lambda: bandit.resume(0),
        lambda: bandit.select_many(3),
        lambda: bandit.select_many(2),
    ):
        call()
        draws.append(int(bandit.statistics()["draws"][0]))
    assert draws == [2, 2, 2, 2, 2, 2, 5, 6]


def test_new_arms_first_in_every_kind_of_decision():
    bandit = thrifty.Bandit(thrifty.ThompsonSampling(), 6, seed=1)
    assert bandit.select(exclude=[0, 1]) == 2
    assert bandit.select(among=[5, 4]) == 4
    bandit.pause(1)
    assert bandit.rank(2, exclude=[5]) == [0, 3]
    assert bandit.select() == 5
    bandit.resume(1)
    assert bandit.select() == 1
    assert bandit.statistics()["pending"].tolist() == [1] * 6


def test_a_refused_decision_does_not_double_a_guessed_horizon():
    bandit = thrifty.Bandit(thrifty.TSMA(), 3, seed=1)
    bandit.rank(3)
    bandit.pause(2)
    refuses(bandit, lambda: bandit.rank(10**6), InvalidValue, "at most 2 of 3 .* got 1000000: 1 are")
    while bandit.decisions < bandit.horizon:
        bandit.select()
    refuses(bandit, lambda: bandit.select(among=[1, 2], exclude=[1]), InvalidValue, "got none")
    assert bandit.horizon == bandit.decisions
    assert bandit.select(among=[1]) == 1
    assert bandit.horizon == 2 * (bandit.decisions - 1)
