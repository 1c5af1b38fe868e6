"""Scripts whose tiles are views of bytes: what lies where, and what an op reads and writes there.

Expected values are told by hand, from which bytes a tile has.
"""

import pytest
import torch
from storage.placed_kernels import inputs, placed, run

from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.language.diagnostics import ParserError

X, Y = inputs()


def test_a_tile_that_another_one_overlays_has_its_bytes() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = load(y)
        c @ 0x2000 FP32[16, 64] = pl.tile.add(a, b)
        store(c)
    """)
    assert torch.equal(run(program), Y + Y)
    assert torch.equal(run(program, storage=False), X + Y)


def test_tiles_that_overlap_in_part_share_those_rows() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x1800 FP32[16, 64] = load(y)
        store(a)
    """)
    assert torch.equal(run(program), torch.cat([X[:8], Y[:8]]))


@pytest.mark.parametrize("address", ["0x1000", "0x1100", "0xf00", "0x1020"])
def test_an_op_reads_all_of_its_inputs_before_it_writes(address: str) -> None:
    """The result lies where an input does, or a row or an element further on or back."""
    program = placed(f"""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ {address} FP32[16, 64] = pl.tile.muls(a, 3.0)
        store(b)
    """)
    assert torch.equal(run(program), X * 3)


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("0x2000", "torch.mul(a, 3.0, out=b)"),
        ("0x1000", "torch.mul(a, 3.0, out=b)"),
        ("0x1100", "b.copy_(a * 3.0)"),
    ],
    ids=["apart", "there", "in part"],
)
def test_a_result_is_written_where_it_lies_unless_an_operand_lies_there_in_part(
    address: str, line: str
) -> None:
    program = placed(f"""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ {address} FP32[16, 64] = pl.tile.muls(a, 3.0)
        store(b)
    """)
    assert f"    {line}\n" in torch_codegen(program, storage=True)
    assert torch.equal(run(program), X * 3)


@pytest.mark.parametrize("address", ["0x1000", "0x1020", "0x1100", "0x3000"])
def test_what_is_repeated_is_read_before_it_is_overwritten(address: str) -> None:
    """A column that lies in the result, of which it is one of the operands."""
    program = placed(f"""
        a @ 0x2000 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = load(y)
        w @ 0x5000 FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        m @ {address} FP32[16, 1] = pl.tile.row_max(b, w)
        c @ 0x1000 FP32[16, 64] = pl.tile.row_expand_sub(a, m)
        store(c)
    """)
    assert torch.equal(run(program), X - Y.amax(dim=1, keepdim=True))


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("0x2000", "b.copy_(a)"),
        ("0x1000", "b.copy_(a.to(torch.bfloat16))"),
        ("0x1100", "b.copy_(a.to(torch.bfloat16))"),
    ],
)
def test_a_cast_reads_all_before_it_writes(address: str, line: str) -> None:
    program = placed(f"""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ {address} BF16[16, 64] = pl.tile.cast(a, target_type=pl.BF16, mode=1)
        c @ 0x4000 FP32[16, 64] = pl.tile.cast(b, target_type=pl.FP32, mode=1)
        store(c)
    """)
    assert f"    {line}\n" in torch_codegen(program, storage=True)
    assert torch.equal(run(program), X.bfloat16().float())


def test_a_move_reads_all_before_it_writes() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x1100 FP32[16, 64] = pl.tile.move(a, target_memory=pl.Mem.Vec)
        store(b)
    """)
    assert torch.equal(run(program), X)


def test_a_window_has_the_pitch_of_its_tile() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x2000 FP32[16, 64] = load(y)
        w @ 0x1040 FP32[16, 16] = pl.tile.slice(a, [16, 16], [0, 16])
        v @ 0x1340 FP32[4, 8] = pl.tile.slice(w, [4, 8], [3, 0])
        d @ 0x3000 FP32[4, 8] = pl.tile.muls(v, 2.0)
        e @ 0x1040 FP32[16, 16] = pl.tile.assemble(w, d, [0, 8])
        store(a)
    """)
    want = X.clone()
    want[0:4, 24:32] = 2 * X[3:7, 16:24]
    assert torch.equal(run(program), want)


