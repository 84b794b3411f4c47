"""Decisions that are cancelled: the next ones are as if they had not been asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import thrifty
from tests.support.chance import UNLUCKY
from tests.support.live import EVERYWHERE, PATIENT, everything, refused, warm
from thrifty.policies import Policy

PULLS, MEANS = [4, 7, 5, 9], [0.45, 0.5, 0.55, 0.5]


def on_every_engine(*policies: Policy) -> Any:
    return pytest.mark.parametrize(
        ("policy", "engine"),
        [
            pytest.param(policy, engine, id=f"{policy!r}-{engine}")
            for policy in policies
            for engine in policy.runs_on
        ],
    )


# Exactly ---------------------------------------------------------------------------------------------------


@on_every_engine(
    thrifty.KLUCBPlusPlus(),
    thrifty.MOSS(),
    thrifty.UCB1(),
    thrifty.UCB1Tuned(),
    thrifty.UCBV(),
    thrifty.KLUCB(),
    thrifty.AdaUCB(),
    thrifty.IMED(),
    thrifty.IMED(family="bounded"),
    thrifty.TSMA(),
    thrifty.TSMA(alpha=0.5, law="beta"),
    thrifty.TSMA(phi=5, sampling="batch"),
)
def test_decisions_that_are_cancelled_leave_no_trace(policy: Policy, engine: str) -> None:
    """Where no draw is made for a decision: of two bandits, one is asked more often than the other, and told
    to forget it. Rewards have no ties, which random numbers would break. Some are late, but where a decision
    draws a spent index anew."""
    plain, asked = (thrifty.Bandit(policy, 6, horizon=400, seed=3, engine=engine) for _ in range(2))
    rng = np.random.default_rng(4)
    binary, prompt = getattr(policy, "law", "") == "beta", isinstance(policy, thrifty.TSMA)
    flying: list[int] = []
    for _ in range(400):
        for arm in asked.select_many(1 if prompt else rng.integers(4)):
            asked.cancel(arm)
        arm = plain.select()
        assert asked.select() == arm
        flying.append(arm)
        while flying and (prompt or rng.random() < 0.7):
            back = flying.pop(0)
            reward = float(rng.random() < 0.5) if binary else float(rng.beta(1 + back, 5))
            for bandit in (plain, asked):
                bandit.update(back, reward)
        assert asked.decisions == plain.decisions
    ours, theirs = asked.statistics(), plain.statistics()
    for name in ("pulls", "mean", "pending"):
        np.testing.assert_array_equal(ours[name], theirs[name])


@on_every_engine(thrifty.TSMA(), thrifty.TSMA(alpha=0.5, law="beta"))
def test_a_committed_index_is_not_spent_by_it(policy: Policy, engine: str) -> None:
    """Nothing at all has changed, not even the random stream; asked again, the bandit says the same."""
    bandit = warm(policy, PULLS, MEANS, seed=1, engine=engine, pending_for=None)
    arms = {bandit.select()}
    bandit.cancel(*arms)
    before = everything(bandit)
    for _ in range(5):
        arms.add(bandit.select())
        bandit.cancel(*arms)
        assert everything(bandit) == before
    assert len(arms) == 1


@pytest.mark.parametrize("engine", ["scan", "sleepers"])
def test_nor_in_the_second_phase_of_ts_td(engine: str) -> None:
    bandit = warm(thrifty.TSTD(phi=1), PULLS, MEANS, seed=1, engine=engine)
    for _ in range(3):  # until everybody is committed
        bandit.cancel(bandit.select())
    arms = set()
    for _ in range(20):
        arms.add(bandit.select())
        bandit.cancel(*arms)
    assert len(arms) == 1
    draws = bandit.statistics()["draws"].sum()
    bandit.select()
    assert bandit.statistics()["draws"].sum() == draws


# Initial pulls ---------------------------------------------------------------------------------------------


@PATIENT
def test_initial_pulls_are_handed_out_again(policy: Policy, engine: str) -> None:
    bandit = thrifty.Bandit(policy, arms=list("abcde"), horizon=100, seed=2, engine=engine)
    assert bandit.select_many(4) == list("abcd")
    bandit.update("b", 1.0)
    for arm in "ca":
        bandit.cancel(arm)
    assert bandit.decisions == 2
    assert bandit.statistics()["pending"].tolist() == [0, 0, 0, 1, 0]
    assert bandit.select_many(3) == list("ace")
    for arm in "acde":
        bandit.update(arm, 0.0)
    bandit.cancel(bandit.select())
    assert bandit.statistics()["pulls"].tolist() == [1] * 5


def test_an_initial_pull_may_be_refused_for_ever() -> None:
    bandit = thrifty.Bandit(thrifty.UCB1(), 3, seed=2)
    for _ in range(50):
        assert bandit.select() == 0
        bandit.cancel(0)
    assert bandit.decisions == 0


# In law ----------------------------------------------------------------------------------------------------


@on_every_engine(
    thrifty.ThompsonSampling(),
    thrifty.ThompsonSampling(law="beta"),
    thrifty.EpsilonTS(epsilon=0.5),
    thrifty.ExpTS(),
    thrifty.MOTS(),
    thrifty.MaillardSampling(),
    thrifty.KLMS(),
)
@pytest.mark.parametrize("many", [300, pytest.param(2000, marks=pytest.mark.slow)])
def test_draws_are_made_anew_from_the_same_laws(policy: Policy, engine: str, many: int) -> None:
    """How often each arm is chosen, if all decisions are cancelled, and if each bandit makes only one."""
    options: Any = {"engine": engine, "horizon": 1000}
    bandit = warm(policy, PULLS, MEANS, seed=9, **options)
    cancelled = []
    for _ in range(many):
        cancelled.append(bandit.select())
        bandit.cancel(cancelled[-1])
    single = [warm(policy, PULLS, MEANS, seed=seed, **options).select() for seed in range(many)]
    table = [np.bincount(arms, minlength=4) for arms in (cancelled, single)]
    counts = np.array(table)[:, np.sum(table, axis=0) > 0]
    assert counts.shape[1] > 1
    assert stats.chi2_contingency(counts).pvalue > UNLUCKY


class Fixed:
    """A posterior of one's own that learns nothing."""

    def observe(self, arm: Any, reward: float) -> None: ...

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.normal(arm, 1.0, size)


