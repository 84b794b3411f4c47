"""Experiments as data: a TOML file in, policies and a problem out. Every mistake is named by file and key.

horizon = 100000          # whole numbers may be written 1e5
runs = 40                 # 20 if left out
seed = 1                  # 0 if left out
prior = [0.5, 2]          # optional: mean and weight of pseudo-observations, instead of the initial pulls
engine = "auto"           # optional
checkpoints = [1e3, 1e4]  # optional: the rounds at which regret is recorded
control = 0.05            # optional, as in ``Bandit``, and so are control_arm, floor and burn_in

[problem]
kind = "bernoulli"
means = [0.9, 0.8, 0.8]

[[policies]]
name = "TSMA"
alpha = 0.8

A policy, a law or a problem of your own is named "module:Class" (``named``): running a spec is running code.

A problem that changes:

[problem]
kind = "changing"
[[problem.problems]]
from = 1                  # the round
kind = "bernoulli"
means = [0.9, 0.8, nan]   # nan: the arm is not there
[[problem.problems]]
from = 5001
kind = "bernoulli"
means = [0.1, 0.8, 0.5]

or kind = "changing-along" with the tables first and last, and rounds; or kind = "changing-of" with
function = "module:function" and arms.
"""

import difflib
import os
import reprlib
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from thrifty import checks, delays
from thrifty.delays import DELAYS, NO_DELAY, ConstantDelay, Delay
from thrifty.engines import ENGINES
from thrifty.errors import FileError, InvalidType, InvalidValue, ThriftyError
from thrifty.online.shares import read_burn_in, read_control
from thrifty.policies import POLICIES, Policy, checked
from thrifty.problems import PROBLEMS, Along, Changing, Of, Problem
from thrifty.simulation.named import function, law, look_beside, policy_class, problem_class
from thrifty.simulation.plain import PlainPolicy, is_plain
from thrifty.simulation.plan import Plan, plan
from thrifty.simulation.result import Result
from thrifty.simulation.run import simulate

T = TypeVar("T")


