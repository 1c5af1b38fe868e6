"""The numbers that float literals stand for in dtypes narrower than Python's float."""

from __future__ import annotations

import math
import struct

from pypto_tmpl import ir

_FORMATS = {ir.DataType.FP32: "f", ir.DataType.FP16: "e"}
_LARGEST_BF16 = 3.3895313892515355e38
_LARGEST = {
    ir.DataType.FP32: 3.4028234663852886e38,
    ir.DataType.FP16: 65504.0,
    ir.DataType.BF16: _LARGEST_BF16,
}


def within(value: float, dtype: ir.DataType) -> float:
    """``value``, but beyond the largest number of the dtype what it is rounded to: that, or infinite."""
    return nearest(value, dtype) if abs(value) > _LARGEST.get(dtype, math.inf) else value


def nearest(value: float, dtype: ir.DataType) -> float:
    """The number of FP32, FP16 or BF16 nearest to ``value``, half to even; infinite beyond the largest.

    Of any other dtype, and for an infinity or NaN, the value itself.
    """
    if not math.isfinite(value):
        return value
    if dtype == ir.DataType.BF16:
        return _nearest_bf16(value)
    form = _FORMATS.get(dtype)
    if form is None:
        return value
    try:
        number: float = struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return number


def _nearest_bf16(value: float) -> float:
    """Eight significant bits, down to the subnormal numbers."""
    if value == 0:
        return value
    exponent = max(math.frexp(value)[1] - 8, -133)
    number = math.ldexp(round(math.ldexp(value, -exponent)), exponent)
    return math.copysign(math.inf, value) if abs(number) > _LARGEST_BF16 else number
