"""Checks at the top of a function of what it is called with."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.assignments import Assignments
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.facts import BOXES
from pypto_tmpl.codegen.packed import carrier_name
from pypto_tmpl.codegen.variables import Variables


@lru_cache(maxsize=4096)
def _check_text(forms: Any, name: str, carrier: str) -> str:
    return str(forms.check_dtype(name, carrier))


class ParameterChecks:
    """Checks of the parameters of one function."""

    def __init__(self, context: Context, variables: Variables, assignments: Assignments) -> None:
        self._context, self._forms = context, context.forms
        self._variables, self._assignments = variables, assignments

    def lines(self) -> Lines:
        """Checks of dtypes; in an entry of shapes too, but kernels may get a tile at the edge of a tensor."""
        is_entry = self._context.script.kernels.is_entry(self._context.function)
        if not self._context.script.check_shapes:
            return self._shape_comparison() if is_entry else []
        checks = [
            self._check(var, is_entry)
            for var in self._context.function.params
            if isinstance(var.type, BOXES) and var.type.dtype.name in self._context.script.carriers
        ]
        shared = self._shared_extents() if is_entry else {}
        return [*checks, *(self._forms.check_extents(*found) for found in shared.items())]

    def _check(self, var: ir.Var, has_shape: bool) -> str:
        """The check of a tensor that is passed: its dtype, and with ``has_shape`` its fixed extents."""
        if has_shape:
            (line,) = self._assignments.check_of(var, may_be_clipped=False)
            return line
        assert isinstance(var.type, ir.ShapedType)
        return _check_text(self._forms, self._variables.name_of(var), carrier_name(var.type))

    def _shape_comparison(self) -> Lines:
        """What warns of shapes that are not those of the parameters; nothing where any shapes will do."""
        shared = self._shared_extents()
        tensors = []
        for var in self._context.function.params:
            type_, name = var.type, self._variables.name_of(var)
            if isinstance(type_, ir.TensorType) and type_.dtype.name in self._context.script.carriers:
                declared = [_declared_extent(dim) for dim in type_.shape]
                if any(isinstance(extent, int) or extent in shared for extent in declared):
                    tensors.append((name, self._variables.shape_text(name, type_), declared))
        numbers = [
            (var.name_hint, self._variables.name_of(var))
            for var in self._context.function.params
            if isinstance(var.type, ir.ScalarType) and var.name_hint in shared
        ]
        self._context.script.has_free_extents |= bool(numbers) or any(
            not isinstance(extent, int) for _, _, declared in tensors for extent in declared
        )
        return [self._forms.compare_shapes(tensors, numbers)] if tensors else []

    def _shared_extents(self) -> dict[str, list[tuple[str, int | None, str]]]:
        """Dynamic dimensions that parameters share, by name: parameter, axis and text of every extent.

        By name, since in dumps one dimension may be several nodes.
        """
        found: dict[str, list[tuple[str, int | None, str]]] = {}
        for var in self._context.function.params:
            name = self._variables.name_of(var)
            if isinstance(var.type, ir.ScalarType):
                found.setdefault(var.name_hint, []).append((name, None, name))
            for axis, dim in enumerate(var.type.shape) if isinstance(var.type, ir.TensorType) else ():
                if isinstance(dim, ir.Var):
                    place = (name, axis, self._variables.extent_text(name, var.type, axis))
                    found.setdefault(dim.name_hint, []).append(place)
        return {name: places for name, places in found.items() if len(places) > 1}


def _declared_extent(dim: ir.Expr) -> int | str | None:
    """A number, the name of a dimension, None for what is computed."""
    if isinstance(dim, ir.ConstInt):
        return dim.value
    return dim.name_hint if isinstance(dim, ir.Var) else None
