"""Strategies, planners, and dumps."""

from pathlib import Path

import pytest
from default_stages import PASSES, STAGES
from passes.recorded_pairs import recorded_pairs
from passes.test_pipeline import NESTED

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.ir.pass_manager import OptimizationStrategy, PassDumpLevel, PassManager, coerce_dump_level
from pypto_tmpl.passes import manager
from pypto_tmpl.passes.manager import run_pipeline

ROOT = Path(__file__).resolve().parents[2]
# PyPTO's factories, as its users call them.
FACTORIES = [
    "allocate_memory_addr",
    "auto_derive_task_dependencies",
    "auto_tile_matmul_l0",
    "canonicalize_io_order",
    "canonicalize_tile_slice",
    "classify_iter_arg_carry",
    "convert_tensor_to_tile_ops",
    "convert_to_ssa",
    "ctrl_flow_transform",
    "derive_call_directions",
    "expand_manual_phase_fence",
    "expand_mixed_kernel",
    "flatten_call_expr",
    "flatten_tile_nd_to_2d",
    "fold_no_op_reshape",
    "fuse_create_assemble_to_slice",
    "infer_tile_memory_space",
    "init_mem_ref",
    "inject_gm_pipe_buffer",
    "inline_functions",
    "insert_comm_fence",
    "insert_mx_scale_addr",
    "legalize_tile_cast",
    "lower_auto_vector_split",
    "lower_composite_ops",
    "lower_host_tensor_collectives",
    "lower_pipeline_loops",
    "lower_pipeline_to_slots",
    "materialize_comm_domain_scopes",
    "materialize_dist_tensor_ctx",
    "materialize_runtime_scopes",
    "materialize_semantic_aliases",
    "materialize_tensor_strides",
    "materialize_valid_shape_symbols",
    "memory_reuse",
    "normalize_return_order",
    "normalize_stmt_structure",
    "optimize_orch_tensors",
    "outline_cluster_scopes",
    "outline_hierarchy_scopes",
    "outline_incore_scopes",
    "resolve_backend_op_layouts",
    "simplify",
    "skew_cross_core_pipeline",
    "split_vector_kernel",
    "stamp_tfree_split",
    "synthesize_allreduce_signals",
    "unroll_loops",
]


def test_the_strategies():
    assert PassManager.get_strategy().get_pass_names() == PASSES
    debug = PassManager(OptimizationStrategy.DebugTileOptimization)
    assert debug.pass_names == PASSES[:7] + PASSES[12:]
    assert len(debug.passes) == 44
    assert debug.strategy is OptimizationStrategy.DebugTileOptimization
    with pytest.raises(ValueError, match="Unsupported optimization strategy: 'Default'"):
        PassManager("Default")


@pytest.mark.parametrize(
    ("planner", "left_out"),
    [("PYPTO", set()), ("PTOAS", {"MemoryReuse", "AllocateMemoryAddr"}), ("DSA_RP", {"MemoryReuse"})],
)
def test_planners_leave_passes_out(planner, left_out):
    with passes.PassContext([], memory_planner=passes.MemoryPlanner[planner]):
        names = PassManager.get_strategy().pass_names
    assert names == [name for name in PASSES if name not in left_out]


def test_buffers_come_last():
    with passes.PassContext(buffers=True):
        made = PassManager.get_strategy()
        debug = PassManager(OptimizationStrategy.DebugTileOptimization)
    assert made.pass_names == [*PASSES, "LowerToBuffers"]
    assert debug.pass_names == [*PASSES[:7], *PASSES[12:], "LowerToBuffers"]
    with pytest.raises(RuntimeError, match="^the manager was made with buffers, and the context is without$"):
        made.run_passes(pl.parse(NESTED))
    without = PassManager.get_strategy()
    with (
        passes.PassContext(buffers=True),
        pytest.raises(RuntimeError, match="made without buffers, and the context is with$"),
    ):
        without.run_passes(pl.parse(NESTED))


