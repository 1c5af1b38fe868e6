"""Vector code on two lanes before it is split into cube and vector functions."""

import threading

import pytest
import torch
from preamble.rendered import Script

TOPICS = ("lanes", "spmd", "tile_split", "split_lanes")


@pytest.fixture
def script():
    return Script(TOPICS)


def run_lanes(script, body, *args):
    """Run a body on two lanes; return the values of both."""
    values = [None, None]

    def function(*args):
        lane = script["_get_subblock_idx"]()
        values[lane] = body(lane, *args)
        return values[lane]

    assert script["_run_split_lanes"](function, *args) is values[0]
    return values


def test_lanes_share_the_arguments(script):
    out = torch.zeros(2)

    def body(lane, out):
        out[lane] = lane + 1
        return out

    assert run_lanes(script, body, out) == [out, out]
    assert out.tolist() == [1, 2]
    assert script["_get_subblock_idx"]() == 0


def test_lanes_are_of_the_block_that_starts_them(script):
    seen = []

    def body(lane):
        seen.append((script["_get_block_idx"](), script["_get_block_num"](), lane))

    script["_run_spmd"](2, lambda: run_lanes(script, body))
    assert sorted(seen) == [(0, 2, 0), (0, 2, 1), (1, 2, 0), (1, 2, 1)]


@pytest.mark.parametrize("enabled", [True, False])
def test_lanes_take_over_the_gradient_mode(script, enabled):
    def body(lane):
        return torch.is_grad_enabled(), torch.is_inference_mode_enabled()

    with torch.set_grad_enabled(enabled):
        assert run_lanes(script, body) == [(enabled, False)] * 2
    with torch.inference_mode():
        assert run_lanes(script, body) == [(False, True)] * 2


@pytest.mark.parametrize(
    ("split", "rows"), [(0, [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]), (1, [[0, 1, 2], [3, 4, 0]])]
)
def test_shard_of_an_odd_tile(script, split, rows):
    """Before the transport code is chosen the mode 1 stands for even and odd extents alike."""
    tile = torch.arange(5.0).reshape(5, 1)
    parts = run_lanes(script, lambda lane: script["_aiv_shard"](tile, split))
    assert [part.flatten().tolist() for part in parts] == rows
    expected = [[5, 1], [5, 1]] if split == 0 else [[3, 1], [2, 1]]
    assert [script["_region"](part) for part in parts] == expected


def test_shard_with_stride_and_valid_rows(script):
    """24 rows, 14 valid, cut at 7: seven valid rows on both lanes, in boxes of 12."""
    tile = torch.arange(24.0).reshape(24, 1)
    parts = run_lanes(script, lambda lane: script["_aiv_shard"](tile, 1, 7, [14, 1]))
    assert [part[:7].flatten().tolist() for part in parts] == [
        [0, 1, 2, 3, 4, 5, 6],
        [7, 8, 9, 10, 11, 12, 13],
    ]
    assert [list(part.shape) for part in parts] == [[12, 1], [12, 1]]
    assert [part._pypto_valid_shape for part in parts] == [[7, 1], [7, 1]]


def test_shard_is_a_copy_and_outside_lanes_that_of_lane_0(script):
    tile = torch.arange(4.0).reshape(4, 1)
    whole, half = script["_aiv_shard"](tile, 0, None, [3, 1]), script["_aiv_shard"](tile, 1)
    tile.zero_()
    assert whole.flatten().tolist() == [0, 1, 2, 3]
    assert whole._pypto_valid_shape == [3, 1]
    assert half.flatten().tolist() == [0, 1]


def test_gather_joins_rows_or_columns(script):
    def body(lane, split):
        return script["_aic_gather"](torch.full((1, 2), lane + 1.0), split)

    assert [whole.tolist() for whole in run_lanes(script, body, 1)] == [[[1, 1], [2, 2]]] * 2
    assert [whole.tolist() for whole in run_lanes(script, body, 2)] == [[[1, 1, 2, 2]]] * 2
    assert [whole.tolist() for whole in run_lanes(script, body, 0)] == [[[1, 1]]] * 2


def test_gathered_tiles_belong_to_one_lane_each(script):
    def body(lane, split):
        part = torch.full((1, 1), lane + 1.0)
        whole = script["_aic_gather"](part, split)
        part.fill_(9)
        whole.add_(10 * lane)
        return whole

    assert [t.tolist() for t in run_lanes(script, body, 1)] == [[[1], [2]], [[11], [12]]]
    assert [t.tolist() for t in run_lanes(script, body, 0)] == [[[1]], [[11]]]


