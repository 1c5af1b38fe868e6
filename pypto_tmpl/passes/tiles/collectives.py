"""Collectives in kernels: signals, and transfers through windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.all_reduce import all_reduce
from pypto_tmpl.passes.tiles.ranks import Ranks, number
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.reductions import CHUNK, COMBINES


def barrier(recipe: Recipe, call: ir.Call) -> None:
    """Wait until every rank is here."""
    (signal,) = call.args
    ranks = Ranks(recipe, signal)
    ranks.enter(signal)
    ranks.barrier()
    ranks.reset()


def all_gather(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Every rank puts its row into all windows."""
    local, target, signal = call.args
    ranks = Ranks(recipe, signal)
    ranks.enter(target)
    _push(ranks, ("ag_stage", "peer", "push"), local, target, lambda rank: [0, 0])
    ranks.barrier()
    ranks.reset()
    return target


def all_to_all(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Every rank puts row q of its input into the window of rank q."""
    source, target, signal = call.args
    ranks = Ranks(recipe, signal)
    ranks.enter(target)
    _push(ranks, ("aa_stage", "dest", "aa_put"), source, target, lambda rank: [rank, 0])
    ranks.barrier()
    ranks.reset()
    return target


def all_to_all_v(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Every rank puts block q of its input into the window of rank q, and how many of its rows count.

    All rows of a block move; a count is at most that many. A count goes the way of the rows, through a tile:
    as a signal it would be one that nobody waits for.
    """
    source, target, signal, send_counts, recv_counts = call.args
    ranks = Ranks(recipe, signal)
    ranks.enter(target)
    rows = _rows_of_a_block(ranks, target)
    type_ = _matrix(recipe, source)
    columns = _extent(type_, 1)
    stage = _stage(recipe, "aav_stage", rows, columns, type_.dtype, limited=True)
    counts_type = send_counts.type
    assert isinstance(counts_type, ir.TensorType)

    def put(rank: ir.Var) -> None:
        places = {
            "dst_offsets": [ir.mul(ranks.own, rows), 0],
            "src_offsets": [ir.mul(rank, rows), 0],
            "shape": [rows, columns],
        }
        moved = recipe.emit("pld.tile.put", target, rank, source, stage, **places, atomic=0)
        recipe.let("aav_put", moved)
        place = [rank, *[0] * (len(counts_type.shape) - 1)]
        count = recipe.let("send_count", recipe.emit("tensor.read", send_counts, place))
        most = number(rows, ir.DataType.INT32) if isinstance(rows, int) else ir.cast(rows, ir.DataType.INT32)
        limited = recipe.let("recv_count", ir.min_(count, most))
        cell = recipe.let("count_tile", recipe.emit("tile.full", [1, 8], limited, dtype=ir.DataType.INT32))
        valid = recipe.let("count_value", recipe.emit("tile.set_validshape", cell, 1, 1))
        recipe.let(
            "count_ret", recipe.emit("pld.tile.remote_store", valid, recv_counts, rank, [ranks.own, 0])
        )

    ranks.loop("dest", put)
    ranks.barrier()
    ranks.reset()
    return target


def _rows_of_a_block(ranks: Ranks, target: ir.Expr) -> int | ir.Expr:
    """How many rows of the target a rank fills: a number where the signal tells how many ranks there are."""
    rows = _matrix(ranks.recipe, target).shape[0]
    signal = ranks.signal.type
    assert isinstance(signal, ir.TensorType)
    whole, count = constant_extent(rows), constant_extent(signal.shape[0])
    if whole is not None and count is not None:
        return whole // count
    return ranks.recipe.let("block_rows", ir.floordiv(rows, ranks.count))


def _push(
    ranks: Ranks,
    names: tuple[str, str, str],
    source: ir.Expr,
    target: ir.Expr,
    offsets: Callable[[ir.Var], list[int | ir.Expr]],
) -> None:
    """Put one row into row [own] of every rank's window, this one's too."""
    recipe, type_ = ranks.recipe, _matrix(ranks.recipe, source)
    columns = _extent(type_, 1)
    shape = [1, columns]
    stage = _stage(recipe, names[0], 1, columns, type_.dtype)

    def put(rank: ir.Var) -> None:
        places = {"dst_offsets": [ranks.own, 0], "src_offsets": offsets(rank), "shape": shape}
        recipe.let(names[2], recipe.emit("pld.tile.put", target, rank, source, stage, **places, atomic=0))

    ranks.loop(names[1], put)


def broadcast(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Every rank gets the window of the root, once all have told that theirs are ready."""
    target, signal = call.args
    ranks = Ranks(recipe, signal)
    ranks.enter(target)
    ranks.barrier()
    type_ = _matrix(recipe, target)
    stage = _stage(recipe, "bcast_stage", _extent(type_, 0), _extent(type_, 1), type_.dtype)
    root = number(call.kwargs["root"], ir.DataType.INT32)
    recipe.let("get_ret", recipe.emit("pld.tile.get", target, root, target, stage))
    ranks.reset()
    return target


def reduce_scatter(recipe: Recipe, call: ir.Call) -> ir.Expr:
    """Rank r adds up row r of all windows; it writes when all have read."""
    target, signal = call.args
    if call.kwargs.get("op", 0) != 0:
        raise recipe.error("only sums are scattered")
    ranks = Ranks(recipe, signal)
    ranks.enter(target)
    ranks.barrier()
    shape = [1, _size(recipe, _matrix(recipe, target), 1)]
    load = recipe.emit("tile.load", target, [ranks.own, 0], shape, shape, target_memory=MemorySpace.Vec)
    first = recipe.let("acc_initial", load)

    def add(rank: ir.Var, total: ir.Expr) -> ir.Expr:
        received = recipe.let(
            "recv", recipe.emit("pld.tile.remote_load", target, rank, [ranks.own, 0], shape)
        )
        return recipe.let("acc_next", recipe.emit(COMBINES[0], total, received))

    total = ranks.folded(first, add)
    ranks.barrier("2")
    recipe.let("store_ret", recipe.emit("tile.store", total, [ranks.own, 0], target))
    ranks.reset()
    return target


def _stage(
    recipe: Recipe,
    name: str,
    rows: int | ir.Expr,
    columns: int | ir.Expr,
    dtype: ir.DataType,
    *,
    limited: bool = False,
) -> ir.Var:
    """The tile through which a transfer goes: of its extents, or of a chunk where these are not constant.

    What is ``limited`` to a chunk in any case has fewer rows, and goes in parts.
    """
    elements = CHUNK * 8 // dtype.get_bit()
    width = columns if isinstance(columns, int) else elements
    most = max(1, elements // width)
    height = rows if isinstance(rows, int) else most
    shape = [min(height, most) if limited else height, width]
    return recipe.let(name, recipe.emit("tile.create", shape, dtype=dtype, target_memory=MemorySpace.Vec))


def _matrix(recipe: Recipe, value: ir.Expr) -> ir.TensorType:
    if not isinstance(value.type, ir.TensorType) or len(value.type.shape) != 2:
        raise recipe.error("its operands are matrices")
    return value.type


def _extent(type_: ir.TensorType, axis: int) -> int | ir.Expr:
    size = constant_extent(type_.shape[axis])
    return type_.shape[axis] if size is None else size


def _size(recipe: Recipe, type_: ir.TensorType, axis: int) -> int:
    size = constant_extent(type_.shape[axis])
    if size is None:
        raise recipe.error("the extents that are transferred are constants")
    return size


COLLECTIVES: Mapping[str, Callable[[Recipe, ir.Call], ir.Expr | None]] = MappingProxyType(
    {
        "pld.tensor.barrier": barrier,
        "pld.tensor.allgather": all_gather,
        "pld.tensor.all_to_all": all_to_all,
        "pld.tensor.all_to_all_v": all_to_all_v,
        "pld.tensor.broadcast": broadcast,
        "pld.tensor.reduce_scatter": reduce_scatter,
        "pld.tensor.allreduce": all_reduce,
    }
)
"""The statements by op; what they give is the value of the call."""
