"""Forms that users write and upstream takes: scalars by dtype, views and paths in variables, pl.AUTO."""

import os
from pathlib import Path

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

N = pl.dynamic("N")
ROWS = pl.dynamic("rows")
HALF = pl.FP16
VIEW = pl.TensorView(valid_shape=[5, 64], layout=pl.TensorLayout.ND)
TILE_VIEW = pl.TileView(valid_shape=[5, 64])


def script(node: object) -> dict:
    namespace: dict = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    return namespace


@pl.jit
def scaled_rows(x: pl.Tensor, scale: pl.FP32, n: pl.INDEX, h: HALF, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.mul(pl.mul(x[n : n + 8, :], scale), h)
    return out


def test_a_scalar_parameter_of_a_jit_kernel_is_annotated_by_its_dtype():
    x, out = torch.randn(16, 16), torch.zeros(8, 16)
    scaled_rows(x, 2.0, 3, 0.5, out)
    assert torch.equal(out, x[3:11])
    program = scaled_rows.specialize(x, pl.RUNTIME, pl.RUNTIME, pl.RUNTIME, out)
    main = next(iter(program.functions.values()))
    dtypes = [param.type.dtype for param in main.params if isinstance(param.type, ir.ScalarType)]
    assert dtypes == [ir.DataType.FP32, ir.DataType.INDEX, ir.DataType.FP16]


def test_a_scalar_parameter_of_a_program_is_annotated_by_its_dtype():
    @pl.program
    class P:
        @pl.function
        def main(self, s: pl.FP32, n: pl.INDEX, h: HALF, o: pl.Out[pl.INT32]):
            return s

    Q = pl.parse(
        "@pl.program\nclass P:\n    @pl.function\n"
        "    def main(self, s: pl.Scalar[pl.FP32], n: pl.Scalar[pl.INDEX], h: pl.Scalar[pl.FP16],\n"
        "             o: pl.Out[pl.Scalar[pl.INT32]]):\n        return s\n"
    )
    assert ir.structural_diff(P, Q) is None
    with pytest.raises(pl.ParserTypeError, match="a scalar cannot be InOut"):
        pl.parse("@pl.function\ndef f(s: pl.InOut[pl.FP32]):\n    return s\n")


@pl.jit
def doubled_blocks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    x.bind_dynamic(dim=0, var=N)
    out.bind_dynamic(0, var=N)
    for r in pl.parallel(0, N, 4):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[r : r + 4, :] = pl.mul(x[r : r + 4, :], 2.0)
    return out


def test_bind_dynamic_takes_keywords():
    for rows in (8, 12):
        x, out = torch.randn(rows, 16), torch.zeros(rows, 16)
        doubled_blocks(x, out)
        assert torch.equal(out, x * 2)
    assert doubled_blocks.specialisation(x, out) is doubled_blocks.specialisation(x[:4], out[:4])


def test_a_view_in_a_variable_is_a_view():
    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def main(self, x: pl.Tensor[[16, 64], pl.FP32, VIEW], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
            t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, TILE_VIEW] = pl.load(
                x, [0, 0], [16, 64], valid_shape=[5, 64]
            )
            out = pl.store(t, [0, 0], out)
            return out

    text = """VIEW = pl.TensorView(valid_shape=[5, 64], layout=pl.TensorLayout.ND)
TILE_VIEW = pl.TileView(valid_shape=[5, 64])
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[16, 64], pl.FP32, VIEW], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, TILE_VIEW] = pl.load(
            x, [0, 0], [16, 64], valid_shape=[5, 64])
        out = pl.store(t, [0, 0], out)
        return out
"""
    spelled = text.replace(", VIEW]", ", pl.TensorView(valid_shape=[5, 64], layout=pl.TensorLayout.ND)]")
    spelled = spelled.replace(", TILE_VIEW]", ", pl.TileView(valid_shape=[5, 64])]")
    assert ir.structural_diff(P, pl.parse(spelled)) is None
    assert ir.structural_diff(P, pl.parse(text)) is None
    with pytest.raises(pl.ParserTypeError):
        pl.parse(text.replace("FP32, VIEW]", "FP32, TILE_VIEW]"))


def test_the_workspace_of_prelu_has_any_dtype():
    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def main(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
            a = pl.load(x, [0, 0], [16, 64])
            out = pl.store(pl.prelu(a, a, a), [0, 0], out)
            return out

    x, out = torch.randn(16, 64), torch.zeros(16, 64)
    script(P)["main"](x, out)
    assert torch.equal(out, torch.where(x > 0, x, x * x))


def test_a_store_may_make_more_of_an_output_valid():
    @pl.program
    class P:
        @pl.function(type=pl.FunctionType.InCore)
        def main(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32, VIEW]]):
            out = pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], out)
            out = pl.store(pl.add(pl.load(x, [0, 0], [4, 64]), 1.0), [0, 0], out)
            return out

    x, out = torch.randn(16, 64), torch.zeros(16, 64)
    script(P)["main"](x, out)
    assert torch.equal(out[4:], x[4:]) and torch.equal(out[:4], x[:4] + 1)
    text = ir.python_print(P, format=False)
    assert ir.structural_diff(pl.parse(text), P) is None


