"""The Python of sub-workers as files of a build, and the list of those that have none."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from streams import host_builds as h

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import Level, ParamDirection, Role
from pypto_tmpl.streams.orchestration import host_texts

IN, OUT, INOUT = ParamDirection.In, ParamDirection.Out, ParamDirection.InOut


def worker(
    name: str, params: dict[ir.Var, ParamDirection], *stmts: ir.Stmt, level: Level = Level.HOST
) -> ir.Function:
    body = ir.SeqStmts(stmts, h.SPAN)
    kind = ir.FunctionType.Opaque
    return ir.Function(name, list(params.items()), [], body, h.SPAN, kind, level, Role.SubWorker)


def python(text: str) -> ir.InlineStmt:
    return ir.InlineStmt(text, ir.InlineLanguage.Python, h.SPAN)


def host(*stmts: ir.Stmt) -> ir.Function:
    body = ir.SeqStmts(stmts, h.SPAN)
    return ir.Function("run", [], [], body, h.SPAN, ir.FunctionType.Opaque, Level.HOST, Role.Orchestrator)


def files(*functions: ir.Function) -> dict[str, str]:
    found = host_texts(h.program(*functions), BackendType.Ascend910B)
    assert not found.errors
    return {path: text for path, text in found.texts.items() if path.startswith("sub_workers/")}


def test_a_module_has_the_function_with_its_body_as_it_was_written() -> None:
    params = {
        h.tensor("y", (2, 4)): INOUT, h.tensor("x", (2, 4)): IN, h.scalar("n"): IN,
        h.scalar("f", DataType.FP32): IN, h.scalar("b", DataType.BOOL): IN, h.tensor("z", (4,)): OUT,
    }  # fmt: skip
    body = "if b:\n    y.add_(x * n)\n\nz[:] = torch.full((4,), f)"
    texts = files(worker("mix", params, python(body)), host())
    assert texts == {
        "sub_workers/mix.py": """\
# A sub-worker of the host: it writes into the tensors that it is given.
# Made by pypto_tmpl.

import torch


# In: x, n, f, b. InOut: y. Out: z.
def mix(y: torch.Tensor, x: torch.Tensor, n: int, f: float, b: bool, z: torch.Tensor):
    if b:
        y.add_(x * n)

    z[:] = torch.full((4,), f)
"""
    }
    names: dict[str, Any] = {}
    exec(compile(texts["sub_workers/mix.py"], "mix.py", "exec"), names)
    y, x, z = torch.ones(2, 4), torch.full((2, 4), 3.0), torch.zeros(4)
    names["mix"](y, x, 5, 0.25, True, z)
    assert y.tolist() == [[16.0] * 4] * 2 and z.tolist() == [0.25] * 4


def test_torch_is_imported_where_it_is_named() -> None:
    without = files(worker("count", {h.scalar("n"): IN}, python("print(n)")), host())
    assert "import" not in without["sub_workers/count.py"]
    of_body = files(worker("seed", {h.scalar("n"): IN}, python("torch.manual_seed(n)")), host())
    assert "\nimport torch\n" in of_body["sub_workers/seed.py"]


def test_what_has_no_body_is_listed_and_has_no_file() -> None:
    found = files(
        worker("log", {}, python("")), worker("audit", {}, python("...")),
        worker("tick", {}, python("pass")), host(),
    )  # fmt: skip
    assert found.keys() == {"sub_workers/__required__.json", "sub_workers/tick.py"}
    assert json.loads(found["sub_workers/__required__.json"]) == ["audit", "log"]


def test_programs_without_them_have_no_such_folder() -> None:
    assert files(host()) == {}
    assert files(worker("tick", {}, python("pass"))) == {}  # nobody on the host would call it


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (worker("../up", {}, python("pass")), "the name '../up', which Python does not take"),
        (worker("class", {}, python("pass")), "the name 'class', which Python does not take"),
        (worker("f", {h.scalar("a.b"): IN}, python("pass")), "the name 'a.b', which Python does not take"),
        (worker("f", {}, python("x = (")), "an inline statement that is no Python"),
        (worker("f", {}, h.assign(h.scalar("n"), h.number(1))), "a AssignStmt, where a sub-worker is Python"),
    ],
)
def test_what_is_no_python_has_an_error_and_the_others_have_files(function: ir.Function, why: str) -> None:
    found = host_texts(
        h.program(function, worker("tick", {}, python("pass")), host()), BackendType.Ascend910B
    )
    assert [path for path in found.texts if path.startswith("sub_workers/")] == ["sub_workers/tick.py"]
    said = str(found.errors[function.name])
    assert said.startswith("error[sub-worker]: 1 thing cannot become a Python module")
    assert why in said and f"(function {function.name!r}, k.py:7:5)" in said


def test_a_call_with_a_device_is_refused() -> None:
    call = h.call("tick", {}, device=h.number(1))
    program = h.program(worker("tick", {}, python("pass")), host(ir.EvalStmt(call, h.SPAN)))
    (error,) = host_texts(program, BackendType.Ascend910B).errors.values()
    assert "'tick' runs on the host, and the call names a device (function 'run', k.py:7:5)" in str(error)
