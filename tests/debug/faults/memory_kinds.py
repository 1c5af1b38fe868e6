"""Faults in which cells are touched: offsets, valid extents, lanes, buffers."""

from collections.abc import Iterator

from debug.faults.statements import (
    Mutation,
    Place,
    calls,
    expressions,
    operand,
    own_expressions,
    places,
    same_form,
    with_argument,
    with_expression,
    with_keyword,
)

from pypto_tmpl import ir
from pypto_tmpl.rewrite import build

OFFSET_OPERANDS = ("offset", "offsets")
DELTAS = (1, 8, 16, 32)
LANE_INDEX = "subblock_idx"
OTHER_SPLITS = {0: (1, 2), 1: (2,), 2: (1,), 3: (4,), 4: (3,)}


def _with_element(values: ir.MakeTuple, axis: int, value: ir.Expr) -> ir.MakeTuple:
    return ir.MakeTuple((*values.elements[:axis], value, *values.elements[axis + 1 :]), values.span)


def index(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, ir.DataType.INDEX, ir.Span.unknown())


def _shifted(value: ir.Expr, delta: int) -> ir.Expr:
    return index(value.value + delta) if isinstance(value, ir.ConstInt) else ir.add(value, delta)


def wrong_offset(program: ir.Program) -> Iterator[Mutation]:
    """A window begins some cells too late, or where the first one begins."""
    for place in places(program):
        for call in calls(place.statement):
            position = operand(call, *OFFSET_OPERANDS)
            if position is None or not isinstance(call.args[position], ir.MakeTuple):
                continue
            offsets = call.args[position]
            assert isinstance(offsets, ir.MakeTuple)
            for axis, value in enumerate(offsets.elements):
                wrong = [_shifted(value, delta) for delta in DELTAS]
                if not isinstance(value, ir.ConstInt):
                    wrong.append(index(0))
                for other in wrong:
                    yield from _offsets_replaced(place, call, position, axis, other)


def _offsets_replaced(
    place: Place, call: ir.Call, position: int, axis: int, value: ir.Expr
) -> Iterator[Mutation]:
    if not isinstance(place.statement, ir.AssignStmt | ir.EvalStmt):
        return
    offsets = call.args[position]
    assert isinstance(offsets, ir.MakeTuple)
    wrong = with_argument(call, position, _with_element(offsets, axis, value))
    how = f"{call.op.name} at {wrong.args[position]} instead of {offsets}"
    yield Mutation(place, how, with_expression(place.statement, call, wrong))


def wrong_valid_extent(program: ir.Program) -> Iterator[Mutation]:
    """A tile counts as valid in fewer cells than it is, or in all of them."""
    for place in places(program):
        statement = place.statement
        if not isinstance(statement, ir.AssignStmt) or not isinstance(statement.value, ir.Call):
            continue
        type_ = statement.var.type
        if isinstance(type_, ir.TileType) and not isinstance(statement.value.op, ir.GlobalVar):
            valid = type_.get_effective_tile_view().valid_shape
            for axis, extent in enumerate(valid):
                for wrong in _wrong_extents(extent, type_.shape[axis]):
                    yield _with_valid(place, type_, (*valid[:axis], wrong, *valid[axis + 1 :]))


def _wrong_extents(extent: ir.Expr, size: ir.Expr) -> list[ir.Expr]:
    if not isinstance(extent, ir.ConstInt):
        return [size, ir.sub(extent, 1)]
    wrong: list[ir.Expr] = [index(extent.value // 2)] if extent.value > 1 else []
    if isinstance(size, ir.ConstInt) and size.value != extent.value:
        wrong.append(size)
    return wrong


def _with_valid(place: Place, type_: ir.TileType, valid: tuple[ir.Expr, ...]) -> Mutation:
    statement = place.statement
    assert isinstance(statement, ir.AssignStmt) and isinstance(statement.value, ir.Call)
    view = build(type_.get_effective_tile_view(), valid_shape=valid)
    new_type = ir.TileType(type_.shape, type_.dtype, type_.memref, view, type_.memory_space)
    variable = ir.Var(statement.var.name_hint, new_type, statement.var.span)
    call = build(statement.value, type=new_type)
    position = operand(call, "valid_shape")
    if position is not None and isinstance(call.args[position], ir.MakeTuple):
        call = with_argument(call, position, ir.MakeTuple(valid, call.args[position].span))
    right = ", ".join(str(extent) for extent in type_.get_effective_tile_view().valid_shape)
    wrong = ", ".join(str(extent) for extent in valid)
    how = f"{statement.var.name_hint} valid in [{wrong}] instead of [{right}]"
    return Mutation(place, how, ir.AssignStmt(variable, call, statement.span), ((statement.var, variable),))


def wrong_split(program: ir.Program) -> Iterator[Mutation]:
    """A tile is cut for the two lanes along the wrong axis, or a lane takes a part that is not its own."""
    for place in places(program):
        if not isinstance(place.statement, ir.AssignStmt | ir.EvalStmt):
            continue
        for call in calls(place.statement):
            if "split" in call.kwargs:
                for code in OTHER_SPLITS.get(call.kwargs["split"], ()):
                    yield _with_split(place, call, code)
        for root in own_expressions(place.statement):
            for found in expressions(root):
                if isinstance(found, ir.Mul) and _is_lane_offset(found):
                    yield from _with_stride(place, found)


def _with_split(place: Place, call: ir.Call, code: int) -> Mutation:
    how = f"{call.op.name} with split={code} instead of split={call.kwargs['split']}"
    return Mutation(place, how, with_expression(place.statement, call, with_keyword(call, "split", code)))


def _is_lane_offset(product: ir.Mul) -> bool:
    return isinstance(product.left, ir.Var) and product.left.name_hint.startswith(LANE_INDEX)


def _with_stride(place: Place, product: ir.Mul) -> Iterator[Mutation]:
    if not isinstance(product.right, ir.ConstInt):
        return
    stride = product.right.value
    for wrong in (stride // 2, stride * 2, 0):
        other = ir.mul(product.left, wrong) if wrong else index(0)
        how = f"lanes {wrong} cells apart instead of {stride}"
        yield Mutation(place, how, with_expression(place.statement, product, other))


def stale_buffer(program: ir.Program) -> Iterator[Mutation]:
    """A statement reads what a buffer held before the value that it should read was put there."""
    for place in places(program):
        statement = place.statement
        if not isinstance(statement, ir.AssignStmt | ir.EvalStmt):
            continue
        made = [before.var for before in place.before if isinstance(before, ir.AssignStmt)]
        for right_at, right in enumerate(made):
            if not any(right is found for root in own_expressions(statement) for found in expressions(root)):
                continue
            for stale in made[:right_at]:
                if _shares_buffer(stale.type, right.type):
                    how = f"reads {stale.name_hint}, whose buffer {right.name_hint} has taken over"
                    yield Mutation(place, how, with_expression(statement, right, stale))


def _shares_buffer(former: ir.Type, present: ir.Type) -> bool:
    """True for two tiles of the same form, one kept where the other was."""
    if not isinstance(former, ir.TileType) or not isinstance(present, ir.TileType):
        return False
    if former.memref is None or present.memref is None:
        return False
    return (
        former.memref.base_.name_hint == present.memref.base_.name_hint
        and str(former.memref.byte_offset_) == str(present.memref.byte_offset_)
        and same_form(former, present)
    )
