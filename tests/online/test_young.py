"""Pulls that stay pending: each counts in the next ``pending_for`` decisions, and then no more."""

import copy
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import thrifty
from tests.support.live import Widening, column, everything, state
from thrifty.online.posterior import PosteriorCore
from thrifty.policies import Policy
from thrifty.state import young


class Fixed:
    """A posterior of one's own that learns nothing."""

    def __repr__(self) -> str:
        return "Fixed()"  # the name of a case is the same in every process

    def observe(self, arm: Any, reward: float) -> None: ...

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        return rng.normal(0.0, 1.0, size)


# By what their indices are made of, and on every engine that runs them.
KINDS: list[Policy] = [
    thrifty.ThompsonSampling(law="beta"),
    thrifty.EpsilonTS(epsilon=0.5),
    thrifty.TSMA(),
    thrifty.TSTD(phi=3),
    thrifty.KLUCBPlusPlus(),
    thrifty.UCB1(),
    thrifty.IMED(),
    thrifty.AdaUCB(),
    thrifty.NPTS(),
    thrifty.IMED(family="bounded"),
    thrifty.DMED(),
    thrifty.UCBImproved(),
    thrifty.DirichletSampling(),
    thrifty.Binarised(thrifty.KLUCB()),
    Widening(),
]
CASES = [(policy, engine) for policy in KINDS for engine in policy.runs_on]
OWN: Any = Fixed()
POSTERIOR = (thrifty.TSMA(law=OWN, phi=2, sampling="batch"), "auto")


# What counts, once more in Python ------------------------------------------------------------------------


class Model:
    """Of every arm, in which decisions the pulls were handed out that count; and how many have expired."""

    def __init__(self, arms: int, pending_for: int) -> None:
        self.pending_for = pending_for
        self.handed: list[int] = []
        self.young: dict[int, list[int]] = {arm: [] for arm in range(arms)}
        self.expired: Counter[int] = Counter()
        self.pulls: Counter[int] = Counter()

    def first(self) -> set[int]:
        """Arms one of which has to be tried: new ones or, in one of so many decisions, lost ones."""
        waiting = {arm for arm, made in self.young.items() if not self.pulls[arm] and not made}
        new = {arm for arm in waiting if not self.expired[arm]}
        return new or (waiting if len(self.handed) % young.SHARE == 0 else set())

    def select(self, arm: int) -> None:
        now = len(self.handed)
        self.handed.append(arm)
        self.young[arm].append(now)
        sooner = now - self.pending_for // young.SOONER
        waiting = self.handed[sooner] if sooner >= 0 else -1
        if waiting in self.young and not self.pulls[waiting] and self.young[waiting]:
            self.expire(waiting)
        for other, made in self.young.items():
            if made and made[0] <= now - self.pending_for:
                self.expire(other)

    def expire(self, arm: int) -> None:
        self.young[arm].pop(0)
        self.expired[arm] += 1

    def close(self, arm: int) -> None:
        """A reward, or none for certain: of the oldest pull that counts, else of one that does not."""
        if self.young[arm]:
            self.young[arm].pop(0)
        elif self.expired[arm]:
            self.expired[arm] -= 1


def follow(policy: Policy, engine: str, pending_for: int, steps: int) -> None:
    """Random calls of every kind; about half of the rewards are lost, and some come that nobody asked for."""
    bandit = thrifty.Bandit(policy, 4, horizon=1000, seed=3, pending_for=pending_for, engine=engine)
    model = Model(4, pending_for)
    rng, new = np.random.default_rng(pending_for), 4
    calls = ["select", "many", "update", "cancel", "add", "remove"]
    for call in rng.choice(calls, steps, p=[0.45, 0.05, 0.3, 0.12, 0.05, 0.03]).tolist():
        arm = int(rng.choice(list(model.young)))
        if call == "select":
            first = model.first()
            chosen = bandit.select()
            assert not first or chosen in first
            model.select(chosen)
        elif call == "many":
            for chosen in bandit.select_many(3):
                model.select(chosen)
        elif call == "update":
            bandit.update(arm, float(rng.random() < 0.5))
            model.close(arm)
            model.pulls[arm] += 1
        elif call == "cancel" and (model.young[arm] or model.expired[arm]):
            bandit.cancel(arm)
            model.close(arm)
        elif call == "add":
            bandit.add_arm(new)
            model.young[new] = []
            new += 1
        elif call == "remove" and len(model.young) > 2:
            bandit.remove_arm(arm)
            del model.young[arm], model.expired[arm], model.pulls[arm]
        counts = {arm: len(made) for arm, made in model.young.items()}
        assert counting(bandit) == counts
        assert column(bandit, "pulls") == {arm: model.pulls[arm] for arm in counts}
        assert column(bandit, "pending") == {arm: counts[arm] + model.expired[arm] for arm in counts}


