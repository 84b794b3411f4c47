"""Random interleavings of all calls, against a dictionary: what was pulled, what it gave, what is pending.

What the engines keep for the arms is checked too, after every call.
"""

import math
import tempfile
from collections import Counter
from collections.abc import Hashable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import thrifty
from tests.support.live import everything, kept, lasting, needs_every_reward, state
from thrifty.engines import tournament
from thrifty.engines.sleepers.duel import NEWEST, OLDEST
from thrifty.engines.sleepers.line import GROUPS, SWEPT
from thrifty.policies import Policy
from thrifty.state.lists import LEFT
from thrifty.state.statistics import ARMS

NAMES = st.sampled_from(["a", "b", "c", 0, 1, 2, 3, 4, -1, "☃"])
REWARDS = st.sampled_from([0, 1, 0.0, 1.0, np.float64(1.0)])
BAD = st.sampled_from([math.nan, math.inf, -1, 2.5, "1", None, 1j])


class Machine(RuleBasedStateMachine):
    policy: Policy
    engine: str
    prior: Any = None

    @initialize(arms=st.sampled_from([1, 3, 20, 70, ["a"], ["c", 4, "b"]]), seed=st.integers(0, 5))
    def begin(self, arms: Any, seed: int) -> None:
        self.bandit = thrifty.Bandit(self.policy, arms, seed=seed, prior=self.prior, engine=self.engine)
        names = range(arms) if isinstance(arms, int) else arms
        self.model: dict[Hashable, list[float]] = {name: [0, 0.0, 0] for name in names}  # pulls, sum, pending
        self.decisions = 0
        self.open: dict[thrifty.Decision, bool] = {}  # and whether its arm is there

    def chosen(self, arm: Hashable) -> None:
        """A decision: first every arm once, of which nothing is known."""
        opened = {each.arm for each, there in self.open.items() if there}
        new = {name for name, (n, _, pending) in self.model.items() if not n and not pending} - opened
        assert arm in (self.model if self.prior else new or self.model)
        self.model[arm][2] += 1
        self.decisions += 1

    def rewarded(self, arm: Hashable, reward: float) -> None:
        entry = self.model[arm]
        self.model[arm] = [entry[0] + 1, entry[1] + reward, max(0, entry[2] - 1)]

    @rule()
    def select(self) -> None:
        self.chosen(self.bandit.select())

    @rule(count=st.integers(0, 30))
    def select_many(self, count: int) -> None:
        arms = self.bandit.select_many(count)
        assert len(arms) == count
        for arm in arms:
            self.chosen(arm)

    @rule(count=st.integers(1, 5), reward=REWARDS)
    def select_and_update(self, count: int, reward: float) -> None:
        for _ in range(count):
            arm = self.bandit.select()
            self.chosen(arm)
            self.bandit.update(arm, reward)
            self.rewarded(arm, reward)

    @rule(count=st.integers(1, 4))
    def decide(self, count: int) -> None:
        for each in self.bandit.decide(count=count, now=self.decisions):
            self.chosen(each.arm)
            self.model[each.arm][2] -= 1
            self.open[each] = True

    @rule(data=st.data(), reward=st.none() | REWARDS, again=st.booleans())
    def close(self, data: st.DataObject, reward: float | None, again: bool) -> None:
        """By a reward or by cancelling, one that is open, or was, or one and all that are older."""
        if not self.open:
            return
        decision = data.draw(st.sampled_from(list(self.open)))
        if again:
            older = [each for each in self.open if each.time < decision.time]
            assert self.bandit.expire(decision.time, reward) == len(older)
            for each in older:
                self.closed(each, reward)
        there = self.open[decision]
        found = self.bandit.cancel(decision) if reward is None else self.bandit.reward(decision, reward)
        assert found == (there or reward is None)
        assert not self.bandit.reward(decision.id, 1.0)
        self.closed(decision, reward)

    def closed(self, decision: thrifty.Decision, reward: float | None) -> None:
        if not self.open.pop(decision):
            return
        if reward is None:
            self.decisions -= 1
        else:
            self.model[decision.arm][2] += 1
            self.rewarded(decision.arm, reward)

    @rule(data=st.data(), reward=REWARDS)
    def update(self, data: st.DataObject, reward: float) -> None:
        arm = data.draw(st.sampled_from(sorted(self.model, key=str)))
        self.bandit.update(arm, reward)
        self.rewarded(arm, reward)

    @rule(data=st.data())
    def update_many(self, data: st.DataObject) -> None:
        pairs = st.tuples(st.sampled_from(sorted(self.model, key=str)), REWARDS)
        listed = data.draw(st.lists(pairs, max_size=20))
        self.bandit.update_many([arm for arm, _ in listed], [reward for _, reward in listed])
        for arm, reward in listed:
            self.rewarded(arm, reward)

    @rule()
    def update_all_that_is_pending(self) -> None:
        arms = [arm for arm, (_, _, pending) in self.model.items() for _ in range(int(pending))]
        self.bandit.update_many(arms, np.arange(len(arms)) % 2)
        for i, arm in enumerate(arms):
            self.rewarded(arm, i % 2)

    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        arm = data.draw(st.sampled_from(sorted(self.model, key=str)))
        if self.model[arm][2]:
            self.bandit.cancel(arm)
            self.model[arm][2] -= 1
            self.decisions -= 1
        else:
            self.refuse(lambda: self.bandit.cancel(arm))

    @rule(arm=NAMES)
    def add(self, arm: Hashable) -> None:
        if arm in self.model:
            self.refuse(lambda: self.bandit.add_arm(arm))
        else:
            self.bandit.add_arm(arm)
            self.model[arm] = [0, 0.0, 0]

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        arm = data.draw(NAMES | st.sampled_from(sorted(self.model, key=str)))
        if arm in self.model and len(self.model) > 1:
            self.bandit.remove_arm(arm)
            del self.model[arm]
            self.open = {each: there and each.arm != arm for each, there in self.open.items()}
        else:
            self.refuse(lambda: self.bandit.remove_arm(arm))

    @rule()
    def save_and_load(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.bandit.save(Path(folder) / "bandit.npz")
            loaded = thrifty.Bandit.load(Path(folder) / "bandit.npz")
        assert lasting(loaded) == lasting(self.bandit)
        self.bandit = loaded

    @rule()
    def warm_start(self) -> None:
        """Another bandit goes on with the statistics, unless they are not enough; what was pending is
        forgotten."""
        options: dict[str, Any] = {"seed": 1, "prior": self.prior, "engine": self.engine}
        make = partial(thrifty.Bandit, self.policy, list(self.model), **options)
        if needs_every_reward(self.policy):
            with pytest.raises(thrifty.InvalidValue, match=r"must not be given to .* use update_many"):
                make(statistics=self.bandit.statistics())
            return
        self.bandit = make(statistics=self.bandit.statistics())
        self.model = {arm: [pulls, total, 0] for arm, (pulls, total, _) in self.model.items()}
        self.decisions, self.open = 0, {}

    @rule(bad=BAD, name=st.sampled_from(["nobody", 99, 1.5, math.nan]), data=st.data())
    def refused(self, bad: Any, name: Any, data: st.DataObject) -> None:
        arm, bandit = data.draw(st.sampled_from(sorted(self.model, key=str))), self.bandit
        self.refuse(lambda: bandit.update(arm, bad))
        self.refuse(lambda: bandit.update(name, 1.0))
        self.refuse(lambda: bandit.update_many([arm, arm], [1.0, bad]))
        self.refuse(lambda: bandit.update_many([arm, name], [1.0, 0.0]))
        self.refuse(lambda: bandit.update_many([arm], [1.0, 0.0]))
        self.refuse(lambda: bandit.remove_arm(name))
        self.refuse(lambda: bandit.cancel(name))
        self.refuse(lambda: bandit.add_arm([name]))
        self.refuse(lambda: bandit.add_arm("nobody", prior=(0.5, 1.0)))
        self.refuse(lambda: bandit.select_many(-1))

    def refuse(self, call: Any) -> None:
        before = everything(self.bandit)
        with pytest.raises(thrifty.ThriftyError, match="got"):
            call()
        assert everything(self.bandit) == before

    @invariant()
    def statistics_are_right(self) -> None:
        table = self.bandit.statistics()
        assert set(table["arm"]) == set(self.model)
        assert len(table["arm"]) == len(self.bandit) == len(self.model)
        assert self.bandit.decisions == self.decisions
        rows = zip(*(table[name] for name in ("arm", "pulls", "mean", "draws", "pending")), strict=True)
        for arm, pulls, mean, draws, pending in rows:
            n, total, waiting = self.model[arm]
            opened = sum(there and each.arm == arm for each, there in self.open.items())
            assert (pulls, pending) == (n, waiting + opened)
            assert math.isclose(mean, total / n, rel_tol=1e-9) if n else math.isnan(mean)
            assert draws >= 0
            assert draws == 0 or pulls or self.prior

    @invariant()
    def the_engine_is_in_order(self) -> None:
        now = state(self.bandit)
        lawful = (now.pulls > 0) | (self.prior is not None)
        assert now.count[ARMS] == len(self.model)
        assert now.waiting[0] == (~lawful).sum()
        if now.tree.size:
            tree = tournament.built(now.index, self.bandit._player.core.memory.capacity)  # type: ignore[union-attr]
            attained = tree[:, 1] > 0
            np.testing.assert_array_equal(now.tree[attained], tree[attained])
            assert (now.tree[~attained, 0] == -math.inf).all()
        self.check_books(now)
        if self.engine == "sleepers":
            self.check_line(now, lawful)
        elif self.engine == "tournament":
            assert ((now.index > -math.inf) == lawful).all()

    def check_books(self, now: Any) -> None:
        """What some policies keep besides sums. Rewards are 0 and 1 here."""
        mean, weight = self.prior or (0.0, 0.0)
        if now.squares.size:
            np.testing.assert_array_equal(now.squares, now.sums)
        if now.order.size:  # AdaUCB
            np.testing.assert_allclose(now.weights, now.pulls + weight)
            assert (np.diff(now.weights[now.order]) >= 0.0).all()
            np.testing.assert_array_equal(now.order[now.position], np.arange(now.order.size))
            shared = np.minimum(now.weights, np.sqrt(np.outer(now.weights, now.weights)).T).T
            np.testing.assert_allclose(now.spread, shared.sum(axis=1), rtol=1e-9)
        for i, span in enumerate(now.spans):
            values, times = kept(now, span).T
            expected = Counter({1.0: now.sums[i], 0.0: now.pulls[i] - now.sums[i]})
            expected[mean] += weight
            assert dict(zip(values, times, strict=True)) == {x: n for x, n in expected.items() if n}
            assert (np.diff(values) > 0.0).all()
        if isinstance(self.policy, thrifty.DirichletSampling):
            assert now.lists[LEFT] == now.marks.sum()

    def check_line(self, now: Any, lawful: Any) -> None:
        """Who has a law is on the line or, if committed, in the tree; and the line keeps its accounts."""
        schedule = self.policy.schedule
        if schedule == "epsilon":
            np.testing.assert_array_equal(now.index, np.where(lawful, now.means, -math.inf))
            return
        placed, size = now.place >= 0, now.ends[GROUPS]
        committed = (now.index > -math.inf) & (schedule == "duel")
        assert (placed | committed == lawful).all()
        assert not (placed & committed).any()
        arms = now.line[:size, 1].astype(int)
        assert sorted(arms) == np.flatnonzero(placed).tolist()
        np.testing.assert_array_equal(now.place[arms], np.arange(size))
        assert math.isclose(now.levels[2], now.line[:size, 0].sum(), rel_tol=1e-9, abs_tol=1e-9)
        groups = np.searchsorted(now.ends, np.arange(size), side="right")
        exponents = np.clip(-np.frexp(np.maximum(now.line[:size, 0], 0.5**60))[1], 0, GROUPS)
        np.testing.assert_array_equal(groups, exponents)
        assert now.sweep[SWEPT] <= now.count[ARMS]
        if schedule == "duel":
            linked, arm = [], int(now.queue[OLDEST])
            while arm >= 0:
                linked.append(arm)
                arm = int(now.newer[arm])
            assert sorted(linked) == sorted(arms)
            assert (np.diff(now.start[linked]) >= 0).all()
            assert now.queue[NEWEST] == (linked[-1] if linked else -1)


CASES = [
    (thrifty.ThompsonSampling(), "scan", None),
    (thrifty.ThompsonSampling(law="beta"), "sleepers", None),
    (thrifty.ThompsonSampling(), "sleepers", (0.5, 1.0)),
    (thrifty.EpsilonTS(epsilon=0.3), "sleepers", None),
    (thrifty.ExpTSPlus(), "scan", None),
    (thrifty.TSMA(), "tournament", None),
    (thrifty.TSMA(phi=2, sampling="batch"), "tournament", (0.5, 1.0)),
    (thrifty.TSTD(phi=3), "sleepers", None),
    (thrifty.TSTD(law="beta", phi=2), "sleepers", (0.5, 1.0)),
    (thrifty.TSTD(phi=3), "scan", None),
    (thrifty.KLUCBPlusPlus(), "tournament", None),
    (thrifty.KLUCB(), "kinetic", None),
    (thrifty.UCB1Tuned(), "kinetic", (0.5, 1.0)),
    (thrifty.AdaUCB(), "scan", (0.5, 1.0)),
    (thrifty.NPTS(), "scan", (0.5, 1.0)),
    (thrifty.SlidingWindowUCB(5), "scan", None),
    (thrifty.DirichletSampling(), "scan", None),
    (thrifty.DMED(), "scan", None),
    (thrifty.Binarised(thrifty.TSMA(law="beta")), "tournament", None),
]


@pytest.mark.parametrize("examples", [5, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("policy", "engine", "prior"), CASES, ids=str)
def test_a_bandit_is_a_dictionary_with_opinions(
    policy: Policy, engine: str, prior: Any, examples: int
) -> None:
    machine = type("Machine", (Machine,), {"policy": policy, "engine": engine, "prior": prior})
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=40))
