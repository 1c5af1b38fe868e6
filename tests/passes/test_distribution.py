"""Passes over programs of several ranks: signals, domains, dispatches of collectives, contexts."""

import re

import pytest
from passes.kernels import HEAD

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes

IMPORTS = "import pypto.language.distributed as pld\n"
W, S = "pld.DistributedTensor[[4, 8], pl.FP32]", "pld.DistributedTensor[[4, 1], pl.INT32]"
CHIP = f"""
    @pl.function(type=pl.FunctionType.Orchestration)
    def chip(self, w: {W}) -> {W}:
        return w
    @pl.function(type=pl.FunctionType.Orchestration)
    def both(self, w: {W}, s: {S}) -> {W}:
        return w
"""
HOST = "    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)\n    def host(self):\n"
WINDOW = ("w_buf = pld.alloc_window_buffer(128)", "w = pld.window(w_buf, [4, 8], dtype=pl.FP32)")
SIGNAL = ("s_buf = pld.alloc_window_buffer(16)", "s = pld.window(s_buf, [4, 1], dtype=pl.INT32)")
ALL = ("for r in pl.range(pld.world_size()):", "    self.chip(w, device=r)")
EACH = ("for r in pl.range(pld.world_size()):", "    self.both(w, s, device=r)")


def program(*lines: str) -> ir.Program:
    """A host function of these lines, with chip functions that take a window, and a signal too."""
    return pl.parse(
        IMPORTS + HEAD + CHIP + HOST + "".join(f"        {line}\n" for line in (*lines, "return 0"))
    )


def run(node: ir.Program, *names: str) -> ir.Program:
    for name in names:
        node = passes.make_pass(name)(node)
    return node


def host(node: ir.Program) -> list[str]:
    """The lines of the host function, without annotations."""
    text = ir.python_print(node, format=False).partition("def host")[2].partition("    @pl.function")[0]
    return [re.sub(r": pld?\.[^=]*? = ", " = ", line.strip()) for line in text.splitlines()[1:]]


SCOPES = ("SynthesizeAllReduceSignals", "MaterializeCommDomainScopes")
LOWERED = (*SCOPES, "LowerHostTensorCollectives")


def refused(node: ir.Program, *names: str) -> str:
    """What the last of the passes says against a program."""
    node = run(node, *names[:-1])
    with pytest.raises(passes.PassError) as caught:
        run(node, names[-1])
    text = str(caught.value)
    assert "'host'" in text and re.search(r":\d+:\d+", text), text
    return text


def test_a_sum_without_signal_gets_a_window_of_cells():
    node = program(*WINDOW, *ALL, "x = pld.tensor.allreduce(w, core_num=2)")
    assert host(run(node, SCOPES[0]))[4:] == [
        "__allreduce_signal_world_size_0 = pld.system.world_size()",
        "__allreduce_signal_buf_0 = pld.tensor.alloc_window_buffer"
        "(__allreduce_signal_world_size_0 * pl.const(2, pl.INT64) * pl.const(4, pl.INT64))",
        "__allreduce_signal_0 = pld.tensor.window(__allreduce_signal_buf_0,"
        " [__allreduce_signal_world_size_0, pl.const(2, pl.INT64)], dtype=pl.INT32)",
        "x = pld.tensor.allreduce(w, __allreduce_signal_0, op=0, mode='mesh', core_num=2)",
        "return 0",
    ]


def test_a_returned_sum_is_bound_first():
    text = IMPORTS + HEAD + CHIP + HOST.replace("(self):", f"(self) -> {W}:")
    lines = (*WINDOW, *ALL, "return pld.tensor.allreduce(w)")
    node = pl.parse(text + "".join(f"        {line}\n" for line in lines))
    assert host(run(node, SCOPES[0]))[-2:] == [
        "__allreduce_result_0 = pld.tensor.allreduce(w, __allreduce_signal_0, op=0, mode='mesh', core_num=1)",
        "return __allreduce_result_0",
    ]


def test_a_sum_without_signal_in_a_loop_is_refused():
    node = program(*WINDOW, *ALL, "for k in pl.range(3):", "    pld.tensor.allreduce(w)")
    assert "inside a for/while loop on the HOST rail: give the sum of 'w'" in refused(node, SCOPES[0])


