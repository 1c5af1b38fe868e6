"""Failures that users have met, each through an emitted script; expected numbers are longhand."""

import threading
import warnings

import pytest
import torch
from codegen.builders import (
    Acc,
    Group,
    Mat,
    assign,
    call,
    evaluate,
    for_loop,
    function,
    load,
    op,
    ret,
    scalar,
    script,
    store,
    tensor,
    tile,
    tile_type,
)
from codegen.kernels import aic, aiv, lane_index, pop_from_aic, pop_from_aiv, push_to_aic, push_to_aiv

from pypto_tmpl import ir

ROWS, COLUMNS = 16, 4
x, out = tensor("x", [ROWS, COLUMNS]), tensor("out", [ROWS, COLUMNS])
lane = scalar("lane")


def members(*functions, params=(x, out), **attrs):
    """The functions with the group "k" of k_aic and k_aiv that runs them, and the entry that calls it."""
    group = function(
        "k",
        params,
        evaluate(call("k_aic", params)),
        evaluate(call("k_aiv", params)),
        ret(out),
        type=Group,
        returns=[out.type],
        **attrs,
    )
    return [*functions, group, function("main", params, ret(call("k", params, out.type)))]


def run(functions, source, filled=9.0, **options):
    """What the entry leaves in an output that was filled before, and the script's namespace."""
    namespace = script(*functions, options=options)
    target = torch.full((ROWS, COLUMNS), filled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        namespace["main"](source, target)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("group ")]
    return target, namespace


def numbers():
    return torch.arange(1.0, 1 + ROWS * COLUMNS).reshape(ROWS, COLUMNS)


