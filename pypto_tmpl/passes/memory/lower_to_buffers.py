"""Tiles as buffers: what makes a tile becomes a statement that writes it where it lies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ir.destinations import (
    copy,
    declaration,
    has_destinations,
    is_buffer,
    is_declaration,
    slot,
    write,
)
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.passes.base import FunctionPass, PassError
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.memory.buffers import Buffers, base_of
from pypto_tmpl.passes.memory.pipe_slots import PipeSlots
from pypto_tmpl.passes.memory.simultaneous import in_order
from pypto_tmpl.rewrite import Rewriter, as_body, build, flat
from pypto_tmpl.storage.overwrites import overwrites


class LowerToBuffers(FunctionPass):
    """Declare the tiles of kernels as buffers, and have ops write them: destinations are explicit.

    Tiles are no longer carried by loops, nor the result of branches: what a loop starts with and what bodies
    and branches yield is copied to where the carry or the result lies; where it lies there already, nothing
    moves. Views and second names stay; a tile out of a pipe is a slot of its buffer. Errors: values that are
    to be copied over each other in a circle, results with the pitch of a window, and a plan by which a tile
    is read from bytes that others have taken.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm, IRProperty.HasMemRefs, IRProperty.TileOps2D})
    produces = frozenset({IRProperty.DestinationPassing})
    invalidates = frozenset({IRProperty.NoNestedCalls})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not is_incore_type(function.func_type) or has_destinations(function):
            return function
        if not any(is_buffer(var) for var, _ in all_definitions(function)):
            return function
        lowered = _Lowering(function).lowered()
        for found in overwrites(lowered, load_table()):
            what = f"the plan does not keep what is read: {found.facts().text}"
            raise PassError(what, function, found.statement, variable=found.tile)
        return lowered


