"""Operands that the tests of the namespaces call ops with."""

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ops.calls import CallContext, build_call

S = ir.Span.unknown()
D, Mem = ir.DataType, ir.MemorySpace
HERE = CallContext(S)


def tensor(*shape: Any, dtype: D = D.FP32, valid: Any = (), name: str = "x") -> ir.Var:
    view = ir.TensorView([], ir.TensorLayout.ND, valid)
    return ir.Var(name, ir.TensorType(shape, dtype, None, view), S)


def tile(
    *shape: Any, dtype: D = D.FP32, valid: Any = (), space: Mem | None = Mem.Vec, name: str = "t"
) -> ir.Var:
    view = ir.TileView(valid) if valid else None
    return ir.Var(name, ir.TileType(shape, dtype, None, view, space), S)


def window(*shape: Any, dtype: D = D.FP32, name: str = "w") -> ir.Var:
    return ir.Var(name, ir.DistributedTensorType(shape, dtype), S)


def scalar(dtype: D = D.INDEX, name: str = "n") -> ir.Var:
    return ir.Var(name, ir.ScalarType(dtype), S)


def built(path: str, *args: Any, context: CallContext = HERE, **kwargs: Any) -> ir.Expr:
    """What ``path`` means when called with these arguments."""
    return build_call(tuple(path.split(".")), args, kwargs, context)


def text(expr: ir.Expr) -> str:
    """The expression as the printer writes it."""
    return ir.python_print(expr, format=False)


def type_text(expr: ir.Expr) -> str:
    return ir.python_print(expr.type, format=False)
