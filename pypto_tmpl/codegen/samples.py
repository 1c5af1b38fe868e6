"""The text that an op's macro makes of the calls in the entry's ``samples``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.environment import OpMacros
from pypto_tmpl.codegen.filters import py_literal
from pypto_tmpl.codegen.operands import Operand, bind_attributes, bind_operands
from pypto_tmpl.codegen.static_regions import static_region
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.sample_checks import typed_value
from pypto_tmpl.ops.samples import sample_type
from pypto_tmpl.ops.typing import InferenceError


def emit_sample(macros: OpMacros, entry: OpEntry, sample: Mapping[str, Any]) -> str:
    """The expression of the call in ``sample``, operands standing under their own names.

    What the operands do not tell of the result is shown in angle brackets.
    """
    values = {name: _operand(name, value) for name, value in sample.items() if name in entry.operand_names}
    keywords = {name: value for name, value in sample.items() if name in entry.kwarg_names}
    operands = bind_operands(entry, [values.get(name) for name in entry.operand_names])
    attributes = bind_attributes(
        entry, keywords, result=_result(entry, sample), in_kernel=entry.namespace == "tile"
    )
    return macros.call(entry, operands, attributes)


def _operand(name: str, value: Any) -> Operand:
    """``FP32[16, 32] valid [8, 20]`` is a tile or tensor, a list a tuple, anything else Python text."""
    typed = typed_value(value)
    if typed is not None:
        dtype, shape, valid = typed
        return _shaped(name, dtype, [str(extent) for extent in shape], [str(extent) for extent in valid])
    if isinstance(value, list):
        return Operand(py_literal(value), items=[py_literal(item) for item in value])
    text = value if isinstance(value, str) else py_literal(value)
    return Operand(text, is_literal=not text.isidentifier())


def _shaped(name: str, dtype: str, shape: list[str], valid: list[str], memory: str | None = None) -> Operand:
    items = None if valid == shape else valid
    text = None if items is None else f"[{', '.join(items)}]"
    return Operand(name, dtype_name=dtype, shape=shape, valid=text, valid_items=items, memory=memory)


def _result(entry: OpEntry, sample: Mapping[str, Any]) -> Operand:
    try:
        type_ = sample_type(entry, dict(sample))
    except (InferenceError, TypeError, ValueError):
        return Operand("result", shape=["<rows>", "<columns>"], valid="<valid>", valid_items=["<valid>"])
    if isinstance(type_, ir.ScalarType):
        return Operand("result", dtype_name=type_.dtype.name)
    if not isinstance(type_, ir.ShapedType):
        return Operand("result")
    region = static_region(type_) or type_.shape
    shape, valid = ([ir.python_print(extent) for extent in part] for part in (type_.shape, region))
    space = type_.memory_space if isinstance(type_, ir.TileType) else None
    return _shaped("result", type_.dtype.name, shape, valid, space.name if space is not None else None)
