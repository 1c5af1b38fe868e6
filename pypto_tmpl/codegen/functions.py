"""Functions: their parameters, and the bodies that groups and lanes give them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.assignments import Assignments
from pypto_tmpl.codegen.calls import OperatorCalls
from pypto_tmpl.codegen.comments import Comments
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.control_flow import ControlFlow
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.groups import find_pair
from pypto_tmpl.codegen.known_attrs import unknown_attrs
from pypto_tmpl.codegen.launches import Launches
from pypto_tmpl.codegen.operators import Operators
from pypto_tmpl.codegen.parameters import ParameterChecks
from pypto_tmpl.codegen.scopes import Scopes
from pypto_tmpl.codegen.script_context import ScriptContext
from pypto_tmpl.codegen.statements import Statements
from pypto_tmpl.codegen.stored_tiles import StoredAssignments
from pypto_tmpl.codegen.stored_values import StoredValues
from pypto_tmpl.codegen.trace_emitter import NoTracing, Recording, Tracing
from pypto_tmpl.codegen.tracing import FunctionTrace
from pypto_tmpl.codegen.unchanged import UnchangedValues
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.domains.host import is_callback

In, Out, InOut = ir.ParamDirection.In, ir.ParamDirection.Out, ir.ParamDirection.InOut
_DIRECTIONS = {direction.name: direction for direction in (In, InOut, Out)}


def _kind(function: ir.Function) -> str:
    """What a docstring calls a function by: its type, or its role if it runs on the host of several ranks."""
    if function.level is ir.Level.HOST and function.role is not None:
        return function.role.name
    return function.func_type.name


@lru_cache(maxsize=1024)
def _summary(forms: Any, kind: str, directed: tuple[tuple[str, ir.ParamDirection], ...]) -> str:
    """What the docstring of a function says, given its parameters with their directions."""
    parameters = [
        (name, [param for param, given in directed if given is direction])
        for name, direction in _DIRECTIONS.items()
    ]
    return str(forms.function_summary(kind, parameters))


class FunctionEmitter:
    """Turns one IR function into script text; owns the parts that do, and joins them."""

    def __init__(self, script: ScriptContext, function: ir.Function) -> None:
        self._context = context = Context(script, function)
        self._macros, self._forms = context.macros, context.forms
        self._variables = variables = Variables(context)
        self._values = values = StoredValues(context) if script.options.storage else Values(context)
        self._expressions = expressions = Expressions(context, variables)
        valid = ValidRegions(context, variables, values, expressions)
        calls = OperatorCalls(script.generator.ops, context, variables, values, expressions, valid)
        self._tracing = tracing = self._traced(valid)
        self._operators = operators = Operators(context, values, expressions, calls, tracing)
        self._launches = launches = Launches(context, variables, values, expressions, valid, tracing)
        expressions.handle(ir.Call, self._call)
        expressions.handle(ir.Submit, launches.submission)
        if isinstance(values, StoredValues):
            assignments: Assignments = StoredAssignments(
                context, variables, values, expressions, valid, calls
            )
        else:
            assignments = Assignments(context, variables, values, expressions, valid, calls)
        self._assignments = assignments
        self._checks = ParameterChecks(context, variables, assignments)
        self._statements = statements = Statements(
            context, variables, values, expressions, calls, launches, assignments, tracing,
            Comments(context, variables, values),
        )  # fmt: skip
        unchanged = UnchangedValues(context, variables, launches)
        flow = ControlFlow(
            context, variables, expressions, launches, assignments, statements, unchanged, tracing
        )
        if context.facts.scopes:
            Scopes(
                context, variables, values, expressions, operators, launches, assignments, statements, flow,
                unchanged,
            )  # fmt: skip

    def _traced(self, valid: ValidRegions) -> Tracing:
        """What records values, if the script is traced and the function selected."""
        script = self._context.script
        trace = None if script.trace is None else FunctionTrace(script.trace, self._context.function)
        if trace is None or not trace.is_selected:
            return NoTracing()
        return Recording(self._context, trace, self._variables, self._values, self._expressions, valid)

    def _call(self, node: ir.Call) -> str:
        if isinstance(node.op, ir.GlobalVar):
            return self._launches.function_call(node)
        return self._operators.text(node)

    def _find_obstacles(self) -> None:
        """Report what no statement of the function would come across."""
        if "external_source" in self._context.function.attrs:
            self._context.report(
                "a function whose body is an external kernel source", self._context.function.span
            )
        for var in self._context.function.params:
            self._context.current_variable = var
            self._context.check_dtype(var)
        self._context.current_variable = None
        for var, what in self._values.misfits():
            self._context.current_variable = var
            self._context.report(what, var.span)
        for var, call in self._values.copied_views():
            self._context.current_variable = var
            what = f"{call.op.name!r} to or from elements of four bits, of bytes that are written"
            self._context.report(what, var.span)
        self._context.current_variable = None
        for call in self._values.runtime_regions.lost:
            self._context.report(
                f"a valid region of {call.op.name} that follows from one that names what has changed since",
                call.span,
            )
        for value in self._values.edges.leaving(self._context.facts):
            self._context.report(
                "a clamped window that may begin before its tensor and leaves the function, where"
                " nobody can tell which of its cells the tensor had",
                value.span,
            )
        for node, key in unknown_attrs(self._context.facts):
            self._context.report(f"attribute {key!r} of a {type(node).__name__}", node.span)

    def emit(self) -> list[str]:
        """The function's text, once; two functions where a body runs on two lanes."""
        try:
            return self._texts()
        finally:  # the parts know each other in circles, which else stay until someone looks for such
            self._expressions.let_go()
            self._statements.let_go()
            self._operators.store_once = None

    def _texts(self) -> list[str]:
        function, script = self._context.function, self._context.script
        self._find_obstacles()
        params = [self._variables.bind(var) for var in function.params]
        for var in function.params:
            if self._values.runtime_regions.holds(var):
                self._variables.received_region(var)  # a name for it before the body gives it another
        name = script.function_names[function.name]
        is_group = function.func_type is ir.FunctionType.Group
        if is_group and script.is_scheduled(function.name):
            return [self._function(name, params, self._group_body(params))]
        if is_group and function.name in script.groups:
            self._launches.pair = find_pair(script.kernels, function.name, function.body)
        if is_callback(function):
            call = self._macros.callback(function.name, params)
            return [self._function(name, params, [self._forms.return_values([call])])]
        body = self._body()
        if self._context.on_host:
            ranks = self._macros.rank_count(
                script.host.least_ranks(), [self._variables.name_of(var) for var in script.host.sharded()]
            )
            run = [self._forms.return_values([self._macros.run_host(script.host_program, params, ranks)])]
            return [self._function(name, params, run), self._function(script.host_program, params, body)]
        lane = script.lane_names.get(function.name)
        if lane is None:
            return [self._function(name, params, body)]
        both = [self._forms.return_values([self._macros.split_lanes(lane, params)])]
        return [self._function(name, params, both), self._function(lane, params, body)]

    def _function(self, name: str, params: list[str], body: Lines) -> str:
        function = self._context.function
        names, directions = map(self._variables.name_of, function.params), function.param_directions
        directed = tuple(zip(names, directions, strict=True))
        summary = _summary(self._forms, _kind(function), directed)
        text = self._forms.function(name, params, summary, body)
        return self._context.script.marks.function(text, name, self._context.function)

    def _body(self) -> Lines:
        checks, records = self._checks.lines(), self._tracing.function_called()
        starts = [line for var in self._context.function.params for line in self._assignments.whole(var)]
        body = self._statements.emit_stmt(self._context.function.body)
        return [*checks, *self._variables.header_lines(), *records, *starts, *body]

    def _group_body(self, params: list[str]) -> Lines:
        call = self._macros.group_call(self._context.function.name, params)
        if self._context.function.return_types:
            return [self._forms.return_values([call])]
        return [self._forms.evaluate(call)]
