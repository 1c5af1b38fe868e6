"""Pipelines: order, contexts, instruments, verification, warnings."""

import logging
import threading
from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.performance import hint_lines
from pypto_tmpl.passes.settings import get_default_diagnostic_phase

P = ir.IRProperty
ROOT = Path(__file__).resolve().parents[2]
NESTED = """
import pypto.language as pl

@pl.program
class nested:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
        t = pl.load(x, [0, 0], [16, 16])
        unread = pl.exp(t)
        done = pl.store(pl.exp(pl.neg(t)), [0, 0], out)
        return done
"""


@pytest.fixture
def program() -> ir.Program:
    return pl.parse(NESTED)


def same(name: str, log: list[str], **properties) -> passes.Pass:
    """A pass that changes nothing and notes that it ran."""

    def note(function: ir.Function) -> ir.Function:
        log.append(name)
        return function

    sets = {key: passes.IRPropertySet(value) for key, value in properties.items()}
    return passes.create_function_pass(note, name, passes.PassProperties(**sets))


def test_passes_run_in_order_and_nothing_changed_is_the_same_object(program):
    log: list[str] = []
    pipeline = passes.PassPipeline([same("First", log)])
    pipeline.add_pass(same("Second", log))
    assert pipeline.get_pass_names() == ["First", "Second"]
    assert [pass_.get_name() for pass_ in pipeline.get_passes()] == ["First", "Second"]
    assert pipeline.run(program) is program
    assert log == ["First", "Second"]


def test_what_is_no_pass_and_what_is_no_program(program):
    with pytest.raises(TypeError, match="a PassPipeline holds passes, got function"):
        passes.PassPipeline([lambda node: node])
    with pytest.raises(TypeError, match=r"FlattenCallExpr takes an ir\.Program, got Function"):
        passes.flatten_call_expr()(program["kernel"])


def test_a_pipeline_runs_on_programs_alone():
    with pytest.raises(TypeError, match=r"a PassPipeline runs on an ir\.Program, got str"):
        passes.PassPipeline().run("x")


def test_a_class_is_no_pass():
    with pytest.raises(
        TypeError, match=r"a PassPipeline holds passes: write FlattenCallExpr\(\), not Flatten"
    ):
        passes.PassPipeline([type(passes.flatten_call_expr())])


@pytest.mark.parametrize("given", [None, 3])
def test_a_pass_that_gives_no_ir(program, given):
    with pytest.raises(TypeError, match=f"Odd makes an ir.Function of 'kernel', got {given}"):
        passes.create_function_pass(lambda function: given, "Odd")(program)
    with pytest.raises(TypeError, match=f"Odd gives an ir.Program, got {given}"):
        passes.PassPipeline([passes.create_program_pass(lambda node: given, "Odd")]).run(program)


@pytest.mark.parametrize("key", ["requires", "produces", "invalidates"])
@pytest.mark.parametrize("given", [{"SSAForm"}, "SSAForm"])
def test_properties_are_no_strings(key, given):
    with pytest.raises(
        TypeError, match=f"Odd.{key} is a set of IRProperty, 'SSAForm' is none; IRProperty.SSAForm"
    ):
        type("Odd", (FunctionPass,), {key: given})


def test_a_pipeline_leaves_it_to_an_instrument_what_a_pass_requires(program):
    wants = same("Wants", [], required=[P.NoNestedCalls])
    assert passes.PassPipeline([wants]).run(program) is program
    with (
        passes.PassContext([passes.VerificationInstrument(passes.VerificationMode.BEFORE)]),
        pytest.raises(passes.VerificationError, match="NoNestedCall 201: tile.exp"),
    ):
        passes.PassPipeline([wants]).run(program)


def test_a_program_pass_of_a_python_function(program):
    def renamed(node: ir.Program) -> ir.Program:
        return ir.Program(node.functions.values(), "renamed", node.span)

    pass_ = passes.create_program_pass(renamed)
    assert pass_.get_name() == "renamed"
    assert pass_(program).name == "renamed"


