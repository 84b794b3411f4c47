"""A policy of the user's own, and a posterior of the user's own."""

from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import numba
import numpy as np

from thrifty import checks
from thrifty.engines.state import FRESH, Rule, policy_stream
from thrifty.errors import InvalidType, InvalidValue
from thrifty.jit import CompilationError, config
from thrifty.policies.base import Policy


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
        if not hasattr(type(self), "index"):
            raise InvalidType(f"{type(self).__name__} must have a method index(self, n, mean, t, rng)")
        if "__dataclass_params__" not in vars(type(self)):  # its fields would be ignored
            raise InvalidType(f"{type(self).__name__} must be decorated with @dataclass(frozen=True)")
        for field in fields(self):
            if field.name in ("arms", "horizon"):
                raise InvalidType(
                    f"{type(self).__name__} must not have a field {field.name}: index is given it"
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
        values = (getattr(self, field.name) for field in fields(self))
        return Rule(FRESH, arms, horizon, own=_inside(type(self))(*values, arms, horizon))


@contextmanager
def compiling(name: str) -> Iterator[None]:
    """An index that Numba refuses inside is refused by this name, with the reason."""
    try:
        yield
    except CompilationError as error:
        reasons = [line for line in str(error).splitlines() if not line.startswith("Failed in")]
        raise InvalidValue(f"the index of {name} cannot be compiled: {reasons[0]}") from error


def check_index(policy: IndexPolicy, rule: Rule) -> None:
    """Compile the index alone, which takes a moment: so a mistake shows before an engine is compiled around
    it."""
    index: Any = type(policy).index
    if not config.DISABLE_JIT:
        alone = index if hasattr(index, "py_func") else numba.njit(error_model="numpy")(index)
        given = (rule.own, 1.0, 0.0, 1, policy_stream(0, 0))
        with compiling(policy.label):
            alone.compile(tuple(map(numba.typeof, given)))


@cache
def _inside(policy: type[IndexPolicy]) -> Callable[..., tuple[float, ...]]:
    """What ``self`` is inside a compiled index: a named tuple of the fields and the setting."""
    return namedtuple(policy.__name__, [*(field.name for field in fields(policy)), "arms", "horizon"])
