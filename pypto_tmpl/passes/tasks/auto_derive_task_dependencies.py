"""Tasks that the run time would find to depend on each other say so themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir import ArgDirection, FunctionType, IRProperty
from pypto_tmpl.ops.returned_parameters import ReturnedParameters, Versions
from pypto_tmpl.passes.base import ProgramPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.outline.dataflow import Callees
from pypto_tmpl.passes.tasks.storage import Launch, Uses, launches_by_storage
from pypto_tmpl.passes.tensor.families import Families
from pypto_tmpl.rewrite import Rewriter, build

_EDGES, _DIRECTIONS = "compiler_manual_dep_edges", "arg_directions"
_PROPERTIES = frozenset({IRProperty.SplitIncoreOrch, IRProperty.CallDirectionsResolved})
_EXPLICIT = {ArgDirection.Input: ArgDirection.NoDep, ArgDirection.InOut: ArgDirection.OutputExisting}
"""What an argument is taken as once all tasks that have to be waited for are named."""


@dataclass(frozen=True, slots=True)
class AutoDeriveTaskDependencies(ProgramPass):
    """Name the tasks that a call has to wait for; the run time need not search for them by its arguments.

    Only where it is asked for, for storage that nothing but submits of one automatic scope uses, each once
    and in order, as a whole and with an id that is at hand. Where anything else uses it, nothing changes.
    """

    analyze_auto_scopes: bool = False
    requires = _PROPERTIES
    produces = frozenset({IRProperty.CallDirectionsResolved})

    def run(self, program: ir.Program, context: PassContext) -> ir.Program:
        if not self.analyze_auto_scopes:
            return program
        functions = list(program.functions.values())
        callees, returned = Callees(functions), ReturnedParameters(functions)
        return build(
            program,
            functions=[
                _derived(function, Uses(Versions(function, returned), Families(function, callees)))
                if function.func_type is FunctionType.Orchestration
                else function
                for function in functions
            ],
        )


def _derived(function: ir.Function, uses: Uses) -> ir.Function:
    plans: dict[int, _Plan] = {}
    for launches in launches_by_storage(function, uses):
        _plan(launches, plans)
    return _Naming(plans).rewrite(function) if plans else function


@dataclass(slots=True)
class _Plan:
    """The tasks that a call waits for, and how it takes its arguments."""

    edges: dict[int, ir.Var]
    directions: list[ArgDirection]


def _plan(launches: list[tuple[Launch, int]], plans: dict[int, _Plan]) -> None:
    """Let users of one storage wait for the last one that wrote it, writers for readers since then, too."""
    writer: Launch | None = None
    readers: list[Launch] = []
    for launch, place in launches:
        direction = launch.call.arg_directions[place]
        is_reader = direction is ArgDirection.Input
        waited = [] if writer is None else [writer]
        waited += [] if is_reader else readers
        if waited:
            found = plans.setdefault(id(launch.call), _Plan({}, list(launch.call.arg_directions)))
            found.edges |= {id(other.task): other.task for other in waited if other.task is not None}
            found.directions[place] = _EXPLICIT.get(direction, direction)
        if is_reader:
            readers.append(launch)
        else:
            writer, readers = launch, []


class _Naming(Rewriter):
    def __init__(self, plans: Mapping[int, _Plan]) -> None:
        super().__init__()
        self._plans = plans

    def expression(self, expr: ir.Expr) -> ir.Expr:
        plan = self._plans.get(id(expr))
        if plan is None or not isinstance(expr, ir.Call | ir.Submit):
            return expr
        named = [*(expr.deps if isinstance(expr, ir.Submit) else ()), *expr.attrs.get(_EDGES, ())]
        new = [task for task in plan.edges.values() if all(task is not other for other in named)]
        attrs = expr.attrs.with_(**{_DIRECTIONS: plan.directions})
        return build(expr, attrs=attrs.with_(**{_EDGES: [*attrs.get(_EDGES, ()), *new]}) if new else attrs)
