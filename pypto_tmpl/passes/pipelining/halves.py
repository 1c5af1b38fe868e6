"""The two halves of a round that pushes a tile and pops another: what leads to the push, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.pipelining.memory import Memory, call_of, is_event
from pypto_tmpl.rewrite import as_body, build, flat


@dataclass(frozen=True, slots=True)
class Halves:
    """A loop, and the two loops that each run one half of its rounds."""

    loop: ir.ForStmt
    ask: ir.ForStmt
    answer: ir.ForStmt


def halves_of(loop: ir.ForStmt, memory: Memory, shared: set[int]) -> Halves | None:
    """The halves of the rounds of a loop; None where the first cannot run ahead of the second.

    It cannot where there is more than one push or pop, or anything else that other cores notice; where it
    needs a carry; where the second half needs more of it than numbers; and where memory tells the difference.
    """
    stmts = list(flat(loop.body))
    ends = [end for stmt in stmts for end in transfers(stmt)]
    push = next((place for place, stmt in enumerate(stmts) if "push" in transfers(stmt)), None)
    if ends != ["push", "pop"] or push is None or any(map(_is_other_event, stmts)):
        return None
    asking = _leading_to(push, stmts)
    numbers = _numbers_for_the_rest(asking, stmts)
    if numbers is None:
        return None
    first = [stmt for place, stmt in enumerate(stmts) if place in asking]
    second = [stmt for place, stmt in enumerate(stmts) if place not in asking or place in numbers]
    carries = set(map(id, loop.iter_args))
    if any(id(node) in carries for stmt in first for node in ir.walk(stmt)):
        return None
    if not _are_apart(stmts, asking, memory, shared):
        return None
    span = loop.body.span
    ask = build(loop, iter_args=(), return_vars=(), body=as_body(first, span))
    return Halves(loop, ask, build(loop, body=as_body(second, span)))


def transfers(stmt: ir.Stmt) -> list[str]:
    """The pushes and pops of a statement, and of what is inside of it, in order."""
    found = []
    for inner in statements(stmt):
        call = call_of(inner)
        if call is not None and facts.of(call.op).is_transfer:
            found.append(str(facts.of(call.op).pipe_end))
    return found


def leads_with_push(body: ir.Stmt) -> bool:
    """Whether a loop in a body pushes before it pops: it does not wait for what comes from the other core."""
    loops = (stmt for stmt in statements(body) if isinstance(stmt, ir.ForStmt | ir.WhileStmt))
    return any(transfers(loop.body)[:1] == ["push"] for loop in loops)


def _is_other_event(stmt: ir.Stmt) -> bool:
    call = call_of(stmt)
    return is_event(stmt) and (call is None or facts.of(call.op).pipe_end is None)


def _leading_to(push: int, stmts: Sequence[ir.Stmt]) -> set[int]:
    """The places of the statements that a push needs, its own too."""
    defined = {id(var): place for place, stmt in enumerate(stmts) for var in _defined(stmt)}
    found, todo = {push}, [push]
    while todo:
        for node in ir.walk(stmts[todo.pop()]):
            place = defined.get(id(node))
            if place is not None and place not in found:
                found.add(place)
                todo.append(place)
    return found


def _numbers_for_the_rest(asking: set[int], stmts: Sequence[ir.Stmt]) -> set[int] | None:
    """The places of scalars that the rest needs too, and computes again; None where it needs other things."""
    defined = {id(var): place for place in asking for var in _defined(stmts[place])}
    found: set[int] = set()
    todo = [stmt for place, stmt in enumerate(stmts) if place not in asking]
    while todo:
        for node in ir.walk(todo.pop()):
            place = defined.get(id(node))
            if place is None or place in found:
                continue
            if not _is_arithmetic(stmts[place]):
                return None
            found.add(place)
            todo.append(stmts[place])
    return found


def _is_arithmetic(stmt: ir.Stmt) -> bool:
    return (
        isinstance(stmt, ir.AssignStmt)
        and isinstance(stmt.var.type, ir.ScalarType)
        and not any(isinstance(node, ir.Call) for node in ir.walk(stmt.value))
    )


def _are_apart(stmts: Sequence[ir.Stmt], asking: set[int], memory: Memory, shared: set[int]) -> bool:
    """Whether memory cannot tell that the statements ``asking`` run before the others of earlier rounds.

    What a round defines is its own; there only the order within a round counts. Storage from outside of the
    loop is touched by both halves only to read it, and not at all where another core writes it or sees it
    written.
    """
    outside = _from_outside(stmts, memory)
    of_asking: dict[int, bool] = {}  # the storage that each half has touched so far, and whether it wrote
    of_others: dict[int, bool] = {}
    for place, stmt in enumerate(stmts):
        for touch in memory.touches(stmt):
            storage = touch.storage
            if storage in shared:
                return False
            if place in asking:
                if storage in of_others and (of_others[storage] or touch.writes):
                    return False
                of_asking[storage] = of_asking.get(storage, False) or touch.writes
            else:
                of_others[storage] = of_others.get(storage, False) or touch.writes
    both = of_asking.keys() & of_others.keys() & outside
    return not any(of_asking[storage] or of_others[storage] for storage in both)


def _from_outside(stmts: Sequence[ir.Stmt], memory: Memory) -> set[int]:
    """The storage of variables that no statement of a round defines."""
    defined = {id(var) for stmt in stmts for var in _defined(stmt)}
    return {
        memory.storage(node)
        for stmt in stmts
        for node in ir.walk(stmt)
        if isinstance(node, ir.Var) and id(node) not in defined
    }


def _defined(stmt: ir.Stmt) -> Iterator[ir.Var]:
    """The variables that a statement, and what is inside of it, defines."""
    return (var for inner in statements(stmt) for var in definitions(inner))
