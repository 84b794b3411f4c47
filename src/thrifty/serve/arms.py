"""A policy at work on the arms of an experiment, by their serials: all that is asked of the library."""

import inspect
import re
import secrets
from collections.abc import Iterable
from contextlib import suppress
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats, Integers
from thrifty.engines.entries import UNKNOWN
from thrifty.errors import InvalidCall, InvalidType, InvalidValue
from thrifty.online import eligible, known
from thrifty.online.core import Core
from thrifty.online.ids import Ids
from thrifty.online.player import new_player
from thrifty.online.rewards import Rewards
from thrifty.online.shares import Shares, read_control, read_floor
from thrifty.policies import Forgetting, Policy, compiled, described
from thrifty.serve import own
from thrifty.serve.fold import Tally
from thrifty.serve.messages import Definition
from thrifty.serve.singles import Key, Singles, coin, rounded
from thrifty.state.fading import LEAST

ENTRIES = (
    "select_many", "pick", "uniform", "chance", "update", "update_many", "observe", "cancel", "pause",
    "resume", "add", "remove", "rebuild", "renew",
)  # fmt: skip


def read_policy(table: Any) -> Policy:
    """The policy that a table describes. Nothing is imported: it is thrifty's, or one that is listed."""
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        raise InvalidType(f'policy must be like {{"name": "TSMA"}}, got {checks.shown(table)}')
    name = table["name"]
    kind = own.find(name)
    if kind is None:
        raise InvalidValue(
            "policy.name must be one of `thrifty policies`, or a module:Class that the configuration lists, "
            f"got {checks.shown(name)}"
        )
    given = {
        key: read_policy(value)
        if isinstance(value, dict)
        else tuple(value)
        if isinstance(value, list)
        else value
        for key, value in table.items()
        if key != "name"
    }
    known = [*inspect.signature(kind).parameters]
    if unknown := [key for key in given if key not in known]:
        raise InvalidValue(f"policy.{unknown[0]} must be one of {', '.join(known) or 'nothing'} for {name}")
    try:
        policy = kind(**given)
    except (InvalidValue, TypeError) as error:
        kind_of = InvalidValue if isinstance(error, InvalidValue) else InvalidType
        begins = "policy." if re.match("[a-z_]+ must ", str(error)) else f"policy {name}: "  # a parameter
        raise kind_of(f"{begins}{error}") from None
    _check_foldable(policy)
    return policy


def _check_foldable(policy: Policy) -> None:
    """Its state must follow from the set of rewards, in any order."""
    inner = policy.played
    if isinstance(policy, Forgetting):
        raise InvalidValue(
            f"policy must not forget by the number of decisions: half_life is in seconds, got {policy!r}"
        )
    functions = inner.functions()
    asked = {name for function in functions.values() for name in compiled.asked(function)}
    if asked & {"last", "own"} or inner.components or "observed" in functions or not inner.ranks:
        raise InvalidValue(
            "policy must be one whose state follows from the set of rewards, whatever their order, "
            f"got {policy!r}"
        )
    if policy.told:
        raise InvalidValue(f"policy must not be one that is told the problem, got {policy!r}")


def needs_singles(policy: Policy) -> bool:
    """Whether counts and sums are not enough for it: rewards are kept, or rounded one by one."""
    return policy.keeps_rewards or policy.resolve(2, 2).grid > 0


def table_of(policy: Policy) -> dict[str, Any]:
    """One spelling of a policy."""
    return described(policy)


class Chosen(NamedTuple):
    """A decision."""

    arms: list[int]  # their serials, the best first
    control: bool  # whether control chose them
    probability: float | None  # of the first, if that was asked for