def test_contexts_nest_and_belong_to_their_thread():
    assert passes.PassContext.current() is None
    with passes.PassContext([], memory_planner=passes.MemoryPlanner.PTOAS) as outer:
        with passes.PassContext() as inner:
            assert passes.PassContext.current() is inner
        assert passes.PassContext.current() is outer
        seen = []
        thread = threading.Thread(target=lambda: seen.append(passes.PassContext.current()))
        thread.start()
        thread.join()
    assert seen == [None]
    assert passes.PassContext.current() is None


def test_defaults_of_a_context():
    context = passes.PassContext([])
    assert context.get_instruments() == []
    assert context.get_verification_level() is passes.VerificationLevel.BASIC
    assert context.get_diagnostic_phase() is passes.DiagnosticPhase.PRE_PIPELINE
    assert context.get_disabled_diagnostics().to_list() == [passes.DiagnosticCheck.UnusedControlFlowResult]
    assert context.get_memory_planner() is passes.MemoryPlanner.PYPTO
    assert context.get_enable_pypto_l0c_double_buffer() is False
    assert context.get_runtime() is passes.RuntimeKind.TENSORMAP_AND_RINGBUFFER


def test_the_backend_of_a_context():
    backend.reset_for_testing()
    assert passes.PassContext().backend is None
    backend.set_backend_type(backend.BackendType.Ascend950)
    assert passes.PassContext().backend.architecture == "a5"
    backend.reset_for_testing()


def test_the_environment_gives_defaults(monkeypatch):
    monkeypatch.setenv("PYPTO_VERIFY_LEVEL", "none")
    monkeypatch.setenv("PYPTO_WARNING_LEVEL", "post_pass")
    context = passes.PassContext()
    assert context.get_verification_level() is passes.VerificationLevel.NONE
    assert context.get_diagnostic_phase() is passes.DiagnosticPhase.POST_PASS
    monkeypatch.setenv("PYPTO_WARNING_LEVEL", "post_pas")
    with pytest.raises(ValueError, match=r"(?s)PYPTO_WARNING_LEVEL is 'post_pas'.*did you mean 'post_pass'"):
        get_default_diagnostic_phase()


def test_instruments_see_the_program_before_and_after(program):
    seen = []
    watching = passes.CallbackInstrument(
        lambda pass_, node: seen.append(("before", pass_.get_name(), node)),
        lambda pass_, node: seen.append(("after", pass_.get_name(), node)),
    )
    timing = passes.TimingInstrument()
    with passes.PassContext([watching, timing]):
        after = passes.PassPipeline([passes.flatten_call_expr()]).run(program)
    assert seen == [("before", "FlattenCallExpr", program), ("after", "FlattenCallExpr", after)]
    assert after is not program
    assert [(name, seconds > 0) for name, seconds in timing.seconds] == [("FlattenCallExpr", True)]


def test_a_pass_that_breaks_its_promise_is_named():
    program = pl.parse(NESTED.replace("done", "out"))
    broken = same("Lies", [], produced=[P.SSAForm])  # the kernel assigns its output a second time
    with pytest.raises(passes.VerificationError) as raised:
        passes.PassPipeline([broken]).run(program)
    assert raised.value.__notes__ == ["found by the verifier at the pass Lies"]
    with passes.PassContext([], passes.VerificationLevel.NONE):
        assert passes.PassPipeline([broken]).run(program) is program