def test_a_posterior_of_ones_own() -> None:
    fixed: Any = Fixed()
    policy = thrifty.TSMA(law=fixed, phi=3, sampling="batch")
    bandit = thrifty.Bandit(policy, 3, horizon=50, seed=5, pending_for=None)
    assert [bandit.select(), bandit.select()] == [0, 1]
    bandit.cancel(0)
    assert bandit.select_many(2) == [0, 2]
    bandit.update_many([0, 1, 2], [0.5, 0.5, 0.5])
    arm = bandit.select()
    bandit.cancel(arm)
    before = everything(bandit)
    assert bandit.select() == arm
    bandit.cancel(arm)
    assert everything(bandit) == before


# Anything, in any order ------------------------------------------------------------------------------------


@EVERYWHERE
def test_pulls_and_pending_pulls_are_counted(policy: Policy, engine: str) -> None:
    """Against a dictionary, with arms that come and go."""
    bandit = thrifty.Bandit(policy, arms=range(4), horizon=300, seed=6, engine=engine)
    pulls, pending = dict.fromkeys(range(4), 0), dict.fromkeys(range(4), 0)
    rng, new = np.random.default_rng(7), 4
    for _ in range(250):
        flying = [arm for arm, count in pending.items() if count]
        step = rng.choice(["select", "update", "cancel", "add", "remove"], p=[0.5, 0.25, 0.2, 0.03, 0.02])
        if step == "select":
            pending[bandit.select()] += 1
        elif step == "add":
            bandit.add_arm(new)
            pulls[new] = pending[new] = 0
            new += 1
        elif step == "remove" and len(pulls) > 2:
            arm = int(rng.choice(list(pulls)))
            bandit.remove_arm(arm)
            del pulls[arm], pending[arm]
        elif step in ("update", "cancel") and flying:
            arm = int(rng.choice(flying))
            pending[arm] -= 1
            if step == "cancel":
                bandit.cancel(arm)
            else:
                bandit.update(arm, float(rng.random() < 0.5))
                pulls[arm] += 1
        table = bandit.statistics()
        assert dict(zip(table["arm"], table["pulls"].tolist(), strict=True)) == pulls
        assert dict(zip(table["arm"], table["pending"].tolist(), strict=True)) == pending


@pytest.mark.parametrize(
    "policy", [thrifty.DMED(), thrifty.DMED(rule="log-t"), thrifty.DirichletSampling()], ids=repr
)
def test_an_arm_keeps_its_place_on_a_list(policy: Policy) -> None:
    """Its turn comes, though by now it is far too bad for the next list."""
    bandit = thrifty.Bandit(policy, arms=4, seed=8)
    for arm in range(4):
        bandit.update_many([arm] * 50, [0.0] * 50)
    first, second = bandit.select_many(2)
    assert first != second
    bandit.update_many([second] * 300, [1.0] * 300)
    bandit.cancel(first)
    assert bandit.select_many(20).count(first) == 1


def test_after_a_snapshot(tmp_path: Path) -> None:
    bandit = thrifty.Bandit(thrifty.UCB1(), arms=list("abc"), seed=8)
    bandit.select_many(3)
    bandit.cancel("b")
    bandit.save(tmp_path / "bandit.npz")
    other = thrifty.Bandit.load(tmp_path / "bandit.npz")
    other.cancel("c")
    assert other.decisions == 1
    assert other.select_many(2) == ["b", "c"]


# Mistakes --------------------------------------------------------------------------------------------------


def test_what_cannot_be_cancelled() -> None:
    fixed: Any = Fixed()
    for law in ("gaussian", fixed):
        bandit = thrifty.Bandit(thrifty.ThompsonSampling(law=law), arms=[1, "x"], seed=8)
        nothing = r"^arm must be one with a pending pull that has no id, or a Decision, got 1$"
        with refused(thrifty.InvalidValue, nothing, bandit):
            bandit.cancel(1)
        bandit.select()
        for arm in ("y", ["x"], None):
            with refused(thrifty.InvalidValue, r"^arm must be one of the 2 arms, got ", bandit):
                bandit.cancel(arm)  # type: ignore[arg-type]
        bandit.cancel(1)
        with refused(thrifty.InvalidValue, nothing, bandit):
            bandit.cancel(1)
        bandit.select()
        bandit.update(1, 0.5)
        with refused(thrifty.InvalidValue, nothing, bandit):
            bandit.cancel(1)
        bandit.remove_arm("x")
        with refused(thrifty.InvalidValue, r"^arm must be one of the 1 arms, got 'x'$", bandit):
            bandit.cancel("x")
