"""Element types."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar


class DataType:
    """One element type, identified by its byte code; instances with equal codes are equal.

    Codes that no constant names are representable: they have 0 bits and print as ``unknown``.
    """

    __slots__ = ("_code", "name")

    name: str
    """Upper-case constant name (``BF16``), as printed programs spell it; ``UNKNOWN`` without one."""

    BOOL: ClassVar[DataType]
    INT4: ClassVar[DataType]
    INT8: ClassVar[DataType]
    INT16: ClassVar[DataType]
    INT32: ClassVar[DataType]
    INT64: ClassVar[DataType]
    INDEX: ClassVar[DataType]
    UINT4: ClassVar[DataType]
    UINT8: ClassVar[DataType]
    UINT16: ClassVar[DataType]
    UINT32: ClassVar[DataType]
    UINT64: ClassVar[DataType]
    FP4: ClassVar[DataType]
    FP8E4M3FN: ClassVar[DataType]
    FP8E5M2: ClassVar[DataType]
    FP16: ClassVar[DataType]
    FP32: ClassVar[DataType]
    FP8E8M0: ClassVar[DataType]
    BF16: ClassVar[DataType]
    HF4: ClassVar[DataType]
    HF8: ClassVar[DataType]
    TASK_ID: ClassVar[DataType]
    DEFAULT_CONST_INT: ClassVar[DataType]
    DEFAULT_CONST_FLOAT: ClassVar[DataType]

    def __init__(self, code: int) -> None:
        if not 0 <= code <= 0xFF:
            raise ValueError(f"a DataType code is one byte, got {code}")
        self._code = code
        self.name = _INFO[code][0] if code in _INFO else "UNKNOWN"

    def code(self) -> int:
        return self._code

    def get_bit(self) -> int:
        """Width of one element in bits; 0 for an unknown code."""
        return _INFO[self._code][1] if self._code in _INFO else 0

    def get_byte(self) -> int:
        """Width of one element in bytes, rounded up."""
        return (self.get_bit() + 7) // 8

    def to_string(self) -> str:
        return _INFO[self._code][2] if self._code in _INFO else "unknown"

    def to_c_type_string(self) -> str:
        """C type of one element, ``unknown`` where there is none."""
        if self._code == _FP64_CODE:
            return "double"
        return _INFO[self._code][3] if self._code in _INFO else "unknown"

    def is_float(self) -> bool:
        return 0x30 <= self._code <= 0x4F

    def is_signed_int(self) -> bool:
        return 0x10 <= self._code <= 0x1F

    def is_unsigned_int(self) -> bool:
        return 0x20 <= self._code <= 0x2F

    def is_int(self) -> bool:
        return self.is_signed_int() or self.is_unsigned_int()

    def is_index_like(self) -> bool:
        """True for INT64, UINT64 and INDEX."""
        return self in (DataType.INT64, DataType.UINT64, DataType.INDEX)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataType) and self._code == other._code

    def __hash__(self) -> int:
        return self._code

    def __repr__(self) -> str:
        return self.to_string()

    def __reduce__(self) -> tuple[type[DataType], tuple[int]]:
        return DataType, (self._code,)


_BYTE = 8  # bits
HALF_BYTE = 4
"""Bits of the dtypes of which two elements share a byte."""
_FP64_CODE = 0x35  # reserved upstream: a code without a constant and without a width

# code: (constant, bits, to_string, C type)
_INFO: dict[int, tuple[str, int, str, str]] = {
    0x00: ("BOOL", 1, "bool", "bool"),
    0x10: ("INT4", 4, "int4", "unknown"),
    0x11: ("INT8", 8, "int8", "int8_t"),
    0x12: ("INT16", 16, "int16", "int16_t"),
    0x13: ("INT32", 32, "int32", "int32_t"),
    0x14: ("INT64", 64, "int64", "int64_t"),
    0x15: ("INDEX", 64, "index", "int64_t"),
    0x20: ("UINT4", 4, "uint4", "unknown"),
    0x21: ("UINT8", 8, "uint8", "uint8_t"),
    0x22: ("UINT16", 16, "uint16", "uint16_t"),
    0x23: ("UINT32", 32, "uint32", "uint32_t"),
    0x24: ("UINT64", 64, "uint64", "uint64_t"),
    0x30: ("FP4", 4, "fp4", "float4_e2m1x2_t"),
    0x31: ("FP8E4M3FN", 8, "fp8e4m3fn", "float8_e4m3_t"),
    0x32: ("FP8E5M2", 8, "fp8e5m2", "float8_e5m2_t"),
    0x33: ("FP16", 16, "fp16", "half"),
    0x34: ("FP32", 32, "fp32", "float"),
    0x36: ("FP8E8M0", 8, "fp8e8m0", "float8_e8m0_t"),
    0x40: ("BF16", 16, "bfloat16", "bfloat16_t"),
    0x41: ("HF4", 4, "hf4", "unknown"),
    0x42: ("HF8", 8, "hf8", "unknown"),
    0x50: ("TASK_ID", 64, "task_id", "unknown"),
}

DATA_TYPES: Mapping[str, DataType] = MappingProxyType(
    {name: DataType(code) for code, (name, *_) in _INFO.items()}
)
for _name, _dtype in DATA_TYPES.items():
    setattr(DataType, _name, _dtype)
DataType.DEFAULT_CONST_INT = DataType.INT64
DataType.DEFAULT_CONST_FLOAT = DataType.FP32


def common_dtype(first: DataType, second: DataType) -> DataType:
    """A float rather than an integer, else the wider one; of equal widths the signed or the first one."""
    if first == second:
        return first
    if first.is_float() != second.is_float():
        return first if first.is_float() else second
    if first.get_bit() != second.get_bit():
        return first if first.get_bit() > second.get_bit() else second
    return second if first.is_unsigned_int() and second.is_signed_int() else first


def element_bits(dtype: DataType) -> int:
    """The bits that an element takes in memory: no less than a byte, but for dtypes of four bits."""
    return HALF_BYTE if dtype.get_bit() == HALF_BYTE else dtype.get_byte() * _BYTE


def packed_bytes(elements: int, dtype: DataType) -> int:
    """The bytes of elements that lie one behind the other."""
    return -(-elements * element_bits(dtype) // _BYTE)
