"""InjectGMPipeBuffer: who takes the buffer of a pipe, who hands it on, and who creates it."""

import pytest
from passes.kernels import body, program

from pypto_tmpl import backend, ir, passes

PASS = "InjectGMPipeBuffer"
T = "pl.Tensor[[16, 16], pl.FP32]"
PROGRAM = f"""
    @pl.function(type=pl.FunctionType.AIC)
    def k_aic(self, x: {T}, out: pl.Out[{T}]):
        s = pl.system.import_peer_buffer(name="b", peer_func="k_aiv")
        pl.system.aic_initialize_pipe(s, 0, dir_mask=1, slot_size=1024, slot_num=2)
    @pl.function(type=pl.FunctionType.AIV)
    def k_aiv(self, x: {T}, out: pl.Out[{T}]) -> {T}:
        s = pl.system.reserve_buffer(name="b", size=2048, base=-1)
        pl.system.aiv_initialize_pipe(s, 0, dir_mask=1, slot_size=1024, slot_num=2)
        done = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], out)
        return done
    @pl.function(type=pl.FunctionType.Group)
    def k(self, x: {T}, out: pl.Out[{T}]) -> {T}:
        self.k_aic(x, out)
        r = self.k_aiv(x, out)
        return r
    @pl.function(type=pl.FunctionType.Spmd)
    def blocks(self, x: {T}, out: pl.Out[{T}]) -> {T}:
        r = self.k(x, out)
        return r
    @pl.function(type=pl.FunctionType.AIV)
    def other(self, x: {T}, out: pl.Out[{T}]) -> {T}:
        done = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], out)
        return done
    @pl.function(type=pl.FunctionType.Orchestration)
    def inner(self, x: {T}, out: pl.Out[{T}]) -> {T}:
        r = self.blocks(x, out)
        return r
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, out: pl.Out[{T}]) -> {T}:
        for i, (o,) in pl.range(2, init_values=(out,)):
            p = self.k(x, o)
            q = self.other(x, p)
            r = pl.yield_(q)
        s, tid = pl.submit(self.k, x, r)
        t = self.inner(x, s)
        return t
"""
CREATE = "pl.tensor.create([1], dtype=pl.FP32, layout=pl.TensorLayout.ND, manual_dep=True)"


@pytest.fixture(autouse=True)
def ascend910b():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


def test_functions_of_pipes_take_the_buffer_and_their_callers_hand_it_on():
    node = passes.make_pass(PASS)(program(PROGRAM))
    for name, is_handed in (
        ("k_aic", True),
        ("k_aiv", True),
        ("k", True),
        ("blocks", True),
        ("other", False),
        ("inner", False),
        ("main", False),
    ):
        function = node.get_function(name)
        assert (function.params[-1].name_hint == "__gm_pipe_buffer") is is_handed, name
        if is_handed:
            assert function.param_directions[-1] is ir.ParamDirection.Out
            assert str(function.params[-1].type) == "pl.Tensor[[1], pl.FP32]"
    assert body(node, "k") == [
        "self.k_aic(x, out, __gm_pipe_buffer)",
        "r = self.k_aiv(x, out, __gm_pipe_buffer)",
        "return r",
    ]
    assert body(node, "blocks") == ["r = self.k(x, out, __gm_pipe_buffer)", "return r"]


def test_orchestration_creates_a_buffer_before_each_call():
    node = passes.make_pass(PASS)(program(PROGRAM))
    assert body(node, "inner") == [
        f"gm_pipe_buffer_0 = {CREATE}",
        "r = self.blocks(x, out, gm_pipe_buffer_0)",
        "return r",
    ]
    assert body(node, "main") == [
        "for i, (o,) in pl.range(2, init_values=(out,)):",
        f"  gm_pipe_buffer_0 = {CREATE}",
        "  p = self.k(x, o, gm_pipe_buffer_0)",
        "  q = self.other(x, p)",
        "  r = pl.yield_(q)",
        f"gm_pipe_buffer_1 = {CREATE}",
        "_submit_tmp = pl.submit(self.k, x, r, gm_pipe_buffer_1)",
        "s = _submit_tmp[0]",
        "tid = _submit_tmp[1]",
        "t = self.inner(x, s)",
        "return t",
    ]


def test_a_second_run_adds_nothing():
    node = passes.make_pass(PASS)(program(PROGRAM))
    assert passes.make_pass(PASS)(node) is node


@pytest.mark.parametrize("chosen", [None, backend.BackendType.Ascend950])
def test_other_hardware_has_pipes_of_its_own(chosen):
    backend.reset_for_testing()
    if chosen is not None:
        backend.set_backend_type(chosen)
    node = program(PROGRAM)
    assert passes.make_pass(PASS)(node) is node
