"""Sums over the depth that are written as a pipeline, of results that the accumulator cannot hold."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir, ops
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import flat, statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.outline.dataflow import Callees, Origins
from pypto_tmpl.passes.tiles.bands import MATRIX, plus, rank_of
from pypto_tmpl.passes.tiles.l0_choice import Block, Problem, problem_of, sizes
from pypto_tmpl.passes.tiles.uses import Uses, call_of
from pypto_tmpl.rewrite import Rewriter, as_body, build, substitute
from pypto_tmpl.rewrite.rewriter import Task

_CREATE = "tile.create"
_LOAD = "tile.load"
_MATMUL = "tile.matmul"
_MATMUL_ACC = "tile.matmul_acc"
_STORE = "tile.store"
_STORE_OPERANDS = 3
_SUM_OPERANDS = 3


def with_output_blocks(function: ir.Function, backend: BackendFacts) -> ir.Function:
    """The function with each of these sums computed block by block of its result."""
    uses = Uses(function)
    sums = [found for stmt in statements(function.body) if (found := _sum(stmt, uses, backend)) is not None]
    if not sums:
        return function
    origins = Origins(function.body, Callees())
    kept = [one for one in sums if _reads_elsewhere(one, origins)]
    return _Blocks(kept).rewrite(function) if kept else function


@dataclass(frozen=True, slots=True)
class _Sum:
    """``create``, a pipeline that adds products of what it loads, and the store of the result."""

    create: ir.AssignStmt
    loop: ir.ForStmt
    loads: tuple[ir.AssignStmt, ir.AssignStmt]  # left, right
    branch: ir.IfStmt
    first: ir.AssignStmt
    more: ir.AssignStmt
    store: ir.Stmt
    problem: Problem
    block: Block


def _sum(stmt: ir.Stmt, uses: Uses, backend: BackendFacts) -> _Sum | None:
    """The sum that begins with a statement."""
    create = call_of(stmt)
    loop = uses.following(stmt)
    store = uses.following(loop) if loop is not None else None
    if not isinstance(stmt, ir.AssignStmt) or create is None or create.op.name != _CREATE:
        return None
    if not isinstance(loop, ir.ForStmt) or loop.kind is not ir.ForKind.Pipeline or store is None:
        return None
    if (
        len(loop.iter_args) != 1
        or loop.iter_args[0].initValue is not stmt.var
        or len(uses.users(stmt.var)) != 1
    ):
        return None
    result, saved = loop.return_vars[0], call_of(store)
    if (
        saved is None
        or saved.op.name != _STORE
        or saved.args[0] is not result
        or len(uses.users(result)) != 1
    ):
        return None
    if len(saved.args) != _STORE_OPERANDS or rank_of(saved.args[2]) != MATRIX:
        return None
    return _of_loop(stmt, loop, store, uses, backend)


def _of_loop(
    create: ir.AssignStmt, loop: ir.ForStmt, store: ir.Stmt, uses: Uses, backend: BackendFacts
) -> _Sum | None:
    match list(flat(loop.body)):
        case [
            ir.AssignStmt() as one,
            ir.AssignStmt() as other,
            ir.IfStmt() as branch,
            ir.YieldStmt(value=(last,)),
        ]:
            pass
        case _:
            return None
    if list(branch.return_vars) != [last] or branch.else_body is None or not _is_first_round(loop, branch):
        return None
    first, more = _yielded(branch.then_body), _yielded(branch.else_body)
    if first is None or more is None:
        return None
    product, total = first.value, more.value
    if not isinstance(product, ir.Call) or not isinstance(total, ir.Call) or product.op.name != _MATMUL:
        return None
    if total.op.name != _MATMUL_ACC or len(total.args) != _SUM_OPERANDS:
        return None
    if total.args[0] is not loop.iter_args[0] or tuple(total.args[1:]) != tuple(product.args):
        return None
    by_var = {id(stmt.var): stmt for stmt in (one, other)}
    loads = [by_var.get(id(factor)) for factor in product.args]
    if loads[0] is None or loads[1] is None or loads[0] is loads[1]:
        return None
    left, right = loads[0], loads[1]
    if not all(_is_whole_load(load) for load in (left, right)):
        return None
    problem = problem_of(left.var, right.var, create.var, backend)
    if problem is None:
        return None
    block = None if problem.fits_output(problem.rows, problem.columns) else problem.choose(output_stays=True)
    if block is None or problem.depth % problem.step:
        return None
    return _Sum(create, loop, (left, right), branch, first, more, store, problem, block)


def _is_first_round(loop: ir.ForStmt, branch: ir.IfStmt) -> bool:
    condition, start = branch.condition, constant_extent(loop.start)
    if not isinstance(condition, ir.Eq) or condition.left is not loop.loop_var:
        return False
    return start is not None and constant_extent(condition.right) == start


def _yielded(body: ir.Stmt) -> ir.AssignStmt | None:
    match list(flat(body)):
        case [ir.AssignStmt() as stmt, ir.YieldStmt(value=(value,))] if value is stmt.var:
            return stmt
    return None


def _is_whole_load(stmt: ir.AssignStmt) -> bool:
    """Whether a statement loads a matrix into Mat, all of which is valid."""
    call = call_of(stmt)
    if call is None or call.op.name != _LOAD or rank_of(call.args[0]) != MATRIX:
        return False
    is_in_mat = isinstance(call.type, ir.TileType) and call.type.memory_space is MemorySpace.Mat
    return is_in_mat and sizes(call) is not None


def _reads_elsewhere(one: _Sum, origins: Origins) -> bool:
    """Whether nothing is read of the tensor that blocks are stored into before the last one is computed."""
    store = call_of(one.store)
    assert store is not None
    target = store.args[2]
    sources = [call.args[0] for load in one.loads if (call := call_of(load)) is not None]
    roots = [origins.of(var) for var in (target, *sources) if isinstance(var, ir.Var)]
    return all(root is not roots[0] for root in roots[1:])


class _Blocks(Rewriter):
    def __init__(self, sums: list[_Sum]) -> None:
        super().__init__()
        self._gone = {id(stmt) for one in sums for stmt in (one.create, one.loop)}
        self._sums = {id(one.store): one for one in sums}

    def before(self, stmt: ir.Stmt) -> ir.Stmt | None:
        return None if id(stmt) in self._gone else stmt

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        one = self._sums.get(id(stmt))
        return None if one is None else self._blocks(one, stmt)

    def _blocks(self, one: _Sum, stmt: ir.Stmt) -> Task:
        store = call_of(stmt)
        assert store is not None and isinstance(store.args[1], ir.MakeTuple)
        target = yield store.args[2]
        base = target.name_hint if isinstance(target, ir.Var) else "out"
        made: list[ir.Stmt] = []
        number = 0
        for column in range(0, one.problem.columns, one.block.n):
            for row in range(0, one.problem.rows, one.block.m):
                value = _block(one, number, (row, column), made)
                offsets = [plus(at, by) for at, by in zip(store.args[1].elements, (row, column), strict=True)]
                args = [value, ir.MakeTuple(offsets, store.span), target, *store.args[3:]]
                call = build(store, args=args, span=stmt.span)
                target = ir.Var(f"{base}_t{number}", store.type, stmt.span)
                made.append(ir.AssignStmt(target, call, stmt.span))
                number += 1
        if isinstance(stmt, ir.AssignStmt):
            self.bind(stmt.var, target)
        return made


def _block(one: _Sum, number: int, place: tuple[int, int], made: list[ir.Stmt]) -> ir.Var:
    """All rounds for one block of the result."""
    rows = min(one.block.m, one.problem.rows - place[0])
    columns = min(one.block.n, one.problem.columns - place[1])
    span, loop = one.loop.span, one.loop

    def renamed(var: ir.Var, type_: ir.Type) -> ir.Var:
        return ir.Var(f"{var.name_hint}_mn{number}", type_, var.span)

    create = call_of(one.create)
    assert create is not None
    new = ops.call("tile.create", [rows, columns], span=one.create.span, **create.kwargs)
    accumulator = renamed(one.create.var, new.type)
    made.append(build(one.create, var=accumulator, value=new))
    index = ir.Var(loop.loop_var.name_hint, loop.loop_var.type, loop.loop_var.span)
    carry = ir.IterArg(f"{loop.iter_args[0].name_hint}_mn{number}", new.type, accumulator, span)
    depth = one.problem.depth
    windows = ((rows, depth), (depth, columns))
    shifts = ((place[0], 0), (0, place[1]))
    factors, body = list[ir.Var](), list[ir.Stmt]()
    for load, window, shift in zip(one.loads, windows, shifts, strict=True):
        call = substitute(load.value, {loop.loop_var: index})
        assert isinstance(call, ir.Call) and isinstance(call.args[1], ir.MakeTuple)
        offsets = [plus(at, by) for at, by in zip(call.args[1].elements, shift, strict=True)]
        where = ir.MakeTuple(offsets, call.span)
        narrow = ops.call("tile.load", call.args[0], where, window, window, span=call.span, **call.kwargs)
        factors.append(renamed(load.var, narrow.type))
        body.append(build(load, var=factors[-1], value=build(narrow, attrs=call.attrs)))
    sides = []
    for stmt, operands in ((one.first, factors), (one.more, [carry, *factors])):
        assert isinstance(stmt.value, ir.Call)
        call = ops.call(stmt.value.op.name, *operands, span=stmt.value.span)
        var = renamed(stmt.var, call.type)
        sides.append(as_body([build(stmt, var=var, value=call), ir.YieldStmt([var], stmt.span)], stmt.span))
    result = renamed(one.branch.return_vars[0], new.type)
    condition = substitute(one.branch.condition, {loop.loop_var: index})
    body.append(ir.IfStmt(condition, sides[0], sides[1], [result], one.branch.span))
    body.append(ir.YieldStmt([result], span))
    total = renamed(loop.return_vars[0], new.type)
    bounds = (loop.start, loop.stop, loop.step)
    made.append(
        ir.ForStmt(index, *bounds, [carry], as_body(body, span), [total], span, loop.kind, loop.attrs)
    )
    return total
