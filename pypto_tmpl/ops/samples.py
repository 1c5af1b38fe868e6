"""Calls made up from an entry's ``samples``."""

from __future__ import annotations

import ast
import math
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.ops.calls.arguments import keyword_of, operand_of
from pypto_tmpl.ops.model import OpEntry, OperandSpec, Sample
from pypto_tmpl.ops.sample_checks import typed_value
from pypto_tmpl.ops.typing import infer_type

_HERE = ir.Span.unknown()


def sample_type(entry: OpEntry, sample: Sample) -> ir.Type:
    """The type of a sample's result; InferenceError where its operands do not tell it."""
    operands = [_operand(spec, sample[spec.name]) for spec in entry.operands if spec.name in sample]
    specs = [spec for spec in entry.kwargs if spec.name in sample]
    keywords = ir.AttrMap([(spec.name, keyword_of(spec, sample[spec.name])) for spec in specs], of_op=True)
    return infer_type(entry, operands, keywords)


def _operand(spec: OperandSpec, value: Any) -> ir.Expr:
    """``FP32[16, 32] valid [8, 20]`` is a tile or tensor, a list a tuple, other text a Python value."""
    typed = typed_value(value)
    if typed is not None:
        return ir.Var(spec.name, _type(spec, *typed), _HERE)
    plain = _python(value)
    if plain is None:  # a handle or a task, which has no value in a sample
        return ir.Var(spec.name, ir.ScalarType(ir.DataType.TASK_ID), _HERE)
    return operand_of(plain, _HERE)


def _python(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return float(value) if value.strip("-") == "inf" else ast.literal_eval(value)


def _type(spec: OperandSpec, dtype: str, shape: list[int], valid: list[int]) -> ir.Type:
    element, region = DATA_TYPES[dtype], valid if valid != shape else []
    if "array" in spec.kinds:
        return ir.ArrayType(element, math.prod(shape))
    if "tile" in spec.kinds:
        space = ir.MemorySpace[spec.memory[0]] if spec.memory else ir.MemorySpace.Vec
        return ir.TileType(shape, element, None, ir.TileView(region) if region else None, space)
    view = ir.TensorView([], ir.TensorLayout.ND, region) if region else None
    return ir.TensorType(shape, element, None, view)
