"""Sums, comparisons, ``min``, ``max`` and ``int`` of plain numbers, as Numba has them but typed at once.

Kernels do little else. Numba asks a dozen rules for each of these, and compiles a function for every ``min``:
an eighth of a first decision. The rules here are asked first, and know int64 and float64 alone: what they
return is what Numba's own would, and all other types are left to those.
"""

import operator
from typing import Any

from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin

int64, float64, boolean = types.int64, types.float64, types.boolean
NUMBERS = (int64, float64)


def _kind(a: Any, b: Any) -> Any:
    """As what two numbers are added or compared."""
    return int64 if a == b == int64 else float64


PAIRS = [(a, b, _kind(a, b)) for a in NUMBERS for b in NUMBERS]


def _type(known: dict[Any, Any], *functions: Any) -> None:
    """A rule that is asked first: which signature these functions have for types that are known."""

    class Rule(AbstractTemplate):
        metadata = {"target": "cpu"}  # noqa: RUF012

        def generic(self, args: Any, kws: Any) -> Any:
            # Numba asks again with a list, in which what may be None is taken for what may not.
            return known.get(args) if isinstance(args, tuple) and not kws else None

    for function in functions:
        infer_global(function)(Rule)


_type(
    {(a, b): signature(kind, kind, kind) for a, b, kind in PAIRS},
    operator.add, operator.sub, operator.mul, operator.iadd, operator.isub, operator.imul, min, max,
)  # fmt: skip
_type(
    {(a, b): signature(kind, kind, kind) for a, b, kind in PAIRS if kind == float64},
    operator.truediv, operator.itruediv,
)  # fmt: skip
_type(
    {(a, b): signature(boolean, kind, kind) for a, b, kind in PAIRS},
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
)  # fmt: skip
_type({(kind,): signature(boolean, kind) for kind in (boolean, *NUMBERS)}, bool)
_type({(kind,): signature(int64, kind) for kind in NUMBERS}, int)


@lower_builtin(int, int64)
@lower_builtin(int, float64)
def _int(context: Any, builder: Any, made: Any, values: Any) -> Any:
    return context.cast(builder, values[0], made.args[0], made.return_type)


def _lower(function: Any, relation: str) -> None:
    """The later one, if it is less (or more), else the first: so Python treats a NaN."""

    @lower_builtin(function, int64, int64)
    @lower_builtin(function, float64, float64)
    def make(context: Any, builder: Any, made: Any, values: Any) -> Any:
        compare = builder.icmp_signed if made.return_type == int64 else builder.fcmp_ordered
        return builder.select(compare(relation, values[1], values[0]), values[1], values[0])


_lower(min, "<")
_lower(max, ">")
