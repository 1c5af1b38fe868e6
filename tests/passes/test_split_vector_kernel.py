"""SplitVectorKernel: attributes, whole tiles that lanes share, and the second lane of other kernels."""

import pytest
import torch
from passes.kernels import HEAD, body
from passes.mixed_kernels import LOAD_R, PARAMS, TO_VECTOR, inputs, mixed, result

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes

STORE = "done = pl.tile.store(y, [0, 0], out)"
RETURN = "return done"
SPACE = "target_memory=pl.Mem.Vec"


@pytest.fixture(autouse=True)
def a_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


def expanded(*lines: str, attrs: str = "") -> ir.Program:
    node = passes.make_pass("LowerAutoVectorSplit")(mixed(*lines, attrs=attrs))
    return passes.make_pass("ExpandMixedKernel")(node)


def split(node: ir.Program) -> ir.Program:
    return passes.make_pass("SplitVectorKernel")(node)


def test_the_second_lane_keeps_the_pipe_going():
    node = split(expanded(*TO_VECTOR, LOAD_R, "y = pl.tile.add(v, t)", STORE, RETURN))
    assert body(node, "kernel_aiv") == [
        'pl.func_attr({"dual_aiv_dispatch": True})',
        "subblock_idx = pl.tile.get_subblock_idx()",
        "kernel_c2v_slot_buffer = pl.system.reserve_buffer(name='kernel_c2v_slot_buffer', size=16384,"
        " base=-1)",
        "pl.system.aiv_initialize_pipe(kernel_c2v_slot_buffer, pl.const(0, pl.INT32), dir_mask=1,"
        " slot_size=8192, slot_num=2)",
        "if subblock_idx == 0:",
        "  v = pl.tile.tpop_from_aic(split=0)",
        "  t = pl.tile.load(r, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Vec)",
        "  y = pl.tile.add(v, t)",
        "  pl.system.tfree_to_aic(v)",
        "  done = pl.tile.store(y, [0, 0], out)",
        "  return done",
        "else:",
        "  v_1 = pl.tile.tpop_from_aic(split=0)",
        "  t_1 = pl.tile.create([32, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
        "  y_1 = pl.tile.add(v_1, t_1)",
        "  pl.system.tfree_to_aic(v_1)",
        "  done_1 = out",
        "  return out",
    ]
    second = [
        stmt for stmt in ir.walk(node.get_function("kernel_aiv").body) if isinstance(stmt, ir.AssignStmt)
    ]
    empty = {stmt.var.name_hint for stmt in second if _is_empty(stmt.var.type)}
    assert empty == {"v", "t", "y"}
    given = inputs()
    torch.testing.assert_close(result(node), given["a"] @ given["b"] + given["r"])
    assert split(node) is node


def _is_empty(type_: ir.Type) -> bool:
    valid = type_.get_effective_tile_view().valid_shape if isinstance(type_, ir.TileType) else ()
    return [extent.value for extent in valid] == [0, 0]


def test_the_second_lane_writes_no_scalar_that_it_cannot_know():
    lines = (
        *TO_VECTOR,
        LOAD_R,
        "e = pl.tile.exp(t)",
        "k = pl.tile.read(e, [0, 3])",
        "y = pl.tile.muls(v, 2.0)",
        STORE,
        "pl.tensor.write(a, [0, 5], k)",
        RETURN,
    )
    node = split(expanded(*lines))
    first, second = " ".join(body(node, "kernel_aiv")).split("else:")
    assert "pl.tensor.write(a, [0, 5], k)" in first and "pl.tensor.write" not in second
    given = inputs()
    torch.testing.assert_close(result(node), 2 * (given["a"] @ given["b"]))


READ = (LOAD_R, "k = pl.tile.read(t, [0, 3])", "i = pl.cast(k, pl.INDEX)")


def test_the_second_lane_cannot_read_at_a_place_that_it_does_not_know():
    lines = (*TO_VECTOR, *READ, "f = pl.tensor.read(r, [i, 0])", "y = pl.tile.muls(v, f)", STORE, RETURN)
    with pytest.raises(passes.PassError, match="reads global memory at a place that it reads from a tile"):
        split(expanded(*lines))


def test_the_second_lane_cannot_tell_how_often_a_tile_comes():
    text = f"""
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, {PARAMS}):
        t = pl.tile.load(r, [0, 0], [32, 64], [32, 64], {SPACE})
        k = pl.tile.read(t, [0, 3])
        if k > 0.5:
            v: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split=0)
            pl.tfree_to_aic(v)
        return out
"""
    node = pl.parse(HEAD + text)
    kernel = node.get_function("kernel")
    both = ir.Function(
        kernel.name,
        list(zip(kernel.params, kernel.param_directions, strict=True)),
        kernel.return_types,
        kernel.body,
        kernel.span,
        kernel.func_type,
        attrs={"dual_aiv_dispatch": True},
    )
    with pytest.raises(passes.PassError, match="goes on by a value that it reads from a tile") as caught:
        split(ir.Program([both], "p", node.span))
    assert "in function 'kernel'" in str(caught.value)


