"""CanonicalizeIOOrder: loads first, stores last, and what must not change places."""

import pytest
from passes.kernels import after, body, kernel, program

from pypto_tmpl import passes

ONE = "attrs={{'pipeline_membership': '0:{}'}}"


def names(lines):
    """What each line of the first loop defines, or its op where it defines nothing."""
    inside = [line.strip() for line in lines if line.startswith("  ")]
    return [line.split(" = ")[0] if " = " in line else line.split("(")[0] for line in inside]


def ordered(*lines, attrs=""):
    """The order of the statements of a pipelined loop, which becomes sequential."""
    head = f"for i in pl.pipeline(0, 8, 2, stage=1{attrs}):"
    found = after("CanonicalizeIOOrder", kernel(head, *(f"    {line}" for line in lines)))
    assert found[0] == "for i in pl.range(0, 8, 2):"
    return names(found)


def load(name, row, stage):
    return f'{name} = pl.load(x, [{row}, 0], [1, 16], attrs={{"pipeline_membership": "0:{stage}"}})'


def exp(name, operand, stage):
    return f'{name} = pl.exp({operand}, attrs={{"pipeline_membership": "0:{stage}"}})'


TWO_STAGES = (
    load("t0", "i", 0),
    exp("e0", "t0", 0),
    "pl.store(e0, [i, 0], out)",
    exp("f0", "e0", 0),
    "j = i + 1",
    load("t1", "j", 1),
    exp("e1", "t1", 1),
    "pl.store(e1, [j, 0], out)",
)


def test_scalars_then_loads_then_stage_by_stage_with_stores_last():
    assert ordered(*TWO_STAGES) == ["j", "t0", "t1", "e0", "f0", "pl.tile.store", "e1", "pl.tile.store"]


def test_stores_that_should_not_overlap_stay_among_the_others():
    attrs = ', attrs={"pipeline_overlap_stores": False}'
    found = ordered(*TWO_STAGES, attrs=attrs)
    assert found == ["j", "t0", "t1", "e0", "pl.tile.store", "f0", "e1", "pl.tile.store"]


def test_bodies_inside_of_the_loop_are_sorted_too_and_others_stay():
    inner = [f"    {line}" for line in TWO_STAGES]
    assert ordered("if n == 0:", *inner)[1:] == [
        *("j", "t0", "t1", "e0", "f0", "pl.tile.store", "e1", "pl.tile.store")
    ]
    node = kernel("for i in pl.range(0, 8, 2):", *inner)
    assert passes.canonicalize_io_order()(node) is node


def test_loads_of_matrices_for_products_come_first():
    lines = (
        "a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)",
        "e = pl.load(x, [0, 0], [16, 16])",
        "f = pl.exp(e)",
        "l = pl.tile.extract(a, 0, 0, [16, 16], target_memory=pl.Mem.Left)",
        "m = pl.move(a, target_memory=pl.Mem.Right)",
    )
    assert ordered(*lines) == ["a", "e", "l", "f", "m"]


def test_two_accumulators_bring_two_stages_together():
    """Pairs of stages share a place, stores of both come after the products of both, which alternate."""
    lines = ["a = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)"]
    lines += ["l = pl.move(a, target_memory=pl.Mem.Left)", "r = pl.move(a, target_memory=pl.Mem.Right)"]
    head = 'for i in pl.pipeline(0, 8, 4, stage=1, attrs={"pipeline_double_buffer_c": True}):'
    inside = []
    for stage in range(4):
        mark = f'attrs={{"pipeline_membership": "0:{stage}"}}'
        inside += [f"    c{stage} = pl.matmul(l, r, {mark})", f"    pl.store(c{stage}, [0, 0], out)"]
    found = after("CanonicalizeIOOrder", kernel(*lines, head, *inside))
    assert names(found) == ["c0", "c1", *["pl.tile.store"] * 2, "c2", "c3", *["pl.tile.store"] * 2]
    stages = [line.split("0:")[1][0] for line in found if "matmul" in line]
    assert stages == ["0", "1", "0", "1"]


@pytest.mark.parametrize(
    ("row", "moves"), [("0", False), ("i", False), ("i + 1", True), ("i + 15", True), ("n", False)]
)
def test_a_load_passes_a_store_only_if_they_have_no_cell_in_common(row, moves):
    lines = (
        load("t", "i + 3", 0),
        exp("e", "t", 0),
        "pl.store(e, [i, 0], out)",
        f"u = pl.load(out, [{row}, 0], [1, 16])",
    )
    assert (ordered(*lines)[1] == "u") == moves


def test_offsets_are_followed_through_scalars():
    lines = (
        load("t", "i", 0),
        exp("e", "t", 0),
        "j = i * 2",
        "k = j + 2",
        "pl.store(e, [j, 0], out)",
        "u = pl.load(out, [k, 0], [1, 16])",
    )
    assert ordered(*lines) == ["j", "k", "t", "u", "e", "pl.tile.store"]


def test_a_window_of_a_view_is_not_compared_with_one_of_the_tensor():
    lines = (
        "v = pl.tensor.view(out, [256, 1])",
        load("t", "i", 0),
        exp("e", "t", 0),
        "pl.store(e, [i, 0], out)",
        "u = pl.load(v, [i + 16, 0], [1, 1])",
    )
    assert ordered(*lines) == ["t", "v", "e", "pl.tile.store", "u"]


