"""Groups: lanes, values, failures, deadlocks and timeouts."""

import threading
import time
import traceback

import pytest
import torch
from preamble.rendered import Script

pytestmark = pytest.mark.timeout(20)

TOPICS = ("lanes", "spmd", "tile_split", "cross_core", "mixed_kernel")


@pytest.fixture
def script():
    return Script(TOPICS)


@pytest.fixture(autouse=True)
def no_thread_survives():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


def run_group(script, aic, aiv, *args, aiv_args=None, **meta):
    """Run functions as the group "g", with split 1 unless `meta` says otherwise."""
    script["aic"], script["aiv"] = aic, aiv
    members = {"aic": aic and "aic", "aiv": aiv and "aiv"}
    meta = {**members, "split": 1, "dual_aiv_dispatch": False, **meta}
    return script["_run_mixed_kernels"]("g", meta, *args, aiv_args=aiv_args)


def scripted(body):
    """A script with a group "g" of the functions g_aic and g_aiv in `body`, split 1."""
    script = Script(TOPICS, body)
    script["_GROUP_META"].update(
        {"g": {"aic": "g_aic", "aiv": "g_aiv", "split": 1, "dual_aiv_dispatch": False}}
    )
    return script


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


# ---- failures


def test_a_failing_lane_is_named_and_its_traceback_kept():
    script = scripted("""
        def g_aic(x):
            return _cross_core_rt.pop_from_aiv(1)


        def g_aiv(x):
            if _get_subblock_idx() == 1:
                return x[5]
            _cross_core_rt.push_to_aic(torch.ones(1, 1), 1)
        """)
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g", [])
    assert str(caught.value) == "group 'g' lane aiv1 failed: IndexError: list index out of range"
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert (frames[-1].name, frames[-1].line) == ("g_aiv", "return x[5]")


def test_the_first_failure_counts_and_the_next_call_starts_clean(script):
    rt, failed = script["_cross_core_rt"], threading.Event()

    def aic(fail):
        rt.push_to_aiv(torch.tensor([[1.0 + fail], [0.0]]), 1)
        if fail:
            try:
                rt.pop_from_aiv(1)
            finally:
                failed.wait()

    def aiv(fail):
        if fail:
            failed.set()
            raise ValueError(f"lane {script['_get_subblock_idx']()}")
        return rt.pop_from_aic(1).item()

    for _ in range(3):
        with pytest.raises(RuntimeError) as caught:
            run_group(script, aic, aiv, True)
        assert str(caught.value) in [
            f"group 'g' lane aiv{lane} failed: ValueError: lane {lane}" for lane in (0, 1)
        ]
        assert run_group(script, aic, aiv, False) == 1


def test_a_failure_ends_lanes_that_wait_push_or_compute(script):
    rt = script["_cross_core_rt"]
    started = threading.Barrier(3)

    def aic():
        started.wait()
        while True:
            rt.push_to_aiv(torch.zeros(2, 1), 1)

    def aiv():
        started.wait()
        if script["_get_subblock_idx"]() == 1:
            raise ValueError("stop")
        while True:
            pass

    with pytest.raises(RuntimeError) as caught:
        run_group(script, aic, aiv)
    assert str(caught.value) == "group 'g' lane aiv1 failed: ValueError: stop"


def test_an_exit_in_a_lane_is_a_failure(script):
    def aic():
        raise SystemExit(3)

    with pytest.raises(RuntimeError) as caught:
        run_group(script, aic, lambda: None, split=0)
    assert str(caught.value) == "group 'g' lane aic failed: SystemExit: 3"


# ---- deadlocks


MISSING_PUSH = """
    def g_aic():
        first = _cross_core_rt.pop_from_aiv(1)
        second = _cross_core_rt.pop_from_aiv(
            1, id=4
        )


    def g_aiv():
        _cross_core_rt.push_to_aic(torch.ones(1, 1), 1)
        if _get_subblock_idx() == 0:
            _cross_core_rt.push_to_aic(torch.ones(1, 1), 1, id=4)
            half = _cross_core_rt.pop_from_aic(1)
    """


def test_a_deadlock_is_reported_at_once():
    script = scripted(MISSING_PUSH)
    start = time.monotonic()
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    assert time.monotonic() - start < 5
    assert str(caught.value) == "\n".join(
        [
            "deadlock in group 'g': every live lane waits and none can be woken",
            f"  aic: tpop_from_aiv(split=1, id=4) at {script.line('second = _cross_core_rt.pop_from_aiv(')};"
            " missing: tpush_to_aic(split=1, id=4) by aiv1",
            f"  aiv0: tpop_from_aic(split=1, id=0) at {script.line('half = _cross_core_rt.pop_from_aic(1)')};"
            " missing: tpush_to_aiv(split=1, id=0) by aic",
            "  aiv1: finished",
            "  queue depths: {'no_split_dual_aiv_dispatch': False,"
            " 'to_aic': {0: [0, 0], 4: [1, 0]}, 'to_aiv': {0: [0, 0]}}",
        ]
    )


