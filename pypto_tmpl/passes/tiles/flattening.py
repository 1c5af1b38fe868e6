"""One call on tiles of more than two axes, and what it becomes on matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.bands import (
    MATRIX,
    constants,
    flat_extents,
    flat_offsets,
    flat_shape,
    is_band,
    is_deep,
    rank_of,
)
from pypto_tmpl.passes.tiles.recipe import Making
from pypto_tmpl.passes.tiles.views import packed_view
from pypto_tmpl.rewrite import build


@dataclass(slots=True)
class Flattening(Making):
    """A call, its operands rewritten already, and the statements that go before what it becomes."""

    before: ir.Call
    hint: str  # the variable that the result is bound to
    place: ir.Span  # where the statement stands that the others go before

    @property
    def statement_span(self) -> ir.Span:
        return self.place

    def box(self, value: ir.Expr) -> list[int]:
        """The extents of a tile as numbers."""
        assert isinstance(value.type, ir.ShapedType)
        found = constants(value.type.shape)
        if found is None:
            name = value.name_hint if isinstance(value, ir.Var) else self.hint
            extents = ", ".join(ir.python_print(extent, format=False) for extent in value.type.shape)
            what = f"tile {name!r} has more than two axes, of extents that are not constant: [{extents}]"
            raise self.error(f"{what}; take tiles of constant extents in a loop, or reshape to two axes")
        return found

    def create(self, name: str, shape: Sequence[int], dtype: ir.DataType) -> ir.Var:
        """A new tile of vector cores."""
        return self.let(name, self.emit("tile.create", shape, dtype=dtype, target_memory=MemorySpace.Vec))

    def flat(self, value: ir.Expr) -> ir.Expr:
        """A tile as a matrix; one that still has more axes is viewed as one."""
        if not is_deep(value):
            return value
        return self.let("flat_tile", self.emit("tile.reshape", value, flat_shape(self.box(value))))

    def flat_type(self, before: ir.TileType, box: Sequence[int]) -> ir.TileType:
        """The type of a tile of all rows; its region is rows that follow each other."""
        view = before.tile_view
        region: list[ir.Expr] = []
        if view is not None and view.valid_shape:
            if not is_band(view.valid_shape, before.shape):
                raise self.error(
                    "the valid rows of the tile do not follow each other, as those of two axes do"
                )
            region = flat_extents(view.valid_shape)
        shape = flat_shape(box)
        plain = ir.TileType(shape, before.dtype, None, None, before.memory_space).get_effective_tile_view()
        pad = view.pad if view is not None else ir.PadValue.null
        kept = build(plain, valid_shape=tuple(region), pad=pad)
        return ir.TileType(shape, before.dtype, None, kept, before.memory_space)


def derived(flattening: Flattening) -> ir.Call:
    """The same op on matrices, where that computes the same."""
    before = flattening.before
    _refuse_mixed_pages(flattening)
    operands = [flattening.flat(arg) for arg in flattening.call.args]
    call = flattening.emit(before.op.name, *operands, **before.kwargs)
    if isinstance(before.type, ir.TileType) and isinstance(call.type, ir.TileType):
        wanted = flat_shape(flattening.box(before)) if is_deep(before) else constants(before.type.shape)
        if constants(call.type.shape) != wanted:
            raise flattening.error("on matrices it gives another shape: only the last axis can be reduced")
    return build(call, attrs=before.attrs)


def _refuse_mixed_pages(flattening: Flattening) -> None:
    """Where there are several pages, an op must not look across the rows of one, nor repeat some."""
    before = flattening.before
    boxes = [flattening.box(arg)[:-1] for arg in (*before.args, before) if is_deep(arg)]
    pages = [box[:-1] for box in boxes]
    if any(any(extent != 1 for extent in page) for page in pages) and any(box != boxes[0] for box in boxes):
        raise flattening.error("its tiles have other leading extents than each other, which rows cannot tell")


def _load(flattening: Flattening) -> ir.Call:
    call, type_ = flattening.call, flattening.before.type
    assert isinstance(type_, ir.TileType)
    new = flattening.flat_type(type_, flattening.box(flattening.before))
    if type_.memory_space is not MemorySpace.Mat:
        return build(call, type=new)
    tensor, offsets, shapes, valid = call.args
    assert isinstance(tensor.type, ir.TensorType)
    if not is_band(_elements(shapes), tensor.type.shape):
        raise flattening.error("its window is not of rows that follow each other in the tensor")
    view = flattening.let(f"{flattening.hint}_view2d", flat_view(flattening, tensor))
    window = flat_offsets(_elements(offsets), tensor.type.shape)
    tuples = [window, flat_extents(_elements(shapes)), flat_extents(_elements(valid))]
    args = [view, *(ir.MakeTuple(extents, call.span) for extents in tuples)]
    return build(call, args=args, type=new)


def flat_view(flattening: Flattening, tensor: ir.Expr) -> ir.Call:
    """A packed tensor as rows of its last axis."""
    type_ = tensor.type
    assert isinstance(type_, ir.TensorType)
    view = type_.tensor_view
    if view is not None and (view.stride or view.layout is not ir.TensorLayout.ND):
        raise flattening.error("the tensor is not packed row by row, so that it has no view of two axes")
    return packed_view(tensor, flat_extents(type_.shape), flattening.before.span)


def _elements(value: ir.Expr) -> tuple[ir.Expr, ...]:
    assert isinstance(value, ir.MakeTuple)
    return value.elements


def _store(flattening: Flattening) -> ir.Call:
    before, call = flattening.before, flattening.call
    if len(before.args) > _PLAIN_STORE or rank_of(before.args[2]) <= MATRIX:
        return build(call, args=[flattening.flat(call.args[0]), *call.args[1:]])
    tile = before.args[0].type
    assert isinstance(tile, ir.TileType)
    missing = rank_of(before.args[2]) - len(tile.shape)
    ones = [ir.ConstInt(1, ir.DataType.INDEX, call.span)] * missing
    part = ir.MakeTuple([*ones, *tile.shape], call.span)
    return build(call, args=[flattening.flat(call.args[0]), *call.args[1:], part])


_PLAIN_STORE = 3


def _new(flattening: Flattening) -> ir.Call:
    """A tile that is made: of the flat shape."""
    before, call = flattening.before, flattening.call
    if not is_deep(before):
        return call
    made = flattening.emit(
        before.op.name, flat_shape(flattening.box(before)), *call.args[1:], **before.kwargs
    )
    return build(made, attrs=before.attrs)


def _reshape(flattening: Flattening) -> ir.Call:
    """A view stays what it is, of a matrix."""
    source, shape = flattening.call.args
    return flattening.emit("tile.reshape", source, shape)


def _assemble(flattening: Flattening) -> ir.Call:
    before, (target, source, offsets) = flattening.before, flattening.call.args
    if not is_deep(before):
        return flattening.emit("tile.assemble", target, source, offsets)
    whole, part = before.args[0].type, before.args[1].type
    assert isinstance(whole, ir.TileType) and isinstance(part, ir.TileType)
    missing = len(whole.shape) - len(part.shape)
    ones = [ir.ConstInt(1, ir.DataType.INDEX, before.span)] * missing
    if missing < 0 or not is_band([*ones, *part.shape], whole.shape):
        raise flattening.error("its source is not of rows that follow each other in the target")
    flattening.box(before)
    places = ir.MakeTuple(flat_offsets(_elements(offsets), whole.shape), before.span)
    return flattening.emit("tile.assemble", flattening.flat(target), source, places)


def _transpose(flattening: Flattening) -> ir.Expr:
    """The form with a workspace; page by page where there are several."""
    before, call = flattening.before, flattening.call
    source = flattening.flat(call.args[0])
    assert isinstance(before.type, ir.TileType)
    dtype = before.type.dtype
    if not is_deep(before):
        if len(call.args) > _WITHOUT_WORKSPACE:
            return call
        workspace = flattening.create("transpose_tmp", flattening.box(source), dtype)
        return flattening.emit("tile.transpose", source, *call.args[1:], workspace)
    *_, rows, columns = flattening.box(before.args[0])
    axes = {constant_extent(axis) for axis in call.args[1:3]}
    deep = rank_of(before)
    if {None if axis is None else axis % deep for axis in axes} != {deep - 2, deep - 1}:
        raise flattening.error("only the last two axes of a tile of more than two can be exchanged")
    pages = flat_shape(flattening.box(before))[0] // columns
    result: ir.Expr = flattening.create(flattening.hint, [pages * columns, rows], dtype)
    pool = flattening.create("trans_tmp_pool", [pages * rows, columns], dtype)
    for page in range(pages):
        window = ([rows, columns], [page * rows, 0])
        part = flattening.let(f"trans_page_{page}", flattening.emit("tile.slice", source, *window))
        workspace = flattening.let(f"trans_tmp_{page}", flattening.emit("tile.slice", pool, *window))
        turned = flattening.emit("tile.transpose", part, 0, 1, workspace)
        done = flattening.let(f"trans_{page}", turned)
        call = flattening.emit("tile.assemble", result, done, [page * columns, 0])
        result = flattening.let(flattening.hint, call) if page < pages - 1 else call
    return result


_WITHOUT_WORKSPACE = 3


def _transpose_view(flattening: Flattening) -> ir.Call:
    return flattening.emit("tile.transpose_view", flattening.flat(flattening.call.args[0]))


def _refused(flattening: Flattening) -> ir.Call:
    raise flattening.error("it cannot be done to a tile of more than two axes: reshape it to two first")


@dataclass(frozen=True, slots=True)
class Rule:
    """What an op becomes that is not just the same on matrices."""

    flatten: Callable[[Flattening], ir.Expr]
    of_matrices: bool = False  # whether calls on matrices change as well


FLATTENINGS: Mapping[str, Rule] = MappingProxyType(
    {
        "tile.load": Rule(_load),
        "tile.store": Rule(_store, of_matrices=True),
        "tile.create": Rule(_new),
        "tile.full": Rule(_new),
        "tile.reshape": Rule(_reshape),
        "tile.assemble": Rule(_assemble),
        "tile.transpose": Rule(_transpose, of_matrices=True),
        "tile.transpose_view": Rule(_transpose_view),
        "tile.read": Rule(_refused),
        "tile.write": Rule(_refused),
        "tile.slice": Rule(_refused),
        "tile.extract": Rule(_refused),
    }
)
"""What the ops become, by name; others are the same on matrices."""
