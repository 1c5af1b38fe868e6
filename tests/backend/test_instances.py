"""Facts of the backends, as PyPTO's names give them. Numbers are those of the published tables."""

import re
from pathlib import Path

import msgpack
import msgspec
import pytest

from pypto_tmpl import backend, ir
from pypto_tmpl.backend import Backend910B, Backend950, BackendFactsError, BackendType, facts_of
from pypto_tmpl.backend.facts import read_facts

KIB = 1024
Space = ir.MemorySpace
HANDLERS = {
    "get_pto_target_arch": ("a2a3", "a5"),
    "get_default_sim_platform": ("a2a3sim", "a5sim"),
    "get_extra_ptoas_flags": (["--pto-arch", "a3"], ["--pto-arch", "a5"]),
    "get_launch_spec_core_count_method": ("set_block_num", "set_core_num"),
    "requires_gm_pipe_buffer": (True, False),
    "requires_split_load_tpop_workaround": (True, False),
    "requires_vto_c_fractal_adapt": (False, True),
    "requires_runtime_subblock_bridge": (True, False),
    "requires_no_split_dual_aiv_dispatch": (True, False),
    "get_gm_access_granularity_bytes": (512, 128),
    "get_l2_cache_line_bytes": (512, 512),
    "get_recommended_innermost_dim_bytes": (512, 128),
    "get_l0a_capacity_bytes": (64 * KIB, 64 * KIB),
    "get_l0b_capacity_bytes": (64 * KIB, 64 * KIB),
    "get_l0c_capacity_bytes": (128 * KIB, 256 * KIB),
    "get_bias_capacity_bytes": (1 * KIB, 4 * KIB),
    "get_mat_capacity_bytes": (512 * KIB, 512 * KIB),
    "get_l0_fractal_alignment": (16, 16),
    "get_min_l0_tile_dim": (16, 16),
}
SIZES = {
    Space.Vec: (184, 240), Space.Mat: (512, 512), Space.Left: (64, 64), Space.Right: (64, 64),
    Space.Acc: (128, 256), Space.Bias: (1, 4), Space.LeftScale: (0, 4), Space.RightScale: (0, 4),
}  # fmt: skip


@pytest.mark.parametrize("method", HANDLERS)
def test_handlers(method):
    handlers = (Backend910B.instance().get_handler(), Backend950.instance().get_handler())
    assert tuple(getattr(handler, method)() for handler in handlers) == HANDLERS[method]


@pytest.mark.parametrize("space", SIZES)
def test_sizes_of_memories(space):
    sizes = tuple(one.instance().get_mem_size(space) for one in (Backend910B, Backend950))
    assert sizes == tuple(size * KIB for size in SIZES[space])


def test_rows_of_an_accumulator():
    old, new = (one.instance().get_handler() for one in (Backend910B, Backend950))
    assert [old.get_l0c_m_alignment(dtype) for dtype in (ir.DataType.INT32, ir.DataType.FP32)] == [32, 16]
    assert new.get_l0c_m_alignment(ir.DataType.INT32) == 16


def test_bias_tables():
    old, new = (one.instance().get_handler() for one in (Backend910B, Backend950))
    for handler in (old, new):
        assert handler.supports_mat_to_bias_move(ir.DataType.FP16, ir.DataType.FP32)
        assert not handler.supports_mat_to_bias_move(ir.DataType.FP16, ir.DataType.FP16)
    assert not old.supports_mat_to_bias_move(ir.DataType.BF16, ir.DataType.FP32)
    assert new.supports_mat_to_bias_move(ir.DataType.BF16, ir.DataType.FP32)


def test_data_takes_the_shortest_way():
    old, new = Backend910B.instance(), Backend950.instance()
    assert old.find_mem_path(Space.DDR, Space.Left) == [Space.DDR, Space.Mat, Space.Left]
    assert old.find_mem_path(Space.Vec, Space.Left) == [Space.Vec, Space.DDR, Space.Mat, Space.Left]
    assert new.find_mem_path(Space.Vec, Space.Left) == [Space.Vec, Space.Mat, Space.Left]
    assert old.find_mem_path(Space.Acc, Space.Vec) == [Space.Acc, Space.DDR, Space.Vec]
    assert new.find_mem_path(Space.Acc, Space.Vec) == [Space.Acc, Space.Vec]
    assert old.find_mem_path(Space.Mat, Space.LeftScale) == []
    assert old.find_mem_path(Space.Vec, Space.Vec) == [Space.Vec]


