"""Pipes between the cube core and its vector lanes: order, geometry, copies, errors."""

import threading

import numpy as np
import pytest
import torch
from preamble.rendered import Script

TOPICS = ("lanes", "spmd", "tile_split", "cross_core", "mixed_kernel")


@pytest.fixture
def script():
    return Script(TOPICS)


def run_group(script, aic, aiv, *args, **meta):
    """Run functions as the group "g", with split 1 unless `meta` says otherwise."""
    script["aic"], script["aiv"] = aic, aiv
    members = {"aic": aic and "aic", "aiv": aiv and "aiv"}
    meta = {**members, "split": 1, "dual_aiv_dispatch": False, **meta}
    return script["_run_mixed_kernels"]("g", meta, *args)


def push_and_pop(script, tile, split, lane_stride=None, valid_shape=None, pop_split=None):
    """What both lanes pop when the cube pushes one tile."""
    rt, popped = script["_cross_core_rt"], [None, None]

    def aic():
        rt.push_to_aiv(tile, split, lane_stride, valid_shape=valid_shape)

    def aiv():
        lane = script["_get_subblock_idx"]()
        popped[lane] = rt.pop_from_aic(split if pop_split is None else pop_split)

    run_group(script, aic, aiv, split=split, dual_aiv_dispatch=True)
    return popped


def gather(script, parts, split, valid_shapes=(None, None)):
    """What the cube pops when each lane pushes one tile."""
    rt, popped = script["_cross_core_rt"], []

    def aiv():
        lane = script["_get_subblock_idx"]()
        rt.push_to_aic(parts[lane], split, valid_shape=valid_shapes[lane])

    run_group(script, lambda: popped.append(rt.pop_from_aiv(split)), aiv, split=split, dual_aiv_dispatch=True)
    return popped[0]


def cause(caught):
    """The error of a lane, of which the group's error tells."""
    return str(caught.value.__cause__)


# ---- geometry through the pipes


@pytest.mark.parametrize(("valid", "extents"), [(5, [5, 0]), (8, [8, 0]), (9, [8, 1]), (13, [8, 5])])
def test_ragged_rows_reach_the_lane_that_owns_them(script, valid, extents):
    """Each lane stores its valid rows at its own offset: exactly the valid rows change."""
    source = torch.arange(16.0 * 4).reshape(16, 4) + 100
    out = torch.full((16, 4), 9.0)
    rt, seen = script["_cross_core_rt"], [None, None]

    def aiv(source, out):
        lane = script["_get_subblock_idx"]()
        part = rt.pop_from_aic(1)
        rows, columns = script["_region"](part)
        seen[lane] = rows
        out[lane * 8 : lane * 8 + rows, :columns] = part[:rows, :columns]
        return out

    def aic(source, out):
        rt.push_to_aiv(source, 1, valid_shape=[valid, 4])

    run_group(script, aic, aiv, source, out)
    expected = np.full((16, 4), 9.0)
    expected[:valid] = np.arange(64.0).reshape(16, 4)[:valid] + 100
    assert seen == extents
    np.testing.assert_array_equal(out.numpy(), expected)


def test_odd_valid_rows_of_an_even_box(script):
    tile = torch.arange(32.0).reshape(16, 2)
    first, second = push_and_pop(script, tile, 3, valid_shape=[15, 2])
    assert (first.shape, second.shape) == ((8, 2), (8, 2))
    assert not hasattr(first, "_pypto_valid_shape")
    assert second._pypto_valid_shape == [7, 2]
    assert first.tolist() == tile[:8].tolist()
    assert second[:7].tolist() == tile[8:15].tolist()


def test_odd_box(script):
    tile = torch.arange(30.0).reshape(2, 15)
    first, second = push_and_pop(script, tile, 4)
    assert first.tolist() == tile[:, :8].tolist()
    assert second.tolist() == [[8, 9, 10, 11, 12, 13, 14, 0], [23, 24, 25, 26, 27, 28, 29, 0]]
    assert second._pypto_valid_shape == [2, 7]


def test_the_stride_moves_the_cut(script):
    tile = torch.arange(32.0).reshape(16, 2)
    first, second = push_and_pop(script, tile, 3, 7, [13, 2])
    assert [first._pypto_valid_shape, second._pypto_valid_shape] == [[7, 2], [6, 2]]
    assert (first.shape, second.shape) == ((8, 2), (8, 2))
    assert first[:7].tolist() == tile[:7].tolist()
    assert second[:6].tolist() == tile[7:13].tolist()


