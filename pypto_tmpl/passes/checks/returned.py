"""What kernels return of the parameters that they write."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import IN_PLACE, last_of, statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.ops import facts

_WRAPPERS = (ir.FunctionType.Group, ir.FunctionType.Spmd)


def return_params_explicit(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """A kernel, or what launches one, returns a parameter that it wrote under the parameter's own name.

    The first return tells; others stand in the branches of lanes that have nothing to do.
    """
    if not is_incore_type(function.func_type) and function.func_type not in _WRAPPERS:
        return
    stmt = _first_return(function)
    versions = _Versions(function, program)
    for value in stmt.value if stmt is not None else ():
        place = versions.parameter(value)
        if stmt is not None and place is not None and value is not function.params[place]:
            name, param = getattr(value, "name_hint", "a value"), function.params[place].name_hint
            what = f"{function.name!r} returns {name!r}, which is the parameter {param!r} written"
            findings.add(0, what, stmt.span)


def _first_return(function: ir.Function) -> ir.ReturnStmt | None:
    return next((stmt for stmt in statements(function.body) if isinstance(stmt, ir.ReturnStmt)), None)


class _Versions:
    """Which parameter of a function a value is, written over or not."""

    def __init__(self, function: ir.Function, program: ir.Program) -> None:
        self.program = program
        self.params = {id(param): place for place, param in enumerate(function.params)}
        self.made = {id(var): stmt for stmt in statements(function.body) for var in definitions(stmt)}
        self.known: dict[int, int | None] = {}

    def parameter(self, value: ir.Expr) -> int | None:
        """The place of the parameter, None where the value is none, or not surely."""
        todo = [value]
        while todo:
            last = todo[-1]
            missing = [one for one in self.sources(last) if id(one) not in self.known]
            if id(last) in self.known or not missing:
                todo.pop()
                self.known.setdefault(id(last), self._agreed(last))
            else:
                todo += missing
        return self.known[id(value)]

    def _agreed(self, value: ir.Expr) -> int | None:
        if id(value) in self.params:
            return self.params[id(value)]
        found = {self.known[id(one)] for one in self.sources(value)}
        return found.pop() if len(found) == 1 else None

    def sources(self, value: ir.Expr) -> tuple[ir.Expr, ...]:
        """The values of which a value is the same storage, whichever way the function takes."""
        if id(value) in self.params:
            return ()
        if isinstance(value, ir.IterArg):
            return (value.initValue,)
        if isinstance(value, ir.TupleGetItemExpr):
            made = self.made.get(id(value.tuple))
            call = made.value if isinstance(made, ir.AssignStmt) else value.tuple
            return self._returned(call, value.index)
        stmt = self.made.get(id(value))
        if isinstance(stmt, ir.AssignStmt):
            return self._of_assigned(stmt.value)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            place = _place(value, stmt.return_vars)
            return (stmt.iter_args[place].initValue, *_yielded([stmt.body], place))
        if isinstance(stmt, ir.IfStmt):
            bodies = [stmt.then_body, *([] if stmt.else_body is None else [stmt.else_body])]
            return _yielded(bodies, _place(value, stmt.return_vars))
        return ()

    def _of_assigned(self, value: ir.Expr) -> tuple[ir.Expr, ...]:
        if isinstance(value, ir.Var | ir.TupleGetItemExpr):
            return (value,)
        returned = facts.of_value(value).returned
        if isinstance(value, ir.Call) and returned is not None:
            return (value.args[returned],)
        return self._returned(value, 0)

    def _returned(self, value: ir.Expr, place: int) -> tuple[ir.Expr, ...]:
        """The argument that a function gives back as one of its results."""
        callee = self.program.get_function(value.op.name) if isinstance(value, ir.Call) else None
        stmt = None if callee is None else _first_return(callee)
        if callee is None or stmt is None or place >= len(stmt.value) or not isinstance(value, ir.Call):
            return ()
        at = _place(stmt.value[place], callee.params)
        return (value.args[at],) if 0 <= at < len(value.args) else ()


def _yielded(bodies: Iterable[ir.Stmt], place: int) -> tuple[ir.Expr, ...]:
    ends = [last_of(body, IN_PLACE) for body in bodies]
    return tuple(end.value[place] for end in ends if isinstance(end, ir.YieldStmt))


def _place(value: ir.Expr, among: Iterable[ir.Expr]) -> int:
    return next((place for place, one in enumerate(among) if one is value), -1)
