"""Text of statements whose tiles are buffers. It is for people: the language has no such statements.

``t: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x400:0x1400], mem_vec_2]`` declares a tile,
``t[...] = pl.tile.exp(x)`` writes it, and ``t[...] = u`` gives it the value of another one.
"""

from __future__ import annotations

from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.buffers import MemRef
from pypto_tmpl.ir.destinations import COPY, SLOT, is_buffer, is_declaration, written
from pypto_tmpl.ir.expr import Call
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.printer.expressions import BODY
from pypto_tmpl.ir.printer.pieces import Mention, Pieces, Role
from pypto_tmpl.ir.printer.statements import Block, StatementPrinter
from pypto_tmpl.ir.stmt import AssignStmt, EvalStmt
from pypto_tmpl.ir.types import TileType

NOTICE = "# Buffer text: no source that can be read. The same program is in the .msgpack of this name."
_SAME = "  # the same bytes"
BUFFER = "Buffer"
_VIEW, _SLOT = "View", "Slot"


class DestinationPrinter(StatementPrinter):
    """Declarations, writes and copies; ``has_buffers`` says that the function at hand is made of them."""

    has_buffers = False

    def _assign(self, node: AssignStmt, block: Block) -> Pieces:
        value, type_ = node.value, node.var.type
        if not isinstance(type_, TileType) or not (self.has_buffers or is_declaration(node)):
            yield super()._assign(node, block)
            return
        yield block.indent
        yield self.define(node.var)
        yield ": "
        if is_declaration(node):
            yield self._place(BUFFER, type_)
            yield "\n"
            return
        if isinstance(value, Call) and value.op.name == SLOT:
            reserved, value = value.args
            yield self._place(_SLOT, type_, reserved)
        else:
            yield self._place(_VIEW, type_) if is_buffer(node.var) else self.type(type_)
        yield " = "
        yield self.expr(value)
        yield "\n"

    def _eval(self, node: EvalStmt, block: Block) -> Pieces:
        found = written(node)
        if found is None or not isinstance(node.expr, Call):
            yield super()._eval(node, block)
            return
        destination, value = found
        yield block.indent
        yield self.expr(destination)
        yield "[...] = "
        yield self.expr(value)
        if node.expr.op.name == COPY and _are_one(destination, value):
            yield _SAME
        yield "\n"

    def _place(self, kind: str, type_: TileType, reserved: Expr | None = None) -> Pieces:
        """The type of a tile as a place: extents, dtype, memory with its bytes, allocation, layout."""
        yield f"{self.prefix}.{kind}["
        yield self._shape(type_.shape)
        yield f", {self.dtype(type_.dtype)}"
        if type_.memory_space is not None:
            yield ", " + self.enum(type_.memory_space)
        if type_.memref is not None:
            yield self._bytes(type_.memref)
            yield ", "
            yield Mention(type_.memref.base_, Role.BASE)
        if reserved is not None:
            yield ", "
            yield self.expr(reserved)
        yield self._tile_view(type_)
        yield "]"

    def _bytes(self, memref: MemRef) -> Pieces:
        """From the first byte to the one behind the last; a number of bytes where the run tells the first."""
        start = constant_extent(memref.byte_offset_)
        if start is not None:
            yield f"[{start:#x}:{start + memref.size_:#x}]"
            return
        yield "["
        yield self.expr(memref.byte_offset_, BODY)
        yield f":+{memref.size_:#x}]"


def _are_one(one: Var, other: Expr) -> bool:
    """Whether types say that tiles are the same elements."""
    left, right = one.type, other.type
    if not isinstance(left, TileType) or not isinstance(right, TileType):
        return False
    here, there = left.memref, right.memref
    if here is None or there is None or here.base_ is not there.base_:
        return False
    starts = constant_extent(here.byte_offset_), constant_extent(there.byte_offset_)
    if starts[0] is None or starts[0] != starts[1] or here.size_ != there.size_:
        return False
    if left.dtype != right.dtype or not same_extents(left.shape, right.shape):
        return False
    ours, theirs = left.get_effective_tile_view(), right.get_effective_tile_view()
    layouts = [(view.blayout, view.slayout, view.fractal) for view in (ours, theirs)]
    return layouts[0] == layouts[1]