def test_what_is_known_is_not_verified_again_until_it_is_invalidated(monkeypatch, program):
    calls = []
    monkeypatch.setattr(
        "pypto_tmpl.passes.pipeline.verify_properties",
        lambda wanted, node, name: calls.append((name, [p.name for p in wanted])),
    )
    makes = same("Makes", [], produced=[P.SSAForm, P.VectorKernelSplit])
    again = same("Again", [], produced=[P.SSAForm])
    spoils = same("Spoils", [], invalidated=[P.SSAForm])
    passes.PassPipeline([makes, again, spoils, again]).run(program)
    structural = ["TypeChecked", "NoRedundantBlocks", "BreakContinueValid", "InOutUseValid",
                  "ManualDepsOnSubmitOnly", "AtomicAddDtypeValid"]  # fmt: skip
    assert calls == [
        ("the input", structural),
        ("Makes", ["SSAForm"]),
        ("Again", []),
        ("Spoils", []),
        ("Again", ["SSAForm"]),
    ]


def test_what_a_pass_raises_names_the_pass(program):
    def fails(function: ir.Function) -> ir.Function:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as raised:
        passes.PassPipeline([passes.create_function_pass(fails, "Fails")]).run(program)
    assert raised.value.__notes__ == ["in the pass Fails, in the function 'kernel'"]


@pytest.mark.parametrize("mode", passes.VerificationMode)
def test_the_instrument_verifies_what_is_required_and_produced(mode, program):
    needs = same("Needs", [], required=[P.NoNestedCalls])
    claims = same("Claims", [], produced=[P.NoNestedCalls])
    before = mode in (passes.VerificationMode.BEFORE, passes.VerificationMode.BEFORE_AND_AFTER)
    after = mode in (passes.VerificationMode.AFTER, passes.VerificationMode.BEFORE_AND_AFTER)
    with passes.PassContext([passes.VerificationInstrument(mode)]):
        for pass_, fails in ((needs, before), (claims, after)):
            if fails:
                with pytest.raises(passes.VerificationError):
                    pass_(program)
            else:
                assert pass_(program) is program


def test_the_round_trip(program):
    with passes.PassContext([passes.make_roundtrip_instrument()]):
        passes.flatten_call_expr()(program)

        def lose_a_name(node: ir.Program) -> ir.Program:
            free = ir.Var("nowhere", ir.ScalarType(ir.DataType.INDEX), ir.Span.unknown())
            body = ir.EvalStmt(ir.Neg(free, ir.DataType.INDEX, ir.Span.unknown()), ir.Span.unknown())
            return ir.Program([ir.Function("f", [], [], body, ir.Span.unknown())], "p", ir.Span.unknown())

        with pytest.raises(RuntimeError, match="the program after LosesAName"):
            passes.create_program_pass(lose_a_name, "LosesAName")(program)


def test_run_verifier(program):
    passes.run_verifier([P.TypeChecked, P.UseAfterDef])(program)
    with pytest.raises(passes.VerificationError, match="NoNestedCall"):
        passes.run_verifier([P.NoNestedCalls])(program)
    with pytest.raises(
        ValueError, match="there is no check of VectorKernelSplit; there are checks of SSAForm"
    ):
        passes.run_verifier([P.VectorKernelSplit])
    found = passes.PropertyVerifierRegistry.verify([P.NoNestedCalls], program)
    report = passes.PropertyVerifierRegistry.generate_report(found)
    assert report.count("NoNestedCall 201") == 2 and "(function 'kernel')" in report


def test_warnings_come_in_their_phase(caplog, program):
    pipeline = passes.PassPipeline([passes.flatten_call_expr()])
    for phase, places in [
        (passes.DiagnosticPhase.NONE, []),
        (passes.DiagnosticPhase.PRE_PIPELINE, ["the input"]),
        (passes.DiagnosticPhase.POST_PASS, ["FlattenCallExpr"]),
        (passes.DiagnosticPhase.POST_PIPELINE, ["the result"]),
    ]:
        caplog.clear()
        with caplog.at_level(logging.WARNING), passes.PassContext([], diagnostic_phase=phase):
            pipeline.run(program)
        assert [record.args[0] for record in caplog.records] == places
        for record in caplog.records:
            assert "UnusedVariable 1001: 'unread' is never read" in record.getMessage()
    caplog.clear()
    disabled = [passes.DiagnosticCheck.UnusedVariable]
    with passes.PassContext([], disabled_diagnostics=disabled):
        pipeline.run(program)
    assert not caplog.records


