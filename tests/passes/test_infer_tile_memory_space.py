"""InferTileMemorySpace: where tiles lie, which moves are made, and what is refused."""

import re
import textwrap

import pytest
import torch
from passes.kernels import KERNEL, after, body, kernel, program

from pypto_tmpl import ir, ops, passes
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.passes.tensor_to_tile.lowering import BRIDGE
from pypto_tmpl.rewrite import Rewriter, build, flat, substitute

PASS = "InferTileMemorySpace"
UNBOXED = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"
MAT = "m = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)"
CREATE = "pl.tile.create([16, 16], dtype=pl.FP32)"


def inferred(*lines: str) -> list[str]:
    """The lines of a kernel behind the pass, but for the load of ``m``."""
    return [line for line in after(PASS, kernel(*lines)) if "tile.load(" not in line]


def spaces(node: ir.Program) -> dict[str, str]:
    """The memory spaces of the tiles that a kernel binds, by name."""
    text = ir.python_print(node, format=False)
    found = re.findall(r"(\w+): pl\.Tile\[\[[^\]]*\], pl\.\w+, pl\.Mem\.(\w+)", text)
    return dict(found)


def values(node: ir.Program, n: int = 0) -> torch.Tensor:
    """What a kernel leaves in ``out`` for ones above zeros, scaled."""
    namespace: dict[str, object] = {}
    exec(torch_codegen(node, check_shapes=True), namespace)
    out = torch.full((16, 16), 9.0)
    namespace["kernel"](torch.tril(torch.ones(16, 16)) * 0.5, n, out)
    return out


def test_operands_are_moved_once_in_a_sequence_and_again_in_a_branch():
    got = inferred(
        MAT,
        "c = pl.matmul(m, m)",
        "d = pl.matmul(m, m)",
        "if n > 0:",
        "    e = pl.matmul(m, m)",
        "f = pl.matmul(m, m)",
    )
    assert got == [
        "m_Left = pl.tile.move(m, target_memory=pl.Mem.Left)",
        "m_Right = pl.tile.move(m, target_memory=pl.Mem.Right)",
        "c = pl.tile.matmul(m_Left, m_Right)",
        "d = pl.tile.matmul(m_Left, m_Right)",
        "if n > 0:",
        "  m_Left_1 = pl.tile.move(m, target_memory=pl.Mem.Left)",
        "  m_Right_1 = pl.tile.move(m, target_memory=pl.Mem.Right)",
        "  e = pl.tile.matmul(m_Left_1, m_Right_1)",
        "f = pl.tile.matmul(m_Left, m_Right)",
    ]


def test_a_product_reaches_vector_ops_without_boxes_and_may_be_stored_as_it_is():
    got = inferred(MAT, "c = pl.matmul(m, m)", "v = pl.exp(c)", "done = pl.store(c, [0, 0], out)")
    assert got[3:] == [
        f"c_Vec = pl.tile.move(c, target_memory=pl.Mem.Vec, {UNBOXED})",
        "v = pl.tile.exp(c_Vec)",
        "done = pl.tile.store(c, [0, 0], out)",
    ]


def test_what_had_the_layout_of_a_product_has_that_of_its_operand_now():
    node = kernel(MAT, "c = pl.matmul(m, m)", "v = pl.exp(c)", "w = pl.tile.muls(v, 2.0)")
    assert "col_major" in ir.python_print(node, format=False)
    text = ir.python_print(passes.make_pass(PASS)(node), format=False)
    assert "w: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.muls(v, 2.0)" in text
    assert "col_major" not in text


def test_a_carry_lies_where_its_rounds_leave_it_and_its_buffer_is_created_there():
    node = kernel(
        f"start = {CREATE}",
        "for i, (acc,) in pl.range(4, init_values=(start,)):",
        f"    {MAT}",
        "    nxt = pl.matmul_acc(acc, m, m, init_cond=(i == 0))",
        "    total = pl.yield_(nxt)",
        "done = pl.store(total, [0, 0], out)",
    )
    got = passes.make_pass(PASS)(node)
    assert spaces(got) == {
        "start": "Acc", "m": "Mat", "m_Left": "Left", "m_Right": "Right", "nxt": "Acc", "total": "Acc",
    }  # fmt: skip
    assert "start = pl.tile.create([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)" in body(got, "kernel")
    assert torch.equal(values(got), values(node))


