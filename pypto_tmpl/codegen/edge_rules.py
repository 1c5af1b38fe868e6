"""What ops keep of where the cells of an operand begin that its tensor had, by their rules for regions."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.operands import CallError
from pypto_tmpl.ir.extents import constant_extent, same_extent, same_extents
from pypto_tmpl.ops import OpEntry, carries_region_of, resolve_result

Starts = tuple[ir.Expr, ...]

_REDUCED = frozenset({"reduce_first", "reduce_last", "reduce_second_last", "reduce_axis"})
_KEPT_BY_TYPES = frozenset({"reshape", "relaid", "scaled_last", "split_axis_halved", "split_axis_doubled"})


class UnknownStartError(CallError):
    """Nobody can tell which cells of a value lie before the tensor that it was loaded from."""

    slug = "unknown-start"

    def __init__(self, call: ir.Call) -> None:
        what = f"operator {call.op.name!r} of a clamped window that may begin before its tensor"
        super().__init__(f"{what}: which of its cells the tensor had can not be told")


def source_position(entry: OpEntry) -> int:
    """The operand of which a result may keep the start."""
    name = carries_region_of(entry) or (entry.returns if _joins(entry) else None)
    return entry.operand_names.index(name) if name is not None else 0


def kept_starts(call: ir.Call, entry: OpEntry, starts: Starts) -> Starts | None:
    """Where the cells of a result begin, given where those of the operand do; None where all count.

    Raises: UnknownStartError where the result's type keeps a region, but no rectangle of cells is left.
    """
    source = call.args[source_position(entry)]
    assert isinstance(source.type, ir.ShapedType) and isinstance(call.type, ir.ShapedType)
    before, after, rank = source.type.shape, call.type.shape, len(call.type.shape)
    rules = [term.partition("(")[0] for term in (resolve_result(entry).valid or "none").split(" or ")]
    if _joins(entry):
        return _joined(call, entry, before)
    if carries_region_of(entry) is not None or rules[0] == "same_or_full":
        return starts if len(starts) == rank else None
    if "swap_last2" in rules:
        return (*starts[:-2], starts[-1], starts[-2])
    if "transpose" in rules:
        return _transposed(call, entry, starts)
    if _REDUCED.intersection(rules):
        return _reduced(starts, before, after)
    if "window" in entry.traits:
        return _shifted(starts, call, entry)
    if not _KEPT_BY_TYPES.intersection(rules):
        return None
    if same_extents(before, after) and "relaid" not in rules:
        return starts
    found = _reshaped(starts, before, after) if "reshape" in rules else None
    if found is None:
        raise UnknownStartError(call)
    return found


def is_zero(start: ir.Expr) -> bool:
    return isinstance(start, ir.ConstInt) and start.value == 0


def zero(span: ir.Span) -> ir.Expr:
    return ir.ConstInt(0, ir.DataType.INDEX, span)


def _joins(entry: OpEntry) -> bool:
    return resolve_result(entry).valid == "write_union"


def _joined(call: ir.Call, entry: OpEntry, target: Sequence[ir.Expr]) -> Starts | None:
    """A target counts as a whole once it is written as a whole; parts of it leave no rectangle."""
    named = dict(zip(entry.operand_names, call.args, strict=False))
    source = named["source"] if "source" in named else call.args[0]
    offsets = named.get("offsets", named.get("offset"))
    is_whole = (
        isinstance(source.type, ir.ShapedType)
        and isinstance(offsets, ir.MakeTuple)
        and same_extents(source.type.shape, target)
        and all(map(is_zero, offsets.elements))
    )
    if not is_whole:
        raise UnknownStartError(call)
    return None


def _transposed(call: ir.Call, entry: OpEntry, starts: Starts) -> Starts:
    named = dict(zip(entry.operand_names, call.args, strict=False))
    axes = [constant_extent(named[name]) for name in ("axis1", "axis2")]
    if axes[0] is None or axes[1] is None:
        raise UnknownStartError(call)
    found = list(starts)
    found[axes[0]], found[axes[1]] = found[axes[1]], found[axes[0]]
    return tuple(found)


def _reduced(starts: Starts, before: Sequence[ir.Expr], after: Sequence[ir.Expr]) -> Starts | None:
    if not len(starts) == len(before) == len(after):
        return None
    axes = zip(starts, before, after, strict=True)
    return tuple(start if same_extent(old, new) else zero(start.span) for start, old, new in axes)


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
        start if is_zero(start) or is_zero(offset)
        else ir.Max(ir.Sub(start, offset, index, span), zero(span), index, span)
        for start, offset in zip(starts, offsets, strict=True)
    ]  # fmt: skip
    rank = len(call.type.shape) if isinstance(call.type, ir.ShapedType) else 0
    return tuple(shifted) if rank == len(shifted) else None


def _reshaped(starts: Starts, before: Sequence[ir.Expr], after: Sequence[ir.Expr]) -> Starts | None:
    """The starts where only axes of extent 1 come or go."""
    kept = [(e, start) for e, start in zip(before, starts, strict=True) if constant_extent(e) != 1]
    if not same_extents([e for e, _ in kept], [e for e in after if constant_extent(e) != 1]):
        return None
    rest = iter(start for _, start in kept)
    return tuple(zero(extent.span) if constant_extent(extent) == 1 else next(rest) for extent in after)
