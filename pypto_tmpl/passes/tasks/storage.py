"""Which calls of a function use which storage, where that is certain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir import ArgDirection, DataType
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.returned_parameters import Versions
from pypto_tmpl.passes.checks.calls import call_of, launch_of
from pypto_tmpl.passes.tensor.families import Families
from pypto_tmpl.rewrite import flat


@dataclass(slots=True)
class Launch:
    """A call or submit in a scope, and the id of its task, if that has a name behind it."""

    call: ir.Call | ir.Submit
    scope: int
    task: ir.Var | None = None


@dataclass(frozen=True, slots=True)
class Uses:
    """What variables are versions of, and what may share storage."""

    versions: Versions
    groups: Families


Users = list[tuple[Launch, int]]
"""Calls in the order of the text, each with the place of the argument."""


def launches_by_storage(function: ir.Function, uses: Uses) -> Iterator[Users]:
    """The calls that use each storage, where nothing else does and each can wait for the others.

    They stand one behind the other in one automatic scope, outside of loops and branches; each passes all of
    the storage once; all are submits whose ids are bound there, but for the last one.
    """
    users: dict[int, Users] = {}
    origins: dict[int, set[int]] = {}
    uncertain: set[int] = set()
    in_order = _in_scopes(function.body)
    for stmt in statements(function.body):
        call = launch_of(stmt)
        launch = in_order.get(id(call))
        if call is None:
            uncertain |= {uses.groups.of(var) for var in _accessed(stmt)}
        for place, arg in enumerate(call.args if call is not None else ()):
            if not isinstance(arg.type, ir.TensorType):
                continue
            family = uses.groups.of(arg)
            origins.setdefault(family, set()).add(id(uses.versions.origin(arg) or call))
            if launch is None or not _is_tracked(launch.call, place):
                uncertain.add(family)
            else:
                users.setdefault(family, []).append((launch, place))
    for family, found in users.items():
        if family not in uncertain and len(origins[family]) == 1 and _are_in_order(found):
            yield found


def _in_scopes(body: ir.Stmt) -> dict[int, Launch]:
    """The calls that stand in automatic scopes outside of loops and branches, by id.

    The id of a task counts where it is taken out before the next call.
    """
    found: dict[int, Launch] = {}
    scopes = [body]
    while scopes:
        scope = scopes.pop()
        latest: Launch | None = None
        result: ir.Var | None = None
        for stmt in flat(scope):
            if isinstance(stmt, ir.RuntimeScopeStmt) and not stmt.manual:
                scopes.append(stmt.body)
            elif (call := launch_of(stmt)) is not None:
                found[id(call)] = latest = Launch(call, id(scope))
                result = stmt.var if isinstance(stmt, ir.AssignStmt) else None
                latest.task = result if result is not None and _is_task(result) else None
            elif latest is not None and isinstance(stmt, ir.AssignStmt) and _is_id_of(stmt, result):
                latest.task = stmt.var
    return found


def _is_id_of(stmt: ir.AssignStmt, result: ir.Var | None) -> bool:
    """Whether a statement takes the id of the task out of what a submit gave."""
    is_element = isinstance(stmt.value, ir.TupleGetItemExpr) and stmt.value.tuple is result
    return is_element and _is_task(stmt.var)


def _is_task(var: ir.Var) -> bool:
    return isinstance(var.type, ir.ScalarType) and var.type.dtype == DataType.TASK_ID


def _accessed(stmt: ir.Stmt) -> Iterator[ir.Expr]:
    """The tensors of which a statement that launches nothing reads or writes cells, or may."""
    call = call_of(stmt)
    known = facts.of_value(call)
    if call is not None and (known.written or known.view_of is None):
        yield from (arg for arg in call.args if isinstance(arg.type, ir.TensorType))


def _is_tracked(call: ir.Call | ir.Submit, place: int) -> bool:
    """Whether the run time tracks an argument, and waiting for the task is waiting for its writes."""
    directions = call.arg_directions
    is_special = isinstance(call, ir.Submit) and (call.allow_early_resolve or call.predicate is not None)
    return place < len(directions) and directions[place] is not ArgDirection.NoDep and not is_special


def _are_in_order(users: Users) -> bool:
    """Whether each of the calls, all of one scope, can wait for those before it."""
    calls = [launch.call for launch, _ in users]
    return (
        len({launch.scope for launch, _ in users}) == 1
        and len(set(map(id, calls))) == len(calls)
        and all(isinstance(launch.call, ir.Submit) and launch.task is not None for launch, _ in users[:-1])
    )