def test_a_carry_that_begins_with_a_product_and_goes_on_in_vec_begins_with_the_moved_product():
    lines = (
        MAT,
        "c = pl.matmul(m, m)",
        "for i, (s,) in pl.range(3, init_values=(c,)):",
        "    t = pl.add(s, 1.0)",
        "    r = pl.yield_(t)",
        "done = pl.store(r, [0, 0], out)",
    )
    got = passes.make_pass(PASS)(kernel(*lines))
    assert body(got, "kernel")[4:6] == [
        f"c_Vec = pl.tile.move(c, target_memory=pl.Mem.Vec, {UNBOXED})",
        "for i, (s,) in pl.range(3, init_values=(c_Vec,)):",
    ]
    assert torch.equal(values(got), values(kernel(*lines)))
    assert spaces(got)["r"] == "Vec"


def test_a_carry_that_only_changes_its_region_lies_where_it_begins():
    lines = (MAT, "c = pl.matmul(m, m)", "for i, (s,) in pl.range(3, init_values=(c,)):",
             "    t = pl.tile.set_validshape(s, 8, 16)", "    r = pl.yield_(t)")  # fmt: skip
    got = spaces(passes.make_pass(PASS)(kernel(*lines)))
    assert (got["t"], got["r"]) == ("Acc", "Acc")


def test_what_a_loop_carries_is_moved_too_where_an_op_takes_it_elsewhere():
    lines = (
        f"start = {CREATE}",
        "for i, (acc,) in pl.range(2, init_values=(start,)):",
        f"    {MAT}",
        "    nxt = pl.matmul_acc(acc, m, m, init_cond=(i == 0))",
        "    half = pl.mul(acc, 0.5)",
        "    done = pl.store(half, [0, 0], out)",
        "    total = pl.yield_(nxt)",
    )
    got = passes.make_pass(PASS)(kernel(*lines))
    assert f"  acc_Vec = pl.tile.move(acc, target_memory=pl.Mem.Vec, {UNBOXED})" in body(got, "kernel")
    assert torch.equal(values(got), values(kernel(*lines)))


def test_what_was_written_in_place_is_moved_again():
    lines = (
        "a = pl.load(x, [0, 0], [16, 16])",
        "c = pl.matmul(a, a)",
        "p = pl.tile.slice(a, [8, 16], [8, 0])",
        "b = pl.tile.fillpad_inplace(a, pad_value=pl.PadValue.zero)",
        "d = pl.matmul(a, a)",
    )
    moves = [line for line in inferred(*lines) if "tile.move" in line]
    assert [line.partition(" = ")[0] for line in moves] == ["a_Left", "a_Right", "a_Left_1", "a_Right_1"]


WANTED = {
    "pl.matmul(m, m)": "Mat",
    "pl.exp(m)": "Vec",
    "pl.matmul(pl.tile.reshape(m, [16, 16]), m)": "Mat",
    "pl.add(pl.exp(m), pl.matmul(m, m))": "Mat",
}


@pytest.mark.parametrize("use", WANTED)
def test_a_load_without_a_space_goes_to_where_the_tile_is_wanted(use):
    node = passes.flatten_call_expr()(kernel("m = pl.load(x, [0, 0], [16, 16])", f"c = {use}"))
    function = node.get_function("kernel")
    load, *others = flat(function.body)
    bare = ops.call("tile.load", *load.value.args)
    assert bare.type.memory_space is None
    tile = ir.Var("m", bare.type, load.span)
    body = [ir.AssignStmt(tile, bare, load.span), *(substitute(other, {load.var: tile}) for other in others)]
    function = build(function, body=ir.SeqStmts(body, load.span))
    assert spaces(passes.make_pass(PASS)(build(node, functions=[function])))["m"] == WANTED[use]


def refusal(*lines: str) -> str:
    with pytest.raises(passes.PassError) as raised:
        passes.make_pass(PASS)(kernel(*lines))
    return str(raised.value)


