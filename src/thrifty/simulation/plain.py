"""Policies in plain Python: any object with three methods.

    begin(arms, horizon)     a run begins, with arms 0 to ``arms`` - 1
    select(t, rng)           the arm to pull in round t = 1, 2, ...
    update(arm, reward)      a pull of the arm gave this reward; it comes when the reward does

Slow and simple: a round is some ten calls from Python. Every run works on a fresh copy of the object, and
``rng`` is ``numpy.random.default_rng((seed, run))``. Where arms come and go, the object is told by
``enter(arm)`` and ``leave(arm)``.
"""

import copy
import json
from typing import Any, Protocol, runtime_checkable

import numpy as np

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import Policy

SIMPLE, SHORT = (bool, int, float, str), 40  # attributes that a label has, and how long they may be
ENGINE = "python"  # what results call how they are run


@runtime_checkable
class PlainPolicy(Protocol):
    """What a policy in plain Python has."""

    def begin(self, arms: int, horizon: int) -> object:
        """A run begins."""

    def select(self, t: int, rng: np.random.Generator) -> int:
        """The arm to pull in round t."""

    def update(self, arm: int, reward: float) -> object:
        """A reward of a pull of the arm."""


def is_plain(policy: object) -> bool:
    """Whether it is an object with the three methods, and no policy that is compiled."""
    return not isinstance(policy, Policy | type) and isinstance(policy, PlainPolicy)


def label(policy: object) -> str:
    """What tables and figures call it: its ``label``, its repr if it has one of its own, or its class
    with what is simple among its attributes."""
    own = getattr(policy, "label", None)
    if isinstance(own, str):
        return own
    if type(policy).__repr__ is not object.__repr__:
        return repr(policy)
    simple = {
        name: value for name, value in getattr(policy, "__dict__", {}).items() if isinstance(value, SIMPLE)
    }
    given = ", ".join(f"{name}={value!r}" for name, value in simple.items())
    return f"{type(policy).__name__}({given})" if given and len(given) <= SHORT else type(policy).__name__


def described(policy: object, *, whole: bool = False) -> dict[str, Any]:
    """As a table: where its class is, and its attributes. What a file cannot hold is named by its class
    alone, or refused if the description has to be ``whole``, so that it tells the policy from others."""
    table: dict[str, Any] = {"name": f"{type(policy).__module__}:{type(policy).__qualname__}"}
    for name, value in getattr(policy, "__dict__", {"itself": policy}).items():
        key = "its name" if name == "name" else name  # which is that of the class
        try:
            table[key] = json.loads(json.dumps(value, allow_nan=False, default=_listed))
        except (TypeError, ValueError, RecursionError) as error:
            if whole:
                raise InvalidType(
                    f"{name} of {label(policy)} must be what JSON can hold, so that a sweep can tell it from "
                    f"others, got {checks.shown(value)}"
                ) from error
            table[key] = type(value).__name__
    return table


def _listed(value: object) -> Any:
    """What is almost a list or a number."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"no JSON for {type(value).__name__}")


class Player:
    """A plain policy in one run."""

    def __init__(self, policy: Any, arms: int, horizon: int, seed: int, run: int) -> None:
        self._name, self._arms = type(policy).__name__, arms
        try:
            self._policy = copy.deepcopy(policy)
        except Exception as error:
            raise InvalidType(f"{self._name} must be an object that can be copied: {error!r}") from error
        self._rng = np.random.default_rng((seed, run))
        self._policy.begin(arms, horizon)

    def select(self, t: int) -> int:
        """The arm to pull in round t, from 1 on."""
        arm = self._policy.select(t, self._rng)
        if isinstance(arm, bool) or not isinstance(arm, int | np.integer):
            raise InvalidType(
                f"select of {self._name} must return the number of an arm, got {checks.shown(arm)}"
            )
        if not 0 <= arm < self._arms:
            raise InvalidValue(
                f"select of {self._name} must return an arm from 0 to {self._arms - 1}, got {arm}, in round "
                f"{t}"
            )
        return int(arm)

    def update(self, arm: int, reward: float) -> None:
        self._policy.update(arm, reward)

    def tell(self, event: str, arm: int) -> None:
        """An arm comes, "enter", or goes, "leave"."""
        method = getattr(self._policy, event, None)
        if not callable(method):
            raise InvalidType(
                f"{self._name} must have a method {event}(arm), as arms come and go in this problem"
            )
        method(arm)