def test_gather_joins_valid_regions(script):
    def body(lane):
        return script["_aic_gather"](torch.ones(4, 2), 1, [4 - 3 * lane, 2])

    assert [whole._pypto_valid_shape for whole in run_lanes(script, body)] == [[5, 2], [5, 2]]


def test_gather_of_split_0_keeps_the_region_of_lane_0(script):
    def body(lane):
        return script["_aic_gather"](torch.ones(4, 2), 0, [3 - lane, 2])

    assert [whole._pypto_valid_shape for whole in run_lanes(script, body)] == [[3, 2], [3, 2]]


def test_gathers_in_a_loop_pair_up(script):
    def body(lane):
        tiles = [script["_aic_gather"](torch.full((1, 1), float(10 * n + lane)), 1) for n in range(50)]
        return [tile.flatten().tolist() for tile in tiles]

    assert run_lanes(script, body) == [[[10 * n, 10 * n + 1] for n in range(50)]] * 2


def test_gather_outside_two_lanes(script):
    with pytest.raises(RuntimeError) as caught:
        script["_aic_gather"](torch.ones(1, 1), 1)
    assert str(caught.value) == ("_aic_gather needs two vector lanes; call it within _run_split_lanes")


def test_gather_has_no_odd_code(script):
    with pytest.raises(ValueError) as caught:
        script["_aic_gather"](torch.ones(1, 1), 3)
    assert str(caught.value) == (
        "_aic_gather(split=3) of a tile of shape [1, 1]: vector lanes reach the cube core by split 0, 1 or 2"
    )


def test_a_store_for_both_lanes_lands_once_and_after_both_have_read(script):
    counter = torch.zeros(1)

    def add_one(tensor):
        tensor += 1
        return tensor

    def body(lane, counter):
        seen = []
        for _ in range(20):
            seen.append(counter.item())
            assert script["_store_once"](add_one, counter) is counter
            seen.append(counter.item())
            # both lanes have read before the next round may add
            script["_aic_gather"](torch.zeros(1, 1), 0)
        return seen

    expected = [value for n in range(20) for value in (n, n + 1)]
    assert run_lanes(script, body, counter) == [expected, expected]
    assert script["_store_once"](add_one, counter).item() == 21


def test_lanes_at_different_operations(script):
    def body(lane):
        if lane:
            script["_aic_gather"](torch.ones(1, 1), 1)
        else:
            script["_store_once"](print)

    with pytest.raises(RuntimeError) as caught:
        script["_run_split_lanes"](lambda: body(script["_get_subblock_idx"]()))
    first, second = "_store_once(print)", "_aic_gather(split=1)"
    at = {0: (first, second), 1: (second, first)}
    group = "split lanes of '<lambda>'"
    assert str(caught.value) in [
        f"{group} lane aiv{lane} failed: RuntimeError: {group}: lane aiv{lane} is at {at[lane][0]},"
        f" but lane aiv{1 - lane} at {at[lane][1]}; both lanes must take the same path"
        for lane in (0, 1)
    ]


def test_a_lane_that_ends_leaves_the_other_waiting_in_vain():
    script = Script(
        TOPICS,
        """
        def body():
            if _get_subblock_idx() == 0:
                _aic_gather(torch.ones(1, 1), 1)
        """,
    )
    with pytest.raises(RuntimeError) as caught:
        script["_run_split_lanes"](script["body"])
    assert str(caught.value) == "\n".join(
        [
            "deadlock in split lanes of 'body': every live lane waits and none can be woken",
            f"  aiv0: _aic_gather(split=1) at {script.line('_aic_gather(torch.ones(1, 1), 1)')};"
            " missing: the same call on lane aiv1",
            "  aiv1: finished",
            "  queue depths: {'no_split_dual_aiv_dispatch': False, 'exchange': {0: [0, 1]}}",
        ]
    )


def test_a_failing_lane_cancels_the_other(script):
    def body(lane):
        if lane:
            raise KeyError("lost")
        script["_aic_gather"](torch.ones(1, 1), 1)

    before = threading.active_count()
    with pytest.raises(RuntimeError) as caught:
        run_lanes(script, body)
    assert str(caught.value) == ("split lanes of 'function' lane aiv1 failed: KeyError: 'lost'")
    assert isinstance(caught.value.__cause__, KeyError)
    assert threading.active_count() == before
