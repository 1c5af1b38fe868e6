"""Small kernels, built node by node."""

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams import pto_texts

SPAN = ir.Span("k.py", 7, 5, 7, 30)


def scalar(name: str, dtype: DataType) -> ir.Var:
    return ir.Var(name, ir.ScalarType(dtype), SPAN)


def tile(name: str, offset: int = 0, view: ir.TileView | None = None) -> ir.Var:
    memref = ir.MemRef(f"mem_{name}", offset, 512)
    return ir.Var(name, ir.TileType([8, 16], DataType.FP32, memref, view, ir.MemorySpace.Vec), SPAN)


def tensor(name: str, shape: Sequence[int] = (8, 16)) -> ir.Var:
    return ir.Var(name, ir.TensorType(shape, DataType.FP32), SPAN)


def index(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, DataType.INDEX, SPAN)


def assign(var: ir.Var, value: ir.Expr) -> ir.AssignStmt:
    return ir.AssignStmt(var, value, SPAN)


def call(op: str, *args: ir.Expr, kind: ir.Type | None = None, **kwargs: object) -> ir.Call:
    return ir.Call(ir.Op(op), args, kwargs, kind or ir.UnknownType(), SPAN)


def program(params: Sequence[ir.Var], *stmts: ir.Stmt, name: str = "kernel") -> ir.Program:
    body = ir.SeqStmts(stmts, SPAN)
    function = ir.Function(name, list(params), [], body, SPAN, ir.FunctionType.AIV)
    return ir.Program([function], "program", SPAN)


def text_of(made: ir.Program, backend: BackendType = BackendType.Ascend910B) -> list[str]:
    """The lines between head and ``return`` of the only kernel, without indentation and places."""
    (text,) = pto_texts(made, backend, with_places=False).values()
    return [line.strip() for line in text.splitlines()[2:-3]]