def test_systems_on_a_chip():
    old, new = Backend910B.instance().soc, Backend950.instance().soc
    assert (old.total_die_count, old.total_cluster_count, old.total_core_count) == (1, 24, 72)
    assert (new.total_die_count, new.total_cluster_count, new.total_core_count) == (2, 36, 108)
    counts = [
        one.instance().get_core_count(core) for one in (Backend910B, Backend950) for core in ir.CoreType
    ]
    assert counts == [24, 48, 36, 72]
    (die,) = new.die_counts
    (cluster,) = die.cluster_counts
    cube = next(core for core in cluster.core_counts if core.core_type is ir.CoreType.CUBE)
    assert {mem.mem_type for mem in cube.mems} == set(SIZES) - {Space.Vec}
    assert {mem.mem_type: mem.alignment for mem in cube.mems}[Space.Acc] == 128


def test_native_casts_and_what_is_none():
    old, new = facts_of(BackendType.Ascend910B), facts_of(BackendType.Ascend950)
    assert old.is_native_cast(ir.DataType.INT8, ir.DataType.FP16)
    assert not old.is_native_cast(ir.DataType.INT8, ir.DataType.INT32)
    assert new.is_native_cast(ir.DataType.INT8, ir.DataType.INT32)
    assert not new.is_native_cast(ir.DataType.INT4, ir.DataType.FP16)
    assert [sum(map(len, one.casts.values())) for one in (old, new)] == [24, 42]


def test_a_backend_does_not_depend_on_the_choice():
    backend.reset_for_testing()
    assert backend.get_backend_instance(BackendType.Ascend950).get_type_name() == "950"
    assert Backend910B.instance().get_type_name() == "910B"
    with pytest.raises(ValueError, match="Backend type not configured"):
        backend.get_handler()
    with pytest.raises(TypeError, match="ask Backend910B or Backend950"):
        backend.Backend.instance()


def test_facts_travel_as_a_file(tmp_path):
    path = str(tmp_path / "backend.msgpack")
    Backend950.instance().export_to_file(path)
    again = backend.Backend.import_from_file(path)
    assert (again.get_type_name(), again.get_mem_size(Space.Vec)) == ("950", 240 * KIB)
    (tmp_path / "other").write_bytes(b"\x81\xa1a\x01")
    with pytest.raises(ValueError, match="other does not hold the facts of a backend"):
        backend.Backend.import_from_file(str(tmp_path / "other"))


def test_contradictions_travel_no_further(tmp_path):
    facts = msgspec.to_builtins(facts_of(BackendType.Ascend910B))
    for key, value, message in (
        ("casts", {"FP16": ["FP16"]}, "casts.FP16: 'FP16' is cast to itself"),
        ("dies", -1, "Expected `int` >= 1"),
        ("acc_store_dtypes", ["INT33"], "acc_store_dtypes: 'INT33' is not a dtype"),
    ):
        (tmp_path / "facts").write_bytes(msgpack.packb({**facts, key: value}))
        with pytest.raises(
            ValueError, match=f"facts does not hold the facts of a backend: {re.escape(message)}"
        ):
            backend.Backend.import_from_file(str(tmp_path / "facts"))


def test_questions_of_the_wrong_kind():
    one, handler = Backend910B.instance(), Backend910B.instance().get_handler()
    for ask, message in (
        (lambda: one.get_core_count("x"), "core_type must be CoreType, got str 'x'"),
        (lambda: one.get_mem_size("Vec"), "space must be MemorySpace, got str 'Vec'"),
        (lambda: one.find_mem_path("DDR", Space.Vec), "source must be MemorySpace, got str 'DDR'"),
        (lambda: one.find_mem_path(Space.DDR, "Vec"), "target must be MemorySpace, got str 'Vec'"),
        (lambda: handler.get_l0c_m_alignment("INT32"), "dtype must be DataType, got str 'INT32'"),
        (lambda: handler.supports_mat_to_bias_move(3, 3), "source must be DataType, got int 3"),
    ):
        with pytest.raises(TypeError, match=f"^{message}$"):
            ask()


