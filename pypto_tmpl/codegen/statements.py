"""Statements that compute, jump, branch and loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch, assigned_variables
from pypto_tmpl.codegen.groups import CallPair
from pypto_tmpl.codegen.inline import inline_source
from pypto_tmpl.codegen.packed import carrier_name, is_packed
from pypto_tmpl.codegen.trace_emitter import Lines, TraceEmitter
from pypto_tmpl.ops.sources import identifiers

if TYPE_CHECKING:
    from pypto_tmpl.codegen.script import ScriptBuilder

MAX_LOOPS = 20  # CPython 3.11 and 3.12 refuse more of them in each other
MAX_BLOCKS = 60  # CPython refuses 100 levels of indentation
MAX_STATEMENTS = 500_000  # of one function: blocks that share blocks could be told in no end of text


class StatementEmitter(TraceEmitter):
    """Texts of statements in one function, unindented."""

    def __init__(self, script: ScriptBuilder, function: ir.Function) -> None:
        super().__init__(script, function)
        self.yield_targets: list[Sequence[ir.Var]] = []
        self.region_depth = 0  # regions whose body is a function or a loop of its own: no jumps out of them
        self.loop_depth = 0  # loops that a break would leave
        self._blocks = self._loops = self._count = 0
        self._pair_target: ir.Var | None = None  # of the earlier call of a pair, which runs with the later
        self._handlers: dict[type, Callable[[Any], Lines]] = {
            ir.AssignStmt: self._assign,
            ir.EvalStmt: self._evaluate,
            ir.ReturnStmt: self._return,
            ir.YieldStmt: self._yield,
            ir.ForStmt: self._for,
            ir.WhileStmt: self._while,
            ir.IfStmt: self._if,
            ir.BreakStmt: self._break,
            ir.ContinueStmt: self._continue,
            ir.InlineStmt: self._inline,
        }

    def emit_stmt(self, stmt: ir.Stmt) -> Lines:
        """Texts of ``stmt``, its comments first; an op without effect here has none."""
        if isinstance(stmt, ir.SeqStmts):
            return self._sequence(stmt)
        self._count += 1
        if self._count > MAX_STATEMENTS:
            return self._too_many(stmt)
        self.begin_statement()
        handler = self._handlers.get(type(stmt))
        if handler is None:
            self.report(f"statement {type(stmt).__name__}", stmt.span)
            return []
        self.current_span = stmt.span
        lines = self._located(stmt, self.traced_statement(stmt, handler))
        if not stmt.leading_comments:
            return lines
        comments = [
            self.statements.comment(printable(line))
            for text in stmt.leading_comments
            for line in text.splitlines() or [""]
        ]
        return comments + lines

    def _located(self, stmt: ir.Stmt, lines: Lines) -> Lines:
        marks = self.script.marks
        if marks is None or isinstance(stmt, ir.InlineStmt):
            return lines
        launch = getattr(stmt, "value", None) or getattr(stmt, "expr", None)
        if isinstance(launch, Launch):
            marks.note(stmt, self.launch_note(launch))
        return marks.mark(lines, stmt)

    def _sequence(self, stmt: ir.SeqStmts) -> Lines:
        lines: Lines = []
        for child in _flat(stmt):
            lines += self.emit_stmt(child)
            if self._count > MAX_STATEMENTS:
                break
        return lines

    def _too_many(self, stmt: ir.Stmt) -> Lines:
        if self._count == MAX_STATEMENTS + 1:
            self.report(f"a function of more than {MAX_STATEMENTS} statements", stmt.span)
        return []

    # Values

    def _assign(self, stmt: ir.AssignStmt) -> Lines:
        var, value = stmt.var, stmt.value
        if self.is_noop(value):
            self.check_noop(value)
            self.bind_nothing(var)
            return []
        pair = self.pair
        if pair is not None and pair.is_first(value):
            self._pair_target = var if pair.gives(value) else None
            return [] if pair.gives(value) else self._assign_finished(var, value)
        if pair is not None and pair.is_last(value):
            if len(pair.givers) > 1:
                return self._assign_both(pair, var)
            if not pair.gives(value):
                return [*self._evaluate_pair(value), *self._assign_finished(var, value)]
        return self._assign_value(var, value)

    def _assign_both(self, pair: CallPair, var: ir.Var) -> Lines:
        """Both calls of a pair where the values of both have names."""
        first, self._pair_target = self._pair_target, None
        targets = [var if giver is pair.last else first for giver in pair.givers]
        call = self.pair_call(pair)
        names = [self.bind(target) for target in targets if target is not None]
        lines: Lines = [self.statements.assign_all(names, [call])]
        for name, giver in zip(names, pair.givers, strict=True):
            if isinstance(giver, ir.Submit):
                lines.append(self.statements.assign(name, self.as_launched(giver, name)))
        return lines

    def _assign_finished(self, var: ir.Var, value: ir.Expr) -> Lines:
        """The variable of a pair's call that does not give its value: that of a submit has a task id."""
        if not isinstance(value, ir.Submit):
            return []
        return [self.statements.assign(self.bind(var), self.finished(value))]

    def _assign_value(self, var: ir.Var, value: ir.Expr) -> Lines:
        self.current_variable = var
        self.suspects.clear()
        self.check_dtype(var)
        text = self.viewed(value, var) if isinstance(value, ir.Var) else self.alone(value)
        holds_region = self.regions.holds(var)
        region = None if not holds_region or self.regions.is_new(value) else self.region_text(value)
        name = self.bind(var)
        if region is None:
            lines = self._assign_all([(name, text)])
            if holds_region:
                lines.append(self.statements.assign(self.companion(var), self.macros.region(name)))
        elif name in identifiers(region):  # the region is the old value's
            lines = self._assign_all([(name, text), (self.companion(var), region)])
        else:
            lines = [
                *self._assign_all([(name, text)]),
                *self._assign_all([(self.companion(var), region)]),
            ]
        self.current_variable = None
        return [*lines, *self._check_poison(var), *self._check(var, value)]

    def _check_poison(self, var: ir.Var) -> Lines:
        """A check of the value just bound, if poison may have reached valid cells of it."""
        name, type_ = self.name_of(var), var.type
        found = dict.fromkeys(suspect for suspect in self.suspects if suspect.text != name)
        if not found or not isinstance(type_, ir.ShapedType) or not type_.dtype.is_float():
            return []
        region = self.region(var)
        valid = self.macros.nothing() if region is None else region[0]
        sources = [
            self.macros.tuple_of([suspect.text, suspect.region or self.macros.nothing()]) for suspect in found
        ]
        mixes = any(suspect.mixes for suspect in found)
        return [self.statements.check_poison(name, valid, sources, mixes)]

    def _check(self, var: ir.Var, value: ir.Expr) -> Lines:
        type_ = var.type
        if not self.script.check_shapes or not isinstance(type_, ir.TensorType | ir.TileType):
            return []
        if type_.dtype.name not in self.script.carriers:
            return []
        return self.check_of(var, self.is_window(value))

    def check_of(self, var: ir.Var, may_be_clipped: bool) -> Lines:
        """The check of a tensor or tile: its dtype, and those extents that are fixed and never clipped."""
        type_ = var.type
        assert isinstance(type_, ir.ShapedType)
        shape = [
            self.expr(dim) if isinstance(dim, ir.ConstInt) and not may_be_clipped else self.macros.nothing()
            for dim in type_.shape
        ]
        last = type_.shape[-1] if type_.shape else None
        if is_packed(type_) and isinstance(last, ir.ConstInt) and not may_be_clipped:
            shape[-1] = self.macros.literal(last.value // 2)
        return [self.statements.check_tensor(self.name_of(var), shape, carrier_name(type_))]

    def _evaluate(self, stmt: ir.EvalStmt) -> Lines:
        value = stmt.expr
        if self.is_noop(value):
            self.check_noop(value)
            return []
        pair = self.pair
        if pair is not None and pair.is_first(value):
            self._pair_target = None
            return []
        if pair is not None and pair.is_last(value) and not pair.gives(value):
            return self._evaluate_pair(value)
        if isinstance(value, ir.Submit):
            return [self.statements.evaluate(self.submitted_call(value))]
        return [self.statements.evaluate(self.alone(value))]

    def _evaluate_pair(self, last: ir.Expr) -> Lines:
        """Both calls of a pair whose result an earlier statement has asked for."""
        target, self._pair_target = self._pair_target, None
        if target is None:
            return [self.statements.evaluate(self.alone(last))]
        return self._assign_value(target, last)

    def _return(self, stmt: ir.ReturnStmt) -> Lines:
        if self.region_depth:
            self.report("a return inside a split-AIV or SPMD region", stmt.span)
        values, before = list(stmt.value), Lines()
        pair = self.pair
        if pair is not None and len(pair.givers) > 1:
            for index, value in enumerate(values):
                if pair.is_last(value):  # what it gives gets a name, as the other one's value has
                    values[index] = var = ir.Var(pair.last.op.name, value.type, value.span)
                    before = self._assign_both(pair, var)
        return [*before, self.statements.return_values([self.alone(value) for value in values])]

    def _inline(self, stmt: ir.InlineStmt) -> Lines:
        source, problem = inline_source(stmt)
        if problem is not None:
            self.report(problem, stmt.span)
        return [self.statements.inline(source)] if source else []

    # Branches and loops

    def _yield(self, stmt: ir.YieldStmt) -> Lines:
        if not self.yield_targets:
            self.report("a yield outside any loop or branch", stmt.span)
            return []
        targets = self.yield_targets[-1]
        if len(targets) != len(stmt.value):
            self.report(f"a yield of {len(stmt.value)} values to {len(targets)} variables", stmt.span)
        return self.carry(targets, stmt.value)

    def _for(self, stmt: ir.ForStmt) -> Lines:
        if not self._carries_match(stmt, stmt.iter_args, stmt.return_vars):
            return []
        start, stop, step = (self.alone(bound) for bound in (stmt.start, stmt.stop, stmt.step))
        before = self.carry(stmt.iter_args, [arg.initValue for arg in stmt.iter_args])
        variable = self.bind(stmt.loop_var)
        with self.in_traced_loop(variable):
            first = self.traced_loop_variable(stmt)
            body = [*first, *self._loop_body(stmt.body, stmt.iter_args)]
        loop = self.statements.for_range(variable, start, stop, step, body)
        return [*before, loop, *self.carry(stmt.return_vars, stmt.iter_args)]

    def _while(self, stmt: ir.WhileStmt) -> Lines:
        if not self._carries_match(stmt, stmt.iter_args, stmt.return_vars):
            return []
        before = self.carry(stmt.iter_args, [arg.initValue for arg in stmt.iter_args])
        condition = self.traced_condition(stmt.condition)
        body = self._loop_body(stmt.body, stmt.iter_args)
        loop = self.statements.while_loop(condition, body)
        return [*before, loop, *self.carry(stmt.return_vars, stmt.iter_args)]

    def _carries_match(
        self, stmt: ir.Stmt, iter_args: Sequence[ir.IterArg], return_vars: Sequence[ir.Var]
    ) -> bool:
        if len(iter_args) == len(return_vars):
            return True
        self.report(
            f"a loop with {len(iter_args)} carries and {len(return_vars)} return variables", stmt.span
        )
        return False

    def _loop_body(self, body: ir.Stmt, targets: Sequence[ir.Var]) -> Lines:
        self.yield_targets.append(targets)
        self.loop_depth += 1
        lines = self.block(body, is_loop=True)
        self.loop_depth -= 1
        self.yield_targets.pop()
        return lines

    def _if(self, stmt: ir.IfStmt) -> Lines:
        condition = self.traced_condition(stmt.condition)
        if stmt.return_vars:
            self.yield_targets.append(stmt.return_vars)
            if stmt.else_body is None:
                self.report("a branch with return variables and no else", stmt.span)
        fresh = ([], []) if stmt.return_vars else self._bound_by_one(stmt)
        then_body = self.block(stmt.then_body)
        else_body = None if stmt.else_body is None else self.block(stmt.else_body)
        if stmt.return_vars:
            self.yield_targets.pop()
        else:
            else_body = [*(else_body or []), *self.unwritten(stmt, stmt.then_body, fresh[0])]
            if stmt.else_body is not None:
                then_body = [*then_body, *self.unwritten(stmt, stmt.else_body, fresh[1])]
        if not then_body and not else_body:
            return []
        return [self.statements.branch(condition, then_body, else_body or None)]

    def _bound_by_one(self, stmt: ir.IfStmt) -> tuple[list[ir.Var], list[ir.Var]]:
        """Variables, unbound so far, that only the one branch assigns, and those that only the other does."""
        bodies = [stmt.then_body, *([stmt.else_body] if stmt.else_body is not None else [])]
        made = [{id(v): v for v in assigned_variables(body) if not self.is_bound(v)} for body in bodies]
        first, second = made[0], made[1] if len(made) > 1 else {}
        return [v for v in first.values() if id(v) not in second], [
            v for v in second.values() if id(v) not in first
        ]

    def unwritten(self, stmt: ir.IfStmt, body: ir.Stmt, made: list[ir.Var]) -> Lines:
        """What a path on which ``body``, a branch of ``stmt``, does not run must bind of what it makes."""
        raise NotImplementedError

    def block(self, body: ir.Stmt, *, is_loop: bool = False) -> Lines:
        """Texts of the body of a loop, branch or region, within what CPython nests."""
        self._blocks += 1
        self._loops += is_loop
        lines: Lines = []
        if self._loops > MAX_LOOPS:
            self.report(f"loops nested more than {MAX_LOOPS} deep", body.span)
        elif self._blocks > MAX_BLOCKS:
            self.report(f"blocks nested more than {MAX_BLOCKS} deep", body.span)
        else:
            lines = self.emit_stmt(body)
            if lines and all(map(_is_comment, lines)):
                lines.append(self.statements.do_nothing())
        self._blocks -= 1
        self._loops -= is_loop
        return lines

    def _break(self, stmt: ir.BreakStmt) -> Lines:
        if not self.loop_depth:
            self.report("a break outside any loop", stmt.span)
        return [self.statements.jump_out()]

    def _continue(self, stmt: ir.ContinueStmt) -> Lines:
        if not self.loop_depth:
            self.report("a continue outside any loop", stmt.span)
        return [self.statements.jump_on()]

    # Simultaneous assignment

    def carry(self, targets: Sequence[ir.Var], values: Sequence[ir.Expr]) -> Lines:
        """Bind all targets at once: every value is computed before any variable changes."""
        texts = []
        for target, value in zip(targets, values, strict=False):
            self.current_variable = target
            texts.append(self.viewed(value, target))
        self.current_variable = None
        pairs: list[tuple[str, str]] = []
        after: Lines = []
        for target, value, text in zip(targets, values, texts, strict=False):
            is_held = self.regions.holds(target)
            region = self.region_text(value) if is_held and not self.regions.is_new(value) else None
            pairs.append((self.bind(target), text))
            if region is not None:
                pairs.append((self.companion(target), region))
            elif is_held:
                name = self.bind(target)
                after.append(self.statements.assign(self.companion(target), self.macros.region(name)))
        return self._assign_all(pairs) + after

    def _assign_all(self, pairs: Iterable[tuple[str, str]]) -> Lines:
        changing = [pair for pair in pairs if pair[0] != pair[1]]
        if not changing:
            return []
        if len(changing) == 1:
            return [self.statements.assign(*changing[0])]
        targets, texts = zip(*changing, strict=True)
        return [self.statements.assign_all(list(targets), list(texts))]


def _flat(seq: ir.SeqStmts) -> Iterator[ir.Stmt]:
    """The statements of a sequence and of sequences directly in it, however deep."""
    pending = list(reversed(seq.stmts))
    while pending:
        stmt = pending.pop()
        if isinstance(stmt, ir.SeqStmts):
            pending += reversed(stmt.stmts)
        else:
            yield stmt


def printable(text: str) -> str:
    """A line of ``text`` as it may stand in a comment: without what ends a line or no file can hold."""
    return "".join(c if c == "\t" or c.isprintable() else "?" for c in text).rstrip()


def _is_comment(text: str) -> bool:
    return text.startswith("#") and all(line.lstrip().startswith("#") for line in text.splitlines())
