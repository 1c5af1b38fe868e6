"""ExpandMixedKernel: what each side has, what crosses, and what cannot be shared out."""

import pytest
import torch
from passes.kernels import HEAD, body
from passes.mixed_kernels import LOAD_R, PARAMS, PRODUCT, TO_VECTOR, VEC, inputs, mixed, result

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, ops, passes
from pypto_tmpl.rewrite import build, flat

STORE = "done = pl.tile.store(y, [0, 0], out)"
RETURN = "return done"


@pytest.fixture(autouse=True)
def a_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend950)
    yield
    backend.reset_for_testing()


def choose(name: str) -> None:
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[name])


def expanded(*lines: str, attrs: str = "", more: str = "") -> ir.Program:
    return passes.make_pass("ExpandMixedKernel")(mixed(*lines, attrs=attrs, more=more))


def test_a_product_crosses_to_the_vector_core():
    node = expanded(*TO_VECTOR, LOAD_R, "y = pl.tile.add(v, t)", STORE, RETURN)
    assert body(node, "kernel_aic") == [
        "kernel_c2v_slot_buffer_import = pl.system.import_peer_buffer(name='kernel_c2v_slot_buffer',"
        " peer_func='kernel_aiv')",
        "pl.system.aic_initialize_pipe(kernel_c2v_slot_buffer_import, pl.const(0, pl.INT32), dir_mask=1,"
        " slot_size=8192, slot_num=2)",
        "ta = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)",
        "tb = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
        "left = pl.tile.move(ta, target_memory=pl.Mem.Left)",
        "right = pl.tile.move(tb, target_memory=pl.Mem.Right)",
        "c = pl.tile.matmul(left, right)",
        "pl.tile.tpush_to_aiv(c, split=0)",
    ]
    assert body(node, "kernel_aiv") == [
        "kernel_c2v_slot_buffer = pl.system.reserve_buffer(name='kernel_c2v_slot_buffer', size=16384,"
        " base=-1)",
        "pl.system.aiv_initialize_pipe(kernel_c2v_slot_buffer, pl.const(0, pl.INT32), dir_mask=1,"
        " slot_size=8192, slot_num=2)",
        "v = pl.tile.tpop_from_aic(split=0)",
        "t = pl.tile.load(r, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
        "y = pl.tile.add(v, t)",
        "pl.system.tfree_to_aic(v)",
        "done = pl.tile.store(y, [0, 0], out)",
        "return done",
    ]
    assert body(node, "kernel") == [
        "self.kernel_aic(a, b, r, n, out)",
        "self.kernel_aiv(a, b, r, n, out)",
        "return out",
    ]
    types = {function.name: function.func_type.name for function in node.functions.values()}
    assert types == {"kernel": "Group", "kernel_aic": "AIC", "kernel_aiv": "AIV"}
    given = inputs()
    torch.testing.assert_close(result(node), given["a"] @ given["b"] + given["r"])


TO_CUBE = (
    "t = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Vec)",
    "s = pl.tile.muls(t, 0.5)",
    "left = pl.tile.move(s, target_memory=pl.Mem.Left)",
    "tb = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
    "right = pl.tile.move(tb, target_memory=pl.Mem.Right)",
    "y = pl.tile.matmul(left, right)",
)


@pytest.mark.parametrize(
    ("generation", "pushed"),
    [
        ("Ascend910B", ["pl.tile.tpush_to_aic(s, split=0)"]),
        (
            "Ascend950",
            [
                "s_nz = pl.tile.move(s, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.col_major,"
                " slayout=pl.TileLayout.row_major)",
                "pl.tile.tpush_to_aic(s_nz, split=0)",
            ],
        ),
    ],
)
def test_a_tile_crosses_to_the_cube_core(generation, pushed):
    choose(generation)
    node = expanded(*TO_CUBE, STORE, RETURN)
    assert body(node, "kernel_aiv")[-3 - len(pushed) :] == [
        "t = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Vec)",
        "s = pl.tile.muls(t, 0.5)",
        *pushed,
        "return out",
    ]
    assert body(node, "kernel_aic")[2:5] == [
        "left_mat = pl.tile.tpop_from_aiv(split=0)",
        "left = pl.tile.move(left_mat, target_memory=pl.Mem.Left, blayout=pl.TileLayout.col_major,"
        " slayout=pl.TileLayout.row_major)",
        "pl.system.tfree_to_aiv(left_mat)",
    ]
    both_lanes = node.get_function("kernel_aiv").attrs.get("dual_aiv_dispatch", False)
    assert both_lanes == (generation == "Ascend910B")
    given = inputs()
    torch.testing.assert_close(result(node), given["a"] @ given["b"] / 2)