DOMAINS = {
    "all": (ALL, (), "devices=all"),
    "listed": (("self.chip(w, device=2)", "self.chip(w, device=0)"), (0, 2), "devices=[0, 2]"),
    "range": (("for r in pl.range(1, 3):", "    self.chip(w, device=r)"), (1, 2), "devices=[1, 2]"),
    "all and one": (("self.chip(w, device=2)", *ALL), (), "devices=all"),
}


@pytest.mark.parametrize("name", DOMAINS)
def test_the_devices_of_a_domain(name):
    dispatches, devices, text = DOMAINS[name]
    node = run(program(*WINDOW, *dispatches), *SCOPES)
    function = node.get_function("host")
    assert isinstance(function.body, ir.CommDomainScopeStmt)
    assert function.body.devices == devices and function.body.name_hint == "comm_d0"
    assert host(node)[0] == f"# pld.comm_domain: {text}, slots=[w_buf]"


def test_a_window_type_names_its_buffer():
    node = run(program(*WINDOW, *ALL), *SCOPES)
    scope = node.get_function("host").body
    (window,) = [
        stmt.var
        for stmt in scope.body.stmts
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.DistributedTensorType)
    ]
    assert window.type.window_buffer is scope.slots[0]


def test_a_signal_lies_where_the_data_of_its_sum_does():
    node = program(*WINDOW, *SIGNAL, "self.chip(w, device=1)", "x = pld.tensor.allreduce(w, s)")
    assert host(run(node, *SCOPES))[0] == "# pld.comm_domain: devices=[1], slots=[w_buf, s_buf]"


BAD_DEVICES = {
    "device=r + 1": (
        ("for r in pl.range(pld.world_size()):", "    self.chip(w, device=r + 1)"),
        "device= expression must be ConstInt or the induction var of pl.range",
    ),
    "step": (
        ("for r in pl.range(0, 4, 2):", "    self.chip(w, device=r)"),
        "non-unit-step loop is not supported (step=2)",
    ),
    "none": (("self.chip(w)",), "windows are given to a dispatch without device="),
    "unused": ((), "pld.tensor.alloc_window_buffer 'w_buf' is not consumed by any chip_orch dispatch"),
}


@pytest.mark.parametrize("name", BAD_DEVICES)
def test_devices_that_are_not_known_are_refused(name):
    dispatches, what = BAD_DEVICES[name]
    assert f"MaterializeCommDomainScopes: {what}" in refused(program(*WINDOW, *dispatches), *SCOPES)


def test_an_allocation_without_window_is_refused():
    what = "pld.tensor.alloc_window_buffer 'w_buf' has no pld.tensor.window materialisation (dead allocation)"
    assert what in refused(program(WINDOW[0]), *SCOPES)


def test_a_collective_becomes_one_call_on_each_listed_device():
    node = program(*WINDOW, *SIGNAL, "self.both(w, s, device=1)", "self.both(w, s, device=0)",
                   "x = pld.tensor.allreduce(w, s, op=pld.ReduceOp.Max)")  # fmt: skip
    attrs = 'attrs={{"op": 1, "dtype": pl.FP32, "core_num": 1, "device": pl.const({}, pl.INT64), '
    call = "pl.builtin.tensor.allreduce(w, s, op=1, dtype=pl.FP32, core_num=1, " + attrs
    directions = '"arg_directions": [pl.adir.inout, pl.adir.inout]})'
    assert host(run(node, *LOWERED))[-4:-1] == [
        call.format(0) + directions,
        call.format(1) + directions,
        "x = w",
    ]


def test_a_sum_of_what_a_broadcast_gave_is_one_of_its_window():
    signal = (SIGNAL[0], "s = pld.window(s_buf, [4], dtype=pl.INT32)")
    calls = ("y = pld.tensor.broadcast(w, s, root=0)", "x = pld.tensor.allreduce(y, s)")
    lines = host(run(program(*WINDOW, *signal, "self.chip(w, device=0)", *calls), *LOWERED))
    assert lines[0] == "# pld.comm_domain: devices=[0], slots=[w_buf, s_buf]"
    made = [line.partition(", attrs=")[0] for line in lines[-5:-1]]
    assert made == [
        "pl.builtin.tensor.broadcast(w, s, root=0, dtype=pl.FP32",
        "y = w",
        "pl.builtin.tensor.allreduce(y, s, op=0, dtype=pl.FP32, core_num=1",
        "x = y",
    ]


