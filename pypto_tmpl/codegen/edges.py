"""Tiles whose first cells may lie before the tensor they were loaded from.

A valid region begins at the origin, so it cannot leave those cells out. A clamped load whose offset may be
below 0 says where the tensor's cells begin; what ops keep of that is followed here, for the stores.
"""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.bounds import IntegerBounds
from pypto_tmpl.codegen.facts import BodyFacts
from pypto_tmpl.codegen.storage import written_operand
from pypto_tmpl.ir.extents import same_extent
from pypto_tmpl.ops import OpEntry, OpTable, carries_region_of, resolve_result

Starts = tuple[ir.Expr, ...]
_REDUCED = frozenset({"reduce_first", "reduce_last", "reduce_second_last", "reduce_axis"})


class Edges:
    """The first cells of the values of one function that are their tensors'."""

    def __init__(self, facts: BodyFacts, table: OpTable, bounds: IntegerBounds) -> None:
        self._table, self._bounds = table, bounds
        self._known: dict[int, Starts | None] = {}
        self._has_any = any(call.kwargs.get("clamp") and self._of_load(call) for call in facts.calls)
        self._values = facts.values if self._has_any else {}
        for call in facts.calls if self._has_any else ():  # what is written into a tile counts
            entry = table.get(call.op.name)
            written = written_operand(entry, call) if entry is not None else None
            if written is not None and entry is not None and "fills_padding" not in entry.traits:
                self._known[id(written)] = None

    def starts(self, value: ir.Expr) -> Starts | None:
        """Where the cells begin that a tensor had, for each axis; None where nothing precedes them."""
        if not self._has_any:
            return None
        if isinstance(value, ir.Call):
            return self._of_call(value)
        if not isinstance(value, ir.Var):
            return None
        if id(value) not in self._known:
            self._known[id(value)] = None
            values = self._values.get(id(value), ())
            found = self.starts(values[0]) if values else None
            self._known[id(value)] = found  # a carried value may depend on itself
            if found is not None and any(self.starts(other) != found for other in values[1:]):
                self._known[id(value)] = None
        return self._known[id(value)]

    def is_loaded(self, value: ir.Expr) -> bool:
        """Whether a value is a load's own result, which tells at run time which cells the tensor had."""
        values = self._values.get(id(value), ()) if isinstance(value, ir.Var) else (value,)
        return all(isinstance(other, ir.Call) and self._is_load(other) for other in values)

    def _of_call(self, call: ir.Call) -> Starts | None:
        entry = self._table.get(call.op.name)
        if isinstance(call.op, ir.GlobalVar) or entry is None or not isinstance(call.type, ir.ShapedType):
            return None
        found = self._of_load(call) if call.kwargs.get("clamp") else self._kept(call, entry)
        return found if found is not None and any(not _is_zero(start) for start in found) else None

    def _is_load(self, call: ir.Call) -> bool:
        return self._table.facts(call.op.name).has("loads")

    def _of_load(self, call: ir.Call) -> Starts | None:
        if not self._is_load(call) or not isinstance(call.type, ir.ShapedType):
            return None
        named = dict(zip(self._table[call.op.name].operand_names, call.args, strict=False))
        offsets = named.get("offsets", named.get("offset"))
        if not isinstance(offsets, ir.MakeTuple):
            return None
        starts = [
            _before(offset) if self._bounds.of(offset)[0] < 0 else _zero(offset.span)
            for offset in offsets.elements
        ]
        dropped = len(starts) - len(call.type.shape)  # axes of extent 1
        return tuple(starts[dropped:]) if dropped >= 0 else None

    def _kept(self, call: ir.Call, entry: OpEntry) -> Starts | None:
        """What the op's rule for regions keeps of the operands' starts."""
        rule, name = resolve_result(entry).valid, carries_region_of(entry)
        position = entry.operand_names.index(name) if name is not None else 0
        source = call.args[position] if position < len(call.args) else None
        if source is None or not isinstance(source.type, ir.ShapedType):
            return None
        if rule == "matmul":
            left, right = self.starts(call.args[0]), self.starts(call.args[1])
            zero = _zero(call.span)
            return (left[-2] if left else zero, right[-1] if right else zero) if left or right else None
        starts = self.starts(source)
        if starts is None or not isinstance(call.type, ir.ShapedType):
            return None
        if name is not None or rule == "same_or_full":
            return starts if len(starts) == len(call.type.shape) else None
        if rule == "swap_last2":
            return (*starts[:-2], starts[-1], starts[-2])
        if rule in _REDUCED:
            return _reduced(starts, source.type.shape, call.type.shape)
        if "window" in entry.traits:
            return _shifted(starts, call, entry)
        return _reshaped(starts, source.type.shape, call.type.shape) if rule == "reshape" else None


def _zero(span: ir.Span) -> ir.Expr:
    return ir.ConstInt(0, ir.DataType.INDEX, span)


def _is_zero(start: ir.Expr) -> bool:
    return isinstance(start, ir.ConstInt) and start.value == 0


def _before(offset: ir.Expr) -> ir.Expr:
    """How many cells of a window precede the first one of its tensor."""
    index, span = ir.DataType.INDEX, offset.span
    return ir.Max(ir.Neg(offset, index, span), _zero(span), index, span)


def _reduced(starts: Starts, before: Sequence[ir.Expr], after: Sequence[ir.Expr]) -> Starts | None:
    if not len(starts) == len(before) == len(after):
        return None
    axes = zip(starts, before, after, strict=True)
    return tuple(start if same_extent(old, new) else _zero(start.span) for start, old, new in axes)


def _shifted(starts: Starts, call: ir.Call, entry: OpEntry) -> Starts | None:
    named = dict(zip(entry.operand_names, call.args, strict=False))
    given = named.get("offset")
    offsets = (
        [named["index_row"], named["index_col"]] if "index_row" in named else getattr(given, "elements", ())
    )
    if len(offsets) != len(starts):
        return None
    index, span = ir.DataType.INDEX, call.span
    shifted = [
        start if _is_zero(start) or _is_zero(offset)
        else ir.Max(ir.Sub(start, offset, index, span), _zero(span), index, span)
        for start, offset in zip(starts, offsets, strict=True)
    ]  # fmt: skip
    rank = len(call.type.shape) if isinstance(call.type, ir.ShapedType) else 0
    return tuple(shifted) if rank == len(shifted) else None


def _reshaped(starts: Starts, before: Sequence[ir.Expr], after: Sequence[ir.Expr]) -> Starts | None:
    """The starts where only axes of extent 1 come or go."""
    kept = [(e, start) for e, start in zip(before, starts, strict=False) if not _is_one(e)]
    new = [extent for extent in after if not _is_one(extent)]
    if len(kept) != len(new) or not all(same_extent(e, n) for (e, _), n in zip(kept, new, strict=True)):
        return None
    rest = iter(start for _, start in kept)
    return tuple(_zero(extent.span) if _is_one(extent) else next(rest) for extent in after)


def _is_one(extent: ir.Expr) -> bool:
    return isinstance(extent, ir.ConstInt) and extent.value == 1
