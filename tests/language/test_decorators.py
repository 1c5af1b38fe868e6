"""Decorated functions and classes: where their text comes from, and what names outside of them stand for."""

import linecache
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
INDEX = ir.ScalarType(ir.DataType.INDEX)

ROWS = 4
PAIR = [2, 3]
N = pl.dynamic("N")
DTYPE = pl.BF16
CFG = SimpleNamespace(tile=16, dtype=pl.FP16, shape=(8, 9), ND=2)


def index(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, ir.DataType.INDEX, S)


def returned(function: ir.Function) -> list[ir.Expr]:
    body = function.body
    last = body.stmts[-1] if isinstance(body, ir.SeqStmts) else body
    assert isinstance(last, ir.ReturnStmt)
    return list(last.value)


def test_a_function_is_read_where_it_is_decorated() -> None:
    @pl.function
    def scaled(n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
        return n * 2

    n = ir.Var("n", INDEX, S)
    body = ir.ReturnStmt([ir.mul(n, index(2), S)], S)
    assert ir.structural_diff(scaled, ir.Function("scaled", [n], [INDEX], body, S)) is None
    span = scaled.body.span
    assert span.filename == __file__
    assert (
        Path(__file__).read_text().splitlines()[span.begin_line - 1][span.begin_column - 1 :]
        == "return n * 2"
    )


def test_a_class_is_a_program_of_its_decorated_methods() -> None:
    @pl.program
    class Two:
        unrelated = ROWS

        @pl.function(type=pl.FunctionType.Orchestration)
        def first(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
            return self.second(n)

        @pl.function
        def second(self, n: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
            return n

        def helper(self) -> int:
            return 1

    assert isinstance(Two, ir.Program)
    assert (Two.name, [f.name for f in Two.functions.values()]) == ("Two", ["first", "second"])
    (call,) = returned(Two["first"])
    assert isinstance(call, ir.Call)
    assert (call.op, call.type) == (ir.GlobalVar("second"), INDEX)


def test_names_stand_for_the_values_around_the_definition() -> None:
    width = 5

    def make(height: int) -> ir.Function:
        @pl.function
        def f(
            x: pl.Tensor[[N, ROWS * height, width, CFG.tile], DTYPE],
            y: pl.Tensor[PAIR + [len(PAIR), max(CFG.shape)], CFG.dtype],
        ):
            return height + width, 2**height, CFG.shape[1], CFG.ND

        return f

    found = make(3)
    x, y = found.params
    assert isinstance(x.type, ir.TensorType) and isinstance(y.type, ir.TensorType)
    assert isinstance(x.type.shape[0], ir.Var)
    assert [extent.value for extent in x.type.shape[1:]] == [12, 5, 16]
    assert [extent.value for extent in y.type.shape] == [2, 3, 2, 9]
    assert (x.type.dtype, y.type.dtype) == (ir.DataType.BF16, ir.DataType.FP16)
    assert [value.value for value in returned(found)] == [8, 8, 9, 2]


def test_a_variable_hides_a_value_of_its_name() -> None:
    @pl.function
    def f(ROWS: pl.Scalar[pl.INDEX]):
        return ROWS

    assert returned(f) == [f.params[0]]


def test_dimensions_of_one_name_are_one_variable_in_a_program() -> None:
    twice = N * 2

    @pl.program
    class P:
        @pl.function
        def f(self, x: pl.Tensor[[N, twice], pl.FP32]):
            return N

        @pl.function
        def g(self, x: pl.Tensor[[N], pl.FP32]):
            pass

    (x,), (other,) = P["f"].params, P["g"].params
    assert x.type.shape[0] is other.type.shape[0] is returned(P["f"])[0]
    assert isinstance(x.type.shape[1], ir.Mul)
    assert x.type.shape[1].left is x.type.shape[0]


def test_a_value_that_is_no_expression_is_refused() -> None:
    with pytest.raises(
        pl.ParserTypeError, match="'CFG' is a SimpleNamespace, which stands for no expression"
    ):

        @pl.function
        def f():
            return CFG


def test_an_error_shows_the_line_of_the_file() -> None:
    with pytest.raises(pl.UndefinedVariableError) as caught:

        @pl.function
        def f(count: pl.Scalar[pl.INDEX]):
            return coumt  # noqa: F821

    error = caught.value
    line = next(
        i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if "return coumt" in text
    )
    margin = " " * len(str(line))
    assert str(error) == "\n".join([
        "error[E200]: undefined variable 'coumt'",
        f"  --> {__file__}:{line}:20",
        f" {margin} |",
        f" {line} |             return coumt  # noqa: F821",
        f" {margin} |                    ^",
        "   = hint: did you mean 'count'?",
    ])  # fmt: skip


TEXT = """
import pypto_tmpl.language as pl
@pl.function
def f(n: pl.Scalar[pl.INDEX]):
    return n + 1
print(f.body.span)
"""


def test_text_of_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-c", TEXT], capture_output=True, text=True, check=True)
    assert done.stdout == "<string>:5:5\n"


def test_text_that_linecache_knows() -> None:
    linecache.cache["<cell 7>"] = (len(TEXT), None, TEXT.splitlines(keepends=True), "<cell 7>")
    namespace: dict[str, object] = {}
    exec(compile(TEXT.replace("print", "str"), "<cell 7>", "exec"), namespace)
    found = namespace["f"]
    assert isinstance(found, ir.Function)
    assert found.body.span == ir.Span("<cell 7>", 5, 5)


def test_no_text_is_an_error() -> None:
    with pytest.raises(pl.ParserSyntaxError, match="cannot retrieve the source code of 'f'"):
        exec(compile(TEXT, "<nowhere>", "exec"), {})


def test_names_of_kernels_cannot_be_called() -> None:
    for name in ("submit", "spmd_submit", "range", "at"):
        with pytest.raises(RuntimeError, match=f"pl.{name} is read"):
            getattr(pl, name)()
    assert pl.const(3, pl.INT8) == 3


def test_annotations_evaluate_to_what_they_spell() -> None:
    tensor = pl.Tensor[[N, 4], pl.FP32, pl.NZ]
    assert (tensor.shape, tensor.dtype, tensor.extras) == ((N, 4), pl.FP32, (pl.NZ,))
    assert pl.Tensor((4,), pl.FP32).shape == (4,)
    assert (pl.Scalar[pl.INT8].shape, pl.Scalar[pl.INT8].dtype) == (None, pl.INT8)
    assert (pl.Out[tensor].inner, pl.InOut[tensor].direction) == (tensor, ir.ParamDirection.InOut)
    assert pl.MemRef(slots=2)[1].slot == 1
    with pytest.raises(TypeError, match="TileView takes no field 'strides'"):
        pl.TileView(strides=[1])
    with pytest.raises(ValueError, match="'a b' is no name for a dimension"):
        pl.dynamic("a b")


@pytest.mark.parametrize("name", ["In", "incore", "auto_incore", "auto_chunk", "auto_scope"])
def test_names_of_other_versions_are_not_there(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(pl, name)


def test_generated_text_points_to_where_it_comes_from(tmp_path: Path) -> None:
    user = tmp_path / "kernel.py"
    user.write_text("first\n    y = x + unknown\n")
    text = "@pl.function\ndef f(x: pl.Scalar[pl.INDEX]):\n    y = x + K\n    z = x + oops\n    return y\n"
    origins = {3: (str(user), 2, 5), 4: (str(user), 2, 5), (4, 12): (str(user), 2, 13)}
    found = pl.parse(text.replace("oops", "1"), "<jit:f>", origins, {"K": 7})
    assert isinstance(found, ir.Function)
    first, _, last = found.body.stmts
    assert first.span == ir.Span(str(user), 2, 5)
    assert last.span == ir.Span("<jit:f>", 5, 5)
    assert isinstance(first.value, ir.Add)
    assert first.value.right.value == 7
    with pytest.raises(pl.UndefinedVariableError) as caught:
        pl.parse(text, "<jit:f>", origins, {"K": 7})
    assert f"--> {user}:2:13\n   |\n 2 |     y = x + unknown\n   |             ^" in str(caught.value)


def test_deprecated_names_read_programs_only(tmp_path: Path) -> None:
    text = "@pl.program\nclass P:\n    @pl.function\n    def f(self): pass\n"
    path = tmp_path / "p.py"
    path.write_text(text)
    with pytest.warns(DeprecationWarning, match="pl.parse_program is deprecated, use pl.parse"):
        assert pl.parse_program(text).name == "P"
    with pytest.warns(DeprecationWarning, match="pl.loads_program is deprecated, use pl.loads"):
        assert pl.loads_program(path).name == "P"
    with pytest.warns(DeprecationWarning), pytest.raises(ValueError, match="defines the function 'f'"):
        pl.parse_program("@pl.function\ndef f(): pass\n")
    assert pl.parser.diagnostics.ParserError is pl.ParserError