@pytest.mark.parametrize(("rows", "columns"), [(16, 16), (16, 32)])
def test_a_transposed_view_shows_rows_as_columns(rows: int, columns: int) -> None:
    """One of a square tile, too, whose extents are those of its tile."""
    program = placed(f"""
        a @ 0x1000 FP32[{rows}, {columns}] = pl.tile.load(x, [0, 0], [{rows}, {columns}], [{rows}, {columns}], target_memory=pl.Mem.Vec)
        t: pl.Tile[[{columns}, {rows}], pl.FP32, pl.MemRef(mem, pl.const(4096, pl.INT64), 4096), pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.col_major)] = pl.tile.transpose_view(a)
        b @ 0x8000 FP32[{columns}, {rows}] = pl.tile.muls(t, 2.0)
        store(b)
    """)  # noqa: E501  # the printer breaks no lines
    assert torch.equal(run(program)[:16, :rows], 2 * X[:rows, :columns].T[:16])


def test_what_an_op_changes_in_place_lies_as_its_type_says() -> None:
    """A carry lies by columns, as it starts; what its body makes at the same bytes lies by rows."""
    program = placed("""
        start: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, pl.const(4096, pl.INT64), 4096), pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.col_major)] = pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)
        for i, (acc,) in pl.range(2, init_values=(start,)):
            row @ 0x8000 FP32[1, 64] = pl.tile.load(x, [i, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)
            put @ 0x1000 FP32[16, 64] = pl.tile.assemble(acc, row, [i, 0])
            end @ 0x1000 FP32[16, 64] = pl.yield_(put)
        t @ 0x1000 FP32[16, 64] = pl.tile.muls(end, 1.0)
        store(t)
    """)  # noqa: E501  # the printer breaks no lines
    held = torch.zeros(16, 64)
    for i in range(2):
        read = held.reshape(64, 16).T.clone()  # the same bytes, by columns
        read[i] = X[i]
        held = read
    assert torch.equal(run(program), held.reshape(64, 16).T)


@pytest.mark.parametrize("row", [0, 5])
def test_a_window_that_begins_where_a_scalar_says_shows_the_bytes_there(row: int) -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        w @ 0x1000 FP32[4, 64] = pl.tile.slice(a, [4, 64], [n, 0])
        b @ 0x1000 FP32[16, 64] = load(y)
        c @ 0x3000 FP32[4, 64] = pl.tile.muls(w, 2.0)
        store(c)
    """)
    assert torch.equal(run(program, row)[:4], 2 * Y[row : row + 4])


@pytest.mark.parametrize("column", [0, 16, 48])
def test_an_op_changes_a_window_where_a_scalar_says_that_it_begins(column: int) -> None:
    program = placed("""
        a @ 0x400 FP32[16, 64] = load(x)
        b @ 0x1400 FP32[16, 64] = load(y)
        w @ 0x400 FP32[16, 16] = pl.tile.slice(a, [16, 16], [0, n])
        v @ 0x1400 FP32[16, 16] = pl.tile.slice(b, [16, 16], [0, 0])
        u @ 0x400 FP32[16, 16] = pl.tile.assemble(w, v, [0, 0])
        store(a)
    """)
    expected = X.clone()
    expected[:, column : column + 16] = Y[:, :16]
    assert torch.equal(run(program, n=column), expected)


def test_a_window_beyond_its_tile_is_refused() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        w @ 0x1000 FP32[4, 64] = pl.tile.slice(a, [4, 64], [n, 0])
        store(w)
    """)
    with pytest.raises(ValueError) as error:
        run(program, 13)
    assert str(error.value) == (
        "a window [4, 64] of 1024 bytes from [13, 0] on is not inside of a tile [16, 64] of 4096 bytes"
        " at 0x1000"
    )


