"""Which tensors in global memory a statement reads, and the window of them that it is interested in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.ops.model import OpEntry

OFFSETS = ("offsets", "offset", "indices")
_SOURCES = ("tile", "source", "value")
_SHAPES = ("shapes", "shape")


class MemoryRead(NamedTuple):
    """A tensor that is read: from these offsets on so many cells; None stands for all of it."""

    tensor: ir.Var
    offsets: tuple[ir.Expr, ...] | None
    shape: tuple[ir.Expr, ...] | None


def memory_reads(
    value: ir.Expr, table: Mapping[str, OpEntry], target: ir.Expr | None
) -> Iterator[MemoryRead]:
    """The tensors that ops in an expression read, but for the ``target`` that it writes."""
    for call in ir.walk(value):
        if not isinstance(call, ir.Call) or isinstance(call.op, ir.GlobalVar):
            continue
        entry = table.get(call.op.name)
        operands = {} if entry is None else dict(zip(entry.operand_names, call.args, strict=False))
        tensors = [
            arg for arg in call.args if isinstance(arg, ir.Var) and isinstance(arg.type, ir.TensorType)
        ]
        offsets, shape = tuple_operand(operands, OFFSETS), tuple_operand(operands, _SHAPES)
        for tensor in tensors:
            if tensor is target and call is value:
                continue
            is_window = offsets is not None and tensor is call.args[0]
            yield MemoryRead(tensor, offsets if is_window else None, shape if is_window else None)


def memory_source(operands: Mapping[str, ir.Expr]) -> ir.Expr | None:
    """What an op that writes a window of a tensor writes into it."""
    return next((operands[name] for name in _SOURCES if name in operands), None)


def tuple_operand(operands: Mapping[str, ir.Expr], names: tuple[str, ...]) -> tuple[ir.Expr, ...] | None:
    """The elements of the first operand of these names, if it is a tuple that is written out."""
    found = next((operands[name] for name in names if name in operands), None)
    return tuple(found.elements) if isinstance(found, ir.MakeTuple) else None
