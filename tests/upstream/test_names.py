"""What PyPTO's names do here: logs, checks, helpers of IR, workers, and what is refused."""

import ctypes

import pytest
import torch
from compat.lowering import chosen_backend

import pypto_tmpl
import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes
from pypto_tmpl.language import diagnostics
from pypto_tmpl.runtime.platforms import HardwareNeededError
from pypto_tmpl.runtime.refusals import RefusedError
from pypto_tmpl.upstream import (
    bench,
    codegen,
    compiled_program,
    device_tensor,
    golden_writer,
    log_config,
    pto_backend,
    tensor_spec,
    torch_codegen,
    worker,
)
from pypto_tmpl.upstream.tools import memory_map

AT = ir.Span.unknown()
INDEX = ir.ScalarType(ir.DataType.INDEX)
COPY = """
import pypto.language as pl

@pl.program
class copies:
    @pl.function(type=pl.FunctionType.InCore)
    def copy(self, x: TYPE, y: pl.Out[TYPE]) -> TYPE:
        t = pl.load(x, [0, 0], [4, 8])
        z = pl.store(t, [0, 0], y)
        return z
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: TYPE, y: pl.Out[TYPE]) -> TYPE:
        y = self.copy(x, y)
        return y
""".replace("TYPE", "pl.Tensor[[4, 8], pl.FP32]")


@pytest.fixture(autouse=True)
def same_level():
    before = pypto_tmpl.get_log_level()
    yield
    pypto_tmpl.set_log_level(before)


def test_lines_of_the_level_and_above_are_written(capsys):
    pypto_tmpl.set_log_level(pypto_tmpl.LogLevel.WARN)
    pypto_tmpl.log_info("quiet")
    pypto_tmpl.log_warn("careful")
    pypto_tmpl.log_event("started")
    assert capsys.readouterr().err == "[WARN] careful\n[EVENT] started\n"
    pypto_tmpl.set_log_level(pypto_tmpl.LogLevel.NONE)
    pypto_tmpl.log_fatal("nothing")
    assert capsys.readouterr().err == ""
    with pytest.raises(TypeError, match="takes a LogLevel, got int"):
        pypto_tmpl.set_log_level(2)


def test_the_level_of_the_run_time():
    log_config.configure_log("error", sync_pypto=True)
    assert (log_config.log_level(), pypto_tmpl.get_log_level()) == (4, pypto_tmpl.LogLevel.ERROR)
    log_config.configure_log(3)
    assert (log_config.log_level(), pypto_tmpl.get_log_level()) == (3, pypto_tmpl.LogLevel.ERROR)
    with pytest.raises(ValueError, match="'loud' is no log level; levels: debug, info, timing"):
        log_config.configure_log("loud")


def test_checks():
    pypto_tmpl.check(True, "holds")
    with pytest.raises(ValueError, match="^of a user$"):
        pypto_tmpl.check(False, "of a user")
    with pytest.raises(pypto_tmpl.InternalError, match="^an invariant$"):
        pypto_tmpl.internal_check(False, "an invariant")
    with pytest.raises(pypto_tmpl.InternalError, match=r"^an invariant \[k.py:3:7\]$"):
        pypto_tmpl.internal_check_span(False, "an invariant", ir.Span("k.py", 3, 7))


def test_a_verifier_raises_the_error_of_the_package():
    stray = ir.ReturnStmt([ir.Var("stray", INDEX, AT)], AT)
    node = ir.Program([ir.Function("f", [], [INDEX], stray, AT)], "p", AT)
    with pytest.raises(pypto_tmpl.Error, match="stray"):
        passes.verify_properties(passes.IRPropertySet([ir.IRProperty.UseAfterDef]), node, "x")
    assert issubclass(pypto_tmpl.InternalError, RuntimeError)


def test_calls_have_directions():
    a, b = (ir.Var(name, INDEX, AT) for name in "ab")
    call = ir.make_call(ir.GlobalVar("f"), [a, b], directions=[ir.input, ir.inout], type=INDEX)
    assert call.arg_directions == (ir.ArgDirection.Input, ir.ArgDirection.InOut)
    with pytest.raises(ValueError, match="f: 1 directions for 2 arguments"):
        ir.make_call(ir.GlobalVar("f"), [a, b], directions=[ir.no_dep])


