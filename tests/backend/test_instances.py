"""Facts of the backends, as PyPTO's names give them. Numbers are those of the published tables."""

from pathlib import Path

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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("architecture: a2a3", "architecture: a2a3\nspeed: 7", "unknown key 'speed'"),
        ("dies: 1", "dies: one", "Expected `int`, got `str`"),
        ("  DDR: [Vec, Mat]", "  DDR: [Vec, Matt]", "'Matt' is not among the memories"),
        ("  BF16: [FP32, INT32]", "  BF61: [FP32, INT32]", "'BF61' is not a dtype"),
        ("physical: 196608", "physical: 1024", "Vec: tiles may use 188416 bytes of 1024"),
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