def through_lanes(valid, split, stride=None, half=ROWS // 2):
    """The cube sends valid rows of a 16-row box; each lane stores what it gets at its own first row."""
    cells = [ROWS, COLUMNS]
    t = tile("t", cells, valid=[valid, COLUMNS] if valid < ROWS else (), memory=Acc)
    keywords = {"split": split} if stride is None else {"split": split, "lane_stride": stride}
    u = tile("u", [half, COLUMNS])
    return members(
        aic(
            assign(t, load(x, [0, 0], cells, [valid, COLUMNS] if valid < ROWS else (), memory=Acc)),
            push_to_aiv(t, **keywords),
            params=(x, out),
        ),
        aiv(
            assign(lane, lane_index()),
            assign(u, pop_from_aic([half, COLUMNS], **keywords)),
            ret(store(u, [lane * (stride or half), 0], out)),
            params=(x, out),
        ),
    )


def cause(caught):
    """The error of the lane that failed first."""
    return str(caught.value.__cause__)


# A20


@pytest.mark.parametrize("valid", [0, 1, 5, 8, 9, 13, 16])
def test_ragged_rows_reach_the_lane_that_owns_them(valid):
    """Lane L has the rows [8 L, 8 L + 8): exactly the valid rows change, each at its place."""
    target, _ = run(through_lanes(valid, 1), numbers())
    expected = torch.full((ROWS, COLUMNS), 9.0)
    expected[:valid] = numbers()[:valid]
    assert torch.equal(target, expected)


@pytest.mark.parametrize(("valid", "extents"), [(5, [5, 0]), (8, [8, 0]), (9, [8, 1]), (13, [8, 5])])
def test_valid_rows_of_each_lane(valid, extents):
    """A lane that counts: each stores its number of valid rows at its own row."""
    u, count = tile("u", [8, COLUMNS]), tile("count", [8, COLUMNS])
    functions = through_lanes(valid, 1)
    functions[1] = aiv(
        assign(lane, lane_index()),
        assign(u, pop_from_aic([8, COLUMNS], split=1)),
        assign(count, op("tile.adds", [u, 100.0], u.type)),
        ret(store(count, [lane * 8, 0], out)),
        params=(x, out),
    )
    target, _ = run(functions, numbers())
    changed = (target != 9).all(dim=1)
    assert [int(changed[:8].sum()), int(changed[8:].sum())] == extents


# A21


def test_an_odd_number_of_valid_rows_in_an_even_box():
    target, _ = run(through_lanes(15, 3), numbers())
    expected = numbers()
    expected[15] = 9
    assert torch.equal(target, expected)


def test_a_stride_moves_the_cut():
    """13 valid rows with stride 7: lane 0 has rows 0-6, lane 1 rows 7-12 in boxes of 8."""
    target, _ = run(through_lanes(13, 3, stride=7), numbers())
    expected = numbers()
    expected[13:] = 9
    assert torch.equal(target, expected)


@pytest.mark.parametrize(
    ("valid", "split", "stride", "text"),
    [
        (
            13,
            3,
            None,
            "tpush_to_aiv(split=3): lanes 0 and 1 hold 8 and 5 valid cells of dim 0 (lane stride 8);"
            " split 3 needs exactly one more on lane 0",
        ),
        (
            13,
            1,
            9,
            "tpush_to_aiv(split=1): lane_stride 9 is not in 1..8 for the extent 16 of dim 0",
        ),
        (
            15,
            1,
            0,
            "tpush_to_aiv(split=1): lane_stride 0 is not in 1..8 for the extent 16 of dim 0",
        ),
    ],
)
def test_extents_that_contradict_the_code(valid, split, stride, text):
    with pytest.raises(RuntimeError) as caught:
        run(through_lanes(valid, split, stride), numbers())
    assert cause(caught) == text
    assert isinstance(caught.value.__cause__, ValueError)
    assert str(caught.value) == f"group 'k' lane aic failed: ValueError: {text}"


def test_an_odd_box_needs_an_odd_code():
    odd, t, u = tensor("x", [5, COLUMNS]), tile("t", [5, COLUMNS], memory=Acc), tile("u", [3, COLUMNS])
    functions = members(
        aic(
            assign(t, load(odd, [0, 0], [5, COLUMNS], memory=Acc)), push_to_aiv(t, split=1), params=(odd, out)
        ),
        aiv(assign(u, pop_from_aic([3, COLUMNS], split=1)), ret(out), params=(odd, out)),
        params=(odd, out),
    )
    with pytest.raises(RuntimeError) as caught:
        run(functions, torch.zeros(5, COLUMNS))
    assert cause(caught) == (
        "tpush_to_aiv(split=1): dim 0 of a tile of shape [5, 4] is odd;"
        " split 1 needs an even extent, 3 is the odd one"
    )


@pytest.mark.parametrize("split", [3, 4])
def test_there_is_no_odd_way_to_the_cube(split):
    t, whole = tile("t", [8, COLUMNS]), tile("whole", [ROWS, COLUMNS], memory=Acc)
    functions = members(
        aic(assign(whole, pop_from_aiv([ROWS, COLUMNS], split=split)), params=(x, out)),
        aiv(
            assign(t, load(x, [0, 0], [8, COLUMNS])),
            push_to_aic(t, split=split),
            ret(out),
            params=(x, out),
        ),
    )
    with pytest.raises(RuntimeError) as caught:
        run(functions, numbers())
    # Lanes and cube are refused at once; which one comes first is not to be told.
    assert cause(caught) in [
        f"{what}: vector lanes reach the cube core by split 0, 1 or 2"
        for what in (
            f"tpush_to_aic(split={split}) of a tile of shape [8, 4]",
            f"tpop_from_aiv(split={split})",
        )
    ]


# A22


def test_operators_are_the_truth_for_the_split():
    functions = through_lanes(16, 1)
    functions[2] = members(*functions[:2], split=0)[2]
    target, namespace = run(functions, numbers())
    assert torch.equal(target, numbers())
    assert namespace["_GROUP_META"]["k"]["split"] == 1


def rows_then_columns(second_pop):
    """The cube sends x by rows, then by columns; lane L adds its rows of x, then its columns, to out."""
    t, rows, columns = (
        tile("t", [ROWS, COLUMNS], memory=Acc),
        tile("rows", [8, COLUMNS]),
        tile("columns", [ROWS, 2]),
    )
    return members(
        aic(
            assign(t, load(x, [0, 0], [ROWS, COLUMNS], memory=Acc)),
            push_to_aiv(t, split=1),
            push_to_aiv(t, split=2),
            params=(x, out),
        ),
        aiv(
            assign(lane, lane_index()),
            assign(rows, pop_from_aic([8, COLUMNS], split=1)),
            assign(columns, pop_from_aic([ROWS, 2], split=second_pop)),
            evaluate(op("tile.store", [rows, [lane * 8, 0], out], out.type, atomic=1)),
            ret(op("tile.store", [columns, [0, lane * 2], out], out.type, atomic=1)),
            params=(x, out),
        ),
    )


def test_two_axes_on_one_pipe():
    """Each push and pop has its own code: every cell has x once by rows, once by columns."""
    target, namespace = run(rows_then_columns(2), numbers())
    assert torch.equal(target, 9 + 2 * numbers())
    assert namespace["_GROUP_META"]["k"]["split"] == 2
    assert namespace["_cross_core_rt"].snapshot()["to_aiv"] == {0: [0, 0]}


def test_a_pop_of_another_axis_than_the_push():
    with pytest.raises(RuntimeError) as caught:
        run(rows_then_columns(1), numbers())
    assert isinstance(caught.value.__cause__, ValueError)
    assert cause(caught) == (
        "group 'k': tpop_from_aic(split=1) on pipe 0 meets a tile that was pushed with split 2"
    )


def test_two_axes_on_the_way_to_the_cube():
    """Lanes send their rows of x, then their columns of 2 x; the cube puts each together and adds both."""
    rows, columns = tile("rows", [8, COLUMNS]), tile("columns", [ROWS, 2])
    twice = tile("twice", [ROWS, 2])
    first, second = (tile(name, [ROWS, COLUMNS], memory=Mat) for name in ("first", "second"))
    functions = members(
        aic(
            assign(first, pop_from_aiv([ROWS, COLUMNS], split=1)),
            assign(second, pop_from_aiv([ROWS, COLUMNS], split=2)),
            evaluate(op("tile.store", [first, [0, 0], out], out.type, atomic=1)),
            evaluate(op("tile.store", [second, [0, 0], out], out.type, atomic=1)),
            params=(x, out),
        ),
        aiv(
            assign(lane, lane_index()),
            assign(rows, load(x, [lane * 8, 0], [8, COLUMNS])),
            assign(columns, load(x, [0, lane * 2], [ROWS, 2])),
            assign(twice, op("tile.muls", [columns, 2.0], twice.type)),
            push_to_aic(rows, split=1),
            push_to_aic(twice, split=2),
            ret(out),
            params=(x, out),
        ),
    )
    target, _ = run(functions, numbers())
    assert torch.equal(target, 9 + 3 * numbers())


def test_split_0_beside_a_split_reaches_both_lanes():
    """The cube sends a whole tile, then halves; lane L stores row L of the whole and its half."""
    t, whole = tile("t", [ROWS, COLUMNS], memory=Acc), tile("whole", [ROWS, COLUMNS])
    half, total = tile("half", [8, COLUMNS]), tile("total", [8, COLUMNS])
    row = tile("row", [1, COLUMNS])
    functions = members(
        aic(
            assign(t, load(x, [0, 0], [ROWS, COLUMNS], memory=Acc)),
            push_to_aiv(t, split=0),
            push_to_aiv(t, split=1),
            params=(x, out),
        ),
        aiv(
            assign(lane, lane_index()),
            assign(whole, pop_from_aic([ROWS, COLUMNS], split=0)),
            assign(half, pop_from_aic([8, COLUMNS], split=1)),
            assign(row, op("tile.slice", [whole, [1, COLUMNS], [lane, 0]], row.type)),
            assign(total, op("tile.col_expand_add", [half, row], half.type)),
            ret(store(total, [lane * 8, 0], out)),
            params=(x, out),
        ),
    )
    target, namespace = run(functions, numbers())
    expected = numbers()
    expected[:8] += numbers()[0]
    expected[8:] += numbers()[1]
    assert torch.equal(target, expected)
    assert namespace["_cross_core_rt"].snapshot()["to_aiv"] == {0: [0, 0]}


def test_even_and_odd_code_of_one_axis_may_mix():
    """16 rows by code 1, then 15 valid rows by code 3, on one pipe; the sum is stored."""
    t, ragged = (
        tile("t", [ROWS, COLUMNS], memory=Acc),
        tile("r", [ROWS, COLUMNS], valid=[15, COLUMNS], memory=Acc),
    )
    first, second, total = (tile(name, [8, COLUMNS]) for name in ("first", "second", "total"))
    functions = members(
        aic(
            assign(t, load(x, [0, 0], [ROWS, COLUMNS], memory=Acc)),
            assign(ragged, load(x, [0, 0], [ROWS, COLUMNS], [15, COLUMNS], memory=Acc)),
            push_to_aiv(t, split=1),
            push_to_aiv(ragged, split=3),
            params=(x, out),
        ),
        aiv(
            assign(lane, lane_index()),
            assign(first, pop_from_aic([8, COLUMNS], split=1)),
            assign(second, pop_from_aic([8, COLUMNS], split=3)),
            assign(total, op("tile.add", [second, first], first.type)),
            ret(store(total, [lane * 8, 0], out)),
            params=(x, out),
        ),
    )
    target, _ = run(functions, numbers())
    expected = 2 * numbers()
    expected[15] = 9
    assert torch.equal(target, expected)


# A23


@pytest.mark.parametrize("options", [{}, {"bounded_pipes": True}, {"schedule_seed": 3}])
def test_no_split_with_both_lanes_running(options):
    """Three round trips: both lanes get each tile and send it back; the cube takes pairs, keeps lane 0's.

    Lane 0 adds 1, lane 1 adds 100: trip n stores x + 1 at row n.
    """
    row, i = [1, COLUMNS], scalar("i")
    t, back, sent = tile("t", row, memory=Acc), tile("back", row, memory=Acc), tile("sent", row)
    got, extra = tile("got", row), scalar("extra", ir.DataType.FP32)
    slots = {"dir_mask": 3, "slot_size": 16, "slot_num": 2}
    buffers = [ir.ConstInt(0, ir.DataType.INT32, ir.Span.unknown())] * 2
    functions = members(
        aic(
            evaluate(op("system.aic_initialize_pipe", buffers, **slots)),
            for_loop(
                i,
                3,
                assign(t, load(x, [i, 0], row, memory=Acc)),
                push_to_aiv(t),
                assign(back, op("tile.tpop_from_aiv", [], tile_type(row, memory=Acc), split=0)),
                evaluate(store(back, [i, 0], out)),
                evaluate(op("system.tfree_to_aiv", [back], split=0)),
            ),
            params=(x, out),
        ),
        aiv(
            evaluate(op("system.aiv_initialize_pipe", buffers, **slots)),
            assign(lane, lane_index()),
            assign(extra, ir.Cast(lane * 99 + 1, ir.DataType.FP32, ir.Span.unknown())),
            for_loop(
                scalar("j"),
                3,
                assign(got, pop_from_aic(row)),
                assign(sent, op("tile.adds", [got, extra], got.type)),
                evaluate(op("system.tfree_to_aic", [got], split=0)),
                push_to_aic(sent),
            ),
            ret(out),
            params=(x, out),
            dual_aiv_dispatch=True,
            split_aiv=True,
        ),
    )
    target, namespace = run(functions, numbers(), **options)
    expected = torch.full((ROWS, COLUMNS), 9.0)
    expected[:3] = numbers()[:3] + 1
    assert torch.equal(target, expected)
    state = namespace["_cross_core_rt"].snapshot()
    assert state["no_split_dual_aiv_dispatch"] is True
    assert (state["to_aiv"], state["to_aic"]) == ({0: [0, 0]}, {0: [0, 0]})


# A24


def fast_producer():
    """Three pushes before the consumer, which first waits for pipe 1, pops any; two slots."""
    t, u = tile("t", [1, COLUMNS], memory=Acc), tile("u", [1, COLUMNS])
    buffers = [ir.ConstInt(0, ir.DataType.INT32, ir.Span.unknown())] * 2
    slots = {"dir_mask": 1, "slot_size": 16, "slot_num": 2}
    pops = [[assign(u, pop_from_aic([1, COLUMNS])), evaluate(op("system.tfree_to_aic", [u], split=0))]] * 3
    return members(
        aic(
            evaluate(op("system.aic_initialize_pipe", buffers, **slots)),
            assign(t, load(x, [0, 0], [1, COLUMNS], memory=Acc)),
            push_to_aiv(t),
            push_to_aiv(t),
            push_to_aiv(t),
            push_to_aiv(t, id=1),
            params=(x, out),
        ),
        aiv(
            evaluate(op("system.aiv_initialize_pipe", buffers, **slots)),
            assign(u, pop_from_aic([1, COLUMNS], id=1)),
            *[stmt for pair in pops for stmt in pair],
            ret(store(u, [0, 0], out)),
            params=(x, out),
        ),
    )


def test_a_fast_producer_needs_more_slots_than_there_are():
    target, _ = run(fast_producer(), numbers())
    assert target[0].tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError) as caught:
        run(fast_producer(), numbers(), bounded_pipes=True)
    lines = str(caught.value).splitlines()
    name = lines[1].split(" at ")[1].split(":")[0]
    push = "_cross_core_rt.push_to_aiv(t, 0, copy=False)"
    assert lines[0] == "deadlock in group 'k': every live lane waits and none can be woken"
    number = lines[1].split(":")[3]
    assert lines[1] == (
        f"  aic: push blocked: tpush_to_aiv(split=0, id=0) at {name}:{number}: {push};"
        " missing: tfree_to_aic(id=0) of a tile of aiv0 (2 queued, 0 popped, of 2 slots)"
    )
    assert lines[2].endswith("missing: tpush_to_aiv(split=0, id=1) by aic")
    assert lines[3] == (
        "  queue depths: {'no_split_dual_aiv_dispatch': False, 'to_aiv': {0: [2, 0], 1: [0, 0]},"
        " 'to_aiv unreleased': {0: [0, 0]}}"
    )


