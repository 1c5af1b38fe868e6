"""What lanes load and store: LowerAutoVectorSplit refuses what one would meet of the other, in no order."""

import pytest
import torch
from passes.mixed_kernels import (
    LEFT_RIGHT,
    PRODUCT,
    TO_VECTOR,
    UP_DOWN,
    check,
    inputs,
    lowered,
    mixed,
    result,
)

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import set_options, torch_codegen
from pypto_tmpl.rewrite import build, flat

STORE = "done = pl.tile.store(y, [0, 0], out)"
RETURN = "return done"
SPACE = "target_memory=pl.Mem.Vec"
LANE = "lane = pl.tile.get_subblock_idx()"


@pytest.fixture(autouse=True)
def a_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend950)
    yield
    backend.reset_for_testing()


def in_rounds(step: int) -> tuple[str, ...]:
    """Rows that are loaded and stored in two rounds, 16 rows each, so many rows apart."""
    return (
        *TO_VECTOR,
        "for i in pl.range(2):",
        f"    t = pl.tile.load(out, [i * {step}, 0], [16, 64], [16, 64], {SPACE})",
        "    u = pl.tile.muls(t, 2.0)",
        f"    o = pl.tile.store(u, [i * {step}, 0], out)",
        "y = pl.tile.exp(v)",
        "done = pl.tile.store(y, [0, 0], r)",
        "return out",
    )


def test_windows_that_move_by_their_extent_are_shared():
    node = lowered(*in_rounds(16))
    check(node, torch.full((32, 64), 18.0))


@pytest.mark.parametrize("step", [8, 4, 12])
def test_windows_that_move_by_less_meet_the_other_lane(step):
    with pytest.raises(passes.PassError, match=r"a lane may meet cells of 'out'(?s:.*)<string>:"):
        lowered(*in_rounds(step))


def test_a_window_whose_index_counts_by_its_extent_is_shared():
    lines = [line.replace("range(2)", "range(0, 32, 16)") for line in in_rounds(1)]
    check(lowered(*lines), torch.full((32, 64), 18.0))


ROW = f"w = pl.tile.load(r, [0, 0], [1, 64], [1, 64], {SPACE})"
STORE_ROW = "o = pl.tile.store(z, [0, 0], r)"


@pytest.mark.parametrize(
    "lines",
    [
        (ROW, "z = pl.tile.muls(w, 2.0)", STORE_ROW),
        ("k = pl.tensor.read(r, [0, 0])", "pl.tensor.write(r, [0, 0], k + 1.0)"),
        ("o = pl.tile.store(v, [0, 0], r)", "k = pl.tensor.read(r, [20, 0])", "z = pl.tile.muls(v, k)"),
    ],
    ids=["a row", "an element", "an element of what the lanes share"],
)
def test_what_both_lanes_do_must_not_read_what_the_other_has_written(lines):
    with pytest.raises(passes.PassError, match=r"a lane may meet cells of 'r'(?s:.*)in function 'kernel'"):
        lowered(*TO_VECTOR, *lines, "y = pl.tile.exp(v)", STORE, RETURN)


def test_both_lanes_read_a_row_again_that_both_have_stored():
    full = "z = pl.tile.full([1, 64], dtype=pl.FP32, value=2.0)"
    again = ROW.replace("load(r", "load(o")
    node = lowered(*TO_VECTOR, full, STORE_ROW, again, "y = pl.tile.col_expand_mul(v, w)", STORE, RETURN)
    given = inputs()
    check(node, 2 * given["a"] @ given["b"])


GIVEN = """
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[32, 32], pl.FP32], b: pl.Tensor[[32, 64], pl.FP32],
             r: pl.Tensor[[32, 64], pl.FP32], out: pl.InOut[pl.Tensor[[32, 64], pl.FP32]]):
        self.kernel(a, b, {r}, 3, out)

"""
HALF_OF_R = "t = pl.tile.load(r, [{}, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
HALF_OF_OUT = "done = pl.tile.store(t, [0, 0], out)"


@pytest.mark.parametrize(("r", "row"), [("r", 0), ("r", 8), ("out", 0), ("out", 16)])
def test_windows_of_two_parameters_may_be_one_or_apart(r, row):
    lines = (*TO_VECTOR, HALF_OF_R.format(row), HALF_OF_OUT, "y = pl.tile.exp(v)", "return out")
    node = passes.make_pass("LowerAutoVectorSplit")(mixed(*lines, attrs=UP_DOWN, more=GIVEN.format(r=r)))
    namespace: dict = {}
    exec(torch_codegen(node), namespace)
    given = inputs()
    given["out"] = torch.arange(32.0 * 64).reshape(32, 64)
    read = given[r][row : row + 16].clone()
    namespace["main"](*(given[name] for name in ("a", "b", "r", "out")))
    torch.testing.assert_close(given["out"][:16], read)


