"""Poison: what new cells hold, and what is said where it reaches valid ones."""

import pytest
import torch
from preamble.rendered import Script

nan = float("nan")
TOPICS = ("regions", "poison", "tile_split", "cross_core", "mixed_kernel")


@pytest.fixture
def script():
    script = Script(TOPICS, switchable=True)
    script["_POISON"] = True
    return script


def poisoned(body):
    script = Script(TOPICS, body, switchable=True)
    script["_POISON"] = True
    return script


# ---- what new cells hold


@pytest.mark.parametrize(
    ("dtype", "held"),
    [
        (torch.int8, -128),
        (torch.int16, -(2**15)),
        (torch.int32, -(2**31)),
        (torch.int64, -(2**63)),
        (torch.uint8, 0),
        (torch.uint16, 0),
        (torch.uint32, 0),
    ],
)
def test_new_integers_hold_the_lowest_value(script, dtype, held):
    assert script["_fresh"](torch.ones(2, 3, dtype=dtype)).tolist() == [[held] * 3] * 2


def test_new_booleans_stay_false(script):
    assert script["_fresh"](torch.zeros(2, dtype=torch.bool)).tolist() == [False, False]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_new_floats_hold_nan_that_is_told_from_other_nan(script, dtype):
    fresh = script["_fresh"](torch.zeros(2, 3, dtype=dtype))
    assert fresh.isnan().all()
    assert script["_is_poison"](fresh).all()
    assert not script["_is_poison"](torch.full((2, 3), nan, dtype=dtype)).any()
    assert not script["_is_poison"](torch.zeros(2, 3, dtype=dtype) / 0).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_poison_stays_poison_in_fp32_arithmetic(script, dtype):
    fresh = script["_fresh"](torch.zeros(2, 3, dtype=dtype)).float()
    for computed in (fresh, -(fresh * 2), 1 - fresh, torch.exp(fresh), fresh @ torch.ones(3, 3)):
        assert script["_is_poison"](computed).all()


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint16, torch.bool, torch.float64])
def test_other_dtypes_have_no_such_nan(script, dtype):
    assert not script["_is_poison"](script["_fresh"](torch.zeros(2, 3, dtype=dtype))).any()


def test_new_buffers_hold_zeros_without_the_option():
    assert Script(TOPICS, switchable=True)["_fresh"](torch.zeros(2)).tolist() == [0, 0]


def test_a_load_pads_with_poison(script):
    source = torch.arange(12.0).reshape(3, 4)
    tile = script["_tile_load"](source, [1, 2], [4, 4], [1, 4])
    expected = torch.full((4, 4), nan)
    expected[0, :2] = torch.tensor([6.0, 7.0])
    assert torch.equal(tile.isnan(), expected.isnan())
    assert tile[0, :2].tolist() == [6, 7]


@pytest.mark.parametrize("split", [0, 1, 3])
@pytest.mark.parametrize("copy", [True, False])
def test_the_padding_of_a_pushed_part_is_poison(script, split, copy):
    """The pushed tile holds numbers everywhere; only the valid ones travel, and it keeps its own."""
    rt, tile = script["_cross_core_rt"], torch.arange(16.0).reshape(4, 4)
    rt.push_to_aiv(tile, split, valid_shape=[3, 2], copy=copy)
    part = rt.pop_from_aic(split)
    rows = {0: 3, 1: 2, 3: 2}[split]
    numbers = [[4.0 * row + column for column in range(2)] for row in range(rows)]
    assert part[:rows, :2].tolist() == numbers
    assert int((~part.isnan()).sum()) == rows * 2
    assert tile.tolist() == torch.arange(16.0).reshape(4, 4).tolist()


def test_the_rest_of_a_box_that_is_cut_unevenly_is_poison(script):
    parts = script["_lane_parts"]("op", torch.ones(5, 1), 3, None, [5, 1])
    assert [part.isnan().flatten().tolist() for part in parts] == [[False] * 3, [False, False, True]]


# ---- what is written


STORES = """
    def kernel(x, out):
        t = _tile_load(x, [0, 0], [2, 4], [2, 3])
        same = t
        return {store}
    """


@pytest.mark.parametrize(
    "store",
    [
        "_tile_store(t, [0, 0], out)",
        "_tile_store_add(t, [0, 0], out)",
        "_assemble(out, t, [0, 0])",
        "_assemble_add(out, t, [0, 0])",
        "_tile_store_block(t, [0, 0], out, [4, 2], [2, 4])",
    ],
)
def test_padding_that_is_written_as_if_valid(store):
    script = poisoned(STORES.format(store=store))
    with pytest.raises(RuntimeError) as caught:
        script["kernel"](torch.ones(2, 4), torch.zeros(4, 4))
    line = script.line(f"return {store}").split(":")[1]
    assert str(caught.value) == (
        f"poison: line {line}, in kernel, writes 2 valid cells of t or same"
        " that are padding or were never written"
    )


