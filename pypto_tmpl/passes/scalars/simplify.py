"""Scalars, branches and loops in their simplest form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.scalars.dead import without_dead_scalars
from pypto_tmpl.passes.scalars.expressions import Linear, RangeOf, Simplifier
from pypto_tmpl.passes.scalars.ranges import ANY, Range, range_of
from pypto_tmpl.passes.structure.jumps import JUMPS, jumps_in
from pypto_tmpl.passes.structure.yields import with_yield, yielded
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat
from pypto_tmpl.rewrite.rewriter import Task

_INDEX = ir.ScalarType(ir.DataType.INDEX)
_ATOMS = (ir.ConstInt, ir.ConstFloat, ir.ConstBool)


class Simplify(FunctionPass):
    """Simplify integer arithmetic, by the ranges of loop variables and by what branches tell.

    A branch whose condition is known is its side, a sequential loop of one round its body, one of none its
    initial values. Constants of the top level stand where they are read, also in types; scalars that nothing
    reads go. A number may be negative unless it is known not to be.
    """

    __slots__ = ()

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return without_dead_scalars(_Simplify(function).rewrite(function))


class _Simplify(Rewriter):
    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._defined = Counter(id(var) for var, _ in all_definitions(function))
        self._depth = 0  # loops, branches and blocks around
        self._is_buffer = False
        self._done_in_buffers: dict[int, tuple[object, object]] = {}
        self._variables: dict[int, Range] = {}
        self._ranges: dict[int, tuple[ir.Expr, Range]] = {}
        self._simplifier = Simplifier(self._range)

    # Expressions

    def expression(self, expr: ir.Expr) -> ir.Expr:
        return expr if self._is_buffer else self._simplifier.simplified(expr)

    def buffer(self, var: ir.MemRef | ir.WindowBuffer) -> Task:
        """Offsets and sizes of buffers keep their form."""
        outside = self._is_buffer, self._done
        self._is_buffer, self._done = True, self._done_in_buffers
        found = yield super().buffer(var)
        self._is_buffer, self._done = outside
        return found

    def _range(self, expr: ir.Expr) -> Range:
        if isinstance(expr, ir.Var):
            is_defined = id(expr) in self._defined or isinstance(expr, ir.IterArg)  # carries are built anew
            is_symbol = not is_defined and expr.type == _INDEX
            return self._variables.get(id(expr), Range(0) if is_symbol else ANY)
        if id(expr) not in self._ranges:
            self._ranges[id(expr)] = (expr, range_of(expr, self._range))
        return self._ranges[id(expr)][1]

    def _learn(self, found: dict[int, Range]) -> dict[int, Range]:
        """Narrow the ranges of variables; returns what was known before."""
        before = {key: self._variables.get(key, ANY) for key in found}
        for key, range_ in found.items():
            self._variables[key] = before[key].within(range_)
        if found:
            self._ranges.clear()
            self.forget()
        return before

    def _know(self, known: dict[int, Range]) -> None:
        self._variables.update(known)
        if known:
            self._ranges.clear()
            self.forget()

    # Statements

    def body(self, body: ir.Stmt) -> Task:
        """A branch that is always taken may return: what follows it is left out."""
        found = yield super().body(body)
        direct = list(flat(found))
        ends = [place for place, stmt in enumerate(direct) if isinstance(stmt, ir.ReturnStmt)]
        if not ends or ends[0] == len(direct) - 1 or isinstance(direct[-1], ir.YieldStmt):
            return found
        return as_body(direct[: ends[0] + 1], body.span)

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        if not isinstance(stmt, ir.AssignStmt) or self._defined[id(stmt.var)] > 1:
            return stmt
        if isinstance(stmt.var.type, ir.ScalarType):
            if isinstance(stmt.value, _ATOMS) and not self._depth:
                self.bind(stmt.var, stmt.value)
            else:
                self._variables[id(stmt.var)] = self._range(stmt.value)
        return stmt

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.ForStmt):
            return self._loop(stmt)
        if isinstance(stmt, ir.IfStmt):
            return self._branch(stmt)
        if isinstance(stmt, ir.CommDomainScopeStmt):
            return self._domain(stmt)
        return self._deeper(stmt) if isinstance(stmt, ir.WhileStmt | ir.SpmdScopeStmt) else None

    def _domain(self, stmt: ir.Stmt) -> Task:
        """A domain says the sizes of its windows in simplest form; types of tensors in them keep theirs."""
        *before, domain = yield self.usual(stmt)
        slots = []
        for slot in domain.slots:
            slots.append(build(slot, size=(yield slot.size)))
        return [*before, build(domain, slots=slots)]

    def _deeper(self, stmt: ir.Stmt) -> Task:
        self._depth += 1
        found = yield self.usual(stmt)
        self._depth -= 1
        return found

    def _loop(self, stmt: ir.ForStmt) -> Task:
        start, stop, step = (yield stmt.start), (yield stmt.stop), (yield stmt.step)
        rounds = _rounds(start, stop, step) if stmt.kind is ir.ForKind.Sequential and not stmt.attrs else None
        if rounds == 0:
            return (yield self._initial(stmt))
        if rounds == 1 and not jumps_in(stmt.body, JUMPS):
            return (yield self._only_round(stmt, start))
        self._know({id(stmt.loop_var): self._values(start, stop, step)})
        return (yield self._deeper(stmt))

    def _values(self, start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> Range:
        first, end = self._range(start), self._range(stop)
        if not isinstance(step, ir.ConstInt):
            return ANY
        if step.value > 0:
            return Range(first.low, None if end.high is None else end.high - 1)
        return Range(None if end.low is None else end.low + 1, first.high)

    def _initial(self, stmt: ir.ForStmt) -> Task:
        found = []
        for arg, result in zip(stmt.iter_args, stmt.return_vars, strict=True):
            value = yield arg.initValue
            found.append(ir.AssignStmt((yield self._definition(result)), value, stmt.span))
        return found

    def _only_round(self, stmt: ir.ForStmt, start: ir.Expr) -> Task:
        inits = yield self._each(stmt, tuple(arg.initValue for arg in stmt.iter_args))
        self.bind(stmt.loop_var, start)
        for arg, init in zip(stmt.iter_args, inits, strict=True):
            self.bind(arg, init)
        return (yield self._spliced(stmt.body, stmt.return_vars))

    def _spliced(self, body: ir.Stmt, results: tuple[ir.Var, ...]) -> Task:
        """The statements of a body that stands by itself; results read as what it yields."""
        found = yield self.body(body)
        for var, value in zip(results, yielded(found), strict=True):
            self.bind(var, value)
        return list(flat(with_yield(found, ())))

    def _branch(self, stmt: ir.IfStmt) -> Task:
        condition = yield stmt.condition
        if isinstance(condition, ir.ConstBool):
            side = stmt.then_body if condition.value else stmt.else_body
            return (yield self._spliced(side, stmt.return_vars)) if side is not None else []
        self._depth += 1
        sides: list[ir.Stmt | None] = []
        for side, holds in ((stmt.then_body, True), (stmt.else_body, False)):
            before = self._learn(told(condition, holds, self._range))
            sides.append((yield self.body(side)) if side is not None else None)
            self._know(before)
        self._depth -= 1
        results = yield self._definitions(stmt.return_vars)
        then_body, else_body = sides
        changes = {"condition": condition, "then_body": then_body, "else_body": else_body}
        return [build(stmt, return_vars=results, **changes)]


def _rounds(start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> int | None:
    """0 or 1 where a loop has no round or one, None where it has others or it is not known."""
    gap = Linear.of(stop).minus(Linear.of(start))
    if not isinstance(step, ir.ConstInt) or step.value < 1 or any(factor for _, factor in gap.terms):
        return None
    return min(2, max(0, -(-gap.constant // step.value))) if gap.constant <= step.value else None


def told(condition: ir.Expr, holds: bool, range_of: RangeOf) -> dict[int, Range]:
    """What a condition, or that it does not hold, tells of the ranges of variables."""
    found: dict[int, Range] = {}
    todo = [(condition, holds)]
    while todo:
        part, is_true = todo.pop()
        if isinstance(part, ir.Not):
            todo.append((part.operand, not is_true))
        elif isinstance(part, ir.And | ir.Or) and isinstance(part, ir.And if is_true else ir.Or):
            todo += [(part.left, is_true), (part.right, is_true)]
        elif isinstance(part, ir.Lt | ir.Le | ir.Eq):
            for var, told in _compared(part, is_true, range_of):
                found[id(var)] = found.get(id(var), ANY).within(told)
    return found


def _compared(node: ir.Lt | ir.Le | ir.Eq, holds: bool, range_of: RangeOf) -> Iterator[tuple[ir.Var, Range]]:
    left, right = node.left, node.right
    if isinstance(node, ir.Eq):
        for var, other in ((left, right), (right, left)):
            if holds and isinstance(var, ir.Var):
                yield var, range_of(other)
        return
    is_strict = isinstance(node, ir.Lt)
    if not holds:  # not a < b is b <= a
        left, right, is_strict = right, left, not is_strict
    gap = 1 if is_strict else 0
    low, high = range_of(left).low, range_of(right).high
    if isinstance(left, ir.Var) and high is not None:
        yield left, Range(None, high - gap)
    if isinstance(right, ir.Var) and low is not None:
        yield right, Range(low + gap, None)
