"""The valid regions of results, by the words of the op table (``pypto_tmpl/ops/typing/words.py``).

A region is a rectangle at the origin, given by its extents; None is the whole box.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value, provably_equal, simplify
from pypto_tmpl.ir.extents import as_extent, constant_extent, same_extents
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.ops.typing.operands import Extents, InferenceError, Operands
from pypto_tmpl.ops.typing.shapes import (
    CHANGES,
    block_columns,
    broadcast,
    factors,
    kept_axes,
    packed,
    product,
    relaid,
    swapped,
)

Region = Extents | None
RegionRule = Callable[[Operands, Sequence[str]], Region]


def _same_or_full(given: Operands, words: Sequence[str]) -> Region:
    values = given.named(words)
    regions = [given.region_of(value) for value in values]
    if regions and all(same_extents(regions[0], region) for region in regions[1:]):
        return given.valid_of(values[0])
    return None


def _argument(given: Operands, words: Sequence[str]) -> Region:
    return given.elements("valid_shape") if given.operand("valid_shape") is not None else None


def _window(given: Operands, words: Sequence[str]) -> Region:
    """What a window shows of the source's region: the smaller of what is asked for and what is there."""
    shape, offset = given.elements("shape", "shapes"), _offsets(given)
    requested = given.operand("valid_shape")
    if isinstance(requested, ir.MakeTuple) and requested.elements:
        wanted: Extents = requested.elements
    else:
        wanted = shape
    source = given.first
    extents, region = given.shape_of(source), given.region_of(source)
    if len(shape) < len(extents):  # a window of fewer axes lies in the trailing ones
        return kept_axes(given, wanted)
    if not len(shape) == len(offset) == len(extents) == len(wanted):
        raise InferenceError("shape, offset and source have different ranks")
    if given.is_built:
        _check_window(given, offset, wanted, extents)
    clamps = bool(given.keyword("clamp"))
    found = [_visible(*axis, clamps) for axis in zip(wanted, shape, offset, region, strict=True)]
    return kept_axes(given, found)


def _offsets(given: Operands) -> Extents:
    if given.operand("index_row") is not None:
        return [given.needed("index_row"), given.needed("index_col")]
    return given.elements("offset", "offsets")


def _visible(wanted: ir.Expr, extent: ir.Expr, offset: ir.Expr, valid: ir.Expr, clamps: bool) -> ir.Expr:
    """How much of a window lies in a region, where that is known; else as much as is asked for.

    A window that is clamped may overrun the region: how much is left there is told by its offset.
    """
    asked, size, start, end = (constant_value(value) for value in (wanted, extent, offset, valid))
    if asked is not None and size is not None and start is not None and end is not None:
        return as_extent(min(asked, max(min(end - start, size), 0)))
    if start == 0 and constant_difference(extent, valid) == 0:
        return wanted
    left = _past(offset, wanted, valid)
    if left is not None and left > 0 and asked is not None:
        return as_extent(max(asked - left, 0))
    if clamps and left is None:
        rest = ir.max_(ir.sub(valid, offset), ir.ConstInt(0, ir.DataType.INDEX, offset.span))
        return simplify(ir.min_(wanted, rest))
    return wanted


def _past(start: ir.Expr, size: ir.Expr, end: ir.Expr) -> int | None:
    """By how much ``start + size`` lies behind ``end``, None where that is not constant."""
    if isinstance(start, ir.ConstInt):
        gap = constant_difference(size, end)
        return None if gap is None else start.value + gap
    if isinstance(start, ir.Var) and isinstance(size, ir.ConstInt) and isinstance(end, ir.ConstInt):
        return None
    return constant_difference(ir.add(start, size), end)