def test_the_types_of_a_call_are_those_of_its_arguments():
    n = ir.Var("N", INDEX, AT)
    param = ir.Var("x", ir.TensorType([n, 8], ir.DataType.FP32), AT)
    arg = ir.Var("y", ir.TensorType([24, 8], ir.DataType.FP32), AT)
    rows = ir.Var("rows", INDEX, AT)
    (found, scaled) = ir.deduce_call_return_type(
        [param, rows],
        [arg, ir.ConstInt(3, ir.DataType.INDEX, AT)],
        [ir.TensorType([n, 1], ir.DataType.FP32), ir.TensorType([rows, n], ir.DataType.FP32)],
    )
    assert [e.value for e in found.shape] == [24, 1]
    assert [e.value for e in scaled.shape] == [3, 24]


def test_statements_and_their_parents():
    kernel = pl.parse(COPY).get_function("copy")
    assert [v.name_hint for v in ir.collect_def_vars(kernel.body)] == ["t", "z"]
    assert len(ir.flatten_to_stmts(kernel.body)) == 3
    parents = ir.ParentStmtAnalysis()
    parents.build_map(kernel)
    first = kernel.body.stmts[0]
    assert parents.get_parent(first) is kernel.body and parents.has_parent(first)
    assert parents.get_parent(kernel.body) is None
    parents.clear()
    assert not parents.has_parent(first)


def test_copies_and_substitutions():
    kernel = pl.parse(COPY).get_function("copy")
    copy, pairs = ir.deep_clone(kernel.body)
    assert [old.name_hint for old, _ in pairs] == ["t", "z"] and all(old is not new for old, new in pairs)
    ir.assert_structural_equal(copy, kernel.body)
    other = ir.Var("other", kernel.params[0].type, AT)
    moved = ir.substitute_stmt(kernel.body, [(kernel.params[0], other)])
    assert moved.stmts[0].value.args[0] is other
    assert ir.substitute_expr(kernel.params[0], [(kernel.params[0], other)]) is other


def test_yields():
    one = ir.YieldStmt([ir.ConstInt(1, ir.DataType.INDEX, AT)], AT)
    body = ir.SeqStmts([ir.EvalStmt(ir.ConstInt(2, ir.DataType.INDEX, AT), AT), one], AT)
    assert ir.find_yield_stmt(body) is one and ir.get_last_yield_stmt(body) is one
    assert ir.find_yield_stmt(ir.SeqStmts([], AT)) is None


def test_a_format_callback_lays_texts_out():
    ir.register_format_callback(str.upper)
    try:
        assert ir.python_print(INDEX, format=True) == "PL.SCALAR[PL.INDEX]"
        assert ir.python_print(INDEX) == "pl.Scalar[pl.INDEX]"
    finally:
        ir.register_format_callback(None)
    assert ir.python_print(INDEX, format=True) == "pl.Scalar[pl.INDEX]"


def test_facts_of_kernels():
    program = pl.parse(COPY)
    assert codegen.infer_function_core_type(program.get_function("copy")) is ir.CoreType.VECTOR
    n = ir.Var("N", INDEX, AT)
    assert codegen.collect_vars_from_shape_expr(n * 2 + n) == [n]
    assert pto_backend.multi_chip_orch_names(program) == []
    assert ir.has_op_conversion("tensor.add") and not ir.has_op_conversion("tile.add")


def test_parameters_of_a_program():
    infos, outputs, returned = compiled_program.extract_param_infos(pl.parse(COPY))
    assert [(info.name, info.shape, info.dtype.name) for info in infos] == [
        ("x", (4, 8), "FP32"),
        ("y", (4, 8), "FP32"),
    ]
    assert outputs == [1] and [type_.shape[1].value for type_ in returned] == [8]
    assert compiled_program._to_torch_dtype(ir.DataType.BF16) is torch.bfloat16
    assert compiled_program._to_runtime_shape([4, 8], ir.DataType.FP4) == [4, 4]
    with pytest.raises(TypeError, match="no torch tensor has the dtype HF4"):
        compiled_program._to_torch_dtype(ir.DataType.HF4)


