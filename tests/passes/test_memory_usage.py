"""What the report on memory says: against texts of recorded stages, and counted by hand."""

import re
from pathlib import Path

import pytest
from passes.stored import stored

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.backend import facts_of
from pypto_tmpl.passes.memory.report import report_text, size_text
from pypto_tmpl.passes.memory.usage import BufferUse, SpaceUse, memory_use

TESTS = Path(__file__).resolve().parents[1]
LOAD = "{0}: T[{1}] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
# Statements 0 and 1 allocate A and B. A holds a (2 to 4) and c (4 to 5), B holds b (3 to 6).
KERNEL = (
    LOAD.format("a", "A"),
    LOAD.format("b", "B"),
    "c: T[A] = pl.tile.add(a, b)",
    "o: O = pl.tile.store(c, [0, 0], out)",
    "p: O = pl.tile.store(b, [0, 0], o)",
)
RECORDED = [
    ("mixed_c2v_up_down", "46_after_MaterializeRuntimeScopes"),
    ("layer_norm_pipeline", "47_after_ClassifyIterArgCarry"),
    ("flash_attention", "47_after_ClassifyIterArgCarry"),
]
TILE = re.compile(
    r"^ +(\w+): pl\.Tile\[\[[^=]*?pl\.MemRef\((\w+), (?:pl\.const\()?(\d+)(?:, pl\.INT64\))?, (\d+)\)", re.M
)


@pytest.fixture(autouse=True)
def chosen_backend():
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    yield
    backend.reset_for_testing()


def used(node):
    return memory_use(node, facts_of(backend.BackendType.Ascend910B))


def allocated(*lines, **options):
    return passes.make_pass("AllocateMemoryAddr")(stored(*lines, **options))


@pytest.mark.parametrize(("name", "stage"), RECORDED)
def test_tiles_lie_where_the_recorded_text_says(name, stage):
    """Names, allocations and bytes are those of the text that PyPTO printed of the same stage."""
    folder = TESTS / "corpus/dumps" / name / "Ascend910B"
    node = ir.deserialize_from_file(str(folder / f"{stage}.msgpack"))
    assert isinstance(node, ir.Program)
    found = {
        (tile.name, buffer.name, tile.start, tile.size)
        for kernel in used(node)
        for space in kernel.spaces
        for buffer in space.buffers
        for tile in buffer.tiles
    }
    text = (folder / f"{stage}.py").read_text()
    written = {(tile, base, int(start), int(size)) for tile, base, start, size in TILE.findall(text)}
    assert len(written) > 5 and found == written


def test_a_kernel_counted_by_hand():
    (kernel,) = used(allocated(*KERNEL))
    assert [text for text, _ in kernel.as_dict()["statements"][2:5]] == [
        "a = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "b = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
        "c = pl.tile.add(a, b)",
    ]
    (vec,) = kernel.spaces
    assert [(b.name, b.start, b.size, b.first, b.last) for b in vec.buffers] == [
        ("A", 0, 4096, 2, 5),
        ("B", 4096, 4096, 3, 6),
    ]
    assert [(t.name, t.first, t.last, t.type) for t in vec.buffers[0].tiles] == [
        ("a", 2, 4, "[16, 64] FP32"),
        ("c", 4, 5, "[16, 64] FP32"),
    ]
    assert (vec.used, vec.limit, vec.peak, vec.unshared, vec.reuse) == (8192, 184 * 1024, 8192, 12288, 1.5)


def test_the_report_of_that_kernel():
    assert (
        report_text("AllocateMemoryAddr", "910B", used(allocated(*KERNEL)))
        == """\
=== Memory Usage Report ===
Pass: AllocateMemoryAddr
Backend: 910B
Functions: 1 compute functions

--- kernel ---

Space | Used   | Limit    | Usage | MemRefs | Reuse
------+--------+----------+-------+---------+------
Vec   | 8.0 KB | 184.0 KB | 4.3%  | 2       | 1.50x

Vec:
  Name | Size   | Address range | Live range | Tiles
  -----+--------+---------------+------------+------
  A    | 4.0 KB | [0, 4096)     | [2, 5]     | a, c
  B    | 4.0 KB | [4096, 8192)  | [3, 6]     | b
"""
    )


def test_what_has_no_address_says_so():
    """Before AllocateMemoryAddr every allocation begins at 0, which is no address of several."""
    node = stored(*KERNEL)
    (kernel,) = used(node)
    assert not kernel.is_placed and kernel.spaces[0].used == 8192
    text = report_text("MemoryReuse", "", memory_use(node, None))
    assert "A    | 4.0 KB | (unallocated) | [2, 5]" in text and "Backend: none\n" in text
    assert "Vec   | 8.0 KB | N/A   | N/A   | 2       | 1.50x" in text


def test_buffers_of_pipes_and_views():
    """64 bytes of a pipe come first. A view needs no bytes of its own: it lies 4 rows of 256 bytes on."""
    view = "pl.Tile[[4, 64], pl.FP32, pl.MemRef(A, pl.const(1024, pl.INT64), 1024), pl.Mem.Vec]"
    node = allocated(
        "p = pl.system.reserve_buffer(name='slots', size=64, base=-1)",
        LOAD.format("a", "A"),
        f"v: {view} = pl.tile.slice(a, [4, 64], [4, 0])",
        "o: O = pl.tile.store(v, [0, 0], out)",
    )
    (vec,) = used(node)[0].spaces
    pipe, own = vec.buffers
    assert (pipe.name, pipe.kind, pipe.start, pipe.size, pipe.tiles) == ("slots", "pipe", 0, 64, ())
    assert [(t.name, t.start, t.size, t.is_own) for t in own.tiles] == [
        ("a", 64, 4096, True),
        ("v", 1088, 1024, False),
    ]
    assert (vec.unshared, vec.reuse, vec.peak) == (4160, 1.0, 4160)


def test_bytes_that_allocations_share_count_once():
    """Of 300 bytes the first 100 hold two allocations: 400 bytes of values in 300."""
    buffers = (BufferUse("a", "tiles", 0, 100, 1, 2, ()), BufferUse("b", "tiles", 0, 300, 4, 5, ()))
    space = SpaceUse(ir.MemorySpace.Vec, None, buffers)
    assert (space.used, space.reuse) == (300, 400 / 300)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KB"), (3 * 1024**2, "3.0 MB")]
)
def test_sizes(size, text):
    assert size_text(size) == text


def test_orchestration_has_no_memory_of_a_core():
    assert used(stored(LOAD.format("a", "A"), kind="Orchestration")) == []


def test_the_instrument_writes_the_report_after_the_pass(tmp_path):
    node = stored(*KERNEL)
    with passes.PassContext([passes.ReportInstrument(tmp_path / "report")]):
        passes.make_pass("MemoryReuse")(node)
        assert not (tmp_path / "report").exists()
        placed = passes.make_pass("AllocateMemoryAddr")(node)
    path = tmp_path / "report/memory_after_AllocateMemoryAddr.txt"
    assert path.read_text() == report_text("AllocateMemoryAddr", "910B", used(placed))
    with passes.PassContext([passes.ReportInstrument(tmp_path / "none")]):
        passes.make_pass("AllocateMemoryAddr")(stored(LOAD.format("a", "A"), kind="Orchestration"))
    assert not (tmp_path / "none").exists()
