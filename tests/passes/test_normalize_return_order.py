"""NormalizeReturnOrder: which values are parameters, in which order they are returned, and who follows."""

import pytest
import torch
from passes.kernels import after, body, program

from pypto_tmpl import passes
from pypto_tmpl.debug import torch_codegen

PASS = "NormalizeReturnOrder"
T = "pl.Tensor[[16, 16], pl.FP32]"
SMALL = "pl.Tensor[[1, 16], pl.FP32]"
LOAD = "v = pl.load(x, [0, 0], [16, 16])"


def returned(*lines: str, results: str = T) -> str:
    """What a kernel with two outputs of one type returns behind the pass."""
    head = f"""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: {T}, n: pl.Scalar[pl.INDEX], a: pl.Out[{T}], b: pl.InOut[{T}]) -> {results}:
"""
    node = program(head + "".join(f"        {line}\n" for line in (LOAD, *lines)))
    return after(PASS, node)[-1].strip()


PARAMETERS = {
    "a store": ("r = pl.store(v, [0, 0], a)", "return r"),
    "a store into what was stored": ("p = pl.store(v, [0, 0], a)", "r = pl.store(v, [8, 0], p)", "return r"),
    "another name": ("p = pl.store(v, [0, 0], a)", "r = p", "return r"),
    "a carry": (
        "for i, (o,) in pl.range(2, init_values=(a,)):",
        "    p = pl.store(v, [0, 0], o)",
        "    r = pl.yield_(p)",
        "return r",
    ),
    "both branches": (
        "if n > 0:",
        f"    r: {T} = pl.yield_(pl.store(v, [0, 0], a))",
        "else:",
        f"    r: {T} = pl.yield_(a)",
        "return r",
    ),
    "a carry in a carry": (
        "for i, (o,) in pl.range(2, init_values=(a,)):",
        "    for j, (q,) in pl.range(2, init_values=(o,)):",
        "        p = pl.store(v, [0, 0], q)",
        "        s = pl.yield_(p)",
        "    r = pl.yield_(s)",
        "return r",
    ),
}


@pytest.mark.parametrize("what", PARAMETERS)
def test_a_later_version_of_a_parameter_is_returned_as_the_parameter(what):
    assert returned(*PARAMETERS[what]) == "return a"


OTHERS = {
    "one branch each": (
        "if n > 0:",
        f"    r: {T} = pl.yield_(pl.store(v, [0, 0], a))",
        "else:",
        f"    r: {T} = pl.yield_(pl.store(v, [0, 0], b))",
        "return r",
    ),
    "carries that change places": (
        "for i, (o, q) in pl.range(3, init_values=(a, b)):",
        "    p = pl.store(v, [0, 0], o)",
        "    r, s = pl.yield_(q, p)",
        "return r",
    ),
    "a carry in carries that change places": (
        "for i, (o, q) in pl.range(3, init_values=(a, b)):",
        "    for j, (t,) in pl.range(2, init_values=(o,)):",
        "        p = pl.store(v, [0, 0], t)",
        "        u = pl.yield_(p)",
        "    r, s = pl.yield_(q, u)",
        "return r",
    ),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_may_be_one_parameter_or_another_stays(what):
    assert returned(*OTHERS[what]) == "return r"


def test_results_come_in_the_order_of_the_written_parameters():
    lines = ("p = pl.store(v, [0, 0], a)", "q = pl.store(v, [0, 0], b)", "return q, p")
    assert returned(*lines, results=f"tuple[{T}, {T}]") == "return a, b"


def test_a_result_that_is_no_parameter_leaves_the_order_as_it_is_where_none_comes_out():
    lines = ("p = pl.store(v, [0, 0], a)", "q = pl.store(v, [0, 0], b)", "return q, p, x")
    assert returned(*lines, results=f"tuple[{T}, {T}, {T}]") == "return a, b, x"
    lines = ("p = pl.store(v, [0, 0], a)", "return x, p")
    assert returned(*lines, results=f"tuple[{T}, {T}]") == "return x, a"
    lines = ("q = pl.store(v, [0, 0], b)", "return q")
    assert returned(*lines) == "return b"


CALLEES = f"""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: {T}, small: pl.Out[{SMALL}], large: pl.Out[{T}]) -> tuple[{T}, {SMALL}]:
        v = pl.load(x, [0, 0], [16, 16])
        p = pl.store(pl.tile.slice(v, [1, 16], [3, 0]), [0, 0], small)
        q = pl.store(pl.tile.muls(v, 2.0), [0, 0], large)
        return q, p
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: {T}, small: pl.Out[{SMALL}], large: pl.Out[{T}]) -> tuple[{T}, {SMALL}]:
"""


def values(node) -> list[torch.Tensor]:
    namespace: dict[str, object] = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    x = torch.arange(256.0).reshape(16, 16)
    return list(namespace["main"](x, torch.zeros(1, 16), torch.zeros(16, 16)))


ELEMENTS = "        a = r[0]\n        b = r[1]\n        return a, b\n"


@pytest.mark.parametrize(
    "call", ["r = self.kernel(x, small, large)", "r = pl.submit(self.kernel, x, small, large)"]
)
def test_callers_take_the_elements_from_where_they_are(call):
    node = program(CALLEES + f"        {call}\n{ELEMENTS}")
    got = passes.make_pass(PASS)(node)
    assert body(got, "kernel")[-1] == "return small, large"
    assert body(got, "main") == [call, "a = r[1]", "b = r[0]", "return a, b"]
    assert [str(t) for t in got.get_function("kernel").return_types] == [SMALL, T]
    large, small = values(got)
    assert torch.equal(large, torch.arange(256.0).reshape(16, 16) * 2.0)
    assert torch.equal(small, torch.arange(48.0, 64.0).reshape(1, 16))


def test_a_tuple_that_is_used_as_a_whole_keeps_its_order():
    group = CALLEES.replace(
        "    @pl.function(type=pl.FunctionType.Orchestration)",
        f"""
    @pl.function(type=pl.FunctionType.Orchestration)
    def whole(self, x: {T}, small: pl.Out[{SMALL}], large: pl.Out[{T}]) -> tuple[{T}, {SMALL}]:
        r = self.kernel(x, small, large)
        return r
    @pl.function(type=pl.FunctionType.Orchestration)""",
    )
    node = program(group + f"        r = self.kernel(x, small, large)\n{ELEMENTS}")
    got = passes.make_pass(PASS)(node)
    assert body(got, "kernel")[-1] == "return large, small"
    assert body(got, "main")[1:3] == ["a = r[0]", "b = r[1]"]


def test_groups_return_parameters_in_the_order_that_they_have():
    group = CALLEES.replace("InCore", "AIV").replace("Orchestration", "Group").replace("def main", "def both")
    node = program(group + "        r = self.kernel(x, small, large)\n        return r\n")
    got = passes.make_pass(PASS)(node)
    assert body(got, "both") == ["r = self.kernel(x, small, large)", "return large, small"]
    assert body(got, "kernel")[-1] == "return small, large"


def test_a_lane_that_returns_in_a_branch_returns_parameters_in_its_own_order():
    node = program(f"""
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, x: {T}, a: pl.Out[{T}], b: pl.Out[{T}]) -> tuple[{T}, {T}]:
        lane = pl.tile.get_subblock_idx()
        if lane == 0:
            v = pl.load(x, [0, 0], [16, 16])
            p = pl.store(v, [0, 0], a)
            q = pl.store(v, [0, 0], b)
            return q, p
        else:
            return b, a
""")
    lines = after(PASS, node)
    assert [line.strip() for line in lines if "return" in line] == ["return b, a", "return b, a"]