def test_cells_that_nobody_has_written_are_read():
    script = poisoned("""
        def kernel(x):
            return _tile_load(x, [0, 0], [2, 4], [2, 3])
        """)
    buffer = script["_fresh"](torch.zeros(4, 4))
    buffer[:, :3] = 1
    assert script["kernel"](buffer)[:, :3].tolist() == [[1, 1, 1]] * 2
    buffer[1, 2:3] = script["_fresh"](torch.zeros(1))
    with pytest.raises(RuntimeError) as caught:
        script["kernel"](buffer)
    line = script.line("return _tile_load(x, [0, 0], [2, 4], [2, 3])").split(":")[1]
    assert str(caught.value) == (
        f"poison: line {line}, in kernel, reads 1 valid cells of x that are padding or were never written"
    )


def test_windows_of_tiles_take_their_padding_along(script):
    tile = script["_tile_load"](torch.ones(2, 2), [0, 0], [2, 4], [2, 2])
    assert script["_tile_slice"](tile, [2, 4], [0, 1]).isnan().sum() == 6
    assert script["_tensor_slice"](tile, [2, 2], [0, 1]).isnan().sum() == 2


def test_a_value_without_name_that_is_written():
    script = poisoned("def kernel(out):\n    _tile_store(_fresh(torch.zeros(2)), [0], out)")
    with pytest.raises(RuntimeError, match=r"writes 2 valid cells of a value without name that"):
        script["kernel"](torch.zeros(2))


def test_valid_cells_and_nan_of_the_program_are_written(script):
    out = torch.zeros(2, 4)
    tile = script["_tile_load"](torch.tensor([[1.0, nan], [2.0, 3.0]]), [0, 0], [2, 4])
    script["_tile_store"](tile, [0, 0], out, [2, 2])
    assert out.nan_to_num(-1).tolist() == [[1, -1, 0, 0], [2, 3, 0, 0]]


# ---- what an op lets in


CELL_BY_CELL = """
    def kernel(x, y):
        t = _tile_load(x, [0, 0], [2, 4], [2, 4])
        v = _tile_load(y, [0, 0], [2, 4], [2, 2])
        u = t + v
        _check_poison("u", u, [2, 4], (v, [2, 2]))
        return u
    """


def test_an_op_that_reads_padding():
    script = poisoned(CELL_BY_CELL)
    with pytest.raises(RuntimeError) as caught:
        script["kernel"](torch.ones(2, 4), torch.ones(2, 4))
    line = script.line('_check_poison("u", u, [2, 4], (v, [2, 2]))').split(":")[1]
    assert str(caught.value) == (
        f"poison: the padding of v gets into 4 valid cells of u, made just before line {line}, in kernel"
    )


def test_without_the_option_nothing_is_checked():
    script = Script(TOPICS, CELL_BY_CELL, switchable=True)
    ones = torch.ones(2, 4)
    assert script["kernel"](ones, ones).tolist() == [[2, 2, 1, 1]] * 2


UNWRITTEN = """
    def kernel(t):
        acc = _fresh(torch.zeros(2, 4))
        acc[:, 1:] = 0
        total = acc + t
        _check_poison("total", total, None, (acc, None))
        return total
    """


def test_an_op_that_reads_what_nobody_has_written():
    script = poisoned(UNWRITTEN)
    with pytest.raises(RuntimeError) as caught:
        script["kernel"](torch.ones(2, 4))
    line = script.line('_check_poison("total", total, None, (acc, None))').split(":")[1]
    assert str(caught.value) == (
        "poison: what was never written of acc gets into 2 valid cells of total,"
        f" made just before line {line}, in kernel"
    )


def check(script, value, valid, *sources, **options):
    try:
        script["_check_poison"]("u", value, valid, *sources, **options)
    except RuntimeError as error:
        return str(error).split(" of ")[1].split(" into ")[1]
    return None


def test_nan_outside_of_the_valid_cells_is_padding(script):
    v = torch.tensor([[1.0, nan]])
    assert check(script, v + 1, [1, 1], (v, [1, 1])) is None
    assert check(script, v + 1, [1, 2], (v, [1, 1])) == "1 valid cells"
    assert check(script, v + 1, [0, 2], (v, [1, 1])) is None


def test_nan_that_the_program_makes_is_not_blamed_on_padding(script):
    v = torch.tensor([[0.0, nan, 3.0]])
    u = v / torch.tensor([[0.0, 1.0, 1.0]])  # NaN of its own in column 0, of the padding in column 1
    assert check(script, u, [1, 1], (v, [1, 1])) is None
    assert check(script, u, [1, 2], (v, [1, 1])) == "1 valid cells"
    assert check(script, u, [1, 1], (torch.tensor([[nan, 1.0, 1.0]]), [1, 3])) is None


def test_rows_and_columns_are_repeated(script):
    tile, row = torch.zeros(3, 2), torch.tensor([[1.0, nan]])
    assert check(script, tile + row, None, (row, [1, 1])) == "3 valid cells"


def test_cells_that_move(script):
    padded = torch.tensor([[1.0, 2.0, nan, nan]])
    moved = padded.sort(descending=True).values
    assert check(script, moved, [1, 2], (padded, [1, 2]), mixes=True) == "2 valid cells"
    own = torch.tensor([[nan, 2.0, nan, nan]])
    assert check(script, own.flip(1), [1, 2], (own, [1, 2]), mixes=True) is None
    assert check(script, torch.zeros(1, 2), [1, 2], (padded, [1, 2]), mixes=True) is None


def test_integers_have_no_nan(script):
    v = torch.ones(1, 2, dtype=torch.int32)
    assert check(script, v, None, (v, [1, 1])) is None
