"""``Bandit.forget``: counts and sums are multiplied, the prior is not, and everything follows from that."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from thrifty import Bandit
from thrifty.errors import InvalidType, InvalidValue
from thrifty.laws import FAMILIES, LAWS
from thrifty.policies import Policy
from thrifty.state.fading import LEAST

PRIOR = (0.4, 2.0)
BETA = thrifty.ThompsonSampling("beta")
ABLE: list[tuple[Policy, tuple[float, float] | None]] = [
    (BETA, None),
    (BETA, PRIOR),
    *((thrifty.ThompsonSampling(law), PRIOR) for law in LAWS),
    *((thrifty.EpsilonTS(law, epsilon=0.2), PRIOR) for law in LAWS),
    *((thrifty.ExpTS(family), PRIOR) for family in FAMILIES),
    (thrifty.ExpTS(), None),
    (thrifty.ExpTSPlus(), None),
    *((thrifty.KLUCB(family=family), None) for family in FAMILIES),
    (thrifty.UCB1(), None),
    (thrifty.UCB1(), PRIOR),
    (thrifty.UCB1Tuned(), None),
    (thrifty.UCBV(), PRIOR),
    (thrifty.BayesUCB(), None),
    (thrifty.IMED(), None),
    (thrifty.MaillardSampling(plus=True), None),
    (thrifty.KLMS(), PRIOR),
    (thrifty.Greedy(), None),
    (thrifty.EpsilonGreedy(), None),
    (thrifty.EpsilonDecreasing(), None),
    (thrifty.Softmax(), PRIOR),
    (thrifty.Binarised(), None),
]
EVERYWHERE = [(policy, prior, engine) for policy, prior in ABLE for engine in policy.runs_on]


def taught(policy: Policy, prior: Any, engine: str = "auto", arms: int = 8, rounds: int = 120) -> Bandit:
    """A bandit with a past."""
    bandit = Bandit(policy, arms, seed=3, prior=prior, engine=engine)
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        arm = bandit.select()
        bandit.update(arm, float(rng.random() < (arm + 1) / (arms + 2)))
    return bandit


def decisions(bandit: Bandit, count: int = 60) -> list[int]:
    """The next ones, and rewards for them."""
    made = []
    for i in range(count):
        made.append(bandit.select())
        bandit.update(made[-1], float((made[-1] + i) % 3 == 0))
    return made


def columns(bandit: Bandit) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in bandit.statistics().items()}


@pytest.mark.parametrize(("policy", "prior", "engine"), EVERYWHERE)
def test_counts_and_sums_are_multiplied_and_pulls_are_not(policy: Policy, prior: Any, engine: str) -> None:
    bandit = taught(policy, prior, engine)
    before = bandit.statistics()
    assert before["weight"].tolist() == before["pulls"].tolist()
    bandit.forget(0.3)
    after = bandit.statistics()
    np.testing.assert_allclose(after["weight"], 0.3 * before["pulls"], rtol=1e-15)
    np.testing.assert_allclose(after["mean"], before["mean"], rtol=1e-14)
    for same in ("arm", "pulls", "draws", "pending"):
        assert list(after[same]) == list(before[same])
    assert len(decisions(bandit)) == 60
    assert bandit.statistics()["pulls"].sum() == 180


@pytest.mark.parametrize("policy", [policy for policy, _ in ABLE if policy.drawn_from], ids=repr)
@pytest.mark.parametrize("keep", [0.7, 1e-3, 0.0])
def test_the_law_is_that_of_what_is_left(policy: Any, keep: float) -> None:
    bandit = taught(policy, PRIOR)
    before = bandit.statistics()
    bandit.forget(keep)
    n = keep * before["pulls"] + PRIOR[1]
    s = np.where(before["pulls"] > 0, keep * before["pulls"] * before["mean"], 0.0) + PRIOR[0] * PRIOR[1]
    right = [policy.drawn_from.function("parameters")(*each) for each in zip(n, s, strict=True)]
    np.testing.assert_allclose(bandit._player.core.memory.field("params"), right, rtol=1e-12)


@pytest.mark.parametrize(("policy", "prior", "engine"), EVERYWHERE)
def test_half_of_a_half_is_a_quarter(policy: Policy, prior: Any, engine: str) -> None:
    twice, once = taught(policy, prior, engine), taught(policy, prior, engine)
    twice.forget(0.5)
    twice.forget(0.5)
    once.forget(0.25)
    if engine == "sleepers":  # where the level is may differ, which changes no law
        assert str(columns(twice)) == str(columns(once))
        return
    assert decisions(twice) == decisions(once)


# Formulas with the time, which goes on.
TIMELY = (
    thrifty.UCB1, thrifty.UCB1Tuned, thrifty.UCBV, thrifty.KLUCB, thrifty.BayesUCB,
    thrifty.EpsilonDecreasing, thrifty.MaillardSampling,
)  # fmt: skip


@pytest.mark.parametrize(("policy", "prior"), [case for case in ABLE if not isinstance(case[0], TIMELY)])
def test_forgetting_all_of_it_gives_a_new_bandit(policy: Policy, prior: Any) -> None:
    old, new = taught(policy, prior, "scan"), Bandit(policy, 8, prior=prior, engine="scan")
    old.forget(0.0)
    assert old.statistics()["weight"].tolist() == [0.0] * 8
    assert np.isnan(old.statistics()["mean"]).all()
    old.reseed(7)
    new.reseed(7)
    assert decisions(old) == decisions(new)


@pytest.mark.parametrize(("policy", "prior", "engine"), [case for case in EVERYWHERE if case[1] is None])
def test_without_a_prior_arms_are_tried_again(policy: Policy, prior: None, engine: str) -> None:
    bandit = taught(policy, prior, engine, arms=70, rounds=200)
    drawn = bandit.statistics()["draws"]
    late = bandit.select()
    bandit.forget(0.0)
    assert (bandit.statistics()["draws"] >= drawn).all()
    tried = [bandit.select() for _ in range(69)]
    assert sorted([*tried, late]) == list(range(70))  # one of them is on its way
    for arm in [*tried, late]:
        bandit.update(arm, 1.0)
    assert bandit.statistics()["weight"].tolist() == [1.0] * 70
    assert len(decisions(bandit)) == 60


def test_pulls_that_expire_after_all_was_forgotten_are_made_again() -> None:
    bandit = Bandit(thrifty.KLUCB(), 3, seed=1, pending_for=90)
    for _ in range(3):
        bandit.update(bandit.select(), 1.0)
    for _ in range(50):  # nobody hears of these
        bandit.select()
    bandit.forget(0.0)
    made = []
    for _ in range(400):
        made.append(bandit.select())
        if made[-1] == 2:
            bandit.update(2, 0.0)
    assert {*made} == {0, 1, 2}
    assert made.count(0) > 5
    assert made.count(1) > 5


@pytest.mark.parametrize("engine", ["scan", "sleepers"])
@pytest.mark.parametrize("keep", [0.1, 0.0])
def test_decisions_after_it_have_the_law_of_what_is_left(engine: str, keep: float) -> None:
    """Two arms, 4000 decisions from one state: how often the first wins is an integral of two Beta laws."""
    from scipy import stats

    bandit = Bandit(BETA, 2, seed=5, engine=engine, prior=(0.5, 1.0))
    bandit.update_many([0] * 30 + [1] * 20, [1.0] * 12 + [0.0] * 18 + [1.0] * 10 + [0.0] * 10)
    bandit.forget(keep)
    a, b = stats.beta(12 * keep + 1.5, 18 * keep + 1.5), stats.beta(10 * keep + 1.5, 10 * keep + 1.5)
    grid = np.linspace(0.0, 1.0, 20_001)
    share = float(np.trapezoid(a.pdf(grid) * b.cdf(grid), grid))
    wins, count = 0, 4000
    for _ in range(count):
        arm = bandit.select()
        wins += arm == 0
        bandit.cancel(arm)
    assert abs(wins / count - share) < 4.5 * np.sqrt(share * (1.0 - share) / count)


def test_pending_pulls_stay_and_their_rewards_count_in_full() -> None:
    bandit = taught(BETA, None)
    arm = bandit.select()
    before = bandit.statistics()
    bandit.forget(0.5)
    assert bandit.statistics()["pending"][arm] == 1
    bandit.update(arm, 1.0)
    after = bandit.statistics()
    assert after["pending"][arm] == 0
    assert after["pulls"][arm] == before["pulls"][arm] + 1
    assert after["weight"][arm] == 0.5 * before["pulls"][arm] + 1.0


@pytest.mark.parametrize(("policy", "prior", "engine"), EVERYWHERE)
@pytest.mark.parametrize("keep", [0.5, 0.0])
def test_arms_that_are_paused_or_left_out_forget_too(
    policy: Policy, prior: Any, engine: str, keep: float, tmp_path: Path
) -> None:
    bandit = taught(policy, prior, engine, arms=70, rounds=200)
    bandit.pause(3)
    before = bandit.statistics()["weight"]
    bandit.forget(keep)
    np.testing.assert_allclose(bandit.statistics()["weight"], keep * before, rtol=1e-15)
    slate = bandit.rank(5, exclude=[0, 1])
    assert len({*slate}) == 5
    assert not {*slate} & {0, 1, 3}
    for arm in slate:
        bandit.update(arm, 1.0)
    assert 3 not in decisions(bandit, 80)
    bandit.resume(3)
    bandit.save(tmp_path / "a.npz")
    assert decisions(Bandit.load(tmp_path / "a.npz")) == decisions(bandit)


@pytest.mark.parametrize(("policy", "prior", "engine"), EVERYWHERE)
@pytest.mark.parametrize("keep", [1e-3, 1e-320])
def test_forgetting_a_hundred_times_leaves_numbers(
    policy: Policy, prior: Any, engine: str, keep: float
) -> None:
    bandit = taught(policy, prior, engine)
    before = bandit.statistics()
    for _ in range(100 if keep == 1e-3 else 3):  # far below LEAST
        bandit.forget(keep)
    left = bandit.statistics()
    assert (left["weight"] == np.where(before["pulls"] > 0, LEAST, 0.0)).all()
    np.testing.assert_allclose(left["mean"], before["mean"], rtol=1e-12)
    made = decisions(bandit, 100)
    assert len(made) == 100
    assert not np.isnan(bandit._player.core.memory.field("index")).any()
    assert not np.isnan(bandit._player.core.memory.field("means")).any()


@pytest.mark.parametrize("keep", [float("nan"), -1, 2, 1.0000001, float("inf")])
def test_a_share_is_from_0_to_1(keep: float) -> None:
    bandit = taught(BETA, None)
    before = columns(bandit)
    with pytest.raises(InvalidValue, match="keep must be"):
        bandit.forget(keep)
    assert str(columns(bandit)) == str(before)


@pytest.mark.parametrize("keep", [True, "x", None, [0.5]])
def test_a_share_is_a_number(keep: Any) -> None:
    with pytest.raises(InvalidType, match="keep must be a number"):
        taught(BETA, None).forget(keep)


class Told:
    """A posterior of the user's own."""

    def observe(self, arm: Any, reward: float) -> None:
        pass

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.random(size)