def test_a_carry_that_is_accumulated_begins_with_a_product_or_a_new_buffer():
    found = refusal(
        "z = pl.tile.full([16, 16], dtype=pl.FP32, value=0.0)",
        "for i, (acc,) in pl.range(2, init_values=(z,)):",
        f"    {MAT}",
        "    nxt = pl.matmul_acc(acc, m, m)",
        "    total = pl.yield_(nxt)",
    )
    assert found == (
        "error[pass]: 'acc' lies in Vec and is needed in Acc, into which nothing is moved:"
        " begin with a product, or with a buffer of tile.create\n"
        "  --> <string>:13:13\n"
        "   = in function 'kernel', variable 'acc'"
    )


@pytest.mark.parametrize("n", [0, 1])
def test_values_of_branches_that_lie_apart_meet_where_vector_ops_take_them(n):
    lines = (
        MAT,
        "if n > 0:",
        "    r: pl.Tile[[16, 16], pl.FP32] = pl.yield_(pl.matmul(m, m))",
        "else:",
        "    r: pl.Tile[[16, 16], pl.FP32] = pl.yield_(pl.tile.full([16, 16], dtype=pl.FP32, value=0.5))",
        "v = pl.exp(r)",
        "done = pl.store(v, [0, 0], out)",
    )
    node = passes.flatten_call_expr()(kernel(*lines))
    got = passes.make_pass(PASS)(node)
    assert body(got, "kernel")[1:9] == [
        "if n > 0:",
        "  m_Left = pl.tile.move(m, target_memory=pl.Mem.Left)",
        "  m_Right = pl.tile.move(m, target_memory=pl.Mem.Right)",
        "  t__tmp_v0 = pl.tile.matmul(m_Left, m_Right)",
        f"  t__tmp_v0_Vec = pl.tile.move(t__tmp_v0, target_memory=pl.Mem.Vec, {UNBOXED})",
        "  r = pl.yield_(t__tmp_v0_Vec)",
        "else:",
        "  t__tmp_v1 = pl.tile.full([16, 16], dtype=pl.FP32, value=0.5)",
    ]
    assert torch.equal(values(got, n), values(node, n))


def test_a_carry_that_begins_in_vec_and_goes_on_with_products_lies_in_vec():
    lines = (
        "z = pl.load(x, [0, 0], [16, 16])",
        "for i, (s,) in pl.range(3, init_values=(z,)):",
        "    c = pl.matmul(s, s)",
        "    r = pl.yield_(c)",
        "done = pl.store(r, [0, 0], out)",
    )
    got = passes.make_pass(PASS)(kernel(*lines))
    assert body(got, "kernel")[2:7] == [
        "  s_Left = pl.tile.move(s, target_memory=pl.Mem.Left)",
        "  s_Right = pl.tile.move(s, target_memory=pl.Mem.Right)",
        "  c = pl.tile.matmul(s_Left, s_Right)",
        f"  c_Vec = pl.tile.move(c, target_memory=pl.Mem.Vec, {UNBOXED})",
        "  r = pl.yield_(c_Vec)",
    ]
    assert torch.equal(values(got), values(kernel(*lines)))


LOOP = "for {0}, ({0}_c,) in pl.range({1}, init_values=({2},)):"


@pytest.mark.parametrize(
    "lines",
    [
        [LOOP.format("i", 3, "s"), "    r = pl.yield_(c)"],
        [LOOP.format("i", 1, "s"), "    r = pl.yield_(v)"],  # there is no loop any more
        [
            LOOP.format("i", 3, "s"),
            "    p = pl.yield_(i_c)",
            LOOP.format("j", 2, "p"),
            "    r = pl.yield_(j_c)",
        ],
        [
            LOOP.format("i", 3, "s"),
            "    p = pl.yield_(i_c)",
            LOOP.format("j", 0, "p"),
            "    r = pl.yield_(v)",
        ],
        ["if n > 1:", "    r = pl.yield_(s)", "else:", "    r = pl.yield_(s)"],
    ],
    ids=["carry", "one round", "carry of a carry", "no round", "branch"],
)
def test_a_part_of_a_tile_that_lies_by_rows_in_the_end_lies_by_rows(lines):
    """The tile itself stays declared in boxes, as the product was that it comes from."""
    lines = [
        MAT,
        "v = pl.load(x, [0, 0], [16, 16])",
        "c = pl.matmul(m, m)",
        "s = pl.mul(c, 1.0)",
        *lines,
        "done = pl.store(pl.add(pl.tile.slice(r, [8, 16], [0, 0]), 1.0), [0, 0], out)",
    ]
    before = passes.convert_to_ssa()(kernel(*lines))
    got = passes.make_pass(PASS)(passes.flatten_call_expr()(passes.simplify()(before)))
    (part,) = re.findall(r"(\w+): (.*) = pl.tile.slice", ir.python_print(got))
    assert "col_major" not in part[1]
    assert torch.equal(values(got), values(kernel(*lines)))


