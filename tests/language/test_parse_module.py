# ruff: noqa: E501 (functions stand as in dumps)
"""Functions, programs and the module level around them."""

from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
D, F = ir.DataType, ir.FunctionType
X = ir.TensorType([4], D.FP32)


def function(
    decorator: str,
    body: str = "pass",
    head: str = "",
    params: str = "x: pl.Tensor[[4], pl.FP32]",
    filename: str = "<string>",
) -> ir.Function:
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    found = pl.parse(f"import pypto.language as pl\n{head}\n{decorator}\ndef f({params}):\n{lines}", filename)
    assert isinstance(found, ir.Function)
    return found


@pytest.mark.parametrize("kind", list(F))
def test_every_function_type_has_its_name(kind: F) -> None:
    found = function(f"@pl.function(type=pl.FunctionType.{kind.name})")
    x = ir.Var("x", X, S)
    assert ir.structural_diff(found, ir.Function("f", [x], [], ir.SeqStmts([], S), S, kind)) is None
    assert ir.structural_diff(pl.parse(ir.python_print(found, format=False)), found) is None


@pytest.mark.parametrize("level", list(ir.Level))
@pytest.mark.parametrize("role", [None, ir.Role.Orchestrator])
def test_every_level_of_a_function_has_its_name(level: ir.Level, role: ir.Role | None) -> None:
    found = function(
        f"@pl.function(level=pl.Level.{level.name}, role={f'pl.Role.{role.name}' if role else None})"
    )
    assert (found.level, found.role) == (level, role)
    assert ir.structural_diff(pl.parse(ir.python_print(found, format=False)), found) is None


@pytest.mark.parametrize("decorator", ["@pl.function", "@pl.function()", "@function", "@other.function"])
def test_the_decorator_is_known_by_its_name(decorator: str) -> None:
    assert function(decorator).func_type is F.Opaque


def test_attributes_of_a_function() -> None:
    body = 'pl.func_attr({"split": pl.SplitMode.LEFT_RIGHT, "a": True})\npl.func_attr({"b": "c", "n": n, "l": [n]})\nreturn x'
    found = function(
        "@pl.function(auto_scope=False)", body, params="x: pl.Tensor[[4], pl.FP32], n: pl.Scalar[pl.INDEX]"
    )
    assert list(found.attrs) == ["auto_scope", "split", "a", "b", "n", "l"]
    assert found.attrs["n"] is found.params[1]
    assert found.attrs["l"] == (found.params[1],)
    assert found.attrs["auto_scope"] is False
    assert found.split is ir.SplitMode.LEFT_RIGHT
    assert isinstance(found.body, ir.ReturnStmt)
    assert ir.structural_diff(pl.parse(ir.python_print(found, format=False)), found) is None


def test_no_split_and_automatic_scopes_are_not_stored() -> None:
    found = function(
        "@pl.function(auto_scope=True, attrs={'old': 1})",
        '"""doc"""\npl.func_attr({"split": pl.SplitMode.NONE})\nreturn x',
    )
    assert dict(found.attrs) == {"old": 1}
    assert found.body.leading_comments == ("doc",)


def test_external_functions_have_no_body_and_an_absolute_path(tmp_path: Path) -> None:
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "a.cpp").write_text("")
    for body in ("...", "pass", '"""doc"""'):
        found = function(
            '@pl.function(type=pl.FunctionType.AIV, external_source="k/a.cpp")',
            body,
            filename=str(tmp_path / "d.py"),
        )
        assert found.attrs["external_source"] == str(tmp_path / "k" / "a.cpp")
        assert found.body.stmts == ()
        assert not found.requires_runtime_binding
    text = '@pl.function(type=pl.FunctionType.AIV, external_source="/gone.cpp")\ndef k(): pass\n'
    with pytest.raises(ValueError, match="the kernel source '/gone.cpp' does not exist"):
        pl.parse(text)
    dump = pl.parse(f"# pypto.program: P\n{text}")  # is read elsewhere than the kernel was compiled
    assert dump.attrs["external_source"] == "/gone.cpp"


def test_host_workers_keep_their_text() -> None:
    head = "@pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)"
    body = "import numpy as np\nwith open('a') as f:\n    x += [lambda: (yield 1)]\nreturn x"
    found = function(head, f'pl.func_attr({{"a": 1}})\n{body}')
    assert dict(found.attrs) == {"a": 1}
    assert isinstance(found.body, ir.InlineStmt)
    assert found.body.body == body
    assert not found.requires_runtime_binding
    assert ir.structural_diff(pl.parse(ir.python_print(found, format=False)), found) is None


