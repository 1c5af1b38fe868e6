"""Options of the cross-core run-time: timeouts, bounded pipes, left tiles, drawn schedules."""

import warnings

import pytest
import torch
from preamble.rendered import Script

TOPICS = ("lanes", "spmd", "tile_split", "split_lanes", "cross_core", "mixed_kernel")


@pytest.fixture
def script():
    return Script(TOPICS, switchable=True)


def run_group(script, aic, aiv, *args, **meta):
    """Run functions as the group "g", without a split unless `meta` says otherwise."""
    script["aic"], script["aiv"] = aic, aiv
    meta = {"aic": "aic", "aiv": "aiv", "split": 0, "dual_aiv_dispatch": False, **meta}
    return script["_run_mixed_kernels"]("g", meta, *args)


def bounded(body, split=0):
    """A script with bounded pipes and a group "g" of the functions g_aic and g_aiv in `body`."""
    script = Script(TOPICS, body, switchable=True)
    script["_BOUNDED_PIPES"] = True
    script["_GROUP_META"].update(
        {"g": {"aic": "g_aic", "aiv": "g_aiv", "split": split, "dual_aiv_dispatch": False}}
    )
    return script


# ---- bounded pipes

THREE_PUSHES = """
    def g_aic():
        _cross_core_rt.initialize_pipe("aic", 1, 2)
        for n in range(3):
            _cross_core_rt.push_to_aiv(torch.ones(1, 1), 0)
        _cross_core_rt.push_to_aiv(torch.ones(1, 1), 0, id=1)


    def g_aiv():
        _cross_core_rt.initialize_pipe("aiv", 1, 2)
        last = _cross_core_rt.pop_from_aic(0, id=1)
        for n in range(3):
            tile = _cross_core_rt.pop_from_aic(0)
            _cross_core_rt.tfree_to_aic(split=0)
        return tile.item()
    """


def test_a_fast_producer_needs_more_slots_than_there_are():
    """Three pushes before the first pop: fine without bounds, a deadlock with two slots."""
    script = bounded(THREE_PUSHES)
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    push = script.line("_cross_core_rt.push_to_aiv(torch.ones(1, 1), 0)")
    pop = script.line("last = _cross_core_rt.pop_from_aic(0, id=1)")
    assert str(caught.value) == "\n".join(
        [
            "deadlock in group 'g': every live lane waits and none can be woken",
            f"  aic: push blocked: tpush_to_aiv(split=0, id=0) at {push};"
            " missing: tfree_to_aic(id=0) of a tile of aiv0 (2 queued, 0 popped, of 2 slots)",
            f"  aiv0: tpop_from_aic(split=0, id=1) at {pop}; missing: tpush_to_aiv(split=0, id=1) by aic",
            "  queue depths: {'no_split_dual_aiv_dispatch': False, 'to_aiv': {0: [2, 0], 1: [0, 0]},"
            " 'to_aiv unreleased': {0: [0, 0]}}",
        ]
    )
    script["_BOUNDED_PIPES"] = False
    assert script["_run_group_call"]("g") == 1


MISSING_TFREE = """
    def g_aic():
        _cross_core_rt.initialize_pipe("aic", 3, 2)
        for n in range(4):
            whole = _cross_core_rt.pop_from_aiv(1)
            _cross_core_rt.tfree_to_aiv(split=1)
            _cross_core_rt.push_to_aiv(whole, 1)


    def g_aiv():
        _cross_core_rt.initialize_pipe("aiv", 3, 2)
        for n in range(4):
            _cross_core_rt.push_to_aic(torch.ones(1, 1), 1)
            half = _cross_core_rt.pop_from_aic(1)
            if _get_subblock_idx() == 0:
                _cross_core_rt.tfree_to_aic(split=1)
    """