def test_a_manager_goes_with_its_planner():
    made = PassManager.get_strategy()
    program = pl.parse(NESTED)
    with (
        passes.PassContext([], memory_planner=passes.MemoryPlanner.PTOAS),
        pytest.raises(RuntimeError, match="made for the memory planner PYPTO, and the context has PTOAS"),
    ):
        made.run_passes(program)
    assert ir.verify(made.run_passes(program), [ir.IRProperty.SSAForm]) == []


def test_the_option_of_task_dependencies():
    made = PassManager.get_strategy(analyze_auto_scopes_for_deps=True)
    with_option = [pass_.get_name() for pass_ in made.passes if getattr(pass_, "analyze_auto_scopes", False)]
    assert with_option == ["AutoDeriveTaskDependencies"]


def test_a_pass_by_its_name():
    assert set(passes.PASSES) == {*PASSES, "LowerToBuffers"}
    assert [passes.make_pass(name).get_name() for name in PASSES] == PASSES
    with pytest.raises(ValueError, match="'ConvertToSSa' is no pass; .*did you mean 'ConvertToSSA'"):
        passes.make_pass("ConvertToSSa")


def test_factories():
    made = [getattr(passes, name)().get_name() for name in FACTORIES]
    assert sorted(made) == sorted(set(PASSES))
    with pytest.raises(AttributeError, match=r"'pypto_tmpl\.passes' has no attribute 'nothing'"):
        passes.nothing  # noqa: B018


# Dumps


def test_dumps_of_every_stage(tmp_path):
    pair = recorded_pairs("FlattenCallExpr")[0]
    before = pair.before()
    pipeline = passes.PassPipeline(
        [passes.create_program_pass(lambda p: p, "Same"), passes.flatten_call_expr()]
    )
    after = run_pipeline(pipeline, before, True, tmp_path / "dumps")
    names = ["00_frontend", "01_after_Same", "02_after_FlattenCallExpr"]
    found = sorted(path.name for path in (tmp_path / "dumps").iterdir())
    assert found == [f"{name}.{suffix}" for name in names for suffix in ("msgpack", "py")]
    for name, node in zip(names, [before, before, after], strict=True):
        text = (tmp_path / "dumps" / f"{name}.py").read_text()
        assert text.rstrip("\n") == ir.python_print(node, format=False).rstrip("\n")
        assert text.endswith("\n") and not text.endswith("\n\n")
        binary = ir.deserialize_from_file(str(tmp_path / "dumps" / f"{name}.msgpack"))
        assert ir.structural_equal(binary, node)


def test_levels_and_prefix_of_dumps(tmp_path):
    program, pipeline = pl.parse(NESTED), passes.PassPipeline()
    for level, has_layouts in ((PassDumpLevel.CONCISE, False), (PassDumpLevel.EXPLICIT, True)):
        run_pipeline(pipeline, program, level, tmp_path, prefix="q")
        text = (tmp_path / "00_frontend.py").read_text()
        assert "q.tile.load" in text and "pl.tile" not in text
        assert ("blayout" in text) is has_layouts
    assert run_pipeline(pipeline, program, PassDumpLevel.NONE) is program
    assert [coerce_dump_level(value) for value in (True, False, PassDumpLevel.EXPLICIT)] == [
        PassDumpLevel.CONCISE,
        PassDumpLevel.NONE,
        PassDumpLevel.EXPLICIT,
    ]


def test_what_cannot_be_dumped(tmp_path):
    program = pl.parse(NESTED)
    with pytest.raises(ValueError, match="output_dir is required when dumping IR"):
        run_pipeline(passes.PassPipeline(), program, True)
    with pytest.raises(ValueError, match=r"only an ir\.Program can be dumped, got Function"):
        run_pipeline(passes.PassPipeline(), program["kernel"], True, tmp_path)


