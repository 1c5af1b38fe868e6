"""LowerCompositeOps: sine and cosine by value and by text, and what is refused."""

import pytest
import torch
from passes.kernels import after, kernel, program

from pypto_tmpl import ir, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.language.diagnostics import ParserError

PASS = "LowerCompositeOps"
LOAD, STORE = "a = pl.load(x, [0, 0], [16, 16])", "done = pl.store(b, [0, 0], out)"


def lowered(node: ir.Program) -> ir.Program:
    return passes.make_pass(PASS)(node)


def test_sine():
    got = after(PASS, kernel(LOAD, "b = pl.tile.sin(a)", STORE, "return done"))
    assert got[1:32] == [
        "b__pi_inv_x_tmp_v0 = pl.tile.muls(a, 0.31830987334251404)",
        "b__k_i_tmp_v1 = pl.tile.cast(b__pi_inv_x_tmp_v0, target_type=pl.INT32, mode='round')",
        "b__k_f_tmp_v2 = pl.tile.cast(b__k_i_tmp_v1, target_type=pl.FP32, mode='none')",
        "b__k_pi_v2_tmp_v3 = pl.tile.muls(b__k_f_tmp_v2, 3.140625)",
        "b__t0_tmp_v4 = pl.tile.sub(a, b__k_pi_v2_tmp_v3)",
        "b__k_pi_c1_tmp_v5 = pl.tile.muls(b__k_f_tmp_v2, 0.0009670257568359375)",
        "b__t1_tmp_v6 = pl.tile.sub(b__t0_tmp_v4, b__k_pi_c1_tmp_v5)",
        "b__k_pi_c2_tmp_v7 = pl.tile.muls(b__k_f_tmp_v2, 6.2771141529083252e-07)",
        "b__t2_tmp_v8 = pl.tile.sub(b__t1_tmp_v6, b__k_pi_c2_tmp_v7)",
        "b__k_pi_c3_tmp_v9 = pl.tile.muls(b__k_f_tmp_v2, 1.2164491636212915e-10)",
        "b__t3_tmp_v10 = pl.tile.sub(b__t2_tmp_v8, b__k_pi_c3_tmp_v9)",
        "b__k_pi_c4_tmp_v11 = pl.tile.muls(b__k_f_tmp_v2, -1.0290622927356871e-13)",
        "b__t4_tmp_v12 = pl.tile.sub(b__t3_tmp_v10, b__k_pi_c4_tmp_v11)",
        "b__half_k_tmp_v13 = pl.tile.muls(b__k_f_tmp_v2, 0.5)",
        "b__floor_hk_i_tmp_v14 = pl.tile.cast(b__half_k_tmp_v13, target_type=pl.INT32, mode='floor')",
        "b__floor_hk_f_tmp_v15 = pl.tile.cast(b__floor_hk_i_tmp_v14, target_type=pl.FP32, mode='none')",
        "b__floor_x4_tmp_v16 = pl.tile.muls(b__floor_hk_f_tmp_v15, 4.0)",
        "b__neg2_k_tmp_v17 = pl.tile.muls(b__k_f_tmp_v2, -2.0)",
        "b__sign_pre_tmp_v18 = pl.tile.add(b__floor_x4_tmp_v16, b__neg2_k_tmp_v17)",
        "b__sign_tmp_v19 = pl.tile.adds(b__sign_pre_tmp_v18, 1.0)",
        "b__t2sq_tmp_v20 = pl.tile.mul(b__t4_tmp_v12, b__t4_tmp_v12)",
        "b__p_r0_tmp_v21 = pl.tile.muls(b__t2sq_tmp_v20, 2.6049265215988271e-06)",
        "b__p_r1_tmp_v22 = pl.tile.adds(b__p_r0_tmp_v21, -0.00019808944489341229)",
        "b__p_t2_r1_tmp_v23 = pl.tile.mul(b__p_r1_tmp_v22, b__t2sq_tmp_v20)",
        "b__p_r2_tmp_v24 = pl.tile.adds(b__p_t2_r1_tmp_v23, 0.0083330497145652771)",
        "b__p_t2_r2_tmp_v25 = pl.tile.mul(b__p_r2_tmp_v24, b__t2sq_tmp_v20)",
        "b__p_r3_tmp_v26 = pl.tile.adds(b__p_t2_r2_tmp_v25, -0.16666658222675323)",
        "b__p_t2_r3_tmp_v27 = pl.tile.mul(b__p_r3_tmp_v26, b__t2sq_tmp_v20)",
        "b__p_one_tmp_v28 = pl.tile.adds(b__p_t2_r3_tmp_v27, 1.0)",
        "b__t_p_tmp_v29 = pl.tile.mul(b__t4_tmp_v12, b__p_one_tmp_v28)",
        "b = pl.tile.mul(b__sign_tmp_v19, b__t_p_tmp_v29)",
    ]