@dataclass(frozen=True)
class Mean(thrifty.IndexPolicy):
    """It asks for no horizon, though it might."""

    changes = "when pulled"

    def index(self, mean: float) -> float:
        return mean


UNABLE = [
    (thrifty.TSMA(), "plans for a horizon"),
    (thrifty.TSTD(), "plans for a horizon"),
    (thrifty.MOSS(), "plans for a horizon"),
    (thrifty.KLUCBPlusPlus(), "plans for a horizon"),
    (thrifty.AdaUCB(), "plans for a horizon"),
    (thrifty.BayesUCB(c=1.0), "plans for a horizon"),
    (thrifty.MOTS(), "plans for a horizon"),
    (thrifty.NPTS(), "keeps every reward"),
    (thrifty.MultinomialTS(), "keeps every reward"),
    (thrifty.IMED("bounded"), "keeps every reward"),
    (thrifty.DMED(), "counts and sums alone"),
    (thrifty.UCBImproved(), "plans for a horizon"),
    (thrifty.DirichletSampling(), "keeps every reward"),
    (thrifty.Uniform(), "counts and sums alone"),
    (thrifty.DiscountedUCB(), "counts and sums alone"),
    (thrifty.SlidingWindowTS(), "counts and sums alone"),
    (thrifty.FixedArm(), "counts and sums alone"),
    (thrifty.ExploreThenCommit(), "counts and sums alone"),
    (thrifty.ThompsonSampling(Told()), "object of your own"),
    (Mean(), "its index is of your own"),
    (thrifty.Binarised(thrifty.TSMA(law="beta")), "plans for a horizon"),
]


