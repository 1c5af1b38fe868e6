"""LowerAutoVectorSplit: what one lane loads, computes and stores, and what halves cannot compute."""

import pytest
import torch
from passes.kernels import body
from passes.mixed_kernels import (
    LANE,
    LEFT_RIGHT,
    LOAD_R,
    PRODUCT,
    TO_VECTOR,
    UP_DOWN,
    check,
    inputs,
    lowered,
    mixed,
    with_region,
)

from pypto_tmpl import backend, ir, ops, passes
from pypto_tmpl.debug import torch_codegen

STORE = "done = pl.tile.store(y, [0, 0], out)"
RETURN = "return done"
SPACE = "target_memory=pl.Mem.Vec"


@pytest.fixture(autouse=True)
def a_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend950)
    yield
    backend.reset_for_testing()


def vector_lines(node: ir.Program) -> list[str]:
    """The lines that are not those of the product."""
    return [
        line for line in body(node, "kernel") if not line.startswith(("ta ", "tb ", "left ", "right ", "c "))
    ]


def test_rows_are_shared():
    node = lowered(*TO_VECTOR, LOAD_R, "y = pl.tile.add(v, t)", STORE, RETURN)
    assert vector_lines(node) == [
        'pl.func_attr({"split": pl.SplitMode.UP_DOWN, "split_aiv": True})',
        "subblock_idx = pl.tile.get_subblock_idx()",
        "v = pl.tile.aiv_shard(c, split=1)",
        "t = pl.tile.load(r, [0 + subblock_idx * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "y = pl.tile.add(v, t)",
        "done = pl.tile.store(y, [0 + subblock_idx * 16, 0], out)",
        "return done",
    ]
    given = inputs()
    check(node, given["a"] @ given["b"] + given["r"])


def test_columns_are_shared_and_gathered():
    node = lowered(
        f"t = pl.tile.load(a, [0, 0], [32, 32], [32, 32], {SPACE})",
        "s = pl.tile.muls(t, 0.5)",
        "left = pl.tile.move(s, target_memory=pl.Mem.Left)",
        "tb = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
        "right = pl.tile.move(tb, target_memory=pl.Mem.Right)",
        "y = pl.tile.matmul(left, right)",
        STORE,
        RETURN,
        attrs=LEFT_RIGHT,
    )
    assert body(node, "kernel")[2:6] == [
        "t = pl.tile.load(a, [0, 0 + subblock_idx * 16], [32, 16], [32, 16], target_memory=pl.Mem.Vec)",
        "s = pl.tile.muls(t, 0.5)",
        "left_mat = pl.tile.aic_gather(s, split=2)",
        "left = pl.tile.move(left_mat, target_memory=pl.Mem.Left)",
    ]
    given = inputs()
    check(node, given["a"] @ given["b"] / 2)


RAGGED = (
    "ta = pl.tile.load(a, [0, 0], [32, 32], [{valid}, 32], target_memory=pl.Mem.Mat)",
    *PRODUCT[1:],
    f"v = pl.tile.move(c, {SPACE})",
    "y = pl.tile.muls(v, 2.0)",
    STORE,
    RETURN,
)


@pytest.mark.parametrize(("valid", "stride"), [(14, 7), (13, 7), (31, None), (32, None)])
def test_lanes_that_have_less_start_closer(valid, stride):
    """Half of the valid rows, rounded up; where that is half of all rows the lanes halve the box."""
    node = lowered(*(line.format(valid=valid) for line in RAGGED))
    told = "" if stride is None else f", lane_stride={stride}"
    lines = vector_lines(node)
    assert f"v = pl.tile.aiv_shard(c, split=1{told})" in lines
    assert f"done = pl.tile.store(y, [0 + subblock_idx * {stride or 16}, 0], out)" in lines
    given = inputs()
    expected = given["out"].clone()
    expected[:valid] = 2 * (given["a"] @ given["b"])[:valid]
    check(node, expected)


def test_a_load_of_its_own_pins_the_lanes_to_the_box():
    node = lowered(
        "ta = pl.tile.load(a, [0, 0], [32, 32], [12, 32], target_memory=pl.Mem.Mat)",
        *PRODUCT[1:],
        f"v = pl.tile.move(c, {SPACE})",
        f"t = pl.tile.load(r, [0, 0], [32, 64], [12, 64], {SPACE})",
        "y = pl.tile.add(v, t)",
        STORE,
        RETURN,
    )
    lines = vector_lines(node)
    assert "v = pl.tile.aiv_shard(c, split=1)" in lines
    assert (
        "t = pl.tile.load(r, [0 + subblock_idx * 16, 0], [16, 64],"
        " [pl.min(pl.max(12, subblock_idx * 16) - subblock_idx * 16, 16), 64], target_memory=pl.Mem.Vec)"
    ) in lines


