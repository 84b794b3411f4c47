"""Bandits at work: drive one along a simulated run, and see whether a call has changed anything."""

import copy
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numba import njit

import thrifty
from thrifty.delays import Delay
from thrifty.engines import late
from thrifty.engines.memory import COMPONENTS, Hooks, Rule, delay_stream, new_memory, reward_stream
from thrifty.numerics import random
from thrifty.online.posterior import PosteriorCore
from thrifty.policies import POLICIES, IndexPolicy, Policy
from thrifty.state.header import State, opened
from thrifty.state.history import SIZE, START

# Every policy as it is, and some with other laws and parameters; phi is small, so that phase II is reached.
EVERY: list[Policy] = [policy() for policy in POLICIES.values() if not policy.told] + [
    thrifty.ThompsonSampling(law="beta"),
    thrifty.ThompsonSampling(law="gamma"),
    thrifty.ThompsonSampling(law="inverse-gamma-flat"),
    thrifty.EpsilonTS(law="beta", epsilon=0.5),
    thrifty.TSMA(alpha=0.5, law="beta"),
    thrifty.TSMA(alpha=0.9, phi=5, sampling="batch"),
    thrifty.TSTD(phi=4),
    thrifty.TSTD(alpha=0.3, law="beta", phi=2.5),
    thrifty.IMED(family="bounded"),
    thrifty.DirichletSampling(variant="quantile"),
    thrifty.FixedArm(1),
    thrifty.ExploreThenCommit(pulls=2),
    thrifty.Binarised(thrifty.KLUCB()),
    thrifty.Forgetting(thrifty.KLUCB(), 20.0),
]
# Those whose kernels others share: what they do online is tested with the slow tests.
ALIKE = (
    thrifty.ExpTSPlus,
    thrifty.MOTSJ,
    thrifty.KLMS,
    thrifty.DiscountedTS,
    thrifty.SlidingWindowTS,
    thrifty.UCB1Tuned,
    thrifty.MOSS,
    thrifty.DMED,
    thrifty.EpsilonDecreasing,
    thrifty.Softmax,
)


def everywhere(policies: Iterable[Policy]) -> pytest.MarkDecorator:
    """Each of them on every engine that runs it."""
    cases = [
        pytest.param(
            policy,
            engine,
            id=f"{policy!r}-{engine}",
            marks=[pytest.mark.slow] if isinstance(policy, ALIKE) else [],
        )
        for policy in policies
        for engine in policy.runs_on
    ]
    return pytest.mark.parametrize(("policy", "engine"), cases)


def needs_every_reward(policy: Policy) -> bool:
    """Counts and sums are not enough."""
    return policy.keeps_rewards or "observed" in policy.played.functions()


EVERYWHERE = everywhere(EVERY)
# Those that pull every arm once, and then none again before it has a reward; and of these, those to whom the
# order of the rewards is nothing.
_patient = [
    policy
    for policy in EVERY
    if policy.resolve(2, 2).first and not isinstance(policy, thrifty.ExploreThenCommit)
]
PATIENT = everywhere(_patient)
LASTING = everywhere(policy for policy in _patient if "observed" not in policy.played.functions())


@dataclass(frozen=True)
class Widening(IndexPolicy):
    """An index that needs everything it can be given."""

    width: float = 2.0

    def index(self, n, mean, t, rng):
        noise = random.normal(rng) * self.arms / self.horizon
        return mean + np.sqrt(self.width * np.log(t + 1.0) / n) + 0.01 * noise


class Coins:
    """Rewards of 0 and 1 from the reward stream of run 0: what a simulated run on these means would pay."""

    def __init__(self, means: list[float], seed: int) -> None:
        self._means = means
        self._rng = reward_stream(seed, 0)

    def toss(self, arm: int) -> float:
        return 1.0 if random.uniform(self._rng) < self._means[arm] else 0.0


def state(bandit: thrifty.Bandit) -> State:
    """What the kernels work on."""
    return bandit._player.core.memory.state  # type: ignore[union-attr]


SCRATCH = ("listed", "left", "found", "slate", "worth")  # of decisions about some arms


def ledger(bandit: thrifty.Bandit) -> tuple[Any, ...]:
    """What a bandit knows of decisions that have an id, and of control."""
    kept, shares = bandit._ledger, bandit._ledger.shares
    opened = [
        (key, None if arm.gone else arm.name, *rest, slate and slate.seen)
        for key, (arm, *rest, slate) in kept.open.items()
    ]
    return opened, kept.sides, shares.control, shares.arm, shares.floor


