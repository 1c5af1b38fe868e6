"""Tiles have two axes: those of more become rows of what was the last axis."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir import IRProperty
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.structure.convert_to_ssa import type_of_value
from pypto_tmpl.passes.tiles.bands import is_deep
from pypto_tmpl.passes.tiles.batches import Batches, is_batched
from pypto_tmpl.passes.tiles.carried_types import CarriedTypes
from pypto_tmpl.passes.tiles.flattening import FLATTENINGS, Flattening, derived
from pypto_tmpl.rewrite import build
from pypto_tmpl.rewrite.rewriter import Task


class FlattenTileNdTo2D(FunctionPass):
    """Make tiles of more than two axes matrices, in kernels.

    Loads and stores keep the axes of the tensor; batched products become one product a page. A view that
    gives a matrix more axes stays, as what a store or a window is given.
    """

    __slots__ = ()
    requires = frozenset({IRProperty.SSAForm, IRProperty.IncoreTileOps, IRProperty.NormalizedStmtStructure})
    produces = frozenset({IRProperty.SSAForm, IRProperty.TileOps2D, IRProperty.NormalizedStmtStructure})

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        if not ir.is_incore_type(function.func_type) or not any(map(_concerns, statements(function.body))):
            return function
        return _Flatten(function, context.backend).rewrite(function)


def _concerns(stmt: ir.Stmt) -> bool:
    """Whether a statement has something to flatten: tiles of many axes, or what is done to matrices too."""
    call = _call_of(stmt)
    if call is None:
        return False
    if call.op.name in FLATTENINGS and FLATTENINGS[call.op.name].of_matrices:
        return True
    return is_deep(call) or any(map(is_deep, call.args))


def _call_of(stmt: ir.Stmt) -> ir.Call | None:
    value = stmt.value if isinstance(stmt, ir.AssignStmt) else getattr(stmt, "expr", None)
    return value if isinstance(value, ir.Call) and not isinstance(value.op, ir.GlobalVar) else None


class _Flatten(CarriedTypes):
    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        super().__init__(function)
        self._owner = function
        self._batches = Batches(function, backend)

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        call = _call_of(stmt)
        if call is None:
            return super().rewriting(stmt)
        if self._batches.is_dropped(stmt):
            return self._dropped()
        return self._flattened(stmt, call) if _concerns(stmt) else super().rewriting(stmt)

    def _dropped(self) -> Task:
        """What only operands of products were is loaded there, page by page."""
        yield from ()
        return []

    def _flattened(self, stmt: ir.Stmt, before: ir.Call) -> Task:
        product = self._batches.product_stored_by(stmt)
        if product is not None:
            made = yield self._stored_product(stmt, before, product)
            return made
        call = yield before
        var = stmt.var if isinstance(stmt, ir.AssignStmt) else None
        hint = var.name_hint if var is not None else "flat"
        flattening = Flattening(self._owner, stmt, call, before, hint, stmt.span)
        value: ir.Expr
        if is_batched(before):
            operands = yield self._pages(before)
            value = self._batches.whole_product(flattening, operands)
        elif (rule := FLATTENINGS.get(before.op.name)) is not None:
            value = rule.flatten(flattening)
        else:
            value = derived(flattening)
        return [*flattening.made, *(yield self._bound(stmt, value))]

    def _bound(self, stmt: ir.Stmt, value: ir.Expr) -> Task:
        if not isinstance(stmt, ir.AssignStmt):
            return [build(stmt, expr=value)]
        if value is stmt.value:
            return [stmt]
        new = build(stmt.var, type=type_of_value((yield stmt.var.type), value))
        self.bind(stmt.var, new)
        return [build(stmt, var=new, value=value)]

    def _stored_product(self, stmt: ir.Stmt, before: ir.Call, product: ir.Call) -> Task:
        """A product that goes straight to memory: each page is stored when it is computed."""
        tensor, offsets = before.args[2], before.args[1]
        target, places = (yield tensor), (yield offsets)
        operands = yield self._pages(product)
        hint = stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else "flat"
        flattening = Flattening(self._owner, before.args[0], product, product, hint, before.args[0].span)
        last = self._batches.stored_pages(
            flattening, operands, build(before, args=[before.args[0], places, target]), stmt.span
        )
        if isinstance(stmt, ir.AssignStmt):
            self.bind(stmt.var, last)
        return flattening.made

    def _pages(self, product: ir.Call) -> Task:
        """The operands, rewritten; those that are loaded page by page as what they are loaded from."""
        found = []
        for operand in product.args:
            source = self._batches.source_of(operand)
            found.append(
                (yield operand)
                if source is None
                else source.rewritten((yield source.load.args[0]), (yield source.load.args[1]))
            )
        return found