def test_a_column_in_row_form_stays_whole_where_columns_are_shared():
    """It is the same on both lanes: there is nothing of it to share."""
    lines = (
        *TO_VECTOR,
        f"w = pl.tile.load(r, [0, 0], [32, 1], [32, 1], {SPACE})",
        "w1 = pl.tile.reshape(w, [1, 32])",
        "w2 = pl.tile.muls(w1, 3.0)",
        "w3 = pl.tile.reshape(w2, [32, 1])",
        "y = pl.tile.row_expand_mul(v, w3)",
        STORE,
        RETURN,
    )
    node = lowered(*lines, attrs=LEFT_RIGHT)
    assert {"w1 = pl.tile.reshape(w, [1, 32])", "w3 = pl.tile.reshape(w2, [32, 1])"} < set(vector_lines(node))
    given = inputs()
    check(node, given["a"] @ given["b"] * 3 * given["r"][:, :1])


def test_a_lane_takes_its_half_of_what_is_the_same_on_both():
    lines = (
        *TO_VECTOR,
        f"w = pl.tile.load(r, [0, 0], [1, 32], [1, 32], {SPACE})",
        "w1 = pl.tile.reshape(w, [32, 1])",
        "y = pl.tile.row_expand_mul(v, w1)",
        STORE,
        RETURN,
    )
    node = lowered(*lines)
    assert vector_lines(node)[4:6] == [
        "w1 = pl.tile.reshape(w, [32, 1])",
        "w1_lane = pl.tile.slice(w1, [16, 1], [0 + subblock_idx * 16, 0])",
    ]
    given = inputs()
    check(node, given["a"] @ given["b"] * given["r"][0, :32].reshape(32, 1))


def test_the_result_of_a_loop_and_of_a_branch_is_stored_by_halves():
    """Their types say so too, where something asks for the region."""
    node = lowered(
        *TO_VECTOR,
        LOAD_R,
        "for i, (x,) in pl.range(3, init_values=(v,)):",
        "    x1 = pl.tile.add(x, t)",
        "    z = pl.yield_(x1)",
        "if n > 2:",
        "    z1 = pl.tile.adds(z, 1.0)",
        "    y = pl.yield_(z1)",
        "else:",
        "    y = pl.yield_(z)",
        STORE,
        RETURN,
    )
    assert "done = pl.tile.store(y, [0 + subblock_idx * 16, 0], out)" in vector_lines(node)
    branch = next(stmt for stmt in ir.walk(node.get_function("kernel").body) if isinstance(stmt, ir.IfStmt))
    assert [extent.value for extent in branch.return_vars[0].type.shape] == [16, 64]
    given = inputs()
    check(node, given["a"] @ given["b"] + 3 * given["r"] + 1)


def test_a_second_name_of_half_a_tile_has_the_type_of_the_half():
    node = lowered(*TO_VECTOR, "u = v", "y = pl.tile.exp(u)", STORE, RETURN)
    names = {stmt.var.name_hint: stmt.var for stmt in ir.walk(node) if isinstance(stmt, ir.AssignStmt)}
    assert [extent.value for extent in names["u"].type.shape] == [16, 64]
    namespace: dict = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    given = inputs()
    namespace["kernel"](*given.values())
    torch.testing.assert_close(given["out"], torch.exp(given["a"] @ given["b"]), rtol=1e-5, atol=1e-5)


def test_a_reshaped_column_is_followed_to_its_row():
    node = lowered(
        *TO_VECTOR,
        f"tmp = pl.tile.create([32, 64], dtype=pl.FP32, {SPACE})",
        "s = pl.tile.row_sum(v, tmp)",
        "s1 = pl.tile.reshape(s, [1, 32])",
        "s2 = pl.tile.muls(s1, 0.5)",
        "s3 = pl.tile.reshape(s2, [32, 1])",
        "y = pl.tile.row_expand_sub(v, s3)",
        STORE,
        RETURN,
    )
    lines = vector_lines(node)
    assert "tmp = pl.tile.create([32, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)" in lines
    assert lines[5:8] == [
        "s1 = pl.tile.reshape(s, [1, 16])",
        "s2 = pl.tile.muls(s1, 0.5)",
        "s3 = pl.tile.reshape(s2, [16, 1])",
    ]
    given = inputs()
    product = given["a"] @ given["b"]
    check(node, product - product.sum(1, keepdim=True) / 2)