def counting(bandit: thrifty.Bandit) -> dict[Any, int]:
    """Of every arm, the pending pulls that count."""
    core = bandit._player.core
    if isinstance(core, PosteriorCore):
        expired = core._arms["expired"]
    else:
        expired = state(bandit).expired[:, young.EXPIRED]
    counts = core.pending - expired
    return dict(zip(bandit.statistics()["arm"], counts.tolist(), strict=True))


@pytest.mark.parametrize("pending_for", [0, 1, 7, 65])
@pytest.mark.parametrize(("policy", "engine"), [*CASES, POSTERIOR], ids=str)
def test_what_counts_is_what_was_handed_out_lately(policy: Policy, engine: str, pending_for: int) -> None:
    follow(policy, engine, pending_for, 160)


# What it changes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("policy", "engine"), [*CASES, POSTERIOR], ids=str)
def test_nothing_changes_where_nothing_expires(policy: Policy, engine: str) -> None:
    """Rewards come up to 20 decisions late: the very decisions of a bandit for which pulls
    count for ever, with a ring that is longer than it, or only just long enough."""
    made = []
    for pending_for in (None, 1000, 21 * young.SOONER):
        bandit = thrifty.Bandit(policy, 5, horizon=400, seed=5, pending_for=pending_for, engine=engine)
        rng, flying = np.random.default_rng(6), []
        chosen = []
        for _ in range(300):
            flying.append(bandit.select())
            chosen.append(flying[-1])
            while len(flying) > 20 or (flying and rng.random() < 0.4):
                bandit.update(flying.pop(0), float(rng.random() < 0.5))
        made.append((chosen, bandit.select_many(20), bandit.statistics()["draws"].tolist()))
    assert made[0] == made[1] == made[2]


def counts_pending(policy: Policy) -> bool:
    return policy.played.drawn_from is None


@pytest.mark.parametrize(("policy", "engine"), [case for case in CASES if counts_pending(case[0])], ids=str)
def test_an_index_counts_the_pulls_that_are_young(policy: Policy, engine: str) -> None:
    """Half of the rewards are lost. Beside it works a bandit on scan that is told before every decision which
    pulls are on their way: those that count."""
    options: Any = {"horizon": 400, "seed": 5, "prior": (0.5, 1.0)}
    bandit = thrifty.Bandit(policy, 5, pending_for=9, engine=engine, **options)
    plain = thrifty.Bandit(policy, 5, pending_for=None, engine="scan", **options)
    rng, flying, told = np.random.default_rng(6), [], False
    for _ in range(300):
        counts = state(bandit).pending[:, 0] - state(bandit).expired[:, young.EXPIRED]
        told = told or (counts < state(bandit).pending[:, 0]).any()
        state(plain).pending[:, 0] = counts
        plain._player.t = bandit._player.t
        flying.append(bandit.select())
        if isinstance(policy, thrifty.KLUCBPlusPlus):  # which looks at ties more often, and at other times
            plain._player.core.begin()
            assert state(plain).index[flying[-1]] == state(plain).index.max()
        else:
            assert plain.select() == flying[-1]
        while flying and rng.random() < 0.5:
            arm = flying.pop(0)
            if rng.random() < 0.5:
                reward = float(rng.random() < 0.5)
                bandit.update(arm, reward)
                plain.update(arm, reward)
    assert told


@pytest.mark.parametrize(
    ("policy", "engine"), [case for case in CASES if not counts_pending(case[0])], ids=str
)
def test_nothing_changes_where_pending_pulls_do_not_count(policy: Policy, engine: str) -> None:
    """Every other reward is lost; every arm has a law, from its prior."""
    made = []
    for pending_for in (None, 3):
        bandit = thrifty.Bandit(
            policy, 5, 400, seed=5, prior=(0.5, 1.0), pending_for=pending_for, engine=engine
        )
        chosen = []
        for t in range(200):
            chosen.append(bandit.select())
            if t % 2:
                bandit.update(chosen[-1], float(t % 4 == 1))
        made.append(chosen)
    assert made[0] == made[1]


