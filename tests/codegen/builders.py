"""Building IR by hand, emitting it and executing the script."""

import itertools
import linecache
import re
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

U = ir.Span.unknown()
INDEX, INT32, INT64, BOOL, FP32 = (
    ir.DataType.INDEX,
    ir.DataType.INT32,
    ir.DataType.INT64,
    ir.DataType.BOOL,
    ir.DataType.FP32,
)
Vec, Mat, Acc = ir.MemorySpace.Vec, ir.MemorySpace.Mat, ir.MemorySpace.Acc
In, Out, InOut = ir.ParamDirection.In, ir.ParamDirection.Out, ir.ParamDirection.InOut
AIC, AIV, Group, InCore, Orchestration, Spmd, Inline = (
    ir.FunctionType.AIC,
    ir.FunctionType.AIV,
    ir.FunctionType.Group,
    ir.FunctionType.InCore,
    ir.FunctionType.Orchestration,
    ir.FunctionType.Spmd,
    ir.FunctionType.Inline,
)
TASK = ir.ScalarType(ir.DataType.TASK_ID)
_script_numbers = itertools.count()

Value = ir.Expr | int | float | bool | Sequence[Any]


# Values and variables


def as_expr(value: Value) -> ir.Expr:
    """Ints become INDEX constants, floats FP32 constants, sequences tuples."""
    if isinstance(value, ir.Expr):
        return value
    if isinstance(value, bool):
        return ir.ConstBool(value, U)
    if isinstance(value, int):
        return ir.ConstInt(value, INDEX, U)
    if isinstance(value, float):
        return ir.ConstFloat(value, FP32, U)
    return ir.MakeTuple([as_expr(item) for item in value], U)


def scalar(name: str, dtype: ir.DataType = INDEX) -> ir.Var:
    return ir.Var(name, ir.ScalarType(dtype), U)


def tensor_type(shape: Sequence[Any], dtype: ir.DataType = FP32) -> ir.TensorType:
    return ir.TensorType(list(shape), dtype)


def tensor(name: str, shape: Sequence[Any], dtype: ir.DataType = FP32) -> ir.Var:
    return ir.Var(name, tensor_type(shape, dtype), U)


def tile_type(
    shape: Sequence[Any],
    dtype: ir.DataType = FP32,
    valid: Sequence[Any] = (),
    memory: ir.MemorySpace | None = Vec,
) -> ir.TileType:
    view = ir.TileView(list(valid)) if valid else None
    return ir.TileType(list(shape), dtype, None, view, memory)


def tile(
    name: str,
    shape: Sequence[Any],
    dtype: ir.DataType = FP32,
    valid: Sequence[Any] = (),
    memory: ir.MemorySpace | None = Vec,
) -> ir.Var:
    return ir.Var(name, tile_type(shape, dtype, valid, memory), U)


def carry(name: str, init: Value, type_: ir.Type | None = None) -> ir.IterArg:
    start = as_expr(init)
    return ir.IterArg(name, type_ or start.type, start, U)


# Expressions


def op(name: str, args: Sequence[Value] = (), type_: ir.Type | None = None, **kwargs: Any) -> ir.Call:
    """Call of an operator."""
    return ir.Call(ir.Op(name), [as_expr(arg) for arg in args], kwargs, type_ or ir.UnknownType(), U)


def call(function: str, args: Sequence[Value] = (), type_: ir.Type | None = None, **attrs: Any) -> ir.Call:
    """Call of a function of the program."""
    values = [as_expr(arg) for arg in args]
    return ir.Call(ir.GlobalVar(function), values, {}, attrs, type_ or ir.UnknownType(), U)


def submit(
    function: str,
    args: Sequence[Value] = (),
    type_: ir.Type | None = None,
    deps: Sequence[ir.Expr] = (),
    **rest: Any,
) -> ir.Submit:
    return ir.Submit(
        ir.GlobalVar(function), [as_expr(arg) for arg in args], list(deps), type_ or TASK, U, **rest
    )


def load(
    source: ir.Var,
    offsets: Sequence[Value],
    shape: Sequence[int],
    valid: Sequence[Any] = (),
    memory: ir.MemorySpace = Vec,
) -> ir.Call:
    type_ = tile_type(shape, source.type.dtype, valid, memory)
    return op("tile.load", [source, offsets, shape, valid or shape], type_, target_memory=memory)


def store(value: ir.Expr, offsets: Sequence[Value], target: ir.Expr) -> ir.Call:
    return op("tile.store", [value, offsets, target], target.type)


def unary(name: str, value: ir.Expr) -> ir.Call:
    return op(name, [value], value.type)


