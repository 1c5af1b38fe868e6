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
        if not self.script.check_shapes:
            return []
        return [
            self.statements.check_dtype(self.name_of(var), carrier_name(var.type))
            for var in self.function.params
            if isinstance(var.type, ir.TensorType | ir.TileType)
            and var.type.dtype.name in self.script.carriers
        ]

    def _group_body(self, params: list[str]) -> Lines:
        call = self.macros.group_call(self.function.name, params)
        if self.function.return_types:
            return [self.statements.return_values([call])]
        return [self.statements.evaluate(call)]
