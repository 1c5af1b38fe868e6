"""ExpandMixedKernel: memory that both cores use is used in the order of the kernel, or that is refused."""

import re

import pytest
import torch
from passes.kernels import body
from passes.mixed_kernels import LOAD_R, PRODUCT, STRICT, VEC, all_results, inputs, mixed, result

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import set_options, torch_codegen

SQUARE = "[32, 64], [32, 64]"
RETURN = "return done"
TO_THE_END = ("ExpandMixedKernel", "SplitVectorKernel", "StampTfreeSplit", "NormalizeReturnOrder",
              "SkewCrossCorePipeline", "LowerPipelineLoops", "CanonicalizeIOOrder")  # fmt: skip


@pytest.fixture(autouse=True)
def a_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend950)
    yield
    backend.reset_for_testing()


def expanded(*lines: str) -> ir.Program:
    return passes.make_pass("ExpandMixedKernel")(mixed(*lines))


def crossing(node: ir.Program, core: str) -> list[str]:
    """The pushes and pops of a core, with the variables that it pops."""
    return [line.strip() for line in body(node, f"kernel_{core}") if re.search("tpush|tpop", line)]


def test_a_tile_that_crosses_behind_the_store_takes_the_place_of_the_token():
    node = expanded(
        *PRODUCT,
        "part = pl.tile.store(c, [0, 0], r)",
        "c2 = pl.tile.matmul_acc(c, left, right)",
        f"v = pl.tile.move(c2, {VEC})",
        "e = pl.tile.exp(v)",
        f"t = pl.tile.load(part, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
        "y = pl.tile.sub(e, t)",
        "done = pl.tile.store(y, [0, 0], out)",
        RETURN,
    )
    assert crossing(node, "aic") == ["pl.tile.tpush_to_aiv(c2, split=0)"]
    assert crossing(node, "aiv") == ["v = pl.tile.tpop_from_aic(split=0)"]
    given = inputs()
    product = given["a"] @ given["b"]
    torch.testing.assert_close(result(node), (2 * product).exp() - product)


def test_tokens_are_popped_in_the_order_in_which_they_are_pushed():
    """The second one is needed first."""
    node = expanded(
        *PRODUCT,
        "first = pl.tile.store(c, [0, 0], r)",
        "second = pl.tile.store(c, [0, 0], b)",
        f"s = pl.tile.load(second, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
        "e = pl.tile.exp(s)",
        f"t = pl.tile.load(first, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
        "y = pl.tile.sub(e, t)",
        "done = pl.tile.store(y, [0, 0], out)",
        RETURN,
    )
    assert crossing(node, "aiv") == [
        "r_gm_sync = pl.tile.tpop_from_aic(split=0)",
        "b_gm_sync = pl.tile.tpop_from_aic(split=0)",
    ]
    given = inputs()
    product = given["a"] @ given["b"]
    torch.testing.assert_close(result(node), product.exp() - product)


def test_a_token_is_popped_before_a_loop_in_which_tiles_cross():
    node = expanded(
        *PRODUCT,
        "part = pl.tile.store(c, [0, 0], r)",
        "for i, (o,) in pl.range(2, init_values=(out,)):",
        "    c2 = pl.tile.matmul(left, right)",
        f"    v = pl.tile.move(c2, {VEC})",
        "    e = pl.tile.exp(v)",
        "    o1 = pl.tile.store(e, [0, 0], o)",
        "    o2 = pl.yield_(o1)",
        f"t = pl.tile.load(part, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
        f"w = pl.tile.load(o2, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
        "y = pl.tile.sub(w, t)",
        "done = pl.tile.store(y, [0, 0], o2)",
        RETURN,
    )
    assert crossing(node, "aiv") == [
        "r_gm_sync = pl.tile.tpop_from_aic(split=0)",
        "v = pl.tile.tpop_from_aic(split=0)",
    ]
    given = inputs()
    product = given["a"] @ given["b"]
    torch.testing.assert_close(result(node), product.exp() - product)