def binary(name: str, left: ir.Expr, right: Value) -> ir.Call:
    return op(name, [left, right], left.type)


# Statements


def assign(var: ir.Var, value: Value) -> ir.AssignStmt:
    return ir.AssignStmt(var, as_expr(value), U)


def evaluate(value: ir.Expr) -> ir.EvalStmt:
    return ir.EvalStmt(value, U)


def seq(*stmts: ir.Stmt) -> ir.Stmt:
    return stmts[0] if len(stmts) == 1 else ir.SeqStmts(list(stmts), U)


def ret(*values: Value) -> ir.ReturnStmt:
    return ir.ReturnStmt([as_expr(value) for value in values], U)


def yields(*values: Value) -> ir.YieldStmt:
    return ir.YieldStmt([as_expr(value) for value in values], U)


def for_loop(
    var: ir.Var,
    stop: Value,
    *body: ir.Stmt,
    start: Value = 0,
    step: Value = 1,
    carries: Iterable[ir.IterArg] = (),
    results: Iterable[ir.Var] = (),
    **rest: Any,
) -> ir.ForStmt:
    bounds = [as_expr(bound) for bound in (start, stop, step)]
    return ir.ForStmt(var, *bounds, list(carries), seq(*body), list(results), U, **rest)


def while_loop(
    condition: ir.Expr, *body: ir.Stmt, carries: Iterable[ir.IterArg] = (), results: Iterable[ir.Var] = ()
) -> ir.WhileStmt:
    return ir.WhileStmt(condition, list(carries), seq(*body), list(results), U)


def if_(
    condition: Value, then: ir.Stmt, otherwise: ir.Stmt | None = None, results: Iterable[ir.Var] = ()
) -> ir.IfStmt:
    return ir.IfStmt(as_expr(condition), then, otherwise, list(results), U)


# Functions and scripts


def function(
    name: str,
    params: Sequence[ir.Var | tuple[ir.Var, ir.ParamDirection]],
    *body: ir.Stmt,
    type: ir.FunctionType = ir.FunctionType.Opaque,
    returns: Sequence[ir.Type] = (),
    **attrs: Any,
) -> ir.Function:
    return ir.Function(
        name, list(params), list(returns), ir.SeqStmts(list(body), U), U, type=type, attrs=attrs or None
    )


def program(*functions: ir.Function, name: str = "Sample") -> ir.Program:
    return ir.Program(list(functions), name, U)


def run(text: str) -> dict[str, Any]:
    """Execute a script under a name that tracebacks can show; return its namespace."""
    name = f"<emitted {next(_script_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "emitted_script"}
    exec(compile(text, name, "exec"), namespace)
    for limit in ("_PIPE_WAIT_TIMEOUT_SEC", "_MIXED_KERNEL_TIMEOUT_SEC"):
        if limit in namespace:
            namespace[limit] = 120  # of a test that hangs; a busy machine may take long to run a lane
    return namespace


def script(*functions: ir.Function, **options: Any) -> dict[str, Any]:
    """The namespace of the executed script of a program of these functions."""
    return run(torch_codegen(program(*functions), **options))


def evaluate_body(*body: ir.Stmt, args: Sequence[tuple[ir.Var, Any]] = ()) -> Any:
    """What a function with this body returns; ``args`` are its parameters with their values."""
    namespace = script(function("f", [var for var, _ in args], *body))
    return namespace["f"](*[value for _, value in args])


def program_part(text: str) -> str:
    """A script up to its run-time helpers."""
    return text.partition("\n\n\n# Run-time helpers follow")[0].rstrip() + "\n"


def body_text(*body: ir.Stmt, params: Sequence[ir.Var] = (), **options: Any) -> str:
    """The lines of a function's body as emitted, without its docstring and its indentation."""
    text = torch_codegen(program(function("f", params, *body)), **options)
    lines = program_part(text[text.index("def f(") :]).splitlines()[2:]
    return "\n".join(line.removeprefix("    ") for line in lines)


def ir_subclasses(base: type) -> set[type]:
    """The project's own classes directly below ``base``, without those that tests define."""
    return {cls for cls in base.__subclasses__() if cls.__module__.startswith("pypto_tmpl.")}


def numbers(*shape: int) -> torch.Tensor:
    """0, 1, 2, ... as FP32 in a shape."""
    count = 1
    for extent in shape:
        count *= extent
    return torch.arange(count, dtype=torch.float32).reshape(shape)


def functions_in(text: str) -> list[str]:
    return re.findall(r"^def (\w+)", text, re.MULTILINE)
