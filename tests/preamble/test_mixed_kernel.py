"""Groups: lanes, values, groups in groups."""

import threading

import pytest
import torch
from preamble.groups import TOPICS, run_group
from preamble.rendered import Script


@pytest.fixture
def script():
    return Script(TOPICS)


@pytest.fixture(autouse=True)
def no_thread_survives():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


# ---- lanes and values


@pytest.mark.parametrize(
    ("split", "dual", "lanes"),
    [
        (0, False, [0]),
        (None, False, [0]),
        (0, True, [0, 1]),
        (1, False, [0, 1]),
        (2, True, [0, 1]),
        (3, False, [0, 1]),
        (4, False, [0, 1]),
    ],
)
def test_number_of_lanes(script, split, dual, lanes):
    seen = []

    def aic(a, b):
        seen.append(("aic", script["_get_subblock_idx"](), a, b))

    def aiv(a, b):
        seen.append(("aiv", script["_get_subblock_idx"](), a, b))

    assert run_group(script, aic, aiv, 1, 2, split=split, dual_aiv_dispatch=dual) is None
    assert sorted(seen) == [("aic", 0, 1, 2), *(("aiv", lane, 1, 2) for lane in lanes)]


@pytest.mark.parametrize(("split", "dual", "mode"), [(0, True, True), (0, False, False), (1, True, False)])
def test_dispatch_mode(script, split, dual, mode):
    snapshots = []

    def aic():
        snapshots.append(script["_cross_core_rt"].snapshot()["no_split_dual_aiv_dispatch"])

    run_group(script, aic, lambda: None, split=split, dual_aiv_dispatch=dual)
    assert snapshots == [mode]


def test_group_call_by_name(script):
    script["fused_aic"] = lambda x: None
    script["fused_aiv"] = lambda x: x + 1
    script["_GROUP_META"].update(
        {
            "fused": {
                "aic": "fused_aic",
                "aiv": "fused_aiv",
                "split": 0,
                "dual_aiv_dispatch": False,
                "lane1_writes": True,
            }
        }
    )
    assert script["_run_group_call"]("fused", 41) == 42


def test_unknown_group(script):
    script["_GROUP_META"].update({"one": {}, "another": {}})
    with pytest.raises(ValueError) as caught:
        script["_run_group_call"]("fused")
    assert str(caught.value) == "no group 'fused' in this script; groups: ['another', 'one']"


def test_unknown_member(script):
    meta = {"aic": "fused_aic", "aiv": None, "split": 0, "dual_aiv_dispatch": False}
    with pytest.raises(RuntimeError) as caught:
        script["_run_mixed_kernels"]("fused", meta)
    assert str(caught.value) == "group 'fused': this script has no function 'fused_aic'"


def test_group_without_members(script):
    meta = {"aic": None, "aiv": None, "split": 0, "dual_aiv_dispatch": False}
    with pytest.raises(ValueError) as caught:
        script["_run_mixed_kernels"]("fused", meta)
    assert str(caught.value) == "group 'fused' has neither an AIC nor an AIV member"


def test_members_with_arguments_of_their_own(script):
    seen = []
    run_group(
        script,
        lambda *args: seen.append(("aic", args)),
        lambda *args: seen.append(("aiv", args)),
        1,
        2,
        aiv_args=(3,),
        split=0,
    )
    assert sorted(seen) == [("aic", (1, 2)), ("aiv", (3,))]


def test_groups_of_one_member(script):
    assert run_group(script, None, lambda x: x + script["_get_subblock_idx"](), 5) == 5
    assert run_group(script, lambda x: x + 1, None, 5) == 6


def test_the_value_is_that_of_lane_0(script):
    value = run_group(script, lambda: "aic", lambda: f"lane {script['_get_subblock_idx']()}")
    assert value == "lane 0"


@pytest.mark.parametrize(
    ("aic", "lane1", "who"), [("x", None, "aic"), (None, "x", "aiv1"), ("x", "x", "aic and aiv1")]
)
def test_a_value_that_is_not_from_lane_0(script, aic, lane1, who):
    with pytest.raises(RuntimeError) as caught:
        run_group(script, lambda: aic, lambda: lane1 if script["_get_subblock_idx"]() else None)
    assert str(caught.value) == (
        f"group 'g': only AIV lane 0 may return a value; it returned none, {who} did"
    )