@pytest.mark.parametrize(
    ("code", "shape", "stride", "valid", "text"),
    [
        (
            3,
            [16, 2],
            None,
            [13, 2],
            "tpush_to_aiv(split=3): lanes 0 and 1 hold 8 and 5 valid cells of dim 0 (lane stride 8);"
            " split 3 needs exactly one more on lane 0",
        ),
        (
            4,
            [2, 16],
            None,
            None,
            "tpush_to_aiv(split=4): lanes 0 and 1 hold 8 and 8 valid cells of dim 1 (lane stride 8);"
            " split 4 needs exactly one more on lane 0",
        ),
        (
            1,
            [15, 2],
            None,
            None,
            "tpush_to_aiv(split=1): dim 0 of a tile of shape [15, 2] is odd; split 1 needs an even"
            " extent, 3 is the odd one",
        ),
        (
            1,
            [16, 2],
            9,
            None,
            "tpush_to_aiv(split=1): lane_stride 9 is not in 1..8 for the extent 16 of dim 0",
        ),
    ],
)
def test_extents_that_contradict_the_code(script, code, shape, stride, valid, text):
    with pytest.raises(ValueError) as caught:
        script["_cross_core_rt"].push_to_aiv(torch.zeros(shape), code, stride, valid_shape=valid)
    assert str(caught.value) == text


@pytest.mark.parametrize("split", [3, 4, "3"])
@pytest.mark.parametrize("op", ["push_to_aic", "pop_from_aiv"])
def test_no_odd_transport_to_the_cube(script, op, split):
    args = (torch.zeros(2, 2), split) if op == "push_to_aic" else (split,)
    with pytest.raises(ValueError) as caught:
        getattr(script["_cross_core_rt"], op)(*args)
    tile = " of a tile of shape [2, 2]" if op == "push_to_aic" else ""
    text = f"t{op}(split={split}){tile}: vector lanes reach the cube core by split 0, 1 or 2"
    assert str(caught.value) == text


def test_lanes_joined_by_columns(script):
    parts = [torch.tensor([[1.0, 2.0]]), torch.tensor([[3.0, 4.0]])]
    whole = gather(script, parts, 2)
    assert whole.tolist() == [[1, 2, 3, 4]]
    assert not hasattr(whole, "_pypto_valid_shape")


def test_lanes_joined_by_rows_keep_the_region(script):
    whole = gather(script, [torch.ones(8, 4), torch.ones(8, 4)], 1, ([8, 4], [3, 4]))
    assert (list(whole.shape), whole._pypto_valid_shape) == ([16, 4], [11, 4])


def test_lanes_that_are_no_rectangle(script):
    with pytest.raises(RuntimeError) as caught:
        gather(script, [torch.ones(8, 4), torch.ones(8, 4)], 1, ([7, 4], [3, 4]))
    assert cause(caught) == (
        "tpop_from_aiv(split=1): the valid extents [7, 4] of lane 0 and [3, 4] of lane 1"
        " in boxes of [8, 4] are not one rectangle"
    )


@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int32, torch.int8])
def test_there_and_back(script, split, dtype):
    tile = torch.arange(64).reshape(8, 8).to(dtype)
    parts = push_and_pop(script, tile, split)
    assert gather(script, parts, split).tolist() == torch.arange(64).reshape(8, 8).tolist()


def test_empty_tiles_travel(script):
    first, second = push_and_pop(script, torch.zeros(4, 4), 1, valid_shape=[0, 0])
    assert (first._pypto_valid_shape, second._pypto_valid_shape) == ([0, 0], [0, 0])
    whole = gather(script, [first, second], 1, ([0, 0], [0, 0]))
    assert whole._pypto_valid_shape == [0, 0]


# ---- queues


def test_each_direction_and_id_has_its_own_order(script):
    rt, seen = script["_cross_core_rt"], []

    def tile(value):
        return torch.full((1, 1), float(value))

    def aic():
        for pipe, value in [(0, 1), (1, 2), (0, 3), (7, 4)]:
            rt.push_to_aiv(tile(value), 0, id=pipe)
        seen.append(("aic", [rt.pop_from_aiv(0, id=pipe).item() for pipe in (1, 0)]))

    def aiv():
        for pipe, value in [(0, 10), (1, 20)]:
            rt.push_to_aic(tile(value), 0, id=pipe)
        seen.append(("aiv", [rt.pop_from_aic(0, id=pipe).item() for pipe in (7, 1, 0, 0)]))

    run_group(script, aic, aiv, split=0)
    assert sorted(seen) == [("aic", [20, 10]), ("aiv", [4, 2, 1, 3])]


