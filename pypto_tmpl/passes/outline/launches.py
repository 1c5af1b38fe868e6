"""The call of a function made of a region: a call, or the launch of a task where the region was one."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.rewrite import Names

_TASK = ("task_id_var", "manual_dep_edges", "allow_early_resolve", "predicate")
_KEPT = ("dump_vars", "core_num", "sync_start")


def launch(
    scope: ir.ScopeStmt, name: str, args: Sequence[ir.Var], results: Sequence[ir.Type], names: Names
) -> tuple[ir.Call | ir.Submit, ir.Var | None]:
    """What calls the function of a scope, and the variable of the task where it launches one."""
    attrs: dict[str, object] = {key: scope.attrs[key] for key in _KEPT if key in scope.attrs}
    excepted = scope.attrs.get("arg_direction_overrides_vars", ())
    if excepted:
        places = [index for index, arg in enumerate(args) if any(arg is var for var in excepted)]
        attrs["arg_direction_overrides"] = sorted(places)
    blocks = scope.core_num if isinstance(scope, ir.SpmdScopeStmt) else None
    starts_together = isinstance(scope, ir.SpmdScopeStmt) and scope.sync_start
    op = ir.GlobalVar(name)
    if not any(key in scope.attrs for key in _TASK):
        if blocks is not None:
            attrs["core_num"] = blocks
        if starts_together:
            attrs["sync_start"] = True
        return ir.Call(op, args, None, attrs, _result_type(results), scope.span), None
    task_type = ir.ScalarType(ir.DataType.TASK_ID)
    task = scope.attrs.get("task_id_var") or ir.Var(names.unique("tid__ssa_v0"), task_type, scope.span)
    call = ir.Submit(
        op,
        args,
        scope.attrs.get("manual_dep_edges", ()),
        None,
        attrs,
        ir.TupleType([*results, task_type]),
        scope.span,
        allow_early_resolve=scope.attrs.get("allow_early_resolve", False),
        predicate=scope.attrs.get("predicate"),
        core_num=blocks,
        sync_start=starts_together,
    )
    return call, task


def _result_type(results: Sequence[ir.Type]) -> ir.Type:
    if len(results) == 1:
        return results[0]
    return ir.TupleType(list(results)) if results else ir.UnknownType()