def test_split_kernels_say_so():
    node = split(
        expanded(*TO_VECTOR, "y = pl.tile.exp(v)", STORE, RETURN, attrs='"split": pl.SplitMode.UP_DOWN')
    )
    attrs = {function.name: dict(function.attrs) for function in node.functions.values()}
    assert attrs["kernel_aic"] == {"split_aiv": True, "split": 1}
    assert attrs["kernel_aiv"] == {"split_aiv": True, "split": 1, "dual_aiv_dispatch": True}
    assert attrs["kernel"] == {"split_aiv": True, "split": 1}


WRITTEN = """
    @pl.function(type=pl.FunctionType.AIC)
    def pair_aic(self, {params}):
        ta = pl.tile.load(a, [0, 0], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
        tb = pl.tile.load(b, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)
        left = pl.tile.move(ta, target_memory=pl.Mem.Left)
        right = pl.tile.move(tb, target_memory=pl.Mem.Right)
        c = pl.tile.matmul(left, right)
        pl.tpush_to_aiv(c, split={pushed})

    @pl.function(type=pl.FunctionType.AIV)
    def pair_aiv(self, {params}) -> pl.Tensor[[32, 64], pl.FP32]:
{lines}

    @pl.function(type=pl.FunctionType.Group)
    def kernel(self, {params}) -> pl.Tensor[[32, 64], pl.FP32]:
        self.pair_aic(a, b, r, n, out)
        found = self.pair_aiv(a, b, r, n, out)
        return found
"""
POP = "v: pl.Tile[[{rows}, 64], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(split={code})"


def written(*lines: str, pushed: int = 1) -> ir.Program:
    """A pair written by hand."""
    text = "\n".join(f"        {line}" for line in lines)
    return pl.parse(HEAD + WRITTEN.format(params=PARAMS, lines=text, pushed=pushed))


def test_a_pair_for_whole_tiles_is_halved():
    node = split(
        written(
            POP.format(rows=32, code=1),
            f"t = pl.tile.load(r, [0, 0], [32, 64], [32, 64], {SPACE})",
            "for i, (x,) in pl.range(2, init_values=(v,)):",
            "    x1 = pl.tile.add(x, t)",
            "    y = pl.yield_(x1)",
            "pl.tfree_to_aic(v)",
            STORE,
            RETURN,
        )
    )
    assert body(node, "pair_aiv") == [
        'pl.func_attr({"split": pl.SplitMode.UP_DOWN, "dual_aiv_dispatch": True})',
        "subblock_idx = pl.tile.get_subblock_idx()",
        "v = pl.tile.tpop_from_aic(split=1)",
        "t = pl.tile.load(r, [0 + subblock_idx * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "for i, (x,) in pl.range(2, init_values=(v,)):",
        "  x1 = pl.tile.add(x, t)",
        "  y = pl.yield_(x1)",
        "pl.system.tfree_to_aic(v)",
        "done = pl.tile.store(y, [0 + subblock_idx * 16, 0], out)",
        "return done",
    ]
    loop = next(stmt for stmt in ir.walk(node.get_function("pair_aiv").body) if isinstance(stmt, ir.ForStmt))
    assert [extent.value for extent in loop.iter_args[0].type.shape] == [16, 64]
    given = inputs()
    torch.testing.assert_close(result(node), given["a"] @ given["b"] + 2 * given["r"])


def test_a_pair_for_halves_stays_as_it_is_written():
    lines = (
        "lane = pl.tile.get_subblock_idx()",
        POP.format(rows=16, code=1),
        "y = pl.tile.muls(v, 2.0)",
        "pl.tfree_to_aic(v)",
        "done = pl.tile.store(y, [lane * 16, 0], out)",
        RETURN,
    )
    before = written(*lines)
    node = split(before)
    assert body(node, "pair_aiv")[1:] == body(before, "pair_aiv")
    assert dict(node.get_function("pair_aiv").attrs) == {"split": 1, "dual_aiv_dispatch": True}
    assert dict(node.get_function("pair_aic").attrs) == {"split": 1}
    given = inputs()
    torch.testing.assert_close(result(node), 2 * (given["a"] @ given["b"]))


def test_transfers_along_different_axes_are_refused():
    again = POP.format(rows=16, code=2).replace("v", "w", 1)
    lines = (POP.format(rows=16, code=1), "pl.tfree_to_aic(v)", again, "pl.tfree_to_aic(w)", "return out")
    with pytest.raises(ValueError, match="split it along different axes") as caught:
        split(written(*lines))
    assert "in function 'pair_aiv'" in str(caught.value)
