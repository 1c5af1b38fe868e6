"""LowerToBuffers: declarations, writes, copies of carries and results, views, slots."""

import re
import textwrap

import pytest
import torch
from corpus_check import compare_with_golden, load_program
from passes.buffered import TESTS, buffered, kernel_text, recorded, same
from storage.placed_kernels import inputs, placed, run

from pypto_tmpl import ir, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.storage.destinations import as_assignments

LOAD = "[0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"


def body(text: str) -> str:
    return textwrap.dedent(text).strip("\n").replace("LOAD", LOAD)


def test_ops_write_their_destinations():
    found = buffered("""
        a @ 0x400 FP32[16, 64] = load(x)
        b @ 0x400 FP32[16, 64] = pl.tile.adds(a, 1.0)
        store(b)
    """)
    assert kernel_text(found) == body("""
        a: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x400:0x1400], mem]
        b: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x400:0x1400], mem]
        a[...] = pl.tile.load(x, LOAD
        b[...] = pl.tile.adds(a, 1.0)
        o_b: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(b, [0, 0], out)
    """)
    x, _ = inputs()
    assert same(run(found), x + 1) and same(run(found, storage=False), x + 1)


def test_a_loop_carries_scalars_and_copies_tiles():
    found = buffered("""
        a @ 0 FP32[16, 64] = load(x)
        for i, (c, s) in pl.range(3, init_values=(a, 1.0)):
            b @ 0 FP32[16, 64] = pl.tile.adds(c, s)
            r, t = pl.yield_(b, s + 2.0)
        u @ 0x1000 FP32[16, 64] = pl.tile.muls(r, t)
        store(u)
    """)
    assert kernel_text(found) == body("""
        a: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x0:0x1000], mem]
        c: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x0:0x1000], mem]
        b: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x0:0x1000], mem]
        u: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x1000:0x2000], mem]
        a[...] = pl.tile.load(x, LOAD
        c[...] = a  # the same bytes
        for i, (s,) in pl.range(3, init_values=(1.0,)):
            b[...] = pl.tile.adds(c, s)
            c[...] = b  # the same bytes
            t: pl.Scalar[pl.FP32] = pl.yield_(s + 2.0)
        u[...] = pl.tile.muls(c, t)
        o_u: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(u, [0, 0], out)
    """)
    expected = (inputs()[0] + 1 + 3 + 5) * 7
    assert same(run(found), expected) and same(run(found, storage=False), expected)


def test_copies_stand_in_an_order_in_which_none_takes_what_another_reads():
    found = buffered("""
        a @ 0 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = load(y)
        for i, (c, d) in pl.range(2, init_values=(a, b)):
            e @ 0x2000 FP32[16, 64] = pl.tile.add(c, d)
            r, s = pl.yield_(d, e)
        u @ 0x3000 FP32[16, 64] = pl.tile.sub(s, r)
        store(u)
    """)
    assert "\n    e[...] = pl.tile.add(c, d)\n    c[...] = d\n    d[...] = e\n" in kernel_text(found)
    x, y = inputs()  # x, y -> y, x + y -> x + y, x + 2 y
    expected = (y + (x + y)) - (x + y)
    assert same(run(found), expected) and same(run(found, storage=False), expected)


def test_the_other_order():
    found = buffered("""
        a @ 0 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = load(y)
        for i, (c, d) in pl.range(2, init_values=(a, b)):
            e @ 0x2000 FP32[16, 64] = pl.tile.add(c, d)
            r, s = pl.yield_(e, c)
        store(s)
    """)
    assert "\n    d[...] = c\n    c[...] = e\n" in kernel_text(found)
    x, y = inputs()
    assert same(run(found), x + y)


def test_copies_in_a_circle_are_refused():
    program = placed("""
        a @ 0 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = load(y)
        for i, (c, d) in pl.range(2, init_values=(a, b)):
            r, s = pl.yield_(d, c)
        store(s)
    """)
    with pytest.raises(PassError) as caught:
        passes.lower_to_buffers()(program)
    assert str(caught.value) == (
        "error[pass]: copies go in a circle, and no buffer is planned to keep one of them meanwhile: "
        "'d' to 'c', 'c' to 'd'\n"
        "  --> <string>:13:20\n"
        "   = in function 'kernel', variable 'c'"
    )


def test_a_plan_by_which_others_take_what_is_read_is_refused():
    program = placed("""
        a @ 0x400 FP32[16, 64] = load(x)
        for i, (c, d) in pl.range(2, init_values=(a, a)):
            e @ 0x2000 FP32[16, 64] = pl.tile.add(c, d)
            f @ 0x3000 FP32[16, 64] = pl.tile.muls(c, 2.0)
            r, s = pl.yield_(e, f)
        u @ 0x4000 FP32[16, 64] = pl.tile.sub(r, s)
        store(u)
    """)
    with pytest.raises(PassError) as caught:
        passes.lower_to_buffers()(program)
    assert str(caught.value) == (
        "error[pass]: the plan does not keep what is read: written by line 14 `d` at Vec 0x400-0x13ff while "
        "`c` is read on line 12\n"
        "  --> <string>:12:13\n"
        "   = in function 'kernel', variable 'c'"
    )