class Arms:
    """The arms that are there, with what the policy keeps of them. ``control_arm`` is a serial."""

    def __init__(
        self,
        policy: Policy,
        definition: Definition,
        serials: Integers,
        control_arm: int | None,
        paused: Iterable[int],
        tally: Tally,
        now: int,
        singles: Singles | None = None,
    ) -> None:
        """``singles`` has all rewards, for a policy that needs them."""
        plain = bool((serials == np.arange(serials.size)).all())
        policy.check_arms(serials.size)
        policy.check_prior(given=definition.prior is not None)
        self._ids = Ids(serials.size if plain else serials.tolist())
        self._rewards = Rewards(policy, definition.reward_range)
        prior, _ = known.read_prior(definition.prior, serials.size, self._rewards)
        self._shares = Shares(definition.control, control_arm, definition.floor, self._ids)
        seed = secrets.randbits(63)  # another one at every start: the random stream is no state
        self._player = new_player(
            policy, self._ids, definition.horizon, seed, prior, None, None, "auto", definition.burn_in
        )
        self._core.load(*ENTRIES)  # now, and not within somebody's decision
        self._grid = policy.resolve(2, 2).grid
        self._learn(tally, serials, now, singles)
        self._drawn = self._dense = self._resting = 0
        for arm in paused:
            self.pause(arm)

    @property
    def _core(self) -> Core:
        core = self._player.core
        assert isinstance(core, Core)
        return core

    def _left(self, tally: Tally, serials: Integers, now: int) -> tuple[Floats, Floats, Floats]:
        """What is left of the pulls, and of the sums and the squares in the unit of the policy."""
        return in_units(self._rewards, tally.pulls[serials], *tally.left(serials, now))

    def revise(self, serials: Integers, tally: Tally, now: int) -> None:
        """What is left of arms that have rewards."""
        self._player.revise(self._ids.numbers(serials.tolist()), *self._left(tally, serials, now))

    def _learn(self, tally: Tally, serials: Integers, now: int, singles: Singles | None) -> None:
        """What the log says of them."""
        pending = np.maximum(tally.decided[serials] - tally.closed[serials], 0)
        if singles is None:
            self._player.take_over(tally.pulls[serials], *self._left(tally, serials, now), pending)
        else:
            self._learn_singles(singles, serials)
            none, nothing = np.zeros(serials.size, np.int64), np.zeros(serials.size)
            self._player.take_over(none, nothing, nothing, nothing, pending)

    def _learn_singles(self, singles: Singles, serials: Integers) -> None:
        there = np.flatnonzero(np.isin(singles.arms, serials))
        units = self._rewards.read_many(singles.rewards[there])
        if self._grid:
            keys = zip(singles.starts[there].tolist(), singles.numbers[there].tolist(), strict=True)
            coins = map(coin, keys)
            units = np.array([rounded(*one) for one in zip(units.tolist(), repeat(self._grid), coins)])
        order = np.argsort(units, kind="stable")  # a reward that is larger than all before is kept at once
        arms = np.searchsorted(serials, singles.arms[there][order])  # as they are numbered here
        self._player.update_many(arms, units[order])

    def statistics(self) -> tuple[Integers, Integers, Floats, Integers]:
        """What the policy has: serials, pulls, sums of rewards and pending pulls."""
        core, rewards = self._core, self._rewards
        serials = np.array(self._ids.names(), np.int64)
        return (
            serials,
            core.pulls.copy(),
            rewards.zero * core.pulls + rewards.width * core.sums,
            core.pending.copy(),
        )

    @property
    def draws(self) -> int:
        """Posterior draws that were made: with many arms far fewer than one of each in a decision."""
        return self._core.evaluations

    @property
    def engine(self) -> str:
        return self._core.engine

    def drawn(self) -> tuple[int, int]:
        """Posterior draws since this was last asked; and how many one for each arm that could be chosen would
        have been, in each decision of the policy."""
        before, self._drawn = self._drawn, self.draws
        dense, self._dense = self._dense, 0
        return self._drawn - before, dense

    def decide(
        self,
        rounds: int,
        size: int,
        among: list[int] | None,
        exclude: list[int] | None,
        *,
        probability: bool = False,
    ) -> list[Chosen]:
        """So many decisions. With ``probability`` they say how likely they were; refused before the first is
        made if nobody can tell."""
        player, names, shares = self._player, self._ids.names, self._shares
        if size == 1 and among is None and exclude is None and not shares.at_work and not probability:
            self._dense += rounds * (len(self._ids) - self._resting)
            if rounds == 1:
                return [Chosen([self._ids.name(player.select())], False, None)]
            return [Chosen([arm], False, None) for arm in player.select_many(rounds, names)]
        who = eligible.read(self._ids, (among, exclude))
        control = None if shares.arm is None else self._ids.number(shares.arm)
        chosen: list[Chosen] = []
        undo = player.checkpoint(rounds - 1)  # a policy of the operator's own may fail in the middle
        try:
            for _ in range(rounds):
                chances = player.chances(who, shares, control) if probability else None
                choice = player.choose(size, who, UNKNOWN, shares, control)
                likely = None if chances is None else chances(choice.arms[0])
                if not choice.control:
                    self._dense += eligible.size(who, self._core, len(self._ids))
                chosen.append(Chosen(names(choice.arms), choice.control, likely))
        except BaseException:
            if undo is not None:
                undo()
            raise
        return chosen

    def learn(self, arm: int, reward: float, decision: Key) -> None:
        self._player.update(self._ids.number(arm), self._unit(reward, decision))

    def observe(self, arm: int, reward: float, decision: Key) -> None:
        """The reward of a decision that the policy never heard of."""
        self._player.observe(self._ids.number(arm), self._unit(reward, decision))

    def _unit(self, reward: float, decision: Key) -> float:
        """A reward in the unit of the policy. It was checked when it came: a policy that came meanwhile and
        wants others has to live with it, as it does with those of before. Where it would throw a coin, the
        decision's id has done so."""
        least, most = self._rewards.limits
        unit = min(max((reward - self._rewards.zero) / self._rewards.width, least), most)
        return rounded(unit, self._grid, coin(decision)) if self._grid else unit

    def expect(self, arm: int) -> None:
        """A decision on this arm that was made by another policy."""
        self.decide(1, 1, [arm], None)

    def cancel(self, arm: int) -> None:
        self._player.cancel(self._ids.number(arm))

    def add(self, serials: list[int]) -> None:
        self._player.add(np.zeros((len(serials), 2)))
        self._ids.add(serials)
        self._player.settle()

    def remove(self, arm: int) -> None:
        number = self._ids.number(arm)
        self._ids.remove(number, self._player.remove(number))
        self._resting = self._core.resting

    def pause(self, arm: int) -> None:
        self._core.pause(self._ids.number(arm))
        self._resting = self._core.resting

    def resume(self, arm: int) -> None:
        self._core.resume(self._ids.number(arm))
        self._resting = self._core.resting

    def set_shares(self, control: float, floor: float) -> None:
        self._shares.change(control, floor)


