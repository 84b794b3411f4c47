"""Problems that change with the time: another one is in force from some round on, or in each round.

Rounds are counted from 1. An arm whose mean is None is not there in these rounds; when it comes back it is a
new arm, of which nothing is known.
"""

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidCall, InvalidType, InvalidValue
from thrifty.problems.base import REWARDS, Arms, Problem, checked
from thrifty.table import Table


class Timed(Problem):
    """What problems that change have: ``at(t)`` is the one in force in round t."""

    @property
    def expectations(self) -> Floats:
        raise InvalidCall(
            "the means of a problem that changes depend on the round: ask at(t)[0].expectations"
        )

    def ready(self) -> Arms:
        raise InvalidCall("what a problem that changes pays depends on the round: ask at(t)[0].ready()")

    @property
    def marks(self) -> tuple[int, ...]:
        """The rounds at which it changes at once, or stops changing, for figures."""
        return ()

    @property
    def known(self) -> tuple[Problem, ...]:
        """Problems that are in force in some rounds, by which policies are judged beforehand."""
        return (self.at(1)[0],)

    def _repr_html_(self) -> str:
        rows = [(f"{t:,}", repr(self.at(t)[0])) for t in (1, *self.marks)]
        return Table(("from round", "problem"), rows, repr(self), left=2).html()

    @property
    def rewards(self) -> str:  # type: ignore[override]
        return max((problem.rewards for problem in self.known), key=REWARDS.index)

    @property
    def family(self) -> str:  # type: ignore[override]
        families = {problem.family for problem in self.known}
        return families.pop() if len(families) == 1 else ""

    @property
    def sub_gaussian(self) -> float:
        return max(problem.sub_gaussian for problem in self.known)

    @property
    def compiled(self) -> bool:  # type: ignore[override]
        return all(problem.compiled for problem in self.known)


@dataclass(frozen=True)
class Changing(Timed):
    """A problem that changes: ``problems`` has the one in force from each round on, the first from round 1.

    An arm whose mean is None is not there in these rounds. ``Changing.along`` moves in lines,
    ``Changing.of`` asks a function.

    >>> from thrifty import Bernoulli
    >>> problem = Changing({1: Bernoulli([0.9, 0.1, None]), 5001: Bernoulli([0.1, 0.9, 0.5])})
    >>> problem.at(5000)[0].means, problem.at(5001)[0].means
    ((0.9, 0.1, None), (0.1, 0.9, 0.5))
    """

    problems: Mapping[int, Problem] | Sequence[tuple[int, Problem]]

    kind: ClassVar[str] = "changing"

    def __post_init__(self) -> None:
        given = self.problems
        pairs = given.items() if isinstance(given, Mapping) else given
        if isinstance(pairs, str) or not hasattr(pairs, "__iter__"):
            raise InvalidType(
                "problems must have a problem for each round from which on it is in force, got "
                + checks.shown(given)
            )
        clean = []
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InvalidType(
                    f"problems must be pairs of a round and a problem, got {checks.shown(pair)}"
                )
            start = checks.integer("a round of problems", pair[0], at_least=1, at_most=checks.COUNT)
            clean.append((start, _still(f"problems[{start}]", pair[1])))
        clean.sort(key=lambda pair: pair[0])
        starts = [start for start, _ in clean]
        if starts[:1] != [1] or len({*starts}) < len(starts):
            raise InvalidValue(f"problems must begin with round 1, and have each round once, got {starts}")
        for start, problem in clean:
            _same_size(f"problems[{start}]", problem, clean[0][1].size)
        object.__setattr__(self, "problems", tuple(clean))

    @staticmethod
    def along(first: Problem, last: Problem, rounds: int) -> "Along":
        """The numbers of a problem move in lines, from those of ``first``, in force in round 1, to those of
        ``last``, in force from round ``rounds`` on."""
        return Along(first, last, rounds)

    @staticmethod
    def of(function: Callable[[int], Problem], arms: int) -> "Of":
        """In each round t the problem, of so many ``arms``, is ``function(t)``. The function has to return
        the same problem whenever it is asked for the same round."""
        return Of(function, arms)

    def at(self, t: int) -> tuple[Problem, float]:
        place = bisect.bisect_right(self._starts, t)
        return self.known[place - 1], self._starts[place] if place < len(self._starts) else math.inf

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(start for start, _ in self.problems)  # type: ignore[misc]

    @cached_property
    def known(self) -> tuple[Problem, ...]:
        return tuple(problem for _, problem in self.problems)  # type: ignore[misc]

    @property
    def marks(self) -> tuple[int, ...]:
        return self._starts[1:]

    @property
    def size(self) -> int:
        return self.known[0].size