def test_a_missing_tfree_blocks_a_push():
    """Lane 1 never frees its two slots, so the third push of the cube finds none."""
    script = bounded(MISSING_TFREE, split=1)
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    push = script.line("_cross_core_rt.push_to_aiv(whole, 1)")
    assert (
        f"  aic: push blocked: tpush_to_aiv(split=1, id=0) at {push};"
        " missing: tfree_to_aic(id=0) of a tile of aiv1 (0 queued, 2 popped, of 2 slots)\n"
    ) in str(caught.value)


def test_a_vector_lane_waits_for_the_cube_to_free():
    script = bounded(
        """
        def g_aic():
            _cross_core_rt.initialize_pipe("aic", 2, 1)
            _cross_core_rt.pop_from_aiv(1)
            _cross_core_rt.pop_from_aiv(1)


        def g_aiv():
            _cross_core_rt.initialize_pipe("aiv", 2, 1)
            _cross_core_rt.push_to_aic(torch.ones(1, 1), 1)
            if _get_subblock_idx() == 0:
                _cross_core_rt.push_to_aic(torch.ones(1, 1), 1, id=0)
        """,
        split=1,
    )
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    push = script.line("_cross_core_rt.push_to_aic(torch.ones(1, 1), 1, id=0)")
    assert (
        f"  aiv0: push blocked: tpush_to_aic(split=1, id=0) at {push};"
        " missing: tfree_to_aiv(id=0) of a tile of aiv0 (0 queued, 1 popped, of 1 slots)\n"
    ) in str(caught.value)


@pytest.mark.parametrize("split", [0, 1, 2])
def test_kernels_that_free_run_with_one_slot(script, split):
    """Many round trips through one slot a direction give what unbounded pipes give."""
    rt, sums = script["_cross_core_rt"], []

    def aic():
        rt.initialize_pipe("aic", 3, 1, 1)
        for trip in range(30):
            rt.push_to_aiv(torch.full((2, 2), float(trip)), split)
            whole = rt.pop_from_aiv(split)
            sums.append(whole.sum().item())
            rt.tfree_to_aiv(split=split)

    def aiv():
        rt.initialize_pipe("aiv", 3, 1, 1)
        for _ in range(30):
            part = rt.pop_from_aic(split)
            rt.push_to_aic(part * 2, split)
            rt.tfree_to_aic(split=split)

    for enabled in (False, True):
        script["_BOUNDED_PIPES"] = enabled
        run_group(script, aic, aiv, split=split, dual_aiv_dispatch=True)
        assert sums == [8.0 * trip for trip in range(30)]
        sums.clear()


def test_local_slots_limit_what_the_consumer_holds():
    script = bounded("""
        def g_aic():
            _cross_core_rt.initialize_pipe("aic", 1, 4, 9)
            for n in range(2):
                _cross_core_rt.push_to_aiv(torch.ones(1, 1), 0)


        def g_aiv():
            _cross_core_rt.initialize_pipe("aiv", 1, 4, 1)
            first = _cross_core_rt.pop_from_aic(0)
            second = _cross_core_rt.pop_from_aic(0, id=0)
        """)
    with pytest.raises(RuntimeError) as caught:
        script["_run_group_call"]("g")
    pop = script.line("second = _cross_core_rt.pop_from_aic(0, id=0)")
    assert str(caught.value).splitlines()[2] == (
        f"  aiv0: pop blocked: tpop_from_aic(split=0, id=0) at {pop};"
        " missing: tfree_to_aic(id=0) of a tile of aiv0 (1 queued, 1 popped, of 4 slots)"
    )


def test_a_pipe_without_declaration_has_no_bounds(script):
    rt = script["_cross_core_rt"]
    script["_BOUNDED_PIPES"] = True
    rt.initialize_pipe("aic", 2, 1)  # the other direction
    rt.initialize_pipe("aic", 1)  # no number of slots
    for _ in range(5):
        rt.push_to_aiv(torch.ones(1, 1), 0)
    rt.tfree_to_aic()
    assert rt.snapshot()["to_aiv"] == {0: [5, 0]}


