"""Functions and their statements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from pypto_tmpl import ir
from pypto_tmpl.codegen.expressions import ExpressionEmitter
from pypto_tmpl.codegen.groups import CallPair, find_pair

if TYPE_CHECKING:
    from pypto_tmpl.codegen.script import ScriptBuilder

_EXPLICIT_LANE_OPS = frozenset({"tile.aiv_shard", "tile.aic_gather", "tile.get_subblock_idx"})


class FunctionEmitter(ExpressionEmitter):
    """Turns one IR function into script text; owns the names of that function and nothing else."""

    def __init__(self, script: ScriptBuilder, function: ir.Function) -> None:
        super().__init__(script, function)
        self.statements = script.generator.statements
        self._yield_targets: list[Sequence[ir.Var]] = []
        self._pair: CallPair | None = None
        self._region_depth = 0

    def emit(self) -> list[str]:
        """The function's text; two functions where a body runs on two lanes."""
        self.find_obstacles()
        params = [self.bind(var) for var in self.function.params]
        if self.script.is_scheduled(self.function.name) and self.function.func_type is ir.FunctionType.Group:
            name = self.script.function_names[self.function.name]
            return [self._function(name, params, self._group_body(params))]
        if self.function.name in self.script.groups and self.function.func_type is ir.FunctionType.Group:
            nodes = ir.walk(self.function.body)
            self._pair = find_pair(self.script.kernels, self.function.name, nodes)
        body = self._body()
        name = self.script.function_names[self.function.name]
        if not self.script.kernels.runs_on_two_lanes(self.function):
            return [self._function(name, params, body)]
        lane = self.script.name_local(self.macros.lane_function(name))
        both = [self.statements.return_values([self.macros.split_lanes(lane, params)])]
        return [self._function(name, params, both), self._function(lane, params, body)]

    def _function(self, name: str, params: list[str], body: list[str]) -> str:
        summary = self.statements.function_summary(self.function.func_type.name)
        return str(self.statements.function(name, params, summary, body))

    def _body(self) -> list[str]:
        checks = self._parameter_checks()
        body = self.emit_stmt(self.function.body)
        return [*checks, *self.header_lines(), *body]

    def _parameter_checks(self) -> list[str]:
        if not self.script.check_shapes:
            return []
        return [
            self.statements.check_dtype(self.name_of(var), var.type.dtype.name)
            for var in self.function.params
            if isinstance(var.type, ir.TensorType | ir.TileType)
        ]

    # Groups

    def _group_body(self, params: list[str]) -> list[str]:
        call = self.macros.group_call(self.function.name, params)
        if self.function.return_types:
            return [self.statements.return_values([call])]
        return [self.statements.evaluate(call)]

    # Statements

    def emit_stmt(self, stmt: ir.Stmt) -> list[str]:
        """Texts of ``stmt``, its comments first; an op without effect here has none."""
        comments = [
            self.statements.comment(line)
            for text in stmt.leading_comments
            for line in text.splitlines() or [""]
        ]
        self.current_span = stmt.span
        lines = self._emit(stmt)
        if isinstance(stmt, ir.ScopeStmt):
            lines = self._with_scope_attrs(stmt, lines)
        return comments + lines

    def _with_scope_attrs(self, scope: ir.ScopeStmt, lines: list[str]) -> list[str]:
        """A scope's condition, and the task id that stands for its launch."""
        predicate, task = scope.attrs.get("predicate"), scope.attrs.get("task_id_var")
        if predicate is not None:
            lines = [self.statements.branch(self.alone(predicate), lines, None)]
        if task is not None:
            lines = [*lines, self.statements.assign(self.bind(task), self.macros.task_done())]
        return lines

    @singledispatchmethod
    def _emit(self, stmt: ir.Stmt) -> list[str]:
        self.report(f"statement {type(stmt).__name__}", stmt.span)
        return []

    @_emit.register
    def _emit_seq(self, stmt: ir.SeqStmts) -> list[str]:
        return [text for child in stmt.stmts for text in self.emit_stmt(child)]

    @_emit.register
    def _emit_assign(self, stmt: ir.AssignStmt) -> list[str]:
        if self.is_noop(stmt.value):
            self.bind_nothing(stmt.var)
            return []
        self.current_variable = stmt.var
        if self._pair is not None and self._pair.is_first(stmt.value):
            return []
        value = self.alone(stmt.value)  # first: `x = x + 1` must read the old x
        region = self.region_text(stmt.value) if self.regions.holds(stmt.var) else None
        lines = self._assign_all([(self.bind(stmt.var), value)])
        if region is not None:
            lines += self._assign_all([(self.companion(stmt.var), region)])
        self.current_variable = None
        return lines + self._check(stmt)

    def _check(self, stmt: ir.AssignStmt) -> list[str]:
        type_ = stmt.var.type
        if not self.script.check_shapes or not isinstance(type_, ir.TensorType | ir.TileType):
            return []
        may_be_clipped = self.is_window(stmt.value)
        shape = [
            self.expr(dim) if isinstance(dim, ir.ConstInt) and not may_be_clipped else self.macros.nothing()
            for dim in type_.shape
        ]
        return [self.statements.check_tensor(self.name_of(stmt.var), shape, type_.dtype.name)]

    @_emit.register
    def _emit_eval(self, stmt: ir.EvalStmt) -> list[str]:
        if self.is_noop(stmt.expr) or (self._pair is not None and self._pair.is_first(stmt.expr)):
            return []
        return [self.statements.evaluate(self.alone(stmt.expr))]

    @_emit.register
    def _emit_return(self, stmt: ir.ReturnStmt) -> list[str]:
        if self._region_depth:
            self.report("a return inside a split-AIV region", stmt.span)
        return [self.statements.return_values([self.alone(value) for value in stmt.value])]

    @_emit.register
    def _emit_yield(self, stmt: ir.YieldStmt) -> list[str]:
        if not self._yield_targets:
            self.report("a yield outside any loop or branch", stmt.span)
            return []
        targets = self._yield_targets[-1]
        if len(targets) != len(stmt.value):
            self.report(f"a yield of {len(stmt.value)} values to {len(targets)} variables", stmt.span)
        return self._carry(targets, stmt.value)

    @_emit.register
    def _emit_for(self, stmt: ir.ForStmt) -> list[str]:
        if not self._carries_match(stmt, stmt.iter_args, stmt.return_vars):
            return []
        start, stop, step = (self.alone(bound) for bound in (stmt.start, stmt.stop, stmt.step))
        before = self._carry(stmt.iter_args, [arg.initValue for arg in stmt.iter_args])
        variable = self.bind(stmt.loop_var)
        body = self._loop_body(stmt.body, stmt.iter_args)
        loop = self.statements.for_range(variable, start, stop, step, body)
        return [*before, loop, *self._carry(stmt.return_vars, stmt.iter_args)]

    @_emit.register
    def _emit_while(self, stmt: ir.WhileStmt) -> list[str]:
        if not self._carries_match(stmt, stmt.iter_args, stmt.return_vars):
            return []
        before = self._carry(stmt.iter_args, [arg.initValue for arg in stmt.iter_args])
        condition = self.alone(stmt.condition)
        body = self._loop_body(stmt.body, stmt.iter_args)
        loop = self.statements.while_loop(condition, body)
        return [*before, loop, *self._carry(stmt.return_vars, stmt.iter_args)]

    def _carries_match(
        self, stmt: ir.Stmt, iter_args: Sequence[ir.IterArg], return_vars: Sequence[ir.Var]
    ) -> bool:
        if len(iter_args) == len(return_vars):
            return True
        self.report(
            f"a loop with {len(iter_args)} carries and {len(return_vars)} return variables", stmt.span
        )
        return False

    def _loop_body(self, body: ir.Stmt, targets: Sequence[ir.Var]) -> list[str]:
        self._yield_targets.append(targets)
        lines = self.emit_stmt(body)
        self._yield_targets.pop()
        return lines

    @_emit.register
    def _emit_if(self, stmt: ir.IfStmt) -> list[str]:
        condition = self.alone(stmt.condition)
        if stmt.return_vars:
            self._yield_targets.append(stmt.return_vars)
        then_body = self.emit_stmt(stmt.then_body)
        else_body = None if stmt.else_body is None else self.emit_stmt(stmt.else_body)
        if stmt.return_vars:
            self._yield_targets.pop()
        if not then_body and not else_body:
            return []
        return [self.statements.branch(condition, then_body, else_body or None)]

    @_emit.register
    def _emit_break(self, stmt: ir.BreakStmt) -> list[str]:
        return [self.statements.jump_out()]

    @_emit.register
    def _emit_continue(self, stmt: ir.ContinueStmt) -> list[str]:
        return [self.statements.jump_on()]

    @_emit.register
    def _emit_inline(self, stmt: ir.InlineStmt) -> list[str]:
        return [self.statements.inline(stmt.body)]

    def _carry(self, targets: Sequence[ir.Var], values: Sequence[ir.Expr]) -> list[str]:
        """Bind all targets at once: every value is computed before any variable changes."""
        texts = [self.alone(value) for value in values]
        regions = [
            self.region_text(value) if self.regions.holds(target) else None
            for target, value in zip(targets, values, strict=False)
        ]
        pairs: list[tuple[str, str]] = []
        for target, text, region in zip(targets, texts, regions, strict=False):
            pairs.append((self.bind(target), text))
            if region is not None:
                pairs.append((self.companion(target), region))
        return self._assign_all(pairs)

    def _assign_all(self, pairs: Iterable[tuple[str, str]]) -> list[str]:
        changing = [(target, text) for target, text in pairs if target != text]
        if not changing:
            return []
        if len(changing) == 1:
            return [self.statements.assign(*changing[0])]
        return [
            self.statements.assign_all([target for target, _ in changing], [text for _, text in changing])
        ]

    # Scopes

    @_emit.register
    def _emit_scope(self, stmt: ir.ScopeStmt) -> list[str]:
        return self.emit_stmt(stmt.body)

    @_emit.register
    def _emit_incore(self, stmt: ir.InCoreScopeStmt) -> list[str]:
        outer, self.in_kernel = self.in_kernel, True
        lines = self.emit_stmt(stmt.body)
        self.in_kernel = outer
        return lines

    @_emit.register
    def _emit_spmd(self, stmt: ir.SpmdScopeStmt) -> list[str]:
        return [self.statements.for_blocks(self.alone(stmt.core_num), self.emit_stmt(stmt.body))]

    @_emit.register
    def _emit_cluster(self, stmt: ir.ClusterScopeStmt) -> list[str]:
        kernels = self.script.kernels
        aic, aiv = kernels.members(node for node in ir.walk(stmt.body) if isinstance(node, ir.Call))
        if aic is None and aiv is None:
            return self.emit_stmt(stmt.body)
        name = self.script.name_group(self.macros.cluster_name(self.function.name, stmt.name_hint))
        self.script.groups[name] = kernels.meta(name, stmt.attrs, aic, aiv)
        outer, self._pair = self._pair, find_pair(kernels, name, ir.walk(stmt.body))
        lines = self.emit_stmt(stmt.body)
        self._pair = outer
        return lines

    def pair_call(self, call: ir.Call) -> str | None:
        """The concurrent call of both members of a group, where ``call`` is the later one of the pair."""
        pair = self._pair
        if pair is None or not pair.is_last(call):
            return None
        aic, aiv = ([self.expr(arg) for arg in c.args] if c is not None else [] for c in (pair.aic, pair.aiv))
        first = aic if pair.aic is not None else aiv
        differ = pair.aic is not None and pair.aiv is not None and aic != aiv
        return str(self.macros.pair_call(pair.group, first, aiv if differ else None))

    @_emit.register
    def _emit_split_aiv(self, stmt: ir.SplitAivScopeStmt) -> list[str]:
        """A region as a local function that two lanes run; names that live on come back from lane 0."""
        outside = self._variables_outside(stmt)
        bound_before = dict(self.bound_names())
        assigned = [var for var in _assigned_variables(stmt.body) if id(var) in outside]
        targets = self._yield_targets[-1] if self._yield_targets else ()
        is_explicit = stmt.split is ir.SplitMode.NONE or any(
            isinstance(node, ir.Call) and node.op.name in _EXPLICIT_LANE_OPS for node in ir.walk(stmt.body)
        )
        outer, self.store_once = self.store_once, self.cube_side_store if is_explicit else self.any_store
        self._region_depth += 1
        body = self.emit_stmt(stmt.body)
        self._region_depth -= 1
        self.store_once = outer
        live = list(dict.fromkeys([*assigned, *(t for t in targets if _ends_in_yield(stmt.body))]))
        names = [self.name_of(var) for var in live]
        params = [self.name_of(var) for var in live if id(var) in bound_before]
        name = self.names.unique(self.macros.region_function(stmt.name_hint))
        result = [self.statements.return_values(names)] if names else []
        call = self.macros.split_lanes(name, params)
        lines = [self.statements.local_function(name, params, [*body, *result])]
        if len(names) == 1:
            return [*lines, self.statements.assign(names[0], call)]
        return [
            *lines,
            self.statements.assign_all(names, [call]) if names else self.statements.evaluate(call),
        ]

    def _variables_outside(self, stmt: ir.SplitAivScopeStmt) -> set[int]:
        """Variables that the function mentions outside ``stmt``."""
        return {id(node) for node in _walk_without(self.function.body, stmt) if isinstance(node, ir.Var)}


def _assigned_variables(body: ir.Stmt) -> Iterator[ir.Var]:
    for node in ir.walk(body):
        if isinstance(node, ir.AssignStmt):
            yield node.var
        elif isinstance(node, ir.IfStmt | ir.ForStmt | ir.WhileStmt):
            yield from node.return_vars


def _walk_without(root: ir.Stmt, left_out: ir.Stmt) -> Iterator[ir.IRNode]:
    stack: list[ir.IRNode] = [root]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node is left_out or id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        stack.extend(ir.children(node))


def _ends_in_yield(body: ir.Stmt) -> bool:
    last = body
    while isinstance(last, ir.SeqStmts | ir.RuntimeScopeStmt | ir.SplitAivScopeStmt):
        if isinstance(last, ir.SeqStmts):
            if not last.stmts:
                return False
            last = last.stmts[-1]
        else:
            last = last.body
    return isinstance(last, ir.YieldStmt)