def test_stores_in_different_branches_need_no_order():
    node = expanded(
        *PRODUCT,
        f"v = pl.tile.move(c, {VEC})",
        "if n > 2:",
        "    o1 = pl.tile.store(c, [0, 0], out)",
        "    done = pl.yield_(o1)",
        "else:",
        "    e = pl.tile.exp(v)",
        "    o2 = pl.tile.store(e, [0, 0], out)",
        "    done = pl.yield_(o2)",
        RETURN,
    )
    given = inputs()
    product = given["a"] @ given["b"]
    torch.testing.assert_close(result(node, 3), product)
    torch.testing.assert_close(result(node, 2), product.exp())


OLD_R = (LOAD_R, "e = pl.tile.muls(t, 3.0)", "o = pl.tile.store(e, [0, 0], out)")
ROUNDS = "for i, (o, p) in pl.range(4, init_values=(out, r)):"
ORDERED = {
    "what the other core loads before": (
        (*OLD_R, *PRODUCT, "r1 = pl.tile.store(c, [0, 0], r)", "return o"),
        lambda product, r, n: (3 * r, product),
    ),
    "what the vector core stores before": (
        (*OLD_R, *PRODUCT, "done = pl.tile.store(c, [0, 0], o)", RETURN),
        lambda product, r, n: (product, r),
    ),
    "what the cube core stores before": (
        (*PRODUCT, "o = pl.tile.store(c, [0, 0], out)", LOAD_R, "done = pl.tile.store(t, [0, 0], o)", RETURN),
        lambda product, r, n: (r, r),
    ),
    "what the cube core stores twice": (
        (*PRODUCT, "o = pl.tile.store(c, [0, 0], r)", "c2 = pl.tile.matmul_acc(c, left, right)",
         "o1 = pl.tile.store(c2, [0, 0], o)",
         f"t = pl.tile.load(o1, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
         "y = pl.tile.exp(t)", "done = pl.tile.store(y, [0, 0], out)", RETURN),
        lambda product, r, n: ((2 * product).exp(), 2 * product),
    ),
    "what the other core loads in the round before": (
        (*PRODUCT, ROUNDS,
         "    p1 = pl.tile.store(c, [0, 0], p)",
         f"    t = pl.tile.load(p1, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
         "    e = pl.tile.exp(t)",
         "    o1 = pl.tile.store(e, [0, 0], o)",
         "    done, p2 = pl.yield_(o1, p1)", RETURN),
        lambda product, r, n: (product.exp(), product),
    ),
    "what the vector core stores in the round before": (
        (*PRODUCT[1:2], "right = pl.tile.move(tb, target_memory=pl.Mem.Right)", ROUNDS,
         "    tp = pl.tile.load(p, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)",
         "    left = pl.tile.move(tp, target_memory=pl.Mem.Left)",
         "    c = pl.tile.matmul(left, right)",
         "    o1 = pl.tile.store(c, [0, 0], o)",
         f"    t = pl.tile.load(o1, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
         "    e = pl.tile.muls(t, 0.5)",
         "    p1 = pl.tile.store(e, [0, 0], p)",
         "    done, p2 = pl.yield_(o1, p1)", RETURN),
        lambda product, r, n: _halved_rounds(r),
    ),
    "the other branch of the round before": (
        (*PRODUCT, "for i, (o,) in pl.range(4, init_values=(out,)):",
         f"    v = pl.tile.move(c, {VEC})",
         "    w = pl.tile.muls(v, 2.0)",
         "    if i > n:",
         "        o1 = pl.tile.store(c, [0, 0], o)",
         "        o3 = pl.yield_(o1)",
         "    else:",
         "        o2 = pl.tile.store(w, [0, 0], o)",
         "        o3 = pl.yield_(o2)",
         "    done = pl.yield_(o3)", RETURN),
        lambda product, r, n: (product if n < 3 else 2 * product, r),
    ),
    "tensors that cross over": (
        (*PRODUCT, LOAD_R, "a1 = pl.tile.store(c, [0, 0], r)", "s = pl.tile.muls(t, 0.5)",
         "b1 = pl.tile.store(s, [0, 0], b)",
         "td = pl.tile.load(b1, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
         "rd = pl.tile.move(td, target_memory=pl.Mem.Right)",
         f"u = pl.tile.load(a1, [0, 0], {SQUARE}, target_memory=pl.Mem.Vec)",
         "d = pl.tile.matmul(left, rd)", "o = pl.tile.store(d, [0, 0], out)", "x = pl.tile.exp(u)",
         "r2 = pl.tile.store(x, [0, 0], a1)", "return o"),
        lambda product, r, n: (inputs()["a"] @ (r / 2), product.exp()),
    ),
}  # fmt: skip