def test_a_tfree_without_a_tile(script):
    rt = script["_cross_core_rt"]
    script["_BOUNDED_PIPES"] = True
    rt.initialize_pipe("aic", 1, 2, id=3)
    with pytest.raises(RuntimeError) as caught:
        rt.tfree_to_aic(split=0, id=3)
    assert str(caught.value) == (
        "outside a group: pipe 3 to_aiv: tfree_to_aic(id=3) without a popped tile to release"
    )


@pytest.mark.parametrize(
    ("slots", "text"),
    [
        ((0, None), "with 0 slots (local: None)"),
        ((2, 0), "with 2 slots (local: 0)"),
        ((4, None), "with 2 slots and with 4"),
    ],
)
def test_declarations_that_cannot_be(script, slots, text):
    rt = script["_cross_core_rt"]
    script["_BOUNDED_PIPES"] = True
    rt.initialize_pipe("aic", 1, 2)
    with pytest.raises(ValueError) as caught:
        rt.initialize_pipe("aiv", 1, *slots)
    assert str(caught.value) == f"outside a group: pipe 0 to_aiv {text}"


# ---- left tiles


def leave_a_tile(script):
    rt = script["_cross_core_rt"]
    return run_group(script, lambda: rt.push_to_aiv(torch.ones(1, 1), 0, id=5), lambda: "value")


LEFT = (
    "group 'g' ended with tiles left in its pipes:"
    " {'no_split_dual_aiv_dispatch': False, 'to_aiv': {5: [1, 0]}}"
)


def test_tiles_left_in_a_pipe_are_a_warning(script):
    with pytest.warns(RuntimeWarning) as caught:
        assert leave_a_tile(script) == "value"
    assert [str(warning.message) for warning in caught] == [LEFT]
    assert script["_cross_core_rt"].snapshot()["to_aiv"] == {5: [1, 0]}


def test_tiles_left_in_a_pipe_are_an_error_in_strict_mode(script):
    script["_STRICT_LEFTOVERS"] = True
    with pytest.raises(RuntimeError) as caught:
        leave_a_tile(script)
    assert str(caught.value) == LEFT


def test_a_tile_that_was_not_released_is_left(script):
    rt = script["_cross_core_rt"]
    script["_BOUNDED_PIPES"] = True

    def aic():
        rt.initialize_pipe("aic", 1, 2)
        rt.push_to_aiv(torch.ones(1, 1), 0)

    with pytest.warns(RuntimeWarning, match=r"'to_aiv unreleased': \{0: \[1, 0\]\}"):
        run_group(script, aic, lambda: rt.pop_from_aic(0).item())


