"""Policies in plain Python: any object with three methods.

    begin(arms, horizon)     a run begins, with arms 0 to ``arms`` - 1
    select(t, rng)           the arm to pull in round t = 1, 2, ...
    update(arm, reward)      a pull of the arm gave this reward; it comes when the reward does

Slow and simple: a round is some ten calls from Python. Every run works on a fresh copy of the object, and
``rng`` is ``numpy.random.default_rng((seed, run))``. Where arms come and go, the object is told by
``enter(arm)`` and ``leave(arm)``.
"""

import copy
import hashlib
import json
import pickle
from typing import Any, Protocol, runtime_checkable

import numpy as np

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies import Policy

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
    """What tables and figures call it: its ``label``, its repr if it has one of its own, or its class."""
    own = getattr(policy, "label", None)
    if isinstance(own, str):
        return own
    return type(policy).__name__ if type(policy).__repr__ is object.__repr__ else repr(policy)


def described(policy: object) -> dict[str, Any]:
    """As a table: where its class is, and its attributes; of those that JSON cannot hold, a digest."""
    table: dict[str, Any] = {"name": f"{type(policy).__module__}:{type(policy).__qualname__}"}
    for name, value in getattr(policy, "__dict__", {"self": policy}).items():
        try:
            table[name] = json.loads(json.dumps(value, allow_nan=False))
        except (TypeError, ValueError, RecursionError):
            table[name] = _digest(value)
    return table


def _digest(value: object) -> str:
    try:
        return f"{type(value).__name__} {hashlib.sha256(pickle.dumps(value)).hexdigest()[:16]}"
    except Exception:  # objects raise anything: it can be told from no other
        return type(value).__name__


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