def _halved_rounds(r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Four products of the first columns of ``r`` and ``b``, of which half replaces ``r``."""
    for _ in range(4):
        out = r[:, :32] @ inputs()["b"]
        r = out / 2
    return out, r


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("on", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("what", ORDERED)
def test_a_token_makes_a_core_wait(what, on, number):
    """Whatever the order of the cores, and on both lanes: no race, no deadlock, no tile left."""
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[on])
    lines, expected = ORDERED[what]
    node = passes.PassPipeline(map(passes.make_pass, TO_THE_END)).run(mixed(*lines))
    given = inputs(number)
    wanted = expected(given["a"] @ given["b"], given["r"], number)
    for found in all_results(node, number, ("out", "r")):
        for got, value in zip(found, wanted, strict=True):
            torch.testing.assert_close(got, value)


def test_windows_that_move_on_with_the_rounds_need_no_waiting():
    """What the vector core has loaded in one round the cube core does not store into in the next one."""
    node = expanded(
        "right = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
        "rb = pl.tile.move(right, target_memory=pl.Mem.Right)",
        "for i, (o, p) in pl.range(0, 32, 16, init_values=(out, r)):",
        "    ta = pl.tile.load(a, [i, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)",
        "    left = pl.tile.move(ta, target_memory=pl.Mem.Left)",
        "    c = pl.tile.matmul(left, rb)",
        "    p1 = pl.tile.store(c, [i, 0], p)",
        "    t = pl.tile.load(p1, [i, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "    e = pl.tile.exp(t)",
        "    o1 = pl.tile.store(e, [i, 0], o)",
        "    done, p2 = pl.yield_(o1, p1)",
        RETURN,
    )
    given = inputs()
    torch.testing.assert_close(result(node), (given["a"] @ given["b"]).exp())


@pytest.mark.parametrize("step", [8, 16])
def test_windows_that_overlap_those_of_the_next_round_need_it(step):
    lines = (
        "right = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
        "rb = pl.tile.move(right, target_memory=pl.Mem.Right)",
        f"for i, (o, p) in pl.range(0, 16, {step}, init_values=(out, r)):",
        "    for j, (o1, p1) in pl.range(0, 64, 64, init_values=(o, p)):",
        "        ta = pl.tile.load(a, [i, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)",
        "        left = pl.tile.move(ta, target_memory=pl.Mem.Left)",
        "        c = pl.tile.matmul(left, rb)",
        "        p2 = pl.tile.store(c, [i, j], p1)",
        "        t = pl.tile.load(p2, [i, j], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "        o2 = pl.tile.store(t, [i, j], o1)",
        "        o3, p3 = pl.yield_(o2, p2)",
        "    done, p4 = pl.yield_(o3, p3)",
        RETURN,
    )
    if step < 16:
        with pytest.raises(
            passes.PassError, match="the cube core stores into 'r', which the other core loads"
        ):
            expanded(*lines)
    else:
        given, given_out = inputs(), result(expanded(*lines))
        torch.testing.assert_close(given_out[:16], given["a"][:16] @ given["b"])


SCALARS = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[16, 16], pl.FP32], k: pl.InOut[pl.Tensor[[1, 8], pl.INT32]],
               out: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        ta = pl.tile.load(a, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        left = pl.tile.move(ta, target_memory=pl.Mem.Left)
        right = pl.tile.move(ta, target_memory=pl.Mem.Right)
        c = pl.tile.matmul(left, right)
        v = pl.tile.move(c, target_memory=pl.Mem.Vec)
{lines}
        done = pl.tile.store(v, [0, 0], out)
        return done
"""


def with_scalars(*lines: str) -> ir.Program:
    text = SCALARS.format(lines="\n".join(f"        {line}" for line in lines))
    node = pl.parse("import pypto.language as pl\n\n@pl.program\nclass P:" + text)
    return passes.make_pass("ExpandMixedKernel")(node)


@pytest.mark.parametrize(
    "lines",
    [
        ("m = pl.tensor.read(k, [0, 0])", "pl.tensor.write(k, [0, 0], m + 1)"),
        (
            "for i in pl.range(3):",
            "    m = pl.tensor.read(k, [0, i + 1])",
            "    pl.tensor.write(k, [0, i], m + 1)",
            "    pl.tensor.write(k, [0, i + 2], m + 1)",
        ),
        (
            "pl.tensor.write(k, [0, 0], pl.const(1, pl.INT32))",
            "m = pl.tensor.read(k, [0, 0])",
            "pl.tensor.write(k, [0, 1], m)",
            "pl.tensor.write(k, [0, 0], pl.const(2, pl.INT32))",
        ),
    ],
)
def test_what_both_cores_would_read_and_write_is_refused(lines):
    """The slower core would read what the other one has written already."""
    with pytest.raises(passes.PassError, match="core stores into 'k', which the other core"):
        with_scalars(*lines)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            (
                "pl.tensor.write(k, [0, 0], pl.const(5, pl.INT32))",
                "m = pl.tensor.read(k, [0, 0])",
                "pl.tensor.write(k, [0, 1], m)",
            ),
            [5, 5, 0, 0, 0, 0, 0, 0],
        ),
        (
            (
                "for i in pl.range(3):",
                "    m = pl.tensor.read(k, [0, i])",
                "    pl.tensor.write(k, [0, i + 1], m + 1)",
            ),
            [0, 1, 2, 3, 0, 0, 0, 0],
        ),
    ],
)
def test_what_both_cores_write_before_they_read_it_is_alike(lines, expected):
    namespace: dict = {}
    exec(torch_codegen(with_scalars(*lines)), namespace)
    k = torch.zeros(1, 8, dtype=torch.int32)
    namespace["kernel"](torch.eye(16), k, torch.zeros(16, 16))
    assert k.tolist() == [expected]