@pytest.mark.parametrize("dtype", ["FP32", "BF16", "FP16"])
def test_poison_shows_reads_of_what_was_created_and_never_written(dtype: str) -> None:
    program = placed(f"""
        a @ 0x1000 {dtype}[16, 64] = pl.tile.create([16, 64], dtype=pl.{dtype}, target_memory=pl.Mem.Vec)
        b @ 0x2000 {dtype}[16, 64] = pl.tile.muls(a, 2.0)
    """)
    names: dict = {}
    exec(torch_codegen(program, options={"storage": True, "poison": True}), names)
    told = (
        r"what was never written of a gets into 1024 valid cells of b, made just before line \d+, in kernel"
    )
    with pytest.raises(RuntimeError, match=told):
        names["kernel"](X, Y, 0, torch.zeros(16, 64))


def test_what_lies_where_a_tile_is_created_is_no_poison() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x1000 FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        c @ 0x2000 FP32[16, 64] = pl.tile.muls(b, 2.0)
        store(c)
    """)
    names: dict = {}
    exec(torch_codegen(program, options={"storage": True, "poison": True}), names)
    out = torch.zeros(16, 64)
    names["kernel"](X, Y, 0, out)
    assert torch.equal(out, X * 2)


def test_other_shapes_and_dtypes_read_the_same_bytes() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        r @ 0x1000 FP32[64, 16] = pl.tile.reshape(a, [64, 16])
        s @ 0x2000 FP32[64, 16] = pl.tile.muls(r, 2.0)
        b @ 0x1000 INT32[16, 64] = pl.tile.reinterpret_view(a, dtype=pl.INT32)
        c @ 0x1000 INT32[16, 64] = pl.tile.adds(b, pl.const(1, pl.INT32))
        t @ 0x2000 FP32[16, 64] = pl.tile.reshape(s, [16, 64])
        d @ 0x3000 FP32[16, 64] = pl.tile.add(a, t)
        store(d)
    """)
    next_floats = (X.view(torch.int32) + 1).view(torch.float32)
    assert torch.equal(run(program), next_floats + 2 * X)


def test_a_tile_that_is_made_is_not_written() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        c @ 0x1000 FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        store(c)
    """)
    assert torch.equal(run(program), X)


def test_carries_lie_where_they_start_and_nothing_but_ops_changes_them() -> None:
    """The plan moves the sum into `b` only, so that `a` stays what it was."""
    program = placed("""
        a0 @ 0x1000 FP32[16, 64] = load(x)
        b0 @ 0x2000 FP32[16, 64] = load(y)
        for i, (a, b) in pl.range(3, init_values=(a0, b0)):
            s @ 0x3000 FP32[16, 64] = pl.tile.add(a, b)
            m @ 0x2000 FP32[16, 64] = pl.tile.move(s, target_memory=pl.Mem.Vec)
            a1, b1 = pl.yield_(b, m)
        d @ 0x4000 FP32[16, 64] = pl.tile.sub(b1, a1)
        store(d)
    """)
    first, second = X, Y
    for _ in range(3):
        second = first + second
    assert torch.equal(run(program), second - first)
    assert not torch.equal(run(program, storage=False), second - first)


@pytest.mark.parametrize("n", [0, 1])
def test_results_of_branches_lie_where_what_they_yield_does(n: int) -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        if n == 0:
            p @ 0x2000 FP32[16, 64] = pl.tile.muls(a, 2.0)
            r @ 0x2000 FP32[16, 64] = pl.yield_(p)
        else:
            q @ 0x2000 FP32[16, 64] = pl.tile.muls(a, 3.0)
            r @ 0x2000 FP32[16, 64] = pl.yield_(q)
        store(r)
    """)
    assert torch.equal(run(program, n), X * (2 + n))


def test_scalars_change_all_at_once() -> None:
    program = placed("""
        a0 @ 0x1000 FP32[16, 64] = load(x)
        for i, (j, k, a) in pl.range(3, init_values=(0, 1, a0)):
            b @ 0x1000 FP32[16, 64] = pl.tile.adds(a, pl.cast(j, pl.FP32))
            j1, k1, a1 = pl.yield_(k, j + 10, b)
        store(a1)
    """)
    assert torch.equal(run(program), X + 0 + 1 + 10)


