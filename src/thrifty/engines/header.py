"""How kernels see a state: by its header, which says where each field lies and how many rows it has.

A state has some forty arrays. Handed from kernel to kernel one by one, each as a pointer, shape and strides,
they would make calls slow and compilation slower still. So kernels hand on one pointer, to the header, and
``state.pulls`` is made from two numbers where it is used. So it is with the rule, which lies in the state.
None of these change while a kernel runs, and the compiler is told so: it reads them once and not in every
round.
"""

import ctypes
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, overload, register_model
from numba.np import numpy_support
from numba.np.arrayobj import make_array, populate_array

from thrifty.engines.state import COLUMNS, DTYPES, Integers, Rule, State

WORD = 8  # bytes of an item, whatever it is


def opened(header: Integers) -> State:
    """The state with this header. Its memory has to be kept by the caller."""
    fields: dict[str, Any] = {"header": header}
    for (name, columns), (address, rows) in zip(COLUMNS.items(), header.reshape(-1, 2).tolist(), strict=True):
        words: Any = (ctypes.c_int64 * (rows * columns)).from_address(address)
        items = np.frombuffer(words, DTYPES[name])
        fields[name] = items.reshape(rows, columns) if columns > 1 else items
    return State(**fields)


def rule_of(state: State) -> Rule:
    """The rule that a state follows."""
    floats = state.rule.view(np.float64)
    return Rule(
        *(kind((floats if kind is float else state.rule)[word]) for word, kind in enumerate(KINDS.values()))
    )


KINDS: dict[str, Any] = Rule.__annotations__
TYPES: dict[Any, Any] = {int: types.int64, float: types.float64, bool: types.boolean}


class StateType(types.Type):
    """What a state is to the compiler."""

    def __init__(self) -> None:
        super().__init__(name="thrifty.State")


class RuleType(types.Type):
    """What a rule is to the compiler."""

    def __init__(self) -> None:
        super().__init__(name="thrifty.Rule")


register_model(StateType)(models.OpaqueModel)
register_model(RuleType)(models.OpaqueModel)


@infer_getattr
class _StateFields(AttributeTemplate):
    key = StateType

    def generic_resolve(self, state: StateType, name: str) -> types.Array | None:  # type: ignore[override]
        if name not in COLUMNS:
            return None
        return types.Array(numpy_support.from_dtype(DTYPES[name]), 1 if COLUMNS[name] == 1 else 2, "C")


@infer_getattr
class _RuleFields(AttributeTemplate):
    key = RuleType

    def generic_resolve(self, rule: RuleType, name: str) -> types.Type | None:  # type: ignore[override]
        return TYPES[KINDS[name]] if name in KINDS else None


def _read(builder: Any, pointer: Any, kind: Any, number: int) -> Any:
    """A word that never changes."""
    value = builder.load(builder.gep(builder.bitcast(pointer, kind.as_pointer()), [ir.IntType(64)(number)]))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


@lower_getattr_generic(StateType)
def _state_field(context: Any, builder: Any, state: StateType, pointer: Any, name: str) -> Any:
    columns, position, word = COLUMNS[name], list(COLUMNS).index(name), ir.IntType(64)
    address, rows = (_read(builder, pointer, word, 2 * position + entry) for entry in range(2))
    kind = context.typing_context.resolve_getattr(state, name)
    array = make_array(kind)(context, builder)
    data = builder.inttoptr(address, context.get_data_type(kind.dtype).as_pointer())
    shape, strides = [rows], [word(WORD)]
    if columns > 1:
        shape, strides = [rows, word(columns)], [word(WORD * columns), word(WORD)]
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=word(WORD), meminfo=None)
    return array._getvalue()


@lower_getattr_generic(RuleType)
def _rule_field(context: Any, builder: Any, rule: RuleType, pointer: Any, name: str) -> Any:
    position, kind = list(KINDS).index(name), KINDS[name]
    if kind is float:
        return _read(builder, pointer, ir.DoubleType(), position)
    value = _read(builder, pointer, ir.IntType(64), position)
    return builder.icmp_signed("!=", value, value.type(0)) if kind is bool else value


def _pointer_to(kind: types.Type) -> Any:
    """An intrinsic: an array's address, taken for a pointer to that."""

    @intrinsic
    def pointer(typing, array):
        def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.bitcast(data, context.get_value_type(signature.return_type))

        return kind(array), make

    return pointer


_state, _rule = _pointer_to(StateType()), _pointer_to(RuleType())


@overload(opened)
def _opened(header):
    return lambda header: _state(header)


@overload(rule_of)
def _rule_of(state):
    return lambda state: _rule(state.rule)