def test_empty_pipes_are_no_warning(script):
    rt = script["_cross_core_rt"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_group(script, lambda: rt.push_to_aiv(torch.ones(1, 1), 0), lambda: rt.pop_from_aic(0).item())


# ---- drawn schedules


def round_trips(script, seed, trips=3):
    """What the cube pops in some round trips with two lanes, and the order of the operations."""
    rt, popped = script["_cross_core_rt"], []
    script["_SCHEDULE_SEED"] = seed

    def aic():
        for trip in range(trips):
            rt.push_to_aiv(torch.tensor([[1.0 + trip], [10.0 * trip]]), 1)
        for _ in range(trips):
            popped.append(rt.pop_from_aiv(1).flatten().tolist())

    def aiv():
        for _ in range(trips):
            rt.push_to_aic(rt.pop_from_aic(1) + 1, 1)

    run_group(script, aic, aiv, split=1)
    return popped, rt.interleaving()


def test_every_schedule_gives_the_same_values(script):
    expected = [[2, 1], [3, 11], [4, 21]]
    orders = set()
    for seed in range(20):
        popped, order = round_trips(script, seed)
        assert popped == expected
        orders.add(tuple(order))
    assert len(orders) > 10
    assert round_trips(script, None) == (expected, [])


def test_one_seed_gives_one_order_of_all_operations(script):
    first, again = round_trips(script, 7)[1], round_trips(Script(TOPICS, switchable=True), 7)[1]
    assert first == again
    assert [step for step in first if step[0] == "aic"] == (
        [("aic", "tpush_to_aiv")] * 3 + [("aic", "tpop_from_aiv")] * 3
    )
    for lane in ("aiv0", "aiv1"):
        steps = [operation for name, operation in first if name == lane]
        assert steps == ["tpop_from_aic", "tpush_to_aic"] * 3


def test_lanes_that_share_memory_are_reproducible_too(script):
    """Under a seed only one lane runs at a time, so even a race has one outcome."""
    rt = script["_cross_core_rt"]

    def outcome(seed):
        script["_SCHEDULE_SEED"], trace = seed, []

        def member():
            for _ in range(5):
                trace.append(script["_lane_context"].lane_name)
                rt.push_to_aic(torch.ones(1, 1), 0, id=1)
                trace.append(script["_lane_context"].lane_name)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run_group(script, member, member)
        return trace

    assert all(outcome(seed) == outcome(seed) for seed in range(10))


@pytest.mark.parametrize("seed", range(5))
def test_deadlocks_are_found_under_a_schedule(script, seed):
    rt = script["_cross_core_rt"]
    script["_SCHEDULE_SEED"] = seed

    def aic():
        rt.push_to_aiv(torch.ones(2, 1), 1)
        rt.pop_from_aiv(1)

    with pytest.raises(RuntimeError, match="missing: tpush_to_aic.split=1, id=0. by aiv0 and aiv1"):
        run_group(script, aic, lambda: rt.pop_from_aic(1).item(), split=1)
    assert sorted(rt.interleaving()) == [
        ("aic", "tpop_from_aiv"),
        ("aic", "tpush_to_aiv"),
        ("aiv0", "tpop_from_aic"),
        ("aiv1", "tpop_from_aic"),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_failures_are_raised_under_a_schedule(script, seed):
    rt = script["_cross_core_rt"]
    script["_SCHEDULE_SEED"] = seed

    def aiv():
        rt.push_to_aic(torch.ones(1, 1), 1)
        if script["_get_subblock_idx"]():
            raise ValueError("stop")
        rt.pop_from_aic(1)

    with pytest.raises(RuntimeError) as caught:
        run_group(script, lambda: (rt.pop_from_aiv(1), rt.pop_from_aiv(1)), aiv, split=1)
    assert str(caught.value) == "group 'g' lane aiv1 failed: ValueError: stop"


@pytest.mark.parametrize("seed", range(5))
def test_bounded_pipes_under_a_schedule(script, seed):
    rt = script["_cross_core_rt"]
    script["_SCHEDULE_SEED"], script["_BOUNDED_PIPES"] = seed, True

    def aic():
        rt.initialize_pipe("aic", 1, 2)
        for n in range(10):
            rt.push_to_aiv(torch.tensor([[float(n)]]), 0)

    def aiv():
        rt.initialize_pipe("aiv", 1, 2)
        values = []
        for _ in range(10):
            values.append(rt.pop_from_aic(0).item())
            rt.tfree_to_aic()
        return values

    assert run_group(script, aic, aiv) == list(range(10))


@pytest.mark.parametrize("seed", range(5))
def test_split_lanes_under_a_schedule(script, seed):
    script["_SCHEDULE_SEED"] = seed

    def body():
        lane = script["_get_subblock_idx"]()
        wholes = [script["_aic_gather"](torch.full((1, 1), 10.0 * n + lane), 1) for n in range(4)]
        return [whole.flatten().tolist() for whole in wholes]

    assert script["_run_split_lanes"](body) == [[10 * n, 10 * n + 1] for n in range(4)]
