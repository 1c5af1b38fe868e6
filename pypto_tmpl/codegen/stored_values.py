"""What is known of the values of a function whose tiles are views of bytes: several may show the same."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.storage.places import FunctionPlaces


class StoredValues(Values):
    """Answers as ``Values`` has them, where any op may write the bytes of any tile that has a place."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.places = FunctionPlaces(context.function, context.table)

    @lazy
    def quiet(self) -> None:
        """Nothing: every tile has a name, which says where it lies."""
        return None

    def misfits(self) -> Iterable[tuple[ir.Var, str]]:
        return self.places.misfits()

    def is_written(self, call: ir.Call) -> bool:
        if self._is_copied():
            return False
        return any(map(self._has_place, call.args)) or super().is_written(call)

    def may_be_view(self, call: ir.Call) -> bool:
        if not self._is_copied():
            return not self._has_place(call.args[0]) and super().may_be_view(call)
        known = self._table.facts(call.op.name)
        return known.copies_window and (not known.has("checks_poison") or self.is_clean(call))

    def _is_copied(self) -> bool:
        """Whether the value being emitted is written into a place at once."""
        target = self._context.current_variable
        return self._context.script.trace is None and target is not None and self._has_place(target)

    def _has_place(self, value: ir.Expr) -> bool:
        return self.places.of(value) is not None

    def may_share(self, left: ir.Expr, right: ir.Expr) -> bool:
        one, two = self.places.of(left), self.places.of(right)
        if one is None or two is None:
            return super().may_share(left, right)
        if one.space is not two.space:
            return False
        if not self._context.script.has_addresses and one.base is not two.base:
            return False
        return one.may_overlap(two)
