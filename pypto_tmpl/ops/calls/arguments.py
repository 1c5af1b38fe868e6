"""From arguments to operands and keyword values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.ops.calls.context import Argument, OpCallError, shown_argument
from pypto_tmpl.ops.model import KwargSpec
from pypto_tmpl.ops.vocabulary import ENUMERATIONS, HANDLES

_KINDS: Mapping[type[ir.Type], str] = MappingProxyType(
    {
        ir.TensorType: "tensor",
        ir.DistributedTensorType: "tensor",
        ir.TileType: "tile",
        ir.ScalarType: "scalar",
        ir.TupleType: "tuple",
        ir.PtrType: "ptr",
        ir.ArrayType: "array",
        **dict.fromkeys(HANDLES.values(), "handle"),
    }
)
_PAD_NUMBERS: Mapping[float, ir.PadValue] = MappingProxyType(
    {0.0: ir.PadValue.zero, math.inf: ir.PadValue.max, -math.inf: ir.PadValue.min}
)


def kind_of(value: Argument) -> str:
    """What the op table calls a value of that sort; ``unknown`` where the type of a call is not known yet."""
    if isinstance(value, ir.Expr):
        return _KINDS.get(type(value.type), "unknown")
    if isinstance(value, (bool, int, float, ir.MemorySpace)):
        return "scalar"
    if isinstance(value, (list, tuple)):
        return "tuple"
    return "other"


def is_computed(value: Argument) -> bool:
    """Whether an argument is known at run time only, or a list: nothing that a keyword stores."""
    if isinstance(value, ir.Expr):
        return not isinstance(value, (ir.ConstInt, ir.ConstFloat, ir.ConstBool))
    return isinstance(value, (list, tuple))


def operand_of(value: Argument, span: ir.Span, dtype: ir.DataType | None = None) -> ir.Expr:
    """The operand that an argument is; a literal is of ``dtype`` where one is given."""
    if isinstance(value, ir.ConstInt):
        is_placeholder = dtype is not None and value.dtype == ir.DataType.INDEX
        return integer(value.value, dtype, span) if dtype and is_placeholder else value
    if isinstance(value, ir.Expr):
        for item in value.elements if isinstance(value, ir.MakeTuple) else ():
            _check_item(item)
        return value
    if isinstance(value, bool):
        return ir.ConstBool(value, span)
    if isinstance(value, int):
        return integer(value, dtype or ir.DataType.INDEX, span)
    if isinstance(value, float):
        of_float = dtype is not None and dtype.is_float()
        return ir.ConstFloat(value, dtype if of_float and dtype else ir.DataType.FP32, span)
    if isinstance(value, ir.MemorySpace):
        return ir.ConstInt(value.value, ir.DataType.INDEX, span)
    if isinstance(value, (list, tuple)):
        items = [operand_of(item, span) for item in value]
        for item in items:
            _check_item(item)
        return ir.MakeTuple(items, span)
    raise OpCallError(f"{shown_argument(value)} is no operand")


def _check_item(item: ir.Expr) -> None:
    """Lists among the operands are extents and offsets."""
    if not (isinstance(item.type, ir.ScalarType) and item.type.dtype.is_int()):
        raise OpCallError(f"a list of extents or offsets holds integers, not {shown_argument(item)}")


def integer(value: int, dtype: ir.DataType, span: ir.Span) -> ir.ConstInt:
    """An integer constant; an error where it is no 64-bit integer."""
    if not -(2**63) <= value < 2**63:
        raise OpCallError(f"an integer constant has 64 bits, and {value} has {value.bit_length()}")
    return ir.ConstInt(value, dtype, span)


def keyword_of(spec: KwargSpec, value: Argument) -> Any:
    """The value that a call stores for a keyword; OpCallError where the keyword cannot have it."""
    plain = _python(value)
    found = _CONVERSIONS[spec.type](spec, plain)
    if found is None:
        raise OpCallError(
            f"the keyword {spec.name!r} is {_expected(spec)}, not {shown_argument(value)}",
            _members(spec, plain),
        )
    return found


def _python(value: Argument) -> Any:
    """The Python value of a constant, anything else as it is."""
    if isinstance(value, (ir.ConstInt, ir.ConstFloat, ir.ConstBool)):
        return value.value
    return value


def _int(spec: KwargSpec, value: Any) -> int | None:
    if spec.values:
        return _coded(spec, value)
    if isinstance(value, Enum) and isinstance(value.value, int):
        return value.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _coded(spec: KwargSpec, value: Any) -> int | None:
    """The code of an option: by its name, by an enumeration's member of that name, or as it is."""
    if isinstance(value, Enum):
        value = value.name
    if isinstance(value, str):
        return spec.values.get(value)
    known = isinstance(value, int) and not isinstance(value, bool) and value in spec.values.values()
    return value if known else None


def _float(spec: KwargSpec, value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _member(kind: type[Enum]) -> Callable[[KwargSpec, Any], Any]:
    def convert(spec: KwargSpec, value: Any) -> Any:
        if isinstance(value, str):
            return kind.__members__.get(value)
        return value if isinstance(value, kind) else None

    return convert


def _data_type(spec: KwargSpec, value: Any) -> ir.DataType | None:
    if isinstance(value, str):
        return DATA_TYPES.get(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return next((dtype for dtype in DATA_TYPES.values() if dtype.code() == value), None)
    return value if isinstance(value, ir.DataType) else None


def _pad_value(spec: KwargSpec, value: Any) -> ir.PadValue | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _PAD_NUMBERS.get(float(value))
    found: ir.PadValue | None = _member(ir.PadValue)(spec, value)
    return None if spec.required and found is ir.PadValue.null else found  # then there is nothing to pad with


_CONVERSIONS: Mapping[str, Callable[[KwargSpec, Any], Any]] = MappingProxyType(
    {
        "int": _int,
        "float": _float,
        "bool": lambda spec, value: value if isinstance(value, bool) else None,
        "str": lambda spec, value: value if isinstance(value, str) else None,
        "DataType": _data_type,
        **{name: _member(members) for name, members in ENUMERATIONS.items()},
        "PadValue": _pad_value,
    }
)
_EXPECTED: Mapping[str, str] = MappingProxyType(
    {
        "int": "an integer",
        "float": "a number",
        "bool": "True or False",
        "str": "a string",
        "DataType": "a data type",
    }
)


def _expected(spec: KwargSpec) -> str:
    if spec.values:
        return "one of " + ", ".join(spec.values)
    return _EXPECTED.get(spec.type, f"a {spec.type}")


def _members(spec: KwargSpec, value: Any) -> str | None:
    """The names that are allowed, where a name was given."""
    names = list(spec.values) or list(getattr(getattr(ir, spec.type, None), "__members__", ()))
    if spec.type == "PadValue" and spec.required:
        names.remove("null")
    return allowed_note("allowed", names, value if isinstance(value, str) else "") if names else None
