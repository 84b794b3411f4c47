"""An array of a state as kernels see it: where its rows begin, and how many there are.

``state.pulls[i]`` is all that most kernels do with one. To Numba an array is seven words, and an index may be
negative: what that takes to compile, for a thousand places, was a third of a first decision. So a field has a
type of its own, with what kernels need: an element to read or write, ``size``, ``shape``, ``len`` and slices.
An index must not be negative. ``array`` makes Numba's array of it, for functions of the user's own.
"""

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    infer_getattr,
    lower_builtin,
    lower_getattr,
    models,
    register_model,
    type_callable,
)

WORD = ir.IntType(64)
INDEX: Any = types.intp
PAIR: Any = types.UniTuple(types.intp, 2)


class RowsType(types.Type):
    """Rows of so many numbers each, of eight bytes."""

    def __init__(self, dtype: Any, columns: int) -> None:
        self.dtype, self.columns, self.ndim = dtype, columns, 1 if columns == 1 else 2
        super().__init__(name=f"thrifty.Rows({dtype}, {columns})")


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, manager: Any, kind: RowsType) -> None:
        super().__init__(manager, kind, [("data", types.CPointer(kind.dtype)), ("rows", types.intp)])


def made(context: Any, builder: Any, kind: RowsType, data: Any, rows: Any) -> Any:
    """The value of such a type."""
    value, pointer = (context.get_value_type(each) for each in (kind, types.CPointer(kind.dtype)))
    value = builder.insert_value(ir.Constant(value, ir.Undefined), builder.bitcast(data, pointer), 0)
    return builder.insert_value(value, rows, 1)


def _element(builder: Any, kind: RowsType, value: Any, index: Any) -> Any:
    """Where an element is: of an index (row) or (row, column)."""
    if kind.columns > 1:
        row, column = (builder.extract_value(index, place) for place in range(2))
        index = builder.add(builder.mul(row, WORD(kind.columns)), column)
    return builder.gep(builder.extract_value(value, 0), [index], source_etype=WORD)


# Types: asked before Numba's own, of which there are twenty.


def _index(field: Any, index: Any) -> Any:
    if isinstance(field, RowsType):
        if field.columns == 1 and isinstance(index, types.Integer):
            return INDEX
        if field.columns > 1 and isinstance(index, types.BaseTuple) and len(index) == 2:
            return PAIR
    return None


@infer_global(operator.getitem)
class _Get(AbstractTemplate):
    metadata = {"target": "cpu"}  # noqa: RUF012

    def generic(self, args: Any, kws: Any) -> Any:
        field, index = args
        if isinstance(field, RowsType) and index == types.slice2_type:
            return signature(field, field, index)
        found = _index(field, index)
        return None if found is None else signature(field.dtype, field, found)


@infer_global(operator.setitem)
class _Set(AbstractTemplate):
    metadata = {"target": "cpu"}  # noqa: RUF012

    def generic(self, args: Any, kws: Any) -> Any:
        found = _index(*args[:2])
        return None if found is None else signature(types.none, args[0], found, args[0].dtype)


@infer_global(len)
class _Len(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], RowsType) else None


@infer_getattr
class _Attributes(AttributeTemplate):
    key = RowsType

    def resolve_size(self, kind: RowsType) -> Any:
        return types.intp

    def resolve_shape(self, kind: RowsType) -> Any:
        return types.UniTuple(types.intp, kind.ndim)


# Code.