def _check_window(given: Operands, offset: Extents, wanted: Extents, extents: Extents) -> None:
    """Raise for a window that leaves its source for sure, unless the call has it clamped."""
    clamps = bool(given.keyword("clamp"))
    for axis, (start, size, extent) in enumerate(zip(offset, wanted, extents, strict=True)):
        first = constant_value(start)
        if constant_value(size) == 0 and first not in (None, 0) and first == constant_value(extent):
            raise InferenceError(f"the window has no element on axis {axis}, and begins behind the last one")
        if first is not None and first < 0:
            raise InferenceError(f"the window begins at {first} on axis {axis}, before the first element")
        past = _past(start, size, extent)
        if past is not None and past > 0 and not clamps:
            source = f"{given.name_of(given.first)!r} is {type_text(given.first.type)}"
            raise InferenceError(f"the window ends {past} past axis {axis}, and {source}")


def _joined(given: Operands, words: Sequence[str]) -> Region:
    """The target's region joined with the part that is written, which together must be a rectangle."""
    target, source = given.needed(given.entry.returns or ""), given.first
    if source is target:
        source = given.needed("source")
    before = given.valid_of(target)
    ranks = (len(given.shape_of(target)), len(given.shape_of(source)))
    if before is None or given.operand("shapes") is not None or ranks[0] != ranks[1]:
        return before
    is_view = isinstance(target.type, ir.TileType)  # the type rule of tiles takes the whole source
    written = list(given.shape_of(source)) if is_view else given.region_of(source)
    offset = _offsets(given)
    if any(constant_value(extent) == 0 for extent in written):
        return before
    if any(constant_value(extent) == 0 for extent in before):
        if all(constant_value(start) == 0 for start in offset):
            return written
    else:
        grown = [_grown(*axis) for axis in zip(before, written, offset, strict=True)]
        if all(end is not None for end in grown):
            return _union(given, before, written, offset, [end for end in grown if end is not None])
    return _unjoined(given, before, written, offset)


def _grown(before: ir.Expr, written: ir.Expr, offset: ir.Expr) -> ir.Expr | None:
    """The end of the union on one axis, None where it is not known which ends later."""
    end = simplify(ir.add(offset, written))
    gap = constant_difference(end, before)
    return None if gap is None else end if gap > 0 else before


def _union(
    given: Operands, before: Extents, written: Extents, offset: Extents, ends: list[ir.Expr]
) -> Extents:
    grows = [axis for axis, end in enumerate(ends) if constant_difference(end, before[axis]) != 0]
    if not grows:
        return before
    if len(grows) == 1:
        axis = grows[0]
        gap = constant_difference(offset[axis], before[axis])
        abuts = gap is not None and gap <= 0
        others = [other for other in range(len(ends)) if other != axis]
        spans = all(
            constant_value(offset[other]) == 0 and constant_difference(written[other], before[other]) == 0
            for other in others
        )
        if abuts and spans:
            return ends
    if all(constant_value(start) == 0 for start in offset) and provably_equal(ends, written):
        return ends
    return _unjoined(given, before, written, offset)


def _unjoined(given: Operands, before: Extents, written: Extents, offset: Extents) -> Extents:
    if not given.is_built:
        return before
    shown = [
        "[" + ", ".join(ir.python_print(e, format=False) for e in part) + "]"
        for part in (before, written, offset)
    ]
    raise InferenceError(
        f"the valid region {shown[0]} and the part {shown[1]} written at {shown[2]} are no rectangle together"
    )


def _reshaped(given: Operands, words: Sequence[str]) -> Region:
    """The valid elements in the new shape, where they are a rectangle there too."""
    valid = given.valid_of(given.first)
    if valid is None:
        return None
    before, after = given.shape_of(given.first), given.elements("shape")
    if provably_equal(before, after):
        return valid
    if any(constant_value(extent) == 0 for extent in valid):
        return [as_extent(0) for _ in after]
    found = _with_unit_axes(before, valid, after) or _as_prefix(before, valid, after)
    if found is None:
        source = f"{given.name_of(given.first)!r} is {type_text(given.first.type)}"
        raise InferenceError(f"the valid elements are no rectangle in the new shape, and {source}")
    return found


def _with_unit_axes(before: Extents, valid: Extents, after: Extents) -> list[ir.Expr] | None:
    """The region where only axes of extent 1 come or go."""
    kept = [(e, v) for e, v in zip(before, valid, strict=True) if constant_extent(e) != 1]
    if not provably_equal([e for e, _ in kept], [e for e in after if constant_extent(e) != 1]):
        return None
    regions = iter(v for _, v in kept)
    return [as_extent(1) if constant_extent(extent) == 1 else next(regions) for extent in after]


