"""Pipelines of products that a program has written itself, whose accumulator can have two buffers."""

from __future__ import annotations

from math import prod

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import flat, statements, trailing_yield
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.bands import constants
from pypto_tmpl.passes.tiles.uses import Uses, call_of

_ASSEMBLE = "tile.assemble"
_MATMUL = "tile.matmul"
_STORE = "tile.store"
_STAGES = "pipeline_stages"
_LEAST_STAGES = 2
_MOVES = frozenset({"tile.extract", "tile.move", "tile.load"})
_STORE_ROUNDS, _ASSEMBLE_ROUNDS = 4, 8
_ASSEMBLE_SHARE = 4  # an accumulator that goes to Mat is at least a quarter of L0C
_BYTE = 8


def pipeline_attrs(function: ir.Function, backend: BackendFacts, uses: Uses) -> dict[int, ir.AttrMap]:
    """The attributes of the pipelines (by the id of the loop variable) that get a second accumulator.

    There must be room for one more buffer for each of them.
    """
    found = [
        (stmt, size)
        for stmt in statements(function.body)
        if isinstance(stmt, ir.ForStmt) and (size := _accumulator_size(stmt, backend, uses)) is not None
    ]
    if not found:
        return {}
    used = sum(
        _size(stmt.var.type, backend) for stmt in statements(function.body) if isinstance(stmt, ir.AssignStmt)
    )
    if used + sum(size for _, size in found) > (backend.capacity(MemorySpace.Acc) or 0):
        return {}
    more = {"pipeline_overlap_stores": False, "pipeline_double_buffer_c": True}
    return {id(loop.loop_var): ir.AttrMap({**dict(loop.attrs.items()), **more}) for loop, _ in found}


def _size(type_: ir.Type, backend: BackendFacts) -> int:
    """Bytes that a variable takes in the accumulator."""
    if not isinstance(type_, ir.TileType) or type_.memory_space is not MemorySpace.Acc:
        return 0
    extents = constants(type_.shape) or [0]
    unit = backend.acc_row_alignment(type_.dtype)
    rows = -(-extents[0] // unit) * unit
    return rows * prod(extents[1:]) * type_.dtype.get_bit() // _BYTE


def _accumulator_size(loop: ir.ForStmt, backend: BackendFacts, uses: Uses) -> int | None:
    """The size of the one product of a pipeline whose results leave one by one; None for any other loop."""
    rounds = _rounds(loop)
    if rounds is None:
        return None
    inside = list(flat(loop.body))
    products = [
        (stmt, call)
        for stmt in inside
        if isinstance(stmt, ir.AssignStmt) and (call := call_of(stmt)) and call.op.name == _MATMUL
    ]
    if len(products) != 1:
        return None
    ((product, call),) = products
    spaces = [arg.type.memory_space for arg in call.args if isinstance(arg.type, ir.TileType)]
    if spaces != [MemorySpace.Left, MemorySpace.Right] or not _moves_one(call, inside, uses):
        return None
    size = _size(product.var.type, backend)
    users = uses.users(product.var)
    if len(users) != 1 or users[0] not in inside:
        return None
    sink = call_of(users[0])
    last = trailing_yield(loop.body)
    is_carry = (
        isinstance(users[0], ir.AssignStmt)
        and last is not None
        and len(last.value) == len(loop.iter_args) == 1
        and last.value[0] is users[0].var
    )
    if sink is None or not is_carry:
        return None
    if sink.op.name == _STORE and sink.args[2] is loop.iter_args[0]:
        return size if rounds >= _STORE_ROUNDS else None
    if sink.op.name == _ASSEMBLE and sink.args[0] is loop.iter_args[0]:
        is_large = size * _ASSEMBLE_SHARE >= (backend.capacity(MemorySpace.Acc) or 0)
        return size if rounds >= _ASSEMBLE_ROUNDS and is_large else None
    return None


def _rounds(loop: ir.ForStmt) -> int | None:
    """How many rounds a pipeline has, if its stages divide them."""
    bounds = [constant_extent(value) for value in (loop.start, loop.stop, loop.step)]
    start, stop, step = bounds
    stages = loop.attrs.get(_STAGES)
    if loop.kind is not ir.ForKind.Pipeline or start is None or stop is None or not step:
        return None
    rounds = -(-(stop - start) // step)
    is_even = isinstance(stages, int) and stages >= _LEAST_STAGES and rounds > 0 and rounds % stages == 0
    return rounds if is_even else None


def _moves_one(call: ir.Call, inside: list[ir.Stmt], uses: Uses) -> bool:
    """Whether one operand is moved in each round, and the other stays from outside of the loop."""
    defined = {id(stmt.var) for stmt in inside if isinstance(stmt, ir.AssignStmt)}
    moved = [arg for arg in call.args if id(arg) in defined]
    if len(moved) != 1:
        return False
    source = uses.call(moved[0])
    return source is not None and source.op.name in _MOVES