@pytest.mark.parametrize(("policy", "why"), UNABLE, ids=[policy.label for policy, _ in UNABLE])
def test_others_refuse_by_name(policy: Policy, why: str) -> None:
    bandit = taught(policy, None, rounds=20)
    before = columns(bandit)
    with pytest.raises(InvalidValue, match=f"cannot forget: .*{why}"):
        bandit.forget(0.5)
    with pytest.raises(InvalidValue, match=f"{type(policy).__name__}.* cannot forget"):
        thrifty.Forgetting(policy)
    assert str(columns(bandit)) == str(before)


@pytest.mark.parametrize("law", ["gaussian", "gamma", "inverse-gamma", "inverse-gamma-flat"])
def test_a_law_without_a_prior_needs_one(law: str) -> None:
    policy = thrifty.ThompsonSampling(law)
    with pytest.raises(InvalidValue, match=r"prior must be \(mean, weight\) for ThompsonSampling"):
        taught(policy, None).forget(0.5)
    taught(policy, PRIOR).forget(0.5)
    taught(policy, ([0.5] * 8, 1.0)).forget(0.5)


# Files, copies, warm starts --------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "prior", "engine"), EVERYWHERE)
def test_a_snapshot_goes_on(policy: Policy, prior: Any, engine: str, tmp_path: Path) -> None:
    bandit = taught(policy, prior, engine)
    bandit.forget(0.4)
    bandit.save(tmp_path / "a.npz")
    loaded = Bandit.load(tmp_path / "a.npz")
    assert str(columns(loaded)) == str(columns(bandit))
    assert decisions(loaded) == decisions(bandit)
    loaded.forget(0.0)
    loaded.save(tmp_path / "b.npz")
    assert Bandit.load(tmp_path / "b.npz").statistics()["weight"].tolist() == [0.0] * 8


