"""Branches that the specialisation settles: what no call with these arguments reaches is not judged."""

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.runtime import RunConfig

PAD = 64
MODE = "plain"


class Settings:
    bias = False


SETTINGS = Settings()


@pl.jit
def padded(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:cols] = pl.mul(x, 2.0)
        if cols < PAD:
            out[:, cols:PAD] = pl.full([rows, PAD - cols], dtype=pl.FP32, value=5.0)
    return out


@pl.jit.incore
def fill_rest(out: pl.Out[pl.Tensor], x: pl.Tensor):
    rest = pl.full([x.shape[0], PAD - x.shape[1]], dtype=pl.FP32, value=5.0)
    out[:, x.shape[1] : PAD] = rest
    return out


@pl.jit.inline
def doubled(x: pl.Tensor):
    return pl.mul(x, 2.0)


@pl.jit
def padded_by_helper(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:cols] = doubled(x)
    if cols < PAD:
        out = fill_rest(out, x)
    return out


@pl.jit
def early_return(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:cols] = pl.mul(x, 2.0)
    if cols == PAD:
        return out
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, cols:PAD] = pl.full([rows, PAD - cols], dtype=pl.FP32, value=5.0)
    return out


@pl.jit
def in_a_loop(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:cols] = pl.mul(x, 2.0)
        for c in pl.range(cols, PAD, 32):
            out[:, c : c + 32] = pl.full([rows, pl.min(32, PAD - cols)], dtype=pl.FP32, value=5.0)
    return out


@pl.jit
def while_there_is_room(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols = x.shape
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, 0:cols] = pl.mul(x, 2.0)
        while cols < PAD:
            out[:, cols:PAD] = pl.full([rows, PAD - cols], dtype=pl.FP32, value=5.0)
            break
    return out


KERNELS = [padded, padded_by_helper, early_return, in_a_loop, while_there_is_room]


@pytest.mark.parametrize("cols", [32, 64])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_padding_where_there_is_room_and_none_where_there_is_none(kernel, cols):
    x, out = torch.randn(16, cols), torch.zeros(16, PAD)
    # ConvertToSSA refuses a jump behind an assignment.
    kernel(x, out, config=RunConfig(stage="frontend" if kernel is while_there_is_room else "last"))
    assert torch.equal(out[:, :cols], x * 2)
    assert (out[:, cols:] == 5).all()


def test_a_helper_that_is_not_reached_stays_in_the_program():
    program = padded_by_helper.specialize(torch.empty(16, 64), torch.empty(16, 64))
    assert {name.name for name in program.functions} == {"padded_by_helper", "fill_rest", "doubled"}
    text = ir.python_print(program, format=False)
    assert "if False:" in text
    assert ir.structural_diff(pl.parse(text), program) is None


@pl.jit
def settled_by_names(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    rows, cols, depth = 1, 2, 3
    with pl.at(level=pl.Level.CORE_GROUP):
        y = pl.mul(x, 2.0)
        if MODE == "deep":
            rows, cols, depth = x.shape
            y = pl.slice(y, [rows, cols, depth], [0, 0, 0])
        if SETTINGS.bias and x.shape[0] > 0:
            rows, cols, depth = x.shape
            y = pl.slice(y, [rows, cols, depth], [0, 0, 0])
        out[:, :] = y
    return out


def test_strings_and_attributes_settle_branches(monkeypatch):
    x, out = torch.randn(4, 64), torch.zeros(4, 64)
    settled_by_names(x, out)
    assert torch.equal(out, x * 2)
    monkeypatch.setitem(globals(), "MODE", "deep")
    with pytest.raises(pl.ParserTypeError, match="has 2 extents, 3 names are given"):
        settled_by_names(x, out)


@pl.jit
def settled_by_scalar(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = x
        if n > 0:
            out[:, 0:n] = pl.full([4, n], dtype=pl.FP32, value=1.0)
    return out


def test_a_baked_scalar_settles_a_branch():
    x, out = torch.randn(4, 64), torch.zeros(4, 64)
    settled_by_scalar(x, 0, out)
    assert torch.equal(out, x)
    settled_by_scalar(x, 8, out)
    assert (out[:, :8] == 1).all() and torch.equal(out[:, 8:], x[:, 8:])


@pl.jit.inline
def row_sums(x: pl.Tensor):
    return pl.row_sum(x[:, 0:PAD])


@pl.jit
def live_after_dead(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        if x.shape[1] > PAD:
            s = row_sums(x)
        s = row_sums(x)
        out[:, :] = s
    return out


def test_a_helper_of_dead_and_living_code_is_judged():
    x, out = torch.randn(4, 64), torch.zeros(4, 1)
    live_after_dead(x, out)
    torch.testing.assert_close(out, x.sum(1, keepdim=True))
    program = live_after_dead.specialize(x, out)
    assert {name.name for name in program.functions} == {"live_after_dead", "row_sums"}


@pl.jit.inline
def empty_tail(x: pl.Tensor):
    return x[:, PAD:PAD]


@pl.jit
def wrong_after_dead(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        if x.shape[1] > PAD:
            s = empty_tail(x)
        s = empty_tail(x)
        out[:, :] = s
    return out


@pl.jit
def wrong_only_in_dead(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        if x.shape[1] > PAD:
            s = empty_tail(x)
            out[:, :] = s
        else:
            s = pl.row_sum(x)
            out[:, :] = s
    return out


def test_a_helper_with_an_error_is_one_where_it_is_reached():
    x, out = torch.randn(4, 64), torch.zeros(4, 1)
    with pytest.raises(pl.ParserTypeError, match="the slice 'PAD:PAD' is empty|'64:64' is empty"):
        wrong_after_dead(x, out)
    wrong_only_in_dead(x, out)
    torch.testing.assert_close(out, x.sum(1, keepdim=True))


def test_what_a_call_reaches_keeps_its_error():
    with pytest.raises(pl.ParserTypeError, match="ends before it begins"):
        early_return(torch.randn(16, 96), torch.zeros(16, 128))


@pl.jit
def misspelt(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = x
        if x.shape[1] > PAD:
            out[:, :] = pl.mul(x, facter)  # noqa: F821
    return out


def test_a_name_that_nothing_defines_is_an_error_in_dead_code():
    with pytest.raises(pl.UndefinedVariableError, match="facter"):
        misspelt(torch.randn(4, 64), torch.zeros(4, 64))