def test_each_side_has_the_carries_that_it_needs():
    node = expanded(
        *PRODUCT,
        LOAD_R,
        "for i, (acc, total) in pl.range(4, init_values=(c, t)):",
        "    acc1 = pl.tile.matmul_acc(acc, left, right)",
        "    v = pl.tile.move(acc1, target_memory=pl.Mem.Vec)",
        "    if i > n:",
        "        total1 = pl.tile.add(total, v)",
        "        part = pl.yield_(total1)",
        "    else:",
        "        part = pl.yield_(total)",
        "    acc2, y = pl.yield_(acc1, part)",
        STORE,
        RETURN,
    )
    assert body(node, "kernel_aic")[-4:] == [
        "for i, (acc,) in pl.range(4, init_values=(c,)):",
        "  acc1 = pl.tile.matmul_acc(acc, left, right)",
        "  pl.tile.tpush_to_aiv(acc1, split=0)",
        "  acc2 = pl.yield_(acc1)",
    ]
    assert body(node, "kernel_aiv")[2:] == [
        "t = pl.tile.load(r, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
        "for i, (total,) in pl.range(4, init_values=(t,)):",
        "  v = pl.tile.tpop_from_aic(split=0)",
        "  if i > n:",
        "    total1 = pl.tile.add(total, v)",
        "    part = pl.yield_(total1)",
        "  else:",
        "    part = pl.yield_(total)",
        "  pl.system.tfree_to_aic(v)",
        "  y = pl.yield_(part)",
        "done = pl.tile.store(y, [0, 0], out)",
        "return done",
    ]
    given = inputs(1)
    torch.testing.assert_close(result(node, 1), given["r"] + 9 * (given["a"] @ given["b"]))


def test_a_tile_is_freed_behind_the_last_view_of_it():
    node = expanded(
        *TO_VECTOR,
        "w = pl.tile.reshape(v, [64, 32])",
        "s = pl.tile.muls(v, 2.0)",
        "u = pl.tile.reshape(w, [32, 64])",
        "y = pl.tile.add(s, u)",
        STORE,
        RETURN,
    )
    assert body(node, "kernel_aiv")[-4:] == [
        "y = pl.tile.add(s, u)",
        "pl.system.tfree_to_aic(v)",
        "done = pl.tile.store(y, [0, 0], out)",
        "return done",
    ]


def test_a_tile_that_a_branch_yields_is_copied_before_a_later_one_is_freed():
    """Frees give slots back in the order of the pops, whichever tile they name."""
    node = expanded(
        *PRODUCT,
        LOAD_R,
        "if n > 0:",
        f"    v = pl.tile.move(c, {VEC})",
        f"    w = pl.tile.move(c, {VEC})",
        "    unread = pl.tile.sub(v, w)",
        "    y = pl.yield_(v)",
        "else:",
        "    y = pl.yield_(t)",
        STORE,
        RETURN,
    )
    lines = body(node, "kernel_aiv")
    start = lines.index("  v = pl.tile.tpop_from_aic(split=0)")
    assert lines[start + 1 : start + 6] == [
        "  v_mv = pl.tile.move(v, target_memory=pl.Mem.Vec)",
        "  pl.system.tfree_to_aic(v)",
        "  w = pl.tile.tpop_from_aic(split=0)",
        "  pl.system.tfree_to_aic(w)",
        "  y = pl.yield_(v_mv)",
    ]
    given = inputs(1)
    torch.testing.assert_close(result(node, 1), given["a"] @ given["b"])


def test_a_pop_that_nothing_reads_stays():
    node = expanded(*TO_VECTOR, LOAD_R, "y = pl.tile.exp(t)", STORE, RETURN)
    assert body(node, "kernel_aiv")[2:4] == [
        "v = pl.tile.tpop_from_aic(split=0)",
        "pl.system.tfree_to_aic(v)",
    ]


