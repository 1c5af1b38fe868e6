"""Groups that fail: the first error, deadlocks, timeouts; no thread is left."""

import threading
import time
import traceback

import pytest
import torch
from preamble.groups import TOPICS, run_group, scripted
from preamble.rendered import Script


@pytest.fixture
def script():
    return Script(TOPICS)


@pytest.fixture(autouse=True)
def no_thread_survives():
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) == before


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
    """No timeout is waited for: here they are of an hour."""
    script = scripted(MISSING_PUSH)
    script["_PIPE_WAIT_TIMEOUT_SEC"] = script["_MIXED_KERNEL_TIMEOUT_SEC"] = 3600
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
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
            while True: time.sleep(0.01)


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


def timing_out_when(script, holds):
    """Let the time of a group be over as soon as ``holds(group)``; a list for the times it had."""
    waits = []

    class HurriedGroup(script["_LaneGroup"]):
        def __init__(self, *args):
            super().__init__(*args)
            self.ended.wait = self.wait

        def wait(self, timeout):
            waits.append(timeout)
            while not holds(self):
                time.sleep(0.01)
            return False

    script["_LaneGroup"] = HurriedGroup
    return waits


def test_a_group_timeout_names_live_threads_and_ends_them():
    script = scripted("""
        def g_aic():
            while True: rounds.add(1)


        def g_aiv():
            if _get_subblock_idx() == 0:
                return _cross_core_rt.pop_from_aic(1)
        """)
    rounds = script["rounds"] = set()
    script["_MIXED_KERNEL_TIMEOUT_SEC"] = 60
    waits = timing_out_when(script, lambda group: rounds and group.live == {"aic", "aiv0"} and group.waits)
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    assert waits == [60]
    assert str(caught.value) == "\n".join(
        [
            "group 'g' timed out (group timeout 60 s); alive threads: group 'g' aic, group 'g' aiv0",
            f"  aic: running at {script.line('while True: rounds.add(1)')}",
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
    meeting = threading.Barrier(2)
    timing_out_when(script, lambda group: meeting.n_waiting)
    with pytest.raises(RuntimeError) as caught:
        run_group(script, meeting.wait, lambda: None, split=0)
    assert caught.value.__notes__ == ["could not be stopped: group 'g' aic"]
    meeting.wait()
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
