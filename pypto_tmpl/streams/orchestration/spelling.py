"""How types and numbers are spelt in C++ text."""

from __future__ import annotations

import math
from ctypes import c_float

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.spelling import float_text as full_text

TENSOR, TASK_ID, CONTEXT = "ChipTensor", "PTO2TaskId", "uint64_t"
MADE_TENSOR = "const ChipTensor&"

_TYPES = {
    DataType.BOOL: "bool",
    DataType.INT8: "int8_t", DataType.INT16: "int16_t", DataType.INT32: "int32_t", DataType.INT64: "int64_t",
    DataType.UINT8: "uint8_t", DataType.UINT16: "uint16_t", DataType.UINT32: "uint32_t",
    DataType.UINT64: "uint64_t", DataType.INDEX: "int64_t",
    DataType.FP16: "half", DataType.FP32: "float", DataType.BF16: "bfloat16_t",
    DataType.TASK_ID: TASK_ID,
}  # fmt: skip
_RUN_TIME_NAMES = {
    DataType.FP16: "FLOAT16", DataType.FP32: "FLOAT32", DataType.BF16: "BFLOAT16", DataType.INDEX: "INT64",
    DataType.FP4: "FP4E2M1",
}  # fmt: skip
_SAME_NAME = {
    DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64,
    DataType.UINT8, DataType.UINT16, DataType.UINT32, DataType.UINT64,
    DataType.FP8E4M3FN, DataType.FP8E5M2, DataType.FP8E8M0,
}  # fmt: skip


def cpp_type(dtype: DataType) -> str:
    """The type of a scalar on the host. Raises Obstacle for a dtype that the host does not compute in."""
    found = _TYPES.get(dtype)
    if found is None:
        raise Obstacle(f"the dtype {dtype.name} has no C++ type")
    return found


def run_time_dtype(dtype: DataType) -> str:
    """The name of a dtype in the run time's ``DataType``."""
    return dtype.name if dtype in _SAME_NAME else _RUN_TIME_NAMES.get(dtype, "UNKNOWN")


def declared_type(type_: ir.Type) -> str:
    """The type that a variable is declared with. Raises Obstacle for one that has no value on the host."""
    if isinstance(type_, ir.ScalarType):
        return cpp_type(type_.dtype)
    if isinstance(type_, ir.TensorType):
        return TENSOR
    if isinstance(type_, ir.CommCtxType):
        return CONTEXT
    raise Obstacle(f"a {type(type_).__name__} has no C++ type")


def float_text(value: float) -> str:
    """A float with six decimals, or in full where these do not tell it. Raises Obstacle for inf and nan."""
    text = f"{value:.6f}"
    if not math.isfinite(value):
        raise Obstacle(f"the float {text} has no C++ literal")
    is_told = c_float(float(text)).value == c_float(value).value
    return text if is_told else full_text(value)