@pytest.mark.parametrize(("op", "wanted"), [("sin", torch.sin), ("cos", torch.cos)])
def test_values(op, wanted):
    node = lowered(kernel(LOAD, f"b = pl.tile.{op}(a)", STORE, "return done"))
    namespace: dict = {}
    exec(torch_codegen(node), namespace)
    x = torch.linspace(-100.0, 100.0, 256).reshape(16, 16)
    out = torch.zeros(16, 16)
    namespace["kernel"](x, 1, out)
    torch.testing.assert_close(out, wanted(x.double()).float(), rtol=0, atol=2e-6)


def test_a_call_whose_value_nobody_wants_is_computed_all_the_same():
    got = after(PASS, kernel(LOAD, "pl.tile.cos(a)", "done = pl.store(a, [0, 0], out)", "return done"))
    assert got[1] == "eval__pi_inv_x_tmp_v0 = pl.tile.muls(a, 0.31830987334251404)"
    assert got[2] == "eval__k_pre_tmp_v1 = pl.tile.adds(eval__pi_inv_x_tmp_v0, 0.5)"
    assert got[3].endswith("mode='rint')")
    assert got[-2:] == ["done = pl.tile.store(a, [0, 0], out)", "return done"]


def test_numbers_go_on_through_a_function():
    got = after(PASS, kernel(LOAD, "b = pl.tile.sin(a)", "c = pl.tile.sin(b)"))
    assert "c__pi_inv_x_tmp_v30 = pl.tile.muls(b, 0.31830987334251404)" in got


def test_a_returned_sine_has_a_variable():
    text = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32]) -> pl.Tile[[16, 16], pl.FP32]:
        return pl.tile.sin(pl.tile.load(x, [0, 0], [16, 16], [16, 16]))
"""
    got = after(PASS, passes.PassPipeline([]).run(program(text)))
    assert got[-1] == "return ret0__result_tmp_v30"
    assert got[-2].startswith("ret0__result_tmp_v30 = pl.tile.mul(ret0__sign_tmp_v19, ")


WINDOWS = """
    @pl.function(type=pl.FunctionType.{kind}{level})
    def kernel(self, data: pl.InOut[pld.DistributedTensor[[{rows}, 64], pl.{dtype}]],
               signal: pl.InOut[pld.DistributedTensor[[{cells}], pl.INT32]]):
        {line}