@lower_builtin(operator.getitem, RowsType, types.Any)
def _get(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    kind, index = signature.args
    if index == types.slice2_type:
        return _slice(context, builder, kind, *values)
    place = _element(builder, kind, *values)
    return builder.load(place, typ=context.get_value_type(kind.dtype))


@lower_builtin("static_getitem", RowsType, types.Integer)
def _get_constant(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    kind = signature.args[0]
    place = _element(builder, kind, values[0], WORD(values[1]))
    return builder.load(place, typ=context.get_value_type(kind.dtype))


@lower_builtin(operator.setitem, RowsType, types.Any, types.Any)
def _set(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    field, index, value = values
    builder.store(value, _element(builder, signature.args[0], field, index))
    return context.get_dummy_value()


@lower_builtin("static_setitem", RowsType, types.Integer, types.Any)
def _set_constant(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return _set(context, builder, signature, (values[0], WORD(values[1]), values[2]))


def _slice(context: Any, builder: Any, kind: RowsType, value: Any, bounds: Any) -> Any:
    """Rows from start to stop, as far as there are any."""
    asked = cgutils.create_struct_proxy(types.slice2_type)(context, builder, bounds)
    stop = builder.extract_value(value, 1)
    stop = builder.select(builder.icmp_signed("<", asked.stop, stop), asked.stop, stop)
    start = builder.select(builder.icmp_signed("<", asked.start, stop), asked.start, stop)
    data = builder.gep(
        builder.extract_value(value, 0), [builder.mul(start, WORD(kind.columns))], source_etype=WORD
    )
    return made(context, builder, kind, data, builder.sub(stop, start))


@lower_builtin(len, RowsType)
def _len(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    return builder.extract_value(values[0], 1)


@lower_getattr(RowsType, "size")
def _size(context: Any, builder: Any, kind: RowsType, value: Any) -> Any:
    return builder.mul(builder.extract_value(value, 1), WORD(kind.columns))


@lower_getattr(RowsType, "shape")
def _shape(context: Any, builder: Any, kind: RowsType, value: Any) -> Any:
    return cgutils.pack_array(builder, [builder.extract_value(value, 1), WORD(kind.columns)][: kind.ndim])


# Memory that lies afar.


def fetch(field: Any, i: int) -> None:
    """For kernels: row i is needed soon. Nobody waits for it, so that several come side by side."""


@type_callable(fetch)
def _typed_fetch(context: Any) -> Any:
    return lambda field, i: types.none if isinstance(field, RowsType) else None


@lower_builtin(fetch, RowsType, types.Integer)
def _fetch(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    row = context.cast(builder, values[1], signature.args[1], INDEX)
    data = builder.extract_value(values[0], 0)
    place = builder.gep(data, [builder.mul(row, WORD(signature.args[0].columns))], source_etype=WORD)
    place = builder.bitcast(place, ir.PointerType())
    flags = [ir.IntType(32)(flag) for flag in (0, 3, 1)]  # to read, to be kept in all caches, data
    kind = ir.FunctionType(ir.VoidType(), [place.type, *(flag.type for flag in flags)])
    builder.call(builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind), [place, *flags])
    return context.get_dummy_value()


# Arrays of Numba.


def array(field: Any) -> Any:
    """For kernels: Numba's array of a field."""
    return field


def readable(field: Any) -> Any:
    """The same, for functions that must not write into it."""
    window = field.view()
    window.flags.writeable = False
    return window


@type_callable(array)
def _typed_array(context: Any) -> Any:
    return lambda field: types.Array(field.dtype, field.ndim, "C") if isinstance(field, RowsType) else field


@type_callable(readable)
def _typed_readable(context: Any) -> Any:
    return lambda field: _typed_array(context)(field).copy(readonly=True)


@lower_builtin(array, types.Any)
@lower_builtin(readable, types.Any)
def _array(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    field = signature.args[0]
    if not isinstance(field, RowsType):
        return values[0]
    array = cgutils.create_struct_proxy(signature.return_type)(context, builder)
    array.data, rows = (builder.extract_value(values[0], place) for place in range(2))
    shape, strides = [rows, WORD(field.columns)], [WORD(8 * field.columns), WORD(8)]
    array.shape = cgutils.pack_array(builder, shape[: field.ndim])
    array.strides = cgutils.pack_array(builder, strides[: field.ndim])
    array.itemsize, array.nitems = WORD(8), builder.mul(*shape)
    return array._getvalue()
