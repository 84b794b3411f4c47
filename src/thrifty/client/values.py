"""What a client is given and gives back, and the checks of it. ``thrifty.checks`` would import NumPy."""

import math
import reprlib
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, NamedTuple

from thrifty.errors import InvalidType, InvalidValue

NAME = 200  # characters of a name, of an arm and of an id
MOST = 10_000  # decisions of a request


class Decision(NamedTuple):
    """Show ``arm``, and tell the reward by ``Client.reward``.

    Attributes:
        id: a text that no other decision has; None if the service could not decide and this is the fallback.
        arm: the name of the arm.
        control: whether it belongs to the share that is decided at random.
        probability: how likely the arm was, if that was asked for.
    """

    id: str | None
    arm: str
    control: bool
    probability: float | None


class Result(NamedTuple):
    """What became of a reward.

    Attributes:
        status: what the service said: counted, cancelled, repeated, conflict, late, refused or unknown;
            queued if it is away, and the reward is sent when it is back; fallback if the decision was one.
        detail: why.
    """

    status: str
    detail: str


def shown(value: object) -> str:
    """A value as an error shows it."""
    try:
        return reprlib.repr(value)
    except ValueError:  # Python refuses to write integers of thousands of digits
        return "a huge int"


def text(name: str, value: object) -> str:
    """A name of 1 to 200 characters."""
    if not isinstance(value, str):
        raise InvalidType(f"{name} must be a text, got {shown(value)}")
    if not 1 <= len(value) <= NAME:
        raise InvalidValue(f"{name} must have 1 to {NAME} characters, got {len(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidValue(f"{name} must be UTF-8, got {shown(value)}") from None
    return value


def texts(name: str, values: object) -> list[str]:
    """Names."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidType(f"{name} must be a list of texts, got {shown(values)}")
    return [text(f"{name}[{i}]", value) for i, value in enumerate(values)]


def integer(name: str, value: object, most: int) -> int:
    """A number of things."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidType(f"{name} must be an integer, got {shown(value)}")
    if not 1 <= int(value) <= most:
        raise InvalidValue(f"{name} must be from 1 to {most}, got {shown(value)}")
    return int(value)


def number(name: str, value: object) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidType(f"{name} must be a number, got {shown(value)}")
    try:
        clean = float(value)
    except OverflowError:
        clean = math.inf
    if not math.isfinite(clean):
        raise InvalidValue(f"{name} must be finite, got {shown(value)}")
    return clean


def seconds(name: str, value: object) -> float:
    """A duration."""
    clean = number(name, value)
    if clean <= 0.0:
        raise InvalidValue(f"{name} must be above 0, got {shown(value)}")
    return clean


def key_of(name: str, decision: object) -> str | None:
    """The id of a decision; None of a fallback."""
    if isinstance(decision, Decision):
        return decision.id
    if isinstance(decision, str):
        return text(name, decision)
    raise InvalidType(f"{name} must be a Decision or its id, a text, got {shown(decision)}")


def listed(name: str, values: object) -> list[Any]:
    """Things in a row."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidType(f"{name} must be a list, got {shown(values)}")
    return list(values)
