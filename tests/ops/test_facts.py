"""Facts of ops against the lists of the passes' description, written out, and the lookups."""

from typing import get_args

import pytest

from pypto_tmpl import ir
from pypto_tmpl.ops import call, facts, load_table
from pypto_tmpl.ops.cores import CoreSide, core_side
from pypto_tmpl.ops.fact_model import CORE_RULES, TRAITS, CoreRule, Trait

# Longhand: "fixed affinity of the operation", and the rules for hand-overs and barriers.
CUBE = "tile.tpush_to_aiv tile.tpop_from_aiv system.tfree_to_aiv system.aic_initialize_pipe"
VECTOR = (
    "tile.tpush_to_aic tile.tpop_from_aic system.tfree_to_aic system.aiv_initialize_pipe "
    "tile.get_subblock_idx tile.alloc pld.tensor.get pld.tensor.put pld.tile.get pld.tile.put "
    "prefetch.make_context prefetch.async_prefetch prefetch.session prefetch.wait"
)
SHARED = "tile.get_block_idx tile.get_block_num tile.create"
MIXED = "tile.aiv_shard tile.aic_gather"
BY_CORE_TYPE = "system.syncall system.sync_set system.sync_wait"

# "Output may not share with any input", with argument 1 (row_expand_add also 2), with some.
APART = (
    "recip rsqrt fmod fmods ands ors xors row_sum row_max row_min row_prod row_argmax row_argmin col_argmax "
    "col_argmin sort32 mrgsort_format1 mrgsort_format2 gather gatherb gather_mask gather_compare mgather "
    "move extract concat transpose fillpad_expand"
)
FROM_SECOND = (
    "row_expand row_expand_sub row_expand_div row_expand_mul row_expand_max row_expand_min row_expand_expdif "
    "col_expand col_expand_mul col_expand_add col_expand_div col_expand_sub col_expand_max col_expand_min "
    "col_expand_expdif"
)
OTHERS = {"row_expand_add": {1, 2}, "sel": {0, 3}, "sels": {0}}
ROW_MAJOR = (
    "add and or sub mul fmod maximum minimum part_add part_max part_min part_mul rem shl shr xor abs exp "
    "sqrt not relu prelu lrelu rsqrt cast adds subs muls divs fmods maximums cmps sel sels addsc subsc "
    "gatherb sort32 mscatter div log recip mrgsort_format1 mrgsort_format2 full tri random"
)
# "Result reuses argument", and views that have the MemRef of what they show.
REUSES = {
    "tile.matmul_acc": 0, "tile.gemv_acc": 0, "tile.batch_matmul_acc": 0, "tile.matmul_mx_acc": 0,
    "tile.gather_row": 0, "tile.fillpad_inplace": 0, "tile.scatter": 0, "tile.scatter_mask": 0,
    "tile.scatter_update": 0, "tile.store": 2, "tile.mscatter": 2, "tile.assemble": 0, "tile.write": 0,
    "tile.tget_scale_addr": 0,
}  # fmt: skip
VIEWS = "slice reshape reinterpret_view transpose_view set_validshape"


def ops_where(holds: object) -> set[str]:
    assert callable(holds)
    return {name for name in load_table() if holds(facts.of(name))}


def tile_ops(names: str) -> set[str]:
    return {f"tile.{name}" for name in names.split()}


def positions(name: str) -> set[int]:
    terms = facts.of(name).disjoint.get("", ())
    return {load_table()[name].operand_names.index(term) for term in terms}


@pytest.mark.parametrize(
    ("rule", "names"),
    [("cube", CUBE), ("vector", VECTOR), ("shared", SHARED), ("mixed", MIXED), ("core_type", BY_CORE_TYPE)],
)
def test_cores(rule: str, names: str) -> None:
    assert ops_where(lambda known: known.core == rule) == set(names.split())


def test_only_moves_hand_over_by_space() -> None:
    assert ops_where(lambda known: known.core == "move") == {"tile.move"}


def test_results_that_lie_on_no_operand() -> None:
    assert ops_where(lambda known: known.disjoint.get("") == ("all",)) == tile_ops(APART)
    assert facts.of("tile.prelu").disjoint == {"Ascend910B": ("all",), "Ascend950": ("tile", "slope")}
    assert facts.of("tile.cast").disjoint[""] == ("narrower",)


def test_results_that_lie_on_some_operands_only() -> None:
    for name in tile_ops(FROM_SECOND):
        assert positions(name) == {1}, name
    for name, expected in OTHERS.items():
        assert positions(f"tile.{name}") == expected
    stated = ops_where(lambda known: any(known.disjoint.values()))
    assert stated == tile_ops(f"{APART} {FROM_SECOND} {' '.join(OTHERS)} prelu cast")


def test_row_major_operands() -> None:
    assert ops_where(lambda known: known.row_major) == tile_ops(ROW_MAJOR)


def test_results_that_are_an_operand() -> None:
    found = {name: facts.of(name).returned for name in load_table() if name.startswith("tile.")}
    assert {name: at for name, at in found.items() if at is not None} == REUSES


def test_views_of_tiles() -> None:
    found = ops_where(lambda known: known.view_of == 0)
    assert {name for name in found if name.startswith("tile.")} == tile_ops(VIEWS)


def test_vocabularies_are_described() -> None:
    assert set(TRAITS) == set(get_args(Trait))
    assert set(CORE_RULES) == set(get_args(CoreRule))


def test_every_trait_is_used() -> None:
    assert [trait for trait in TRAITS if not facts.named(trait)] == []