def test_a_collective_over_all_devices_becomes_a_loop():
    node = program(*WINDOW, *SIGNAL, *EACH, "x = pld.tensor.allreduce(w, s)")
    lines = host(run(node, *LOWERED))
    start = lines.index(
        "for r_1 in pl.range(pl.const(0, pl.INT64), pld.system.world_size(), pl.const(1, pl.INT64)):"
    )
    assert lines[start + 1].startswith("pl.builtin.tensor.allreduce(w, s, op=0, dtype=pl.FP32, core_num=1,")
    assert '"device": r_1' in lines[start + 1] and lines[start + 2] == "x = w"


TWO = ("self.both(w, s, device=0)", "self.both(w, s, device=1)")
BAD_COLLECTIVES = {
    "barrier of rank 2": ("pld.tensor.barrier(s)", "signal must be of rank 1, got rank 2"),
    "lanes": (
        "pld.tensor.allreduce(w, s, core_num=2)",
        "rank-2 signal shape[1] (1) must be at least the required lane count (2)",
    ),
    "ring": (
        "pld.tensor.allreduce(w, s, mode='ring')",
        'mode="ring" signal shape[1] (1) must be the participating device count (2)',
    ),
}


@pytest.mark.parametrize("name", BAD_COLLECTIVES)
def test_a_collective_that_has_no_builtin_form_is_refused(name):
    call, what = BAD_COLLECTIVES[name]
    assert what in refused(program(*WINDOW, *SIGNAL, *TWO, call), *LOWERED)


def test_windows_of_one_allocation_are_refused():
    again = "s = pld.window(w_buf, [4, 1], dtype=pl.INT32)"
    text = refused(program(*WINDOW, again, *TWO, "x = pld.tensor.allreduce(w, s)"), *LOWERED)
    assert "'w' and 's' must be different window allocations" in text


def test_contexts_are_made_on_the_host_and_handed_down():
    node = run(program(*WINDOW, *SIGNAL, *EACH), *LOWERED, "MaterializeDistTensorCtx")
    assert host(node)[-4:-1] == [
        "w_ctx = pld.system.get_comm_ctx(w)",
        "s_ctx = pld.system.get_comm_ctx(s)",
        "self.both(w, s, w_ctx, s_ctx, device=r)",
    ]
    both = node.get_function("both")
    assert [param.name_hint for param in both.params] == ["w", "s", "w_ctx", "s_ctx"]
    assert [type(param.type) for param in both.params[2:]] == [ir.CommCtxType] * 2
    assert set(both.param_directions[2:]) == {ir.ParamDirection.In}


KERNEL = f"""
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, w: {W}, x: pl.Tensor[[4, 8], pl.FP32], s: {S}, n: pl.Scalar[pl.INT32]) -> {W}:
        t = pl.load(x, [0, 0], [4, 8])
        if n > 0:
            pld.tile.remote_store(t, w, n, [0, 0])
        pld.system.notify(s, n, [0, 0], 1, op=pld.NotifyOp.AtomicAdd)
        pld.system.wait(s, [0, 0], 1, cmp=pld.WaitCmp.Ge)
        done = pl.store(t, [0, 0], w)
        return done
"""


def body_of(node: ir.Program) -> list[str]:
    text = ir.python_print(node, format=False).partition("def kernel")[2]
    return [re.sub(r": pld?\.[^=]*? = ", " = ", line[8:]) for line in text.splitlines()[1:]]


def test_writes_are_fenced_and_waits_forget_the_cache():
    node = run(pl.parse(IMPORTS + HEAD + KERNEL), "InsertCommFence")
    lines = [line.partition("(")[0] for line in body_of(node)]
    assert lines == [
        "t = pl.tile.load",
        "if pl.cast",
        "    pld.tile.remote_store",
        "    pl.system.fence",
        "pld.system.notify",
        "pld.system.wait",
        "pl.system.cacheinvalid",
        "done = pl.tile.store",
        "pl.system.cacheinvalid",
        "pl.system.fence",
        "return done",
    ]
    assert "pl.system.cacheinvalid(w, [4, 8], [0, 0])" in body_of(node)
    assert "pl.system.cacheinvalid()" in body_of(node)


def test_a_kernel_without_windows_is_not_fenced():
    text = KERNEL.replace("pld.DistributedTensor", "pl.Tensor")
    lines = [line for line in text.splitlines() if "pld." not in line and "if n" not in line]
    node = pl.parse(HEAD + "\n".join(lines) + "\n")
    assert run(node, "InsertCommFence") is node