@dataclass(frozen=True)
class Along(Timed):
    """A problem whose numbers move in lines from those of ``first``, in round 1, to those of ``last``, from
    round ``rounds`` on."""

    first: Problem
    last: Problem
    rounds: int

    kind: ClassVar[str] = "changing-along"

    def __post_init__(self) -> None:
        first, last = _still("first", self.first), _still("last", self.last)
        if type(first) is not type(last):
            raise InvalidType(
                f"first and last must be problems of one kind, got {first.kind} and {last.kind}"
            )
        _same_size("last", last, first.size)
        object.__setattr__(
            self, "rounds", checks.integer("rounds", self.rounds, at_least=2, at_most=checks.COUNT)
        )
        for field in fields(first):  # type: ignore[arg-type]
            _check_way(field.name, getattr(first, field.name), getattr(last, field.name))

    def at(self, t: int) -> tuple[Problem, float]:
        if t >= self.rounds:
            return self.last, math.inf
        return self._between((t - 1) / (self.rounds - 1)), t + 1

    def _between(self, share: float) -> Problem:
        """What is there when this share of the way is done."""
        if share <= 0.0:
            return self.first
        names = [field.name for field in fields(self.first)]  # type: ignore[arg-type]
        there = {name: _between(getattr(self.first, name), getattr(self.last, name), share) for name in names}
        return replace(self.first, **there)  # type: ignore[type-var]

    def track(self, start: int, stop: int) -> tuple[Floats, Floats] | None:
        """Rounds ``start`` to ``stop`` - 1 at once: what kernels know of the arms, (round, arm, 2), and the
        gaps, (round, arm). None if means are not simply the first of these numbers, as with Beta rewards."""
        ends = [(problem.ready(), problem.expectations) for problem in (self.first, self.last)]
        if any(arms.values.size or not np.array_equal(arms.params[:, 0], means) for arms, means in ends):
            return None
        share = ((np.arange(start, stop) - 1) / (self.rounds - 1))[:, None, None]
        first, last = (arms.params for arms, _ in ends)
        params = np.where(first == last, first, (1.0 - share) * first + share * last)
        means = params[:, :, 0]
        return params, means.max(axis=1, keepdims=True) - means

    @property
    def known(self) -> tuple[Problem, ...]:
        return self.first, self.last

    @property
    def marks(self) -> tuple[int, ...]:
        return (self.rounds,)

    @property
    def size(self) -> int:
        return self.first.size


@dataclass(frozen=True)
class Of(Timed):
    """A problem that is ``function(t)`` in round t, of so many ``arms``."""

    function: Callable[[int], Problem]
    arms: int

    kind: ClassVar[str] = "changing-of"

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InvalidType(f"function must be a function of the round, got {checks.shown(self.function)}")
        if not hasattr(self.function, "__qualname__"):  # by which files call it
            raise InvalidType(f"function must have a name, as from def, got {checks.shown(self.function)}")
        object.__setattr__(self, "arms", checks.integer("arms", self.arms, at_least=1, at_most=2**31))

    def at(self, t: int) -> tuple[Problem, float]:
        name = f"function({t})"
        problem = _still(name, self.function(t))
        _same_size(name, problem, self.arms)
        return problem, t + 1

    @property
    def size(self) -> int:
        return self.arms


def _still(name: str, problem: object) -> Problem:
    """A problem that does not change itself, in which some arm is there."""
    found = checked(name, problem)
    if isinstance(found, Timed):
        raise InvalidType(f"{name} must be a problem that does not change itself, got {checks.shown(found)}")
    if np.isnan(found.expectations).all():
        raise InvalidValue(f"{name} must have at least one arm that is there, got {checks.shown(found)}")
    return found


def _same_size(name: str, problem: Problem, arms: int) -> None:
    if problem.size != arms:
        raise InvalidValue(
            f"{name} must have {arms} arms, as the others have (None for those that are not there), got "
            f"{problem.size}"
        )


def _check_way(name: str, first: Any, last: Any) -> None:
    """Numbers, or sequences of as many numbers, between which there is a line."""
    if isinstance(first, tuple) and isinstance(last, tuple):
        if len(first) != len(last):
            raise InvalidValue(
                f"{name} of first and last must be equally many, got {len(first)} and {len(last)}"
            )
        for i, (one, other) in enumerate(zip(first, last, strict=True)):
            _check_way(f"{name}[{i}]", one, other)
    elif first != last and not (_is_number(first) and _is_number(last)):
        raise InvalidValue(
            f"{name} must be a number in first and in last, or the same, got {checks.shown(first)} and "
            f"{checks.shown(last)}"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _between(first: Any, last: Any, share: float) -> Any:
    if first == last:
        return first
    if isinstance(first, tuple):
        return tuple(_between(one, other, share) for one, other in zip(first, last, strict=True))
    return (1.0 - share) * first + share * last