@dataclass(frozen=True)
class Spec:
    """The arguments of ``simulate`` that determine its numbers; their names are the keys of the file."""

    horizon: int
    problem: Problem
    policies: tuple[Policy | PlainPolicy, ...]
    runs: int = 20
    seed: int = 0
    prior: tuple[float, float] | None = None
    engine: str = "auto"
    checkpoints: tuple[int, ...] | None = None
    delay: Delay = NO_DELAY
    control: float = 0.0
    control_arm: int | None = None
    floor: float = 0.0
    burn_in: int = 0

    def __eq__(self, other: object) -> bool:
        """Policies in plain Python may have arrays, which cannot be compared so."""
        return isinstance(other, Spec) and checks.same(vars(self), vars(other))

    def __hash__(self) -> int:
        """Policies in plain Python may have no hash."""
        return hash((self.horizon, self.problem, self.runs, self.seed))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Spec":
        """The experiment that a TOML file describes."""
        with located(f"{os.fspath(path)}: "):
            look_beside(Path(path))
            table = parse(Path(path))
            _check_single(table.get("policies"))
            return cls.read(table)

    @classmethod
    def read(cls, table: Mapping[str, Any]) -> "Spec":
        """The experiment that a table describes."""
        _check_keys(table, cls)
        return cls(**{key: READERS[key](key, value) for key, value in table.items()})

    def plan(self) -> Plan:
        """Check what needs several keys at once: whether policies, problem, horizon and engine fit."""
        return plan(**vars(self))

    def simulate(self, workers: int | None = None, *, progress: bool | None = None) -> Result:
        """Run it. ``workers`` and ``progress`` change nothing in the numbers."""
        return simulate(**vars(self), workers=workers, progress=progress)


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put the file, the table or the key in front of an error that is raised inside."""
    try:
        yield
    except ThriftyError as error:
        raise type(error)(f"{place}{error}") from None


def parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError("must be a TOML file, and this is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # the message of a TOML error ends with line and column
        raise FileError(f"must be a TOML file: {error}") from None


def _check_single(policies: object) -> None:
    """One experiment has one value of each parameter: a class of plain Python might take a list for one."""
    for i, policy in enumerate(policies if isinstance(policies, list) else ()):
        for name, value in policy.items() if isinstance(policy, dict) else ():
            if isinstance(value, list) and ":" in str(policy.get("name")):
                raise InvalidValue(
                    f"policies[{i}].{name} must be one value, got a list: thrifty sweep plays each"
                )


def _check_keys(table: Mapping[str, Any], cls: type[Any], *tag: str) -> None:
    """The keys of a table are the tag, which named the class, and the fields of the class."""
    allowed = [*tag, *(field.name for field in fields(cls))]
    for key in table:
        if key not in allowed:
            raise FileError(f"{key} is unknown; allowed: {', '.join(allowed)}{_hint(key, allowed)}")
    for field in fields(cls):
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and field.name not in table:
            raise FileError(f"{field.name} is missing")


def _hint(word: str, allowed: Iterable[str]) -> str:
    """What was meant, if it is close to something allowed."""
    names = {name.lower(): name for name in allowed}
    close = difflib.get_close_matches(word.lower(), names, n=1)
    return f" (did you mean {names[close[0]]}?)" if close else ""


def _build(key: str, value: object, tag: str, classes: Mapping[str, type[T]]) -> T:
    """The object that a table describes: ``tag`` names its class, the other keys are the fields."""
    if not isinstance(value, dict):
        raise InvalidType(f"{key} must be a table, got {reprlib.repr(value)}")
    with located(f"{key}."):
        if tag not in value:
            raise FileError(f"{tag} is missing; allowed: {', '.join(classes)}")
        name = value[tag]
        if name not in list(classes):
            hint = _hint(name, classes) if isinstance(name, str) else ""
            raise InvalidValue(f"{tag} must be one of {', '.join(classes)}, got {name!r}{hint}")
        rest = {field: entry for field, entry in value.items() if field != tag}
        if is_dataclass(classes[name]):
            _check_keys(rest, classes[name], tag)
            return classes[name](**rest)
        try:
            return classes[name](**rest)
        except TypeError as error:
            raise FileError(f"{name} cannot be made: {error}") from None


def made(value: object) -> bool:
    """Whether this is an object of Python, and not what a file can say."""
    return not isinstance(value, str | int | float | list | dict | None)


def _problem(key: str, value: object) -> Problem:
    """A problem, which may have others in it."""
    if made(value):
        return cast(Problem, value)  # ``plan`` checks it
    if not isinstance(value, dict):
        return _build(key, value, "kind", PROBLEMS)
    with located(f"{key}."):
        found = problem_class(value.get("kind"))
        if found is Of and "function" in value:
            value = value | {"function": function(value["function"])}
    if found is Changing and isinstance(value.get("problems"), list):
        value = value | {
            "problems": [_part(f"{key}.problems[{i}]", one) for i, one in enumerate(value["problems"])]
        }
    for name in ("first", "last") if found is Along else ():
        if name in value:
            value = value | {name: _problem(f"{key}.{name}", _absent(value[name]))}
    classes = PROBLEMS if found is None else PROBLEMS | {value["kind"]: found}
    problem: Problem = _build(key, value, "kind", classes)
    return problem


def _part(key: str, value: object) -> tuple[int, Problem]:
    """One of the problems of one that changes, with the round from which on it is in force."""
    if not isinstance(value, dict) or "from" not in value:
        raise FileError(f"{key} must be a table with the key from, the round, got {reprlib.repr(value)}")
    rest = {name: entry for name, entry in value.items() if name != "from"}
    return checks.integer(f"{key}.from", value["from"], at_least=1), _problem(key, _absent(rest))


def _absent(table: Any) -> Any:
    """TOML has no None: nan is there instead."""
    if isinstance(table, dict):
        return {name: _absent(value) for name, value in table.items()}
    if isinstance(table, list):
        return [_absent(value) for value in table]
    return None if isinstance(table, float) and table != table else table


def _policy(key: str, value: object) -> Policy:
    """A policy, which may have another one in it, and a law."""
    if is_plain(value):
        return cast(Policy, value)
    if made(value):
        return checked(key, value)
    if not isinstance(value, dict):
        return _build(key, value, "name", POLICIES)
    with located(f"{key}."):
        found = policy_class(value.get("name"))
        if "law" in value:
            value = value | {"law": law(value["law"])}
    if isinstance(value.get("policy"), dict):
        value = value | {"policy": _policy(f"{key}.policy", value["policy"])}
    classes = POLICIES if found is None else POLICIES | {value["name"]: found}
    policy: Policy = _build(key, value, "name", classes)
    return policy


def _policies(key: str, value: object) -> tuple[Policy, ...]:
    if not isinstance(value, list):
        raise InvalidType(f"{key} must be tables headed [[{key}]], got {reprlib.repr(value)}")
    if not value:
        raise InvalidValue(f"{key} must have at least one policy, got none")
    return tuple(checks.distinct(key, [_policy(f"{key}[{i}]", table) for i, table in enumerate(value)]))


def _positive(key: str, value: object) -> int:
    return checks.integer(key, value, at_least=1)


def _delay(key: str, value: object) -> Delay:
    if isinstance(value, dict):
        return _build(key, value, "kind", DELAYS)
    if made(value):
        return delays.clean(value)
    return ConstantDelay(checks.integer(key, value, at_least=0))


def _checkpoints(key: str, value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise InvalidType(f"{key} must be a list of rounds, got {reprlib.repr(value)}")
    return tuple(checks.integer(f"{key}[{i}]", entry, at_least=1) for i, entry in enumerate(value))


READERS: dict[str, Callable[[str, Any], Any]] = {
    "horizon": _positive,
    "problem": _problem,
    "policies": _policies,
    "runs": _positive,
    "seed": lambda key, value: checks.integer(key, value, at_least=0),
    "prior": lambda key, value: checks.prior(value),
    "engine": lambda key, value: checks.choice(key, value, ("auto", *ENGINES)),
    "checkpoints": _checkpoints,
    "delay": _delay,
    "control": lambda key, value: read_control(value),
    "control_arm": lambda key, value: checks.integer(key, value, at_least=0),
    "floor": lambda key, value: checks.unit(key, value),
    "burn_in": lambda key, value: read_burn_in(value),
}
