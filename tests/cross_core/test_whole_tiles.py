"""Vector kernels written by hand for whole tiles, and the same after SplitVectorKernel has halved them.

The halved forms are by hand, after the rules of the pass: a part is popped in half of the box, loads and
stores are moved by the lane's index, the cube's side stays as it is. Both forms compute the same numbers.
"""

import warnings
from string import Template

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

ROWS, K, N = 16, 32, 24
CHECKS = [
    {},
    {"bounded_pipes": True, "strict_leftovers": True},
    {"race_check": True},
    {"poison": True},
    {"schedule_seed": 1},
    {"schedule_seed": 2},
    {"schedule_seed": 3},
]

GROUP = """
    @pl.function(type=pl.FunctionType.Group)
    def k(a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[32, 24], pl.FP32],
          bias: pl.Tensor[[16, 24], pl.FP32],
          out: pl.InOut[pl.Tensor[[16, 24], pl.FP32]]) -> pl.Tensor[[16, 24], pl.FP32]:
        self.k_aic(a, b, bias, out)
        self.k_aiv(a, b, bias, out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[32, 24], pl.FP32],
             bias: pl.Tensor[[16, 24], pl.FP32],
             out: pl.InOut[pl.Tensor[[16, 24], pl.FP32]]) -> pl.Tensor[[16, 24], pl.FP32]:
        res = self.k(a, b, bias, out)
        return res
"""
PARAMS = (
    "a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[32, 24], pl.FP32], bias: pl.Tensor[[16, 24], pl.FP32],"
    " out: pl.InOut[pl.Tensor[[16, 24], pl.FP32]]"
)
ATTRS = {
    "whole": '{"split": $mode}',
    "halved": '{"split": $mode, "dual_aiv_dispatch": True}',
}


def program(cube, vector, form, mode="pl.SplitMode.UP_DOWN", attributes=True, **words):
    """A group of both sides; ``words`` are filled in by form: (whole, halved)."""
    chosen = {word: texts[form == "halved"] for word, texts in words.items()}
    index = "lane: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()\n        " if form == "halved" else ""
    attrs = Template(ATTRS[form]).substitute(mode=mode) if attributes or form == "halved" else "{}"
    cube_attrs = Template('{"split": $mode}').substitute(mode=mode) if attributes else "{}"
    return f"""
import pypto.language as pl

@pl.program
class Both:
    @pl.function(type=pl.FunctionType.AIC)
    def k_aic({PARAMS}):
        pl.func_attr({cube_attrs})
        {Template(cube).substitute(chosen).strip()}

    @pl.function(type=pl.FunctionType.AIV)
    def k_aiv({PARAMS}) -> pl.Tensor[[16, 24], pl.FP32]:
        pl.func_attr({attrs})
        {index}{Template(vector).substitute(chosen).strip()}
        return out
{GROUP}"""


def inputs():
    draw = torch.Generator().manual_seed(3)
    a, b, bias = (torch.randn(shape, generator=draw) for shape in ((ROWS, K), (K, N), (ROWS, N)))
    return a, b, bias