def test_another_tensor_does_not_take_the_name_of_a_partly_valid_one():
    text = """@pl.function(type=pl.FunctionType.InCore)
def f(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32,
      pl.TensorView(valid_shape=[5, 64], layout=pl.TensorLayout.ND)]]):
    out = pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], x)
    return out
"""
    with pytest.raises(pl.ParserTypeError, match="Cannot reassign 'out'"):
        pl.parse(text)


def test_a_dimension_may_be_named_as_a_scalar_parameter():
    @pl.program
    class P:
        @pl.function
        def main(
            self,
            x: pl.Tensor[[ROWS, 64], pl.FP32],
            rows: pl.Scalar[pl.INT32],
            out: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]],
        ):
            for r in pl.range(rows):
                with pl.at(level=pl.Level.CORE_GROUP):
                    out[r : r + 1, :] = pl.mul(x[r : r + 1, :], 2.0)
            return out

    x, out = torch.randn(8, 64), torch.zeros(8, 64)
    script(P)["main"](x, 8, out)
    assert torch.equal(out, x * 2)


def test_auto_is_the_address_that_the_compiler_chooses():
    text = (
        "@pl.function(type=pl.FunctionType.AIV)\ndef f(x: pl.Tensor[[16, 64], pl.FP32]):\n"
        "    b = pl.reserve_buffer(name='q', size=64, base={})\n"
    )
    assert pl.AUTO == -1
    assert ir.structural_diff(pl.parse(text.format("pl.AUTO")), pl.parse(text.format("-1"))) is None


FOLDER = Path(__file__).parent
SOURCE = FOLDER / "operands.cpp"


@pytest.mark.parametrize(
    "spelled", ["SOURCE", "FOLDER / NAME", "Path(HERE)", "FOLDER.joinpath(NAME)",
                "Path(HERE).with_name(NAME).absolute()", "str_path", "NAME"],
)  # fmt: skip
def test_a_kernel_source_may_be_a_path(tmp_path, spelled):
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text("// kernel\n")
    values = {"SOURCE": kernel, "FOLDER": tmp_path, "NAME": "kernel.cpp", "Path": Path, "HERE": str(kernel),
              "str_path": os.fspath(kernel)}  # fmt: skip
    text = (
        f"@pl.function(type=pl.FunctionType.AIV, external_source={spelled})\n"
        "def f(x: pl.Tensor[[16, 64], pl.FP32]): ...\n"
    )
    found = pl.parse(text, str(tmp_path / "program.py"), closure=values)
    assert found.attrs["external_source"] == str(kernel)


def test_a_kernel_source_that_is_no_path_is_refused():
    with pytest.raises(pl.ParserTypeError, match="external_source is a string or a path, not '3'"):
        pl.parse(
            "@pl.function(type=pl.FunctionType.AIV, external_source=3)\n"
            "def f(x: pl.Tensor[[4], pl.FP32]): ...\n"
        )


PROGRAM = """@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 64], pl.{name}], out: pl.Out[pl.Tensor[[16, 64], pl.{name}]]):
        out = pl.store(pl.load(x, [0, 0], [16, 64]), [0, 0], out)
        return out
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 64], pl.{name}], out: pl.Out[pl.Tensor[[16, 64], pl.{name}]]):
        out = self.k(x, out)
        return out
"""


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_a_compiled_call_takes_unsigned_integers_as_signed_ones(tmp_path, bits):
    compiled = ir.compile(pl.parse(PROGRAM.format(name=f"UINT{bits}")), output_dir=str(tmp_path))
    signed, unsigned = (getattr(torch, f"{sign}int{bits}") for sign in ("", "u"))
    x = (torch.arange(1024).reshape(16, 64) - 512).to(signed)
    for own in (x, x.view(unsigned)):
        for dtype in (signed, unsigned):
            out = torch.zeros(16, 64, dtype=dtype)
            compiled(own, out)
            assert torch.equal(out.view(signed), x)
    with pytest.raises(ValueError, match="is torch.float32"):
        compiled(x.float(), torch.zeros(16, 64, dtype=signed))


@pl.jit
def copied(x: pl.Tensor[[16, 64], pl.UINT32], out: pl.Out[pl.Tensor[[16, 64], pl.UINT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = x
    return out


def test_a_jit_call_takes_unsigned_integers_as_signed_ones():
    x, out = (
        torch.arange(1024, dtype=torch.int32).reshape(16, 64) - 512,
        torch.zeros(16, 64, dtype=torch.int32),
    )
    copied(x, out)
    assert torch.equal(out, x)
