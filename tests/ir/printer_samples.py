"""Short constructors for IR with unknown positions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pypto_tmpl import ir

NOWHERE = ir.Span.unknown()
INDEX, INT32, INT64, FP32, BOOL = (
    ir.DataType.INDEX,
    ir.DataType.INT32,
    ir.DataType.INT64,
    ir.DataType.FP32,
    ir.DataType.BOOL,
)
TASK = ir.ScalarType(ir.DataType.TASK_ID)
TENSOR = ir.TensorType([16, 64], FP32)
TILE = ir.TileType([16, 64], FP32, memory_space=ir.MemorySpace.Vec)


def operators(base: type) -> list[type]:
    """The operator classes below ``base``; other tests may have made further ones."""
    found = (cls for cls in vars(ir).values() if isinstance(cls, type) and issubclass(cls, base))
    return [cls for cls in found if cls is not base]


def scalar(name: str, dtype: ir.DataType = INDEX) -> ir.Var:
    return ir.Var(name, ir.ScalarType(dtype), NOWHERE)


def tensor(name: str, type: ir.Type = TENSOR) -> ir.Var:
    return ir.Var(name, type, NOWHERE)


def tile(name: str, type: ir.Type = TILE) -> ir.Var:
    return ir.Var(name, type, NOWHERE)


def integer(value: int, dtype: ir.DataType = INDEX) -> ir.ConstInt:
    return ir.ConstInt(value, dtype, NOWHERE)


def real(value: float, dtype: ir.DataType = FP32) -> ir.ConstFloat:
    return ir.ConstFloat(value, dtype, NOWHERE)


def boolean(value: bool) -> ir.ConstBool:
    return ir.ConstBool(value, NOWHERE)


def tuple_of(*elements: ir.Expr) -> ir.MakeTuple:
    return ir.MakeTuple(elements, NOWHERE)


def call(op: str, *args: ir.Expr, type: ir.Type = TENSOR, attrs: Any = None, **kwargs: Any) -> ir.Call:
    return ir.Call(ir.Op(op), args, kwargs, attrs, type, NOWHERE)


def call_function(
    name: str, *args: ir.Expr, type: ir.Type = TENSOR, attrs: Any = None, **kwargs: Any
) -> ir.Call:
    return ir.Call(ir.GlobalVar(name), args, kwargs, attrs, type, NOWHERE)


def submit(
    name: str, *args: ir.Expr, deps: Iterable[ir.Expr] = (), attrs: Any = None, **launch: Any
) -> ir.Submit:
    type_ = ir.TupleType([TENSOR, TASK])
    return ir.Submit(ir.GlobalVar(name), args, deps, None, attrs, type_, NOWHERE, **launch)


def assign(var: ir.Var, value: ir.Expr) -> ir.AssignStmt:
    return ir.AssignStmt(var, value, NOWHERE)


def evaluate(expr: ir.Expr) -> ir.EvalStmt:
    return ir.EvalStmt(expr, NOWHERE)


def sequence(*stmts: ir.Stmt) -> ir.SeqStmts:
    return ir.SeqStmts(stmts, NOWHERE)


def returns(*values: ir.Expr) -> ir.ReturnStmt:
    return ir.ReturnStmt(values, NOWHERE)


def yields(*values: ir.Expr) -> ir.YieldStmt:
    return ir.YieldStmt(values, NOWHERE)


def carry(name: str, init: ir.Expr) -> ir.IterArg:
    return ir.IterArg(name, init.type, init, NOWHERE)


def loop(
    var: ir.Var,
    start: ir.Expr,
    stop: ir.Expr,
    step: ir.Expr,
    body: ir.Stmt,
    iter_args: Iterable[ir.IterArg] = (),
    return_vars: Iterable[ir.Var] = (),
    kind: ir.ForKind = ir.ForKind.Sequential,
    attrs: Any = None,
) -> ir.ForStmt:
    return ir.ForStmt(var, start, stop, step, iter_args, body, return_vars, NOWHERE, kind, attrs)


def branch(
    condition: ir.Expr, then: ir.Stmt, other: ir.Stmt | None = None, return_vars: Iterable[ir.Var] = ()
) -> ir.IfStmt:
    return ir.IfStmt(condition, then, other, return_vars, NOWHERE)


def while_loop(
    condition: ir.Expr,
    body: ir.Stmt,
    iter_args: Iterable[ir.IterArg] = (),
    return_vars: Iterable[ir.Var] = (),
) -> ir.WhileStmt:
    return ir.WhileStmt(condition, iter_args, body, return_vars, NOWHERE)


def function(
    name: str, params: list[Any], body: ir.Stmt, returned: Iterable[ir.Type] = (), **options: Any
) -> ir.Function:
    return ir.Function(name, params, returned, body, NOWHERE, **options)


def program(*functions: ir.Function, name: str = "Sample") -> ir.Program:
    return ir.Program(functions, name, NOWHERE)


def text(node: ir.IRNode | ir.Type, **options: Any) -> str:
    return ir.python_print(node, format=False, **options)


def body_text(*stmts: ir.Stmt, params: Iterable[Any] = (), **options: Any) -> str:
    """Text of the body of a function that holds these statements, without the function's indentation."""
    printed = text(function("f", list(params), sequence(*stmts)), **options)
    lines = printed.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(line.removeprefix("    ") for line in lines[start + 1 :])