@pytest.mark.parametrize(("policy", "engine"), [*CASES, POSTERIOR], ids=str)
def test_an_arm_whose_first_pull_was_lost_is_tried_again(policy: Policy, engine: str) -> None:
    """In every tenth decision, in turn; there are new arms before, and one with a reward meanwhile."""
    bandit = thrifty.Bandit(policy, 3, 100, seed=1, pending_for=2 * young.SOONER, engine=engine)
    assert bandit.select_many(3) == [0, 1, 2]
    bandit.update(1, 1.0)
    assert bandit.select_many(18) == [1] * 7 + [0] + [1] * 9 + [2]
    bandit.add_arm("new")
    assert bandit.select_many(20) == ["new"] + [1] * 8 + ["new"] + [1] * 9 + [0]
    bandit.remove_arm(0)
    bandit.cancel("new")
    assert sorted(set(bandit.select_many(20)), key=str) == [1, 2, "new"]


def test_a_preview_does_not_use_up_the_turn_of_an_arm_whose_reward_was_lost() -> None:
    bandit = thrifty.Bandit(thrifty.UCB1(), 8, seed=1, pending_for=0)
    bandit.select_many(8)
    bandit.update(0, 1.0)
    while bandit.preview() == 0:
        bandit.update(bandit.select(), 1.0)
    assert [bandit.preview() for _ in range(3)] == [1, 1, 1]
    assert bandit.preview(exclude=[1]) == 0
    assert bandit.select() == 1
    turns = []  # of those that are lost: who is left out when its turn is there gets another one
    while len(turns) < 7:
        arm = bandit.select(exclude=[2] if len(turns) == 0 else None)
        bandit.update(arm, 1.0) if arm == 0 else turns.append(arm)
    assert 2 in turns


def test_arms_that_wait_for_a_reward_get_a_tenth_of_the_decisions() -> None:
    """A thousand decisions are in flight after 40 new arms came."""
    bandit = thrifty.Bandit(thrifty.UCB1(), ["old"], seed=1)
    for _ in range(5):
        bandit.update(bandit.select(), 1.0)
    bandit.add_arms(range(40))
    counts = Counter(bandit.select_many(1000))
    assert counts.pop("old") == 864
    assert set(counts) == set(range(40))
    assert max(counts.values()) - min(counts.values()) <= 1


def lost(policy: Policy, pending_for: int | None) -> tuple[float, int]:
    """Mean regret in ten runs, and the runs in which the best arm has less than a tenth of the pulls. Nine of
    ten rewards are lost."""
    regrets, poor, means = [], 0, [0.5, 0.5, 0.8, 0.5]
    for seed in range(10):
        bandit = thrifty.Bandit(policy, 4, 1000, seed=seed, pending_for=pending_for)
        rng, pulls = np.random.default_rng(seed), np.zeros(4)
        for _ in range(1000):
            arm = bandit.select()
            pulls[arm] += 1
            if rng.random() < 0.1:
                bandit.update(arm, float(rng.random() < means[arm]))
        regrets.append(pulls @ (0.8 - np.array(means)))
        poor += int(pulls[2] < 100)
    return float(np.mean(regrets)), poor


@pytest.mark.parametrize("policy", [thrifty.UCB1(), thrifty.KLUCBPlusPlus(), thrifty.IMED()], ids=repr)
def test_nobody_is_stuck_for_ever_because_rewards_are_lost(policy: Policy) -> None:
    """The first pull of the best arm is lost in nine of ten runs."""
    (regret, poor), (regret_for_ever, poor_for_ever) = lost(policy, 100), lost(policy, None)
    assert poor == 0
    assert poor_for_ever >= 5  # fewer with a probability of 10^-4
    assert regret < 0.8 * regret_for_ever


def test_snapshots_and_copies_go_on(tmp_path: Path) -> None:
    """With the pulls that are young, and those that are not."""
    bandit = thrifty.Bandit(thrifty.KLUCB(), 5, seed=2, pending_for=7)
    for arm in bandit.select_many(30)[::3]:
        bandit.update(arm, 1.0)
    bandit.save(tmp_path / "bandit.npz")
    loaded = thrifty.Bandit.load(tmp_path / "bandit.npz")
    assert everything(loaded) == everything(bandit)
    for other in (loaded, copy.deepcopy(bandit)):
        assert other.select_many(40) == copy.deepcopy(bandit).select_many(40)


@pytest.mark.parametrize("pending_for", [-1, 1.5, "ten", True])
def test_mistakes(pending_for: Any) -> None:
    with pytest.raises(thrifty.ThriftyError, match=r"^pending_for must be .*, got "):
        thrifty.Bandit(thrifty.UCB1(), 3, pending_for=pending_for)
