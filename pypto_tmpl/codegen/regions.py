"""Valid regions of values: what their IR types say, and which variables hold a region at run time.

A ``tpop`` result typed full has the region of the part that was pushed. Only the run knows it, so such a
variable gets a companion name, and so does every variable that an op with the rule ``valid: <operand>``
derives from it.
"""

from __future__ import annotations

from collections.abc import Callable

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts
from pypto_tmpl.ops import OpTable, carries_region_of

_ODD_CODES = (3, 4)


def static_region(type_: ir.Type) -> tuple[ir.Expr, ...] | None:
    """Valid extents that the type states, None when the whole box is valid (or there is no box)."""
    view: ir.TileView | ir.TensorView | None = None
    if isinstance(type_, ir.TileType):
        view = type_.tile_view
    elif isinstance(type_, ir.TensorType):
        view = type_.tensor_view
    return view.valid_shape if view is not None and view.valid_shape else None


def unbound_region_params(function: ir.Function) -> frozenset[int]:
    """Identities of the parameters whose regions are stated by variables that the function does not have."""
    partial = [var for var in function.params if static_region(var.type) is not None]
    if not partial:
        return frozenset()
    known = {id(param) for param in function.params}
    for param in function.params:
        if isinstance(param.type, ir.ShapedType):
            known |= {id(dim) for dim in param.type.shape}
    unbound = set()
    for param in partial:
        used = (node for extent in static_region(param.type) or () for node in ir.walk(extent))
        if any(isinstance(node, ir.Var) and id(node) not in known for node in used):
            unbound.add(id(param))
    return frozenset(unbound)


def is_partial_push(push: ir.Call) -> bool:
    """True when the pushed tile, or a lane's part of it, is not known to be fully valid."""
    uneven = push.kwargs.get("split", 0) in _ODD_CODES or push.kwargs.get("lane_stride") is not None
    return uneven or static_region(push.args[0].type) is not None


class RuntimeRegions:
    """The variables of one function whose region only the run knows."""

    def __init__(
        self,
        facts: BodyFacts,
        table: OpTable,
        may_pop_partial: Callable[[ir.Call], bool],
    ) -> None:
        self._table = table
        self._may_pop_partial = may_pop_partial
        self._held: set[int] = set()
        pops = {name for name in facts.op_names if table.facts(name).pipe_end == "pop"}
        if pops and any(call.op.name in pops and self.is_runtime(call) for call in facts.calls):
            self._spread(facts.flows)

    def holds(self, var: ir.Var) -> bool:
        """Whether ``var`` has a companion name with its region."""
        return id(var) in self._held

    def is_new(self, value: ir.Expr) -> bool:
        """Whether ``value`` is made by a call whose result brings its region along, or is fully valid."""
        if not isinstance(value, ir.Call) or static_region(value.type) is not None:
            return False
        return self._is_pop(value) or not self.is_runtime(value)

    def is_runtime(self, value: ir.Expr) -> bool:
        """Whether the region of ``value`` is known at run time only."""
        if static_region(value.type) is not None:
            return False
        if isinstance(value, ir.Var):
            return id(value) in self._held
        if not isinstance(value, ir.Call):
            return False
        if self._is_pop(value):
            return self._may_pop_partial(value)
        source = self.carrier(value)
        return source is not None and self.is_runtime(source)

    def _is_pop(self, call: ir.Call) -> bool:
        return self._table.facts(call.op.name).pipe_end == "pop"

    def carrier(self, call: ir.Call) -> ir.Expr | None:
        """The operand whose region the result of ``call`` has by its op's rule."""
        entry = self._table.get(call.op.name)
        name = carries_region_of(entry) if entry is not None else None
        if entry is None or name is None:
            return None
        position = entry.operand_names.index(name)
        return call.args[position] if position < len(call.args) else None

    def _spread(self, flows: list[tuple[ir.Var, ir.Expr]]) -> None:
        before = -1
        while len(self._held) != before:
            before = len(self._held)
            for target, value in flows:
                if id(target) not in self._held and self.is_runtime(value):
                    self._held.add(id(target))