def test_allocations_without_addresses_are_apart() -> None:
    program = placed("""
        a @ 0 FP32[16, 64] = load(x)
        b @ other+0 FP32[16, 64] = load(y)
        c @ 0 FP32[16, 64] = pl.tile.muls(a, 2.0)
        d @ other+0 FP32[16, 64] = pl.tile.add(b, c)
        store(d)
    """)
    assert torch.equal(run(program), X * 2 + Y)


def test_allocations_with_addresses_share_a_memory() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ other+0x1000 FP32[16, 64] = load(y)
        store(a)
    """)
    assert torch.equal(run(program), Y)


def test_the_text_says_where_tiles_lie() -> None:
    program = placed("""
        a @ 0x400 FP32[16, 64] = load(x)
        w @ 0x440 FP32[16, 16] = pl.tile.slice(a, [16, 16], [0, 16])
        b @ 0x1400 FP32[16, 64] = pl.tile.exp(a)
        for i, (c,) in pl.range(3, init_values=(b,)):
            d @ 0x400 FP32[16, 64] = pl.tile.move(c, target_memory=pl.Mem.Vec)
            e = pl.yield_(d)
        store(e)
    """)
    text = torch_codegen(program, storage=True)
    body = text[text.index('"""', text.index("def kernel")) :].split("\n\n")[0]
    assert body.splitlines()[1:] == [
        "    vec = _pool(9216, x.device)",
        "    a = _buf(vec, 0x400, [16, 64], torch.float32)",
        "    a.copy_(_tile_slice(x, [16, 64], [0, 0]))",
        "    w = _buf(vec, 0x440, [16, 16], torch.float32, [64, 1])",
        "    b = _buf(vec, 0x1400, [16, 64], torch.float32)",
        "    torch.exp(a, out=b)",
        "    c = b",
        "    d = _buf(vec, 0x400, [16, 64], torch.float32)",
        "    for i in range(3):",
        "        d.copy_(c)",
        "        # nothing copies d to where c lies",
        "    e = c",
        "    o_e = _tile_store(e, [0, 0], out)",
        "    return out",
    ]


