"""Calls made up from an entry's ``samples``, to show the text that its macro emits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from pypto_tmpl.codegen.environment import OpMacros
from pypto_tmpl.codegen.filters import py_literal
from pypto_tmpl.codegen.operands import Operand, bind_attributes, bind_operands
from pypto_tmpl.ops.model import DTypeName, OpEntry
from pypto_tmpl.ops.rules import resolve_result

_TYPED = re.compile(r"(?P<dtype>[A-Z][A-Z0-9]+)\[(?P<shape>[^\]]*)\](?:\s+valid\s+(?P<valid>\[[^\]]*\]))?")


def emit_sample(macros: OpMacros, entry: OpEntry, sample: Mapping[str, Any]) -> str:
    """The expression of the call in ``sample``, operands standing under their own names.

    What only type inference knows of the result is shown in angle brackets.
    """
    values = {name: _operand(name, value) for name, value in sample.items() if name in entry.operand_names}
    keywords = {name: value for name, value in sample.items() if name in entry.kwarg_names}
    operands = bind_operands(entry, [values.get(name) for name in entry.operand_names])
    attributes = bind_attributes(
        entry, keywords, result=_result(entry, values, keywords), in_kernel=entry.namespace == "tile"
    )
    return macros.call(entry, operands, attributes)


def _operand(name: str, value: Any) -> Operand:
    """``FP32[16, 32] valid [8, 20]`` is a tile or tensor, a list a tuple, anything else Python text."""
    typed = _TYPED.fullmatch(value) if isinstance(value, str) else None
    if typed is not None:
        valid = typed["valid"]
        return Operand(
            name,
            dtype_name=typed["dtype"],
            shape=_texts(typed["shape"]),
            valid=valid,
            valid_items=None if valid is None else _texts(valid[1:-1]),
        )
    if isinstance(value, list):
        return Operand(py_literal(value), items=[py_literal(item) for item in value])
    text = value if isinstance(value, str) else py_literal(value)
    items = _texts(text[1:-1]) if text.startswith("[") else None
    return Operand(text, items=items, is_literal=items is None and not text.isidentifier())


def _texts(extents: str) -> list[str]:
    return [text for item in extents.split(",") if (text := item.strip())]


def _result(entry: OpEntry, values: Mapping[str, Operand], keywords: Mapping[str, Any]) -> Operand:
    spec = resolve_result(entry)
    shape_of, region_of = values.get(spec.shape or ""), values.get(spec.valid or "")
    whole = spec.valid in ("full", "none", None)
    return Operand(
        "result",
        dtype_name=_result_dtype(spec.dtype, values, keywords),
        shape=shape_of.shape if shape_of is not None else ["<rows>", "<columns>"],
        valid=region_of.valid if region_of is not None else None if whole else "<valid>",
        valid_items=region_of.valid_items if region_of is not None else None if whole else ["<valid>"],
        memory=spec.memory,
    )


def _result_dtype(rule: str | None, values: Mapping[str, Operand], keywords: Mapping[str, Any]) -> str | None:
    first = next((value.dtype_name for value in values.values() if value.dtype_name), None)
    for word in (rule or "").split(" or "):
        if word in get_args(DTypeName):
            return word
        if word in values:
            return values[word].dtype_name
        if word in keywords:
            return str(keywords[word])
    if rule in ("accumulate", "float_or_fp32") and first is not None:
        is_float = first.startswith(("FP", "BF", "HF"))
        floating = first if is_float and rule == "float_or_fp32" else "FP32"
        return floating if is_float or rule == "float_or_fp32" else "INT32"
    return first
