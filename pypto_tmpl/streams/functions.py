"""One kernel as the text of one function."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ops import OpTable
from pypto_tmpl.ops.pto_model import HIDDEN_PARAMETERS, HiddenParameter
from pypto_tmpl.streams.calls import Calls
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle, PtoError
from pypto_tmpl.streams.requirements import unmet
from pypto_tmpl.streams.scalars import Scalars
from pypto_tmpl.streams.spelling import mlir_dtype
from pypto_tmpl.streams.statements import Statements
from pypto_tmpl.streams.templates import PtoTemplates
from pypto_tmpl.streams.tensors import Tensors
from pypto_tmpl.streams.tiles import Tiles, statements_of
from pypto_tmpl.streams.values import Value

_KINDS = {ir.FunctionType.AIC: "cube", ir.FunctionType.AIV: "vector"}


def function_text(
    function: ir.Function, backend: BackendType, templates: PtoTemplates, with_places: bool
) -> str:
    """The lines of a kernel, at their indentation. Raises PtoError."""
    missing = unmet(function, backend, templates.table)
    if missing:
        raise PtoError(tuple(missing))
    emitter = _FunctionEmitter(function, backend, templates, with_places)
    try:
        return emitter.text()
    except Obstacle as obstacle:
        span = obstacle.span or function.span
        raise PtoError((Unsupported(obstacle.what, function.name, obstacle.variable, span),)) from None


class _FunctionEmitter:
    """Emits one kernel, in the order that numbers its values."""

    def __init__(
        self, function: ir.Function, backend: BackendType, templates: PtoTemplates, with_places: bool
    ) -> None:
        self._function = function
        self._kernel = Kernel(function, backend, templates, with_places)
        self._scalars = Scalars(self._kernel)
        self._tensors = Tensors(self._kernel, self._scalars)
        self._tiles = Tiles(self._kernel, self._scalars)
        calls = Calls(self._kernel, self._scalars, self._tensors, self._tiles)
        self._statements = Statements(self._kernel, self._scalars, self._tensors, self._tiles, calls)

    def text(self) -> str:
        """The whole function."""
        kernel, function = self._kernel, self._function
        with kernel.writer.at(function.span):
            parameters = self._parameters()
            self._tiles.name_all(function.body)
            for param, value in zip(self._ordered_params(), parameters, strict=False):
                if isinstance(param.type, ir.TensorType):
                    self._tensors.add_parameter(param, value)
            self._statements.emit(function.body)
            prologue = self._tensors.prologue() + self._tiles.prologue()
        kind = _KINDS.get(function.func_type, "")
        head = kernel.templates.control.function_open(function.name, parameters, kind)
        close = kernel.templates.control.function_close().split("\n")
        lines = [head, *kernel.constants.lines]
        return "\n".join([*("  " + line for line in lines), *prologue, *kernel.writer.body,
                          *("  " + line for line in close)])  # fmt: skip

    def _ordered_params(self) -> list[ir.Var]:
        """The parameters in the order of the text: tensors, then all others."""
        params = self._function.params
        tensors = [p for p in params if isinstance(p.type, ir.TensorType)]
        return tensors + [p for p in params if not isinstance(p.type, ir.TensorType)]

    def _parameters(self) -> list[Value]:
        """The values of all parameters, with those of symbolic extents and the hidden ones at the end."""
        kernel, templates = self._kernel, self._kernel.templates
        values = templates.values
        found: list[Value] = []
        for param in self._ordered_params():
            name = kernel.names.reserve(f"%arg{len(found)}")
            kind = param.type
            if isinstance(kind, ir.TensorType):
                found.append(Value(name, values.pointer_type(mlir_dtype(kind.dtype))))
            elif isinstance(kind, ir.ScalarType):
                found.append(Value(name, mlir_dtype(kind.dtype), kind.dtype))
                kernel.bind(param, found[-1])
            elif isinstance(kind, ir.CommCtxType):
                found.append(Value(name, values.pointer_type("i64")))
                kernel.bind(param, found[-1])
            else:
                raise Obstacle(f"a parameter of {type(kind).__name__} has no .pto type", param.span)
        for symbol in symbolic_extents(self._function):
            found.append(Value(kernel.names.reserve(f"%arg{len(found)}"), "index", DataType.INDEX))
            kernel.bind(symbol, found[-1])
        for name in hidden_parameters(self._function, templates.table):
            found.append(self._hidden(name, len(found)))
        return found

    def _hidden(self, name: str, position: int) -> Value:
        """A parameter that the run time passes; the workspace of prefetches has a number as users' have."""
        kernel = self._kernel
        if name == "sdma_workspace":
            kernel.sdma_workspace = Value(
                kernel.names.reserve(f"%arg{position}"), kernel.templates.values.pointer_type("i8")
            )
            return kernel.sdma_workspace
        return Value(kernel.names.reserve(f"%__pypto_spmd_{name}"), "i32", DataType.INT32)


def symbolic_extents(function: ir.Function) -> list[ir.Var]:
    """The symbolic extents of tensors that no parameter is, in the order in which they are met."""
    found: dict[ir.Var, None] = {}
    params = set(function.params)
    for param in function.params:
        if isinstance(param.type, ir.TensorType):
            for extent in param.type.shape:
                found.update(dict.fromkeys(v for v in _variables(extent) if v not in params))
    return list(found)


def hidden_parameters(function: ir.Function, table: OpTable) -> list[HiddenParameter]:
    """What the run time passes to a kernel besides its parameters, in order."""
    specs = [entry.pto_spec for name in _op_names(function) if (entry := table.get(name)) is not None]
    asked = {name for spec in specs if spec is not None for name in spec.hidden}
    return [name for name in HIDDEN_PARAMETERS if name in asked]


def _variables(expr: ir.Expr) -> list[ir.Var]:
    if isinstance(expr, ir.Var):
        return [expr]
    if isinstance(expr, ir.BinaryExpr):
        return _variables(expr.left) + _variables(expr.right)
    return _variables(expr.operand) if isinstance(expr, ir.UnaryExpr) else []


def _op_names(function: ir.Function) -> set[str]:
    names: set[str] = set()
    for stmt in statements_of(function.body):
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        call = stmt.expr if isinstance(stmt, ir.EvalStmt) else call
        if isinstance(call, ir.Call):
            names.add(call.op.name)
    return names
