"""Scopes: most run their body in place, some run it for every block, on two lanes or on a condition."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.assignments import Assignments
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.control_flow import MAX_BLOCKS, ControlFlow
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.facts import assigned_variables, code_nodes, launches_of
from pypto_tmpl.codegen.groups import find_pair
from pypto_tmpl.codegen.lane_regions import is_lane_index
from pypto_tmpl.codegen.launches import Launches
from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.codegen.operators import Operators
from pypto_tmpl.codegen.statements import Statements
from pypto_tmpl.codegen.unchanged import UnchangedValues
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.codegen.waiting import body_may_wait
from pypto_tmpl.ir.bodies import trailing_yield
from pypto_tmpl.ops import facts as op_facts

_KINDS: tuple[type[ir.ScopeStmt], ...] = (
    ir.InCoreScopeStmt,
    ir.SpmdScopeStmt,
    ir.ClusterScopeStmt,
    ir.SplitAivScopeStmt,
    ir.RuntimeScopeStmt,
    ir.HierarchyScopeStmt,
    ir.CommDomainScopeStmt,
)


class Scopes:
    """Texts of scope statements in one function."""

    def __init__(
        self,
        context: Context,
        variables: Variables,
        values: Values,
        expressions: Expressions,
        operators: Operators,
        launches: Launches,
        assignments: Assignments,
        statements: Statements,
        flow: ControlFlow,
        unchanged: UnchangedValues,
    ) -> None:
        self._context, self._macros, self._forms = context, context.macros, context.forms
        self._variables, self._values, self._expressions = variables, values, expressions
        self._operators, self._launches, self._assignments = operators, launches, assignments
        self._statements, self._flow, self._unchanged = statements, flow, unchanged
        statements.handle(dict.fromkeys(_KINDS, self._scope))

    def _scope(self, scope: ir.ScopeStmt) -> Lines:
        """The body, its condition, and the task id that stands for its launch."""
        predicate, task = scope.attrs.get("predicate"), scope.attrs.get("task_id_var")
        if self._flow.blocks >= MAX_BLOCKS:
            self._context.report(f"blocks nested more than {MAX_BLOCKS} deep", scope.span)
            return []
        self._flow.blocks += 1
        if predicate is None and isinstance(scope, ir.InCoreScopeStmt) and self._context.runs_tasks:
            lines, task = self._task(scope, task), None
        else:
            lines = self._body(scope) if predicate is None else self._conditional(scope, predicate)
        self._flow.blocks -= 1
        if self._context.script.marks.takes_notes:
            self._context.script.marks.notes[scope] = self._scope_note(scope)
        if task is not None:
            lines = [*lines, self._forms.assign(self._variables.bind(task), self._macros.task_done())]
        return lines

    def _scope_note(self, scope: ir.ScopeStmt) -> LaunchNote:
        """What a scope that stands for a launch asks of the run time, in names of the script."""
        attrs, live = scope.attrs, []
        if isinstance(scope, ir.InCoreScopeStmt | ir.SpmdScopeStmt):
            live = [
                v for v in assigned_variables(scope.body) if self._unchanged.mentions.is_outside(v, scope)
            ]
        return LaunchNote(
            self._launches.names_of(
                [*attrs.get("manual_dep_edges", ()), *attrs.get("compiler_manual_dep_edges", ())]
            ),
            self._launches.names_of(attrs.get("dump_vars", ())),
            self._launches.names_of(attrs.get("arg_direction_overrides_vars", ())),
            self._launches.names_of(live),
        )

    def _body(self, scope: ir.ScopeStmt) -> Lines:
        """The body, as a kind of scopes runs it."""
        match scope:
            case ir.InCoreScopeStmt():
                return self._incore(scope)
            case ir.SpmdScopeStmt():
                return self._spmd(scope)
            case ir.ClusterScopeStmt():
                return self._cluster(scope)
            case ir.SplitAivScopeStmt():
                return self._split_aiv(scope)
        outer = self._context.in_manual_scope
        self._context.in_manual_scope = outer or (isinstance(scope, ir.RuntimeScopeStmt) and scope.manual)
        lines = self._statements.emit_stmt(scope.body)
        self._context.in_manual_scope = outer
        return lines

    def _incore(self, scope: ir.InCoreScopeStmt) -> Lines:
        outer, self._context.in_kernel = self._context.in_kernel, True
        lines = self._statements.emit_stmt(scope.body)
        self._context.in_kernel = outer
        return lines

    # Conditions

    def _conditional(self, scope: ir.ScopeStmt, predicate: ir.Expr) -> Lines:
        """A scope that runs only if its predicate holds; else what it would write stays as it was."""
        condition = self._expressions.alone(predicate)
        before = {id(var) for var in assigned_variables(scope.body) if self._variables.is_bound(var)}
        lines = self._body(scope)
        otherwise: Lines = []
        for var in assigned_variables(scope.body):
            if id(var) not in before and self._unchanged.mentions.is_outside(var, scope):
                unchanged = self._unchanged.value_of(var, scope.body)
                if unchanged is None:
                    self._context.current_variable = var
                    self._context.report("a value of a predicated scope that is used after it", scope.span)
                    self._context.current_variable = None
                else:
                    otherwise += self._assignments.carry([var], [unchanged])
        return [self._forms.branch(condition, lines, otherwise or None)]

    # Blocks

    def _spmd(self, scope: ir.SpmdScopeStmt) -> Lines:
        core_num = self._expressions.alone(scope.core_num)
        script = self._context.script
        if script.host.function is not None and body_may_wait(script.kernels, scope.body):
            return self._local(scope, core_num)
        return [self._forms.for_blocks(core_num, self._enclosed(scope.body, is_loop=True))]

    def _enclosed(self, body: ir.Stmt, *, is_loop: bool) -> Lines:
        """Texts of a body that no jump may leave."""
        loops, self._flow.loop_depth = self._flow.loop_depth, 0
        self._flow.closed_scopes += 1
        lines = self._flow.block(body, is_loop=is_loop)
        self._flow.closed_scopes -= 1
        self._flow.loop_depth = loops
        return lines

    # Groups

    def _cluster(self, scope: ir.ClusterScopeStmt) -> Lines:
        kernels = self._context.script.kernels
        calls = launches_of(scope.body)
        aic, aiv = kernels.members(calls)
        if aic is None and aiv is None:
            return self._statements.emit_stmt(scope.body)
        name = self._context.script.name_group(
            self._macros.cluster_name(self._context.function.name, scope.name_hint)
        )
        self._context.script.groups[name] = kernels.meta(scope.attrs, aic, aiv)
        outer, self._launches.pair = self._launches.pair, find_pair(kernels, name, scope.body)
        lines = self._statements.emit_stmt(scope.body)
        self._launches.pair = outer
        return lines

    # Tasks

    def _task(self, scope: ir.InCoreScopeStmt, task: ir.Var | None) -> Lines:
        """A scope as a local function that is launched as a task, with the values that names have now.

        What it writes goes by the names from before; where it gives other values, it is waited for.
        """
        seen = (node for node in ir.walk(scope.body) if isinstance(node, ir.Var))
        used = _once([var for var in seen if self._variables.is_bound(var)])
        params, name = self._with_companions(used), self._task_name(scope)
        written = {self._variables.name_of(var) for var in self._written_by(scope.body, used)}
        outer_task, self._context.in_task = self._context.in_task, True
        outer_kernel, self._context.in_kernel = self._context.in_kernel, True
        loops, self._flow.loops = self._flow.loops, 0  # a function of its own: CPython counts anew
        body = self._enclosed(scope.body, is_loop=False)
        self._flow.loops, self._context.in_kernel, self._context.in_task = loops, outer_kernel, outer_task
        known = {id(var) for var in used}
        live = [
            var
            for var in assigned_variables(scope.body)
            if self._variables.is_bound(var)
            and self._unchanged.mentions.is_outside(var, scope)
            and not (id(var) in known and isinstance(var.type, ir.TensorType))
        ]
        unchanged = [self._unchanged.value_of(var, scope.body) for var in live]
        sources = [value for value in unchanged if value is not None]
        names = [] if len(sources) == len(live) else self._with_companions(_once(live))
        result = [self._forms.return_values(names)] if names else []
        given = [str(self._macros.inout(text)) if text in written else text for text in params]
        deps = [
            dep
            for key in ("manual_dep_edges", "compiler_manual_dep_edges")
            for dep in scope.attrs.get(key, ())
        ]
        options = self._macros.task_options(
            [None] if names else [],
            self._launches.names_of(deps),
            self._context.in_manual_scope,
            body_may_wait(self._context.script.kernels, scope.body),
        )
        call = str(self._macros.task([name, *given], options, task is not None and not names))
        lines = [self._forms.local_function(name, params, [*body, *result])]
        if names:
            lines.append(self._forms.assign_all(names, [call]))
        elif task is None:
            lines.append(self._forms.evaluate(call))
        if task is not None:
            done = self._macros.task_done() if names else self._macros.item(call, -1)
            lines.append(self._forms.assign(self._variables.bind(task), done))
        return [*lines, *([] if names else self._assignments.carry(live, sources))]

    def _task_name(self, scope: ir.ScopeStmt) -> str:
        return self._variables.names.unique(self._macros.task_function(scope.name_hint))

    def _written_by(self, body: ir.Stmt, used: list[ir.Var]) -> list[ir.Var]:
        """The variables from before whose storage statements write."""
        known, found = {id(var): var for var in used}, []
        for node in code_nodes(body):
            if not isinstance(node, ir.Call | ir.Submit):
                continue
            callee = self._context.script.kernels.callee(node)
            if callee is None:
                places: Iterable[int] = op_facts.of(node.op).written
            else:
                ways = enumerate(callee.param_directions)
                places = [at for at, way in ways if way is not ir.ParamDirection.In]
            args = [node.args[at] for at in places if at < len(node.args)]
            found += [known[id(arg)] for arg in args if id(arg) in known]
        return found

    # Lanes

    def _split_aiv(self, scope: ir.SplitAivScopeStmt) -> Lines:
        """A scope as a local function that two lanes run; names that live on come back from lane 0."""
        is_explicit = scope.split is ir.SplitMode.NONE or _tells_lanes_apart(scope.body)
        outer, self._operators.store_once = (
            self._operators.store_once,
            self._operators.cube_side_store if is_explicit else self._operators.any_store,
        )
        lines = self._local(scope)
        self._operators.store_once = outer
        return lines

    def _local(self, scope: ir.ScopeStmt, core_num: str | None = None) -> Lines:
        """A scope as a local function that lanes run, or blocks if a number of them is given."""
        assigned = list(assigned_variables(scope.body))
        targets = (
            self._flow.yield_targets[-1] if self._flow.yield_targets and trailing_yield(scope.body) else ()
        )
        before = [var for var in _once([*assigned, *targets]) if self._variables.is_bound(var)]
        awaits = self._context.runs_tasks
        outer, self._context.in_task = self._context.in_task, True
        loops, self._flow.loops = self._flow.loops, 0  # a function of its own: CPython counts anew
        body = self._enclosed(scope.body, is_loop=False)
        self._flow.loops = loops
        self._context.in_task = outer
        live = [
            var
            for var in assigned
            if self._variables.is_bound(var) and self._unchanged.mentions.is_outside(var, scope)
        ]
        names = self._with_companions(_once([*live, *targets]))
        params = self._with_companions(before)
        name = self._variables.names.unique(self._macros.lane_function(scope.name_hint))
        result = [self._forms.return_values(names)] if names else []
        given = params
        if awaits:
            tensors = {self._variables.name_of(v) for v in before if isinstance(v.type, ir.TensorType)}
            given = [str(self._macros.ready(text)) if text in tensors else text for text in params]
        call = (
            self._macros.split_lanes(name, given)
            if core_num is None
            else self._macros.call(self._macros.run_blocks(), [core_num, name, *given])
        )
        function = self._forms.local_function(name, params, [*body, *result])
        if not names:
            return [function, self._forms.evaluate(call)]
        if len(names) == 1:
            return [function, self._forms.assign(names[0], call)]
        return [function, self._forms.assign_all(names, [call])]

    def _with_companions(self, variables: list[ir.Var]) -> list[str]:
        names = []
        for var in variables:
            names.append(self._variables.name_of(var))
            if self._values.runtime_regions.holds(var):
                names.append(self._variables.companion(var))
            names += map(self._variables.name_of, self._values.edges.held(var))
        return names


def _tells_lanes_apart(body: ir.Stmt) -> bool:
    """Whether a scope's code is each lane's own: it cuts and joins tiles, or uses the lane's index.

    Every such scope starts by taking the index; code that leaves it unused is still that of both lanes.
    """
    takes: set[int] = set()  # statements that do nothing but take the index
    lanes: set[int] = set()
    for node in code_nodes(body):
        if isinstance(node, ir.AssignStmt) and isinstance(node.value, ir.Call):
            if is_lane_index(node.value):
                takes |= {id(node), id(node.value)}
                lanes.add(id(node.var))
        elif isinstance(node, ir.Call) and id(node) not in takes and _is_of_a_lane(node):
            return True
    users = (node for node in ir.walk(body) if id(node) not in takes)
    return any(id(part) in lanes for user in users for part in ir.children(user))


def _is_of_a_lane(call: ir.Call) -> bool:
    return is_lane_index(call) or op_facts.of_value(call).core == "mixed"


def _once(variables: list[ir.Var]) -> list[ir.Var]:
    return list({id(var): var for var in variables}.values())
