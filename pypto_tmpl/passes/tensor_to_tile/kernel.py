"""The body of one kernel: tensor ops become tile ops, and variables tiles."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend.facts import BackendFacts
from pypto_tmpl.ir import MemorySpace
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ir.verifier.walking import evaluated, own_expressions
from pypto_tmpl.passes.aliases import Pairs
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.structure.yields import yielded
from pypto_tmpl.passes.tensor_to_tile.changing import changing_params
from pypto_tmpl.passes.tensor_to_tile.demand import Demand
from pypto_tmpl.passes.tensor_to_tile.lowering import Lowering, load_of
from pypto_tmpl.passes.tensor_to_tile.plans import plan_of
from pypto_tmpl.passes.tensor_to_tile.rules import RULES
from pypto_tmpl.passes.tensor_to_tile.storage import (
    Sharing,
    Storage,
    refuse_changed_views,
    refuse_shared_writes,
)
from pypto_tmpl.rewrite import Rewriter, as_body, base_name, build, flat
from pypto_tmpl.rewrite.rewriter import Task


def with_tiles(function: ir.Function, shared: Pairs, backend: BackendFacts | None) -> ir.Function:
    """A kernel that works on tiles: parameters are loaded at its beginning where ops need tiles.

    Those that change before they are read are loaded where they are. ``shared`` are pairs of parameters that
    callers pass the same storage for.
    """
    storage = Storage(function, ir.TensorType, shared)
    refuse_changed_views(function, storage)
    flat_gather = backend is not None and backend.supports.flat_tile_gather
    demand = Demand(function.body)
    changing = changing_params(function, storage, demand)
    loaded: dict[int, ir.Var] = {}
    loads: list[ir.Stmt] = []
    for param in function.params:
        if isinstance(param.type, ir.TensorType) and demand.needs_tile(param) and id(param) not in changing:
            load = load_of(param, MemorySpace.Vec, param.span)
            loaded[id(param)] = tile = ir.Var(f"{base_name(param.name_hint)}__tile", load.type, param.span)
            loads.append(ir.AssignStmt(tile, load, param.span))
    tiles = _Tiles(function, demand, loaded, flat_gather)
    body = tiles.rewrite(function.body)
    result = build(function, body=as_body([*loads, *flat(body)], body.span) if loads else body)
    refuse_shared_writes(result, tiles.sharing)
    return result


class _Tiles(Rewriter):
    def __init__(
        self, function: ir.Function, demand: Demand, loaded: dict[int, ir.Var], flat_gather: bool
    ) -> None:
        super().__init__()
        self._owner = function
        self._demand = demand
        self._loaded = loaded
        self._flat_gather = flat_gather
        self.sharing = Sharing()
        self._typed_like: dict[int, ir.Expr] = {}
        self._targets: dict[int, tuple[ir.Var, ...]] = {}
        self._is_tile: dict[int, bool] = {}
        for stmt in statements(function.body):
            self._note_results(stmt)

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        if isinstance(stmt, ir.AssignStmt) and plan_of(stmt.value) is not None:
            return self._converted(stmt, stmt.value)
        if isinstance(stmt, ir.EvalStmt) and plan_of(stmt.expr) is not None:
            return self._converted(stmt, stmt.expr)
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var | ir.TupleGetItemExpr):
            return self._renamed(stmt)
        return self._yielding(stmt) if isinstance(stmt, ir.YieldStmt) else None

    def _converted(self, stmt: ir.Stmt, before: ir.Expr) -> Task:
        call = yield before
        plan = plan_of(before)
        assert plan is not None and isinstance(before, ir.Call)
        var = stmt.var if isinstance(stmt, ir.AssignStmt) else None
        into_mat = var is not None and self._demand.feeds_products(var)
        name = "" if var is None else f"{base_name(var.name_hint)}__tile"
        lowering = Lowering(self._owner, before, call, self._loaded, into_mat, self._flat_gather, name)
        if plan.spec.rule is None:
            value: ir.Expr = lowering.one_op(plan)
        else:
            value = RULES[plan.spec.rule](lowering)
        if var is None:
            return [*lowering.made, build(stmt, expr=value)]
        tile = ir.Var(name, value.type, var.span)
        self.bind(var, tile)
        self.sharing.note(before, tile, value)
        return [*lowering.made, ir.AssignStmt(tile, value, stmt.span)]

    def _renamed(self, stmt: ir.AssignStmt) -> Task:
        value = self._as_demanded(stmt.var, (yield stmt.value))
        var = build(stmt.var, type=value.type)
        self.bind(stmt.var, var)
        return [build(stmt, var=var, value=value)]

    def _yielding(self, stmt: ir.YieldStmt) -> Task:
        targets = self._targets.get(id(stmt), ())
        values: list[ir.Expr] = []
        for place, before in enumerate(stmt.value):
            value = yield before
            if place < len(targets):
                value = self._as_demanded(targets[place], value)
                self._check_kind(targets[place], value, stmt)
            values.append(value)
        return [build(stmt, value=values)]

    def statement(self, stmt: ir.Stmt) -> ir.Stmt:
        calls = (
            node for root in own_expressions(stmt) for node in evaluated(root) if isinstance(node, ir.Call)
        )
        for call in calls:
            if _takes_only_tensors(call.op) and any(map(_is_tile, call.args)):
                raise PassError(f"{call.op.name} has no form for tiles", self._owner, call)
        return stmt

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if isinstance(typed, ir.IterArg):
            value = self._as_demanded(old, typed.initValue)
            self._check_kind(old, value, None)
            return build(typed, type=value.type if _is_tile(value) else typed.type, initValue=value)
        source = self._typed_like.get(id(old))
        if source is None:
            return typed
        known = self.bound(source) if isinstance(source, ir.Var) else None
        found = self._as_demanded(old, source if known is None else known)
        return build(typed, type=found.type) if _is_tile(found) else typed

    def _note_results(self, stmt: ir.Stmt) -> None:
        """Where the types of results come from, and what yields are for."""
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self._typed_like |= {
                id(var): arg for var, arg in zip(stmt.return_vars, stmt.iter_args, strict=True)
            }
            self._note_yield(stmt.body, stmt.iter_args)
        elif isinstance(stmt, ir.IfStmt):
            values = yielded(stmt.then_body)
            self._typed_like |= {id(var): value for var, value in zip(stmt.return_vars, values, strict=False)}
            for side in (stmt.then_body, stmt.else_body):
                self._note_yield(side, stmt.return_vars)

    def _note_yield(self, body: ir.Stmt | None, targets: tuple[ir.Var, ...]) -> None:
        last = trailing_yield(body) if body is not None else None
        if last is not None:
            self._targets[id(last)] = targets

    def _check_kind(self, target: ir.Var, value: ir.Expr, stmt: ir.Stmt | None) -> None:
        """A variable is a tile in all rounds and on all sides, or a tensor."""
        is_tile = _is_tile(value)
        if self._is_tile.setdefault(id(target), is_tile) != is_tile:
            what = f"{target.name_hint!r} is a tile here and a tensor in memory there"
            raise PassError(what, self._owner, stmt or target, target)

    def _as_demanded(self, var: ir.Expr, value: ir.Expr) -> ir.Expr:
        return self._loaded.get(id(value), value) if self._demand.needs_tile(var) else value


def _takes_only_tensors(op: ir.Op) -> bool:
    return op.name.startswith(("tensor.", "pld.tensor."))


def _is_tile(value: ir.Expr) -> bool:
    return isinstance(value.type, ir.TileType)
