"""What a region reads, defines and writes, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import definitions, evaluated, own_expressions, used_variables
from pypto_tmpl.ops import facts
from pypto_tmpl.rewrite import flat


def reads(root: ir.Stmt) -> Iterator[ir.Var]:
    """The variables that statements read, again wherever they do, those of attributes too."""
    for stmt in statements(root):
        yield from own_reads(stmt)


def own_reads(stmt: ir.Stmt) -> Iterator[ir.Var]:
    """The variables that a statement reads without what is inside of it."""
    conditions = (stmt.condition,) if isinstance(stmt, ir.WhileStmt) else ()
    for root in (*own_expressions(stmt), *conditions):
        yield from used_variables(root)
        for node in evaluated(root):
            if isinstance(node, ir.Call | ir.Submit):
                yield from used_variables(*node.attrs.expressions())
    if isinstance(stmt, ir.ScopeStmt | ir.ForStmt):
        yield from used_variables(*stmt.attrs.expressions())


def visible_definitions(body: ir.Stmt) -> Iterator[ir.Var]:
    """What a body defines for what stands behind it; nothing of loops and branches but their results."""
    stack = [body]
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, (ir.SeqStmts, ir.ScopeStmt)):
            stack += reversed(parts(stmt))
        elif isinstance(stmt, ir.AssignStmt):
            yield stmt.var
        else:
            yield from getattr(stmt, "return_vars", ())


def all_definitions(body: ir.Stmt) -> set[int]:
    """Everything that is defined in a body (ids)."""
    return {id(var) for stmt in statements(body) for var in definitions(stmt)}


def stored_into(value: ir.Expr | None) -> ir.Var | None:
    """The tensor that a call lays cells into; other writes do not count."""
    known = facts.of_value(value)
    if not isinstance(value, ir.Call) or not (known.has("lays") and known.has("writes_tensor")):
        return None
    target = value.args[known.written[0]]
    return target if isinstance(target, ir.Var) else None


class Callees:
    """What functions do to their arguments; without functions, nothing is known of calls."""

    def __init__(self, functions: Iterable[ir.Function] = ()) -> None:
        self._functions = {function.name: function for function in functions}
        self._origins: dict[str, Origins] = {}
        self._returned: dict[str, tuple[ir.Expr, ...]] = {}

    def directions(self, value: ir.Expr | None) -> list[tuple[ir.Var, ir.ParamDirection]]:
        """The variables that a call passes, each with what the function does to it."""
        callee = self.callee(value)
        if callee is None or not isinstance(value, ir.Call | ir.Submit):
            return []
        pairs = zip(value.args, callee.param_directions, strict=False)
        return [(arg, direction) for arg, direction in pairs if isinstance(arg, ir.Var)]

    def result(self, value: ir.Expr | None, index: int) -> ir.Var | None:
        """The argument that a result of a call is another version of."""
        callee, found = self.callee(value), self.returned(value, index)
        if callee is None or found is None or not isinstance(value, ir.Call | ir.Submit):
            return None
        origin = self.origins(callee).of(found)
        args = [arg for param, arg in zip(callee.params, value.args, strict=False) if param is origin]
        return args[0] if args and isinstance(args[0], ir.Var) else None

    def returned(self, value: ir.Expr | None, index: int) -> ir.Var | None:
        """The variable that the function a call calls returns as a result."""
        if (callee := self.callee(value)) is None:
            return None
        if callee.name not in self._returned:
            returns = (stmt.value for stmt in flat(callee.body) if isinstance(stmt, ir.ReturnStmt))
            self._returned[callee.name] = next(returns, ())
        returned = self._returned[callee.name]
        found = returned[index] if index < len(returned) else None
        return found if isinstance(found, ir.Var) else None

    def callee(self, value: ir.Expr | None) -> ir.Function | None:
        """The function that a call calls."""
        if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
            return self._functions.get(value.op.name)
        return None

    def origins(self, callee: ir.Function) -> Origins:
        """The origins of what one of the functions defines."""
        if callee.name not in self._origins:
            self._origins[callee.name] = Origins(callee.body, self)
        return self._origins[callee.name]


class Origins:
    """Which variable of the outside a tensor of a region is a version of."""

    def __init__(self, body: ir.Stmt, callees: Callees) -> None:
        self._before: dict[int, ir.Var] = {}
        self._known: dict[int, tuple[ir.Var, bool]] = {}  # the first version; whether a carry is on the way
        calls: dict[int, ir.Expr] = {}
        loops: list[ir.ForStmt | ir.WhileStmt] = []
        for stmt in statements(body):
            if isinstance(stmt, ir.AssignStmt):
                calls[id(stmt.var)] = stmt.value
                before = _before(stmt.value, calls, callees)
                if before is not None:
                    self._before[id(stmt.var)] = before
            elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
                loops.append(stmt)
                for arg, result in zip(stmt.iter_args, stmt.return_vars, strict=True):
                    if isinstance(arg.initValue, ir.Var):
                        self._before[id(arg)] = self._before[id(result)] = arg.initValue
        for loop in reversed(loops):  # those inside of others first
            last = trailing_yield(loop.body)
            values = last.value if last is not None else ()
            for arg, result, value in zip(loop.iter_args, loop.return_vars, values, strict=False):
                start = _before(value, calls, callees)
                if start is None or all(var is not arg for var in self._versions(start)):
                    self._before.pop(id(result), None)  # it yields another variable in each round

    def _versions(self, var: ir.Var) -> Iterator[ir.Var]:
        """What a variable is a version of, itself first; in a circle, each once."""
        seen: set[int] = set()
        while id(var) not in seen:
            seen.add(id(var))
            yield var
            var = self._before.get(id(var), var)

    def of(self, var: ir.Var) -> ir.Var:
        """The first version; where variables are assigned from each other in a circle, one of these."""
        return self._followed(var)[0]

    def is_carried(self, var: ir.Var) -> bool:
        """Whether one of the versions up to ``var`` is the carry of a loop."""
        return self._followed(var)[1]

    def _followed(self, var: ir.Var) -> tuple[ir.Var, bool]:
        """The first version of a variable, and whether one on the way to it is the carry of a loop."""
        way: list[ir.Var] = []
        known: tuple[ir.Var, bool] | None = None
        for version in self._versions(var):
            if (known := self._known.get(id(version))) is not None:
                break
            way.append(version)
        first, is_carried = known or (way[-1], False)
        is_circle = known is None and id(first) in self._before
        for version in reversed(way):
            is_carried = is_carried or isinstance(version, ir.IterArg)
            if not is_circle:  # in a circle it depends on where one begins
                self._known[id(version)] = first, is_carried
        return first, is_carried


def _before(value: ir.Expr, calls: dict[int, ir.Expr], callees: Callees) -> ir.Var | None:
    """The variable that a value is another version of."""
    if isinstance(value, ir.Var):
        return value
    if isinstance(value, ir.TupleGetItemExpr):
        return callees.result(calls.get(id(value.tuple)), value.index)
    return stored_into(value) or callees.result(value, 0)


def param_directions(
    inputs: list[ir.Var], body: ir.Stmt, origins: Origins, callees: Callees
) -> list[ir.ParamDirection]:
    """How a region uses what it is given; what it stores into the carry of a loop does not count."""
    written: set[int] = set()
    read: set[int] = set()
    for stmt in statements(body):
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
        only_written: list[ir.Var] = []
        if (target := stored_into(value)) is not None and isinstance(value, ir.Call):
            if not origins.is_carried(target):
                written.add(id(origins.of(target)))
            if not value.kwargs.get("atomic"):
                only_written.append(target)
        for arg, direction in callees.directions(value):
            if direction is not ir.ParamDirection.In:
                written.add(id(origins.of(arg)))
            if direction is ir.ParamDirection.Out:
                only_written.append(arg)
        read |= {id(origins.of(var)) for var in _operands(stmt, value, only_written)}
    directions = {True: ir.ParamDirection.InOut, False: ir.ParamDirection.Out}
    return [directions[id(var) in read] if id(var) in written else ir.ParamDirection.In for var in inputs]


def _operands(stmt: ir.Stmt, value: object, only_written: list[ir.Var]) -> Iterator[ir.Var]:
    """The variables whose values a statement uses, attributes aside."""
    roots = list(own_expressions(stmt))
    if isinstance(value, ir.Call | ir.Submit):
        others = [root for root in roots if root is not value]
        roots = [*others, *(arg for arg in value.args if not any(arg is var for var in only_written))]
    if isinstance(stmt, ir.WhileStmt):
        roots.append(stmt.condition)
    return used_variables(*roots)