def test_functions_bound_at_run_time() -> None:
    for head in ("@pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)", "@pl.function"):
        found = function(head, "...")
        assert found.requires_runtime_binding
        assert found.body.body == ""
        assert ir.structural_diff(pl.parse(ir.python_print(found, format=False)), found) is None


def test_return_annotations() -> None:
    forms = {
        "": (),
        "-> pl.Scalar[pl.INDEX]": (ir.ScalarType(D.INDEX),),
        "-> tuple[pl.Scalar[pl.INDEX], pl.Tensor[[4], pl.FP32]]": (ir.ScalarType(D.INDEX), X),
        "-> tuple[pl.Scalar[pl.INDEX]]": (ir.ScalarType(D.INDEX),),
    }
    for form, types in forms.items():
        found = pl.parse(f"@pl.function\ndef f(x: pl.Tensor[[4], pl.FP32]){form}:\n    return x\n")
        assert found.return_types == types


MODULE = '''"""What stands in front of a program."""
from __future__ import annotations
import typing
import pypto.language as pl
import pypto.language.distributed as dist
from pypto import language as X
from pypto_tmpl.language import distributed

A = 4
B: int = A * 2 + 1
C = (A, B)
SCALE = -0.5
NAME = "text"
FLAG = True
NONE = None
N = X.dynamic("N")
SAME = N
DT = pl.BF16
SPACE = pl.Mem.Acc
BUFFER = pl.MemRef()
SLOTS = pl.MemRef(slots=2)

@X.program
class P:
    """Other members are left alone."""
    constant = 1
    @staticmethod
    def helper():
        pass
    @X.function(level=X.Level.HOST, role=X.Role.Orchestrator)
    def main(self, x: X.Tensor[[N, A], DT], y: X.Tensor[C, DT]) -> X.Tensor[[SAME, A], X.FP32]:
        z: X.Tensor[[N, A], X.FP32] = X.tensor.muls(x, SCALE)
        r: pl.Scalar[pl.INDEX] = dist.system.world_size()
        q: pl.Scalar[pl.INDEX] = distributed.world_size()
        return z
'''


def test_the_module_level() -> None:
    program = pl.parse(MODULE)
    assert isinstance(program, ir.Program)
    assert program.name == "P"
    main = program["main"]
    x, y = main.params
    assert x.type.dtype == D.BF16
    assert [extent.value for extent in y.type.shape] == [4, 9]
    assert main.return_types[0].shape[0] is x.type.shape[0]
    z, r, q, _ = main.body.stmts
    assert z.var.type.shape[0] is x.type.shape[0]
    assert z.value.args[1].value == -0.5
    assert r.value.op == q.value.op == ir.Op("pld.system.world_size")


def test_a_later_name_of_the_module_is_known_in_functions() -> None:
    found = pl.parse(
        "import pypto.language as pl\n@pl.function\ndef f(x: pl.Tensor[[LATE], pl.FP32]):\n    return x\nLATE = 8\n"
    )
    assert found.params[0].type.shape[0].value == 8


def test_loads_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    path.write_text(MODULE)
    for name in (path, str(path)):
        program = pl.loads(name)
        assert program.span.filename == str(path)
    with pytest.raises(FileNotFoundError):
        pl.loads(tmp_path / "absent.py")


def test_strict_ssa_allows_parameters_and_other_scopes() -> None:
    text = """import pypto.language as pl
@pl.program(strict_ssa=True)
class P:
    @pl.function
    def f(self, x: pl.Tensor[[4], pl.FP32]):
        x: pl.Tensor[[4], pl.FP32] = pl.tensor.exp(x)
        for i, (a,) in pl.range(4, init_values=(x,)):
            t: pl.Tensor[[4], pl.FP32] = pl.tensor.exp(a)
            r: pl.Tensor[[4], pl.FP32] = pl.yield_(t)
        for i, (a,) in pl.range(4, init_values=(x,)):
            t: pl.Tensor[[4], pl.FP32] = pl.tensor.exp(a)
            s: pl.Tensor[[4], pl.FP32] = pl.yield_(t)
"""
    assert isinstance(pl.parse(text), ir.Program)
    assert isinstance(pl.parse(text.replace("strict_ssa=True", "")), ir.Program)


def test_reading_leaves_the_collector_as_it_was() -> None:
    import gc

    pl.parse(MODULE)
    assert gc.isenabled()
    gc.disable()
    try:
        pl.parse(MODULE)
        assert not gc.isenabled()
    finally:
        gc.enable()
    with pytest.raises(pl.ParserError):
        pl.parse("(")
    assert gc.isenabled()