def in_units(
    rewards: Rewards, pulls: Integers, weight: Floats, sums: Floats, squares: Floats
) -> tuple[Floats, Floats, Floats]:
    """What is left of pulls, and of sums and squares of rewards, in the unit of the policy."""
    zero, width = rewards.zero, rewards.width
    weight = np.where(pulls > 0, np.maximum(weight, LEAST), 0.0)
    with np.errstate(invalid="ignore"):  # none times infinity
        least, most = (np.where(weight > 0.0, end * weight, 0.0) for end in rewards.limits)
    squares = (squares - 2.0 * zero * sums + zero * zero * weight) / width / width  # may be tiny
    sums = np.clip((sums - zero * weight) / width, least, most)  # as it is rounded
    return weight, sums, np.maximum(squares, 0.0)


def check_half_life(policy: Policy, definition: Definition) -> None:
    """Whether rewards of this policy may fade."""
    if definition.half_life is None:
        return
    if needs_singles(policy):
        raise InvalidValue(f"half_life must be null for {policy!r}, which needs single rewards")
    if Forgetting(policy).needs_prior and definition.prior is None:
        raise InvalidValue(f"prior must be [mean, weight] for {policy!r} with a half_life, got null")


def check_shares(control: float, floor: float, arms: int) -> None:
    """Whether they may be these, with so many arms."""
    read_control(control)
    read_floor(floor, arms)


class Range:
    """The rewards that an experiment takes."""

    def __init__(self, policy: Policy, reward_range: tuple[float, float] | None) -> None:
        self.rewards = Rewards(policy, reward_range)

    def check(self, name: str, reward: float) -> float:
        """The reward itself, if it may be one."""
        self.rewards.read(reward, name)
        return reward + 0.0


def rehearse(policy: Policy) -> None:
    """Decide and learn a little: all that probabilities take is compiled then, or loaded."""
    arms = max(3, policy.least_arms)
    prior = (0.5, 1.0) if policy.needs_prior else None
    tally = Tally()
    tally.reach(arms)
    definition = Definition(policy={}, arms=arms, prior=prior, control=0.5)
    played = Arms(policy, definition, np.arange(arms), None, (), tally, 0)
    for arm in range(arms):
        played.observe(arm, float(arm % 2), (0, arm))
    with suppress(InvalidCall):  # nobody can tell
        for among, exclude in ((None, None), (None, [0]), ([0, 1], None)):
            played.decide(1, 1, among, exclude, probability=True)
