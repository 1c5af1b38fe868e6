"""Which dtype of torch carries each dtype, by name: scripts, arguments and specialisation agree on it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pypto_tmpl.ir.dtypes import DATA_TYPES, DataType

_OWN = {
    "FP16": "float16", "FP32": "float32", "BF16": "bfloat16", "INT8": "int8", "INT16": "int16",
    "INT32": "int32", "INT64": "int64", "UINT8": "uint8", "UINT16": "uint16", "UINT32": "uint32",
    "UINT64": "uint64", "BOOL": "bool", "FP8E4M3FN": "float8_e4m3fn", "FP8E5M2": "float8_e5m2",
    "FP8E8M0": "float8_e8m0fnu", "FP4": "float4_e2m1fn_x2",
}  # fmt: skip
_LENT = {"INT4": "int8", "UINT4": "uint8", "INDEX": "int64", "TASK_ID": "int64", "HF8": "uint8"}

TORCH_NAMES: Mapping[str, str] = MappingProxyType(_OWN | _LENT)
"""The carrier of each dtype that has one, which may be that of another dtype."""

OF_TORCH: Mapping[str, DataType] = MappingProxyType({torch: DATA_TYPES[name] for name, torch in _OWN.items()})
"""The dtype that each of torch's is."""
