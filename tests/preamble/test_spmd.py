"""SPMD launches."""

import threading
import warnings

import pytest
from preamble.rendered import Script


@pytest.fixture
def script():
    return Script(("lanes", "spmd"))


def block(script):
    return script["_get_block_idx"](), script["_get_block_num"]()


def test_blocks_run_in_order_and_the_last_value_counts(script):
    seen = []

    def kernel(first, second):
        seen.append((*block(script), first, second))
        return f"value {script['_get_block_idx']()}"

    assert script["_run_spmd"](3, kernel, "a", "b") == "value 2"
    assert seen == [(0, 3, "a", "b"), (1, 3, "a", "b"), (2, 3, "a", "b")]
    assert block(script) == (0, 1)


def test_no_block(script):
    assert script["_run_spmd"](0, lambda: pytest.fail("a block ran")) is None


def test_a_barrier_of_several_blocks_is_told_to_be_none(script):
    with pytest.warns(RuntimeWarning, match="a barrier of 2 blocks that run one after another"):
        script["_run_spmd"](2, script["_sync_all"])


def test_a_barrier_of_one_block_is_silent(script):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        script["_sync_all"]()
        script["_run_spmd"](1, script["_sync_all"])


def test_negative_core_num(script):
    with pytest.raises(ValueError) as caught:
        script["_run_spmd"](-1, lambda: None)
    assert str(caught.value) == "core_num must be at least 0, not -1"


def test_a_launch_in_a_block_restores_the_block(script):
    seen = []

    def inner():
        seen.append(block(script))

    def outer():
        script["_run_spmd"](2, inner)
        seen.append(block(script))

    script["_run_spmd"](2, outer)
    assert seen == [(0, 2), (1, 2), (0, 2), (0, 2), (1, 2), (1, 2)]


def test_a_failing_block_restores_the_outer_one(script):
    with pytest.raises(ZeroDivisionError):
        script["_run_spmd"](2, lambda: 1 // 0)
    assert block(script) == (0, 1)


def test_launches_on_two_threads_do_not_mix(script):
    meet, seen = threading.Barrier(2), {}

    def kernel(name):
        meet.wait()
        seen.setdefault(name, []).append(block(script))
        meet.wait()

    threads = [
        threading.Thread(target=script["_run_spmd"], args=(2, kernel, "two")),
        threading.Thread(target=lambda: [kernel("none"), kernel("none")]),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"two": [(0, 2), (1, 2)], "none": [(0, 1), (0, 1)]}
