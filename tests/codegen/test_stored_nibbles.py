"""Scripts with tiles of four bits in bytes: what lies where, and what other dtypes see of it.

Expected values are told by hand, from the halves of bytes that a tile has.
"""

import textwrap

import pytest
import torch
from storage.placed_kernels import inputs, placed, run

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import load_table
from pypto_tmpl.storage.overwrites import overwrites
from pypto_tmpl.storage.places import FunctionPlaces

X, Y = inputs()
LOW, HIGH = X.long() % 16, X.long() // 16 % 16
"""The halves of the lowest byte of the integers that X has."""
NUMBERS = {
    "INT4": [0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1],
    "UINT4": [*range(16)],
    "FP4": [sign * size for sign in (1, -1) for size in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)],
}
CODES = """
    a @ 0x1000 FP32[16, 64] = load(x)
    i @ 0x3000 INT32[16, 64] = pl.tile.cast(a, target_type=pl.INT32, mode=1)
    t @ {at} INT4[16, 64] = pl.tile.cast(i, target_type=pl.INT4, mode=0)
"""  # of integers the low bits stay
SHOWN = """
    h @ 0x8000 FP16[{shape}] = pl.tile.cast({tile}, target_type=pl.FP16, mode=1)
    s @ 0xa000 FP32[{shape}] = pl.tile.cast(h, target_type=pl.FP32, mode=1)
    store(s)
"""


def kernel(body: str, *, at: str = "0x5000", tile: str, shape: str = "16, 64") -> ir.Program:
    """The tile t of the low bits of x, and then the numbers of a tile in what is stored."""
    parts = (CODES.format(at=at), body, SHOWN.format(tile=tile, shape=shape))
    return placed("\n".join(textwrap.dedent(part).strip("\n") for part in parts))


def int4(codes: torch.Tensor) -> torch.Tensor:
    return torch.tensor(NUMBERS["INT4"])[codes].float()


def test_a_tile_is_read_and_written_by_its_numbers() -> None:
    program = kernel("", tile="t")
    assert torch.equal(run(program), int4(LOW))
    text = torch_codegen(program, storage=True)
    assert "    t = _buf(vec, 0x5000, [16, 64], _INT4)\n    t.copy_(_cast_to_int4(i, torch.int8, " in text
    assert "    h.copy_(t.numbers())\n" in text
    assert "_FP4" not in text


def test_a_tile_that_another_one_overlays_in_part_has_its_elements() -> None:
    """The second one begins with row 8."""
    program = kernel(
        """
        b @ 0x6000 INT32[16, 64] = pl.tile.muls(i, 3)
        u @ 0x5100 INT4[16, 64] = pl.tile.cast(b, target_type=pl.INT4, mode=0)
        """,
        tile="t",
    )
    assert torch.equal(run(program, storage=False), int4(LOW))
    assert torch.equal(run(program), int4(torch.cat([LOW[:8], 3 * LOW[:8] % 16])))
    (found,) = overwrites(program, load_table())
    assert found.text() == (
        "kernel: written by line 14 `u` at Vec 0x5100-0x51ff while `t` is read on line 15"
    )


@pytest.mark.parametrize("address", ["0x5000", "0x5020", "0x4fe0"])
def test_an_op_reads_all_of_its_inputs_before_it_writes(address: str) -> None:
    program = kernel(f"u @ {address} INT4[16, 64] = pl.tile.move(t, target_memory=pl.Mem.Vec)", tile="u")
    assert torch.equal(run(program), int4(LOW))


@pytest.mark.parametrize("address", ["0x3000", "0x3020", "0x2fe0"])
def test_a_cast_reads_all_before_it_writes(address: str) -> None:
    program = kernel("", at=address, tile="t")
    assert torch.equal(run(program), int4(LOW))


