"""Calls of Inline functions become the bodies of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.passes.base import PassError, ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.structure.dumped import Dumping
from pypto_tmpl.passes.structure.nested_calls import whole_value, with_calls_alone
from pypto_tmpl.passes.structure.sources import written_target
from pypto_tmpl.rewrite import Rewriter, build, flat


class InlineFunctions(ProgramPass):
    """Put the body of an Inline function where it is called, with variables ``<name>_inline<N>`` of its own.

    A call inside of another expression is pulled out of it, together with all that the statement calls.
    A parameter reads as its argument. One that the body assigns is the variable of the caller where that is
    written in place or assigned by the call itself, and else a copy. Several results are put in the place of
    ``result[i]``, under a name of their own where the caller could change them in between.
    """

    __slots__ = ()
    produces = frozenset({IRProperty.InlineFunctionsEliminated})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        functions = {function.name: function for function in program.functions.values()}
        helpers = {name: f for name, f in functions.items() if f.func_type is ir.FunctionType.Inline}
        if not helpers:
            return program
        numbers = count()
        expanded: dict[str, ir.Function] = {}
        for name in _callees_first(helpers):
            alone = with_calls_alone(helpers[name], helpers, numbers)
            expanded[name] = _Inliner(alone, expanded, numbers).expand()
        kept = [with_calls_alone(f, helpers, numbers) for name, f in functions.items() if name not in helpers]
        return build(program, functions=[_Inliner(f, expanded, numbers).expand() for f in kept])


@dataclass(frozen=True, slots=True)
class _Expansion:
    """The body of a helper as it stands in a caller, and what it returns there."""

    statements: list[ir.Stmt]
    values: tuple[ir.Expr, ...]


class _Inliner(Rewriter):
    """Expands the calls in one function; helpers are expanded already."""

    def __init__(
        self, owner: ir.Function, helpers: Mapping[str, ir.Function], numbers: Iterator[int]
    ) -> None:
        super().__init__()
        self._owner = owner
        self._helpers = helpers
        self._numbers = numbers
        self._tuples: list[ir.Var] = []
        self._assignments = Counter(
            [
                *(id(param) for param in owner.params),
                *(id(stmt.var) for stmt in ir.walk(owner.body) if isinstance(stmt, ir.AssignStmt)),
            ]
        )

    def expand(self) -> ir.Function:
        """The function without calls of helpers. Raises PassError for one that is no part of a statement."""
        function = self.rewrite(self._owner)
        for node in ir.walk(function.body):
            if (helper := self._helper(node)) is not None:
                raise PassError(f"{helper.name} is called where no statement evaluates it", self._owner, node)
            if isinstance(node, ir.Var) and any(node is var for var in self._tuples):
                what = (
                    f"the results {node.name_hint!r} of an Inline function are read where they are not known"
                )
                raise PassError(what, self._owner, node)
        return function

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        call = whole_value(stmt)
        helper = self._helper(call)
        if helper is None or not isinstance(call, ir.Call):
            return [stmt]
        if others := sorted(key for key in call.attrs if key != "dump_vars"):
            what = f"the call of {helper.name} has the attribute {others[0]!r}, which cannot be kept"
            raise PassError(what, self._owner, call)
        target = stmt.var if isinstance(stmt, ir.AssignStmt) else None
        expansion = _Copy(helper, call.args, target, self._numbers).expansion()
        expanded = self._dumping(expansion.statements, call)
        statements = [*expanded, *self._results(stmt, expansion.values)]
        if statements and stmt.leading_comments:
            comments = (*stmt.leading_comments, *statements[0].leading_comments)
            statements[0] = build(statements[0], leading_comments=comments)
        return statements

    def _dumping(self, statements: list[ir.Stmt], call: ir.Call) -> list[ir.Stmt]:
        """The body of a helper whose scopes and calls dump what the call of the helper was to dump."""
        dumping = Dumping(call.attrs.get("dump_vars", ()))
        found = list(flat(list(map(dumping.rewrite, statements)))) if dumping.unused else statements
        if dumping.unused:
            name = dumping.unused[0].name_hint
            what = f"{name!r} is to be dumped, but {call.op.name} uses it nowhere in a launch"
            raise PassError(what, self._owner, call, dumping.unused[0])
        return found

    def expression(self, expr: ir.Expr) -> ir.Expr:
        if isinstance(expr, ir.TupleGetItemExpr) and isinstance(expr.tuple, ir.MakeTuple):
            return expr.tuple.elements[expr.index]
        return expr

    def _helper(self, node: object) -> ir.Function | None:
        if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
            return self._helpers.get(node.op.name)
        return None

    def _results(self, stmt: ir.Stmt, values: tuple[ir.Expr, ...]) -> Iterator[ir.Stmt]:
        """What is left of the statement that called; its variable reads as several results from now on."""
        if isinstance(stmt, ir.ReturnStmt):
            yield build(stmt, value=values, leading_comments=())
        if not isinstance(stmt, ir.AssignStmt):
            return
        if len(values) == 1:
            if values[0] is not stmt.var:
                yield build(stmt, value=values[0], leading_comments=())
            return
        elements: list[ir.Expr] = []
        for value in values:
            if not self._is_stable(value):
                kept = ir.Var(f"{stmt.var.name_hint}_inline{next(self._numbers)}", value.type, stmt.span)
                yield ir.AssignStmt(kept, value, stmt.span)
                value = kept
            elements.append(value)
        self._tuples.append(stmt.var)
        self.bind(stmt.var, ir.MakeTuple(elements, stmt.span))

    def _is_stable(self, value: ir.Expr) -> bool:
        """Whether a value is the same wherever it is read: the caller assigns its variables once."""
        return all(self._assignments[id(var)] <= 1 for var in ir.walk(value) if isinstance(var, ir.Var))


class _Copy(Rewriter):
    """One copy of the body of a helper, in terms of a caller."""

    def __init__(
        self, helper: ir.Function, args: Sequence[ir.Expr], target: ir.Var | None, numbers: Iterator[int]
    ) -> None:
        super().__init__()
        self._helper = helper
        self._numbers = numbers
        self._variables: dict[int, ir.Var] = {}
        self._copied: list[ir.Stmt] = []
        for param, arg in zip(helper.params, args, strict=True):
            is_rebound, is_in_place = _assignments_of(param, helper.body)
            if not is_rebound:
                self.bind(param, arg)
            elif isinstance(arg, ir.Var) and (is_in_place or arg is target and _occurrences(arg, args) == 1):
                self._variables[id(param)] = arg
                self.bind(param, arg)
            else:
                self._copied.append(ir.AssignStmt(self.definition(param, param), arg, arg.span))
                self.bind(param, self._variables[id(param)])

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if isinstance(typed, ir.IterArg):
            return ir.IterArg(old.name_hint, typed.type, typed.initValue, old.span)
        if id(old) not in self._variables:
            name = f"{old.name_hint}_inline{next(self._numbers)}"
            self._variables[id(old)] = ir.Var(name, typed.type, old.span)
        return self._variables[id(old)]

    def expansion(self) -> _Expansion:
        """The copy. Raises PassError for a return that is not the last statement."""
        statements = [*self._copied, *flat(self.rewrite(self._helper.body))]
        values: tuple[ir.Expr, ...] = ()
        if statements and isinstance(last := statements[-1], ir.ReturnStmt):
            values = last.value
            del statements[-1]
        for stmt in statements:
            for node in ir.walk(stmt):
                if isinstance(node, ir.ReturnStmt):
                    name = self._helper.name
                    what = f"the return of the Inline function {name!r} is not its last statement"
                    raise PassError(what, self._helper, node)
        return _unpacked(statements, values)


def _unpacked(statements: list[ir.Stmt], values: tuple[ir.Expr, ...]) -> _Expansion:
    """A tuple that is returned as one value is its elements; a variable for it is not assigned."""
    if len(values) != 1 or not isinstance(values[0].type, ir.TupleType):
        return _Expansion(statements, values)
    (value,) = values
    if isinstance(value, ir.Var):
        for stmt in statements:
            if isinstance(stmt, ir.AssignStmt) and stmt.var is value and isinstance(stmt.value, ir.MakeTuple):
                return _Expansion([s for s in statements if s is not stmt], stmt.value.elements)
    return _Expansion(statements, value.elements if isinstance(value, ir.MakeTuple) else values)


def _occurrences(var: ir.Var, args: Sequence[ir.Expr]) -> int:
    """In how many arguments a variable is read."""
    return sum(any(node is var for node in ir.walk(arg)) for arg in args)


def _assignments_of(param: ir.Var, body: ir.Stmt) -> tuple[bool, bool]:
    """Whether a body assigns a parameter, and whether all that it assigns is that, written in place."""
    values = [s.value for s in ir.walk(body) if isinstance(s, ir.AssignStmt) and s.var is param]
    is_in_place = all(isinstance(v, ir.Call) and written_target(v) is param for v in values)
    return bool(values), is_in_place


def _callees_first(helpers: Mapping[str, ir.Function]) -> list[str]:
    """The names of helpers, each after those that it calls. Raises PassError that shows a circle."""
    done: list[str] = []
    path: list[str] = []

    def visit(name: str) -> None:
        if name in done:
            return
        path.append(name)
        for node in ir.walk(helpers[name].body):
            if isinstance(node, ir.Call) and isinstance(node.op, ir.GlobalVar) and node.op.name in helpers:
                if node.op.name in path:
                    circle = " -> ".join([*path[path.index(node.op.name) :], node.op.name])
                    what = f"Inline functions call each other in a circle: {circle}"
                    raise PassError(what, helpers[name], node)
                visit(node.op.name)
        done.append(path.pop())

    for name in helpers:
        visit(name)
    return done