def outcome(text, options=None):
    node = pl.parse(text)
    assert isinstance(node, ir.Program)
    script = torch_codegen(node, check_shapes=True, options=options)
    namespace = {"__name__": "whole_tiles"}
    exec(compile(script, "<whole tiles>", "exec"), namespace)
    out = torch.full((ROWS, N), 9.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        namespace["main"](*inputs(), out)
    return out, namespace


SETUP = {
    "aic": """
        v2c: pl.Scalar[pl.INT32] = pl.reserve_buffer(name="v2c", size=8192)
        c2v: pl.Scalar[pl.INT32] = pl.import_peer_buffer(name="c2v", peer_func="k_aiv")
        pl.aic_initialize_pipe(c2v, v2c, dir_mask=3, slot_size=2048, slot_num=2)""",
    "aiv": """
        v2c: pl.Scalar[pl.INT32] = pl.import_peer_buffer(name="v2c", peer_func="k_aic")
        c2v: pl.Scalar[pl.INT32] = pl.reserve_buffer(name="c2v", size=8192)
        pl.aiv_initialize_pipe(c2v, v2c, dir_mask=3, slot_size=2048, slot_num=2)""",
}
THERE_AND_BACK = (
    SETUP["aic"]
    + """
        scaled: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.tpop_from_aiv(
            shape=[16, 32], dtype=pl.FP32, split=1)
        left = pl.move(scaled, target_memory=pl.Mem.Left)
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split=1)
        pl.tfree_to_aiv(scaled)""",
    SETUP["aiv"]
    + """
        mine = pl.load(a, [$row, 0], [$rows, 32])
        pl.tpush_to_aic(pl.mul(mine, 0.25), split=1)
        plus = pl.load(bias, [$row, 0], [$rows, 24])
        prod: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[$rows, 24], dtype=pl.FP32, split=1)
        total = pl.add(prod, plus)
        pl.tfree_to_aic(prod)
        out = pl.store(total, [$row, 0], out)""",
    {"row": ("0", "lane * 8"), "rows": ("16", "8")},
)


@pytest.mark.parametrize("options", CHECKS, ids=str)
@pytest.mark.parametrize("form", ["whole", "halved"])
def test_there_and_back(form, options):
    cube, vector, words = THERE_AND_BACK
    out, namespace = outcome(program(cube, vector, form, **words), options)
    a, b, bias = inputs()
    torch.testing.assert_close(out, (a * 0.25) @ b + bias)
    assert (namespace["_GROUP_META"]["k"]["split"] != 0) is (form == "halved")


def test_pushes_and_pops_alone_tell():
    """No attribute states the split: the pushes and pops do."""
    cube, vector, words = THERE_AND_BACK
    out, _ = outcome(program(cube, vector, "whole", attributes=False, **words))
    a, b, bias = inputs()
    torch.testing.assert_close(out, (a * 0.25) @ b + bias)


TO_THE_LANES = """
        rows = pl.load(a, [0, 0], [16, 32]$valid, target_memory=pl.Mem.Mat)
        left = pl.move(rows, target_memory=pl.Mem.Left)
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split=$code)"""


@pytest.mark.parametrize("form", ["whole", "halved"])
def test_columns(form):
    vector = """
        prod: pl.Tile[[16, $columns], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[16, $columns], dtype=pl.FP32, split=2)
        plus = pl.load(bias, [0, $column], [16, $columns])
        out = pl.store(pl.sub(prod, plus), [0, $column], out)
        pl.tfree_to_aic(prod)"""
    words = {
        "code": ("2", "2"),
        "valid": ("", ""),
        "column": ("0", "lane * 12"),
        "columns": ("24", "12"),
    }
    text = program(TO_THE_LANES, vector, form, "pl.SplitMode.LEFT_RIGHT", **words)
    a, b, bias = inputs()
    torch.testing.assert_close(outcome(text)[0], a @ b - bias)


@pytest.mark.parametrize("form", ["whole", "halved"])
@pytest.mark.parametrize(("valid", "code"), [(15, 3), (9, 1), (5, 1)])
def test_some_rows(form, valid, code):
    """Nothing is stored of the rows that the product does not have."""
    vector = """
        prod: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[$count, 24])] = (
            pl.tpop_from_aic(shape=[$rows, 24], dtype=pl.FP32, split=$code))
        out = pl.store(pl.exp(prod), [$row, 0], out)
        pl.tfree_to_aic(prod)"""
    words = {
        "code": (str(code),) * 2,
        "valid": (f", valid_shape=[{valid}, 32]",) * 2,
        "row": ("0", "lane * 8"),
        "rows": ("16", "8"),
        "count": (str(valid), f"pl.min(pl.max({valid}, lane * 8) - lane * 8, 8)"),
    }
    out, _ = outcome(program(TO_THE_LANES, vector, form, **words))
    a, b, _ = inputs()
    wanted = torch.full((ROWS, N), 9.0)
    wanted[:valid] = torch.exp(a @ b)[:valid]
    torch.testing.assert_close(out, wanted)


@pytest.mark.parametrize("form", ["whole", "halved"])
def test_an_addition_counts_once(form):
    """In the whole form one lane adds to the output, which two lanes would do twice."""
    vector = """
        prod: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[$rows, 24], dtype=pl.FP32, split=1)
        out = pl.store(prod, [$row, 0], out, atomic=pl.AtomicType.Add)
        pl.tfree_to_aic(prod)"""
    words = {"code": ("1", "1"), "valid": ("", ""), "row": ("0", "lane * 8"), "rows": ("16", "8")}
    out, _ = outcome(program(TO_THE_LANES, vector, form, **words))
    a, b, _ = inputs()
    torch.testing.assert_close(out, 9 + a @ b)


@pytest.mark.parametrize("form", ["whole", "halved"])
def test_rounds_of_a_loop(form):
    cube = """
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        for i in pl.range(3):
            left = pl.move(pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
            pl.tpush_to_aiv(pl.matmul(left, right), split=1)"""
    vector = """
        for i in pl.range(3):
            prod: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
                shape=[$rows, 24], dtype=pl.FP32, split=1)
            out = pl.store(pl.mul(prod, 0.5), [$row, 0], out, atomic=pl.AtomicType.Add)
            pl.tfree_to_aic(prod)"""
    out, _ = outcome(program(cube, vector, form, row=("0", "lane * 8"), rows=("16", "8")))
    a, b, _ = inputs()
    torch.testing.assert_close(out, 9 + 1.5 * (a @ b))


@pytest.mark.parametrize("form", ["whole", "halved"])
def test_a_loop_that_one_side_has_taken_apart(form):
    """Three pops in a row meet the pushes of a loop: the boxes are compared all the same."""
    cube = """
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        left = pl.move(pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        for i in pl.range(2):
            pl.tpush_to_aiv(pl.matmul(left, right), split=1)"""
    vector = """
        one: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[$rows, 24], dtype=pl.FP32, split=1)
        two: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[$rows, 24], dtype=pl.FP32, split=1)
        out = pl.store(pl.add(one, two), [$row, 0], out)
        pl.tfree_to_aic(one)
        pl.tfree_to_aic(two)"""
    out, _ = outcome(program(cube, vector, form, row=("0", "lane * 8"), rows=("16", "8")))
    a, b, _ = inputs()
    torch.testing.assert_close(out, 2 * (a @ b))


@pytest.mark.parametrize("form", ["whole", "halved"])
def test_two_pipes_and_sizes(form):
    """The whole of one pipe is the half of the other: each pipe is looked at by itself."""
    cube = """
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        left = pl.move(pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        few = pl.move(pl.load(a, [0, 0], [8, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        pl.tpush_to_aiv(pl.matmul(few, right), split=1, id=1)
        pl.tpush_to_aiv(pl.matmul(left, right), split=1, id=0)"""
    vector = """
        big: pl.Tile[[$rows, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[$rows, 24], dtype=pl.FP32, split=1, id=0)
        small: pl.Tile[[$few, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[$few, 24], dtype=pl.FP32, split=1, id=1)
        one = pl.store(big, [$row, 0], out)
        out = pl.store(pl.neg(small), [$first, 0], one)
        pl.tfree_to_aic(big)
        pl.tfree_to_aic(small)"""
    # Each form stores the small part over the first rows of the big one, which lanes have by themselves.
    words = {"row": ("0", "lane * 8"), "rows": ("16", "8"), "first": ("0", "lane * 8"), "few": ("8", "4")}
    out, _ = outcome(program(cube, vector, form, **words))
    a, b, _ = inputs()
    wanted = a @ b
    if form == "whole":
        wanted[:8] *= -1
    else:
        wanted[:4], wanted[8:12] = -wanted[:4], -wanted[4:8]
    torch.testing.assert_close(out, wanted)


@pytest.mark.parametrize("form", ["whole", "halved"])
def test_a_kernel_without_transfers(form):
    """An output that the kernel reads and writes: run twice, it would be halved twice."""
    kernel = """
import pypto.language as pl

@pl.program
class Alone:
    @pl.function(type=pl.FunctionType.AIV)
    def k(out: pl.InOut[pl.Tensor[[16, 24], pl.FP32]]) -> pl.Tensor[[16, 24], pl.FP32]:
        pl.func_attr($attrs)
        ${index}t = pl.load(out, [$row, 0], [$rows, 24])
        out = pl.store(pl.mul(t, 0.5), [$row, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 32], pl.FP32], b: pl.Tensor[[32, 24], pl.FP32],
             bias: pl.Tensor[[16, 24], pl.FP32],
             out: pl.InOut[pl.Tensor[[16, 24], pl.FP32]]) -> pl.Tensor[[16, 24], pl.FP32]:
        res = self.k(out)
        return res
"""
    words = {
        "whole": {"attrs": '{"split": pl.SplitMode.UP_DOWN}', "index": "", "row": "0", "rows": "16"},
        "halved": {
            "attrs": '{"split": pl.SplitMode.UP_DOWN, "dual_aiv_dispatch": True}',
            "index": "lane: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()\n        ",
            "row": "lane * 8",
            "rows": "8",
        },
    }
    out, namespace = outcome(Template(kernel).substitute(words[form]))
    assert torch.equal(out, torch.full((ROWS, N), 4.5))
    assert ("k" in namespace.get("_GROUP_META", {})) is (form == "halved")


def test_an_extent_of_1_says_nothing():
    """A row that both lanes get whole, by a split of rows, beside parts in half of the box."""
    cube = """
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        left = pl.move(pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        one = pl.move(pl.load(a, [0, 0], [1, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        pl.tpush_to_aiv(pl.matmul(left, right), split=1)
        pl.tpush_to_aiv(pl.matmul(one, right), split=0, id=1)"""
    vector = """
        part: pl.Tile[[8, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(shape=[8, 24], dtype=pl.FP32, split=1)
        row: pl.Tile[[1, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[1, 24], dtype=pl.FP32, split=0, id=1)
        out = pl.store(pl.tile.col_expand_add(part, row), [lane * 8, 0], out)
        pl.tfree_to_aic(part)
        pl.tfree_to_aic(row)"""
    out, _ = outcome(program(cube, vector, "halved"))
    a, b, _ = inputs()
    torch.testing.assert_close(out, a @ b + (a @ b)[:1])


def test_lane_code_stays_lane_code():
    """With ``split_aiv`` a kernel is each lane's own, whatever its boxes are: both lanes store."""
    cube = """
        right = pl.move(pl.load(b, [0, 0], [32, 24], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Right)
        left = pl.move(pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat), target_memory=pl.Mem.Left)
        pl.tpush_to_aiv(pl.matmul(left, right), split=1)"""
    vector = """
        part: pl.Tile[[8, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(shape=[8, 24], dtype=pl.FP32, split=1)
        out = pl.store(part, [lane * 8, 0], out)
        pl.tfree_to_aic(part)"""
    text = program(cube, vector, "halved").replace('"dual_aiv_dispatch"', '"split_aiv"')
    out, namespace = outcome(text)
    a, b, _ = inputs()
    torch.testing.assert_close(out, a @ b)
    assert namespace["_GROUP_META"]["k"]["split"] == 1


def test_a_cluster_scope():
    """The two calls of a cluster are a group as well."""
    cube, vector, words = THERE_AND_BACK
    text = program(cube, vector, "whole", **words)
    calls = ["with pl.cluster():", "self.k_aic(a, b, bias, out)", "res = self.k_aiv(a, b, bias, out)"]
    text = text.replace("res = self.k(a, b, bias, out)", ("\n" + " " * 12).join(calls))
    out, _ = outcome(text)
    a, b, bias = inputs()
    torch.testing.assert_close(out, (a * 0.25) @ b + bias)


def test_ends_that_have_unlike_splits_are_told():
    """One lane takes tiles whole by any code, but a pop still has to meet its push."""
    vector = """
        prod: pl.Tile[[16, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[16, 24], dtype=pl.FP32, split=1)
        side: pl.Tile[[16, 24], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(
            shape=[16, 24], dtype=pl.FP32, split=1)
        out = pl.store(pl.add(prod, side), [0, 0], out)"""
    cube = TO_THE_LANES + "\n        pl.tpush_to_aiv(pl.matmul(left, right), split=2)"
    text = program(cube, vector, "whole", code=("1", "1"), valid=("", ""))
    with pytest.raises(
        RuntimeError, match=r"tpop_from_aic\(split=1\) on pipe 0 meets a tile .* with split 2"
    ):
        outcome(text)
