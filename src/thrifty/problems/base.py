"""What every problem is, thrifty's own or the user's: what a pull of an arm pays, and what it pays on
average. Regret is the sum of gaps of true means, never of rewards."""

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from thrifty import checks
from thrifty.arrays import Floats
from thrifty.errors import InvalidType, InvalidValue
from thrifty.problems.compiled import RANGES, address_of, own_pull, packed
from thrifty.shown import Shown, problem_table

Numbers = Sequence[Any] | Floats  # given as either, kept as a tuple; None: the arm is not there

# What rewards can be, from the narrowest kind to the widest: 0 or 1, in [0, 1], at least 0, or any number.
REWARDS = ("binary", "unit", "non-negative", "any")
BOUNDED = ("binary", "unit")  # kinds of rewards that are in [0, 1]


class Arms(NamedTuple):
    """A problem as the kernels see it."""

    pull: Callable[..., float] | None  # (state, i): the reward of one pull of arm i; None: in plain Python
    # (K, 2): what it needs to know of an arm: mean, (mean, sd), two shapes, or a slice of values.
    params: Floats
    values: Floats  # what it needs to know besides
    gaps: Floats  # NaN where an arm is not there

    @property
    def address(self) -> int:
        """Where the compiled pull is."""
        return 0 if self.pull is None else address_of(self.pull)


class Problem(Shown, ABC):
    """What all problems have. Each is a frozen dataclass whose fields are those of its TOML table.

    One of your own has the property ``expectations``, the true mean reward of each arm, and a method

        def reward(self, arm, rng): ...

    that draws a reward of the arm with this number. It is compiled, so it may only compute, from the fields
    of ``self`` (numbers, and sequences of numbers, which are arrays there) and from ``rng`` with the
    functions of ``thrifty.numerics.random``. With ``compiled = False`` it is plain Python, slow, may do
    anything, and ``rng`` is a NumPy Generator. ``rewards`` says what rewards can be: "binary", "unit",
    "non-negative" or "any"; others are refused.
    """

    kind: ClassVar[str]
    rewards: ClassVar[str] = "any"  # one of REWARDS
    family: ClassVar[str] = (
        ""  # of laws: "bounded" to [0, 1], or an exponential family that a mean determines
    )
    reward: ClassVar[Callable[..., float]]  # (self, arm, rng), of those of the user's own
    compiled: ClassVar[bool] = True  # whether ``reward`` is

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if checks.is_ours(cls):
            return
        cls.kind = f"{cls.__module__}:{cls.__qualname__}"
        for name in inspect.get_annotations(cls):
            if hasattr(Problem, name) and name not in vars(cls):
                raise InvalidType(f"{cls.__name__} must not have a field {name}: choose another name")

    def __post_init__(self) -> None:
        """Fields that hold numbers, or rows of numbers, become tuples."""
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            object.__setattr__(self, field.name, _kept(field.name, value))

    @property
    @abstractmethod
    def expectations(self) -> Floats:
        """The true mean reward of each arm; NaN for one that is not there."""

    def ready(self) -> Arms:
        """The problem as the kernels see it."""
        pull = own_pull(self) if self.compiled else None
        values = packed(self) if self.compiled else None
        numbers = np.arange(float(self.size))  # of the problem, as kernels have others where arms come and go
        return self._arms(pull, numbers[:, None], values)

    def at(self, t: int) -> tuple["Problem", float]:
        """The problem that is in force in round t (from 1 on), and the round from which on there may be
        another one."""
        return self, math.inf

    @property
    def size(self) -> int:
        """The number of arms, those that are not there included."""
        return self.expectations.size

    @property
    def gaps(self) -> Floats:
        """How much a pull of each arm loses against the best one; NaN for one that is not there."""
        means = self.expectations
        gaps: Floats = np.fmax.reduce(means) - means
        return gaps

    @property
    def sub_gaussian(self) -> float:
        """The least variance, or a bound on it, of normal laws whose tails cover those of the rewards."""
        return 0.25 if self.rewards in BOUNDED else math.inf

    def _repr_html_(self) -> str:
        return problem_table(self)

    def _arms(self, pull: Callable[..., float] | None, params: Floats, values: Floats | None = None) -> Arms:
        pairs = np.zeros((len(params), 2))
        pairs[:, : params.shape[1]] = params
        return Arms(pull, pairs, np.zeros(0) if values is None else values, self.gaps)

    def _clean(self, name: str) -> Floats:
        """Check a field that holds one number per arm, and keep it as a tuple."""
        numbers = checks.numbers(name, getattr(self, name), absent=True)
        object.__setattr__(self, name, numbers)
        return array(numbers)


def array(numbers: Numbers) -> Floats:
    """Numbers as an array, with NaN for None."""
    return np.array(numbers, float)


def _kept(name: str, value: Any) -> Any:
    """The value of a field of a problem of the user's own."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Sequence | np.ndarray):
        if len(value) and all(row is None or isinstance(row, Sequence | np.ndarray) for row in value):
            return tuple(
                row if row is None else checks.numbers(f"{name}[{i}]", row) for i, row in enumerate(value)
            )
        return checks.numbers(name, value, absent=True)
    clean = checks.sized(name, value)
    return int(clean) if clean.is_integer() and not isinstance(value, float) else clean


ROUNDING = 1e-9  # by which a mean that was computed may be out of the range of rewards
TRUSTED = ("ready", "at", "size", "gaps")


def checked(name: str, problem: object) -> "Problem":
    """A problem that can be played, with fields that are still what they were checked to be."""
    if not isinstance(problem, Problem):
        raise InvalidType(
            f"{name} must be a problem such as Bernoulli([0.9, 0.8]), got {checks.shown(problem)}"
        )
    kind = type(problem)
    if checks.is_ours(kind):
        checks.again(kind, problem)
        return problem
    for trusted in TRUSTED:  # kernels do not check what these say
        if getattr(kind, trusted) is not getattr(Problem, trusted):
            raise InvalidType(
                f"{kind.__name__} must not have {trusted} of its own: a problem of your own is a Problem, "
                "with expectations and a reward"
            )
    if "__dataclass_params__" not in vars(kind):
        raise InvalidType(f"{kind.__name__} must be decorated with @dataclass(frozen=True)")
    for field in fields(problem):  # type: ignore[arg-type]
        if field.name.startswith("_"):  # which the tuple that is ``self`` in kernels cannot have
            raise InvalidType(f"{kind.__name__} must not have a field {field.name}: choose another name")
    checks.method(kind, "reward")
    checks.flag(f"compiled of {kind.__name__}", problem.compiled)
    checks.choice(f"rewards of {kind.__name__}", problem.rewards, REWARDS)
    if not hasattr(kind, "reward"):
        raise InvalidType(f"{kind.__name__} must have a method reward(self, arm, rng)")
    try:
        hash(problem)
    except TypeError:
        raise InvalidType(
            f"{kind.__name__} must be frozen and have fields that stay what they are, tuples and not lists: "
            "if it has a __post_init__, let that call super().__post_init__()"
        ) from None
    means = problem.expectations
    if not isinstance(means, np.ndarray) or means.ndim != 1 or means.dtype != float or not means.size:
        raise InvalidType(
            f"expectations of {kind.__name__} must be an array with the true mean of each arm, got "
            f"{checks.shown(means)}"
        )
    low, high = RANGES[problem.rewards]
    if np.isinf(means).any() or ((means < low - ROUNDING) | (means > high + ROUNDING)).any():
        raise InvalidValue(
            f"expectations of {kind.__name__} must be finite, and means of rewards that are "
            f"{problem.rewards}, got {checks.shown(means)}"
        )
    return problem