def test_warnings_of_passes_stand_beside_their_dumps(tmp_path, caplog):
    source = tmp_path / "kernel.py"
    source.write_text(NESTED)
    pipeline = passes.PassPipeline([passes.flatten_call_expr()])
    with passes.PassContext([], diagnostic_phase=passes.DiagnosticPhase.POST_PASS):
        run_pipeline(pipeline, pl.loads(source), True, tmp_path / "dumps")
    assert (tmp_path / "dumps/01_after_FlattenCallExpr.log").read_text() == (
        f"{source}:9:9: warning: 'unread' is never read [UnusedVariable]\n"
        "            unread = pl.exp(t)\n"
        "            ^\n"
    )
    assert not list((tmp_path / "dumps").glob("00*.log"))
    assert [record.args[0] for record in caplog.records] == ["the input"]


def test_the_context_while_dumping(tmp_path):
    seen = []

    def look(program: ir.Program) -> ir.Program:
        seen.append(passes.PassContext.current())
        return program

    mine = passes.CallbackInstrument(name="Mine")
    outer = passes.PassContext(
        [mine],
        passes.VerificationLevel.NONE,
        passes.DiagnosticPhase.POST_PASS,
        [],
        passes.MemoryPlanner.DSA_RP,
        True,
        passes.RuntimeKind.HOST_BUILD_GRAPH,
    )
    with outer:
        run_pipeline(
            passes.PassPipeline([passes.create_program_pass(look)]), pl.parse(NESTED), True, tmp_path
        )
    (inner,) = seen
    assert [watching.get_name() for watching in inner.get_instruments()] == ["Mine", "IRDump"]
    assert inner.get_verification_level() is passes.VerificationLevel.NONE
    assert inner.get_diagnostic_phase() is passes.DiagnosticPhase.PRE_PIPELINE
    assert inner.get_disabled_diagnostics().empty()
    assert inner.get_memory_planner() is passes.MemoryPlanner.DSA_RP
    assert inner.get_enable_pypto_l0c_double_buffer() is True
    assert inner.get_runtime() is passes.RuntimeKind.TENSORMAP_AND_RINGBUFFER
    assert manager._planner() is passes.MemoryPlanner.PYPTO


LAST = {
    ("softmax_rows", "Ascend910B"): "47_after_ClassifyIterArgCarry",
    ("mixed_c2v_up_down", "Ascend910B"): "46_after_MaterializeRuntimeScopes",
}


@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("name", ["softmax_rows", "mixed_c2v_up_down"])
@pytest.mark.parametrize("level", ["BASIC", "ROUNDTRIP"])
def test_a_strategy_from_the_first_pass_to_the_last(name, chosen, level, tmp_path):
    """The frontend's program is the same for both backends; of one of them the last change is recorded."""
    dump = ROOT / f"tests/corpus/dumps/{name}/Ascend910B"
    node = ir.deserialize_from_file(str(dump / "00_frontend.msgpack"))
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[chosen])
    instruments = [passes.make_roundtrip_instrument()] if level == "ROUNDTRIP" else []
    try:
        with passes.PassContext(instruments, passes.VerificationLevel[level]):
            result = PassManager.get_strategy().run_passes(node, dump_ir=True, output_dir=tmp_path)
    finally:
        backend.reset_for_testing()
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        f"{stage}.{suffix}" for stage in STAGES for suffix in ("msgpack", "py")
    ]
    if (recorded := LAST.get((name, chosen))) is not None:
        ir.assert_structural_equal(result, ir.deserialize_from_file(str(dump / f"{recorded}.msgpack")))


def test_the_strategy_for_kernels_of_tiles():
    """Given what the passes over tensors made, it makes of it what the other passes made."""
    dump = ROOT / "tests/corpus/dumps/softmax_rows/Ascend910B"
    node = ir.deserialize_from_file(str(dump / "11_after_ConvertTensorToTileOps.msgpack"))
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType.Ascend910B)
    try:
        result = PassManager.get_strategy(OptimizationStrategy.DebugTileOptimization).run_passes(node)
    finally:
        backend.reset_for_testing()
    last = ir.deserialize_from_file(str(dump / "47_after_ClassifyIterArgCarry.msgpack"))
    ir.assert_structural_equal(result, last)
