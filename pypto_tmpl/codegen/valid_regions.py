"""Texts of the valid regions of values."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables


class ValidRegions:
    """Texts of the regions of one function's values."""

    def __init__(
        self, context: Context, variables: Variables, values: Values, expressions: Expressions
    ) -> None:
        self._context, self._macros = context, context.macros
        self._variables, self._values, self._expressions = variables, values, expressions

    def region(self, node: ir.Expr) -> tuple[str, list[str]] | None:
        """Valid region of a value: its text and the texts of its extents; None for the whole box."""
        extents = self._values.known_extents(node)
        if extents is not None:
            if id(node) in self._variables.unbound_regions and isinstance(node, ir.Var):
                return self._runtime_region(self._variables.received_region(node), len(extents))
            items = [self._expressions.expr(extent) for extent in extents]
            return self._macros.list_of(items), items
        if not self._values.runtime_regions.is_runtime(node) or not isinstance(node.type, ir.ShapedType):
            return None
        rank = len(node.type.shape)
        if isinstance(node, ir.Var):
            return self._runtime_region(self._variables.companion(node), rank)
        source = self._values.runtime_regions.carrier(node) if isinstance(node, ir.Call) else None
        if source is not None:
            return self.region(source)
        self._context.report("a partly valid popped tile that is used without a name", node.span)
        return None

    def region_text(self, node: ir.Expr) -> str:
        """Text of the region of a value, also where that is the whole box."""
        found = self.region(node)
        if found is not None:
            return found[0]
        if isinstance(node, ir.Var):
            return str(self._macros.region(self._variables.name_of(node)))
        shape = node.type.shape if isinstance(node.type, ir.ShapedType) else ()
        return str(self._macros.list_of([self._expressions.expr(extent) for extent in shape]))

    def _runtime_region(self, name: str, rank: int) -> tuple[str, list[str]]:
        return name, [self._macros.item(name, axis) for axis in range(rank)]
