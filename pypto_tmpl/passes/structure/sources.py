"""Which variables of a function show the same storage."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import load_table


class Sources:
    """Where the storage of each variable comes from, by what the text assigns to it last.

    A write shows the storage that it writes to, ``x = y`` that of ``y``; anything else has its own.
    """

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        self._last = {id(s.var): s for s in statements(function.body) if isinstance(s, ir.AssignStmt)}
        self._variables = [*function.params, *(stmt.var for stmt in self._last.values())]

    def of(self, var: ir.Var) -> ir.Var:
        """The variable whose storage ``var`` shows."""
        seen: set[int] = set()
        while id(var) not in seen:
            seen.add(id(var))
            following = written_target(self._last[id(var)].value) if id(var) in self._last else None
            if following is None:
                break
            var = following
        return var

    def sharing(self, var: ir.Var) -> Iterator[ir.Var]:
        """Other variables with the storage of ``var``: output parameters, then all by the text."""
        source = self.of(var)
        directions = dict(zip(map(id, self._function.params), self._function.param_directions, strict=True))
        outputs = [
            v
            for v in self._variables
            if directions.get(id(v), ir.ParamDirection.In) is not ir.ParamDirection.In
        ]
        for other in (*outputs, *self._variables):
            if other is not var and self.of(other) is source:
                yield other


def written_target(value: ir.Expr) -> ir.Var | None:
    """The variable whose storage a value is: what a call writes and gives back, or the variable itself."""
    if isinstance(value, ir.Var):
        return value
    if not isinstance(value, ir.Call):
        return None
    entry = load_table().get(value.op.name)
    if entry is None or entry.returns is None:
        return None
    names = [operand.name for operand in entry.operands]
    target = value.args[names.index(entry.returns)]
    return target if isinstance(target, ir.Var) else None
