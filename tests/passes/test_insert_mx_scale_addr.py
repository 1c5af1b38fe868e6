"""InsertMxScaleAddr: scales are bound to what they scale, where there are memories of scales."""

import pytest
from passes.kernels import after, body, program

from pypto_tmpl import backend, passes

PASS = "InsertMxScaleAddr"
KERNEL = """
    @pl.function(type=pl.FunctionType.{kind})
    def kernel(self, a: pl.Tensor[[16, 64], pl.FP8E4M3FN], s: pl.Tensor[[16, 2], pl.FP8E8M0],
               b: pl.Tensor[[64, 32], pl.FP8E4M3FN], t: pl.Tensor[[2, 32], pl.FP8E8M0]):
        la = pl.move(pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        ls = pl.move(pl.load(s, [0, 0], [16, 2], target_memory=pl.Mem.Mat), target_memory=pl.Mem.LeftScale)
        rb = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        rt = pl.move(pl.load(t, [0, 0], [2, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.RightScale)
        c = pl.matmul_mx(la, ls, rb, rt)
        d = pl.matmul_mx_acc(c, la, ls, rb, rt)
"""


@pytest.fixture(autouse=True)
def ascend950():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend950)
    yield
    backend.reset_for_testing()


def test_both_scales_of_each_product_are_bound_before_it():
    got = [line for line in after(PASS, program(KERNEL.format(kind="InCore"))) if "tile.move" not in line]
    assert got == [
        "ls_bound = pl.tile.tget_scale_addr(ls, la)",
        "rt_bound = pl.tile.tget_scale_addr(rt, rb)",
        "c = pl.tile.matmul_mx(la, ls_bound, rb, rt_bound)",
        "ls_bound_1 = pl.tile.tget_scale_addr(ls, la)",
        "rt_bound_1 = pl.tile.tget_scale_addr(rt, rb)",
        "d = pl.tile.matmul_mx_acc(c, la, ls_bound_1, rb, rt_bound_1)",
    ]


def test_other_functions_than_kernels_of_both_cores_stay():
    node = program(KERNEL.format(kind="AIC"))
    assert passes.make_pass(PASS)(node) is node
    assert not any("tget_scale_addr" in line for line in body(node, "kernel"))


def test_a_backend_without_memories_of_scales_is_an_error():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    with pytest.raises(passes.PassError) as raised:
        passes.make_pass(PASS)(program(KERNEL.format(kind="InCore")))
    assert str(raised.value) == (
        "error[pass]: tile.matmul_mx: the backend 910B has no memory for scales, so that it cannot multiply"
        " with them\n"
        "  --> <string>:14:13\n"
        "   = in function 'kernel', variable 'ls'"
    )
