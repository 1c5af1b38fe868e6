"""AutoTileMatmulL0: the choice of blocks, what they become, products that stay whole, and values."""

import logging

import pytest
import torch
from passes.kernels import after, program

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.passes.tiles.l0_choice import Problem, Regime

PASS = "AutoTileMatmulL0"
B910, B950 = BackendType.Ascend910B, BackendType.Ascend950


@pytest.fixture(autouse=True)
def on_910b():
    backend.reset_for_testing()
    backend.set_backend_type(B910)
    yield
    backend.reset_for_testing()


def product(
    rows: int, depth: int, columns: int, *lines: str, dtype: str = "FP32", out: str = "FP32"
) -> ir.Program:
    """A kernel with both factors ``a`` and ``b`` in Mat."""
    return program(
        f"""
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[{rows}, {depth}], pl.{dtype}],
               y: pl.Tensor[[{depth}, {columns}], pl.{dtype}],
               out: pl.InOut[pl.Tensor[[{rows}, {columns}], pl.{out}]]):
        a = pl.load(x, [0, 0], [{rows}, {depth}], target_memory=pl.Mem.Mat)
        b = pl.load(y, [0, 0], [{depth}, {columns}], target_memory=pl.Mem.Mat)
"""
        + "".join(f"        {line}\n" for line in lines)
    )


SIMPLE = ("c = pl.matmul(a, b)", "done = pl.store(c, [0, 0], out)")


def check_values(node: ir.Program, rows: int, depth: int, columns: int, before: float = 0.0) -> None:
    """The kernel adds ``before`` times what was in ``out``; factors are small integers: sums are exact."""
    numbers = torch.Generator().manual_seed(0)
    x, y = (
        torch.randint(-4, 5, shape, generator=numbers).float() for shape in ((rows, depth), (depth, columns))
    )
    out = torch.randint(-4, 5, (rows, columns), generator=numbers).float()
    wanted = x.double() @ y.double() + before * out.double()
    namespace: dict = {}
    exec(torch_codegen(passes.make_pass(PASS)(node)), namespace)
    namespace["kernel"](x, y, out)
    assert torch.equal(out.double(), wanted)


def test_the_depth_in_steps_with_a_rest():
    backend.reset_for_testing()
    backend.set_backend_type(B950)
    assert after(PASS, product(16, 528, 64, *SIMPLE))[2:] == [
        "c_l0_init = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Acc)",
        "for c_l0_ko, (c_l0_c,) in pl.pipeline(0, 448, 112, stage=2, init_values=(c_l0_init,)):",
        "  c_l0_a = pl.tile.extract(a, 0, c_l0_ko, [16, 112], target_memory=pl.Mem.Left)",
        "  c_l0_b = pl.tile.extract(b, c_l0_ko, 0, [112, 64], target_memory=pl.Mem.Right)",
        "  if c_l0_ko == 0:",
        "    c_l0_c_first = pl.tile.matmul(c_l0_a, c_l0_b)",
        "    c_l0_c_phi = pl.yield_(c_l0_c_first)",
        "  else:",
        "    c_l0_c_acc = pl.tile.matmul_acc(c_l0_c, c_l0_a, c_l0_b)",
        "    c_l0_c_phi = pl.yield_(c_l0_c_acc)",
        "  c_l0_kmain = pl.yield_(c_l0_c_phi)",
        "c_l0_at = pl.tile.extract(a, 0, 448, [16, 80], target_memory=pl.Mem.Left)",
        "c_l0_bt = pl.tile.extract(b, 448, 0, [80, 64], target_memory=pl.Mem.Right)",
        "c_l0_ct = pl.tile.matmul_acc(c_l0_kmain, c_l0_at, c_l0_bt)",
        "done = pl.tile.store(c_l0_ct, [0, 0], out)",
    ]


@pytest.mark.parametrize("on", [B910, B950])
@pytest.mark.parametrize(
    "extents", [(16, 528, 64), (304, 32, 256), (304, 320, 256), (48, 64, 528), (272, 48, 272), (528, 16, 528)]
)
def test_values_of_blocks(on, extents):
    backend.reset_for_testing()
    backend.set_backend_type(on)
    node = product(*extents, *SIMPLE)
    assert passes.make_pass(PASS)(node) is not node
    check_values(node, *extents)


