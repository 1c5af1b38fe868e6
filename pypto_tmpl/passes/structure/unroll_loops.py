"""Loops of kind Unroll become their rounds."""

from __future__ import annotations

from typing import TypeGuard

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.structure.lost import refuse_lost_variables
from pypto_tmpl.passes.structure.normalize_stmt_structure import map_bodies, normalized
from pypto_tmpl.rewrite import Rewriter, build, substitute

MAX_ROUNDS = 1024


class UnrollLoops(FunctionPass):
    """Put the rounds of a loop of kind Unroll in its place, the loop variable being a constant in each.

    What the body assigns is assigned again in each round: ConvertToSSA tells the values apart. Where the loop
    is all of a body, its rounds stay sequences inside of one, as PyPTO's do.
    """

    __slots__ = ()
    produces = frozenset({IRProperty.UnrollResolved})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not any(_is_unrolled(stmt) for stmt in statements(function.body)):
            return function
        unrolled = _Unroll(function).rewrite(function)
        refuse_lost_variables(function, unrolled)
        return unrolled


class _Unroll(Rewriter):
    opens_sequences = False

    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._rounds: dict[int, ir.Stmt] = {}

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        stmt = map_bodies(stmt, self._opened)
        if not _is_unrolled(stmt):
            return stmt
        if stmt.iter_args:
            raise self._error(stmt, f"carries {stmt.iter_args[0].name_hint!r}")
        rounds: list[ir.Stmt] = []
        for number in self._numbers(stmt):
            constant = ir.ConstInt(number, ir.DataType.INDEX, stmt.loop_var.span)
            rounds.append(substitute(stmt.body, {stmt.loop_var: constant}))
        if rounds:
            rounds[0] = with_comments(rounds[0], stmt.leading_comments)
        made = rounds[0] if len(rounds) == 1 else ir.SeqStmts(rounds, stmt.span)
        self._rounds[id(made)] = made
        return made

    def function(self, function: ir.Function) -> ir.Function:
        return build(function, body=self._opened(function.body))

    def _opened(self, body: ir.Stmt) -> ir.Stmt:
        return body if id(body) in self._rounds else normalized(body)

    def _numbers(self, stmt: ir.ForStmt) -> range:
        bounds = {"start": stmt.start, "stop": stmt.stop, "step": stmt.step}
        found = {name: constant_integer(expr) for name, expr in bounds.items()}
        for name, value in found.items():
            if value is None:
                raise self._error(stmt, f"has the {name} {bounds[name]}, which is no constant")
        if found["step"] == 0:
            raise self._error(stmt, "has the step 0")
        numbers = range(*(value or 0 for value in found.values()))
        if len(numbers) > MAX_ROUNDS:
            raise self._error(stmt, f"has {len(numbers)} rounds, over {MAX_ROUNDS}")
        return numbers

    def _error(self, stmt: ir.ForStmt, what: str) -> PassError:
        told = f"the unrolled loop over {stmt.loop_var.name_hint!r} {what}"
        return PassError(told, self._owner, stmt, stmt.loop_var)


def _is_unrolled(stmt: ir.Stmt) -> TypeGuard[ir.ForStmt]:
    return isinstance(stmt, ir.ForStmt) and stmt.kind is ir.ForKind.Unroll


def with_comments(stmt: ir.Stmt, comments: tuple[str, ...]) -> ir.Stmt:
    """A statement, or the first of a sequence, with further comments in front."""
    if not comments:
        return stmt
    if isinstance(stmt, ir.SeqStmts):
        return (
            build(stmt, stmts=(with_comments(stmt.stmts[0], comments), *stmt.stmts[1:]))
            if stmt.stmts
            else stmt
        )
    return build(stmt, leading_comments=(*comments, *stmt.leading_comments))


def constant_integer(expr: ir.Expr) -> int | None:
    """The value of an integer constant, a negated one too; None for anything else."""
    if isinstance(expr, ir.Neg):
        value = constant_integer(expr.operand)
        return None if value is None else -value
    return expr.value if isinstance(expr, ir.ConstInt) else None