def _as_prefix(before: Extents, valid: Extents, after: Extents) -> list[ir.Expr] | None:
    """The region where it is the first elements, row by row, and whole rows of the new shape."""
    old, region, new = ([constant_value(e) for e in part] for part in (before, valid, after))
    if None in old or None in region or None in new:
        return None
    old_sizes, sizes, new_sizes = ([v or 0 for v in part] for part in (old, region, new))
    cut = next((axis for axis, size in enumerate(sizes) if size != 1), len(sizes) - 1)
    if sizes[cut + 1 :] != old_sizes[cut + 1 :]:
        return None
    count = prod(sizes)
    for axis in range(len(new_sizes)):
        row = prod(new_sizes[axis + 1 :])
        if row and count % row == 0 and count // row <= new_sizes[axis]:
            return [as_extent(v) for v in (*[1] * axis, count // row, *new_sizes[axis + 1 :])]
    return None


def _matmul(given: Operands, words: Sequence[str]) -> Region:
    """Valid rows of the left and valid columns of the right factor; batch axes are whole."""
    lhs, rhs = factors(given, words)
    shapes, regions = [given.shape_of(v) for v in (lhs, rhs)], [given.region_of(v) for v in (lhs, rhs)]
    batch = broadcast(given, (lhs, rhs), [shape[:-2] for shape in shapes])
    return [*batch, *product(given, *regions)]


def _rows_and_columns(given: Operands, words: Sequence[str]) -> Region:
    found, shape = [given.needed("valid_rows"), given.needed("valid_cols")], given.shape_of(given.first)
    if len(shape) != 2:
        raise InferenceError(f"the operand {given.name_of(given.first)!r} has two axes, not {len(shape)}")
    for extent, limit in zip(found, shape, strict=True):
        past = constant_difference(extent, limit)
        if given.is_built and past is not None and past > 0:
            texts = [ir.python_print(value, format=False) for value in (extent, limit)]
            raise InferenceError(f"{texts[0]} valid elements on an axis of {texts[1]}")
    return found


def _gathered(given: Operands, words: Sequence[str]) -> Region:
    """Of a gather from memory: the rows whose index is valid, or the region of the indices."""
    if given.keyword("target_memory") is ir.MemorySpace.Mat:
        return given.args[-1].elements if isinstance(given.args[-1], ir.MakeTuple) else None
    indices = given.needed("idx")
    region = given.valid_of(indices)
    if given.keyword("coalesce") or region is None:
        return region
    shape = given.shape_of(indices)
    count = region[0] if len(shape) == 2 and constant_extent(shape[1]) == 1 else region[-1]
    return [count, given.shape_of(given.first)[-1]]


def _blocks(given: Operands, words: Sequence[str]) -> Region:
    valid = given.valid_of(given.needed("offset"))
    return None if valid is None else block_columns(given, valid)


def _of_first(change: Callable[[Operands, Extents], Extents]) -> RegionRule:
    """A rule for regions from one for shapes: the whole box stays the whole box."""

    def rule(given: Operands, words: Sequence[str]) -> Region:
        valid = given.valid_of(given.first)
        return None if valid is None else change(given, valid)

    return rule


VALID_REGIONS: Mapping[str, RegionRule] = MappingProxyType(
    {
        **{name: _of_first(change) for name, change in CHANGES.items()},
        "full": lambda given, words: None,
        "none": lambda given, words: None,
        "same_or_full": _same_or_full,
        "argument": _argument,
        "window": _window,
        "write_union": _joined,
        "reshape": _reshaped,
        "matmul": _matmul,
        "swap_last2": _of_first(swapped),
        "packed_mask": lambda given, words: packed(given.region_of(given.first), 1),
        "rows_and_columns": _rows_and_columns,
        "gather": _gathered,
        "blocks": _blocks,
        "relaid": _of_first(relaid),
    }
)