@pytest.mark.parametrize("renamed", [False, True])
def test_a_tfree_frees_the_pipe_of_its_tile(renamed):
    """Before StampTfreeSplit a tfree has no id: the tile that it names was popped from pipe 1."""
    t, u, alias = (
        tile("t", [ROWS, COLUMNS], memory=Acc),
        tile("u", [ROWS, COLUMNS]),
        tile("alias", [ROWS, COLUMNS]),
    )
    slots = {"dir_mask": 1, "slot_size": 256, "slot_num": 1, "id": 1}
    buffers = [ir.ConstInt(0, ir.DataType.INT32, ir.Span.unknown())] * 2
    freed = alias if renamed else u
    functions = members(
        aic(
            evaluate(op("system.aic_initialize_pipe", buffers, **slots)),
            assign(t, load(x, [0, 0], [ROWS, COLUMNS], memory=Acc)),
            push_to_aiv(t, id=1),
            push_to_aiv(t, id=1),
            params=(x, out),
        ),
        aiv(
            evaluate(op("system.aiv_initialize_pipe", buffers, **slots)),
            *[
                stmt
                for _ in range(2)
                for stmt in (
                    assign(u, pop_from_aic([ROWS, COLUMNS], id=1)),
                    *([assign(alias, u)] if renamed else []),
                    evaluate(op("system.tfree_to_aic", [freed])),
                    evaluate(op("tile.store", [u, [0, 0], out], out.type, atomic=1)),
                )
            ],
            ret(out),
            params=(x, out),
        ),
    )
    target, _ = run(functions, numbers(), bounded_pipes=True, strict_leftovers=True)
    assert torch.equal(target, 9 + 2 * numbers())
