"""How kernels see a state: as a pointer to its block of memory, of which ``state.pulls`` makes an array.

A state has dozens of arrays. Handed from kernel to kernel one by one, each as a pointer, shape and strides,
they would make calls slow and compilation slower still. So kernels hand on one pointer, and an array is made
from two words of the header where it is used. These never change while a kernel runs, and the compiler is
told so: it reads them once and not in every round.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from thrifty.jit import config
from thrifty.state.fields import Field
from thrifty.state.rows import WORD, RowsType, made

OFFSET, ROWS, COLUMNS = range(3)  # of a field, in the header

BLOCK = Field("block", np.int64)  # all of it, as integers; its size is the first word
_places: dict[str, tuple[Field, int]] = {"block": (BLOCK, -ROWS)}  # the fields, and where in the header
_numbers: dict[str, tuple[Any, int]] = {}  # NamedTuples of numbers, and where in the header


def declare(field: Field, place: int) -> None:
    """``state.name`` is the field whose entry in the header begins at this word."""
    _places[field.name] = field, place


def declare_numbers(name: str, numbers: Any, place: int) -> None:
    """``state.rule`` has the numbers of a NamedTuple, in the field whose entry begins at this word."""
    _numbers[name] = numbers, place


def words(capacity: int) -> int:
    """How many a header takes."""
    return 3 * len(_places) - 2  # the block has no entry, but one word: its size


class StateType(types.Type):
    """What a state is to the compiler: a pointer to its block."""

    def __init__(self) -> None:
        super().__init__(name="thrifty.State")


class NumbersType(types.Type):
    """What a rule is to the compiler: a pointer to its first word."""

    def __init__(self, name: str) -> None:
        super().__init__(name=f"thrifty.{name}")
        self.numbers = name


register_model(StateType)(models.OpaqueModel)
register_model(NumbersType)(models.OpaqueModel)
STATE = StateType()


@infer_getattr
class _Fields(AttributeTemplate):
    key = StateType

    def generic_resolve(self, state: StateType, name: str) -> types.Type | None:  # type: ignore[override]
        if name in _numbers:
            return NumbersType(name)
        if name not in _places:
            return None
        field = _places[name][0]
        return RowsType(numba.from_dtype(np.dtype(field.dtype)), max(field.columns, 1))


@infer_getattr
class _Numbers(AttributeTemplate):
    key = NumbersType

    def generic_resolve(self, numbers: NumbersType, name: str) -> types.Type | None:  # type: ignore[override]
        kinds = _numbers[numbers.numbers][0].__annotations__
        return None if name not in kinds else types.float64 if kinds[name] is float else types.int64


def _word(builder: Any, pointer: Any, number: int, kind: Any = WORD) -> Any:
    """A word that never changes while a kernel runs."""
    place = builder.gep(builder.bitcast(pointer, ir.PointerType()), [WORD(number)], source_etype=WORD)
    value = builder.load(place, typ=kind)
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _within(builder: Any, pointer: Any, offset: Any) -> Any:
    """Where the word of this number is."""
    return builder.gep(builder.bitcast(pointer, ir.PointerType()), [offset], source_etype=WORD)


@lower_getattr_generic(StateType)
def _field(context: Any, builder: Any, state: StateType, pointer: Any, name: str) -> Any:
    kind = context.typing_context.resolve_getattr(state, name)
    if name in _numbers:
        start = _word(builder, pointer, _numbers[name][1] + OFFSET)
        return builder.bitcast(_within(builder, pointer, start), context.get_value_type(kind))
    field, place = _places[name]
    start = _word(builder, pointer, place + OFFSET) if place > 0 else WORD(0)
    rows = _word(builder, pointer, place + ROWS)
    if field.columns == 0:
        rows = builder.mul(rows, _word(builder, pointer, place + COLUMNS))
    return made(context, builder, kind, _within(builder, pointer, start), rows)


@lower_getattr_generic(NumbersType)
def _number(context: Any, builder: Any, numbers: NumbersType, pointer: Any, name: str) -> Any:
    kinds = _numbers[numbers.numbers][0].__annotations__
    return _word(builder, pointer, list(kinds).index(name), ir.DoubleType() if kinds[name] is float else WORD)


@intrinsic
def _at(typing, block):
    """The state in this block."""

    def make(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        if isinstance(block, RowsType):
            data = builder.extract_value(values[0], 0)
        else:
            data = cgutils.create_struct_proxy(block)(context, builder, values[0]).data
        return builder.bitcast(data, context.get_value_type(STATE))

    return STATE(block), make


class State:
    """The same for Python, and for kernels that are interpreted: a field is a window on the block, made when
    it is first asked for. A second header may lie inside of a block: then so much of it is given."""

    def __init__(self, block: Any) -> None:
        self.block = block

    def __getattr__(self, name: str) -> Any:
        whole, found = self.block if self.block.base is None else self.block.base, None
        at = (self.block.ctypes.data - whole.ctypes.data) // 8  # from where in the block the header counts
        if name in _places:
            field, place = _places[name]
            start, rows, columns = self.block[place : place + 3].tolist()
            window = whole[at + start : at + start + rows * columns].view(field.dtype)
            found = window.reshape(rows, columns) if field.columns > 1 else window
        elif name in _numbers:
            kind, place = _numbers[name]
            start, rows = self.block[place : place + 2].tolist()
            words = whole[at + start : at + start + rows]
            floats = words.view(np.float64)
            kinds = kind.__annotations__.values()
            found = kind(*(of((floats if of is float else words)[i]) for i, of in enumerate(kinds)))
        else:
            raise AttributeError(name)
        setattr(self, name, found)
        return found


opened: Any = State if config.DISABLE_JIT else _at  # the state that a block holds
