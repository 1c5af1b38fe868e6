"""Tiles that a loop puts together, only to be stored: the loop stores the parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pypto_tmpl import ir, ops
from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.passes.outline.dataflow import reads
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.rewrite import Rewriter, build

_CREATE, _STORE, _ASSEMBLE = "tile.create", "tile.store", "tile.assemble"


def with_stored_parts(function: ir.Function) -> ir.Function:
    """A kernel whose loops store parts into an Out parameter that they assembled in a tile.

    The loop must have one carry, which starts as a new tile and is only assembled into, and what becomes of
    it is stored over a whole parameter and returned.
    """
    found = next(_assemblies(function), None) if ir.is_incore_type(function.func_type) else None
    return with_stored_parts(_StoringParts(found).rewrite(function)) if found is not None else function


@dataclass(frozen=True, slots=True)
class _Assembly:
    """A tile without values, the loop that puts parts into it, and the store of what comes out."""

    create: ir.AssignStmt
    loop: ir.ForStmt
    part: ir.AssignStmt
    store: ir.AssignStmt

    @property
    def target(self) -> ir.Expr:
        """The parameter that is stored into."""
        assert isinstance(self.store.value, ir.Call)
        return self.store.value.args[2]


def _assemblies(function: ir.Function) -> Iterator[_Assembly]:
    body = list(flat(function.body))
    uses = Counter(map(id, reads(function.body)))
    creates = {id(stmt.var): stmt for stmt in body if _is(stmt, _CREATE) and isinstance(stmt, ir.AssignStmt)}
    stores = [stmt for stmt in body if _is(stmt, _STORE) and isinstance(stmt, ir.AssignStmt)]
    for loop in body:
        if not isinstance(loop, ir.ForStmt) or len(loop.iter_args) != 1:
            continue
        carry, result = loop.iter_args[0], loop.return_vars[0]
        create, part = creates.get(id(carry.initValue)), _part(loop)
        store = next((s for s in stores if isinstance(s.value, ir.Call) and s.value.args[0] is result), None)
        if create is None or part is None or store is None:
            continue
        found = _Assembly(create, loop, part, store)
        alone = (create.var, carry, part.var, result, store.var, found.target)
        if (
            all(uses[id(var)] == 1 for var in alone)
            and _is_whole(store, function)
            and _returns(body, store.var)
        ):
            yield found


def _part(loop: ir.ForStmt) -> ir.AssignStmt | None:
    """The statement that assembles a part into the carry of a loop, if that is what the loop yields."""
    (value,) = yielded(loop.body)
    for stmt in flat(loop.body):
        if isinstance(stmt, ir.AssignStmt) and stmt.var is value and _is(stmt, _ASSEMBLE):
            assert isinstance(stmt.value, ir.Call)
            return stmt if stmt.value.args[0] is loop.iter_args[0] else None
    return None


def _is(stmt: ir.Stmt, op: str) -> bool:
    return isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Call) and stmt.value.op.name == op


def _is_whole(store: ir.AssignStmt, function: ir.Function) -> bool:
    """Whether a store writes all of an Out parameter."""
    assert isinstance(store.value, ir.Call)
    tile, offsets, target = store.value.args[:3]
    pairs = zip(function.params, function.param_directions, strict=True)
    is_out = any(param is target and direction is ParamDirection.Out for param, direction in pairs)
    assert isinstance(offsets, ir.MakeTuple) and isinstance(tile.type, ir.TileType)
    at_start = all(constant_extent(offset) == 0 for offset in offsets.elements)
    is_plain = not store.value.kwargs.get("atomic") and len(store.value.args) == 3
    assert isinstance(target.type, ir.TensorType)
    return is_out and at_start and is_plain and same_extents(tile.type.shape, target.type.shape)


def _returns(body: list[ir.Stmt], var: ir.Var) -> bool:
    last = body[-1] if body else None
    return isinstance(last, ir.ReturnStmt) and any(value is var for value in last.value)


class _StoringParts(Rewriter):
    def __init__(self, found: _Assembly) -> None:
        super().__init__()
        self._found = found
        self._typed_as_target = {id(var) for var in (*found.loop.iter_args, *found.loop.return_vars)}

    def before(self, stmt: ir.Stmt) -> ir.Stmt | list[ir.Stmt]:
        if stmt is self._found.create:
            return []
        if stmt is self._found.store:
            self.bind(self._found.store.var, self.use(self._found.loop.return_vars[0]))
            return []
        return self._stored() if stmt is self._found.part else stmt

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if id(old) not in self._typed_as_target:
            return typed
        target = self._found.target
        if isinstance(typed, ir.IterArg):
            return build(typed, type=target.type, initValue=target)
        return build(typed, type=target.type)

    def _stored(self) -> ir.Stmt:
        part = self._found.part
        assert isinstance(part.value, ir.Call)
        _, source, offsets = part.value.args
        carry = self.use(self._found.loop.iter_args[0])
        store = ops.call("tile.store", source, offsets, carry, span=part.value.span)
        var = build(part.var, type=store.type)
        self.bind(part.var, var)
        return ir.AssignStmt(var, store, part.span)