class _Lowering(Rewriter):
    """Rewrites one function; yields are met before the loop or branch that they belong to is built again."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._buffers = Buffers(function)
        self._slots = PipeSlots(function)
        self._names: dict[int, ir.Var] = {}  # what stands for a carry, or for the result of a loop
        self._targets = dict(_yield_targets(function.body))
        self._hoisted: list[ir.Stmt] = []

    def lowered(self) -> ir.Function:
        """The function with its buffers declared behind its allocations."""
        result = self.rewrite(self._owner)
        body = list(flat(result.body))
        at = next((n for n, stmt in enumerate(body) if not _is_allocation(stmt)), len(body))
        return build(result, body=as_body([*body[:at], *self._hoisted, *body[at:]], result.body.span))

    def use(self, var: ir.Var) -> ir.Expr:
        return self._names.get(id(var)) or super().use(var)

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        match stmt:
            case ir.AssignStmt() if is_buffer(stmt.var):
                return self._assigned(stmt)
            case ir.AssignStmt() if facts.of_value(stmt.value).pipe_end == "pop":
                return self._popped(stmt)
            case ir.ForStmt() | ir.WhileStmt() if any(map(is_buffer, stmt.iter_args)):
                return self._loop(stmt)
            case ir.IfStmt() if any(map(is_buffer, stmt.return_vars)):
                return self._branch(stmt)
            case ir.YieldStmt() if any(map(is_buffer, self._targets.get(id(stmt), ()))):
                return self._yielded(stmt)
        return stmt

    def _assigned(self, stmt: ir.AssignStmt) -> ir.Stmt | list[ir.Stmt]:
        if is_declaration(stmt) or self._buffers.is_view(stmt):
            return stmt
        var, value = stmt.var, stmt.value
        if self._buffers.has_own(var):
            if facts.of_value(value).has("allocates"):
                return _commented(declaration(var, base_of(var)), stmt)
            if isinstance(value, ir.Var):
                return [*self._declared(var), _commented(copy(var, value, stmt.span), stmt)]
            return [*self._declared(var), _commented(write(var, value, stmt.span), stmt)]
        changed = facts.of_value(value).returned
        if changed is None or not isinstance(value, ir.Call):
            raise self._buffers.error(var, stmt)
        target = value.args[changed]
        assert isinstance(target, ir.Var)
        return [_commented(write(target, value, stmt.span), stmt), ir.AssignStmt(var, target, stmt.span)]

    def _popped(self, stmt: ir.AssignStmt) -> ir.Stmt:
        """A tile out of a pipe lies in a slot, where the kernel itself has reserved the buffer of these."""
        reserved = self._slots.buffer_of(stmt.value)
        if reserved is None:
            return stmt
        return _commented(slot(stmt.var, reserved, stmt.value, stmt.span), stmt)

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> list[ir.Stmt]:
        before: list[ir.Stmt] = []
        after: list[ir.Stmt] = []
        starts: list[tuple[ir.Var, ir.Expr]] = []
        for carry, result in zip(stmt.iter_args, stmt.return_vars, strict=True):
            if not is_buffer(carry):
                continue
            buffer = self._buffers.carried(carry)
            if self._buffers.has_own(buffer):
                before += self._declared(buffer)
                starts.append((buffer, carry.initValue))
            else:
                before.append(ir.AssignStmt(buffer, carry.initValue, stmt.span))
            self._names[id(carry)] = buffer
            if result.type == carry.type:
                self._names[id(result)] = buffer
            else:
                after.append(ir.AssignStmt(result, buffer, stmt.span))
        before += self._copies(starts, stmt)
        kept = [n for n, carry in enumerate(stmt.iter_args) if not is_buffer(carry)]
        loop = build(
            stmt,
            iter_args=[stmt.iter_args[n] for n in kept],
            return_vars=[stmt.return_vars[n] for n in kept],
        )
        return [*before, loop, *after]

    def _branch(self, stmt: ir.IfStmt) -> list[ir.Stmt]:
        before: list[ir.Stmt] = []
        for at, result in enumerate(stmt.return_vars):
            if not is_buffer(result):
                continue
            buffer = self._buffers.resulting(stmt, at)
            if buffer is not result:
                self._names[id(result)] = buffer
            before += self._declared(buffer)
        kept = [result for result in stmt.return_vars if not is_buffer(result)]
        return [*before, build(stmt, return_vars=kept)]

    def _yielded(self, stmt: ir.YieldStmt) -> list[ir.Stmt]:
        pairs = list(zip(self._targets[id(stmt)], stmt.value, strict=True))
        copied = [
            (self._names.get(id(target), target), value) for target, value in pairs if is_buffer(target)
        ]
        kept = [value for target, value in pairs if not is_buffer(target)]
        last = [build(stmt, value=kept)] if kept else []
        return [*self._copies(copied, stmt), *last]

    def _copies(self, pairs: Sequence[tuple[ir.Var, ir.Expr]], stmt: ir.Stmt) -> Iterator[ir.Stmt]:
        """What gives buffers their values, as if all at once."""
        named = [
            (target, self._names.get(id(value), value)) if isinstance(value, ir.Var) else (target, value)
            for target, value in pairs
        ]
        wanted = [(target, value) for target, value in named if target is not value]
        for target, value in in_order(wanted, self._buffers, self._owner, stmt):
            yield copy(target, value, stmt.span)

    def _declared(self, var: ir.Var) -> list[ir.Stmt]:
        """The declaration of a buffer, if it has to be here; else it stands behind the allocations."""
        stmt = declaration(var, base_of(var))
        if not self._buffers.is_known_at_start(var.type):
            return [stmt]
        self._hoisted.append(stmt)
        return []


def _commented(stmt: ir.Stmt, old: ir.Stmt) -> ir.Stmt:
    return build(stmt, leading_comments=old.leading_comments)


def _is_allocation(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.AssignStmt) and facts.of_value(stmt.value).has("reserves")


def _yield_targets(body: ir.Stmt) -> Iterator[tuple[int, Sequence[ir.Var]]]:
    """What each yield gives its values to, by its identity."""
    stack: list[tuple[ir.Stmt, Sequence[ir.Var]]] = [(body, ())]
    while stack:
        stmt, targets = stack.pop()
        match stmt:
            case ir.YieldStmt():
                yield id(stmt), targets
            case ir.ForStmt() | ir.WhileStmt():
                targets = stmt.iter_args
            case ir.IfStmt() if stmt.return_vars:
                targets = stmt.return_vars
        stack += [(part, targets) for part in parts(stmt)]
