"""Calls of ops: the destination, the operands as macros see them, and the macro that the op table names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.environment import TemplateError
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.pto_model import PtoSpec
from pypto_tmpl.streams.call_names import Named, given_operands, keywords_of
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.scalars import Scalars
from pypto_tmpl.streams.services import Services
from pypto_tmpl.streams.spelling import constant_of, mlir_dtype
from pypto_tmpl.streams.tensors import Tensors
from pypto_tmpl.streams.tiles import Tiles, is_same_buffer, shares_base
from pypto_tmpl.streams.values import LocalArray, Value


class _Lazy(Named):
    """Operands as values, each worked out when it is first read: the order of reading numbers them."""

    def __init__(self, values: Mapping[str, Any], calls: Calls) -> None:
        super().__init__("c.a", values)
        self._calls = calls
        self._found: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._found:
            expr = super().__getitem__(name)
            self._found[name] = None if expr is None else self._calls.operand(expr)
        return self._found[name]


class Call:
    """A call as macros see it."""

    def __init__(
        self, entry: OpEntry, spec: PtoSpec, call: ir.Call, var: ir.Var | None, calls: Calls
    ) -> None:
        given = given_operands(entry, call)
        values = {name: given.get(name) for name in entry.operand_names}
        self._given = given
        self.spec = spec
        self.var = var
        self.call = call
        self.op = spec.op
        self.k = calls.services
        self.raw = Named("c.raw", values)
        self.a = _Lazy(values, calls)
        self.emit = Named("c.emit", spec.constants)
        self.attr = Named("c.attr", keywords_of(entry, call))
        self.out: Value | None = None
        self.outs: list[Value] = []  # of an operation with several results

    def has(self, name: str) -> bool:
        """Whether an operand is given."""
        return name in self._given

    @property
    def ins(self) -> list[Any]:
        """The operands of the common form, in the order of the entry."""
        names = self.spec.ins if self.spec.ins is not None else tuple(self._given)
        return [self.a[name] for name in names if name in self._given]


_HANDLES: Mapping[type[ir.Type], str] = {
    ir.PrefetchAsyncContextType: "!pto.prefetch_async_context",
    ir.AsyncEventType: "!pto.async_event",
    ir.AsyncSessionType: "!pto.async_session",
}
_SHARED: Mapping[str, Callable[[ir.TileType, ir.TileType], bool]] = {
    "always": lambda result, operand: True,
    "base": shares_base,
    "buffer": is_same_buffer,
}


class Calls:
    """Emits the calls of ops of one kernel."""

    def __init__(self, kernel: Kernel, scalars: Scalars, tensors: Tensors, tiles: Tiles) -> None:
        self._kernel = kernel
        self._scalars = scalars
        self._tensors = tensors
        self._tiles = tiles
        self.services = Services(kernel, scalars, tensors, tiles)

    def operand(self, expr: ir.Expr) -> Any:
        """An operand as a macro gets it: a value, a tensor, or the parts of a tuple."""
        if isinstance(expr, ir.MakeTuple):
            return [self.operand(part) for part in expr.elements]
        if isinstance(expr.type, ir.TensorType):
            return self._tensors.use(expr)
        if isinstance(expr.type, ir.ScalarType):
            return self._scalars.value(expr)
        meaning = self._kernel.meaning(expr)
        return meaning.value if isinstance(meaning, LocalArray) else meaning

    def evaluate(self, call: ir.Call) -> None:
        """A call whose result nobody takes."""
        self._emit(self._prepared(call, None))

    def assign(self, var: ir.Var, call: ir.Call) -> None:
        """A call that a variable takes the result of; the variable is bound."""
        prepared = self._prepared(call, var)
        if prepared.spec.silent:
            return
        kind = var.type
        if isinstance(kind, ir.TileType):
            prepared.out = self._tile_result(var, prepared, kind)
            self._kernel.bind(var, prepared.out)
        elif isinstance(kind, ir.TupleType):
            for part, value in self._tiles.allocate_parts(var):
                self._kernel.bind(part, value)
                prepared.outs.append(value)
        else:
            prepared.out = self._result(var, prepared)
        self._emit(prepared)

    def _tile_result(self, var: ir.Var, call: Call, kind: ir.TileType) -> Value:
        """The destination of a tile: an operand's buffer, its own, or a value that the operation makes."""
        shared = self._shared_operand(call, kind)
        if shared is not None:
            return shared
        if kind.memref is not None:
            return self._tiles.allocate(var)
        return self._tiles.value_of(var, "" if call.spec.names_result else self._tiles.name_of(var))

    def _shared_operand(self, call: Call, kind: ir.TileType) -> Value | None:
        """The operand whose buffer the result is, if it is one."""
        if call.spec.into is None:
            return None
        source: ir.Expr = call.raw[call.spec.into]
        if not isinstance(source.type, ir.TileType) or not _SHARED[call.spec.shares](kind, source.type):
            return None
        found = self._kernel.meaning(source)
        assert isinstance(found, Value)
        return found

    def _result(self, var: ir.Var, call: Call) -> Value | None:
        """The value of a result that is no tile; its name is taken even where the text has none."""
        kernel, kind = self._kernel, var.type
        name = kernel.names.named(var.name_hint)
        if isinstance(kind, ir.TensorType | ir.ArrayType) and call.spec.into is not None:
            meaning = kernel.meaning(call.raw[call.spec.into])
            kernel.bind(var, meaning)
            return meaning.value if isinstance(meaning, LocalArray) else None
        if isinstance(kind, ir.ArrayType):
            extent = constant_of(kind.extent)
            text = kernel.templates.values.array_type(extent, mlir_dtype(kind.dtype))
            array = LocalArray(Value(name, text), kind.dtype)
            kernel.bind(var, array)
            return array.value
        value = Value(name, _HANDLES.get(type(kind), ""))
        if value.type:
            kernel.bind(var, value)
        if isinstance(kind, ir.ScalarType):
            value = Value(name, mlir_dtype(kind.dtype), kind.dtype)
            kernel.bind(var, value)
        return value

    def _prepared(self, call: ir.Call, var: ir.Var | None) -> Call:
        table = self._kernel.templates.table
        entry: OpEntry | None = None if isinstance(call.op, ir.GlobalVar) else table.get(call.op.name)
        spec = None if entry is None else entry.pto_spec
        if entry is None or spec is None:
            raise Obstacle(f"No codegen registered for operation: {call.op.name}", call.span)
        return Call(entry, spec, call, var, self)

    def _emit(self, call: Call) -> None:
        kernel = self._kernel
        with kernel.writer.within(call.call.span):
            try:
                text: str = getattr(kernel.templates.ops, call.spec.macro)(call)
            except TemplateError as error:
                if isinstance(error.__cause__, Obstacle):
                    raise error.__cause__ from None
                raise
            if text:
                kernel.line(text)
