"""The race check: accesses of two lanes to the same cells that no pipe transfer orders."""

import re
import subprocess
import sys
import warnings

import pytest
import torch
from preamble.rendered import Script

TOPICS = ("lanes", "spmd", "regions", "tile_split", "split_lanes", "cross_core", "mixed_kernel")


def checked(body, split=0, dual=False, lane1_writes=True, topics=TOPICS):
    """A script with the race check on and a group "g" of the functions g_aic and g_aiv in `body`."""
    script = Script(topics, body, switchable=True)
    script["_RACE_CHECK"] = True
    meta = {"aic": "g_aic", "aiv": "g_aiv", "split": split, "dual_aiv_dispatch": dual}
    script["_GROUP_META"]["g"] = {**meta, "lane1_writes": lane1_writes}
    return script


def race(script, *args):
    """The two accesses that the race check tells of, sorted; None if it finds none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            script["_run_group_call"]("g", *args)
    except RuntimeError as error:
        head, *lines = str(error.__cause__).splitlines()
        assert head == "race: no pipe transfer orders two accesses to cells that lanes share"
        assert re.fullmatch(r"group 'g' lane \w+ failed: RuntimeError: race: .*", str(error).splitlines()[0])
        return sorted(line.strip() for line in lines)
    return None


TWO_WRITES = """
    def g_aic(out):
        pass


    def g_aiv(out):
        lane = _get_subblock_idx()
        _tile_store(torch.full((2, 4), 1.0 + lane), [{offset}, 0], out)
    """


def test_two_lanes_that_write_overlapping_rows():
    script = checked(TWO_WRITES.format(offset="lane"), split=1)
    line = script.line("_tile_store(torch.full((2, 4), 1.0 + lane), [lane, 0], out)")
    assert race(script, torch.zeros(4, 4)) == [
        f"group 'g' aiv0 writes them at {line}",
        f"group 'g' aiv1 writes them at {line}",
    ]


def test_two_lanes_that_write_rows_of_their_own():
    assert race(checked(TWO_WRITES.format(offset="2 * lane"), split=1), torch.zeros(4, 4)) is None


def test_columns_of_a_strided_tensor_do_not_overlap():
    """Even columns of one lane, odd ones of the other: rows interleave in memory, cells do not."""
    script = checked(
        """
        def g_aic(out):
            pass


        def g_aiv(out):
            out[:, _get_subblock_idx() :: 2] = 1
        """,
        split=2,
    )
    assert race(script, torch.zeros(4, 6).t().contiguous().t()) is None


HAND_OVER = """
    def g_aic(x):
        _tile_store(torch.ones(4, 4), [0, 0], x)
        {push}


    def g_aiv(x):
        {pop}
        return _tile_load(x, [0, 0], [4, 4])
    """


def test_a_hand_over_through_global_memory_needs_a_transfer():
    push = "_cross_core_rt.push_to_aiv(torch.ones(1, 1), 0)"
    pop = "_cross_core_rt.pop_from_aic(0)"
    assert race(checked(HAND_OVER.format(push=push, pop=pop), dual=True), torch.zeros(4, 4)) is None
    script = checked(HAND_OVER.format(push="pass", pop="pass"))
    assert race(script, torch.zeros(4, 4)) == [
        f"group 'g' aic writes them at {script.line('_tile_store(torch.ones(4, 4), [0, 0], x)')}",
        f"group 'g' aiv0 reads them at {script.line('return _tile_load(x, [0, 0], [4, 4])')}",
    ]


def test_a_transfer_orders_only_what_comes_before_the_push():
    script = checked("""
        def g_aic(x):
            _cross_core_rt.push_to_aiv(torch.ones(1, 1), 0)
            _tile_store(torch.ones(4, 4), [0, 0], x)


        def g_aiv(x):
            _cross_core_rt.pop_from_aic(0)
            return _tile_load(x, [0, 0], [4, 4])
        """)
    assert race(script, torch.zeros(4, 4)) is not None


def test_order_is_handed_on_from_lane_to_lane():
    """Lane 1 reads after lane 0 wrote, which it knows by way of the cube."""
    script = checked(
        """
        def g_aic(x):
            _cross_core_rt.push_to_aiv(_cross_core_rt.pop_from_aiv(1), 1)


        def g_aiv(x):
            if _get_subblock_idx() == 0:
                _tile_store(torch.ones(2, 2), [0, 0], x)
            _cross_core_rt.push_to_aic(torch.ones(1, 2), 1)
            _cross_core_rt.pop_from_aic(1)
            return _tile_load(x, [0, 0], [2, 2])
        """,
        split=1,
    )
    assert race(script, torch.zeros(2, 2)) is None


def test_two_pipes_keep_apart():
    """A transfer by one pipe says nothing about the work that another one announces."""
    script = checked("""
        def g_aic(x):
            _cross_core_rt.push_to_aiv(torch.ones(1, 1), 0, id=1)
            _tile_store(torch.ones(4, 4), [0, 0], x)
            _cross_core_rt.push_to_aiv(torch.ones(1, 1), 0, id=2)


        def g_aiv(x):
            _cross_core_rt.pop_from_aic(0, id=1)
            early = _tile_load(x, [0, 0], [4, 4])
            _cross_core_rt.pop_from_aic(0, id=2)
        """)
    assert race(script, torch.zeros(4, 4))[1].endswith("early = _tile_load(x, [0, 0], [4, 4])")


def test_two_reads_are_no_race_nor_are_two_additions():
    script = checked(
        """
        def g_aic(x, out):
            pass


        def g_aiv(x, out):
            _tile_store_add(_tile_load(x, [0, 0], [4, 4]), [0, 0], out)
        """,
        split=1,
    )
    assert race(script, torch.ones(4, 4), torch.zeros(4, 4)) is None


SAME = """
    def g_aic(out):
        pass


    def g_aiv(out):
        lane = _get_subblock_idx()
        {first}
        {second}
        {third}
    """
ONES, TWOS = "_tile_store(torch.ones(1, 1), [0, 0], out)", "_tile_store(torch.full((1, 1), 2.0), [0, 0], out)"
LOAD, ADD = "_tile_load(out, [0, 0], [1, 1])", "_tile_store_add(torch.ones(1, 1), [0, 0], out)"


@pytest.mark.parametrize(
    ("lines", "is_race"),
    [
        ((ONES,), False),
        ((ONES, LOAD), False),
        ((ONES, LOAD, ONES), False),
        ((ONES, f"{LOAD} if lane else None"), False),
        ((f"{ONES} if lane else None", LOAD), True),
        ((LOAD, ONES), True),
        ((LOAD, ONES, LOAD), True),
        ((TWOS, ONES), True),
        ((f"{TWOS} if lane else None", ONES), True),
        ((ONES, f"{TWOS} if lane else None"), True),
        ((f"{TWOS} if lane else None", f"{LOAD} if lane else None", ONES), True),
        ((ONES, ADD), True),
        ((f"{ADD} if lane else {ONES}",), True),
    ],
)
@pytest.mark.parametrize("seed", [None, *range(5)])
def test_two_lanes_may_store_the_same(lines, is_race, seed):
    """Which of them was first does not show, unless another value is stored or read as well.

    By hand. Twos that their own lane overwrites count as well, though only a third lane could see them.
    """
    first, second, third = (*lines, "pass", "pass")[:3]
    script = checked(SAME.format(first=first, second=second, third=third), split=1)
    script["_SCHEDULE_SEED"] = seed
    assert (race(script, torch.zeros(1, 1)) is not None) == is_race


def test_rows_that_both_lanes_store_alike_are_no_race_and_the_others_are():
    body = """
        def g_aic(out):
            pass


        def g_aiv(out):
            lane = _get_subblock_idx()
            _tile_store({rows}, [lane, 0], out)
        """
    same = checked(body.format(rows="torch.tensor([[1.0], [2.0]]).roll(lane, 0)"), split=1)
    assert race(same, torch.zeros(3, 1)) is None
    other = checked(body.format(rows="torch.tensor([[1.0], [2.0]])"), split=1)
    assert race(other, torch.zeros(3, 1)) is not None


def test_an_addition_beside_a_read_is_a_race():
    script = checked(
        """
        def g_aic(out):
            pass


        def g_aiv(out):
            if _get_subblock_idx() == 0:
                _tile_store_add(torch.ones(4, 4), [0, 0], out)
            else:
                out[1, 1].item()
        """,
        split=1,
    )
    add = script.line("_tile_store_add(torch.ones(4, 4), [0, 0], out)")
    read = script.line("out[1, 1].item()")
    expected = [f"group 'g' aiv0 adds to them at {add}", f"group 'g' aiv1 reads them at {read}"]
    assert race(script, torch.zeros(4, 4)) == expected


@pytest.mark.parametrize(("cell", "expected"), [(0, False), (1, True), (2, False)])
def test_other_views_and_dtypes_of_one_storage(cell, expected):
    """The second half of cell 1, as an integer of 16 bits, is part of cell 1 only."""
    script = checked(
        f"""
        def g_aic(x):
            pass


        def g_aiv(x):
            if _get_subblock_idx() == 0:
                x.view(torch.int16)[3] = 1
            else:
                x[{cell}] = 1
        """,
        split=1,
    )
    assert (race(script, torch.zeros(4)) is not None) == expected


SCATTERED = """
    def g_aic(out):
        pass


    def g_aiv(out):
        lane = _get_subblock_idx()
        _put(out{view}, torch.tensor({cells}[lane]), torch.tensor([1.0, 2.0]) + 4 * lane{valid})
    """


@pytest.mark.parametrize(
    ("cells", "valid", "is_race"),
    [
        ("[[0, 5], [7, 2]]", "", False),  # cells of their own
        ("[[0, 5], [5, 2]]", "", True),  # both write cell 5
        ("[[0, 5], [0, 5]]", ", [2 - 2 * lane]", False),  # lane 1 has nothing to write
        ("[[0, 5], [7, 5]]", ", [2 - lane]", False),  # lane 1 writes cell 7 alone
    ],
)
@pytest.mark.parametrize("view", ["", ".T"])  # where elements follow each other, and where they do not
def test_what_is_scattered_touches_the_cells_that_are_named(
    cells: str, valid: str, is_race: bool, view: str
) -> None:
    topics = (*TOPICS, "gather_scatter")
    script = checked(SCATTERED.format(cells=cells, valid=valid, view=view), split=1, topics=topics)
    assert (race(script, torch.zeros(2, 4)) is not None) == is_race


def test_a_lane_that_runs_for_its_pipe_traffic_alone_touches_nothing():
    body = """
        def g_aic(out):
            pass


        def g_aiv(out):
            prev = _tile_load(out, [0, 0], [4, 4])
            _tile_store(prev + 1, [0, 0], out) if _writes_land() else out
        """
    assert race(checked(body, dual=True, lane1_writes=False), torch.zeros(4, 4)) is None
    assert race(checked(body, dual=True, lane1_writes=True), torch.zeros(4, 4)) is not None


def test_tiles_that_cross_a_pipe_are_not_shared():
    script = checked("""
        def g_aic():
            tile = torch.ones(4, 4)
            _cross_core_rt.push_to_aiv(tile, 0)
            tile += 1


        def g_aiv():
            _cross_core_rt.pop_from_aic(0).add_(1)
        """)
    assert race(script) is None


def test_memory_that_is_made_anew_at_a_freed_place_is_not_shared():
    script = checked(
        """
        def g_aic():
            pass


        def g_aiv():
            for _ in range(200):
                tile = torch.zeros(64, 64)
                tile += 1
        """,
        split=1,
    )
    assert race(script) is None


def test_a_shared_tensor_keeps_its_place_as_long_as_its_accesses_are_known():
    """Others would be taken for it: they may be larger, and nobody has touched them."""
    check = checked(TWO_WRITES)["_RaceCheck"]()
    check.send()
    for extent in range(1, 60):
        check.read(torch.zeros(extent))
    assert len(check.numbers) == 59


def test_the_lanes_of_an_inner_group_follow_the_lane_that_calls_it():
    script = checked("""
        def h_aic(x, row):
            _tile_store(torch.ones(2, 4), [0, 0], x)


        def h_aiv(x, row):
            _tile_store(torch.zeros(2, 4), [row, 0], x)


        def g_aic(x, row):
            _tile_store(torch.ones(4, 4), [0, 0], x)
            _run_mixed_kernels("h", _GROUP_META["h"], x, row)
            _tile_store(torch.ones(4, 4), [0, 0], x)


        def g_aiv(x, row):
            pass
        """)
    script["_GROUP_META"]["h"] = {"aic": "h_aic", "aiv": "h_aiv", "split": 0, "dual_aiv_dispatch": False}
    assert race(script, torch.zeros(4, 4), 2) is None
    with pytest.raises(RuntimeError, match="race: no pipe transfer orders two accesses"):
        script["_run_group_call"]("g", torch.zeros(4, 4), 1)


def test_a_buffer_of_an_outer_lane_is_shared_by_its_inner_lanes():
    script = checked("""
        def h_aic(x):
            _tile_store(torch.ones(4, 4), [0, 0], x)


        def h_aiv(x):
            _tile_store(torch.zeros(4, 4), [0, 0], x)


        def g_aic():
            _run_mixed_kernels("h", _GROUP_META["h"], torch.zeros(4, 4))


        def g_aiv():
            pass
        """)
    script["_GROUP_META"]["h"] = {"aic": "h_aic", "aiv": "h_aiv", "split": 0, "dual_aiv_dispatch": False}
    with pytest.raises(RuntimeError, match="race: no pipe transfer orders two accesses"):
        script["_run_group_call"]("g")


SPLIT_LANES = """
    def body(x):
        lane = _get_subblock_idx()
        _tile_store(torch.ones(2, 2), [2 * lane, 0], x)
        {meet}
        return _tile_load(x, [0, 0], [4, 2])
    """


@pytest.mark.parametrize(("meet", "expected"), [("_aic_gather(torch.ones(1, 1), 1)", False), ("pass", True)])
def test_split_lanes_are_in_order_where_they_meet(meet, expected):
    script = Script(TOPICS, SPLIT_LANES.format(meet=meet), switchable=True)
    script["_RACE_CHECK"] = True
    if expected:
        with pytest.raises(RuntimeError, match="race: no pipe transfer orders two accesses"):
            script["_run_split_lanes"](script["body"], torch.zeros(4, 2))
    else:
        script["_run_split_lanes"](script["body"], torch.zeros(4, 2))


def test_one_call_after_the_other_is_no_race():
    script = checked(TWO_WRITES.format(offset="2 * lane"), split=1)
    out = torch.zeros(4, 4)
    for _ in range(3):
        assert race(script, out) is None


def test_the_check_starts_at_once():
    """torch would import its compiler at the first operation, which takes longer than lanes may take."""
    script = checked(TWO_WRITES.format(offset="2 * lane"), split=1)
    code = (
        f"import sys, torch\nexec({script.text!r})\n_RACE_CHECK, _SCHEDULE_SEED = True, None\n"
        f"_run_mixed_kernels('g', {script['_GROUP_META']['g']!r}, torch.zeros(4, 4))\n"
        "print('torch._dynamo' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_race_changes_results_under_some_seed():
    """What the race check finds is real: the order in which lanes are drawn decides what is left."""
    script = checked(
        """
        def g_aic(out):
            _cross_core_rt.push_to_aiv(torch.ones(2, 1), 1)


        def g_aiv(out):
            _cross_core_rt.pop_from_aic(1)
            _tile_store(torch.full((1, 1), 1.0 + _get_subblock_idx()), [0, 0], out)
        """,
        split=1,
    )
    assert race(script, torch.zeros(1, 1)) is not None
    script["_RACE_CHECK"], left = False, set()
    for seed in range(50):
        script["_SCHEDULE_SEED"], out = seed, torch.zeros(1, 1)
        script["_run_group_call"]("g", out)
        left.add(out.item())
    assert left == {1.0, 2.0}