@pytest.mark.parametrize("split", [0, 1])
def test_a_pushed_tile_is_not_changed_by_later_writes(script, split):
    rt, seen, pushed = script["_cross_core_rt"], {}, threading.Event()

    def aic():
        tile = torch.ones(2, 1)
        rt.push_to_aiv(tile, split)
        tile.fill_(5)
        pushed.set()
        seen["aic"] = rt.pop_from_aiv(split).flatten().tolist()

    def aiv():
        pushed.wait()
        tile = rt.pop_from_aic(split)
        tile += 1 + script["_get_subblock_idx"]()  # must not reach the other lane
        rt.push_to_aic(tile, split)
        tile.fill_(7)

    run_group(script, aic, aiv, split=split, dual_aiv_dispatch=True)
    assert seen["aic"] == ([2, 2] if split == 0 else [2, 3])


@pytest.mark.parametrize("split", [0, 1])
def test_without_copies_both_sides_have_one_storage(script, split):
    rt, tile = script["_cross_core_rt"], torch.zeros(2, 1)
    rt.push_to_aiv(tile, split, copy=False)
    rt.push_to_aiv(tile, split, valid_shape=[1, 1], copy=False)
    whole, part = rt.pop_from_aic(split), rt.pop_from_aic(split)
    tile.fill_(5)
    assert (whole[0].item(), part[0].item()) == (5, 5)
    assert hasattr(part, "_pypto_valid_shape") is (split == 0)  # the half of lane 0 is whole
    assert not hasattr(tile, "_pypto_valid_shape")


def test_a_popped_copy_is_the_lane_s_own_and_keeps_its_region(script):
    rt, tile = script["_cross_core_rt"], torch.zeros(2, 2)
    rt.push_to_aiv(tile, 0, valid_shape=[1, 2], copy=False)
    rt.push_to_aic(tile, 0, valid_shape=[2, 1], copy=False)
    for popped, valid in ((rt.pop_from_aic(0, copy=True), [1, 2]), (rt.pop_from_aiv(0, copy=True), [2, 1])):
        popped.fill_(5)
        assert popped._pypto_valid_shape == valid
    assert tile.tolist() == [[0, 0], [0, 0]]


def test_no_split_with_two_lanes(script):
    """Three round trips: both lanes get each tile, the cube takes pairs and keeps lane 0's."""
    rt = script["_cross_core_rt"]
    popped = {"aic": [], 0: [], 1: []}

    def aic():
        for trip in range(3):
            rt.push_to_aiv(torch.full((2, 2), float(trip)), 0)
            popped["aic"].append(rt.pop_from_aiv(0)[0, 0].item())

    def aiv():
        lane = script["_get_subblock_idx"]()
        for _ in range(3):
            tile = rt.pop_from_aic(0)
            popped[lane].append(tile[0, 0].item())
            rt.push_to_aic(tile + 10 * (lane + 1), 0)
        return f"lane {lane}"

    assert run_group(script, aic, aiv, split=0, dual_aiv_dispatch=True) == "lane 0"
    assert popped == {"aic": [10, 11, 12], 0: [0, 1, 2], 1: [0, 1, 2]}
    assert rt.snapshot() == {
        "no_split_dual_aiv_dispatch": True,
        "to_aic": {0: [0, 0]},
        "to_aiv": {0: [0, 0]},
    }


def test_split_0_beside_a_split_reaches_both_lanes_in_order(script):
    rt, popped = script["_cross_core_rt"], [None, None]

    def aic():
        rt.push_to_aiv(torch.tensor([[1.0], [2.0]]), 1)
        rt.push_to_aiv(torch.tensor([[3.0], [4.0]]), 0)
        rt.push_to_aiv(torch.tensor([[5.0], [6.0], [7.0]]), 3)

    def aiv():
        lane = script["_get_subblock_idx"]()
        popped[lane] = [rt.pop_from_aic(split).flatten().tolist() for split in (1, 0, 3)]

    run_group(script, aic, aiv)
    assert popped == [[[1], [3, 4], [5, 6]], [[2], [3, 4], [7, 0]]]


def test_even_and_odd_code_of_one_axis_may_mix(script):
    tile = torch.arange(6.0).reshape(6, 1)
    parts = push_and_pop(script, tile, 3, valid_shape=[5, 1], pop_split=1)
    assert [script["_region"](part) for part in parts] == [[3, 1], [2, 1]]