def test_a_script_without_the_option_has_nothing_of_it() -> None:
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        store(a)
    """)
    text = torch_codegen(program, preamble="full")
    assert not any(name in text for name in ("_pool(", "_buf(", "_write_tile", "_STORAGE"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "a @ 0x10400 FP32[16, 64] = load(x)",
            "a tile of 4096 bytes at Vec 0x10400, in an allocation of 65536 bytes from 0x1000 on",
        ),
        (
            "a @ other+0x2000000 FP32[16, 64] = load(x)",
            "a tile of 4096 bytes at Vec 0x2000000, and no core has more than 0x3c000 there",
        ),
        (
            "a @ 0x1402 FP32[16, 64] = load(x)",
            "a tile of 4096 bytes at Vec 0x1402, which is no multiple of the 4 bytes of an element",
        ),
        (
            "a @ -0x20 FP32[16, 64] = load(x)",
            "a tile of 4096 bytes at Vec -0x20, in an allocation of 65536 bytes from -0x20 on",
        ),
        (
            "a @ 0x10e0 FP32[16, 16] = pl.tile.slice(b, [16, 16], [0, 56])",
            "a window [16, 16] of 3904 bytes at Vec 0x10e0, from [0, 56] on in a tile [16, 64]",
        ),
        (
            "a @ 0xfe0 FP32[16, 16] = pl.tile.slice(b, [16, 16], [0, -8])",
            "a window [16, 16] of 3904 bytes at Vec 0xfe0, from [0, -8] on in a tile [16, 64]",
        ),
        (
            "a @ 0x1000 FP32[8, 16] = pl.tile.slice(b, [8, 16], [n, 49])",
            "a window [8, 16] of 1856 bytes at Vec 0x1000, from [n, 49] on in a tile [16, 64]",
        ),
        (
            "a @ 0x1000 FP32[32, 64] = pl.tile.reshape(b, [32, 64])",
            "a view of 8192 bytes at Vec 0x1000, of a tile of 4096 bytes",
        ),
        (
            "a @ nowhere+-0x20 FP32[16, 64] = load(x)",
            "a tile of 4096 bytes at Vec -0x20, in 'nowhere', which nothing allocates",
        ),
        (
            "a @ other+0x1000 FP32[16, 64] = pl.tile.reshape(b, [16, 64])\n"
            "        c @ other+0x2000 FP32[16, 64] = load(x)",
            "a tile of 4096 bytes at Vec 0x1000, in an allocation of 65536 bytes from 0x2000 on",
        ),
        (
            "a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, pl.const(4096, pl.INT64), 2048), pl.Mem.Vec]"
            " = load(x)",
            "a tile of 4096 bytes at Vec 0x1000, for which its type has 2048 bytes",
        ),
        (
            "a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(other, pl.const(0, pl.INT64), 4096), pl.Mem.Mat]"
            " = load(x)",
            "a tile of 4096 bytes at Mat 0x0, in an allocation of Vec",
        ),
    ],
)
def test_a_tile_that_does_not_fit_into_its_memory_is_refused(line: str, told: str) -> None:
    program = placed(f"""
        b @ 0x1000 FP32[16, 64] = load(y)
        {line}
        store(a)
    """)
    with pytest.raises(UnsupportedProgramError) as error:
        torch_codegen(program, storage=True)
    place = "(function 'kernel', variable 'a', <string>:11:9)"
    assert [str(found) for found in error.value.found] == [f"{told} {place}"]
    torch_codegen(program)


CUBE = """
    in_mat: pl.Ptr = pl.tile.alloc(pl.Mem.Mat, {at})
    in_left: pl.Ptr = pl.tile.alloc(pl.Mem.Left, 4096)
    in_right: pl.Ptr = pl.tile.alloc(pl.Mem.Right, 4096)
    in_acc: pl.Ptr = pl.tile.alloc(pl.Mem.Acc, 1024)
    a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(in_mat, pl.const(4096, pl.INT64), 4096), pl.Mem.Mat] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
    b: pl.Tile[[16, 64], pl.FP32, pl.MemRef(in_mat, pl.const({at}, pl.INT64), 4096), pl.Mem.Mat] = pl.tile.load(y, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
    t: pl.Tile[[64, 16], pl.FP32, pl.MemRef(in_mat, pl.const({at}, pl.INT64), 4096), pl.Mem.Mat, pl.TileView(blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.col_major)] = pl.tile.transpose_view(b)
    l: pl.Tile[[16, 64], pl.FP32, pl.MemRef(in_left, pl.const(0, pl.INT64), 4096), pl.Mem.Left] = pl.tile.move(a, target_memory=pl.Mem.Left)
    r: pl.Tile[[64, 16], pl.FP32, pl.MemRef(in_right, pl.const(0, pl.INT64), 4096), pl.Mem.Right] = pl.tile.move(t, target_memory=pl.Mem.Right)
    c: pl.Tile[[16, 16], pl.FP32, pl.MemRef(in_acc, pl.const(0, pl.INT64), 1024), pl.Mem.Acc] = pl.tile.matmul(l, r)
    store(c)
"""  # noqa: E501  # the printer breaks no lines


@pytest.mark.parametrize(("at", "left"), [(8192, X), (4096, Y)])
def test_tiles_of_the_cube_core_lie_in_boxes(at: int, left: torch.Tensor) -> None:
    """A transposed view shows the bytes of its tile; one loaded over the other operand takes its place."""
    program = placed(CUBE.format(at=at))
    assert torch.allclose(run(program)[:, :16], left @ Y.T)
    text = torch_codegen(program, storage=True)
    assert f'    t = _boxes(mat, {at:#x}, [64, 16], torch.float32, "ZN")\n' in text
    assert "    _matmul_boxes(c, _unpack(l), _unpack(r))\n" in text


def popping(before: str = "", after: str = "", *, count: int = 2, size: int = 4096, base: int = 0) -> str:
    """A kernel that pops two tiles and stores what it makes of them; it gives slots back as told."""
    declared = f"dir_mask=1, slot_size={size}, slot_num={count}"
    return f"""
        slots: pl.Scalar[pl.INT32] = pl.system.reserve_buffer(name='slots', size=8192, base={base})
        pl.system.aiv_initialize_pipe(slots, pl.const(0, pl.INT32), {declared})
        s: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
        {before}
        t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.tpop_from_aic(split=0)
        a @ 0x4000 FP32[16, 64] = pl.tile.muls(s, 2.0)
        b @ 0x5000 FP32[16, 64] = pl.tile.add(a, t)
        {after}
        store(b)
    """


FREE = "pl.system.tfree_to_aic(s, split=0)"


def test_popped_tiles_lie_in_the_slots_of_their_pipe() -> None:
    program = placed(popping(after=FREE))
    assert torch.equal(run(program, pushed=[X, Y]), X * 2 + Y)
    text = torch_codegen(program, storage=True)
    assert "    slots = _Slots(vec, 0x0, 4096, 2)\n" in text
    assert "    s = slots.take(_cross_core_rt.pop_from_aic(0))\n" in text
    assert "    _cross_core_rt.tfree_to_aic(split=0)\n    slots.free()\n" in text


def test_what_is_in_a_slot_that_has_been_given_back_is_lost() -> None:
    program = placed(popping(before=FREE))
    assert torch.equal(run(program, storage=False, pushed=[X, Y]), X * 2 + Y)
    assert run(program, pushed=[X, Y]).isnan().all()


def test_a_pipe_of_one_slot_has_one_tile_at_a_time() -> None:
    program = placed(popping(count=1))
    assert torch.equal(run(program, pushed=[X, Y]), Y * 2 + Y)


def test_tiles_and_slots_share_a_memory() -> None:
    """The result is put where the second slot lies, before that is read."""
    program = placed(popping(base=0x3000).replace("slot_size=4096", "slot_size=0x1000"))
    assert torch.equal(run(program, pushed=[X, Y]), X * 2 + X * 2)


@pytest.mark.parametrize(
    ("kernel", "told"),
    [
        (popping(size=2048), "a tile of 4096 bytes in slots of 2048 bytes"),
        (
            popping(count=3),
            "a tile of 4096 bytes in slots of 4096 bytes, of which 3 are in a buffer of 8192 bytes",
        ),
        (
            popping(base=0x18),
            "a tile of 4096 bytes in slots of 4096 bytes, which begin at Vec 0x18, no multiple of 32",
        ),
    ],
)
def test_slots_that_do_not_fit_are_refused(kernel: str, told: str) -> None:
    program = placed(kernel)
    with pytest.raises(UnsupportedProgramError) as error:
        torch_codegen(program, storage=True)
    assert str(error.value.found[0]) == f"{told} (function 'kernel', variable 's', <string>:12:9)"


def test_a_workspace_is_clobbered() -> None:
    kernel = """
        a @ 0x1000 FP32[16, 64] = load(x)
        b @ 0x4000 FP32[16, 64] = load(y)
        w @ {at} FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        m @ 0x6000 FP32[16, 1] = pl.tile.row_max(b, w)
        c @ 0x8000 FP32[16, 64] = pl.tile.row_expand_add(a, m)
        store(c)
    """
    want = X + Y.amax(dim=1, keepdim=True)
    assert torch.equal(run(placed(kernel.format(at="0x3000"))), want)
    overlaid = run(placed(kernel.format(at="0x1800")))  # over the last eight rows of `a`, which is read later
    assert torch.equal(overlaid[:8], want[:8])
    assert overlaid[8:].isnan().all()


ELSEWHERE = """
    b @ 0x1000 FP32[16, 64] = load(y)
    a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, pl.const(8192, pl.INT64), 4096){}] = pl.tile.muls(b, 2.0)
    store(a)