def test_a_lane_may_run_for_its_pipe_traffic_alone(script):
    seen, rt = [], script["_cross_core_rt"]

    def aic():
        seen.append(("aic", script["_writes_land"]()))
        seen.append(("popped", rt.pop_from_aiv(0).item()))

    def aiv():
        lane = script["_get_subblock_idx"]()
        seen.append((f"aiv{lane}", script["_writes_land"]()))
        rt.push_to_aic(torch.tensor([[float(lane)]]), 0)

    run_group(script, aic, aiv, split=0, dual_aiv_dispatch=True, lane1_writes=False)
    assert sorted(seen) == [("aic", True), ("aiv0", True), ("aiv1", False), ("popped", 0)]
    seen.clear()
    run_group(script, aic, aiv, split=0, dual_aiv_dispatch=True, lane1_writes=True)
    assert sorted(seen) == [("aic", True), ("aiv0", True), ("aiv1", True), ("popped", 0)]
    assert script["_writes_land"]()


def test_lanes_are_of_the_block_that_starts_them(script):
    seen = []

    def member():
        seen.append((script["_get_block_idx"](), script["_get_block_num"]()))

    script["_run_spmd"](2, lambda: run_group(script, member, member, split=0))
    assert sorted(seen) == [(0, 2), (0, 2), (1, 2), (1, 2)]


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_lanes_take_over_the_gradient_mode(script, mode):
    seen = []

    def member():
        seen.append((torch.is_grad_enabled(), torch.is_inference_mode_enabled()))

    with mode():
        here = (torch.is_grad_enabled(), torch.is_inference_mode_enabled())
        run_group(script, member, member, split=0)
    assert seen == [here, here]


# ---- nested and concurrent calls


def test_a_group_call_in_a_lane_has_pipes_of_its_own(script):
    rt, seen = script["_cross_core_rt"], []
    script["inner_aic"] = lambda: rt.push_to_aiv(torch.tensor([[2.0]]), 0)
    script["inner_aiv"] = lambda: rt.pop_from_aic(0).item()
    script["_GROUP_META"]["inner"] = {
        "aic": "inner_aic",
        "aiv": "inner_aiv",
        "split": 0,
        "dual_aiv_dispatch": False,
    }

    def aic():
        rt.push_to_aiv(torch.tensor([[1.0]]), 0)

    def aiv():
        seen.append(script["_run_group_call"]("inner"))
        seen.append(rt.pop_from_aic(0).item())

    run_group(script, aic, aiv, split=0)
    assert seen == [2, 1]


def test_a_failure_ends_inner_groups_too(script):
    inner_runs = threading.Event()

    def wait_for_ever():
        inner_runs.set()
        script["_cross_core_rt"].pop_from_aic(0)

    def spin():
        while True:
            pass

    script.namespace.update(wait_for_ever=wait_for_ever, spin=spin)
    script["_GROUP_META"]["inner"] = {
        "aic": "spin",
        "aiv": "wait_for_ever",
        "split": 0,
        "dual_aiv_dispatch": False,
    }

    def aic():
        inner_runs.wait()
        raise ValueError("outer")

    with pytest.raises(RuntimeError) as caught:
        run_group(script, aic, lambda: script["_run_group_call"]("inner"), split=0)
    assert str(caught.value) == "group 'g' lane aic failed: ValueError: outer"


def test_an_inner_failure_is_the_outer_lanes(script):
    def boom():
        raise ValueError("inner")

    script["boom"] = boom
    script["_GROUP_META"]["inner"] = {
        "aic": "boom",
        "aiv": None,
        "split": 0,
        "dual_aiv_dispatch": False,
    }
    with pytest.raises(RuntimeError) as caught:
        run_group(script, lambda: script["_run_group_call"]("inner"), lambda: None, split=0)
    assert str(caught.value) == (
        "group 'g' lane aic failed: RuntimeError: group 'inner' lane aic failed: ValueError: inner"
    )


def test_two_threads_may_run_one_script(script):
    rt, meet, values = script["_cross_core_rt"], threading.Barrier(4), {}

    def aic(n):
        meet.wait()
        for trip in range(20):
            rt.push_to_aiv(torch.tensor([[float(100 * n + trip)]]), 0)

    def aiv(n):
        meet.wait()
        return [rt.pop_from_aic(0).item() for _ in range(20)]

    def call(n):
        values[n] = run_group(script, aic, aiv, n, split=0)

    threads = [threading.Thread(target=call, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == {n: [100 * n + trip for trip in range(20)] for n in (1, 2)}