def test_a_script_in_two_steps():
    node, found = pl.parse(COPY), torch_codegen.TorchCodegen()
    found.visit_program(node)
    assert found.get_output() == torch_codegen.torch_codegen(node)
    with pytest.raises(RefusedError, match="TorchCodegen.visit_call visits one node"):
        found.visit_call(None)


def test_a_worker_runs_programs(tmp_path):
    compiled = ir.compile(pl.parse(COPY), str(tmp_path / "build"))
    x, y = torch.randn(4, 8), torch.zeros(4, 8)
    with worker.ChipWorker(worker.RunConfig(platform="a2a3sim")) as chip:
        assert worker.ChipWorker.current() is chip and chip.initialized and chip.platform == "a2a3sim"
        known = chip.register(compiled)
        known(x, y)
        with pytest.raises(RefusedError, match="Worker.malloc handles memory of a device"):
            chip.malloc(64)
    assert torch.equal(x, y)
    assert worker.ChipWorker.current() is None and not chip.initialized
    known.unregister()
    with pytest.raises(ValueError, match="not registered any more"):
        known(x, y)
    with pytest.raises(HardwareNeededError, match="needs a real Ascend NPU"):
        worker.ChipWorker(worker.RunConfig(platform="a2a3"))


def test_device_tensors():
    memory = {}

    def malloc(size):
        memory[4096] = size
        return 4096

    copied = []
    found = device_tensor.alloc_device_tensor(
        malloc=malloc,
        copy_to=lambda *parts: copied.append(parts),
        free=memory.pop,
        shape=[2, 3],
        dtype=torch.float16,
        init=torch.ones(2, 3, dtype=torch.float16),
    )
    assert (found.nbytes, memory, copied[0][0], copied[0][2]) == (12, {4096: 12}, 4096, 12)
    with pytest.raises(ZeroDivisionError):
        device_tensor.alloc_device_tensor(
            malloc=malloc, copy_to=lambda *_: 1 // 0, free=memory.pop, shape=[1], dtype=torch.int8,
            init=torch.ones(1, dtype=torch.int8),
        )  # fmt: skip
    assert memory == {}
    with pytest.raises(ValueError, match="data_ptr must be a positive int"):
        device_tensor.DeviceTensor(0, (1,), torch.int8)
    stacked = device_tensor.StackedDeviceTensor([found], (1, 2, 3), [0])
    assert stacked.shape == (1, 2, 3) and stacked.dtype is torch.float16


def test_scalar_specs_have_c_types():
    assert tensor_spec.SCALAR_CTYPE_MAP[tensor_spec.ScalarSpec("n", 3).ctype] is ctypes.c_int64
    with pytest.raises(ValueError, match="ctype is one of int64, int32"):
        tensor_spec.ScalarSpec("n", 3, "int8")


def test_memories_of_a_backend():
    limits = memory_map.backend_limits("Ascend910B")
    assert limits["Mat"] == 512 * 1024 and limits["Left"] == 64 * 1024 and "LeftScale" not in limits
    with pytest.raises(ValueError, match="'Ascend1' is no backend"):
        memory_map.backend_limits("Ascend1")


def test_the_memory_of_a_dump(tmp_path, capsys):
    with chosen_backend("Ascend910B"):
        manager = ir.PassManager.get_strategy()
        two = COPY.replace("pl.store(t,", "pl.store(pl.add(t, pl.load(x, [0, 0], [4, 8])),")
        manager.run_passes(pl.parse(two), dump_ir=True, output_dir=tmp_path)
    dump = memory_map.resolve_dump(tmp_path, "AllocateMemoryAddr")
    (kernel,) = memory_map.parse_dump(dump)
    (space,) = kernel.spaces
    assert (kernel.name, space.space.name, space.used) == ("copy", "Vec", 2 * 4 * 8 * 4)
    assert not memory_map.is_unallocated(kernel)
    assert "copy" in memory_map.render(dump)
    before = memory_map.resolve_dump(tmp_path, "InitMemRef")
    assert memory_map.is_unallocated(memory_map.parse_dump(before)[0])
    assert memory_map.main([str(dump), "Ascend950"]) == 0
    assert dump.with_suffix(".html").is_file() and capsys.readouterr().out.endswith(".html\n")
    assert memory_map.main([str(before)]) == 2
    assert "have no addresses to draw" in capsys.readouterr().err