def test_what_is_laid_into_a_tile_of_the_other_core_is_moved_there():
    lines = (
        MAT,
        "c = pl.matmul(m, m)",
        "z = pl.tile.full([16, 16], dtype=pl.FP32, value=0.5)",
        "w = pl.tile.assemble(z, pl.tile.slice(c, [8, 16], [8, 0]), [0, 0])",
        "done = pl.store(w, [0, 0], out)",
    )
    node = passes.flatten_call_expr()(kernel(*lines))
    got = passes.make_pass(PASS)(node)
    assert body(got, "kernel")[5:8] == [
        "t__tmp_v0 = pl.tile.slice(c, [8, 16], [8, 0])",
        f"t__tmp_v0_Vec = pl.tile.move(t__tmp_v0, target_memory=pl.Mem.Vec, {UNBOXED})",
        "w = pl.tile.assemble(z, t__tmp_v0_Vec, [0, 0])",
    ]
    assert torch.equal(values(got), values(node))


def test_a_product_is_laid_into_mat_as_it_is():
    lines = (
        MAT,
        "c = pl.matmul(m, m)",
        "z = pl.tile.create([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Mat)",
        "w = pl.tile.assemble(z, c, [0, 0])",
    )
    assert inferred(*lines)[-1] == "w = pl.tile.assemble(z, c, [0, 0])"


def test_carries_of_a_while_lie_where_its_rounds_leave_them():
    lines = (
        f"start = {CREATE}",
        MAT,
        "for (k, acc) in pl.while_(init_values=(0, start)):",
        "    pl.cond(k < 3)",
        "    nxt = pl.matmul_acc(acc, m, m, init_cond=(k == 0))",
        "    last, total = pl.yield_(k + 1, nxt)",
        "v = pl.mul(total, 0.5)",
        "done = pl.store(v, [0, 0], out)",
    )
    got = passes.make_pass(PASS)(kernel(*lines))
    found = spaces(got)
    assert (found["start"], found["nxt"], found["v"]) == ("Acc", "Acc", "Vec")
    assert f"total_Vec = pl.tile.move(total, target_memory=pl.Mem.Vec, {UNBOXED})" in body(got, "kernel")
    assert torch.equal(values(got), values(kernel(*lines)))


def test_a_buffer_of_two_carries_is_created_for_the_first_and_moved_for_the_other():
    lines = (
        f"start = {CREATE}",
        MAT,
        "for i, (acc,) in pl.range(2, init_values=(start,)):",
        "    nxt = pl.matmul_acc(acc, m, m, init_cond=(i == 0))",
        "    total = pl.yield_(nxt)",
        "for j, (s,) in pl.range(2, init_values=(start,)):",
        "    t = pl.add(s, 1.0)",
        "    r = pl.yield_(t)",
        "done = pl.store(total, [0, 0], out)",
    )
    got = passes.make_pass(PASS)(kernel(*lines))
    found = spaces(got)
    assert (found["start"], found["start_Vec"], found["r"]) == ("Acc", "Vec", "Vec")
    assert "for j, (s,) in pl.range(2, init_values=(start_Vec,)):" in body(got, "kernel")