def test_a_deadlock_of_lines_that_are_not_on_file(script):
    code = compile("def member():\n    _cross_core_rt.pop_from_aiv(0)", "<unknown>", "exec")
    exec(code, script.namespace)
    with pytest.raises(RuntimeError) as caught:
        run_group(script, script["member"], None, split=0)
    assert "aic: tpop_from_aiv(split=0, id=0) at <unknown>:2; missing: tpush_to_aic" in str(caught.value)


@pytest.mark.parametrize("trips", [1, 50])
def test_a_deadlock_in_mid_stream(script, trips):
    """One pop too many after many round trips; every wait before it was in order."""
    rt = script["_cross_core_rt"]

    def aic():
        for _ in range(trips):
            rt.push_to_aiv(rt.pop_from_aiv(1), 1)
        rt.pop_from_aiv(1)

    def aiv():
        for _ in range(trips):
            rt.push_to_aic(torch.ones(1, 1), 1)
            rt.pop_from_aic(1)

    with pytest.raises(RuntimeError, match="missing: tpush_to_aic.split=1, id=0. by aiv0 and aiv1"):
        run_group(script, aic, aiv)


def test_a_busy_lane_is_no_deadlock(script):
    rt = script["_cross_core_rt"]

    def aic():
        time.sleep(0.3)
        rt.push_to_aiv(torch.tensor([[1.0], [2.0]]), 1)

    assert run_group(script, aic, lambda: rt.pop_from_aic(1).item()) == 1


# ---- timeouts


def test_a_pipe_timeout_fails_the_lane():
    script = scripted("""
        def g_aic():
            time.sleep(0.5)


        def g_aiv():
            return _cross_core_rt.pop_from_aic(3)
        """)
    script["_PIPE_WAIT_TIMEOUT_SEC"] = 0.05
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    reason = [
        f"group 'g': lane aiv{lane} timed out (pipe wait timeout 0.05 s) in tpop_from_aic(split=3, id=0) at"
        f" {script.line('return _cross_core_rt.pop_from_aic(3)')};"
        " missing: tpush_to_aiv(split=3, id=0) by aic; queue depths:"
        " {'no_split_dual_aiv_dispatch': False, 'to_aiv': {0: [0, 0]}}"
        for lane in (0, 1)
    ]
    assert str(caught.value.__cause__) in reason
    assert str(caught.value) in [
        f"group 'g' lane aiv{lane} failed: RuntimeError: {text}" for lane, text in enumerate(reason)
    ]


def test_a_group_timeout_names_live_threads_and_ends_them():
    script = scripted("""
        def g_aic():
            while True: pass


        def g_aiv():
            if _get_subblock_idx() == 0:
                return _cross_core_rt.pop_from_aic(1)
        """)
    script["_MIXED_KERNEL_TIMEOUT_SEC"] = 0.1
    start = time.monotonic()
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    assert time.monotonic() - start < 5
    assert str(caught.value) == "\n".join(
        [
            "group 'g' timed out (group timeout 0.1 s); alive threads: group 'g' aic, group 'g' aiv0",
            f"  aic: running at {script.line('while True: pass')}",
            "  aiv0: tpop_from_aic(split=1, id=0) at"
            f" {script.line('return _cross_core_rt.pop_from_aic(1)')};"
            " missing: tpush_to_aiv(split=1, id=0) by aic",
            "  aiv1: finished",
            "  queue depths: {'no_split_dual_aiv_dispatch': False, 'to_aiv': {0: [0, 0]}}",
        ]
    )


def test_a_lane_in_a_long_call_is_named(script):
    """Nothing can end a lane inside one call; the error says so, and it ends after the call."""
    script["_MIXED_KERNEL_TIMEOUT_SEC"] = 0.1
    release = threading.Event()
    with pytest.raises(RuntimeError) as caught:
        run_group(script, lambda: release.wait(), lambda: None, split=0)
    assert caught.value.__notes__ == ["could not be stopped: group 'g' aic"]
    release.set()
    for thread in threading.enumerate():
        if thread.name == "group 'g' aic":
            thread.join()


def test_an_interrupt_from_the_keyboard_ends_the_lanes(script):
    class InterruptedGroup(script["_LaneGroup"]):
        def __init__(self, *args):
            super().__init__(*args)
            self.ended.wait = self.interrupt

        def interrupt(self, timeout):
            raise KeyboardInterrupt

    script["_LaneGroup"] = InterruptedGroup
    with pytest.raises(KeyboardInterrupt):
        run_group(script, lambda: script["_cross_core_rt"].pop_from_aiv(0), lambda: time.sleep(0.1), split=0)
