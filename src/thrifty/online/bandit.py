"""``thrifty.Bandit``: decisions for a program that is running, rewards whenever they come."""

import copy
import os
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.engines.entries import KNOWN, NOBODY, UNKNOWN
from thrifty.errors import InvalidValue
from thrifty.interrupts import uninterrupted
from thrifty.online import decisions, eligible, forks, known, outlook, shown, snapshot
from thrifty.online.decisions import Decision, Open
from thrifty.online.eligible import ALL
from thrifty.online.ids import MOST, Ids
from thrifty.online.inputs import sequence
from thrifty.online.ledger import Ledger
from thrifty.online.lift import Lift
from thrifty.online.locks import BUSY, IDLE, Lock, locked, reading
from thrifty.online.player import Player, new_player
from thrifty.online.rewards import Rewards
from thrifty.online.shares import Shares, read_burn_in, read_control, read_floor
from thrifty.policies import Policy, checked

PENDING_FOR = 1000  # decisions, unless said otherwise


class Bandit:
    """A policy at work: ``select`` an arm, ``update`` it with its reward, in any order and with any delay.

    Parameters:
        policy: such as ``TSMA()``.
        arms: their number, or their ids.
        horizon: how many decisions there will be. Without one, policies that need it guess it and double the
            guess whenever it is reached.
        seed: of the random numbers; without one, nobody knows them.
        prior: ``(mean, weight)`` of pseudo-observations that every arm has, so that none has to be pulled
            first. Either may be a sequence, with an entry for each arm.
        reward_range: the lowest and the highest reward, which policies see as 0 and 1; with None any number
            is a reward.
        statistics: a warm start: what ``statistics()`` of another bandit returned, or a table (a mapping, a
            DataFrame) with the columns arm, pulls and mean.
        pending_for: a pull whose reward is not there yet counts in so many decisions and then no more, as its
            reward may be lost; with None it counts for ever.
        engine: how the best arm is found: "scan", "tournament", "kinetic" or "sleepers", if it runs the
            policy. "auto" picks the fastest.
        control: the share of decisions that are made at random, to compare the policy with; ``decide`` marks
            them, and ``lift`` compares.
        control_arm: control pulls this arm, and not one at random.
        floor: every eligible arm has at least this probability in every decision; at most 1/K.
        burn_in: an arm with fewer pulls than this goes before the policy's choice.
        probabilities: whether what ``probability`` needs is made at the beginning, and not when it is first
            called.

    >>> import thrifty
    >>> bandit = thrifty.Bandit(thrifty.TSMA(), arms=["red", "green"], seed=1)
    >>> [bandit.select(), bandit.select()]
    ['red', 'green']
    >>> bandit.update("green", 1.0)
    >>> bandit.statistics()["pending"].tolist()
    [1, 0]
    """

    def __init__(
        self,
        policy: Policy,
        arms: int | Iterable[Hashable],
        horizon: int | None = None,
        seed: int | None = None,
        prior: known.Prior | None = None,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        *,
        statistics: Any = None,
        pending_for: int | None = PENDING_FOR,
        engine: str = "auto",
        control: float = 0.0,
        control_arm: Hashable = None,
        floor: float = 0.0,
        burn_in: int = 0,
        probabilities: bool = False,
    ) -> None:
        policy = checked("policy", policy)
        seed = _read_seed(seed)
        self._ids = Ids(arms)
        policy.check_arms(len(self._ids))
        policy.check_prior(given=prior is not None)
        self._rewards = Rewards(policy, reward_range)
        self._pending_for = _read_pending_for(pending_for)
        pair, priors = known.read_prior(prior, len(self._ids), self._rewards)
        self._ledger = Ledger(Shares(control, control_arm, floor, self._ids))
        burn_in = read_burn_in(burn_in)
        self._player = new_player(
            policy, self._ids, horizon, seed, pair, priors, self._pending_for, engine, burn_in
        )
        if statistics is not None:
            self._learn(statistics, warm=True)
        elif prior is not None:
            self._player.core.begin()
        if checks.flag("probabilities", probabilities):
            self._player.expect_questions(self._ledger.shares)
        self._make_lock()

    def _learn(self, statistics: Any, *, warm: bool) -> None:
        self._player.check_learns(ranged=self._rewards.range is not None)
        self._player.learn(*known.read_statistics(statistics, self._ids, self._rewards), warm=warm)

    def _make_lock(self) -> None:
        """A lock, held during each call."""
        core, ledger = self._player.core, self._ledger

        def part(seed: int) -> None:  # a forked process from the other
            core.reseed(seed)
            ledger.open.renew()

        self._lock = Lock(part)
        forks.watch(self._lock)

    def __len__(self) -> int:
        """The number of arms."""
        return len(self._ids)

    @reading
    def __contains__(self, arm: object) -> bool:
        """Whether there is an arm with this id."""
        try:
            return arm in self._ids
        except TypeError:  # not hashable, so not an id
            return False

    def __iter__(self) -> Iterator[Any]:
        """The ids of the arms."""
        return iter(self.arms)

    def __repr__(self) -> str:
        return f"<Bandit of {len(self):,} arms, {self.policy!r}, {self.decisions:,} decisions>"

    def _repr_html_(self) -> str:
        return shown.bandit_table(self)

    @property
    @reading
    def arms(self) -> list[Any]:
        """The ids of the arms, in the order of ``statistics``."""
        return self._ids.names()

    @property
    def policy(self) -> Policy:
        return self._player.policy

    @property
    def engine(self) -> str:
        """How the best arm is found."""
        return self._player.core.engine

    @property
    @reading
    def decisions(self) -> int:
        """How many were made."""
        return self._player.t - self._player.before

    @property
    def horizon(self) -> int | None:
        """The horizon in use, guessed or given; None if the policy needs none."""
        return self._player.horizon if self.policy.needs_horizon else None

    def select(
        self, among: Iterable[Hashable] | None = None, exclude: Iterable[Hashable] | None = None
    ) -> Any:
        """The id of the arm to pull now: one ``among`` these ids, or of all, and none to ``exclude``."""
        given: eligible.Some = ALL
        if among is None and type(exclude) is list and exclude:  # most callers: they are spared a call
            given = None, exclude
        elif among is not None or exclude is not None:
            given = eligible.some(among, exclude)
        lock = self._lock  # as in ``locked``, which says why, without a call of its own
        turn = lock.turn
        try:
            turn.acquire()
            if lock.state:
                lock.prepare()
            try:
                lock.state = BUSY
                if self._ledger.shares.at_work:
                    return self._chosen(1, given, UNKNOWN)[0]
                if given is ALL:
                    arm = self._player.select()
                    return arm if self._ids.plain else self._ids.name(arm)
                if (ids := self._ids).plain:
                    try:
                        return self._player.pick(1, given, UNKNOWN)[0]
                    except eligible.Unread:
                        pass
                return ids.name(self._player.pick(1, eligible.read(ids, given), UNKNOWN)[0])
            except BaseException:
                self._player.catch_up()
                raise
            finally:
                lock.state = IDLE
        finally:
            try:
                turn.release()
            except RuntimeError:
                pass  # it was interrupted while it waited

    def rank(
        self, k: int, among: Iterable[Hashable] | None = None, exclude: Iterable[Hashable] | None = None
    ) -> list[Any]:
        """The ids of ``k`` different arms, the best first: those with the largest indices of one round, of
        the arms ``among`` these ids, or of all, without those to ``exclude``. Each is a pull of its own."""
        count = k if type(k) is int and 0 < k <= MOST else checks.integer("k", k, at_least=1, at_most=MOST)
        given = ALL if among is None and exclude is None else eligible.some(among, exclude)
        return self._pick(count, given, UNKNOWN)

    def _pick(self, count: int, given: eligible.Some, hands: int) -> list[Any]:
        lock = self._lock
        turn = lock.turn
        try:
            turn.acquire()
            if lock.state:
                lock.prepare()
            try:
                lock.state = BUSY
                if self._ledger.shares.at_work or (count == 1 and given is ALL):
                    return self._chosen(count, given, hands)
                if (ids := self._ids).plain:
                    try:
                        return self._player.pick(count, given, hands)
                    except eligible.Unread:
                        pass
                return ids.names(self._player.pick(count, eligible.read(ids, given), hands))
            except BaseException:
                self._player.catch_up()
                raise
            finally:
                lock.state = IDLE
        finally:
            try:
                turn.release()
            except RuntimeError:
                pass  # it was interrupted while it waited

    def _chosen(self, count: int, given: eligible.Some, hands: int) -> list[Any]:
        """The ids of so many arms, handed out or not, by the policy or somebody else."""
        shares = self._ledger.shares
        if hands != NOBODY:
            shares.check_id()
        who = eligible.read(self._ids, given)
        return self._ids.names(self._player.choose(count, who, hands, shares, self._control_arm).arms)

    @property
    def _control_arm(self) -> int | None:
        """Its number."""
        arm = self._ledger.shares.arm
        return None if arm is None else self._ids.number(arm)

    @locked
    def pause(self, arm: Hashable) -> None:
        """``arm`` is not chosen until it is resumed. It keeps its statistics, and takes its rewards."""
        if not self.policy.ranks:
            eligible.refuse(self.policy)
        number = self._ids.number(arm)
        if not self._player.core.is_paused(number):
            self._check_left(arm)
            self._player.core.pause(number)

    def _check_left(self, arm: Hashable) -> None:
        if self._player.core.resting == len(self) - 1:
            raise InvalidValue(
                f"at least one arm must be left that is not paused, got the last one, {checks.shown(arm)}"
            )

    @locked
    def resume(self, arm: Hashable) -> None:
        """``arm`` may be chosen again."""
        number = self._ids.number(arm)
        if self._player.core.is_paused(number):
            self._player.core.resume(number)

    @property
    @reading
    def paused(self) -> list[Any]:
        """The ids of the arms that are paused."""
        return self._ids.names(np.flatnonzero(self._player.core.paused).tolist())

    @locked
    def select_many(self, count: int) -> list[Any]:
        """The ids of the arms to pull in the next ``count`` decisions, none of whose rewards is known.

        If Ctrl-C interrupts a call of more than a moment, no decision was made.
        """
        count = checks.integer("count", count, at_least=0, at_most=MOST)
        self._ledger.shares.check_id()
        if self._ledger.shares.at_work:
            return self._play(count, 1, ALL, made=True)
        return self._player.select_many(count, self._ids.names)

    def _play(self, rounds: int, size: int, who: eligible.Eligible, *, made: bool) -> list[Any]:
        """The ids of the arms of so many decisions, each for ``size`` arms, made or only tried."""
        shares, control = self._ledger.shares, self._control_arm
        return self._ids.names(self._player.play(rounds, size, who, shares, control, made=made))

    def decide(
        self,
        count: int | None = None,
        rank: int | None = None,
        among: Iterable[Hashable] | None = None,
        exclude: Iterable[Hashable] | None = None,
        now: float | None = None,
        probability: bool = False,
    ) -> Any:
        """A ``Decision``, which has an id: the arm to pull now, and whether control chose it.

        With ``count`` a list of so many decisions, none of whose rewards is known; with ``rank`` a list of so
        many different arms, the best first, all of them chosen by control or all by the policy. Only arms
        ``among`` these ids, without those to ``exclude``, may be chosen. ``now`` is the time of the decision;
        None is that of the clock. With ``probability`` a decision also says how likely its arm was.
        """
        rounds, size = decisions.read_sizes(count, rank)
        told = checks.flag("probability", probability)
        made = self._decide(rounds, size, eligible.some(among, exclude), now, told)
        return made[0] if count is None and rank is None else made

    @locked
    def _decide(
        self, rounds: int, size: int, given: eligible.Some, now: float | None, told: bool
    ) -> list[Decision]:
        time, who = decisions.read_time("now", now), eligible.read(self._ids, given)
        made: list[Decision] = []
        player, shares, control = self._player, self._ledger.shares, self._control_arm
        t, undo = player.t, player.checkpoint(rounds - 1)
        try:
            for _ in range(rounds):
                chances = player.chances(who, shares, control) if told else None
                choice = player.choose(size, who, KNOWN, shares, control)
                self._ledger.add(self._ids, choice, time, made)
                if chances:
                    made[-size] = replace(made[-size], probability=chances(choice.arms[0]))
        except BaseException as error:
            if undo is not None:
                undo()
            if made or not isinstance(error, InvalidValue):  # else it was refused, and nothing handed out
                self._ledger.undo(player.core, self._ids, made)
            player.t = t
            raise
        return made

    def probability(
        self,
        arm: Hashable,
        among: Iterable[Hashable] | None = None,
        exclude: Iterable[Hashable] | None = None,
    ) -> float:
        """How likely ``arm`` is to be chosen by the next ``decide``, ``among`` these ids and without those to
        ``exclude``. The first call looks at all arms; ``Bandit(..., probabilities=True)`` does so at the
        beginning."""
        return self._probability(arm, eligible.some(among, exclude))

    @locked
    def _probability(self, arm: Hashable, given: eligible.Some) -> float:
        number, who = self._ids.number(arm), eligible.read(self._ids, given)
        return self._player.chances(who, self._ledger.shares, self._control_arm)(number)

    def preview(
        self,
        count: int | None = None,
        rank: int | None = None,
        among: Iterable[Hashable] | None = None,
        exclude: Iterable[Hashable] | None = None,
    ) -> Any:
        """The id of the arm that ``decide`` would choose, ``among`` these ids and without those to
        ``exclude``; with ``count`` or ``rank`` a list of ids. Nothing is pending after it, and nothing
        was learnt; random numbers are used up, and draws are counted. A ``count``, TS-TD and policies that
        make lists of arms take time in proportion to the number of arms."""
        rounds, size = decisions.read_sizes(count, rank)
        given = eligible.some(among, exclude)
        if rounds == 1 and self._player.may_look(size):
            chosen = self._pick(size, given, NOBODY)
        else:
            chosen = self._rehearse(rounds, size, given)
        return chosen[0] if count is None and rank is None else chosen

    @locked
    def _rehearse(self, rounds: int, size: int, given: eligible.Some) -> list[Any]:
        return self._play(rounds, size, eligible.read(self._ids, given), made=False)

    @locked
    def reward(self, decision: Decision | str, reward: float) -> bool:
        """A ``decision``, or the one with this id, gave ``reward``. Returns whether that was counted: not if
        the decision was closed before, and not if its arm is gone."""
        key, value = decisions.key_of(decision), self._rewards.read(reward)
        found = self._close(key, value)
        if found is None and key in self._ids:
            raise InvalidValue(
                f"decision must be a Decision or its id, got the arm {checks.shown(key)}: call update"
            )
        return found is not None and not found.arm.gone

    def _close(self, key: str, reward: float | None) -> Open | None:
        ledger, player = self._ledger, self._player
        open_ = ledger.open.get(key) if reward is None else None
        try:
            return ledger.close(player.core, self._ids, player.t, key, reward)
        finally:  # of an interruption too: it may be heard when the pull is cancelled
            if open_ is not None and not open_.arm.gone and ledger.open.get(key) is None:
                player.t -= 1

    @locked
    def expire(self, before: float, reward: float | None = None) -> int:
        """Closes the decisions that were made ``before`` this time, all of them if that is infinite: with
        ``reward``, or by cancelling them. Returns how many they were."""
        before = decisions.read_before(before)
        value = None if reward is None else self._rewards.read(reward)
        due = self._ledger.open.due(before)
        back = self._way_back() if self._player.core.is_own else None
        try:
            for key in due:
                self._close(key, value)
        except BaseException:
            if back:
                back()
            raise
        return len(due)

    def update(self, arm: Hashable, reward: float) -> None:
        """A pull of ``arm`` gave ``reward``. A pull that ``select`` did not ask for is welcome too."""
        lock = self._lock
        turn = lock.turn
        try:
            turn.acquire()
            if lock.state:
                lock.prepare()
            try:
                lock.state = BUSY
                number = arm if type(arm) is int and 0 <= arm < self._ids.plain else self._ids.number(arm)
                self._player.update(number, self._rewards.read(reward))
            except BaseException:
                self._player.catch_up(asked=False)
                raise
            finally:
                lock.state = IDLE
        finally:
            try:
                turn.release()
            except RuntimeError:
                pass  # it was interrupted while it waited

    def update_many(self, arms: Iterable[Hashable], rewards: Iterable[float]) -> None:
        """Many ``rewards`` at once, each of its arm in ``arms``, in order. If one of them is refused, none is
        taken; but where a posterior of your own refuses one, those before it have been taken."""
        self._update_all(sequence("arms", arms), sequence("rewards", rewards))  # these may take their time

    @locked
    def _update_all(self, arms: Any, rewards: Any) -> None:
        numbers = self._ids.numbers(arms)
        values = self._rewards.read_many(rewards)
        if numbers.size != values.size:
            raise InvalidValue(
                f"arms and rewards must be equally many, got {numbers.size} arms and {values.size} rewards"
            )
        try:
            self._player.update_many(numbers, values)
        except BaseException:
            self._player.catch_up(asked=False)
            raise

    @locked
    def observe(self, arm: Hashable, reward: float) -> None:
        """A pull of ``arm`` that somebody else decided on gave ``reward``. It closes no pending pull."""
        number, value = self._ids.number(arm), self._rewards.read(reward)
        try:
            self._player.observe(number, value)
        except BaseException:
            self._player.catch_up(asked=False)
            raise

    @locked
    def merge(self, statistics: Any) -> None:
        """Add what was learnt elsewhere, from pulls that this bandit has not seen. ``statistics`` is a table
        with the columns arm, pulls and mean, as for a warm start."""
        self._learn(statistics, warm=False)

    @locked
    def forget(self, keep: float) -> None:
        """Count all rewards of before for less: each arm's count and sum of rewards are multiplied by
        ``keep``, from 0 to 1. Priors stay, and so do pending pulls, whose rewards count in full; the time t
        in a formula such as UCB1's goes on, and pulls that ``burn_in`` asked for are not made again."""
        self._player.forget(checks.unit("keep", keep))

    @locked
    def reseed(self, seed: int | None = None) -> None:
        """Other random numbers from now on: those of ``seed``, or of none that anybody knows."""
        self._player.core.reseed(_read_seed(seed))

    @locked
    def cancel(self, arm: Hashable) -> bool:
        """A pull of ``arm`` that ``select`` asked for will never give a reward: forget that it was asked for.
        Or, if ``arm`` is a ``Decision``, that pull. Returns False for a decision that was closed before. The
        id of a decision is not taken: a text is the id of an arm, or refused.

        An arm on a list of DMED or Dirichlet Sampling keeps its place, so that the pull is still to come.
        """
        if isinstance(arm, Decision):
            return self._close(arm.id, None) is not None
        number = self._ids.number(arm)
        if not self._player.cancel(number):
            raise InvalidValue(
                f"arm must be one with a pending pull that has no id, or a Decision, got {checks.shown(arm)}"
            )
        return True

    def add_arm(self, arm: Hashable, prior: tuple[float, float] | None = None) -> None:
        """A new ``arm``; where arms have priors of their own, with its ``prior``, (mean, weight). The others
        keep what they have."""
        self._add([arm], prior)

    def add_arms(self, arms: Iterable[Hashable], prior: known.Prior | None = None) -> None:
        """New ``arms``, by their ids; if one of them is refused, none is added. Where arms have priors of
        their own, ``prior`` is one for all of these, or has an entry for each, as at the beginning."""
        self._add(sequence("arms", arms), prior)

    @locked
    def _add(self, arms: list[Any] | NDArray[Any], prior: known.Prior | None) -> None:
        names = self._ids.new(arms)
        self._ledger.shares.check_arms(len(self) + len(names))
        if self._player.core.has_priors == (prior is None):
            right = "(mean, weight), as every arm has one" if prior is None else "None, as no arm has its own"
            raise InvalidValue(f"prior must be {right}, got {checks.shown(prior)}")
        if not names:
            return
        pair, rows = known.read_prior(prior, len(names), self._rewards)
        player, before = self._player, len(self._ids)
        back = self._way_back() if player.core.is_own else None
        player.core.load("add")
        with uninterrupted():
            try:
                player.add(np.array([pair or (0.0, 0.0)] * len(names)) if rows is None else rows)
                self._ids.add(names)
                player.settle()
            except InvalidValue:  # an index of the user's own was not a number
                if back:
                    back()
                raise
            except BaseException:  # the handler of another signal raised it: arms that are there have ids
                if player.arms > len(self._ids):
                    self._ids.add(list(names)[len(self._ids) - before :])
                raise

    def _way_back(self) -> Callable[[], None]:
        """What undoes all that comes, for an index of the user's own."""
        ids, player = copy.deepcopy(self._ids), self._player.checkpoint(1)
        ledger = {**vars(self._ledger), "open": copy.deepcopy(self._ledger.open)}

        def back() -> None:
            self._ids = ids
            vars(self._ledger).update(ledger)
            if player:
                player()

        return back

    @locked
    def remove_arm(self, arm: Hashable) -> None:
        """``arm`` goes, with its statistics. Rewards of its pulls that come later are refused as unknown;
        those of decisions that have an id close them, and count nowhere.

        If its id comes back, it is a new arm. Late rewards that name the arm alone will count for it, and a
        posterior of your own is not told.
        """
        number = self._ids.number(arm)
        if len(self) == 1:
            raise InvalidValue(f"a bandit must keep at least one arm, got the last one, {checks.shown(arm)}")
        if not self._player.core.is_paused(number):
            self._check_left(arm)
        name = self._ids.name(number)
        self._ledger.shares.check_leaving(name)
        self._player.core.load("remove")
        with uninterrupted():
            self._ids.remove(number, self._player.remove(number))
            self._ledger.open.leave(name)

    @property
    def control(self) -> float:
        """The share of decisions that control makes. It can be changed: decisions remember theirs."""
        return self._ledger.shares.control

    @control.setter
    @locked
    def control(self, share: float) -> None:
        shares = self._ledger.shares
        shares.change(read_control(share), shares.floor)

    @property
    def floor(self) -> float:
        """The least probability of an eligible arm. It can be changed."""
        return self._ledger.shares.floor

    @floor.setter
    @locked
    def floor(self, floor: float) -> None:
        shares = self._ledger.shares
        shares.change(shares.control, read_floor(floor, len(self)))

    @reading
    def lift(self, level: float = 0.95) -> Lift:
        """What the policy gains: its mean reward minus that of control, with an interval that holds with
        probability ``level``."""
        return self._ledger.sides.lift(checks.level(level), self._rewards)

    @reading
    def statistics(self) -> dict[str, Any]:
        """Columns of equal length: arm, pulls, weight (what is left of them, if some were forgotten), mean
        (NaN without a reward), draws and pending pulls."""
        core = self._player.core
        weight = core.weight.copy()
        with np.errstate(invalid="ignore"):
            means = self._rewards.show(core.sums / weight)
        return {
            "arm": self._ids.names(),
            "pulls": core.pulls.copy(),
            "weight": weight,
            "mean": means,
            "draws": core.draws.copy(),
            "pending": core.pending.copy(),
        }

    def outlook(self, arms: Iterable[Hashable] | None = None, law: Any = None) -> dict[str, Any]:
        """What if we stopped now. Columns of equal length for these ``arms``, or the best ten: arm,
        probability (of being the best of all that are not paused) and loss, what always taking it would cost
        for each decision, in the unit of the rewards. ``law`` is the policy's, unless another is given: a
        policy without one needs it. All arms are looked at."""
        return self._outlook(None if arms is None else eligible.some(arms, None)[0], law)

    @locked
    def _outlook(self, arms: list[Any] | None, law: Any) -> dict[str, Any]:
        asked = None if arms is None else self._ids.numbers(arms, "arms")
        core = self._player.core
        numbers, chances, losses = outlook.look(core, outlook.read_law(law, self.policy), asked)
        names = self._ids.names(numbers.tolist())
        return {"arm": names, "probability": chances, "loss": self._rewards.width * losses}

    @locked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to ``path`` (.npz), from which ``load`` goes on as if nothing had happened."""
        player = self._player
        settings = snapshot.Settings(
            reward_range=self._rewards.range,
            prior=player.prior,
            horizon=player.horizon,
            guessed=player.guessed,
            before=player.before,
            t=player.t,
            pending_for=self._pending_for,
            control=self.control,
            control_arm=self._ledger.shares.arm,
            floor=self.floor,
            burn_in=player.burn_in,
        )
        whole = snapshot.Whole(player.policy, self._ids, player.core, settings, self._ledger)
        snapshot.save(path, whole)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], seed: int | None = None, policies: Iterable[type] = ()
    ) -> "Bandit":
        """The bandit that ``save`` wrote to ``path``, now or with an earlier version of thrifty, with the
        random numbers that it would have had, or those of a ``seed``. A file that says what cannot be is
        refused, and so is one that names a policy or law that is neither thrifty's own, nor among
        ``policies``, nor registered: a file never makes us import anything."""
        policy, ids, core, settings, ledger = snapshot.load(path, policies)
        bandit = cls.__new__(cls)
        bandit._ids, bandit._ledger = ids, ledger
        bandit._rewards, bandit._pending_for = Rewards(policy, settings.reward_range), settings.pending_for
        bandit._player = Player(
            policy,
            core,
            settings.horizon,
            settings.guessed,
            settings.prior,
            settings.burn_in,
            settings.t,
            settings.before,
        )
        bandit._make_lock()
        if seed is not None:
            bandit.reseed(seed)
        return bandit

    @locked
    def __getstate__(self) -> dict[str, Any]:
        """For copies, which share nothing that changes, but the ids: a copy of an id may be no id."""
        own = ("_lock",)
        shared = {id(name): name for name in ([] if self._ids.plain else self._ids.names())}
        return copy.deepcopy({name: value for name, value in vars(self).items() if name not in own}, shared)

    def __deepcopy__(self, memo: object) -> "Bandit":
        return copy.copy(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copy, in this process or another."""
        self.__dict__.update(state)
        self._player.prepare()
        self._make_lock()


def _read_seed(seed: object) -> int:
    return secrets.randbits(63) if seed is None else checks.integer("seed", seed, at_least=0)


def _read_pending_for(value: object) -> int | None:
    return None if value is None else checks.integer("pending_for", value, at_least=0, at_most=MOST)
