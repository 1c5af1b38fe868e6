"""The slots of popped tiles given back as soon as nothing reads the tile any more."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.cores.kernel import Flows, Kernel, evaluated_call
from pypto_tmpl.passes.cores.transfers import free
from pypto_tmpl.passes.structure.yields import results
from pypto_tmpl.rewrite import Rewriter


def with_frees(function: ir.Function, side: CoreSide) -> ir.Function:
    """The function with a free after the last use of each popped tile that has none.

    Uses of other names of the tile count, of views, and of results of loops and branches that may be it. A
    free stands in the body of its pop, before what ends that.
    """
    kernel = Kernel(function)
    behind: dict[int, list[ir.Stmt]] = defaultdict(list)
    ahead: dict[int, list[ir.Stmt]] = defaultdict(list)
    for stmt, call, last in _held(kernel):
        keywords = {"id": call.kwargs["id"]} if "id" in call.kwargs else {}
        place = ahead if _is_end(last) else behind
        place[id(last)].append(free(stmt.var, side, stmt.span, **keywords))
    return _Freeing(ahead, behind).rewrite(function) if ahead or behind else function


def held_too_long(function: ir.Function) -> set[int]:
    """The popped tiles (ids) that would be freed after one that is popped from the pipe behind them.

    A free gives back the slot of the tile that was popped first, whichever tile it names.
    """
    kernel = Kernel(function)
    spans = []
    for stmt, call, last in _held(kernel):
        is_end = _is_end(last)
        end = kernel.number[id(last)] - 1 if is_end else kernel.end(last)
        depth = sum(1 for _ in kernel.around(stmt))  # what stands ahead of an end comes last in its body
        pipe = call.op.name, call.kwargs.get("id")
        spans.append((kernel.number[id(stmt)], (end, -depth, is_end), pipe, stmt))
    return {
        id(stmt.var)
        for start, end, pipe, stmt in spans
        if any(pipe == other and start < later and sooner < end for later, sooner, other, _ in spans)
    }


def _held(kernel: Kernel) -> Iterator[tuple[ir.AssignStmt, ir.Call, ir.Stmt]]:
    """The pops without frees, their calls, and the statements of their bodies that read the tiles last."""
    flows = Flows(kernel)
    names = _names(kernel)
    starts: dict[int, list[int]] = {}
    for stmt in kernel.statements:
        call = evaluated_call(stmt)
        if call is None or facts.of_value(call).pipe_end != "pop" or not isinstance(stmt, ir.AssignStmt):
            continue
        readers = map(evaluated_call, flows.readers[id(stmt.var)])
        if not any(facts.of_value(reader).pipe_end == "free" for reader in readers):
            yield stmt, call, _last_use(stmt, kernel, flows, names, starts)


def _is_end(stmt: ir.Stmt) -> bool:
    """Whether nothing can stand behind a statement in its body."""
    return isinstance(stmt, ir.YieldStmt | ir.ReturnStmt)


def _names(kernel: Kernel) -> dict[int, list[ir.Var]]:
    """What else may be a tile, or a view of it, by the ids of its variables."""
    found: dict[int, list[ir.Var]] = defaultdict(list)
    for stmt in kernel.statements:
        if isinstance(stmt, ir.AssignStmt):
            for value in shown(stmt.value):
                found[id(value)].append(stmt.var)
        for variables, values in results(stmt):
            for value in values:
                found[id(value)] += variables
    return found


def shown(value: ir.Expr) -> Iterator[ir.Expr]:
    """The values whose cells a value may be."""
    if isinstance(value, ir.Var):
        yield value
    elif isinstance(value, ir.Call):
        known = facts.of_value(value)
        yield from (value.args[place] for place in (known.view_of, known.returned) if place is not None)


def _last_use(
    popped: ir.AssignStmt,
    kernel: Kernel,
    flows: Flows,
    names: dict[int, list[ir.Var]],
    starts: dict[int, list[int]],
) -> ir.Stmt:
    """The statement of the body of a pop in which the tile is read last, the pop itself if nowhere."""
    body = kernel.parent.get(id(popped))
    if not isinstance(body, ir.SeqStmts):
        return popped
    last, seen, todo = kernel.number[id(popped)], {id(popped.var)}, [popped.var]
    while todo:
        var = todo.pop()
        last = max([last, *(kernel.number[id(reader)] for reader in flows.readers[id(var)])])
        for name in names[id(var)]:
            if id(name) not in seen:
                seen.add(id(name))
                todo.append(name)
    if id(body) not in starts:
        starts[id(body)] = [kernel.number[id(stmt)] for stmt in body.stmts]
    return body.stmts[min(bisect_right(starts[id(body)], last), len(body.stmts)) - 1]


class _Freeing(Rewriter):
    def __init__(self, ahead: dict[int, list[ir.Stmt]], behind: dict[int, list[ir.Stmt]]) -> None:
        super().__init__()
        self._ahead, self._behind = ahead, behind

    def before(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        return [*self._ahead.pop(id(stmt), ()), stmt, *self._behind.pop(id(stmt), ())]
