"""Arguments: what a kernel takes, what it is specialised for, and what it refuses."""

# ruff: noqa: E501

import ctypes
import re

import pytest
import torch
from jit_text import program_text

import pypto_tmpl.language as pl

N = pl.dynamic("N")


def empty(*shape, dtype=torch.float32):
    return torch.empty(shape, dtype=dtype, device="meta")


@pl.jit
def scale(x: pl.Tensor[[N, 8], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[N, 8], pl.FP32]]):
    y = pl.assemble(y, pl.mul(x, n), [0, 0])
    return y


@pl.jit
def bare(x: pl.Tensor):
    pl.exp(x)


@pl.jit
def floats(x: pl.Tensor, k: pl.Scalar[pl.FP32], b: pl.Scalar[pl.BOOL]):
    pl.mul(x, k)


@pytest.mark.parametrize(
    ("dtype", "name", "extent"),
    [
        (torch.float16, "FP16", 8),
        (torch.float32, "FP32", 8),
        (torch.bfloat16, "BF16", 8),
        (torch.int8, "INT8", 8),
        (torch.int16, "INT16", 8),
        (torch.int32, "INT32", 8),
        (torch.int64, "INT64", 8),
        (torch.uint8, "UINT8", 8),
        (torch.bool, "BOOL", 8),
        (torch.float8_e4m3fn, "FP8E4M3FN", 8),
        (torch.float8_e5m2, "FP8E5M2", 8),
        (torch.float8_e8m0fnu, "FP8E8M0", 8),
        (torch.float4_e2m1fn_x2, "FP4", 16),
    ],
)
def test_dtypes(dtype, name, extent):
    assert f"x: pl.Tensor[[4, {extent}], pl.{name}]" in program_text(bare, empty(4, 8, dtype=dtype))


@pytest.mark.parametrize("value", [3, ctypes.c_int32(3), torch.tensor(3)])
def test_scalar_forms(value):
    assert "pl.mul(x, 3)" in program_text(scale, empty(4, 8), value, empty(4, 8))


@pytest.mark.parametrize(
    ("kernel", "args", "message"),
    [
        (scale, [empty(4, 8), 2.0, empty(4, 8)], "scale(): argument 'n' is a scalar of dtype INT32, got float 2.0"),
        (scale, [empty(4, 8), True, empty(4, 8)], "scale(): argument 'n' is a scalar of dtype INT32, got bool True"),
        (scale, [empty(4, 8), 1 << 31, empty(4, 8)], "scale(): argument 'n' is 2147483648, which does not fit its dtype INT32"),
        (scale, [empty(4, 8), empty(4), empty(4, 8)], "scale(): argument 'n' is a scalar of dtype INT32, got Tensor"),
        (floats, [empty(4), 2, 1], "floats(): argument 'b' is a scalar of dtype BOOL, got int 1"),
        (scale, [3, 2, empty(4, 8)], "scale(): argument 'x' is a tensor, got int"),
        (scale, [empty(4, 9), 2, empty(4, 8)], "scale(): argument 'x' has the shape [4, 9], it is declared as [N, 8]"),
        (scale, [empty(4), 2, empty(4, 8)], "scale(): argument 'x' has the shape [4], it is declared as [N, 8]"),
        (scale, [empty(4, 8, dtype=torch.int8), 2, empty(4, 8)], "scale(): argument 'x' has the dtype int8, its parameter is declared as FP32"),
        (bare, [empty(4, dtype=torch.float64)], "bare(): argument 'x' has the dtype float64; kernels take float16, float32"),
        (bare, [], "bare(): argument 'x' is not given, and its annotation has no shape and dtype"),
        (scale, [empty(4, 8)], "scale() is called without n"),
        (bare, [empty(4), 3], "bare(): too many positional arguments; parameters: x"),
    ],
)  # fmt: skip
def test_what_is_refused(kernel, args, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        kernel.specialize(*args)


def test_an_output_may_be_left_out_where_its_annotation_tells_its_type():
    assert "y: pl.Out[pl.Tensor[[N, 8], pl.FP32]]" in program_text(scale, empty(4, 8), 2)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        ("pl.Tensor[[4, 8], pl.FP32, pl.TensorView(stride=[8, 1])]", "a JIT annotation takes a layout"),
        ("pl.Tensor[[4.5, 8], pl.FP32]", "an extent is an integer or a pl.dynamic(...), not 4.5"),
        ("pl.Tensor[[4, 8]]", "a tensor is pl.Tensor or pl.Tensor[[extents], dtype]"),
        ("pl.InOut[pl.Scalar[pl.INT32]]", "a scalar cannot be InOut"),
        ("int", "cannot be declared as int"),
        ("'pl.Nothing'", "cannot be evaluated: AttributeError"),
    ],
)
def test_annotations_that_are_refused(tmp_path, monkeypatch, annotation, message):
    name = f"annotated_{abs(hash(annotation))}"
    (tmp_path / f"{name}.py").write_text(
        f"import pypto_tmpl.language as pl\n\n@pl.jit\ndef kernel(x: {annotation}):\n    pl.exp(x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    kernel = __import__(name).kernel
    with pytest.raises(pl.ParserTypeError) as caught:
        kernel.specialize()
    assert message in str(caught.value)
    assert f"{name}.py:4:" in str(caught.value)
    assert f" 4 | def kernel(x: {annotation}):" in str(caught.value)


def test_a_view_in_place_of_a_layout_is_a_type_error():
    @pl.jit
    def kernel(x: pl.Tensor[[4, 8], pl.FP32, pl.TensorView(stride=[8, 1])]):
        pl.exp(x)

    with pytest.raises(TypeError):
        kernel.specialize()


def test_a_parameter_without_annotation():
    @pl.jit
    def kernel(x):
        pl.exp(x)

    with pytest.raises(pl.ParserTypeError, match="parameter 'x' has no annotation"):
        kernel.specialize()