def test_a_second_name_elsewhere_is_a_copy():
    found = buffered("""
        a @ 0x400 FP32[16, 64] = load(x)
        b @ other+0x2000 FP32[16, 64] = a
        c @ 0x400 FP32[16, 64] = load(y)
        d @ 0x4000 FP32[16, 64] = pl.tile.sub(b, c)
        store(d)
    """)
    assert "b: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x2000:0x3000], other]\n" in kernel_text(found)
    assert "\nb[...] = a\n" in kernel_text(found)
    x, y = inputs()
    assert same(run(found), x - y) and same(run(found, storage=False), x - y)


def test_branches_copy_their_results():
    found = buffered("""
        a @ 0 FP32[16, 64] = load(x)
        if n > 0:
            b @ 0x1000 FP32[16, 64] = pl.tile.adds(a, 1.0)
            r @ 0x1000 FP32[16, 64] = pl.yield_(b)
        else:
            c @ 0x2000 FP32[16, 64] = pl.tile.muls(a, 2.0)
            r @ 0x1000 FP32[16, 64] = pl.yield_(c)
        store(r)
    """)
    assert kernel_text(found).partition("target_memory=pl.Mem.Vec)\n")[2] == body("""
        if n > 0:
            b[...] = pl.tile.adds(a, 1.0)
            r[...] = b  # the same bytes
        else:
            c[...] = pl.tile.muls(a, 2.0)
            r[...] = c
        o_r: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(r, [0, 0], out)
    """)
    x, _ = inputs()
    for storage in (True, False):
        assert same(run(found, n=1, storage=storage), x + 1)
        assert same(run(found, n=0, storage=storage), x * 2)


def test_windows_second_names_and_tiles_that_are_changed_in_place():
    found = buffered("""
        a @ 0 FP32[16, 64] = load(x)
        w @ 0x40 FP32[16, 16] = pl.tile.slice(a, [16, 16], [0, 16])
        z @ 0x1000 FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        e @ 0x1000 FP32[16, 64] = pl.tile.adds(a, 1.0)
        m @ 0x1000 FP32[16, 64] = pl.tile.assemble(e, w, [0, 32])
        k @ 0x1000 FP32[16, 64] = m
        store(k)
    """)
    assert kernel_text(found) == body("""
        a: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x0:0x1000], mem]
        e: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x1000:0x2000], mem]
        m: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x1000:0x2000], mem]
        a[...] = pl.tile.load(x, LOAD
        w: pl.View[[16, 16], pl.FP32, pl.Mem.Vec[0x40:0x440], mem] = pl.tile.slice(a, [16, 16], [0, 16])
        z: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x1000:0x2000], mem]
        e[...] = pl.tile.adds(a, 1.0)
        m[...] = pl.tile.assemble(e, w, [0, 32])
        k: pl.View[[16, 64], pl.FP32, pl.Mem.Vec[0x1000:0x2000], mem] = m
        o_k: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(k, [0, 0], out)
    """)
    x, _ = inputs()
    expected = x + 1
    expected[:, 32:48] = x[:, 16:32]
    assert same(run(found), expected) and same(run(found, storage=False), expected)


def test_what_is_carried_in_a_window_is_written_with_its_pitch():
    found = buffered("""
        a @ 0 FP32[16, 64] = load(x)
        w @ 0x40 FP32[16, 16] = pl.tile.slice(a, [16, 16], [0, 16])
        for i, (c,) in pl.range(2, init_values=(w,)):
            e @ 0x2000 FP32[16, 16] = pl.tile.adds(c, 1.0)
            r = pl.yield_(e)
        store(r)
    """)
    assert "c: pl.View[[16, 16], pl.FP32, pl.Mem.Vec[0x40:0x440], mem] = w\n" in kernel_text(found)
    assert "    c[...] = e\n" in kernel_text(found)
    expected = torch.full((16, 64), 9.0)
    expected[:, :16] = inputs()[0][:, 16:32] + 2
    assert same(run(found), expected) and same(run(found, storage=False), expected)


def test_buffers_of_regions_that_a_loop_computes_are_declared_there():
    text = ir.python_print(recorded("ragged_tail_max"))
    width = text.index("        width__ssa_v0: pl.Scalar[pl.INDEX] = ")
    place = "pl.Mem.Vec[0x0:0x2000], mem_vec_2, pl.TileView(valid_shape=[32, width__ssa_v0])]\n"
    assert text.index(f"t__ssa_v0: pl.Buffer[[32, 64], pl.FP32, {place}") > width
    assert text.index("head__ssa_v0: pl.Buffer[") < text.index("head__ssa_v0[...] = ")