def test_stores_of_blocks_keep_their_keywords_and_offsets():
    lines = ("c = pl.matmul(a, b)", "done = pl.store(c, [0, 0], out, atomic=pl.AtomicType.Add)")
    check_values(product(304, 32, 256, *lines), 304, 32, 256, before=1.0)
    got = after(PASS, product(304, 32, 256, "c = pl.matmul(a, b)", "done = pl.store(c, [16, 8], out)"))
    assert "    out_t0 = pl.tile.store(c_c, [16 + c_i, 8 + c_o], c_ic)" in got
    assert got[-1] == "out_t1 = pl.tile.store(c_tc1, [256, 8], c_orv)"


def test_a_product_that_is_added_to_another():
    lines = ("c = pl.matmul(a, b)", "d = pl.matmul_acc(c, a, b)", "done = pl.store(d, [0, 0], out)")
    node = product(16, 512, 64, *lines)
    assert "d = pl.yield_(d_l0_c_acc)" in [line.strip() for line in after(PASS, node)]
    numbers = torch.Generator().manual_seed(0)
    x, y = (torch.randint(-4, 5, shape, generator=numbers).float() for shape in ((16, 512), (512, 64)))
    out = torch.zeros(16, 64)
    namespace: dict = {}
    exec(torch_codegen(passes.make_pass(PASS)(node)), namespace)
    namespace["kernel"](x, y, out)
    assert torch.equal(out, 2 * (x @ y))


# As recorded; the first one by hand: 318 cycles of loading and 449 of storing, and no smaller block has less
# of these and as few steps in depth.
CHOICES = {
    "whole": (B910, (64, 64, 64), (64, 64, 64), Regime.Output),
    "depth": (B910, (16, 64, 512), (16, 64, 128), Regime.Output),
    "left stays": (B950, (304, 256, 32), (304, 128, 32), Regime.Left),
    "output": (B910, (304, 256, 32), (80, 256, 32), Regime.Output),
}


@pytest.mark.parametrize(("on", "extents", "block", "regime"), CHOICES.values(), ids=CHOICES.keys())
def test_choices_on_record(on, extents, block, regime):
    fp32 = ir.DataType.FP32
    found = Problem(*extents, fp32, fp32, fp32, facts_of(on)).choose()
    assert found is not None
    assert (found.m, found.n, found.k, found.regime) == (*block, regime)


def test_int32_accumulators_have_rows_by_32_on_910b():
    int8, int32 = ir.DataType.INT8, ir.DataType.INT32
    assert Problem(16, 2048, 16, int8, int8, int32, facts_of(B910)).fits_output(16, 1024)
    assert not Problem(16, 2048, 16, int8, int8, int32, facts_of(B910)).fits_output(16, 1040)
    assert Problem(16, 2048, 16, int8, int8, int32, facts_of(B950)).fits_output(16, 4096)


WHOLE = {
    "PH-AT-007": (product, (16, 1048, 64), SIMPLE, "the depth 1048 is no multiple of 16"),
    "no destination": (
        product,
        (304, 32, 256),
        ("c = pl.matmul(a, b)", "done = pl.store(c, [0, 0], out)", "again = pl.store(c, [0, 0], done)"),
        "no blocks of it fit",
    ),
}


@pytest.mark.parametrize(("make", "extents", "lines", "message"), WHOLE.values(), ids=WHOLE.keys())
def test_products_that_stay_whole_are_told(make, extents, lines, message, caplog):
    node = make(*extents, *lines)
    with caplog.at_level(logging.INFO, "pypto_tmpl.passes"):
        assert passes.make_pass(PASS)(node) is node
    (record,) = caplog.messages
    assert record.startswith("AutoTileMatmulL0: ") and message in record and "'c' stays whole" in record
    assert ":13:" in record and record.endswith("(function 'kernel')")
    assert ("PH-AT-007" in record) == ("multiple" in message)


def test_a_bias_needs_whole_boxes(caplog):
    lines = (
        "v = pl.load(w, [0, 0], [1, 72], target_memory=pl.Mem.Mat)",
        "c = pl.matmul_bias(a, b, v)",
        "done = pl.store(c, [0, 0], out)",
    )
    text = ir.python_print(product(16, 512, 72), format=False)
    node = product(16, 512, 72, *lines) if "w:" in text else _with_bias(lines)
    with caplog.at_level(logging.INFO, "pypto_tmpl.passes"):
        assert passes.make_pass(PASS)(node) is node
    assert "PH-AT-011" in caplog.messages[0]
    assert (
        "its extents (16, 72, 512) are no multiples of 16, as a product with a bias needs"
        in caplog.messages[0]
    )


def _with_bias(lines: tuple[str, ...]) -> ir.Program:
    return program(
        """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 512], pl.FP32], y: pl.Tensor[[512, 72], pl.FP32],
               w: pl.Tensor[[1, 72], pl.FP32], out: pl.Out[pl.Tensor[[16, 72], pl.FP32]]):
        a = pl.load(x, [0, 0], [16, 512], target_memory=pl.Mem.Mat)
        b = pl.load(y, [0, 0], [512, 72], target_memory=pl.Mem.Mat)
"""
        + "".join(f"        {line}\n" for line in lines)
    )


