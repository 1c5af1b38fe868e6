"""Which reads of tiles are told to be wrong, of kernels whose places are written out; the runs agree."""

import pytest
import torch
from storage.placed_kernels import inputs, placed, run

from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.overwrites import overwrites
from pypto_tmpl.storage.places import has_addresses

PUSHED = [torch.full((16, 64), 5.0)]
OVERLAID = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ 0x1800 FP32[16, 64] = load(y)
    c @ 0x4000 FP32[16, 64] = pl.tile.add(a, b)
    store(c)
"""
SWAPPED = """
    a0 @ 0x1000 FP32[16, 64] = load(x)
    b0 @ 0x2000 FP32[16, 64] = load(y)
    for i, (a, b) in pl.range(3, init_values=(a0, b0)):
        s @ 0x3000 FP32[16, 64] = pl.tile.add(a, b)
        m @ 0x2000 FP32[16, 64] = pl.tile.move(s, target_memory=pl.Mem.Vec)
        a1, b1 = pl.yield_(b, m)
    store(a1)
"""
KEPT_BY_ONE_BRANCH = """
    a @ 0x1000 FP32[16, 64] = load(x)
    if n == 0:
        p @ 0x2000 FP32[16, 64] = pl.tile.muls(a, 2.0)
        r @ 0x2000 FP32[16, 64] = pl.yield_(p)
    else:
        r @ 0x2000 FP32[16, 64] = pl.yield_(a)
    store(r)
"""
OVERLAID_IN_THE_NEXT_ROUND = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b0 @ 0x2000 FP32[16, 64] = load(y)
    for i, (b,) in pl.range(3, init_values=(b0,)):
        s @ 0x2000 FP32[16, 64] = pl.tile.add(a, b)
        t @ 0x1c00 FP32[16, 16] = pl.tile.full([16, 16], dtype=pl.FP32, value=1.0)
        b1 = pl.yield_(s)
    store(b1)
"""
WINDOW = """
    a @ 0x1000 FP32[16, 64] = load(x)
    w @ 0x1440 FP32[8, 16] = pl.tile.slice(a, [8, 16], [4, 16])
    b @ 0x2000 FP32[8, 16] = pl.tile.muls(w, 2.0)
    c @ 0x1000 FP32[16, 64] = pl.tile.assemble(a, b, [0, 32])
    store(c)
"""
VIEW = """
    a @ 0x1000 FP32[16, 64] = load(x)
    v: pl.Tile[[32, 32], pl.FP32, pl.MemRef(mem, pl.const(4096, pl.INT64), 4096), pl.Mem.Vec] = pl.tile.reshape(a, [32, 32])
    b @ 0x2000 FP32[32, 32] = pl.tile.muls(v, 2.0)
    c @ 0x2000 FP32[16, 64] = pl.tile.reshape(b, [16, 64])
    store(c)
"""  # noqa: E501  # the printer breaks no lines
BEYOND_ITS_TILE = """
    a @ 0x1000 FP32[16, 64] = load(x)
    s: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, pl.const(6144, pl.INT64), 4096), pl.Mem.Vec, pl.TileView(valid_shape=[{rows}, 64])] = pl.tile.slice(a, [16, 64], [8, 0], [{rows}, 64])
    b @ 0x2000 FP32[16, 64] = load(y)
    store(s)
"""  # noqa: E501  # the printer breaks no lines
POPPED = """
    slots: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='slots', size=8192, base=0)
    pl.system.aiv_initialize_pipe(slots, pl.const(0, pl.INT32), dir_mask=1, slot_size=4096, slot_num=2)
    t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
    {before}
    b @ 0x4000 FP32[16, 64] = pl.tile.muls(t, 2.0)
    {after}
    store(b)
"""
FREE = "pl.system.tfree_to_aic(t, split=0)"
WORKSPACE = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ 0x4000 FP32[16, 64] = load(y)
    w @ {at} FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
    m @ 0x6000 FP32[16, 1] = pl.tile.row_max(b, w)
    c @ 0x8000 FP32[16, 64] = pl.tile.row_expand_add(a, m)
    store(c)