def test_the_vector_core_waits_for_what_the_cube_core_stores():
    node = expanded(
        *PRODUCT,
        "part = pl.tile.store(c, [0, 0], r)",
        "for i, (o,) in pl.range(0, 32, 16, init_values=(out,)):",
        "    t = pl.tile.load(part, [i, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "    e = pl.tile.muls(t, 2.0)",
        "    o1 = pl.tile.store(e, [i, 0], o)",
        "    done = pl.yield_(o1)",
        RETURN,
    )
    assert body(node, "kernel_aic")[-2:] == [
        "part = pl.tile.store(c, [0, 0], r)",
        "pl.tile.tpush_to_aiv(c, split=0)",
    ]
    assert body(node, "kernel_aiv")[2:6] == [
        "r_gm_sync = pl.tile.tpop_from_aic(split=0)",
        "pl.system.tfree_to_aic(r_gm_sync)",
        "for i, (o,) in pl.range(0, 32, 16, init_values=(out,)):",
        "  t = pl.tile.load(r, [i, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
    ]
    given = inputs()
    torch.testing.assert_close(result(node), 2 * (given["a"] @ given["b"]))


def test_what_only_one_core_can_do_it_alone_does():
    """The other one would write a value that it does not have."""
    node = expanded(
        *TO_VECTOR,
        LOAD_R,
        "e = pl.tile.exp(t)",
        "k = pl.tile.read(e, [0, 3])",
        "y = pl.tile.muls(v, 2.0)",
        "done = pl.tile.store(y, [0, 0], out)",
        "pl.tensor.write(a, [0, 5], k)",
        RETURN,
    )
    cube, vector = body(node, "kernel_aic"), body(node, "kernel_aiv")
    assert not [line for line in cube if "write" in line or "read" in line]
    assert "pl.tensor.write(a, [0, 5], k)" in vector


def test_kernels_of_one_core_get_its_type():
    node = expanded(*PRODUCT, "done = pl.tile.store(c, [0, 0], out)", RETURN, attrs='"split": 1')
    assert node.get_function("kernel").func_type is ir.FunctionType.AIC
    assert "split" not in node.get_function("kernel").attrs
    node = expanded(LOAD_R, "y = pl.tile.exp(t)", STORE, RETURN)
    assert node.get_function("kernel").func_type is ir.FunctionType.AIV


CLUSTER = """
    @pl.function(type=pl.FunctionType.Group)
    def cluster(self, {params}) -> pl.Tensor[[32, 64], pl.FP32]:
        found = self.kernel(a, b, r, n, out)
        return found
"""


def test_a_group_that_calls_a_kernel_calls_both_sides():
    more = CLUSTER.format(params=PARAMS)
    node = expanded(*TO_VECTOR, "y = pl.tile.exp(v)", STORE, RETURN, more=more)
    assert sorted(function.name for function in node.functions.values()) == [
        "cluster",
        "kernel_aic",
        "kernel_aiv",
    ]
    assert body(node, "cluster") == [
        "self.kernel_aic(a, b, r, n, out)",
        "found = self.kernel_aiv(a, b, r, n, out)",
        "return found",
    ]


