"""Arguments are cleaned or refused: the error names the value and what would be right."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from thrifty import FileError, InvalidType, InvalidValue, MissingExtra, ThriftyError, checks


def test_every_error_is_a_thrifty_error_and_the_builtin_one_expects() -> None:
    assert issubclass(InvalidValue, ThriftyError)
    assert issubclass(InvalidValue, ValueError)
    assert issubclass(InvalidType, ThriftyError)
    assert issubclass(InvalidType, TypeError)
    assert issubclass(FileError, ThriftyError)
    assert issubclass(FileError, ValueError)
    assert issubclass(MissingExtra, ThriftyError)
    assert issubclass(MissingExtra, ImportError)


@pytest.mark.parametrize("value", [3, np.int8(3), np.int64(3), np.uint32(3), 3.0, np.float32(3)], ids=repr)
def test_integers_of_any_make_become_int(value: object) -> None:
    clean = checks.integer("runs", value, at_least=3, at_most=3)
    assert clean == 3
    assert type(clean) is int


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.bool_(True),
        3.5,
        np.float64(3.5),
        math.nan,
        math.inf,
        "3",
        None,
        [3],
        Fraction(3),
        Decimal(3),
        3 + 0j,
    ],
    ids=repr,
)
def test_what_is_not_an_integer_is_refused(value: object) -> None:
    with pytest.raises(InvalidType) as error:
        checks.integer("runs", value, at_least=1)
    assert str(error.value) == f"runs must be an integer, got {value!r}"


@pytest.mark.parametrize(("value", "text"), [(2, "at least 3, got 2"), (8, "at most 7, got 8")])
def test_integers_have_bounds(value: int, text: str) -> None:
    with pytest.raises(InvalidValue) as error:
        checks.integer("runs", value, at_least=3, at_most=7)
    assert str(error.value) == f"runs must be {text}"


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2.0), np.int16(2), Fraction(2)], ids=repr)
def test_numbers_of_any_make_become_float(value: object) -> None:
    clean = checks.number("x", value)
    assert clean == 2.0
    assert type(clean) is float


@pytest.mark.parametrize("value", [True, "2", None, [2.0], Decimal(2), 2j, np.bool_(False)], ids=repr)
def test_what_is_not_a_number_is_refused(value: object) -> None:
    with pytest.raises(InvalidType) as error:
        checks.number("x", value)
    assert str(error.value) == f"x must be a number, got {value!r}"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float32("nan"), 10**400])
def test_numbers_must_be_finite(value: object) -> None:
    with pytest.raises(InvalidValue) as error:
        checks.number("x", value)
    assert str(error.value) == f"x must be finite, got {checks.shown(value)}"


@pytest.mark.parametrize(
    ("check", "inside", "outside", "text"),
    [
        (checks.unit, [0.0, -0.0, 5e-324, 1.0], [-5e-324, 1.0 + 2.0**-52, -1, 2], "in [0, 1]"),
        (
            lambda name, value: checks.unit(name, value, open_at_zero=True),
            [5e-324, 1.0],
            [0.0, -0.0, 1.0 + 2.0**-52],
            "in (0, 1]",
        ),
        (
            lambda name, value: checks.at_least(name, value, 1.0),
            [1.0, 1e300],
            [1.0 - 2.0**-53, -1e300],
            "at least 1",
        ),
        (checks.positive, [5e-324, 1e100], [0.0, -0.0, -1e-9], "above 0"),
    ],
    ids=["unit", "unit open at zero", "at least", "positive"],
)
def test_intervals_end_where_they_say(
    check: Callable[[str, object], float], inside: list[float], outside: list[float], text: str
) -> None:
    for value in inside:
        assert check("x", value) == value
    for value in outside:
        with pytest.raises(InvalidValue) as error:
            check("x", value)
        assert str(error.value) == f"x must be {text}, got {value!r}"
    with pytest.raises(InvalidValue, match="finite, got nan"):
        check("x", math.nan)


@pytest.mark.parametrize(
    ("value", "kind"), [("GAUSSIAN", InvalidValue), ("", InvalidValue), (1, InvalidType)]
)
def test_a_choice_lists_what_is_allowed(value: object, kind: type[ThriftyError]) -> None:
    with pytest.raises(kind) as error:
        checks.choice("law", value, ("gaussian", "beta"))
    assert str(error.value) == f"law must be one of gaussian, beta, got {value!r}"


@pytest.mark.parametrize(
    "values",
    [
        [1, 2],
        (1.0, 2),
        np.array([1, 2]),
        np.array([1, 2], np.float32),
        [np.float32(1), np.int64(2)],
        (x for x in (1.0, 2.0)),
        range(1, 3),
    ],
    ids=lambda values: type(values).__name__,
)
def test_numbers_in_any_container_become_a_tuple_of_floats(values: object) -> None:
    clean = checks.numbers("means", values)
    assert clean == (1.0, 2.0)
    assert {type(x) for x in clean} == {float}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (None, "means must be a sequence of numbers, got None"),
        (0.5, "means must be a sequence of numbers, got 0.5"),
        ("0.5", "means must be a sequence of numbers, got '0.5'"),
        ([[0.5], [0.4]], "means must be a flat sequence of numbers, got [[0.5], [0.4]]"),
        ([0.5, [0.4]], "means must be a flat sequence of numbers, got [0.5, [0.4]]"),
        (np.float64(0.5), "means must be a sequence of numbers"),
        (np.array(0.5), "means must be a flat sequence of numbers"),
        (b"ab", "means must be a sequence of numbers, got b'ab'"),
        ({0.5, 0.25}, "means must be a sequence of numbers, got {"),  # in which order?
        ([None, 0.5], "means[0] must be a number, got None"),
        (["0.5"], "means[0] must be a number, got '0.5'"),
        ([0.5, True], "means[1] must be a number, got True"),  # NumPy would make it 1.0
        ([0.5j], "means[0] must be a number, got 0.5j"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_is_not_a_flat_sequence_of_numbers_is_refused(values: object, text: str) -> None:
    with pytest.raises(InvalidType) as error:
        checks.numbers("means", values)
    assert str(error.value).startswith(text)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([], "means must have at least one entry, got none"),
        (np.zeros(0), "means must have at least one entry, got none"),
        ([0.5, math.nan, math.inf], "means[1] must be finite, got nan"),
        ([0.5, 0.4, -math.inf], "means[2] must be finite, got -inf"),
        ([10**400], f"means[0] must be finite, got {checks.shown(10**400)}"),
        ([0.5, -1.1e100], "means[1] must be at most 1e+100 in size, got -1.1e+100"),
    ],
)
def test_numbers_are_some_and_finite(values: object, text: str) -> None:
    with pytest.raises(InvalidValue) as error:
        checks.numbers("means", values)
    assert str(error.value) == text


def test_an_integer_of_thousands_of_digits_is_shown_alike_by_every_python() -> None:
    assert checks.shown([10**5000, -(10**5000), 7]) == "[a huge int, a huge int, 7]"