def test_tiles_out_of_pipes_are_slots():
    found = recorded("mixed_c2v_none")
    assert (
        "t__tile_Vec: pl.Slot[[32, 64], pl.FP32, pl.Mem.Vec, main_incore_0_c2v_slot_buffer] = "
        "pl.tile.tpop_from_aic(split=0)\n"
    ) in ir.python_print(found)
    plain = ir.python_print(as_assignments(found, load_table()))
    assert "t__tile_Vec: pl.Tile[[32, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)\n" in plain


def moving(program: ir.Program) -> list[tuple[str, str]]:
    """Copies that yields have become, as what is written and what is read."""
    return re.findall(r"^ *(\w+)\[\.\.\.\] = (\w+)$", ir.python_print(program), re.MULTILINE)


def test_a_carry_by_rows_that_is_yielded_in_boxes_is_converted():
    layout = "blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major"
    place = "pl.MemRef(mem, pl.const(0, pl.INT64), 4096), pl.Mem.Vec"
    boxed = f"pl.Tile[[16, 64], pl.FP32, {place}, pl.TileView({layout})]"
    found = buffered(f"""
        s @ 0x0 FP32[16, 64] = load(x)
        for i, (t,) in pl.range(2, init_values=(s,)):
            a @ 0x1000 FP32[16, 64] = pl.tile.muls(t, 0.5)
            b: {boxed} = pl.tile.move(a, target_memory=pl.Mem.Vec, {layout})
            r @ 0x0 FP32[16, 64] = pl.yield_(b)
        store(r)
    """)
    assert moving(found) == [("t", "b")]
    assert moving(recorded("gated_scores_two_lanes", "Ascend950")) == []  # MemoryReuse moves it


def test_results_that_are_declared_in_boxes_and_lie_by_rows_are_declared_by_rows():
    layout = "blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major"
    place = "pl.MemRef(mem, pl.const(0, pl.INT64), 4096), pl.Mem.Vec"
    boxed = f"pl.Tile[[16, 64], pl.FP32, {place}, pl.TileView({layout})]"
    found = buffered(f"""
        a @ 0x0 FP32[16, 64] = load(x)
        if n > 0:
            b: {boxed} = a
            for i, (t,) in pl.range(2, init_values=(b,)):
                r: {boxed} = pl.yield_(t)
            s: {boxed} = pl.yield_(r)
        else:
            s: {boxed} = pl.yield_(a)
        store(s)
    """)
    assert "s: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x0:0x1000], mem]\n" in kernel_text(found)
    assert same(run(found), inputs()[0]) and same(run(found, storage=False), inputs()[0])


def test_a_carry_whose_type_is_wider_than_its_value_has_the_extents_of_that():
    found = recorded("swiglu_scope")
    assert "gate__iter_v1: pl.Buffer[[8, 64], pl.FP32, " in ir.python_print(found)
    program = load_program(TESTS / "corpus/programs/swiglu_scope.py")
    for storage in (True, False):
        names: dict = {}
        exec(torch_codegen(found, check_shapes=True, storage=storage), names)
        assert compare_with_golden(program, names[program.entry]) is None


def test_what_has_no_tiles_stays_as_it_is():
    found = recorded("matmul_k_loop")
    again = passes.lower_to_buffers()(found)
    assert again is found
    before = passes.lower_to_buffers()(placed("store_nothing: pl.Scalar[pl.INDEX] = n + 1"))
    assert ir.python_print(before).count("pl.Buffer") == 0


def test_the_binary_form_is_lossless():
    for name, generation in (("rmsnorm_bf16", "Ascend910B"), ("stop_at_limit", "Ascend950")):
        found = recorded(name, generation)
        again = ir.deserialize(ir.serialize(found))
        assert ir.structural_equal(found, again) and ir.python_print(found) == ir.python_print(again)


def test_no_pass_takes_buffers():
    found = buffered("a @ 0 FP32[16, 64] = load(x)\nstore(a)")
    with pytest.raises(PassError, match="Simplify takes no program whose tiles are buffers"):
        passes.PassPipeline([passes.simplify()]).run(found)
    assert passes.PassPipeline([passes.lower_to_buffers()]).run(found) is found


def test_the_round_trip_leaves_buffers_out():
    program = placed("a @ 0 FP32[16, 64] = load(x)\nstore(a)")
    with passes.PassContext([passes.make_roundtrip_instrument()]):
        found = passes.PassPipeline([passes.lower_to_buffers()]).run(program)
    assert torch.equal(run(found), inputs()[0])