def test_a_bandit_that_never_forgot_has_no_more_in_its_file(tmp_path: Path) -> None:
    bandit = taught(BETA, None)
    bandit.forget(1.0)
    bandit.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        assert "faded" not in file.files


def test_statistics_of_one_that_forgot_are_a_warm_start() -> None:
    bandit = taught(BETA, None)
    bandit.forget(0.3)
    other = Bandit(BETA, 8, seed=1, statistics=bandit.statistics())
    for name in ("pulls", "weight"):
        assert list(other.statistics()[name]) == list(bandit.statistics()[name])
    np.testing.assert_allclose(other.statistics()["mean"], bandit.statistics()["mean"], rtol=1e-14)
    other.merge(bandit.statistics())
    np.testing.assert_allclose(other.statistics()["weight"], 2.0 * bandit.statistics()["weight"], rtol=1e-15)
    assert list(other.statistics()["pulls"]) == list(2 * bandit.statistics()["pulls"])
    other.merge({"arm": [0], "pulls": [1], "mean": [1.0], "weight": [1e-300]})
    other.merge({"arm": [0], "pulls": [5], "mean": [1.0]})
    assert other.statistics()["weight"][0] == pytest.approx(2.0 * bandit.statistics()["weight"][0] + 5.0)


@pytest.mark.parametrize("engine", ["scan", "kinetic"])
def test_statistics_of_one_that_forgot_all_teach_nothing(engine: str) -> None:
    old = thrifty.Bandit(thrifty.UCB1(), 3, seed=1)
    old.update_many([0, 1, 2], [1.0, 0.5, 0.0])
    old.forget(0.0)
    bandit = thrifty.Bandit(thrifty.UCB1(), 3, seed=1, engine=engine)
    bandit.update(1, 0.5)
    bandit.merge(old.statistics())
    assert bandit.statistics()["pulls"].tolist() == [1, 2, 1]
    assert bandit.statistics()["weight"].tolist() == [0.0, 1.0, 0.0]
    assert bandit.select_many(3) == [0, 2, 1]


@pytest.mark.parametrize(
    ("weight", "text"),
    [
        ([-1.0, 1.0], r"weight\[0\] must be at least 0"),
        ([1.0, 4.5], r"weight\[1\] must be at most 4"),
        ([1.0, float("nan")], r"weight\[1\] must be finite"),
        ([1.0], "weight must have an entry for each of the 2 rows, got 1"),
        (["x", 1.0], r"weight\[0\] must be a number"),
    ],
)
def test_a_weight_is_at_most_its_pulls(weight: Any, text: str) -> None:
    bandit = taught(BETA, None)
    table = {"arm": [0, 1], "pulls": [2, 4], "mean": [0.5, 0.5], "weight": weight}
    with pytest.raises(thrifty.errors.ThriftyError, match=text):
        bandit.merge(table)


def test_who_cannot_forget_takes_no_statistics_of_one_that_did() -> None:
    table = {"arm": [0], "pulls": [2], "mean": [0.5], "weight": [1.0]}
    with pytest.raises(InvalidValue, match=r"MOSS\(\) cannot forget|MOSS.* cannot forget"):
        Bandit(thrifty.MOSS(), 2, statistics=table)
