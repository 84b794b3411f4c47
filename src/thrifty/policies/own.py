"""A policy of the user's own, and a posterior of the user's own."""

import ctypes
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from thrifty import checks
from thrifty.engines.state import OWN, Rule
from thrifty.errors import InvalidType, InvalidValue
from thrifty.indices import own
from thrifty.policies.base import Policy

TAKEN = ("law", "anytime")  # fields of other policies that mean something to those who play them


@runtime_checkable
class Posterior(Protocol):
    """A law of the user's own, for ``Bandit``: an object that is told the rewards and asked for draws."""

    def observe(self, arm: Any, reward: float) -> object:
        """A pull of the arm with this id gave a reward."""

    def draw(self, arm: Any, size: int, rng: np.random.Generator) -> Any:
        """``size`` draws from the posterior of the arm with this id."""


@dataclass(frozen=True)
class IndexPolicy(Policy):
    """A policy of your own: a frozen dataclass whose fields are its parameters, with one more method,

        def index(self, n, mean, t, rng): ...

    of one arm's pulls and mean reward, and of the number t of pulls made so far. Inside it, ``self`` has
    the fields, ``self.arms`` and ``self.horizon``, and ``rng`` is for ``thrifty.numerics.random``. It is
    compiled, so it may only compute. The arm with the largest index is pulled.
    """

    index: ClassVar[Callable[..., float]]
    arms: ClassVar[int]  # known inside index alone
    horizon: ClassVar[int]
    formula: ClassVar[str] = "your own"
    schedule: ClassVar[str] = "index"
    citation: ClassVar[str] = "your own"

    def __post_init__(self) -> None:
        if not callable(getattr(type(self), "index", None)):
            raise InvalidType(f"{type(self).__name__} must have a method index(self, n, mean, t, rng)")
        if "__dataclass_params__" not in vars(type(self)):  # its fields would be ignored
            raise InvalidType(f"{type(self).__name__} must be decorated with @dataclass(frozen=True)")
        for field in fields(self):
            if field.name in ("arms", "horizon"):
                raise InvalidType(
                    f"{type(self).__name__} must not have a field {field.name}: index is given it"
                )
            if hasattr(IndexPolicy, field.name) or field.name in TAKEN or field.name.startswith("_"):
                raise InvalidType(
                    f"{type(self).__name__} must not have a field {field.name}: choose another name"
                )
            object.__setattr__(self, field.name, checks.number(field.name, getattr(self, field.name)))

    @property
    def label(self) -> str:
        return repr(self)

    @property
    def needs_horizon(self) -> bool:
        """Its index may ask for it."""
        return True

    def resolve(self, arms: int, horizon: int) -> Rule:
        values = np.array([getattr(self, field.name) for field in fields(self)], np.float64)
        where = ctypes.addressof(_kept(values.tobytes()))
        return Rule(OWN, arms, horizon, function=_address(type(self)), own=where)


@cache
def _address(policy: type[IndexPolicy]) -> int:
    """Where the compiled index is. One that Numba refuses is refused by name, with the reason."""
    names = [*(field.name for field in fields(policy)), "arms", "horizon"]
    try:
        return own.address(policy.index, namedtuple(policy.__name__, names))
    except Exception as error:  # Numba's own errors, and those of the functions that it calls
        reasons = [line for line in str(error).splitlines() if not line.startswith("Failed in")]
        raise InvalidValue(
            f"the index of {policy.__name__} cannot be compiled: {[*reasons, repr(error)][0]} "
            "(it may only compute, and must return a number; import modules outside of it)"
        ) from error


@cache
def _kept(values: bytes) -> ctypes.Array[ctypes.c_double]:
    """Parameters as kernels read them. Where they are is known to kernels, so they stay there."""
    return (ctypes.c_double * (len(values) // 8)).from_buffer_copy(values)
