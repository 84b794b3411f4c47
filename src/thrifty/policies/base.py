"""What every policy is: a frozen dataclass that says how its index is made, and with which parameters.

A policy is a value: equal to another with the same parameters, hashable, and its ``repr`` is the call that
makes it. It becomes a ``Rule`` for the kernels when the number of arms and the horizon are known.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from thrifty import checks
from thrifty.engines import ENGINES, FASTER_FROM
from thrifty.engines.memory import Rule
from thrifty.errors import InvalidValue
from thrifty.laws import Law
from thrifty.shown import policy_table
from thrifty.state.fields import Component

# The rewards that a family's divergence is made for; that of Bernoulli is valid for all in [0, 1].
FAMILY_REWARDS = {
    "bernoulli": "unit",
    "gaussian": "any",
    "poisson": "non-negative",
    "exponential": "non-negative",
}


class Assumed(NamedTuple):
    """What is assumed of the rewards for what is proven, beyond the kind that a policy demands."""

    kind: str = ""  # "" for nothing, or a key of simulation.assumptions.MADE_FOR
    variance: float = 1.0  # of sub-Gaussian rewards, at most; those in [0, 1] have 1/4


FAMILY_ASSUMED = {
    "bernoulli": Assumed(),
    "gaussian": Assumed("sub-Gaussian"),
    "poisson": Assumed("Poisson"),
    "exponential": Assumed("exponential"),
}


class Guarantee(NamedTuple):
    """What is proven, a word for each notion: "" for no, "yes", for which rewards, up to what, or if what.

    asymptotic   the regret is the lower bound's constant times ln T, for rewards of the family that is named
    minimax      the worst regret of all problems is of order sqrt(K T), or that times the factor
    sub-UCB      on every problem it is at most a constant times UCB's bound, sum of (gap + ln(T)/gap)
    """

    value: Any = None  # of the policy's choice; None: any
    asymptotic: str = ""
    minimax: str = ""
    sub_ucb: str = ""
    source: str = ""  # if it is not the policy's citation


# When an index that is computed changes: only when its arm is pulled; with the time too, and then it rises;
# with what other arms do; or in every round, as when it is drawn anew.
WHEN_PULLED, WITH_TIME, WITH_OTHERS, EVERY_ROUND = (
    "when pulled",
    "with time",
    "with other arms",
    "in every round",
)
FASTER = {WHEN_PULLED: "tournament", WITH_TIME: "kinetic"}  # than scan, with many arms


@dataclass(frozen=True)
class Policy(ABC):
    """What every policy can say about itself; the class attributes are columns of ``thrifty policies``."""

    formula: ClassVar[str]  # its index, in a line
    texts: ClassVar[tuple[Any, ...]] = ()  # other modules and functions whose docstrings belong to it
    schedule: ClassVar[str] = ""  # of draws from a law: fresh, epsilon, aggregate or duel
    changes: ClassVar[str] = EVERY_ROUND  # when the index changes, if there is no law
    engines: ClassVar[tuple[str, ...]] = ("scan",)
    clock: ClassVar[str] = "anytime"  # or whether the horizon must be known
    choice: ClassVar[str] = ""  # the parameter on which rewards, engines and guarantees depend, if one does
    choices: ClassVar[tuple[Any, ...]] = ()  # and its values
    variants: ClassVar[tuple[dict[str, Any], ...]] = ()  # parameters that tests try besides these
    guarantees: ClassVar[tuple[Guarantee, ...]] = ()
    group: ClassVar[str] = "An index computed from the statistics"  # the heading it stands under in tables
    citation: ClassVar[str]
    confirmed: ClassVar[str]  # where the definition and the guarantees were read, and what was not

    counts_pending: ClassVar[bool] = True  # whether n counts pulls whose reward is not there yet
    draws_index: ClassVar[bool] = False  # whether an index is a draw, and counted as one
    own_columns: ClassVar[int] = 0  # numbers of its own that it keeps for each arm
    components: ClassVar[tuple[Component, ...]] = ()  # what else it keeps
    told: ClassVar[bool] = False  # whether it is told the problem, as only ``simulate`` can

    @property
    @abstractmethod
    def label(self) -> str:
        """A short name for tables and figures."""

    @property
    def rewards(self) -> str:
        """The widest kind of rewards it is made for, one of ``problems.REWARDS``."""
        return "any"

    @property
    def assumes(self) -> Assumed:
        """What is assumed of the rewards beyond that; others are played, with a note in the summary."""
        return Assumed()

    def resolve(self, arms: int, horizon: int) -> Rule:
        """The policy's numbers for this many arms and this horizon, as the kernels see them."""
        return Rule(arms, horizon)

    @property
    def least_arms(self) -> int:
        """How many arms there must be when it begins."""
        return 1

    def check_arms(self, arms: int) -> None:
        """There are so many arms when it begins."""
        if arms < self.least_arms:
            raise InvalidValue(f"{self!r} needs at least {self.least_arms} arms, got {arms}")

    @property
    def needs_prior(self) -> bool:
        """Whether arms must have a prior."""
        return False

    def check_prior(self, *, given: bool) -> None:
        """Whether arms have a prior."""
        if self.needs_prior and not given:
            raise InvalidValue(f"prior must be (mean, weight) for {self!r}, whose law has none, got None")

    @property
    def played(self) -> "Policy":
        """The policy whose functions the kernels call: itself, or one inside it."""
        return self

    @property
    def drawn_from(self) -> Law | None:
        """The law that its index is drawn from, if it is."""
        return None

    def functions(self) -> dict[str, Any]:
        """The functions that are compiled, by what engines know them as: ``index``, ``reach`` and others of
        ``engines.memory.Hooks``."""
        return {name: getattr(type(self), name) for name in FUNCTIONS if hasattr(type(self), name)}

    @property
    def keeps_rewards(self) -> bool:
        """Whether every single reward is kept."""
        return False

    @property
    def ranks(self) -> bool:
        """Whether it has an index by which to choose among some of its arms; lists have none."""
        kind = type(self.played)
        return not hasattr(kind, "choose") or hasattr(kind, "order")

    @property
    def room(self) -> dict[str, int]:
        """The rows of those fields of its components that are as large as it says."""
        return {}

    @property
    def runs_on(self) -> tuple[str, ...]:
        """The engines that can run it with these parameters, scan first."""
        return self.engines

    @property
    def needs_horizon(self) -> bool:
        """Whether its formulas contain the horizon."""
        return False

    def engine_for(self, arms: int, engine: str = "auto") -> str:
        """The engine that was asked for, or the fastest: a constant of the code, never of the machine."""
        checks.choice("engine", engine, ("auto", *ENGINES))
        able = self.runs_on
        if engine == "auto":
            return next((name for name in able[1:] if arms >= self.fastest_from(name)), "scan")
        if engine not in able:
            raise InvalidValue(f"engine must be one of {', '.join(able)} for {self!r}, got {engine!r}")
        return engine

    def fastest_from(self, engine: str) -> float:
        """From how many arms an engine is faster than scan."""
        return FASTER_FROM[engine]

    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        """The rules that it follows, each with the round from which on: one, unless it is anytime."""
        return [(0, self.resolve(arms, horizon))]

    def _repr_html_(self) -> str:
        return policy_table(self)