"""


def collective(
    line: str, kind: str = "InCore", level: str = "", dtype: str = "FP32", cells: str = "2, 1", rows: int = 2
):
    text = WINDOWS.format(line=line, kind=kind, level=level, dtype=dtype, cells=cells, rows=rows)
    return program("    import pypto.language.distributed as pld\n" + text)


def test_a_barrier():
    got = after(PASS, collective("pld.tensor.barrier(signal)"))
    assert got == [
        "eval__ctx_tmp_v0: pld.CommCtxType = pld.system.get_comm_ctx(signal)",
        "eval__nranks_tmp_v1 = pld.system.nranks(eval__ctx_tmp_v0)",
        "eval__nranks_idx_tmp_v2 = pl.cast(eval__nranks_tmp_v1, pl.INDEX)",
        "eval__my_rank_tmp_v3 = pld.system.rank(eval__ctx_tmp_v0)",
        "for eval__peer_tmp_v4 in pl.range(eval__nranks_idx_tmp_v2):",
        "  if eval__peer_tmp_v4 != pl.cast(eval__my_rank_tmp_v3, pl.INDEX):",
        "    eval__notify_ret_tmp_v5: pl.UnknownType = pld.system.notify(signal, eval__peer_tmp_v4, "
        "[eval__my_rank_tmp_v3, 0], pl.const(1, pl.INT32), op=0)",
        "for eval__src_tmp_v6 in pl.range(eval__nranks_idx_tmp_v2):",
        "  if eval__src_tmp_v6 != pl.cast(eval__my_rank_tmp_v3, pl.INDEX):",
        "    eval__wait_ret_tmp_v7: pl.UnknownType = pld.system.wait(signal, [eval__src_tmp_v6, 0], "
        "pl.const(1, pl.INT32), cmp=1)",
        "for eval__reset_src_tmp_v8 in pl.range(eval__nranks_idx_tmp_v2):",
        "  if eval__reset_src_tmp_v8 != pl.cast(eval__my_rank_tmp_v3, pl.INDEX):",
        "    eval__epilogue_reset_ret_tmp_v9: pl.UnknownType = pld.system.notify(signal, "
        "eval__my_rank_tmp_v3, [eval__reset_src_tmp_v8, 0], pl.const(-1, pl.INT32), op=0)",
    ]


def test_collectives_outside_of_kernels_stay():
    node = collective("pld.tensor.barrier(signal)", kind="Orchestration")
    assert lowered(node) is node


REFUSED = {
    "signal of one axis": (
        {"line": "pld.tensor.barrier(signal)", "cells": "2"},
        "pld.tensor.barrier: signal must be 2D [NR, 1], got rank 1",
    ),
    "signal of several columns": (
        {"line": "got = pld.tensor.allreduce(data, signal)", "cells": "2, 4"},
        "pld.tensor.allreduce: signal shape[1] must be 1 (one cell per rank), got 4",
    ),
    "ring signal of one axis": (
        {"line": "got = pld.tensor.allreduce(data, signal, mode='ring')", "cells": "4"},
        "pld.tensor.allreduce: signal must be 2D [2*(NR-1), NR], got rank 1",
    ),
    "ring signal of too few rows": (
        {"line": "got = pld.tensor.allreduce(data, signal, mode='ring')", "cells": "2, 4"},
        "pld.tensor.allreduce: signal shape[0] (2) must equal 2*(NR-1) = 6 for NR = 4",
    ),
    "no signal": (
        {"line": "got = pld.tensor.allreduce(data)"},
        "pld.tensor.allreduce: requires an explicit signal outside host orchestrator functions",
    ),
    "several cores": (
        {"line": "got = pld.tensor.allreduce(data, signal, core_num=2)"},
        "pld.tensor.allreduce: core_num > 1 is supported only in a HOST orchestrator",
    ),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_where_it_is_read(given, message):
    with pytest.raises(ParserError) as raised:
        collective(**given)
    assert message in str(raised.value) and "<string>:11:" in str(raised.value)


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused_in_a_program_that_nobody_has_read(given, message):
    """Functions of orchestration are not judged: here one is made a kernel behind the reader's back."""
    host = "level=pl.Level.HOST, role=pl.Role.Orchestrator"
    node = collective(**given, kind="Opaque", level=f", {host}")
    (function,) = node.functions.values()
    kernel = ir.Function(
        function.name,
        list(zip(function.params, function.param_directions, strict=True)),
        function.return_types,
        function.body,
        function.span,
        ir.FunctionType.InCore,
    )
    with pytest.raises(passes.PassError) as raised:
        lowered(ir.Program([kernel], "Kernels", node.span))
    assert message in str(raised.value)
    assert "in function 'kernel'" in str(raised.value) and "<string>:11:" in str(raised.value)
