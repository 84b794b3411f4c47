"""A policy of the user's own."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import ClassVar

from thrifty import checks
from thrifty.errors import InvalidType, InvalidValue
from thrifty.policies.base import (
    EVERY_ROUND,
    FASTER,
    OWN_FUNCTIONS,
    WHEN_PULLED,
    WITH_OTHERS,
    WITH_TIME,
    Policy,
)
from thrifty.policies.compiled import GIVEN, asked

TAKEN = ("law", "anytime", "name")  # fields of other policies that mean something to those who play them
CHANGES = (WHEN_PULLED, WITH_TIME, WITH_OTHERS, EVERY_ROUND)
SOMETIMES = ("t", "log_t", "best", "level", "reward")  # known to some functions
# What changes at other times than an index says that it does.
BEYOND = {WHEN_PULLED: ("t", "log_t", "best", "means", "pulls"), WITH_TIME: ("best", "means", "pulls", "rng")}


@dataclass(frozen=True)
class IndexPolicy(Policy):
    """A policy of your own: a frozen dataclass whose fields are its parameters, with one more method,

        def index(self, n, mean, t, rng): ...

    The arm with the largest index is pulled. The method is compiled, so it may only compute. Inside it,
    ``self`` has the fields, ``self.arms`` and ``self.horizon``. It is given what it asks for by name:

        n, mean     the arm's pulls (those whose reward is pending included) and mean reward
        variance    of the arm's rewards
        t           the number of pulls made so far, ``log_t`` its logarithm; ``last``: t of the last pull
        best        the largest mean of all arms; ``means``, ``pulls``: of all arms, ``i``: which this is
        rewards     the arm's different rewards in order, and how often each came: two arrays
        own         ``own_columns`` numbers of your own, which ``observed(self, own, reward, t, ...)`` changes
        rng         for ``thrifty.numerics.random``

    ``changes`` says what changes an index besides: "when pulled" nothing, "with time" it rises with t, "with
    other arms", or "in every round". The first runs on tournament too, the second on kinetic if there is a
    method ``reach(self, ..., level)``: a time before which the index is below the level. ``draws_index``: an
    index is a draw, and counted as one.
    """

    index: ClassVar[Callable[..., float]]
    arms: ClassVar[int]  # known inside index alone
    horizon: ClassVar[int]
    formula: ClassVar[str] = "your own"
    citation: ClassVar[str] = "your own"

    def __post_init__(self) -> None:
        kind = type(self)
        if not callable(getattr(kind, "index", None)):
            raise InvalidType(f"{kind.__name__} must have a method index(self, n, mean, t, rng)")
        if "__dataclass_params__" not in vars(kind):  # its fields would be ignored
            raise InvalidType(f"{kind.__name__} must be decorated with @dataclass(frozen=True)")
        checks.choice(f"changes of {kind.__name__}", self.changes, CHANGES)
        checks.integer(f"own_columns of {kind.__name__}", self.own_columns, at_least=0, at_most=100)
        for name in ("counts_pending", "draws_index"):
            checks.flag(f"{name} of {kind.__name__}", getattr(self, name))
        for hook in OWN_FUNCTIONS:
            checks.method(kind, hook)
        self._check_asked()
        for field in fields(self):
            if field.name in ("arms", "horizon"):
                raise InvalidType(f"{kind.__name__} must not have a field {field.name}: index is given it")
            if hasattr(IndexPolicy, field.name) or field.name in TAKEN or field.name.startswith("_"):
                raise InvalidType(f"{kind.__name__} must not have a field {field.name}: choose another name")
            check: Callable[..., float] = checks.flag if field.type in (bool, "bool") else checks.number
            object.__setattr__(self, field.name, check(field.name, getattr(self, field.name)))

    def _check_asked(self) -> None:
        """Functions ask for what they are given, and an index for nothing that changes when it does not."""
        for hook, function in self.functions().items():
            for name in asked(function):
                if name in SOMETIMES and name not in GIVEN[hook].split(", "):
                    raise InvalidValue(f"{function.__qualname__} must not ask for {name}: it is not given it")
                if hook != "observed" and name in BEYOND.get(self.changes, ()):
                    raise InvalidValue(
                        f"{function.__qualname__} must not ask for {name}, or changes must not be "
                        f"{self.changes!r}"
                    )

    @property
    def label(self) -> str:
        return repr(self)

    @property
    def needs_horizon(self) -> bool:
        """Its index may ask for it."""
        return True

    @property
    def keeps_rewards(self) -> bool:
        return any("rewards" in asked(function) for function in self.functions().values())

    @property
    def runs_on(self) -> tuple[str, ...]:
        faster = FASTER.get(self.changes)
        if faster is None or (faster == "kinetic" and not hasattr(type(self), "reach")):
            return ("scan",)
        return ("scan", faster)
