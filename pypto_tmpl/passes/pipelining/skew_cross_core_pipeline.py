"""Loops that hand a tile to the other core and wait for its answer ask for later rounds before they wait."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.aliases import Aliases
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.pipelining.halves import Halves, halves_of, leads_with_push, transfers
from pypto_tmpl.passes.pipelining.loops import (
    BASE_PROPERTIES,
    Membership,
    RoundCopies,
    Rounds,
    SecondNames,
    as_sequential,
    constant_like,
    has_pipelines,
    is_pipeline,
    moved_by,
    renamed,
    results,
    rounds_of,
    stages_of,
)
from pypto_tmpl.passes.pipelining.memory import Memory, call_of
from pypto_tmpl.passes.pipelining.peers import Peers
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat

FIRST_GROUP = 1 << 20
"""Groups of copies that this pass makes; LowerPipelineLoops counts its own from zero."""


class SkewCrossCorePipeline(ProgramPass):
    """Run the half of a round that ends in a push some rounds ahead of the half that pops the answer.

    The first pushes stand before the loop, the last answers behind it. Pushes keep their order, and so do
    pops.
    The distance is bounded by the stages, by the number of rounds, and by what fits into the slots of the
    pipes: with more, both cores would wait for each other for ever. Other pipelined loops that push and pop
    at their top level become sequential.
    """

    __slots__ = ()
    requires = BASE_PROPERTIES
    produces = BASE_PROPERTIES

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        callees, peers = Callees(program.functions.values()), Peers(program)
        aliases = Aliases(program)
        functions = [
            SecondNames().rewrite(
                _Skew(function, Memory(function, callees, aliases.of(function.name)), peers).rewrite(function)
            )
            if has_pipelines(function)
            else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


class _Skew(Rewriter):
    def __init__(self, function: ir.Function, memory: Memory, peers: Peers) -> None:
        super().__init__()
        self._memory = memory
        self._shared = {self._memory.storage(param) for param in peers.contended(function)}
        self._room = _room(function, peers)
        self._skewed = 0

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if not is_pipeline(stmt):
            return stmt
        ends = {end for inner in statements(stmt.body) for end in transfers(inner)}
        direct = {end for inner in flat(stmt.body) if call_of(inner) for end in transfers(inner)}
        both = {"push", "pop"}
        if stages_of(stmt) < 2:
            return as_sequential(stmt) if ends == both else stmt
        if direct != both:
            return stmt
        rounds = rounds_of(stmt)
        distance = _distance(stmt, rounds, self._room)
        halves = halves_of(stmt, self._memory, self._shared) if distance else None
        if rounds is None or halves is None:
            return as_sequential(stmt)
        return self._skew(halves, rounds, distance)

    def _skew(self, halves: Halves, rounds: Rounds, distance: int) -> list[ir.Stmt]:
        loop, step, count = halves.loop, rounds.numbers.step, len(rounds.numbers)
        group, self._skewed = FIRST_GROUP + self._skewed, self._skewed + 1
        stages = range(distance)
        marks = [Membership(group, stage, _is_transfer).rewrite for stage in stages]
        asking = RoundCopies(halves.ask, ())
        before = [stmt for k in stages for stmt in asking.next(rounds.index(loop, k), marks[k])]
        body = [s for k in stages for s in asking.next(moved_by(loop.loop_var, k * step), marks[k])]
        answers = RoundCopies(halves.answer, loop.iter_args)
        for k in stages:
            body += answers.next(moved_by(loop.loop_var, (k - distance) * step), marks[k])
        if loop.iter_args:
            body.append(ir.YieldStmt(answers.values, loop.body.span))
        made = renamed(loop.return_vars, "_swp")
        steady = as_sequential(
            loop,
            start=rounds.index(loop, distance),
            stop=rounds.index(loop, count),
            step=constant_like(loop.step, distance * step),
            body=as_body(body, loop.body.span),
            return_vars=made,
        )
        last = RoundCopies(halves.answer, made)
        after = [
            stmt for k in stages for stmt in last.next(rounds.index(loop, count - distance + k), marks[k])
        ]
        return [*before, steady, *after, *results(loop.return_vars, last.values, loop.span)]


def _distance(loop: ir.ForStmt, rounds: Rounds | None, room: int | None) -> int:
    """How many rounds ahead the pushes run; 0 where the loop cannot be skewed.

    The steady loop takes as many rounds at once, so that this divides their number; it begins with the pushes
    of as many further rounds, so that twice as many tiles are under way.
    """
    count = 0 if rounds is None else len(rounds.numbers)
    most = min(max(2, stages_of(loop) - 1), count // 2, count if room is None else room // 2)
    return next((distance for distance in range(most, 0, -1) if count % distance == 0), 0)


def _room(function: ir.Function, peers: Peers) -> int | None:
    """How many tiles a core can push before it pops; None where no pipe says how many slots it has.

    Those of the pipe there, and those of the pipe back if the other core answers each tile before it pops the
    next one.
    """
    calls = (call_of(stmt) for stmt in statements(function.body))
    slots = [
        call.kwargs["slot_num"] for call in calls if isinstance(call, ir.Call) and "slot_num" in call.kwargs
    ]
    if not slots:
        return None
    answers = all(not leads_with_push(peer.body) for peer in peers.of(function)) and bool(peers.of(function))
    return int(min(slots)) * (2 if answers else 1)


def _is_transfer(call: ir.Call) -> bool:
    return facts.of(call.op).is_transfer
