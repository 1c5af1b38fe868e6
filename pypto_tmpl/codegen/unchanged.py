"""What variables of a scope or branch stand for where it does not run."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.facts import Launch, Mentions, value_flows
from pypto_tmpl.codegen.launches import Launches
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.storage import written_operand
from pypto_tmpl.codegen.variables import Variables


class UnchangedValues:
    """The values from before a part of one function that may not run."""

    def __init__(self, context: Context, variables: Variables, launches: Launches) -> None:
        self._context, self._variables, self._launches = context, variables, launches

    @lazy
    def mentions(self) -> Mentions:
        return Mentions(self._context.function, [*self._context.facts.scopes, *self._context.facts.branches])

    def value_of(self, var: ir.Expr, body: ir.Stmt, *, is_written: bool = False) -> ir.Expr | None:
        """The value from before a scope that a variable of it stands for if nothing in the scope happens.

        With ``is_written`` it must be the destination of what the scope writes.
        """
        sources: dict[int, ir.Expr] = {}
        for target, flowing in value_flows(body):
            sources.setdefault(id(target), flowing)
        value: ir.Expr | None = var
        while value is not None and id(value) in sources:
            source = sources.pop(id(value))
            is_written = is_written and not isinstance(source, Launch)
            value = self._unchanged_result(source) if isinstance(source, Launch) else source
            if isinstance(source, ir.TupleGetItemExpr):
                value = self._unchanged_item(source, sources)
        is_name = isinstance(value, ir.Var) and value is not var and self._variables.is_bound(value)
        return value if is_name and not is_written else None

    def _unchanged_result(self, call: Launch) -> ir.Expr | None:
        if isinstance(call.op, ir.GlobalVar):
            outputs = self._launches.unchanged_results(call)
            return outputs[0] if outputs is not None and len(outputs) == 1 else None
        entry = self._context.table.get(call.op.name)
        return written_operand(entry, call) if entry is not None and isinstance(call, ir.Call) else None

    def _unchanged_item(self, item: ir.TupleGetItemExpr, sources: dict[int, ir.Expr]) -> ir.Expr | None:
        """An element of the results of a launch; its task id has no value from before."""
        launch = sources.get(id(item.tuple), item.tuple)
        if not isinstance(launch, Launch) or not isinstance(launch.op, ir.GlobalVar):
            return None
        outputs = self._launches.unchanged_results(launch) or []
        return outputs[item.index] if item.index < len(outputs) else None
