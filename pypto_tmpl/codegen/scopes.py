"""Scopes: most run their body in place, some run it for every block, on two lanes or on a condition."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import (
    Launch,
    Mentions,
    assigned_variables,
    code_nodes,
    launches_of,
    value_flows,
)
from pypto_tmpl.codegen.groups import find_pair
from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.codegen.statements import MAX_BLOCKS, StatementEmitter
from pypto_tmpl.codegen.storage import written_operand
from pypto_tmpl.codegen.trace_emitter import Lines

if TYPE_CHECKING:
    from pypto_tmpl.codegen.script import ScriptBuilder

_LANE_INDEX = "tile.get_subblock_idx"
_LANE_OPS = frozenset({"tile.aiv_shard", "tile.aic_gather", _LANE_INDEX})


class ScopeEmitter(StatementEmitter):
    """Texts of scope statements in one function."""

    def __init__(self, script: ScriptBuilder, function: ir.Function) -> None:
        super().__init__(script, function)
        bodies = {
            ir.InCoreScopeStmt: self._incore,
            ir.SpmdScopeStmt: self._spmd,
            ir.ClusterScopeStmt: self._cluster,
            ir.SplitAivScopeStmt: self._split_aiv,
            ir.RuntimeScopeStmt: self._in_place,
            ir.HierarchyScopeStmt: self._in_place,
            ir.CommDomainScopeStmt: self._in_place,
        }
        self._scope_bodies: dict[type, Any] = bodies
        self._handlers.update(dict.fromkeys(bodies, self._scope))

    def _scope(self, scope: ir.ScopeStmt) -> Lines:
        """The body, its condition, and the task id that stands for its launch."""
        predicate, task = scope.attrs.get("predicate"), scope.attrs.get("task_id_var")
        if self._blocks >= MAX_BLOCKS:
            self.report(f"blocks nested more than {MAX_BLOCKS} deep", scope.span)
            return []
        self._blocks += 1
        emit = self._scope_bodies[type(scope)]
        lines: Lines = emit(scope) if predicate is None else self._conditional(scope, predicate)
        self._blocks -= 1
        if self.script.marks is not None:
            self.script.marks.note(scope, self._scope_note(scope))
        if task is not None:
            lines = [*lines, self.statements.assign(self.bind(task), self.macros.task_done())]
        return lines

    def _scope_note(self, scope: ir.ScopeStmt) -> LaunchNote:
        """What a scope that stands for a launch asks of the run time, in names of the script."""
        attrs, live = scope.attrs, []
        if isinstance(scope, ir.InCoreScopeStmt | ir.SpmdScopeStmt):
            live = [v for v in assigned_variables(scope.body) if self._mentions.is_outside(v, scope)]
        return LaunchNote(
            self._names([*attrs.get("manual_dep_edges", ()), *attrs.get("compiler_manual_dep_edges", ())]),
            self._names(attrs.get("dump_vars", ())),
            self._names(attrs.get("arg_direction_overrides_vars", ())),
            self._names(live),
        )

    def _in_place(self, scope: ir.ScopeStmt) -> Lines:
        return self.emit_stmt(scope.body)

    def _incore(self, scope: ir.InCoreScopeStmt) -> Lines:
        outer, self.in_kernel = self.in_kernel, True
        lines = self.emit_stmt(scope.body)
        self.in_kernel = outer
        return lines

    @cached_property
    def _mentions(self) -> Mentions:
        return Mentions(self.function, [*self.facts.scopes, *self.facts.branches])

    # Conditions

    def _conditional(self, scope: ir.ScopeStmt, predicate: ir.Expr) -> Lines:
        """A scope that runs only if its predicate holds; else what it would write stays as it was."""
        condition = self.alone(predicate)
        before = {id(var) for var in assigned_variables(scope.body) if self.is_bound(var)}
        lines: Lines = self._scope_bodies[type(scope)](scope)
        otherwise: Lines = []
        for var in assigned_variables(scope.body):
            if id(var) not in before and self._mentions.is_outside(var, scope):
                unchanged = self._unchanged(var, scope.body)
                if unchanged is None:
                    self.current_variable = var
                    self.report("a value of a predicated scope that is used after it", scope.span)
                    self.current_variable = None
                else:
                    otherwise += self.carry([var], [unchanged])
        return [self.statements.branch(condition, lines, otherwise or None)]

    def unwritten(self, stmt: ir.IfStmt, body: ir.Stmt, made: list[ir.Var]) -> Lines:
        """What a path around a branch has to bind: the destinations of writes that are used after it.

        LowerAutoVectorSplit guards a store by "this lane has rows", and goes on with the store's value.
        """
        lines: Lines = []
        for var in made:
            is_used = self._mentions.is_outside(var, stmt)
            unchanged = self._unchanged(var, body, is_written=True) if is_used else None
            if unchanged is not None:
                lines += self.carry([var], [unchanged])
        return lines

    def _unchanged(self, var: ir.Expr, body: ir.Stmt, *, is_written: bool = False) -> ir.Expr | None:
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
        is_name = isinstance(value, ir.Var) and value is not var and self.is_bound(value)
        return value if is_name and not is_written else None

    def _unchanged_result(self, call: Launch) -> ir.Expr | None:
        if isinstance(call.op, ir.GlobalVar):
            outputs = self.unchanged_results(call)
            return outputs[0] if outputs is not None and len(outputs) == 1 else None
        entry = self.script.generator.table.get(call.op.name)
        return written_operand(entry, call) if entry is not None and isinstance(call, ir.Call) else None

    def _unchanged_item(self, item: ir.TupleGetItemExpr, sources: dict[int, ir.Expr]) -> ir.Expr | None:
        """An element of the results of a launch; its task id has no value from before."""
        launch = sources.get(id(item.tuple), item.tuple)
        if not isinstance(launch, Launch) or not isinstance(launch.op, ir.GlobalVar):
            return None
        outputs = self.unchanged_results(launch) or []
        return outputs[item.index] if item.index < len(outputs) else None

    # Blocks

    def _spmd(self, scope: ir.SpmdScopeStmt) -> Lines:
        core_num = self.alone(scope.core_num)
        return [self.statements.for_blocks(core_num, self._enclosed(scope.body, is_loop=True))]

    def _enclosed(self, body: ir.Stmt, *, is_loop: bool) -> Lines:
        """Texts of a body that no jump may leave."""
        loops, self.loop_depth = self.loop_depth, 0
        self.region_depth += 1
        lines = self.block(body, is_loop=is_loop)
        self.region_depth -= 1
        self.loop_depth = loops
        return lines

    # Groups

    def _cluster(self, scope: ir.ClusterScopeStmt) -> Lines:
        kernels = self.script.kernels
        calls = launches_of(scope.body)
        aic, aiv = kernels.members(calls)
        if aic is None and aiv is None:
            return self.emit_stmt(scope.body)
        name = self.script.name_group(self.macros.cluster_name(self.function.name, scope.name_hint))
        self.script.groups[name] = kernels.meta(scope.attrs, aic, aiv)
        outer, self.pair = self.pair, find_pair(kernels, name, scope.body)
        lines = self.emit_stmt(scope.body)
        self.pair = outer
        return lines

    # Lanes

    def _split_aiv(self, scope: ir.SplitAivScopeStmt) -> Lines:
        """A region as a local function that two lanes run; names that live on come back from lane 0."""
        is_explicit = scope.split is ir.SplitMode.NONE or _tells_lanes_apart(scope.body)
        assigned = list(assigned_variables(scope.body))
        targets = self.yield_targets[-1] if self.yield_targets and ends_in_yield(scope.body) else ()
        before = [var for var in _once([*assigned, *targets]) if self.is_bound(var)]
        outer, self.store_once = self.store_once, self.cube_side_store if is_explicit else self.any_store
        loops, self._loops = self._loops, 0  # a function of its own: CPython counts anew
        body = self._enclosed(scope.body, is_loop=False)
        self._loops = loops
        self.store_once = outer
        live = [var for var in assigned if self.is_bound(var) and self._mentions.is_outside(var, scope)]
        names = self._with_companions(_once([*live, *targets]))
        params = self._with_companions(before)
        name = self.names.unique(self.macros.region_function(scope.name_hint))
        result = [self.statements.return_values(names)] if names else []
        call = self.macros.split_lanes(name, params)
        function = self.statements.local_function(name, params, [*body, *result])
        if not names:
            return [function, self.statements.evaluate(call)]
        if len(names) == 1:
            return [function, self.statements.assign(names[0], call)]
        return [function, self.statements.assign_all(names, [call])]

    def _with_companions(self, variables: list[ir.Var]) -> list[str]:
        names = []
        for var in variables:
            names.append(self.name_of(var))
            if self.regions.holds(var):
                names.append(self.companion(var))
        return names


def ends_in_yield(body: ir.Stmt) -> bool:
    """Whether the last statement is a yield; run-time scopes and split regions are transparent to that."""
    last = body
    while isinstance(last, ir.SeqStmts | ir.RuntimeScopeStmt | ir.SplitAivScopeStmt):
        if isinstance(last, ir.SeqStmts):
            if not last.stmts:
                return False
            last = last.stmts[-1]
        else:
            last = last.body
    return isinstance(last, ir.YieldStmt)


def _tells_lanes_apart(body: ir.Stmt) -> bool:
    """Whether a region's code is each lane's own: it cuts and joins tiles, or uses the lane's index.

    Every region starts by taking the index; code that leaves it unused is still that of both lanes.
    """
    takes: set[int] = set()  # statements that do nothing but take the index
    lanes: set[int] = set()
    for node in code_nodes(body):
        if isinstance(node, ir.AssignStmt) and isinstance(node.value, ir.Call):
            if node.value.op.name == _LANE_INDEX:
                takes |= {id(node), id(node.value)}
                lanes.add(id(node.var))
        elif isinstance(node, ir.Call) and id(node) not in takes and node.op.name in _LANE_OPS:
            return True
    users = (node for node in ir.walk(body) if id(node) not in takes)
    return any(id(part) in lanes for user in users for part in ir.children(user))


def _once(variables: list[ir.Var]) -> list[ir.Var]:
    return list({id(var): var for var in variables}.values())
