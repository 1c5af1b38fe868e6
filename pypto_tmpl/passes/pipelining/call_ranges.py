"""Between which numbers scalars of a function are, at each of its calls in the program."""

from __future__ import annotations

from collections.abc import Mapping

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import evaluated, own_expressions
from pypto_tmpl.passes.scalars.ranges import ANY, Range, range_of
from pypto_tmpl.passes.tensor.windows import loop_ranges

MAX_CALLS = 64
"""Of how many ways to call a function each is looked at by itself; of more, nothing is known."""
MAX_DEPTH = 50
"""How many definitions are followed from one variable to the next."""

_Params = Mapping[int, Range]


class CallRanges:
    """The ranges of scalars, from what a program passes to its functions."""

    def __init__(self, program: ir.Program) -> None:
        self._calls: dict[str, list[tuple[ir.Function, ir.Call | ir.Submit]]] = {}
        for function in program.functions.values():
            for stmt in statements(function.body):
                for node in evaluated(*own_expressions(stmt)):
                    if isinstance(node, ir.Call | ir.Submit) and isinstance(node.op, ir.GlobalVar):
                        self._calls.setdefault(node.op.name, []).append((function, node))
        self._contexts: dict[str, list[_Params]] = {}
        self._values: dict[str, _Values] = {}

    def is_never_negative(self, function: ir.Function, expr: ir.Expr) -> bool:
        """Whether an expression of a function is at least zero, however the program calls it."""
        values = self._of(function)
        lows = (values.range(expr, params).low for params in self._params(function))
        return all(low is not None and low >= 0 for low in lows)

    def _of(self, function: ir.Function) -> _Values:
        if function.name not in self._values:
            self._values[function.name] = _Values(function)
        return self._values[function.name]

    def _params(self, function: ir.Function) -> list[_Params]:
        """The ranges of the parameters, for each way in which the program calls a function."""
        if function.name not in self._contexts:
            self._contexts[function.name] = [{}]  # what a function that calls itself passes is not known
            found = [
                self._passed(function, caller, call, outer)
                for caller, call in self._calls.get(function.name, [])
                for outer in self._params(caller)
            ]
            if found and len(found) <= MAX_CALLS:
                self._contexts[function.name] = found
        return self._contexts[function.name]

    def _passed(
        self, function: ir.Function, caller: ir.Function, call: ir.Call | ir.Submit, outer: _Params
    ) -> _Params:
        pairs = zip(function.params, call.args, strict=False)
        values = self._of(caller)
        return {
            id(param): values.range(arg, outer)
            for param, arg in pairs
            if isinstance(param.type, ir.ScalarType)
        }


class _Values:
    """The ranges of the scalars of one function."""

    def __init__(self, function: ir.Function) -> None:
        self._defined: dict[int, ir.Expr] = {}
        self._fixed = loop_ranges(statements(function.body))
        for stmt in statements(function.body):
            if isinstance(stmt, ir.AssignStmt):
                self._defined[id(stmt.var)] = stmt.value

    def range(
        self, expr: ir.Expr, params: _Params, depth: int = 0, met: dict[int, Range] | None = None
    ) -> Range:
        """The range of an expression, given those of the parameters; each variable is followed once."""
        found: dict[int, Range] = {} if met is None else met

        def known(part: ir.Expr) -> Range:
            return self.range(part, params, depth + 1, found)

        if not isinstance(expr, ir.Var):
            return range_of(expr, known) if depth < MAX_DEPTH else ANY
        for ranges in (params, self._fixed, found):
            if id(expr) in ranges:
                return ranges[id(expr)]
        found[id(expr)] = known(self._defined[id(expr)]) if id(expr) in self._defined else ANY
        return found[id(expr)]