def test_a_lane_must_not_read_as_another_parameter_what_the_other_lane_stores():
    lines = (*TO_VECTOR, HALF_OF_R.format(8), HALF_OF_OUT, "y = pl.tile.exp(v)", "return out")
    node = mixed(*lines, attrs=UP_DOWN, more=GIVEN.format(r="out"))
    with pytest.raises(passes.PassError, match=r"a lane may meet cells of 'r' or 'out'(?s:.*)'kernel'"):
        passes.make_pass("LowerAutoVectorSplit")(node)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("in_loop", [False, True])
def test_a_tensor_that_a_branch_may_have_stored_into_is_still_that_tensor(in_loop, number):
    """Each lane keeps to its columns, in the branch, in rounds, and behind them."""
    indent = "    " if in_loop else ""
    branch = ("if n < 2:", "    o1 = pl.tile.store(e, [0, 0], {0})", "    o2 = pl.yield_(o1)",
              "else:", "    o2 = pl.yield_({0})")  # fmt: skip
    head = ("for i, (q,) in pl.range(2, init_values=(out,)):",) if in_loop else ()
    tail = ("    o3 = pl.yield_(o2)",) if in_loop else ("o3 = o2",)
    lines = [indent + line.format("q" if in_loop else "out") for line in branch]
    store = f"done = pl.tile.store(y, [{number * 4}, 0], o3)"
    node = lowered(
        *TO_VECTOR, "e = pl.tile.exp(v)", f"w = pl.tile.load(r, [0, 0], [16, 64], [16, 64], {SPACE})",
        "y = pl.tile.muls(w, 2.0)", *head, *lines, *tail, store, RETURN, attrs=LEFT_RIGHT,
    )  # fmt: skip
    given = inputs(number)
    expected = (given["a"] @ given["b"]).exp() if number < 2 else given["out"].clone()
    expected[number * 4 : number * 4 + 16] = 2 * given["r"][:16]
    for stage in (node, passes.make_pass("ExpandMixedKernel")(node)):
        torch.testing.assert_close(result(stage, number), expected, rtol=1e-5, atol=1e-5)


def two_regions(read_from: str) -> ir.Program:
    """A kernel whose second region loads rows that the first one has stored into ``r``."""
    first = ("v = pl.tile.aiv_shard(c, split=1)", "o = pl.tile.store(v, [lane * 16, 0], r)")
    second = (
        LANE.replace("lane", "side"),
        "u = pl.tile.aiv_shard(c, split=1)",
        f"t = pl.tile.load(o, [{read_from}, 0], [16, 64], [16, 64], {SPACE})",
        "y = pl.tile.add(u, t)",
        "done = pl.tile.store(y, [side * 16, 0], out)",
    )
    node = mixed(*PRODUCT, LANE, *first, *second, "return out")
    kernel = node.get_function("kernel")
    found = list(flat(kernel.body))
    bodies = [found[len(PRODUCT) : -1][part] for part in (slice(0, 3), slice(3, None))]
    scopes = [
        ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, body=ir.SeqStmts(stmts, kernel.span), span=kernel.span)
        for stmts in bodies
    ]
    body_ = ir.SeqStmts([*found[: len(PRODUCT)], *scopes, found[-1]], kernel.span)
    attrs = kernel.attrs.with_(split_aiv=True, split=ir.SplitMode.UP_DOWN)
    return build(node, functions=[build(kernel, body=body_, attrs=attrs)])


def test_a_lane_may_read_in_a_later_region_what_it_has_stored():
    given = inputs()
    node = passes.make_pass("LowerAutoVectorSplit")(two_regions("side * 16"))
    check(node, 2 * given["a"] @ given["b"])


@pytest.mark.parametrize("start", ["16 - side * 16", "side * 8", "side"])
def test_a_lane_must_not_read_in_a_later_region_what_the_other_one_has_stored(start):
    with pytest.raises(passes.PassError, match=r"a lane may meet cells of 'r'(?s:.*)in function 'kernel'"):
        passes.make_pass("LowerAutoVectorSplit")(two_regions(start))


@pytest.mark.parametrize("attrs", [UP_DOWN, LEFT_RIGHT])
def test_what_the_cube_core_has_loaded_stays_when_a_lane_stores_over_it(attrs):
    node = lowered(
        *PRODUCT,
        f"v = pl.tile.move(c, {SPACE})",
        "e = pl.tile.exp(v)",
        "o1 = pl.tile.store(e, [0, 0], out)",
        "h = pl.tile.load(o1, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)",
        "first = pl.tile.move(h, target_memory=pl.Mem.Left)",
        "d = pl.tile.matmul(first, right)",
        f"w = pl.tile.move(d, {SPACE})",
        "s = pl.tile.muls(w, 0.1)",
        "y = pl.tile.exp(s)",
        "done = pl.tile.store(y, [0, 0], o1)",
        "return done",
        attrs=attrs,
    )
    namespace: dict = {}
    exec(torch_codegen(node, options={"schedule_seed": 0}), namespace)
    for seed in range(12):
        set_options(namespace, schedule_seed=seed)
        given = inputs()
        between = (given["a"] @ given["b"]).exp()[:, :32]
        expected = (0.1 * (between @ given["b"])).exp()
        namespace["kernel"](*given.values())
        torch.testing.assert_close(given["out"], expected, rtol=1e-4, atol=1e-4)
