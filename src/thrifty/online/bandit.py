"""``thrifty.Bandit``: decisions for a program that is running, rewards whenever they come."""

import os
import secrets
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thrifty import checks
from thrifty.engines.state import Floats, Integers, Rule, policy_stream
from thrifty.errors import InvalidType, InvalidValue
from thrifty.online import snapshot
from thrifty.online.core import Core
from thrifty.online.ids import Ids
from thrifty.online.posterior import PosteriorCore
from thrifty.online.rewards import Rewards
from thrifty.policies import HorizonPolicy, Policy, first_guess

Prior = tuple[float, float] | tuple[Sequence[float] | Floats, Sequence[float] | Floats | float]


class Bandit:
    """A policy at work: ``select`` an arm, ``update`` it with its reward, in any order and with any delay.

    ``arms`` is their number, or their ids. Without a ``horizon``, policies that need one guess it and double the
    guess whenever it is reached. ``prior=(mean, weight)`` gives every arm pseudo-observations, so that none has to be
    pulled first (either may be a sequence, with an entry for each arm). ``statistics`` is a warm start: what
    ``statistics()`` of another bandit returned, or a table with the columns arm, pulls and mean. Rewards are in
    ``reward_range``, which policies see as [0, 1]; None leaves them as they are.

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
        prior: Prior | None = None,
        reward_range: tuple[float, float] | None = (0.0, 1.0),
        *,
        statistics: Mapping[str, Any] | None = None,
        engine: str = "auto",
    ) -> None:
        if not isinstance(policy, Policy):
            raise InvalidType(f"policy must be a policy such as TSMA(), got {checks.shown(policy)}")
        self._policy = policy
        self._ids = Ids(arms)
        self._rewards = Rewards(policy, reward_range)
        self._known = horizon is not None or not isinstance(policy, HorizonPolicy)
        self._horizon = (
            first_guess(len(self._ids))
            if horizon is None
            else checks.integer("horizon", horizon, at_least=1, at_most=checks.COUNT)
        )
        self._seed = secrets.randbits(63) if seed is None else checks.integer("seed", seed, at_least=0)
        self._t = 0
        self._one, self._reward = np.zeros(1, np.int64), np.zeros(1)
        self._prior: tuple[float, float] | None = None
        priors = self._read_prior(prior)
        law = getattr(policy, "law", "")
        if isinstance(law, str):
            name = policy.engine_for(len(self._ids), engine)
            stream = policy_stream(self._seed, 0)
            self._core: Core | PosteriorCore = Core(policy, self._rule(), stream, name, priors)
        else:
            checks.choice("engine", engine, ("auto", "scan"))
            if prior is not None:
                raise InvalidValue("prior must be None with a posterior of your own, which has its own")
            self._core = PosteriorCore(law, self._rule(), self._seed, self._ids)
        if statistics is not None:
            self._warm(statistics)
        elif prior is not None:
            self._core.begin()

    def __len__(self) -> int:
        """The number of arms."""
        return len(self._ids)

    def __repr__(self) -> str:
        return f"<Bandit of {len(self):,} arms, {self._policy!r}, {self._t:,} decisions>"

    @property
    def policy(self) -> Policy:
        return self._policy

    @property
    def engine(self) -> str:
        """How the best arm is found."""
        return self._core.engine

    @property
    def decisions(self) -> int:
        """How many were made."""
        return self._t

    @property
    def horizon(self) -> int | None:
        """The horizon in use, guessed or given; None if the policy needs none."""
        return self._horizon if isinstance(self._policy, HorizonPolicy) else None

    def select(self) -> Any:
        """The id of the arm to pull now."""
        self._renew()
        self._core.select(self._t, self._one)
        self._t += 1
        return self._ids.name(self._one.item(0))

    def select_many(self, count: int) -> list[Any]:
        """The ids of the arms to pull in the next ``count`` decisions, none of whose rewards is known."""
        count = checks.integer("count", count, at_least=0)
        out = np.empty(count, np.int64)
        done = 0
        while done < count:
            self._renew()
            part = count - done if self._known else min(count - done, self._horizon - self._t)
            self._core.select(self._t, out[done : done + part])
            done += part
            self._t += part
        return self._ids.names(out)

    def update(self, arm: Hashable, reward: float) -> None:
        """A pull of this arm gave this reward. A pull that ``select`` did not ask for is welcome too."""
        number = self._ids.number(arm)
        self._reward[0] = self._rewards.read(reward)
        self._one[0] = number
        self._core.update(self._one, self._reward)

    def update_many(self, arms: Iterable[Hashable], rewards: Iterable[float]) -> None:
        """Many rewards at once, in order. If one of them is refused, none is taken."""
        numbers = self._ids.numbers(arms)
        values = self._rewards.read_many(rewards)
        if numbers.size != values.size:
            raise InvalidValue(
                f"arms and rewards must be equally many, got {numbers.size} arms and {values.size} rewards"
            )
        self._core.update(numbers, values)

    def add_arm(self, arm: Hashable, prior: tuple[float, float] | None = None) -> None:
        """A new arm; where arms have priors of their own, with its prior."""
        self._ids.check_new(arm)
        own = self._check_own_prior(prior)
        self._core.add(own)
        self._ids.add(arm)
        self._core.follow(self._rule())

    def remove_arm(self, arm: Hashable) -> None:
        """An arm goes, with its statistics. Rewards of its pulls that come later are refused as unknown."""
        number = self._ids.number(arm)
        if len(self) == 1:
            raise InvalidValue(f"a bandit must keep at least one arm, got the last one, {checks.shown(arm)}")
        self._ids.remove(arm, self._core.remove(number))
        self._core.follow(self._rule())

    def statistics(self) -> dict[str, Any]:
        """Columns of equal length: arm, pulls, mean (of its rewards; NaN without any), draws and pending pulls."""
        pulls = self._core.pulls.copy()
        with np.errstate(invalid="ignore"):
            means = self._rewards.shown(self._core.sums / pulls)
        return {
            "arm": self._ids.names(),
            "pulls": pulls,
            "mean": means,
            "draws": self._core.draws.copy(),
            "pending": self._core.pending.copy(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file (.npz), from which ``load`` goes on as if nothing had happened."""
        snapshot.save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Bandit":
        """The bandit that ``save`` wrote."""
        bandit = cls.__new__(cls)
        snapshot.restore(bandit, path)
        return bandit

    def _rule(self) -> Rule:
        mean, weight = self._prior or (0.0, 0.0)
        rule = self._policy.rule(len(self._ids), self._horizon)
        return rule._replace(prior_mean=mean, prior_weight=weight)

    def _renew(self) -> None:
        """When a guessed horizon is reached, double it and make parameters and indices anew."""
        if self._t >= self._horizon and not self._known:
            self._horizon *= 2
            self._core.follow(self._rule())
            self._core.begin()

    def _read_prior(self, prior: object) -> NDArray[np.float64] | None:
        """A prior for all arms is kept here; priors for each are returned."""
        if prior is None:
            return None
        if not isinstance(prior, Sequence) or len(prior) != 2:
            raise InvalidType(f"prior must be None or a pair (mean, weight), got {checks.shown(prior)}")
        if not any(isinstance(part, Iterable) for part in prior):
            self._prior = self._rewards.read_prior(prior[0], prior[1])
            return None
        k = len(self._ids)
        columns = [
            np.array(checks.numbers(name, part)) if isinstance(part, Iterable) else np.full(k, checks.number(name, part))
            for name, part in zip(("prior mean", "prior weight"), prior, strict=True)
        ]
        for name, column in zip(("mean", "weight"), columns, strict=True):
            if column.size != k:
                raise InvalidValue(f"prior {name} must have an entry for each of the {k} arms, got {column.size}")
        pairs = [self._rewards.read_prior(mean, weight) for mean, weight in zip(*columns, strict=True)]
        return np.array(pairs)

    def _check_own_prior(self, prior: object) -> tuple[float, float] | None:
        own = isinstance(self._core, Core) and self._core.has_priors
        if prior is None:
            if own:
                raise InvalidValue("prior must be (mean, weight): the arms of this bandit have one each, got None")
            return None
        if not own:
            raise InvalidValue(f"prior must be None: the arms of this bandit have none of their own, got {prior!r}")
        if not isinstance(prior, Sequence) or len(prior) != 2:
            raise InvalidType(f"prior must be a pair (mean, weight), got {checks.shown(prior)}")
        return self._rewards.read_prior(prior[0], prior[1])

    def _warm(self, statistics: Mapping[str, Any]) -> None:
        """Begin with the pulls and means of before. Arms without any come last: they are pulled first."""
        if not isinstance(statistics, Mapping) or not {"arm", "pulls", "mean"} <= set(statistics):
            raise InvalidType("statistics must be a table with the columns arm, pulls and mean")
        if isinstance(self._core, PosteriorCore):
            raise InvalidValue("statistics must be None with a posterior of your own: tell it the rewards")
        numbers = self._ids.numbers(list(statistics["arm"]))
        pulls, means = np.asarray(statistics["pulls"]), np.asarray(statistics["mean"], float)
        if not numbers.shape == pulls.shape == means.shape or np.unique(numbers).size < numbers.size:
            raise InvalidValue("statistics must have columns of equal length and no arm twice")
        if pulls.dtype.kind not in "iu" or (pulls < 0).any():
            raise InvalidValue(f"statistics must have whole, non-negative pulls, got {checks.shown(pulls.tolist())}")
        counts, sums = np.zeros(len(self), np.int64), np.zeros(len(self))
        counts[numbers] = pulls
        pulled = pulls > 0
        sums[numbers[pulled]] = pulls[pulled] * self._rewards.read_means(means[pulled])
        if self._core.needs_pulls:
            order = np.argsort(counts == 0, kind="stable")
            if (order != np.arange(order.size)).any():
                self._ids = Ids(self._ids.names(order))
            counts, sums = counts[order], sums[order]
        self._core.warm(counts, sums)