READ = ("e = pl.tile.exp(t)", "k = pl.tile.read(e, [0, 3])", "i = pl.cast(k, pl.INDEX)")
REFUSED = {
    "an address of the cube core that the vector core computes": (
        (LOAD_R, *READ, "ta = pl.tile.load(a, [i, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)",
         "tb = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)",
         "left = pl.tile.move(ta, target_memory=pl.Mem.Left)",
         "right = pl.tile.move(tb, target_memory=pl.Mem.Right)", "c = pl.tile.matmul(left, right)",
         "done = pl.tile.store(c, [0, 0], out)", RETURN),
        "the cube core needs 'k', which only the vector core computes",
    ),
    "a condition of the cube core that the vector core computes": (
        (*PRODUCT, LOAD_R, *READ, "if i > 0:", "    v = pl.tile.move(c, target_memory=pl.Mem.Vec)",
         "    w = pl.yield_(v)", "else:", "    w = pl.yield_(t)", "y = pl.tile.exp(w)", STORE, RETURN),
        "the cube core needs 'k', which only the vector core computes",
    ),
    "more tiles at once than the pipe has slots": (
        (*TO_VECTOR, "v1 = pl.tile.move(c, target_memory=pl.Mem.Vec)",
         "v2 = pl.tile.move(c, target_memory=pl.Mem.Vec)", "s = pl.tile.add(v, v1)",
         "y = pl.tile.add(s, v2)", STORE, RETURN),
        "a core takes another tile while it reads 2, as many as the pipe has slots",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_shared_out_is_refused(what):
    lines, message = REFUSED[what]
    with pytest.raises(passes.PassError) as caught:
        expanded(*lines)
    text = str(caught.value)
    assert message in text and "in function 'kernel'" in text and "<string>:" in text


def test_a_pipe_of_more_slots_takes_more_tiles_at_once():
    moves = [f"v{k} = pl.tile.move(c, target_memory=pl.Mem.Vec)" for k in (1, 2)]
    lines = (*TO_VECTOR, *moves, "s = pl.tile.add(v1, v2)", "y = pl.tile.add(s, v)", STORE, RETURN)
    node = expanded(*lines, attrs='"slot_num": 3')
    given = inputs()
    torch.testing.assert_close(result(node), 3 * (given["a"] @ given["b"]))


def test_a_tile_that_crosses_makes_the_loader_wait():
    """What was stored before the tile was pushed is there when it has been popped."""
    node = expanded(
        *PRODUCT,
        "o = pl.tile.store(c, [0, 0], r)",
        "o1 = pl.tile.store(c, [0, 0], o)",
        "v = pl.tile.move(c, target_memory=pl.Mem.Vec)",
        "t = pl.tile.load(o1, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
        "y = pl.tile.sub(t, v)",
        STORE,
        RETURN,
    )
    assert not [line for line in body(node, "kernel_aiv") if "gm_sync" in line]
    torch.testing.assert_close(result(node), torch.zeros(32, 64))


def test_a_backend_must_be_chosen_for_a_mixed_kernel():
    backend.reset_for_testing()
    with pytest.raises(ValueError, match="Backend type not configured"):
        expanded(*TO_VECTOR, "y = pl.tile.exp(v)", STORE, RETURN)
    node = expanded(LOAD_R, "y = pl.tile.exp(t)", STORE, RETURN)
    assert node.get_function("kernel").func_type is ir.FunctionType.AIV


def test_a_transpose_of_the_shared_axis_is_refused():
    lines = ("x = pl.tile.transpose(t, 0, 1)", "y = pl.tile.reshape(x, [32, 64])")
    with pytest.raises(ValueError, match="tile.transpose exchanges axis 0, along which the kernel is split"):
        expanded(*TO_VECTOR, LOAD_R, *lines, STORE, RETURN, attrs='"split": 1, "split_aiv": True')


WRITTEN = """
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, {params}):
        t = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Vec)
        pl.tpush_to_aic(t, split=0)
        return out
"""


def test_a_push_that_is_written_by_hand_is_of_boxes_too():
    node = pl.parse(HEAD + WRITTEN.format(params=PARAMS))
    once = passes.make_pass("ExpandMixedKernel")(node)
    assert body(once, "kernel")[1:3] == [
        "t_nz = pl.tile.move(t, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.col_major,"
        " slayout=pl.TileLayout.row_major)",
        "pl.tile.tpush_to_aic(t_nz, split=0)",
    ]
    assert passes.make_pass("ExpandMixedKernel")(once) is once
    choose("Ascend910B")
    assert passes.make_pass("ExpandMixedKernel")(node) is node


def test_a_signal_that_both_cores_would_count_up_is_refused():
    node = mixed(*TO_VECTOR, "y = pl.tile.exp(v)", STORE, RETURN)
    kernel = node.get_function("kernel")
    cells = ir.Var("cells", ir.DistributedTensorType([2, 1], ir.DataType.INT32), kernel.span)
    signal = ops.call("pld.system.notify", cells, 0, [0, 0], 1, op=0, span=kernel.span)
    found = [ir.EvalStmt(signal, kernel.span), *flat(kernel.body)]
    node = build(node, functions=[build(kernel, body=ir.SeqStmts(found, kernel.span))])
    with pytest.raises(passes.PassError, match="would run on both cores and count twice"):
        passes.make_pass("ExpandMixedKernel")(node)


@pytest.mark.parametrize("number", [0, 3])
def test_a_product_goes_through_a_branch_in_which_the_vector_core_alone_works(number: int) -> None:
    """Both sides give ``c``; without the branch on the cube core, that could not push what it gives."""
    node = expanded(
        *PRODUCT,
        LOAD_R,
        "if n == 0:",
        "    s = pl.tile.store(t, [0, 0], out)",
        "    d, o = pl.yield_(c, s)",
        "else:",
        "    d, o = pl.yield_(c, out)",
        f"v = pl.tile.move(d, {VEC})",
        "y = pl.tile.add(v, t)",
        "done = pl.tile.store(y, [0, 0], o)",
        RETURN,
    )
    given = inputs(number)
    torch.testing.assert_close(result(node, number), given["a"] @ given["b"] + given["r"])
    assert any("tpush_to_aiv(d" in line for line in body(node, "kernel_aic"))