"""
WRONG = {
    "used as a workspace": (
        WORKSPACE.format(at="0x1800"),
        ["kernel: written by line 13 `w` at Vec 0x1800-0x1fff while `a` is read on line 14"],
    ),
    "given back too early": (
        POPPED.format(before=FREE, after="pass"),
        ["kernel: `t` is read on line 14 at Vec 0x0-0x1fff, in a slot that is given back on line 13"],
    ),
    "overlaid by a slot": (
        "    a @ 0x800 FP32[16, 64] = load(x)"
        + POPPED.format(before="", after="c @ 0x5000 FP32[16, 64] = pl.tile.add(a, b)").replace(
            "store(b)", "store(c)"
        ),
        ["kernel: written by line 13 `t` at Vec 0x800-0x17ff while `a` is read on line 16"],
    ),
    "overlaid": (
        OVERLAID,
        ["kernel: written by line 11 `b` at Vec 0x1800-0x1fff while `a` is read on line 12"],
    ),
    "swapped": (
        SWAPPED,
        [
            "kernel: `a` is read on line 13 at Vec 0x1000-0x1fff, to which nothing copies `b` on line 15,"
            " which lies at Vec 0x2000",
            "kernel: `a1` is read on line 16 at Vec 0x1000-0x1fff, to which nothing copies `b` on line 15,"
            " which lies at Vec 0x2000",
        ],
    ),
    "kept by one branch": (
        KEPT_BY_ONE_BRANCH,
        [
            "kernel: `r` is read on line 16 at Vec 0x2000-0x2fff, to which nothing copies `a` on line 15,"
            " which lies at Vec 0x1000"
        ],
    ),
    "a window that begins a row early": (
        WINDOW.replace("0x1440", "0x1340"),
        [
            "kernel: `w` is read on line 12 at Vec 0x1340-0x1a7f, to which nothing copies `a` on line 11,"
            " which lies at Vec 0x1000 row by row"
        ],
    ),
    "a view by columns": (
        VIEW.replace("pl.Mem.Vec]", "pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.col_major)]", 1),
        [
            "kernel: `v` is read on line 12 at Vec 0x1000-0x1fff, to which nothing copies `a` on line 11,"
            " which lies at Vec 0x1000 row by row"
        ],
    ),
    "a view in an allocation of its own": (
        VIEW.replace("MemRef(mem, pl.const(4096", "MemRef(other, pl.const(65536"),
        [
            "kernel: `v` is read on line 12 at Vec 0x10000-0x10fff, to which nothing copies `a` on line 11,"
            " which lies at Vec 0x1000"
        ],
    ),
    "overlaid in the next round": (
        OVERLAID_IN_THE_NEXT_ROUND,
        [
            "kernel: written by line 14 `t` at Vec 0x1c00-0x1fff while `a` is read on line 13",
        ],
    ),
}
RIGHT = {
    "seen through a window": WINDOW,
    "seen in another shape": VIEW,
    "a window of a window, whose own place does not count": """
        a @ 0x1000 FP32[16, 64] = load(x)
        w @ 0x8000 FP32[8, 64] = pl.tile.slice(a, [8, 64], [8, 0])
        v @ 0x1c00 FP32[4, 64] = pl.tile.slice(w, [4, 64], [4, 0])
        b @ 0x2000 FP32[4, 64] = pl.tile.muls(v, 2.0)
        c @ 0x1000 FP32[16, 64] = pl.tile.assemble(a, b, [0, 0])
        store(c)
    """,
    "a window whose rows beyond its tile hold nothing": BEYOND_ITS_TILE.format(rows=8),
    "a workspace of its own": WORKSPACE.format(at="0xa000"),
    "given back behind its last read": POPPED.format(before="", after=FREE),
    "written over its input": """
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = pl.tile.exp(a)
        store(b)
    """,
    "after the last read": """
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x2000 FP32[16, 64] = pl.tile.muls(a, 2.0)
        c @ 0x1000 FP32[16, 64] = load(y)
        d @ 0x1000 FP32[16, 64] = pl.tile.add(b, c)
        store(d)
    """,
    "changed in place, by way of a window": """
        a @ 0x1000 FP32[16, 64] = load(x)
        w @ 0x1040 FP32[16, 16] = pl.tile.slice(a, [16, 16], [0, 16])
        b @ 0x2000 FP32[16, 16] = pl.tile.muls(w, 2.0)
        c @ 0x1000 FP32[16, 64] = pl.tile.assemble(a, b, [0, 32])
        store(c)
    """,
    "carried in place": """
        a @ 0x1000 FP32[16, 64] = load(x)
        b0 @ 0x2000 FP32[16, 64] = load(y)
        for i, (b,) in pl.range(3, init_values=(b0,)):
            t @ 0x3000 FP32[16, 64] = pl.tile.mul(a, b)
            s @ 0x2000 FP32[16, 64] = pl.tile.add(t, b)
            b1 = pl.yield_(s)
        store(b1)
    """,
    "moved to its carry": """
        b0 @ 0x2000 FP32[16, 64] = load(y)
        for i, (b,) in pl.range(3, init_values=(b0,)):
            s @ 0x3000 FP32[16, 64] = pl.tile.muls(b, 2.0)
            m @ 0x2000 FP32[16, 64] = pl.tile.move(s, target_memory=pl.Mem.Vec)
            b1 = pl.yield_(m)
        store(b1)
    """,
    "overlaid, but not read again": """
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x2000 FP32[16, 64] = pl.tile.muls(a, 2.0)
        for i, (c,) in pl.range(3, init_values=(b,)):
            t @ 0x1000 FP32[16, 64] = pl.tile.adds(c, 1.0)
            u @ 0x2000 FP32[16, 64] = pl.tile.move(t, target_memory=pl.Mem.Vec)
            d = pl.yield_(u)
        store(d)
    """,
    "apart without addresses": """
        a @ 0 FP32[16, 64] = load(x)
        b @ other+0 FP32[16, 64] = load(y)
        c @ 0 FP32[16, 64] = pl.tile.add(a, b)
        store(c)
    """,
}


def test_what_is_left_of_an_allocation_need_not_begin_at_0() -> None:
    """``b`` has the bytes of a window of a tile that has moved: two allocations that begin at 0 each."""
    program = placed("""
        a @ 0 FP32[16, 64] = load(x)
        b @ other+2048 FP32[8, 64] = pl.tile.full([8, 64], dtype=pl.FP32, value=1.0)
        c @ 0 FP32[16, 64] = pl.tile.assemble(a, b, [0, 0])
        store(c)
    """)
    assert not has_addresses(program.functions.values())
    assert overwrites(program, load_table()) == []
    x, _ = inputs()
    assert torch.equal(run(program), torch.cat([torch.ones(8, 64), x[8:]]))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_read_from_bytes_of_others_is_told(name: str) -> None:
    body, want = WRONG[name]
    program = placed(body)
    assert [found.text() for found in overwrites(program, load_table())] == want
    ran = [[run(program, n, storage=storage, pushed=PUSHED) for storage in (True, False)] for n in (0, 1)]
    assert any(not torch.equal(*both) for both in ran)


@pytest.mark.parametrize("name", RIGHT)
def test_what_lies_where_it_is_read_is_not_told(name: str) -> None:
    program = placed(RIGHT[name])
    assert overwrites(program, load_table()) == []
    assert torch.equal(run(program, pushed=PUSHED), run(program, storage=False, pushed=PUSHED))


def test_a_window_beyond_its_tile_is_what_is_valid_of_it() -> None:
    got = run(placed(BEYOND_ITS_TILE.format(rows=8)))
    x, _ = inputs()
    assert torch.equal(got[:8], x[8:])
    assert len(set(got[8:].flatten().tolist())) == 1  # as it was: rows beyond are not stored


def test_a_row_beyond_its_tile_of_which_a_window_says_that_it_is_valid_is_told() -> None:
    program = placed(BEYOND_ITS_TILE.format(rows=9))
    assert [found.text() for found in overwrites(program, load_table())] == [
        "kernel: written by line 12 `b` at Vec 0x2000-0x20ff while `s` is read on line 13"
    ]
    with pytest.raises(PyptoTmplError, match=r"from \[8, 0\] on in a tile \[16, 64\]"):
        run(program)


def test_what_is_yielded_is_there_where_loops_copy_it() -> None:
    program = placed("""
        p @ 0x1000 FP32[16, 64] = load(x)
        q @ 0x2000 FP32[16, 64] = load(y)
        for i, (a, b) in pl.range(3, init_values=(p, q)):
            c, d = pl.yield_(b, a)
        e @ 0x4000 FP32[16, 64] = pl.tile.sub(c, d)
        store(e)
    """)
    assert overwrites(program, load_table()) != []
    assert overwrites(program, load_table(), copies_yields=True) == []