# The names of functions that a policy may have for the kernels; those of the user's own have the first.
OWN_FUNCTIONS = ("index", "reach", "settled", "observed")
FUNCTIONS = (*OWN_FUNCTIONS, "refresh", "choose", "order", "returned", "moved", "left", "entered")


class HorizonPolicy(Policy):
    """A policy whose formulas contain the horizon T.

    ``anytime=True`` plays without knowing it: T is guessed, and doubled whenever it is reached. Nothing is
    forgotten then; parameters and indices are made anew. For TS-MA and TS-TD with Gaussian draws and the
    paper's phi this costs nothing to first order (docs/theory.md, Theorem H); else there is no theorem.
    """

    anytime: bool  # a field of each

    clock: ClassVar[str] = "known"

    @property
    def needs_horizon(self) -> bool:
        return True

    def __post_init__(self) -> None:
        checks.flag("anytime", self.anytime)

    def stages(self, arms: int, horizon: int) -> list[tuple[int, Rule]]:
        if not self.anytime:
            return super().stages(arms, horizon)
        guesses = [first_guess(arms)]
        while guesses[-1] < horizon:
            guesses.append(2 * guesses[-1])
        return [
            (start, self.resolve(arms, guess)) for start, guess in zip([0, *guesses], guesses, strict=False)
        ]


def first_guess(arms: int) -> int:
    """Where a horizon that is not known starts.

    >>> first_guess(20), first_guess(10**6)
    (1024, 2000000)
    """
    return max(1024, 2 * arms)


def noted(name: str, *notes: str) -> str:
    """A label that says what differs from the defaults."""
    return name + (f" ({', '.join(notes)})" if notes else "")


def varied(variance: float) -> list[str]:
    return [f"σ²={variance:g}"] if variance != 0.25 else []


def timeless(anytime: bool) -> list[str]:
    return ["anytime"] if anytime else []