@pytest.mark.parametrize(
    ("offset", "at", "line"),
    [
        ((3, 4), 0x5000 + (3 * 64 + 4) // 2, "w = _buf(vec, 0x5062, [4, 8], _INT4, [64, 1])"),
        ((3, 5), 0x5000 + (3 * 64 + 5) // 2, "w = _window(t, [3, 5], [4, 8])"),
    ],
)
def test_a_window_begins_at_any_half_of_a_byte(offset: tuple[int, int], at: int, line: str) -> None:
    """By its address, or where that is no whole number by its offsets."""
    r, c = offset
    program = kernel(
        f"""
        w @ {at:#x} INT4[4, 8] = pl.tile.slice(t, [4, 8], [{r}, {c}])
        z @ 0xc000 INT4[4, 8] = pl.tile.create([4, 8], dtype=pl.INT4, target_memory=pl.Mem.Vec)
        k @ 0xc100 INT4[2, 3] = pl.tile.slice(z, [2, 3], [0, 0])
        e @ {at:#x} INT4[4, 8] = pl.tile.assemble(w, k, [1, 1])
        """.replace("k @ 0xc100", "k @ 0xc000"),
        tile="t",
    )
    want = LOW.clone()
    want[r + 1 : r + 3, c + 1 : c + 4] = 0
    assert f"    {line}\n" in torch_codegen(program, storage=True)
    assert torch.equal(run(program), int4(want))


def test_a_window_of_a_wrong_address_has_what_lies_there() -> None:
    program = kernel("w @ 0x5022 INT4[16, 64] = pl.tile.slice(t, [16, 64], [0, 0])", tile="w")
    assert torch.equal(run(program).flatten()[:900], int4(LOW).flatten()[68:968])


def test_a_reshaped_view_has_the_same_elements() -> None:
    program = kernel("w @ 0x5000 INT4[64, 16] = pl.tile.reshape(t, [64, 16])", tile="w", shape="64, 16")
    assert torch.equal(run(program)[:, :16], int4(LOW.reshape(64, 16)[:16]))


@pytest.mark.parametrize("storage", [False, True])
@pytest.mark.parametrize("dtype", ["INT4", "UINT4", "FP4"])
def test_bytes_are_read_as_elements_of_four_bits(dtype: str, *, storage: bool) -> None:
    """By values, too. The lowest byte of an integer comes first, and of each its low half."""
    program = placed(f"""
        a @ 0x1000 FP32[16, 64] = load(x)
        i @ 0x3000 INT32[16, 64] = pl.tile.cast(a, target_type=pl.INT32, mode=1)
        t @ 0x3000 {dtype}[16, 512] = pl.tile.reinterpret_view(i, dtype=pl.{dtype})
        w @ 0x3000 {dtype}[16, 64] = pl.tile.slice(t, [16, 64], [0, 0])
        b @ 0x8000 BF16[16, 64] = pl.tile.cast(w, target_type=pl.BF16, mode=1)
        s @ 0xa000 FP32[16, 64] = pl.tile.cast(b, target_type=pl.FP32, mode=1)
        store(s)
    """)
    codes = torch.zeros(16, 64, dtype=torch.long)
    codes[:, 0::8], codes[:, 1::8] = LOW[:, :8], HIGH[:, :8]
    codes[:, 2::8] = X.long()[:, :8] // 256
    assert torch.equal(run(program, storage=storage), torch.tensor(NUMBERS[dtype])[codes].float())


@pytest.mark.parametrize("storage", [False, True])
def test_elements_of_four_bits_are_read_as_bytes(*, storage: bool) -> None:
    program = kernel(
        """
        u @ 0x5000 UINT8[16, 32] = pl.tile.reinterpret_view(t, dtype=pl.UINT8)
        """,
        tile="u",
        shape="16, 32",
    )
    assert torch.equal(run(program, storage=storage)[:, :32], (LOW[:, 0::2] + 16 * LOW[:, 1::2]).float())


def test_what_is_written_through_a_view_of_bytes_is_seen_on_the_bytes_only() -> None:
    """By values such a view is a copy, which is told."""
    program = kernel(
        """
        u @ 0x5000 UINT8[16, 32] = pl.tile.reinterpret_view(t, dtype=pl.UINT8)
        z @ 0xc000 UINT8[1, 32] = pl.tile.create([1, 32], dtype=pl.UINT8, target_memory=pl.Mem.Vec)
        e @ 0x5000 UINT8[16, 32] = pl.tile.assemble(u, z, [0, 0])
        """,
        tile="t",
    )
    want = LOW.clone()
    want[0] = 0
    assert torch.equal(run(program), int4(want))
    with pytest.raises(UnsupportedProgramError) as error:
        torch_codegen(program)
    what = "'tile.reinterpret_view' to or from elements of four bits, of bytes that are written"
    assert [str(found) for found in error.value.found] == [
        f"{what} (function 'kernel', variable 'u', <string>:13:9)"
    ]


def test_a_transposed_view_shows_rows_as_columns() -> None:
    program = kernel(
        """
        v: pl.Tile[[64, 16], pl.INT4, pl.MemRef(mem, pl.const(20480, pl.INT64), 512), pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.col_major)] = pl.tile.transpose_view(t)
        """,  # noqa: E501
        tile="v",
        shape="64, 16",
    )
    assert torch.equal(run(program)[:, :16], int4(LOW.T[:16]))


BOXES = """
    in_mat: pl.Ptr = pl.tile.alloc(pl.Mem.Mat, 512)
    in_left: pl.Ptr = pl.tile.alloc(pl.Mem.Left, 4096)
    in_right: pl.Ptr = pl.tile.alloc(pl.Mem.Right, 4096)
    m: pl.Tile[[16, 64], pl.INT4, pl.MemRef(in_mat, pl.const(512, pl.INT64), 512), pl.Mem.Mat] = pl.tile.move(t, target_memory=pl.Mem.Mat)
    v: pl.Tile[[64, 16], pl.INT4, pl.MemRef(in_mat, pl.const(512, pl.INT64), 512), pl.Mem.Mat, pl.TileView(blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.col_major)] = pl.tile.transpose_view(m)
    l: pl.Tile[[16, 64], pl.INT4, pl.MemRef(in_left, pl.const(0, pl.INT64), 512), pl.Mem.Left] = pl.tile.move(m, target_memory=pl.Mem.Left)
    r: pl.Tile[[64, 16], pl.INT4, pl.MemRef(in_right, pl.const(0, pl.INT64), 512), pl.Mem.Right] = pl.tile.move(v, target_memory=pl.Mem.Right)
    w: pl.Tile[[8, 16], pl.INT4, pl.MemRef(in_left, pl.const(66, pl.INT64), 232), pl.Mem.Left] = pl.tile.slice(l, [8, 16], [2, 5])
    k @ 0x6000 INT4[8, 16] = pl.tile.move(w, target_memory=pl.Mem.Vec)
    q @ 0x6800 INT4[64, 16] = pl.tile.move(r, target_memory=pl.Mem.Vec)
"""  # noqa: E501  # the printer breaks no lines


def test_a_box_has_sixteen_rows_of_sixty_four_elements() -> None:
    program = kernel(BOXES, tile="k", shape="8, 16")
    text = torch_codegen(program, storage=True)
    for line in (
        'm = _boxes(mat, 0x200, [16, 64], _INT4, "NZ")',
        'v = _boxes(mat, 0x200, [64, 16], _INT4, "ZN")',
        "_move_boxes(l, m)",
        "w = _box_window(l, [2, 5], [8, 16])",
    ):
        assert f"    {line}\n" in text
    assert torch.equal(run(program)[:8, :16], int4(LOW[2:10, 5:21]))
    assert torch.equal(run(kernel(BOXES, tile="q", shape="64, 16"))[:, :16], int4(LOW.T[:16]))


def test_a_wrong_layout_shows() -> None:
    """A tile of four rows of boxes, read by columns of boxes."""
    body = """
        in_mat: pl.Ptr = pl.tile.alloc(pl.Mem.Mat, 4096)
        b @ 0x6000 INT4[32, 128] = pl.tile.create([32, 128], dtype=pl.INT4, target_memory=pl.Mem.Vec)
        e @ 0x6000 INT4[32, 128] = pl.tile.assemble(b, t, [16, 0])
        m: pl.Tile[[32, 128], pl.INT4, pl.MemRef(in_mat, pl.const(0, pl.INT64), 2048), pl.Mem.Mat] = pl.tile.move(e, target_memory=pl.Mem.Mat)
        v: pl.Tile[[32, 128], pl.INT4, pl.MemRef(in_mat, pl.const(0, pl.INT64), 2048), pl.Mem.Mat{view}] = pl.tile.reshape(m, [32, 128])
        z @ 0xc000 INT4[32, 128] = pl.tile.move(v, target_memory=pl.Mem.Vec)
        k @ 0xc000 INT4[16, 64] = pl.tile.slice(z, [16, 64], [{row}, {column}])
    """.replace("k @ 0xc000", "k @ {at:#x}")  # noqa: E501
    turned = ", pl.TileView(blayout=pl.TileLayout.row_major)"
    for view, row, column in (("", 16, 0), (turned, 0, 64)):
        at = 0xC000 + (row * 128 + column) // 2
        program = kernel(body.format(view=view, row=row, column=column, at=at), tile="k")
        assert torch.equal(run(program), int4(LOW))


def test_loops_carry_them() -> None:
    """Two that change places: the yield copies nothing, so that both are what comes last."""
    body = """
        u @ 0x6000 INT4[16, 64] = pl.tile.create([16, 64], dtype=pl.INT4, target_memory=pl.Mem.Vec)
        for j, (p, q) in pl.range(3, init_values=(t, u)):
            m @ 0x6000 INT4[16, 64] = pl.tile.move(p, target_memory=pl.Mem.Vec)
            p1, q1 = pl.yield_({}, m)
    """
    assert torch.equal(run(kernel(body.format("p"), tile="q1")), int4(LOW))
    assert torch.equal(run(kernel(body.format("q"), tile="p1")), int4(LOW))  # nothing copies q
    assert not run(kernel(body.format("q"), tile="p1"), storage=False).any()


def test_fp4_lies_in_halves_of_bytes() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        i @ 0x3000 INT32[16, 64] = pl.tile.cast(a, target_type=pl.INT32, mode=1)
        c @ 0x3000 FP4[16, 512] = pl.tile.reinterpret_view(i, dtype=pl.FP4)
        t @ 0x5000 FP4[16, 512] = pl.tile.move(c, target_memory=pl.Mem.Vec)
        u @ 0x5000 INT32[16, 64] = pl.tile.reinterpret_view(t, dtype=pl.INT32)
        s @ 0xa000 FP32[16, 64] = pl.tile.cast(u, target_type=pl.FP32, mode=1)
        store(s)
    """)
    assert torch.equal(run(program), X)
    assert torch.equal(run(program, storage=False), X)


def test_places_of_all_dtypes_of_four_bits() -> None:
    """Also of HF4, of which no script computes anything."""
    for dtype in ("INT4", "UINT4", "FP4", "HF4"):
        program = placed(f"""
            t @ 0x1000 {dtype}[3, 6] = pl.tile.create([3, 6], dtype=pl.{dtype}, target_memory=pl.Mem.Vec)
        """)
        (function,) = program.functions.values()
        (place,) = FunctionPlaces(function, load_table()).all()
        assert (place.size, place.reach, place.is_plain) == (9, (0x1000, 0x1009), False)


@pytest.mark.parametrize(("address", "is_inside"), [(0x10E00, True), (0x10E01, False)])
def test_a_tile_has_half_a_byte_for_each_element(address: int, *, is_inside: bool) -> None:
    """The allocation has 65536 bytes, from 0x1000 on."""
    program = kernel(f"u @ {address:#x} INT4[16, 64] = pl.tile.move(t, target_memory=pl.Mem.Vec)", tile="u")
    if is_inside:
        assert torch.equal(run(program), int4(LOW))
        return
    with pytest.raises(UnsupportedProgramError) as error:
        torch_codegen(program, storage=True)
    what = "a tile of 512 bytes at Vec 0x10e01, in an allocation of 65536 bytes from 0x1000 on"
    assert [str(found) for found in error.value.found] == [
        f"{what} (function 'kernel', variable 'u', <string>:13:9)"
    ]