def test_what_is_written_in_place_is_read_before_and_after_as_it_was():
    lines = (
        "t = pl.load(x, [i, 0], [1, 16])",
        f"f = pl.exp(t, {ONE.format(1)})".replace("{{", "{").replace("}}", "}"),
        "pl.tile.write(t, [0, 0], 1.0)",
        load("s", "i", 0),
        exp("g", "s", 0),
        "h = pl.neg(t)",
    )
    found = ordered(*lines)
    assert found.index("f") < found.index("pl.tile.write") < found.index("h")


CORES = """
    @pl.function(type=pl.FunctionType.AIV)
    def vector(x: pl.Tensor[[64, 16], pl.FP32], y: pl.InOut[pl.Tensor[[64, 16], pl.FP32]],
               out: pl.InOut[pl.Tensor[[64, 16], pl.FP32]]):
        for i in pl.pipeline(0, 4, 2, stage=1):
            p0: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
            e0 = pl.tile.exp(p0, attrs={"pipeline_membership": "0:0"})
            pl.system.tfree_to_aic(p0, split=0)
            u0 = pl.tile.load(y, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
            pl.tile.store(pl.tile.add(e0, u0), [0, 0], out)
            p1: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
            t1 = pl.tile.load(x, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
            u1 = pl.tile.load(y, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
            e1 = pl.tile.add(p1, t1, attrs={"pipeline_membership": "0:1"})
            pl.system.tfree_to_aic(p1, split=0)
            pl.tile.store(pl.tile.add(e1, u1), [16, 0], out)

    @pl.function(type=pl.FunctionType.AIC)
    def cube(x: pl.Tensor[[64, 16], pl.FP32], y: pl.InOut[pl.Tensor[[64, 16], pl.FP32]],
             out: pl.InOut[pl.Tensor[[64, 16], pl.FP32]]):
        a = pl.tile.load(x, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        l = pl.tile.move(a, target_memory=pl.Mem.Left)
        r = pl.tile.move(a, target_memory=pl.Mem.Right)
        for i in pl.range(4):
            c = pl.tile.matmul(l, r)
            pl.tile.store(c, [0, 0], {written})
            pl.tile.tpush_to_aiv(c, split=0)

    @pl.function(type=pl.FunctionType.Group)
    def both(x: pl.Tensor[[64, 16], pl.FP32], y: pl.InOut[pl.Tensor[[64, 16], pl.FP32]],
             out: pl.InOut[pl.Tensor[[64, 16], pl.FP32]]):
        self.cube(x, y, out)
        self.vector(x, y, out)
"""


def on_vector(written):
    node = program(CORES.replace("{written}", written))
    node = passes.make_pass("FlattenCallExpr")(node)
    return names(body(passes.canonicalize_io_order()(node), "vector"))


def test_pops_keep_their_order_and_free_what_was_read():
    found = on_vector("x")
    places = {name: found.index(name) for name in found}
    assert places["p0"] < places["e0"] < places["pl.system.tfree_to_aic"] < places["p1"] < places["e1"]
    assert found.index("pl.system.tfree_to_aic", places["e1"])  # the second one stands behind e1
    assert places["u0"] < places["e0"] and places["u1"] < places["e0"]  # nobody else writes y


def test_a_load_of_what_the_other_core_writes_stays_behind_the_pop_that_tells():
    found = on_vector("y")
    assert found.index("p1") < found.index("u1") < len(found)
    assert found.index("p0") < found.index("u0") < found.index("p1")


CALLER = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, src: pl.Tensor[[64, 16], pl.FP32], dst: pl.InOut[pl.Tensor[[64, 16], pl.FP32]]):
        for i in pl.pipeline(0, 4, 2, stage=1):
            t0 = pl.tile.load(src, [i * 16, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
            e0 = pl.tile.exp(t0, attrs={"pipeline_membership": "0:0"})
            pl.tile.store(e0, [{row}, 0], dst)
            t1 = pl.tile.load(src, [i * 16 + 16, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
            e1 = pl.tile.exp(t1, attrs={"pipeline_membership": "0:1"})
            pl.tile.store(e1, [{row} + 16, 0], dst)

    @pl.function(type=pl.FunctionType.Group)
    def between(self, src: pl.Tensor[[64, 16], pl.FP32], dst: pl.InOut[pl.Tensor[[64, 16], pl.FP32]]):
        self.kernel(src, dst)

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[128, 16], pl.FP32], out: pl.InOut[pl.Tensor[[128, 16], pl.FP32]]):
        low = pl.tensor.slice(out, [64, 16], [0, 0])
        mid = pl.tensor.slice(out, [64, 16], [32, 0])
        high = pl.tensor.slice(out, [64, 16], [64, 0])
        other = pl.tensor.slice(x, [64, 16], [0, 0])
        self.between({given})
"""


@pytest.mark.parametrize(
    ("given", "row", "moves"),
    [
        ("other, low", "i * 16", True),
        ("low, high", "i * 16", True),
        ("low, mid", "i * 16", False),
        ("low, low", "i * 16", True),  # each round writes what it has read
        ("low, low", "i * 16 + 16", False),
    ],
)
def test_loads_pass_stores_into_another_parameter_only_if_that_is_another_tensor(given, row, moves):
    """The kernel is called through another function, which its caller gives the tensors."""
    node = program(CALLER.replace("{given}", given).replace("{row}", row))
    found = names(body(passes.canonicalize_io_order()(node), "kernel"))
    assert (found.index("t1") < found.index("e0")) == moves