LAYOUTS = {
    Space.Vec: ("row_major", "none_box", 512), Space.Mat: ("col_major", "row_major", 512),
    Space.Left: ("col_major", "row_major", 512), Space.Right: ("row_major", "col_major", 512),
    Space.Acc: ("col_major", "row_major", 1024), Space.Bias: ("row_major", "none_box", 512),
    Space.LeftScale: ("row_major", "row_major", 32), Space.RightScale: ("col_major", "col_major", 32),
}  # fmt: skip


@pytest.mark.parametrize("space", LAYOUTS)
def test_layouts_of_memories(space):
    is_scale = space in (Space.LeftScale, Space.RightScale)
    for kind in BackendType:
        layout = facts_of(kind).layout(space)
        if is_scale and kind is BackendType.Ascend910B:
            assert layout is None
            continue
        assert (layout.blayout, layout.slayout, layout.fractal) == LAYOUTS[space]
        view = ir.TileType([16, 32], ir.DataType.FP16, memory_space=space).get_effective_tile_view()
        assert (view.blayout.name, view.slayout.name, view.fractal) == LAYOUTS[space]


def test_ops_on_rows():
    for facts in map(facts_of, BackendType):
        assert facts.needs_row_major("tile.add") and facts.needs_row_major(ir.Op("tile.sort32"))
        assert not facts.needs_row_major("tile.row_sum")


def test_lists_of_folders_below_name_the_same():
    from pypto_tmpl.ir.verifier.launching import ACC_STORE_DTYPES
    from pypto_tmpl.runtime.platforms import PLATFORMS

    for kind in BackendType:
        facts = facts_of(kind)
        names = {name for name, platform in PLATFORMS.items() if platform.backend == kind.name}
        assert names == {facts.architecture, facts.sim_platform}
        assert set(facts.acc_store_dtypes) == ACC_STORE_DTYPES


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("architecture: a2a3", "architecture: a2a3\nspeed: 7", "unknown key 'speed'"),
        ("dies: 1", "dies: one", "Expected `int`, got `str`"),
        ("  DDR: [Vec, Mat]", "  DDR: [Vec, Matt]", "'Matt' is not among the memories"),
        ("  BF16: [FP32, INT32]", "  BF61: [FP32, INT32]", "'BF61' is not a dtype"),
        ("physical: 196608", "physical: 1024", "Vec: tiles may use 188416 bytes of 1024"),
        ("dies: 1", "dies: -1", "Expected `int` >= 1"),
        ("size: 1024,", "size: -1024,", "Expected `int` >= 1"),
        ("set_block_num", "set_blocks", "Invalid enum value 'set_blocks'"),
        ("[INT32, FP32, FP16, BF16]", "[INT32, FP32, INT33]", "'INT33' is not a dtype"),
        ("in_core_4bit_dtypes: []", "in_core_4bit_dtypes: [FQ4]", "'FQ4' is not a dtype"),
        ("in_core_4bit_dtypes: []", "in_core_4bit_dtypes: [FP16]", "'FP16' has not 4 bits"),
        ("{INT32: 32}", "{INT99: 32}", "'INT99' is not a dtype"),
        ("  UINT8: [FP16]", "  UINT8: [UINT8]", "'UINT8' is cast to itself"),
        ("  UINT8: [FP16]", "  UINT8: [FP16, FP16]", "'FP16' stands twice"),
        ("  Left: {blayout", "  LeftScale: {blayout", "'LeftScale' is not among the memories"),
        ("  Acc: {blayout: col_major", "  Acc: {blayout: none_box", "Invalid enum value 'none_box'"),
        ("dies: 1", "dies: 1\ndies: 2", "the key 'dies' is given twice"),
    ],
)
def test_a_broken_file_names_file_and_line(tmp_path, old, new, message):
    text = Path(backend.__file__).with_name("Ascend910B.yaml").read_text()
    assert text.count(old) == 1
    broken = tmp_path / "Ascend910B.yaml"
    broken.write_text(text.replace(old, new))
    with pytest.raises(BackendFactsError) as caught:
        read_facts(broken)
    assert message in str(caught.value)
    line = text[: text.index(old)].count("\n") + new.count("\n") + 1
    assert f"Ascend910B.yaml:{line}" in str(caught.value)