@pytest.mark.parametrize("codes", [(1, 2), (4, 3), (2, 0, 3)])
def test_one_pipe_may_carry_one_axis_after_the_other(script, codes):
    """A 4 x 4 tile whose valid part is 3 x 3: the odd codes cut it into 2 and 1."""
    rt, popped = script["_cross_core_rt"], {}
    tile = torch.arange(16.0).reshape(4, 4)

    def aic():
        for code in codes:
            rt.push_to_aiv(tile, code, valid_shape=[3, 3] if code > 2 else None)

    def aiv():
        popped[script["_get_subblock_idx"]()] = [rt.pop_from_aic(code) for code in codes]

    run_group(script, aic, aiv)
    halves = {0: (tile, tile), 1: tile.chunk(2, 0), 2: tile.chunk(2, 1)}
    for lane, parts in popped.items():
        for code, part in zip(codes, parts, strict=True):
            assert torch.equal(part, halves[code - 2 if code > 2 else code][lane])


def test_other_pipes_may_split_other_axes(script):
    rt = script["_cross_core_rt"]

    def aic():
        rt.push_to_aiv(torch.zeros(2, 2), 1)
        rt.push_to_aiv(torch.zeros(2, 2), 2, id=1)
        rt.pop_from_aiv(2)

    def aiv():
        rt.push_to_aic(torch.zeros(2, 2), 2)
        return [*rt.pop_from_aic(1).shape, *rt.pop_from_aic(2, id=1).shape]

    assert run_group(script, aic, aiv) == [1, 2, 2, 1]


@pytest.mark.parametrize(("pushed", "popped"), [(0, 1), (1, 0), (1, 2), (2, 3)])
def test_a_pop_of_another_axis(script, pushed, popped):
    rt = script["_cross_core_rt"]

    def aic():
        rt.push_to_aiv(torch.zeros(2, 2), pushed, id=3)

    with pytest.raises(RuntimeError) as caught:
        run_group(script, aic, lambda: rt.pop_from_aic(popped, id=3))
    assert cause(caught) == (
        f"group 'g': tpop_from_aic(split={popped}) on pipe 3 meets a tile that was pushed with split {pushed}"
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_tfree_has_no_effect(script):
    rt = script["_cross_core_rt"]
    assert rt.tfree_to_aic(split=1, id=2) is None
    assert rt.tfree_to_aiv() is None
    assert rt.snapshot() == {"no_split_dual_aiv_dispatch": False}


# ---- outside a group


def test_one_thread_may_push_and_pop(script):
    rt = script["_cross_core_rt"]
    rt.push_to_aiv(torch.tensor([[1.0], [2.0]]), 1)
    rt.push_to_aic(torch.tensor([[3.0]]), 0)
    assert rt.snapshot() == {
        "no_split_dual_aiv_dispatch": False,
        "to_aic": {0: [1, 0]},
        "to_aiv": {0: [1, 1]},
    }
    assert rt.pop_from_aic(1).tolist() == [[1]]
    assert rt.pop_from_aiv(0).tolist() == [[3]]
    rt.reset(no_split_dual_aiv_dispatch=True)
    assert rt.snapshot() == {"no_split_dual_aiv_dispatch": True}
    rt.push_to_aiv(torch.ones(1, 1), 0)
    assert rt.snapshot()["to_aiv"] == {0: [1, 1]}


def test_threads_of_the_caller_share_pipes(script):
    rt, popped = script["_cross_core_rt"], []
    thread = threading.Thread(target=lambda: popped.append(rt.pop_from_aic(0).item()))
    thread.start()
    rt.push_to_aiv(torch.tensor([[4.0]]), 0)
    thread.join()
    assert popped == [4]


def test_a_pop_that_nobody_serves_times_out():
    script = Script(TOPICS, "def lonely(split):\n    return _cross_core_rt.pop_from_aiv(split, id=2)")
    script["_PIPE_WAIT_TIMEOUT_SEC"] = 0.05
    script["_cross_core_rt"].push_to_aic(torch.ones(1, 1), 1, id=2)
    with pytest.raises(RuntimeError) as caught:
        script["lonely"](1)
    assert str(caught.value) == (
        "outside a group: lane caller timed out (pipe wait timeout 0.05 s) in tpop_from_aiv(split=1, id=2) at"
        f" {script.line('return _cross_core_rt.pop_from_aiv(split, id=2)')};"
        " missing: tpush_to_aic(split=1, id=2) by aiv1; queue depths:"
        " {'no_split_dual_aiv_dispatch': False, 'to_aic': {2: [1, 0]}}"
    )
