"""Pipelined loops become loops over several rounds at once, and the rounds that are left."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.pipelining.call_ranges import CallRanges
from pypto_tmpl.passes.pipelining.loops import (
    ALTERNATES,
    BASE_PROPERTIES,
    STAGES,
    Marking,
    Membership,
    RoundCopies,
    Rounds,
    SecondNames,
    as_sequential,
    constant_like,
    has_pipelines,
    is_pipeline,
    is_product_in_acc,
    moved_by,
    renamed,
    results,
    rounds_of,
    stages_of,
)
from pypto_tmpl.passes.structure.jumps import JUMPS, jumps_in
from pypto_tmpl.rewrite import Rewriter, as_body, build


class LowerPipelineLoops(ProgramPass):
    """Put as many rounds into the body of a pipelined loop as it has stages; what is left follows behind it.

    The loop stays a pipelined one, of one stage: CanonicalizeIOOrder brings the loads of its rounds together.
    Where the number of rounds is not a constant, branches behind the loop run what is left.
    """

    __slots__ = ()
    requires = BASE_PROPERTIES
    produces = BASE_PROPERTIES

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        ranges = CallRanges(program)
        functions = [
            SecondNames().rewrite(_Lower(function, ranges).rewrite(function))
            if has_pipelines(function)
            else function
            for function in program.functions.values()
        ]
        return build(program, functions=functions)


class _Lower(Rewriter):
    def __init__(self, function: ir.Function, ranges: CallRanges) -> None:
        super().__init__()
        self._owner = function
        self._ranges = ranges
        self._groups = 0

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if not is_pipeline(stmt) or stages_of(stmt) < 2:
            return stmt
        if jumps_in(stmt.body, JUMPS):
            return as_sequential(stmt)  # a jump out of one round is none over those beside it
        rounds = rounds_of(stmt)
        if rounds is not None:
            return self._known(stmt, rounds) if rounds.numbers else as_sequential(stmt)
        if (constant_extent(stmt.step) or 0) < 1:
            return as_sequential(stmt)  # nobody can tell how many rounds there are
        return self._counted(stmt)

    def _copies(self, copies: RoundCopies, indices: list[ir.Expr]) -> list[ir.Stmt]:
        """Rounds one after the other, as stages of a new group."""
        group, self._groups = self._groups, self._groups + 1
        found: list[ir.Stmt] = []
        for stage, index in enumerate(indices):
            found += copies.next(index, _marking(copies.loop, group, stage))
        return found

    def _main(self, loop: ir.ForStmt, stop: ir.Expr, variables: list[ir.Var]) -> ir.ForStmt:
        """The loop over all stages at once, up to ``stop``."""
        step, stages = constant_extent(loop.step) or 0, stages_of(loop)
        copies = RoundCopies(loop, loop.iter_args)
        body = self._copies(copies, [moved_by(loop.loop_var, stage * step) for stage in range(stages)])
        if copies.values:
            body.append(ir.YieldStmt(copies.values, loop.body.span))
        return build(
            loop,
            stop=stop,
            step=constant_like(loop.step, step * stages),
            body=as_body(body, loop.body.span),
            return_vars=variables,
            attrs=loop.attrs.with_(**{STAGES: 1}),
        )

    def _known(self, loop: ir.ForStmt, rounds: Rounds) -> list[ir.Stmt]:
        count, stages = len(rounds.numbers), stages_of(loop)
        looped, left = count // stages * stages, count % stages
        found: list[ir.Stmt] = []
        values = [arg.initValue for arg in loop.iter_args]
        if looped:
            made = renamed(loop.return_vars, "_main") if left else list(loop.return_vars)
            found, values = [self._main(loop, rounds.index(loop, looped), made)], list[ir.Expr](made)
        if left:
            copies = RoundCopies(loop, values)
            found += self._copies(copies, [rounds.index(loop, looped + number) for number in range(left)])
            found += results(loop.return_vars, copies.values, loop.span)
        return found

    def _counted(self, loop: ir.ForStmt) -> list[ir.Stmt]:
        step, stages, at = constant_extent(loop.step) or 0, stages_of(loop), loop.span
        count = ir.sub(loop.stop, loop.start, at)
        is_plain = self._ranges.is_never_negative(self._owner, count)
        if not is_plain:
            count = ir.max_(count, constant_like(loop.loop_var, 0), at)  # below zero the rest would be one
        if step > 1:
            count = ir.floordiv(ir.add(count, constant_like(loop.loop_var, step - 1), at), loop.step, at)
        of_stages = ir.floordiv(count, constant_like(loop.loop_var, stages), at)
        end_value = ir.add(loop.start, ir.mul(of_stages, constant_like(loop.loop_var, step * stages), at), at)
        end = ir.Var("unroll_main_end", loop.loop_var.type, at)
        left = ir.Var("unroll_rem", loop.loop_var.type, at)
        if step == 1 and is_plain:
            left_value = ir.sub(loop.stop, end, at)
        else:
            left_value = ir.sub(count, ir.mul(of_stages, constant_like(loop.loop_var, stages), at), at)
        made = renamed(loop.return_vars, "_main")
        main = self._main(loop, end, made)
        rest = self._rest(loop, end, left, made)
        return [ir.AssignStmt(end, end_value, at), main, ir.AssignStmt(left, left_value, at), rest]

    def _rest(self, loop: ir.ForStmt, end: ir.Var, left: ir.Var, made: list[ir.Var]) -> ir.Stmt:
        """A branch for each number of rounds that may be left, more of them in the else of fewer."""
        step, at = constant_extent(loop.step) or 0, loop.span
        otherwise: list[ir.Stmt] = [ir.YieldStmt(made, at)] if made else []
        for number in range(stages_of(loop) - 1, 0, -1):
            copies = RoundCopies(loop, made)
            then = self._copies(copies, [moved_by(end, k * step) for k in range(number)])
            if made:
                then.append(ir.YieldStmt(copies.values, at))
            variables = loop.return_vars if number == 1 else renamed(loop.return_vars, f"_rem{number}")
            condition = ir.eq(left, constant_like(left, number), at)
            else_body = as_body(otherwise, at) if otherwise else None
            branch = ir.IfStmt(condition, as_body(then, at), else_body, variables, at)
            otherwise = [branch, *([ir.YieldStmt(variables, at)] if made else [])]
        return otherwise[0]


def _marking(loop: ir.ForStmt, group: int, stage: int) -> Marking:
    """Products share their accumulator unless the loop alternates between two; popped tiles lie in slots."""

    def leaves_out(call: ir.Call) -> bool:
        shares = is_product_in_acc(call) and not loop.attrs.get(ALTERNATES, False)
        return shares or facts.of(call.op).is_transfer

    return Membership(group, stage, leaves_out).rewrite