def everything(bandit: thrifty.Bandit) -> tuple[Any, ...]:
    """All that a bandit consists of, to be compared."""
    core, ids = bandit._player.core, bandit._ids
    if isinstance(core, PosteriorCore):
        ring = list(core._ring), core._seen, core._again
        arms = core._arms.tobytes(), core._handed, str(core._rng.bit_generator.state), ring
    else:
        memory = copy.copy(core.memory)
        for name in ("addresses", "functions"):  # functions are looked up when they are needed
            memory.field(name)[:] = 0
        for name in SCRATCH:
            memory.field(name)[:] = 0
        memory.field("bars")[1:] = 0
        arms = memory.block.tobytes()
    names = [(type(name), name) for name in ids.names()]
    rest = (
        bandit._player.t,
        bandit._player.before,
        bandit._player.horizon,
        bandit._player.prior,
        ledger(bandit),
    )
    return arms, names, [ids.number(name) for name in ids.names()], *rest


def lasting(bandit: thrifty.Bandit) -> tuple[Any, ...]:
    """All of it that does not follow from the rest, and so is in a file."""
    core = bandit._player.core
    arms, *rest = everything(bandit)
    if not isinstance(core, PosteriorCore):
        memory = core.memory
        arms = tuple(
            memory.field(f.name).tobytes() for part in memory.components for f in part.fields if f.saved
        )
    return (arms, *rest)


@contextmanager
def refused(error: type[BaseException], match: str, *bandits: thrifty.Bandit) -> Iterator[None]:
    """A call that raises this error, with this text in it, and changes nothing."""
    before = [everything(bandit) for bandit in bandits]
    with pytest.raises(error, match=match):
        yield
    assert [everything(bandit) for bandit in bandits] == before


def warm(policy: Policy, pulls: list[int], means: list[float], **options: Any) -> thrifty.Bandit:
    """A bandit that begins with these statistics."""
    table = {"arm": range(len(pulls)), "pulls": pulls, "mean": means}
    return thrifty.Bandit(policy, len(pulls), statistics=table, **options)


def wheel(delay: Delay, seed: int = 0) -> Any:
    """The block of a state that keeps rewards that are late, of run 0."""
    delays = delay.late()
    memory = new_memory(Rule(1, 1), Hooks(), (late.LATE,), np.ones(4, np.uint64), sizes=delays.sizes)
    delays.write(memory.state, delay_stream(seed, 0))
    return memory.block


@njit
def _fill(block, out):
    now = opened(block)
    for j in range(out.size):
        out[j] = late.delay(now)


def delays_of(delay: Delay, size: int, seed: int = 0) -> Any:
    """How late the first rewards of run 0 are."""
    out = np.empty(size, np.int64)
    _fill(wheel(delay, seed), out)
    return out


def column(bandit: thrifty.Bandit, name: str) -> dict[Hashable, Any]:
    """A column of the statistics by id."""
    table = bandit.statistics()
    return dict(zip(table["arm"], table[name].tolist(), strict=True))


def decide(bandit: thrifty.Bandit, coins: Coins, rounds: int) -> list[Hashable]:
    """Decisions whose rewards are immediate."""
    chosen = []
    for _ in range(rounds):
        arm = bandit.select()
        bandit.update(arm, coins.toss(arm))
        chosen.append(arm)
    return chosen


# What is kept for a policy and its engine, but for where functions and histories are, for simulated runs, and
# for bandits alone.
APART = {"rule", "hooks", "engine", "trace", "problem", "late", "bars", "tokens", "reserve"}
FIELDS = {field.name for part in COMPONENTS if part.name not in APART for field in part.fields}
FIELDS -= {"count", "woken", "history", "spans", "used"}


def assert_same_state(first: State, second: State) -> None:
    """Everything that an engine keeps, but for the rule, and for where things are kept."""
    for name in sorted(FIELDS):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)
    for one, other in zip(first.spans, second.spans, strict=True):
        np.testing.assert_array_equal(kept(first, one), kept(second, other), err_msg="history")


def kept(now: State, span: Any) -> Any:
    """The different rewards of an arm, and how often each came."""
    return now.history[span[START] : span[START] + span[SIZE]]