def test_valid_cells_are_told_for_the_lane():
    """Also where they are fewer than a lane starts at: the second lane has none of them."""
    node = lowered(*TO_VECTOR, "y = pl.tile.set_validshape(v, 32, 20)", STORE, RETURN, attrs=LEFT_RIGHT)
    assert (
        "y = pl.tile.set_validshape(v, 32, pl.min(pl.max(20, subblock_idx * 32) - subblock_idx * 32, 32))"
    ) in vector_lines(node)
    given = inputs()
    expected = given["out"].clone()
    expected[:, :20] = (given["a"] @ given["b"])[:, :20]
    check(node, expected)


def test_a_vector_kernel_and_one_without_a_split_stay():
    for lines, attrs in (
        ((LOAD_R, "y = pl.tile.exp(t)", STORE, RETURN), UP_DOWN),
        ((*TO_VECTOR, "y = pl.tile.exp(v)", STORE, RETURN), ""),
    ):
        node = mixed(*lines, attrs=attrs)
        assert passes.make_pass("LowerAutoVectorSplit")(node) is node


WHOLE = f"w = pl.tile.load(r, [0, 0], [1, 64], [1, 64], {SPACE})"
REFUSED = {
    "a sum over the shared axis": (
        ("s = pl.tile.col_sum(v)", "y = pl.tile.col_expand_mul(v, s)"),
        "tile.col_sum reduces along axis 0, which the lanes share",
    ),
    "a window of the shared axis": (
        ("y = pl.tile.slice(v, [16, 64], [16, 0])",),
        "a window along axis 0, which the lanes share, has cells of both",
    ),
    "numbers by their places": (
        ("s = pl.tile.ci(0, [32, 1], dtype=pl.INT32)", "y = pl.tile.exp(v)"),
        "tile.ci gives cells by their places: the lanes would get the same",
    ),
    "an element": (
        ("k = pl.tile.read(v, [0, 3])", "y = pl.tile.muls(v, k)"), "tile.read needs more than its half",
    ),
    "a transpose": (
        ("s = pl.tile.transpose(v, 0, 1)", "y = pl.tile.reshape(s, [32, 64])"),
        "tile.transpose needs more than its half along axis 0",
    ),
    "what is the same on both lanes, added": (
        (WHOLE, "o = pl.tile.store(w, [0, 0], out, atomic=1)", "y = pl.tile.exp(v)"),
        "both lanes would add the same tile",
    ),
    "what is the same on both lanes, gathered": (
        (WHOLE, "s = pl.tile.col_expand(v, w)", "u = pl.tile.move(w, target_memory=pl.Mem.Left)",
         "y = pl.tile.exp(s)"),
        "'w' goes to the cube core, but is not halved over the lanes",
    ),
    "what the other lane stores": (
        ("o = pl.tile.store(v, [0, 0], r)", f"w = pl.tile.load(o, [5, 0], [1, 64], [1, 64], {SPACE})",
         "y = pl.tile.col_expand_mul(v, w)"),
        "a lane may meet cells of 'r' that the other lane stores",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_halves_cannot_compute_is_refused(what):
    lines, message = REFUSED[what]
    with pytest.raises(passes.PassError) as caught:
        lowered(*TO_VECTOR, *lines, STORE, RETURN)
    text = str(caught.value)
    assert message in text and "in function 'kernel'" in text and "<string>:" in text


def lowered_region(*lines: str, behind: int = 1, notifies: bool = False) -> ir.Program:
    """The kernel after the pass; from ``LANE`` to the last ``behind`` lines it is a region of shared rows."""
    node = with_region(mixed(*lines), lines.index(LANE), behind, notify if notifies else None)
    return passes.make_pass("LowerAutoVectorSplit")(node)


def notify(kernel: ir.Function) -> ir.Stmt:
    """A statement that sets a signal."""
    cells = ir.Var("cells", ir.DistributedTensorType([2, 1], ir.DataType.INT32), kernel.span)
    call = ops.call("pld.system.notify", cells, 0, [0, 0], 1, op=0, span=kernel.span)
    return ir.EvalStmt(call, kernel.span)


def test_what_must_not_run_on_both_cores_runs_where_the_region_does():
    node = lowered_region(
        *PRODUCT, LANE, SHARD, "y = pl.tile.exp(v)", STORE_PART, "return out", notifies=True
    )
    signals = [call for call in ir.walk(node) if isinstance(call, ir.Call) and "notify" in call.op.name]
    assert [dict(call.attrs) for call in signals] == [{"core_placement": "aiv"}]
    after = passes.make_pass("ExpandMixedKernel")(node)
    counts = {
        function.name: [
            dict(c.attrs) for c in ir.walk(function) if isinstance(c, ir.Call) and "notify" in c.op.name
        ]
        for function in after.functions.values()
    }
    assert counts == {"kernel": [], "kernel_aic": [], "kernel_aiv": [{}]}


SHARD = "v = pl.tile.aiv_shard(c, split=1)"
STORE_PART = "done = pl.tile.store(y, [lane * 16, 0], out)"
ATTRS = 'pl.func_attr({"split": pl.SplitMode.UP_DOWN, "split_aiv": True, "split_aiv_region_validated": True})'


def test_a_region_for_half_tiles_is_opened():
    node = lowered_region(*PRODUCT, LANE, SHARD, "y = pl.tile.exp(v)", STORE_PART, "return out")
    assert vector_lines(node) == [
        ATTRS,
        "lane = pl.tile.get_subblock_idx()",
        "v = pl.tile.aiv_shard(c, split=1)",
        "y = pl.tile.exp(v)",
        "done = pl.tile.store(y, [lane * 16, 0], out)",
        "return out",
    ]
    given = inputs()
    check(node, torch.exp(given["a"] @ given["b"]))


def test_a_region_for_whole_tiles_is_halved():
    node = lowered_region(
        *PRODUCT, LANE, f"v = pl.tile.move(c, {SPACE})", "y = pl.tile.exp(v)", STORE, "return out"
    )
    assert vector_lines(node)[1:] == [
        "subblock_idx = pl.tile.get_subblock_idx()",
        "lane = pl.tile.get_subblock_idx()",
        "v = pl.tile.aiv_shard(c, split=1)",
        "y = pl.tile.exp(v)",
        "done = pl.tile.store(y, [0 + subblock_idx * 16, 0], out)",
        "return out",
    ]
    given = inputs()
    check(node, torch.exp(given["a"] @ given["b"]))


def test_a_lane_without_cells_stores_nothing():
    ragged = (RAGGED[0].format(valid=9), *PRODUCT[1:])
    node = lowered_region(*ragged, LANE, SHARD, "y = pl.tile.exp(v)", STORE_PART, "return out")
    assert vector_lines(node)[4:] == [
        "if pl.min(pl.max(9, lane * 16) - lane * 16, 16) > 0:",
        "  done_1 = pl.tile.store(y, [lane * 16, 0], out)",
        "  done = pl.yield_(done_1)",
        "else:",
        "  done = pl.yield_(out)",
        "return out",
    ]
    given = inputs()
    expected = given["out"].clone()
    expected[:9] = torch.exp(given["a"] @ given["b"])[:9]
    check(node, expected)


STORE_V = "done = pl.tile.store(v, [lane * 16, 0], out)"


@pytest.mark.parametrize(
    ("lines", "behind", "message"),
    [
        ((LANE, SHARD, LOAD_R, "u = pl.tile.exp(t)", STORE_V), 1,
         "mixes explicit boundaries with full-width operations: tile.load, tile.exp"),
        ((LANE, SHARD, "s = pl.tile.transpose(v, 0, 1)", STORE_V), 1,
         "tile.transpose exchanges the axis that the lanes share"),
        ((LANE, f"v = pl.tile.move(c, {SPACE})", "y = pl.tile.exp(v)", STORE), 2,
         "'y' is read outside of the region of lanes that makes it"),
    ],
    ids=["full-width operations", "transpose", "half of a tile outside"],
)  # fmt: skip
def test_a_region_that_is_wrong_is_refused(lines, behind, message):
    with pytest.raises(passes.PassError) as caught:
        lowered_region(*PRODUCT, *lines, "return out", behind=behind)
    assert message in str(caught.value) and "in function 'kernel'" in str(caught.value)