def test_traits_of_a_family_are_those_of_its_ops() -> None:
    assert facts.of("tile.add").has("cellwise") and not facts.of("tile.row_sum").has("cellwise")


def test_functions_and_unknown_names_have_no_facts() -> None:
    assert facts.of(ir.GlobalVar("tile.add")) is facts.of("tile.no_such") is facts.NO_FACTS


SPAN = ir.Span.unknown()
TENSOR = ir.Var("x", ir.TensorType([16, 16], ir.DataType.FP32), SPAN)


def tile(space: ir.MemorySpace | None) -> ir.Var:
    return ir.Var("t", ir.TileType([16, 16], ir.DataType.FP32, memory_space=space), SPAN)


@pytest.mark.parametrize(
    ("source", "target", "side"),
    [
        (ir.MemorySpace.Acc, ir.MemorySpace.Vec, CoreSide.MIXED),
        (ir.MemorySpace.Vec, ir.MemorySpace.Mat, CoreSide.MIXED),
        (ir.MemorySpace.Mat, ir.MemorySpace.Left, CoreSide.CUBE),
        (ir.MemorySpace.Vec, ir.MemorySpace.Vec, CoreSide.VECTOR),
    ],
)
def test_core_of_a_move(source: ir.MemorySpace, target: ir.MemorySpace, side: CoreSide) -> None:
    assert core_side(call("tile.move", tile(source), target_memory=target)) is side


def test_what_was_popped_does_not_cross_again() -> None:
    popped = tile(ir.MemorySpace.Vec)
    pop = ir.Call(ir.Op("tile.tpop_from_aic"), [], {"split": 0}, popped.type, SPAN)
    move = call("tile.move", popped, target_memory=ir.MemorySpace.Mat)
    assert core_side(move, lambda value: pop if value is popped else value) is CoreSide.CUBE


def test_core_of_loads_and_stores() -> None:
    window = [[0, 0], [16, 16], [16, 16]]
    for space, side in ((ir.MemorySpace.Mat, CoreSide.CUBE), (ir.MemorySpace.Vec, CoreSide.VECTOR)):
        assert core_side(call("tile.load", TENSOR, *window, target_memory=space)) is side
    assert core_side(call("tile.store", tile(ir.MemorySpace.Acc), window[0], TENSOR)) is CoreSide.CUBE


@pytest.mark.parametrize(
    ("core_type", "side"), [("aic_only", "cube"), ("aiv_only", "vector"), ("mix", "shared")]
)
def test_core_of_a_barrier(core_type: str, side: str) -> None:
    assert core_side(call("system.syncall", core_type=core_type)) is CoreSide(side)


def test_placed_calls_run_where_they_are_placed() -> None:
    free = call("tensor.dim", TENSOR, 0)
    placed = ir.Call(free.op, free.args, {}, {"core_placement": "aiv"}, free.type, SPAN)
    assert (core_side(free), core_side(placed)) == (CoreSide.SHARED, CoreSide.VECTOR)


@pytest.mark.parametrize("op", [ir.GlobalVar("helper"), ir.Op("tile.no_such")], ids=repr)
@pytest.mark.parametrize("space", [ir.MemorySpace.Vec, ir.MemorySpace.Mat])
def test_functions_and_unknown_ops_run_on_either_core(op: ir.Op, space: ir.MemorySpace) -> None:
    operand = tile(space)
    free = ir.Call(op, [operand], operand.type, SPAN)
    placed = ir.Call(op, [operand], {}, {"core_placement": "aiv"}, operand.type, SPAN)
    assert (core_side(free), core_side(placed)) == (CoreSide.SHARED, CoreSide.VECTOR)


@pytest.mark.parametrize(
    ("sides", "together"),
    [
        ("cube vector", "mixed"),
        ("shared cube", "cube"),
        ("vector shared", "vector"),
        ("mixed vector", "mixed"),
    ],
)
def test_sides_together(sides: str, together: str) -> None:
    left, right = map(CoreSide, sides.split())
    assert left.with_(right) is CoreSide(together)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("tensor.exp", [("tile.exp", (), ())]),
        ("tensor.sub", [
            ("tile.row_expand_sub", ("column_of(rhs, lhs)",), ()),
            (None, ("column_of(lhs, rhs)",), ()),
            ("tile.sub", (), ()),
        ]),
        ("tensor.maximum", [("tile.maximums", ("scalar(rhs)",), ()), ("tile.maximum", (), ())]),
        ("tensor.transpose", [("tile.transpose", (), ("input", "axis1", "axis2"))]),
    ],
)  # fmt: skip
def test_plain_lowerings(
    op: str, expected: list[tuple[str | None, tuple[str, ...], tuple[str, ...]]]
) -> None:
    assert [(way.to, way.when, way.operands) for way in facts.of(op).lowerings] == expected


def test_workspaces_of_lowerings() -> None:
    names = {"row_max": "tmp_tile", "row_argmin": "tmp_tile", "xor": "xor_tmp", "rsqrt": "rsqrt_tmp"}
    for op, name in names.items():
        made = facts.of(f"tensor.{op}").lowerings[0].scratch
        assert [scratch.name for scratch in made.values()] == [name]
    wide = ops_where(
        lambda known: any(s.shape == "wide_rows" for way in known.lowerings for s in way.scratch.values())
    )
    assert wide == {"tensor.row_max", "tensor.row_sum", "tensor.row_min", "tensor.row_prod"}


def test_tensor_ops_without_tile_op() -> None:
    stay = {name for name in load_table() if name.startswith("tensor.") and not facts.of(name).lowerings}
    assert stay == {"tensor.dim", "tensor.view", "tensor.alloc"}
