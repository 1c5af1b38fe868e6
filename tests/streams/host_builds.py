"""Programs whose host texts are recorded, and functions of the host built node by node."""

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ArgDirection, Level, ParamDirection, Role
from pypto_tmpl.streams.orchestration import host_texts

TESTS = Path(__file__).resolve().parent.parent
RECORDED = TESTS / "streams" / "host"
STUBS = TESTS / "streams" / "stubs"
SPAN = ir.Span("k.py", 7, 5, 7, 30)
INPUT, OUTPUT, INOUT = ArgDirection.Input, ArgDirection.OutputExisting, ArgDirection.InOut
SCALAR = ArgDirection.Scalar


def last_stage(program: str, backend: str = "Ascend910B") -> ir.Program:
    """The program after the last pass, from beside the recorded texts or from the corpora."""
    own = RECORDED / program / backend / "last.msgpack"
    shared = TESTS / "streams" / "recorded" / program / backend / "last.msgpack"
    dumps = [
        dump
        for corpus in ("corpus", "pass_corpus")
        for dump in sorted((TESTS / corpus / "dumps" / program / backend).glob("*.msgpack"))[-1:]
    ]
    path = next(path for path in (own, shared, *dumps) if path.is_file())
    return ir.deserialize_from_file(str(path))


def without_comments(text: str) -> list[str]:
    """The lines of C++ or Python text that say something."""
    lines = (re.sub(r"\s*//.*$", "", line) for line in text.splitlines())
    return [line.rstrip() for line in lines if line.strip() and not line.startswith("#  ")]


def check_syntax(path: Path, *flags: str) -> None:
    """Let g++ read a text."""
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("there is no g++")
    command = [compiler, "-std=c++17", "-fsyntax-only", f"-I{STUBS}", *flags, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


# Functions built node by node


def tensor(name: str, shape: Sequence[int | ir.Expr] = (16, 64), dtype: DataType = DataType.FP32) -> ir.Var:
    return ir.Var(name, ir.TensorType(shape, dtype), SPAN)


def scalar(name: str, dtype: DataType = DataType.INDEX) -> ir.Var:
    return ir.Var(name, ir.ScalarType(dtype), SPAN)


def number(value: int, dtype: DataType = DataType.INDEX) -> ir.ConstInt:
    return ir.ConstInt(value, dtype, SPAN)


def assign(var: ir.Var, value: ir.Expr) -> ir.AssignStmt:
    return ir.AssignStmt(var, value, SPAN)


def op(name: str, *args: ir.Expr, type_: ir.Type | None = None, **kwargs: object) -> ir.Call:
    return ir.Call(ir.Op(name), args, kwargs, type_ or ir.UnknownType(), SPAN)


def call(
    name: str,
    arguments: Mapping[ir.Expr, ArgDirection],
    type_: ir.Type | None = None,
    **attrs: object,
) -> ir.Call:
    """The launch of a function."""
    given = {"arg_directions": list(arguments.values()), **attrs}
    return ir.Call(ir.GlobalVar(name), list(arguments), None, given, type_ or ir.UnknownType(), SPAN)


def submit(
    name: str, arguments: Mapping[ir.Expr, ArgDirection], deps: Sequence[ir.Expr] = (), **launch: object
) -> ir.Submit:
    """A launch that gives the id of the task, after one tensor."""
    first = next(arg.type for arg in arguments if isinstance(arg.type, ir.TensorType))
    type_ = ir.TupleType([first, ir.ScalarType(DataType.TASK_ID)])
    attrs = {"arg_directions": list(arguments.values())}
    return ir.Submit(ir.GlobalVar(name), list(arguments), list(deps), None, attrs, type_, SPAN, **launch)


def kernel(name: str, *scalars: ir.Var, cube: bool = False) -> ir.Function:
    """A kernel that changes its one tensor and returns it."""
    param = tensor(f"{name}_t")
    kind = ir.FunctionType.AIC if cube else ir.FunctionType.AIV
    params = [(param, ParamDirection.InOut), *((s, ParamDirection.In) for s in scalars)]
    body = ir.ReturnStmt([param], SPAN)
    return ir.Function(name, params, [param.type], body, SPAN, kind)


def host(params: Sequence[ir.Var], *stmts: ir.Stmt, name: str = "main") -> ir.Function:
    """An orchestration function that changes all of its tensors."""
    body = ir.SeqStmts(stmts, SPAN)
    ways = [
        (p, ParamDirection.InOut if isinstance(p.type, ir.TensorType) else ParamDirection.In) for p in params
    ]
    kind = ir.FunctionType.Orchestration
    return ir.Function(name, ways, [], body, SPAN, kind, Level.CHIP, Role.Orchestrator)


def scope(*stmts: ir.Stmt, manual: bool = False) -> ir.RuntimeScopeStmt:
    return ir.RuntimeScopeStmt(manual, "", ir.SeqStmts(stmts, SPAN), SPAN)


def program(*functions: ir.Function) -> ir.Program:
    return ir.Program(functions, "program", SPAN)


def text_of(*functions: ir.Function, backend: BackendType = BackendType.Ascend910B) -> str:
    """The C++ of the only orchestration function."""
    found = host_texts(program(*functions), backend)
    assert not found.errors, next(iter(found.errors.values()))
    (text,) = (text for name, text in found.texts.items() if name.endswith(".cpp"))
    return text


def lines_of(*functions: ir.Function, backend: BackendType = BackendType.Ascend910B) -> list[str]:
    """What the entry does, without comments: the lines after those that take the parameters."""
    lines = without_comments(text_of(*functions, backend=backend))
    start = lines.index("void aicpu_orchestration_entry(const ChipTaskArgs& orch_args) {") + 1
    taken = ("    const ChipTensor& ext_", "from_u64", "orch_args.scalar")
    return [line.removeprefix("    ") for line in lines[start:-2] if not any(word in line for word in taken)]


def refusals(*functions: ir.Function) -> list[str]:
    """Why the orchestration function has no C++."""
    found = host_texts(program(*functions), BackendType.Ascend910B)
    (error,) = found.errors.values()
    return list(error.notes)
