"""Functions: their parameters, and the bodies that groups and lanes give them."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.groups import find_pair
from pypto_tmpl.codegen.packed import carrier_name
from pypto_tmpl.codegen.scopes import ScopeEmitter
from pypto_tmpl.codegen.trace_emitter import Lines


class FunctionEmitter(ScopeEmitter):
    """Turns one IR function into script text; owns the names of that function and nothing else."""

    def emit(self) -> list[str]:
        """The function's text; two functions where a body runs on two lanes."""
        function, script = self.function, self.script
        self.find_obstacles()
        params = [self.bind(var) for var in function.params]
        for var in function.params:
            if self.regions.holds(var):
                self.received_region(var)  # a name for it before the body gives it another
        name = script.function_names[function.name]
        is_group = function.func_type is ir.FunctionType.Group
        if is_group and script.is_scheduled(function.name):
            return [self._function(name, params, self._group_body(params))]
        if is_group and function.name in script.groups:
            self.pair = find_pair(script.kernels, function.name, function.body)
        body = self._body()
        lane = script.lane_names.get(function.name)
        if lane is None:
            return [self._function(name, params, body)]
        both = [self.statements.return_values([self.macros.split_lanes(lane, params)])]
        return [self._function(name, params, both), self._function(lane, params, body)]

    def _function(self, name: str, params: list[str], body: Lines) -> str:
        summary = self.statements.function_summary(self.function.func_type.name)
        return str(self.statements.function(name, params, summary, body))

    def _body(self) -> Lines:
        checks, records = self._parameter_checks(), self.traced_function()
        body = self.emit_stmt(self.function.body)
        return [*checks, *self.header_lines(), *records, *body]

    def _parameter_checks(self) -> Lines:
        """Checks of dtypes; in an entry of shapes too, but kernels may get a tile at the edge of a tensor."""
        is_entry = self.script.kernels.is_entry(self.function)
        if not self.script.check_shapes:
            return self._shape_comparison() if is_entry else []
        checks = [
            self.parameter_check(var, is_entry)
            for var in self.function.params
            if isinstance(var.type, ir.TensorType | ir.TileType)
            and var.type.dtype.name in self.script.carriers
        ]
        shared = self._shared_extents() if is_entry else {}
        return [*checks, *(self.statements.check_extents(*found) for found in shared.items())]

    def parameter_check(self, var: ir.Var, has_shape: bool) -> str:
        """The check of a tensor that is passed: its dtype, and with ``has_shape`` its fixed extents."""
        if has_shape:
            (line,) = self.check_of(var, may_be_clipped=False)
            return line
        assert isinstance(var.type, ir.ShapedType)
        return str(self.statements.check_dtype(self.name_of(var), carrier_name(var.type)))

    def _shape_comparison(self) -> Lines:
        """What warns of shapes that are not those of the parameters; nothing where any shapes will do."""
        shared = self._shared_extents()
        tensors = []
        for var in self.function.params:
            type_, name = var.type, self.name_of(var)
            if isinstance(type_, ir.TensorType) and type_.dtype.name in self.script.carriers:
                declared = [_declared_extent(dim) for dim in type_.shape]
                if any(isinstance(extent, int) or extent in shared for extent in declared):
                    tensors.append((name, self.shape_text(name, type_), declared))
        numbers = [
            (var.name_hint, self.name_of(var))
            for var in self.function.params
            if isinstance(var.type, ir.ScalarType) and var.name_hint in shared
        ]
        return [self.statements.compare_shapes(tensors, numbers)] if tensors else []

    def _shared_extents(self) -> dict[str, list[tuple[str, int | None, str]]]:
        """Dynamic dimensions that parameters share, by name: parameter, axis and text of every extent.

        By name, since in dumps one dimension may be several nodes.
        """
        found: dict[str, list[tuple[str, int | None, str]]] = {}
        for var in self.function.params:
            name = self.name_of(var)
            if isinstance(var.type, ir.ScalarType):
                found.setdefault(var.name_hint, []).append((name, None, name))
            for axis, dim in enumerate(var.type.shape) if isinstance(var.type, ir.TensorType) else ():
                if isinstance(dim, ir.Var):
                    place = (name, axis, self.extent_text(name, var.type, axis))
                    found.setdefault(dim.name_hint, []).append(place)
        return {name: places for name, places in found.items() if len(places) > 1}

    def _group_body(self, params: list[str]) -> Lines:
        call = self.macros.group_call(self.function.name, params)
        if self.function.return_types:
            return [self.statements.return_values([call])]
        return [self.statements.evaluate(call)]


def _declared_extent(dim: ir.Expr) -> int | str | None:
    """A number, the name of a dimension, None for what is computed."""
    if isinstance(dim, ir.ConstInt):
        return dim.value
    return dim.name_hint if isinstance(dim, ir.Var) else None