def test_what_lies_in_the_matrix_unit_and_elsewhere_cannot_meet():
    found = refusal(
        MAT,
        "l = pl.move(m, target_memory=pl.Mem.Left)",
        "if n > 0:",
        "    r: pl.Tile[[16, 16], pl.FP32] = pl.yield_(l)",
        "else:",
        "    r: pl.Tile[[16, 16], pl.FP32] = pl.yield_(m)",
    )
    assert "the values of 'r' lie in Left and in Mat, from where they cannot come together" in found


def test_a_tile_is_no_parameter_of_a_kernel():
    text = KERNEL.replace("n: pl.Scalar[pl.INDEX]", "t: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec]")
    with pytest.raises(passes.PassError, match="the parameter 't' is a tile: kernels take tensors"):
        passes.make_pass(PASS)(program(text + "        v = pl.exp(t)\n"))


MAKER = """
    @pl.function(type=pl.FunctionType.InCore)
    def fill(self, h: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        done = pl.store(pl.tile.full([16, 16], dtype=pl.FP32, value=2.0), [0, 0], h)
        return done
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, h: pl.Tensor[[16, 16], pl.FP32], w: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
               out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        for i in {loop}:
{round}
        return out
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, w: pl.Tensor[[16, 16], pl.FP32], n: pl.Scalar[pl.INDEX],
             out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        made = pl.create_tensor([16, 16], dtype=pl.FP32)
        h = self.fill(made)
        {call}
        return out
"""
ROUND = """
p = pl.load(h, [{row}, 0], [16, 16], target_memory=pl.Mem.Mat)
q = pl.load(w, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
out = pl.store(pl.matmul(p, q), [0, 0], out)
"""
FORM = {"loop": "pl.range(3)", "row": "0", "guard": "", "call": "out = self.kernel(h, w, n, out)"}


def with_panels(**changes: str) -> ir.Program:
    """Kernels whose loads into Mat are marked as those that lowered tensors have."""
    form = FORM | changes
    lines = textwrap.indent(ROUND.format(**form), " " * (16 if form["guard"] else 12))
    form["round"] = " " * 12 + form["guard"] + lines
    node = program(MAKER.format(**form))
    for name in ("ConvertToSSA", "FlattenCallExpr"):
        node = passes.make_pass(name)(node)
    return _Marking().rewrite(node)


class _Marking(Rewriter):
    def expression(self, expr: ir.Expr) -> ir.Expr:
        is_panel = isinstance(expr, ir.Call) and expr.kwargs.get("target_memory") is ir.MemorySpace.Mat
        return build(expr, attrs=expr.attrs.with_(**{BRIDGE: True})) if is_panel else expr


def inside_the_loop(node: ir.Program) -> list[str]:
    lines = body(passes.make_pass(PASS)(node), "kernel")
    assert BRIDGE not in "".join(lines)
    return [
        name
        for line in lines
        if line.startswith("  ")
        for name in re.findall(r"^ +(\w+) = pl.tile.(?:load|move)", line)
    ]


def test_a_panel_that_the_orchestration_made_leaves_the_loop_with_its_move():
    assert inside_the_loop(with_panels()) == ["q__ssa_v0", "q__ssa_v0_Right"]
    lines = body(passes.make_pass(PASS)(with_panels()), "kernel")
    assert [line.partition(" = ")[0] for line in lines[:2]] == ["p__ssa_v0", "p__ssa_v0_Left"]


@pytest.mark.parametrize(
    "changes",
    [
        {"loop": "pl.range(0)"},
        {"loop": "pl.range(n)"},
        {"loop": "pl.pipeline(3, stage=2)"},
        {"loop": "pl.parallel(3)"},
        {"guard": "if n > i:"},
        {"row": "i"},
        {"call": "out = self.kernel(w, w, n, out)"},
        {"call": "out = self.kernel(h, w, n, h)"},
        {"call": "out = self.kernel(h, w, n, out)\n        out = self.kernel(w, w, n, out)"},
        {"call": "out, tid = pl.submit(self.kernel, h, w, n, out)"},
    ],
    ids=str,
)
def test_a_panel_stays_where_it_may_change_or_the_loop_may_not_run(changes):
    got = inside_the_loop(with_panels(**changes))
    assert {"p__ssa_v0", "p__ssa_v0_Left", "q__ssa_v0", "q__ssa_v0_Right"} <= set(got)
