"""One region made a function, and the call in its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.outline.dataflow import (
    Callees,
    Origins,
    all_definitions,
    param_directions,
    reads,
    stored_into,
    visible_definitions,
)
from pypto_tmpl.rewrite import Rewriter, as_body, base_name, clone, flat, substitute

_TILE_STORE = "tile.store"


@dataclass(frozen=True, slots=True)
class Kind:
    """What the function of a region is."""

    type: ir.FunctionType
    level: ir.Level | None = None
    role: ir.Role | None = None
    attrs: Mapping[str, object] = field(default_factory=dict)
    unwraps: bool = False  # whether the blocks inside are those of the function


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a function, with what goes into it and comes out of it."""

    scope: ir.ScopeStmt
    body: ir.Stmt
    inputs: list[ir.Var]
    outputs: list[ir.Var]
    values: list[ir.Var]
    origins: Origins
    exported: list[ir.Var]
    callees: Callees

    def function(self, name: str, kind: Kind) -> ir.Function:
        """The region as a function; what can be traced to a parameter is returned as that."""
        params: dict[ir.Var, ir.Var] = {}
        for var in sorted(self.inputs, key=lambda var: not isinstance(var.type, ir.ScalarType)):
            params[var] = ir.Var(var.name_hint, substitute(var.type, params), self.scope.span)
        found = [stmt for part in flat(self.body) for stmt in flat(unwrapped(part) if kind.unwraps else part)]
        if self.values:
            found.append(ir.ReturnStmt(self.values, self.scope.span))
        results = {id(var) for var in (*self.outputs, *self.exported)}
        body = clone(
            as_body(found, self.scope.span),
            substitution=params,
            place=lambda var: self.scope.span if id(var) in results else var.span,
        )
        directions = param_directions(self.inputs, self.scope.body, self.origins, self.callees)
        return ir.Function(
            name,
            [(params[var], direction) for var, direction in zip(self.inputs, directions, strict=True)],
            [substitute(var.type, params) for var in self.values],
            body,
            self.scope.span,
            kind.type,
            kind.level,
            kind.role,
            kind.attrs,
        )


def unwrapped(stmt: ir.Stmt) -> ir.Stmt:
    """The body of an Spmd scope, any other statement itself."""
    return stmt.body if isinstance(stmt, ir.SpmdScopeStmt) else stmt


def region_of(
    scope: ir.ScopeStmt,
    is_read_outside: Callable[[ir.Var], bool],
    defined: set[int],
    callees: Callees,
    exports_stores: bool,
) -> Region:
    """The region of a scope in a function that defines ``defined``.

    With ``exports_stores``, what a tile is stored into is an output, too, where nothing reads it, or where
    the store stands in a scope inside of the region: its name in the function is ``<base>__store``.
    """
    body = scope.body
    inside = all_definitions(body)
    inputs = {id(var): var for var in reads(body) if id(var) not in inside and id(var) in defined}
    outputs = [var for var in visible_definitions(body) if is_read_outside(var)]
    origins = Origins(body, callees)
    exported = list(_unread_stores(body, inputs, outputs)) if exports_stores else []
    outputs = [var for var in outputs if not any(var is other for other in exported)]
    values = [origins.of(var) if id(origins.of(var)) in inputs else var for var in (*outputs, *exported)]
    if exported:
        body = _NamingStores(exported).rewrite(body)
    return Region(scope, body, list(inputs.values()), outputs, values, origins, exported, callees)


def _unread_stores(body: ir.Stmt, inputs: dict[int, ir.Var], outputs: list[ir.Var]) -> Iterator[ir.Var]:
    direct = {id(stmt) for stmt in flat(body)}
    read = set(map(id, outputs))
    for stmt in statements(body):
        if not isinstance(stmt, ir.AssignStmt) or not isinstance(stmt.value.type, ir.TensorType):
            continue
        is_of_tile = isinstance(stmt.value, ir.Call) and stmt.value.op.name == _TILE_STORE
        target = stored_into(stmt.value) if is_of_tile else None
        is_output = id(stmt.var) in read and id(stmt) in direct
        if (
            target is not None
            and id(target) in inputs
            and not isinstance(target, ir.IterArg)
            and not is_output
        ):
            yield stmt.var


class _NamingStores(Rewriter):
    def __init__(self, stored: list[ir.Var]) -> None:
        super().__init__()
        self._stored = set(map(id, stored))

    def statement(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if not isinstance(stmt, ir.AssignStmt) or id(stmt.var) not in self._stored:
            return [stmt]
        named = ir.Var(f"{base_name(stmt.var.name_hint)}__store", stmt.var.type, stmt.span)
        return [stmt, ir.AssignStmt(named, stmt.var, stmt.span)]
