"""Text of host collectives and of window buffers: keywords that stay integers, and calls of builtin ops."""

# ruff: noqa: E501

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import AttrKind

# As LowerHostTensorCollectives prints them.
HOST = """# pypto.program: Summed
import pypto.language as pl

@pl.program
class Summed:
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self):
        data_buf__ssa_v0: pl.Ptr = pld.tensor.alloc_window_buffer(pl.const(512, pl.INT64))
        sig_buf__ssa_v0: pl.Ptr = pld.tensor.alloc_window_buffer(8)
        data__ssa_v0: pld.DistributedTensor[[1, 128], pl.FP32] = pld.tensor.window(data_buf__ssa_v0, [1, 128], dtype=pl.FP32)
        sig__ssa_v0: pld.DistributedTensor[[2, 1], pl.INT32] = pld.tensor.window(sig_buf__ssa_v0, [2, 1], dtype=pl.INT32)
        for r in pl.range(pl.const(0, pl.INT64), pld.system.world_size(), pl.const(1, pl.INT64)):
            pl.builtin.tensor.allreduce(data__ssa_v0, sig__ssa_v0, op=1, dtype=pl.FP32, core_num=1, attrs={"op": 1, "dtype": pl.FP32, "core_num": 1, "device": r, "arg_directions": [pl.adir.inout, pl.adir.inout]})
        pl.builtin.tensor.barrier(sig__ssa_v0, attrs={"device": pl.const(1, pl.INT64), "arg_directions": [pl.adir.inout]})
        total__ssa_v0: pld.DistributedTensor[[1, 128], pl.FP32] = pld.tensor.allreduce(data__ssa_v0, sig__ssa_v0, op=1, mode='mesh', core_num=2)
"""


def calls(op: str, text: str = HOST) -> list[ir.Call]:
    return [node for node in ir.walk(pl.parse(text)) if isinstance(node, ir.Call) and node.op.name == op]


def test_the_text_prints_again() -> None:
    assert ir.python_print(pl.parse(HOST), format=False) == HOST


def test_a_builtin_op_is_read_by_its_name_with_attributes_in_their_order() -> None:
    (barrier,) = calls("builtin.tensor.barrier")
    assert list(barrier.attrs) == ["device", "arg_directions"]
    (reduce,) = calls("builtin.tensor.allreduce")
    assert list(reduce.attrs) == ["op", "dtype", "core_num", "device", "arg_directions"]


def test_a_builtin_op_is_nothing_that_users_write() -> None:
    text = HOST.removeprefix("# pypto.program: Summed\n")
    with pytest.raises(pl.parser.UnsupportedFeatureError, match="a call of 'pl.builtin.tensor.allreduce'"):
        pl.parse(text)


def test_core_num_of_an_op_is_an_integer() -> None:
    (builtin,), (called,) = calls("builtin.tensor.allreduce"), calls("pld.tensor.allreduce")
    assert (builtin.kwargs["core_num"], builtin.kwargs.kinds["core_num"]) == (1, AttrKind.INT)
    assert (builtin.attrs["core_num"], builtin.attrs.kinds["core_num"]) == (1, AttrKind.INT)
    assert (called.kwargs["core_num"], called.kwargs.kinds["core_num"]) == (2, AttrKind.INT)


def test_core_num_of_an_op_that_is_an_expression_stays_one() -> None:
    one = ir.ConstInt(1, ir.DataType.INDEX, ir.Span.unknown())
    attrs = ir.AttrMap.of_stored([("core_num", AttrKind.EXPR, one)])
    call = ir.Call(ir.Op("tile.other"), [], None, attrs, ir.UnknownType(), ir.Span.unknown())
    body = ir.EvalStmt(call, ir.Span.unknown())
    whole = ir.Program([ir.Function("f", [], [], body, ir.Span.unknown())], "P", ir.Span.unknown())
    text = ir.python_print(whole, format=False)
    assert 'attrs={"core_num": pl.const(1, pl.INDEX)}' in text
    assert ir.structural_equal(pl.parse(text), whole)


def test_kernels_state_core_num_as_an_integer_too() -> None:
    text = """
@pl.program
class P:
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host(self):
        data_buf = pld.alloc_window_buffer([1, 128], dtype=pl.FP32)
        sig_buf = pld.alloc_window_buffer([2, 1], dtype=pl.INT32)
        data = pld.window(data_buf, [1, 128], dtype=pl.FP32)
        sig = pld.window(sig_buf, [2, 1], dtype=pl.INT32)
        data = pld.tensor.allreduce(data, sig, op=pld.ReduceOp.Max, core_num=2)
"""
    (called,) = calls("pld.tensor.allreduce", text)
    assert (called.kwargs["core_num"], called.kwargs.kinds["core_num"]) == (2, AttrKind.INT)


def test_sizes_of_window_buffers_keep_their_dtypes() -> None:
    sizes = [call.args[0] for call in calls("pld.tensor.alloc_window_buffer")]
    assert sorted((size.value, size.dtype.name) for size in sizes) == [(8, "INDEX"), (512, "INT64")]


def test_a_number_is_a_float_where_the_op_takes_one() -> None:
    text = HOST.partition("        data_buf")[0] + (
        "        x: pl.Tensor[[8, 32], pl.FP32] = pl.tensor.create([8, 32], dtype=pl.FP32, init_value=1)\n"
    )
    (created,) = calls("tensor.create", text)
    assert (str(created.kwargs["init_value"]), created.kwargs.kinds["init_value"]) == ("1.0", AttrKind.FLOAT)
