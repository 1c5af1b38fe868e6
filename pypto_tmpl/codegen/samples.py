"""Calls made up from an entry's ``samples``, to show the text that its macro emits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import reduce
from typing import Any, get_args

from pypto_tmpl.codegen.environment import OpMacros
from pypto_tmpl.codegen.filters import py_literal
from pypto_tmpl.codegen.operands import Operand, bind_attributes, bind_operands
from pypto_tmpl.ir.dtypes import DataType, common_dtype
from pypto_tmpl.ops.model import DTypeName, OpEntry
from pypto_tmpl.ops.typing.words import resolve_result

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
    region_of = values.get(spec.valid or "")
    whole = spec.valid in ("full", "none", None)
    return Operand(
        "result",
        dtype_name=_result_dtype(entry, spec.dtype, values, keywords),
        shape=_result_shape(entry, spec.shape or "", values) or ["<rows>", "<columns>"],
        valid=region_of.valid if region_of is not None else None if whole else "<valid>",
        valid_items=region_of.valid_items if region_of is not None else None if whole else ["<valid>"],
        memory=spec.memory,
    )


def _combined(entry: OpEntry, rule: str, values: Mapping[str, Operand]) -> list[Operand]:
    """The operands that a rule such as `promote` or `broadcast(lhs, rhs)` combines."""
    named = re.findall(r"\w+", rule.partition("(")[2])
    names = named or [operand.name for operand in entry.operands if not operand.scratch]
    return [values[name] for name in names if name in values]


def _result_shape(entry: OpEntry, rule: str, values: Mapping[str, Operand]) -> list[str] | None:
    if rule in values:
        return values[rule].shape
    shapes = [value.shape for value in _combined(entry, rule, values) if value.shape]
    if not rule.startswith("broadcast") or not shapes:
        return None
    rank = max(map(len, shapes))
    aligned = [["1"] * (rank - len(shape)) + shape for shape in shapes]
    return [
        next((extent for extent in extents if extent != "1"), "1") for extents in zip(*aligned, strict=True)
    ]


def _promoted(operands: list[Operand]) -> str | None:
    """The common dtype; a bare integer takes that of what it meets, a bare float is FP32."""
    names = [
        value.dtype_name or ("FP32" if value.is_literal and "." in value else None) for value in operands
    ]
    dtypes: list[DataType] = [getattr(DataType, name) for name in names if name]
    return reduce(common_dtype, dtypes).name if dtypes else None


def _result_dtype(
    entry: OpEntry, rule: str | None, values: Mapping[str, Operand], keywords: Mapping[str, Any]
) -> str | None:
    first = next((value.dtype_name for value in values.values() if value.dtype_name), None)
    for word in (rule or "").split(" or "):
        if word in get_args(DTypeName):
            return word
        if word in values:
            return values[word].dtype_name
        if word in keywords:
            return str(keywords[word])
        if word.startswith("promote"):
            return _promoted(_combined(entry, word, values))
    if rule in ("accumulate", "float_or_fp32") and first is not None:
        is_float = first.startswith(("FP", "BF", "HF"))
        floating = first if is_float and rule == "float_or_fp32" else "FP32"
        return floating if is_float or rule == "float_or_fp32" else "INT32"
    return first
