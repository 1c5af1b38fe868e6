"""The dtypes of results, by the words of the op table (``pypto_tmpl/ops/typing/words.py``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import common_dtype
from pypto_tmpl.ops.typing.operands import InferenceError, Operands

DTypeRule = Callable[[Operands, Sequence[str]], ir.DataType]
_SCALE_SPACES = (ir.MemorySpace.LeftScale, ir.MemorySpace.RightScale)


def _promoted(given: Operands, words: Sequence[str]) -> ir.DataType:
    """Scalars take part as tiles do, but a bare integer, which is INDEX, takes the dtype of what it meets."""
    values = given.named(words) if words else [*given.shaped, *given.scalars]
    dtypes = [given.dtype_of(value) for value in values if not _is_bare_integer(value)]
    if not dtypes:
        raise InferenceError("no operand has a dtype")
    found = dtypes[0]
    for dtype in dtypes[1:]:
        found = common_dtype(found, dtype)
    return found


def _is_bare_integer(value: ir.Expr) -> bool:
    return isinstance(value, ir.ConstInt) and value.dtype == ir.DataType.INDEX


def _accumulated(given: Operands, words: Sequence[str]) -> ir.DataType:
    return ir.DataType.FP32 if given.dtype_of(given.first).is_float() else ir.DataType.INT32


def _float_or_fp32(given: Operands, words: Sequence[str]) -> ir.DataType:
    dtype = given.dtype_of(given.first)
    return dtype if dtype.is_float() else ir.DataType.FP32


def _moved(given: Operands, words: Sequence[str]) -> ir.DataType:
    """Bytes become block scales where they are moved to a space of scales."""
    dtype = given.dtype_of(given.first)
    is_scale = dtype == ir.DataType.UINT8 and given.keyword("target_memory") in _SCALE_SPACES
    return ir.DataType.FP8E8M0 if is_scale else dtype


DTYPES: Mapping[str, DTypeRule] = MappingProxyType(
    {
        "promote": _promoted,
        "accumulate": _accumulated,
        "float_or_fp32": _float_or_fp32,
        "moved": _moved,
    }
)