def test_tiles_that_share_bytes_are_one_box():
    def tile(start, size, first, last, is_own=True):
        return memory_map.Tile("t", "", start, size, first, last, is_own, "")

    apart, shared, viewed = memory_map.build_boxes(
        [
            tile(0, 64, 0, 5),
            tile(64, 32, 0, 3),
            tile(64, 32, 3, 4),
            tile(128, 64, 0, 4),
            tile(160, 32, 2, 9, False),
        ]
    )
    assert not (apart.view or apart.conflict or shared.conflict or viewed.conflict) and viewed.view
    (clash,) = memory_map.build_boxes([tile(0, 64, 0, 5), tile(32, 64, 4, 6)])
    assert clash.conflict


def test_dumps_are_found_by_their_pass(tmp_path):
    for name in ("00_frontend", "05_after_Simplify", "45_after_Simplify"):
        (tmp_path / f"{name}.py").write_text("")
    assert memory_map.resolve_dump(tmp_path, "Simplify").name == "45_after_Simplify.py"
    assert memory_map.pass_name_of(tmp_path / "05_after_Simplify.py") == "Simplify"
    assert memory_map.pass_name_of(tmp_path / "00_frontend.py") == ""
    with pytest.raises(FileNotFoundError, match="no dump behind InitMemRef"):
        memory_map.resolve_dump(tmp_path, "InitMemRef")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            codegen.DistributedCodegen().get_builtin_next_level_specs,
            "DistributedCodegen.get_builtin_next_level_specs makes code for a device",
        ),
        (codegen.BuiltinNextLevelSpec, "BuiltinNextLevelSpec makes code for a device"),
        (lambda: bench.benchmark(None, []), "benchmark measures a device"),
        (lambda: golden_writer.write_golden([], print, "x"), "write_golden writes golden.py for"),
        (lambda: ir.register_op_conversion("a", "b"), "register_op_conversion registers what"),
    ],
)
def test_what_is_not_here_says_so(call, message):
    with pytest.raises(RefusedError, match=message) as caught:
        call()
    assert caught.value.notes


def test_errors_of_texts_have_numbers():
    codes = {
        pl.ParserSyntaxError: "E001", pl.ParserTypeError: "E101", pl.UndefinedVariableError: "E200",
        pl.SSAViolationError: "E201", pl.InvalidOperationError: "E300", pl.UnsupportedFeatureError: "E301",
    }  # fmt: skip
    for cls, code in codes.items():
        assert diagnostics.get_error_code(cls).value == code
        assert issubclass(cls, pl.ParserError) and issubclass(cls, Exception)
    assert diagnostics.get_error_code(KeyError) is None
    assert diagnostics.ErrorCode.DTYPE_ERROR.category is diagnostics.ErrorCategory.TYPE
    assert (ir.InternalError, AssertionError) == diagnostics.BUG_CLASS_EXCEPTIONS


def test_errors_of_texts_in_short_and_in_full():
    error = pl.ParserTypeError(
        "no such dtype", ir.Span("k.py", 3, 5), hint="write pl.FP32", source_lines=["", "", "x: Y"]
    )
    assert diagnostics.concise_error_message(error) == "no such dtype"
    assert diagnostics.concise_error_message(ValueError("bad [k.py:3:5]"), True) == "bad"
    shown = diagnostics.ErrorRenderer().render(error)
    assert "k.py:3:5" in shown and "x: Y" in shown and "write pl.FP32" in shown


def test_names_of_kernels_refuse_to_be_called():
    for call in (
        lambda: pl.at(pl.Level.CORE_GROUP),
        pl.scope,
        lambda: pl.spmd(4),
        lambda: pl.Tensor.unwrap(None),
    ):
        with pytest.raises(RuntimeError, match="Python cannot call it|no expression in it"):
            call()


def test_conditions_are_expressions():
    from pypto_tmpl.language.annotations import predicate_to_expr

    assert predicate_to_expr(None) is None
    assert predicate_to_expr(True).value is True
    n = ir.Var("n", INDEX, AT)
    below = n < 3
    assert predicate_to_expr(below) is below
    with pytest.raises(TypeError, match="a condition is a BOOL"):
        predicate_to_expr(n)