"""


def test_a_tile_in_global_memory_is_refused() -> None:
    with pytest.raises(UnsupportedProgramError) as error:
        torch_codegen(placed(ELSEWHERE.format(", pl.Mem.DDR")), storage=True)
    told = "a tile of 4096 bytes at 0x2000 in DDR, which is no memory of a core"
    place = "(function 'kernel', variable 'a', <string>:11:9)"
    assert [str(found) for found in error.value.found] == [f"{told} {place}"]


@pytest.mark.parametrize(
    ("space", "told"),
    [("", "a TileType with a memref needs its memory_space as well"), (", pl.Mem.Ubuf", "Ubuf")],
)
def test_a_tile_in_no_memory_that_there_is_is_not_read(space: str, told: str) -> None:
    with pytest.raises(ParserError) as error:
        placed(ELSEWHERE.format(space))
    assert told in str(error.value)
    assert "--> <string>:11:" in str(error.value)


SWAP = """
    third: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
    p @ 0 FP32[16, 64] = load(x)
    q @ other+0 FP32[16, 64] = load(y)
    for i, (a, b) in pl.range(3, init_values=(p, q)):
        c, d = pl.yield_(b, a)
    e @ third+0 FP32[16, 64] = pl.tile.sub(c, d)
    store(e)
"""


def test_what_is_yielded_is_copied_all_at_once_where_nobody_has_planned_that() -> None:
    program = placed(SWAP)
    names: dict = {}
    text = torch_codegen(program, options={"storage": True, "copy_yields": True})
    exec(text, names)
    out = torch.zeros(16, 64)
    names["kernel"](X, Y, 0, out)
    assert torch.equal(out, Y - X)
    assert "        _carry([a, b], [b, a])\n" in text
    assert torch.equal(run(program), X - Y)


def test_a_workspace_is_lost_behind_the_declaration_whose_type_the_line_tells():
    program = placed("""
        a @ 0x1000 FP32[16, 64] = load(x)
        w @ 0x4000 FP32[16, 64] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        m @ 0x6000 FP32[16, 1] = pl.tile.row_max(a, w)
        c @ 0x8000 FP32[16, 64] = pl.tile.row_expand_add(a, m)
        store(c)
    """)
    lines = [
        line.strip() for line in torch_codegen(program, options={"storage": True}, comments=True).splitlines()
    ]
    at = lines.index("_clobber(w)")
    assert lines[at - 1].startswith("m = _buf(") and lines[at - 1].endswith("  # FP32[16, 1]")
    assert lines[at + 1] == "torch.amax(a, dim=-1, keepdim=True, out=m)"


LOOPED = """
    x0 @ 0x1000 FP32[16, 64] = load(x)
    a @ 0x1000 FP32[16, 64] = pl.tile.muls(x0, 1.0)
    for i, (s,) in pl.range(3, init_values=(a,)):
        for j, (t,) in pl.range(2, init_values=(s,)):
            d @ 0x3000 FP32[16, 64] = pl.tile.muls(t, 2.0)
            w @ 0x3400 FP32[4, 64] = pl.tile.slice(d, [4, 64], [4, 0])
            v @ 0x3000 FP32[4, 64] = pl.tile.slice(d, [4, 64], [j, 0])
            m @ 0x1000 FP32[16, 64] = pl.tile.move(d, target_memory=pl.Mem.Vec)
            e @ 0x5000 FP32[4, 64] = pl.tile.add(w, v)
            t1 = pl.yield_(m)
        s1 = pl.yield_(t1)
    store(s1)
"""


def test_what_lies_at_one_place_in_all_rounds_is_declared_before_the_outermost_loop() -> None:
    text = torch_codegen(placed(LOOPED), storage=True)
    before, _, body = text.partition("    for i in range(3):\n")
    for line in (
        "    d = _buf(vec, 0x3000, [16, 64], torch.float32)\n",
        "    w = _buf(vec, 0x3400, [4, 64], torch.float32)\n",
        "    m = _buf(vec, 0x1000, [16, 64], torch.float32)\n",
    ):
        assert line in before
    assert "            v = _window(d, [j, 0], [4, 64])\n" in body
    assert torch.equal(run(placed(LOOPED)), 64 * X)


def test_a_tile_with_notes_of_the_edge_of_its_tensor_is_another_one_in_each_round() -> None:
    """The cells that a load did not find are left out of the store; in the next round all are there."""
    body = """
        b @ 0x2000 FP32[16, 64] = load(y)
        store(b)
        for i in pl.range(2):
            c @ 0x1000 FP32[16, 64] = pl.tile.load(x, [8 - 8 * i, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
            o_c: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(c, [0, 0], out)
    """  # noqa: E501  # the printer breaks no lines
    assert torch.equal(run(placed(body)), X)