def test_an_element_that_one_core_stores_is_not_known_to_the_other():
    with pytest.raises(passes.PassError, match="the cube core loads 'k', which the other core stores"):
        with_scalars(
            "s = pl.tile.load(k, [0, 0], [1, 8], [1, 8], target_memory=pl.Mem.Vec)",
            "s2 = pl.tile.adds(s, 1)",
            "k1 = pl.tile.store(s2, [0, 0], k)",
            "m = pl.tensor.read(k1, [0, 3])",
            "pl.tensor.write(out, [0, 3], pl.cast(m, pl.FP32))",
        )


SHARED = """
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 64], pl.FP32],
             r: pl.Tensor[[96, 64], pl.FP32], n: pl.Scalar[pl.INDEX]) -> pl.Tensor[[32, 64], pl.FP32]:
        first = pl.tensor.slice(r, [32, 64], [0, 0])
        second = pl.tensor.slice(r, [32, 64], [{offset}, 0])
        done = self.kernel(a, b, first, n, second)
        return done
"""


@pytest.mark.parametrize("offset", [0, 16, 32])
def test_parameters_that_a_caller_gives_one_tensor_are_one(offset):
    """The cube core stores over what the vector core has to load before, under another name."""
    lines = (LOAD_R, *PRODUCT, "o = pl.tile.store(c, [0, 0], out)", f"v = pl.tile.move(c, {VEC})",
             "y = pl.tile.add(v, t)", "done = pl.tile.store(y, [0, 0], o)", RETURN)  # fmt: skip
    node = mixed(*lines, more=SHARED.format(offset=offset))
    expand = passes.make_pass("ExpandMixedKernel")
    if offset == 32:
        assert "kernel_aic" in {function.name for function in expand(node).functions.values()}
        return
    found = expand(node)
    namespace: dict = {}
    exec(torch_codegen(found, options=STRICT), namespace)
    for seed in range(5):
        set_options(namespace, schedule_seed=seed)
        given = inputs()
        memory = torch.cat([given["r"], given["r"] + 1, given["r"] + 2])
        wanted = given["a"] @ given["b"] + memory[:32]
        namespace["main"](given["a"], given["b"], memory, given["n"])
        torch.testing.assert_close(memory[offset : offset + 32], wanted)