# What PyPTO's build of this program left in its report.
HINTS = """\
[perf_hint PH001] TileInnermostDimGranularity: tile.store has innermost dim = 64B (tile fp32[16], \
target_memory=Vec); moves 64B as 1 x 64B rows; recommended >= 512B for backend a2a3 (L2 cache line = 512B). \
Consider increasing tile shape on the innermost axis. at programs/topk_sort.py:28:24
[perf_hint PH001] TileInnermostDimGranularity: tile.store has innermost dim = 64B (tile int32[16], \
target_memory=Vec); moves 64B as 1 x 64B rows; recommended >= 512B for backend a2a3 (L2 cache line = 512B). \
Consider increasing tile shape on the innermost axis. at programs/topk_sort.py:29:23
"""
SORTED = ROOT / "tests/corpus/dumps/topk_sort/Ascend910B/47_after_ClassifyIterArgCarry.msgpack"


@pytest.fixture
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def test_the_report_has_what_could_be_faster(no_backend, tmp_path, caplog):
    node = ir.deserialize_from_file(str(SORTED))
    reporting = passes.ReportInstrument(tmp_path / "report")
    log = tmp_path / "report/perf_hints.log"
    with passes.PassContext([reporting]):
        passes.PassPipeline().run(node)
        assert not log.parent.exists()  # no backend is chosen
        backend.set_backend_type(backend.BackendType.Ascend910B)
        with caplog.at_level(logging.INFO):
            passes.PassPipeline().run(node)
        assert log.read_text() == HINTS
        assert caplog.messages == [f"2 performance hints in {log}"]
        passes.PassPipeline().run(node)
        assert log.read_text() == HINTS * 2
    for quiet in (
        passes.PassContext([reporting], diagnostic_phase=passes.DiagnosticPhase.NONE),
        passes.PassContext(
            [reporting], disabled_diagnostics=[passes.DiagnosticCheck.TileInnermostDimGranularity]
        ),
    ):
        with quiet:
            passes.PassPipeline().run(node)
    assert log.read_text() == HINTS * 2


def test_equal_hints_about_one_place_are_one_line():
    span = ir.Span("kernel.py", 3, 5)
    severity = passes.DiagnosticSeverity.PerfHint
    hint = passes.Diagnostic("Rule", 0, "slow", span, "kernel", severity, "PH001")
    assert hint_lines([hint, hint]) == [
        "[perf_hint PH001] Rule: slow (2 occurrences at this source location) at kernel.py:3:5"
    ]


@pytest.mark.parametrize(
    ("stride", "layout", "fault"),
    [
        ([16, 1], "ND", None),
        ([20, 1], "ND", None),
        ([1, 8], "DN", None),
        ([], "ND", "has no strides"),
        ([15, 1], "ND", "has the stride 15 along axis 0, less than 16"),
        ([16, 2], "ND", "has the stride 2 along axis 1, which is the innermost one"),
        ([16, 1], "DN", "has the stride 16 along axis 0, which is the innermost one"),
        ([1], "ND", "has 1 strides for 2 axes"),
        ([], "NZ", "has the layout NZ, which has no strides"),
    ],
)
def test_views_of_tensors(stride, layout, fault):
    view = ir.TensorView(stride, ir.TensorLayout[layout], [4, 4])
    type_ = ir.TensorType([8, 16], ir.DataType.FP32, None, view)
    at = ir.Span.unknown()
    node = ir.Program([ir.Function("f", [ir.Var("x", type_, at)], [], ir.SeqStmts([], at), at)], "p", at)
    found = [one.message for one in passes.verify_tensor_view_canonical(node, require_materialized=True)]
    shown = [] if fault is None else [f"the view of the tensor 'x' {fault}"]
    assert found[: len(shown) or None] == shown
    if fault == "has no strides":
        assert passes.verify_tensor_view_canonical(node) == []