def test_blocks_of_the_result_with_two_accumulators_are_not_done_yet():
    """Blocks of the depth have one accumulator in any case: they stay as they are without the setting."""
    lines = ("c = pl.matmul(a, b)", "done = pl.store(c, [0, 0], out)")
    deep, wide = product(16, 2048, 64, *lines), product(512, 64, 512, *lines)
    with passes.PassContext(enable_pypto_l0c_double_buffer=True):
        by_depth = passes.make_pass(PASS)(deep)
        match = "with enable_pypto_l0c_double_buffer=True these may alternate"
        with pytest.raises(passes.PassError, match=match) as raised:
            passes.make_pass(PASS)(wide)
    assert (raised.value.function, raised.value.variable, raised.value.line) == ("kernel", "c", 13)
    assert ir.structural_equal(by_depth, passes.make_pass(PASS)(deep))


@pytest.mark.parametrize("planner", ["DSA_RP", "PTOAS"])
def test_blocks_have_one_accumulator_under_every_planner(planner):
    lines = ("c = pl.matmul(a, b)", "done = pl.store(c, [0, 0], out)")
    wide = product(512, 64, 512, *lines)
    with passes.PassContext(memory_planner=passes.MemoryPlanner[planner]):
        made = passes.make_pass(PASS)(wide)
    assert ir.structural_equal(made, passes.make_pass(PASS)(wide))
    assert not ir.structural_equal(made, wide)


def test_operands_that_are_put_into_l0_by_hand_must_fit():
    lines = ("l = pl.move(a, target_memory=pl.Mem.Left)", "r = pl.move(b, target_memory=pl.Mem.Right)")
    node = product(16, 2048, 16, *lines, "c = pl.matmul(l, r)", "done = pl.store(c, [0, 0], out)")
    with pytest.raises(passes.PassError) as raised:
        passes.make_pass(PASS)(node)
    assert str(raised.value).startswith(
        "error[pass]: tile.matmul: 'l' takes 131072 bytes of Left, which has 65536\n"
    )
    assert "in function 'kernel'" in str(raised.value)


def test_what_is_valid_in_part_stays_whole():
    lines = (
        "v = pl.tile.set_validshape(a, 16, 500)",
        "c = pl.matmul(v, b)",
        "done = pl.store(c, [0, 0], out)",
    )
    node = product(16, 512, 64, *lines)
    assert passes.make_pass(PASS)(node) is node


def test_blocks_are_not_computed_after_an_operand_was_written():
    lines = (
        "c = pl.matmul(a, b)",
        "z = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Mat)",
        "w = pl.tile.assemble(a, z, [0, 0])",
        "done = pl.store(c, [0, 0], out)",
    )
    assert "c = pl.tile.matmul(a, b)" in after(PASS, product(304, 32, 256, *lines))


def test_without_a_backend_nothing_changes():
    backend.reset_for_testing()
    node = product(16, 512, 64, *SIMPLE)
    assert passes.make_pass(PASS)(node) is node


SPLIT = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[288, 128], pl.FP32], y: pl.Tensor[[128, 256], pl.FP32],
               out: pl.InOut[pl.Tensor[[288, 256], pl.FP32]]):
        acc0 = pl.tile.create([288, 256], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k, (acc,) in pl.pipeline(0, 128, 64, stage=2, init_values=(acc0,)):
            a = pl.load({left}, [0, k], [288, 64], target_memory=pl.Mem.Mat)
            b = pl.load(y, [k, 0], [64, 256], target_memory=pl.Mem.Mat)
            if k == 0:
                c = pl.matmul(a, b)
                s = pl.yield_(c)
            else:
                d = pl.matmul_acc(acc, a, b)
                s = pl.yield_(d)
            total = pl.yield_(s)
        done = pl.store(total, [0, 0], out)
"""


def test_a_sum_over_the_depth_block_by_block():
    check_values(program(SPLIT.format(left="x")), 288, 128, 256)
    text = "\n".join(after(PASS, program(SPLIT.format(left="x"))))
    assert "[288, 256]" not in text


def test_a_sum_over_what_its_own_blocks_overwrite_stays_whole():
    text = "\n".join(after(PASS, program(SPLIT.format(left="out"))))
    assert "acc0 = pl.tile.create([288, 256], dtype=pl.FP32, target_memory=pl.Mem.Acc)" in text
