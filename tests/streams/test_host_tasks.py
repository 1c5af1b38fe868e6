"""Launches of kernels, and ops on tensors, as the host's C++."""

import os
from pathlib import Path

import pytest
from streams import host_builds as h

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ParamDirection, TensorLayout
from pypto_tmpl.streams.orchestration import host_texts, wrapper_texts

STEP = h.kernel("step")
TASK_ID = ir.ScalarType(DataType.TASK_ID)


def compiled(tmp_path: Path, *functions: ir.Function) -> list[str]:
    """The lines of the host, which a compiler takes."""
    (tmp_path / "host.cpp").write_text(h.text_of(*functions))
    h.check_syntax(tmp_path / "host.cpp")
    return h.lines_of(*functions)


def wrapper(name: str, kind: ir.FunctionType, *kernels: str) -> ir.Function:
    """A group or a grid that passes its one tensor to kernels."""
    param = h.tensor(f"{name}_t")
    calls = [ir.EvalStmt(h.call(kernel, {param: h.INOUT}), h.SPAN) for kernel in kernels]
    body = ir.SeqStmts([*calls, ir.ReturnStmt([param], h.SPAN)], h.SPAN)
    return ir.Function(name, [(param, ParamDirection.InOut)], [param.type], body, h.SPAN, kind)


def test_words_of_a_task_keep_the_bits_of_scalars(tmp_path: Path) -> None:
    kinds = [DataType.FP32, DataType.FP16, DataType.BOOL, DataType.INT32]
    taken = [*kinds, DataType.FP32, *kinds]
    mixed = h.kernel("mixed", *(h.scalar(f"s{i}", kind) for i, kind in enumerate(taken)))
    a = h.tensor("a__ssa_v0")
    params = [h.scalar(f"p{i}__ssa_v0", kind) for i, kind in enumerate(kinds)]
    literals = [
        ir.ConstFloat(1.5, DataType.FP32, h.SPAN),
        ir.ConstFloat(2.0**-24, DataType.FP32, h.SPAN),
        ir.ConstFloat(0.1, DataType.FP16, h.SPAN),
        ir.ConstBool(True, h.SPAN),
        h.number(-5, DataType.INT32),
    ]
    stmt = ir.EvalStmt(h.call("mixed", {a: h.INOUT, **dict.fromkeys([*params, *literals], h.SCALAR)}), h.SPAN)
    found = compiled(tmp_path, mixed, h.host([a, *params], stmt))
    assert [line.removeprefix("params_t0.add_scalar(") for line in found[2:-1]] == [
        "to_u64(p0));",
        "to_u64(p1));",
        "p2);",
        "p3);",
        "to_u64(1.500000f));",
        "to_u64(5.96046447753906250e-08f));",
        "to_u64(static_cast<half>(0.100000)));",
        "(uint64_t)1);",
        "(uint64_t)static_cast<int32_t>(-5));",
    ]


def test_computed_arguments_are_written_where_they_stand() -> None:
    a, n = h.tensor("a__ssa_v0"), h.scalar("n__ssa_v0")
    taking = h.kernel("taking", h.scalar("row"))
    row = ir.Mul(n, h.number(16), DataType.INDEX, h.SPAN)
    found = h.lines_of(
        taking, h.host([a, n], ir.EvalStmt(h.call("taking", {a: h.INOUT, row: h.SCALAR}), h.SPAN))
    )
    assert "params_t0.add_scalar((n * 16));" in found


@pytest.mark.parametrize(
    ("members", "dual", "lanes"),
    [
        (("cube", "step"), False, "MixedKernels mixed_0 = {0, 1, INVALID_KERNEL_ID};"),
        (("cube", "step"), True, "MixedKernels mixed_0 = {0, 1, 1};"),
        (("step",), True, "MixedKernels mixed_0 = {INVALID_KERNEL_ID, 0, 0};"),
    ],
)
def test_a_group_says_which_cores_run_what(members: tuple[str, ...], dual: bool, lanes: str) -> None:
    a, t = h.tensor("a__ssa_v0"), h.tensor("step_t")
    attrs = {"dual_aiv_dispatch": True} if dual else {}
    step = ir.Function(
        "step", [(t, ParamDirection.InOut)], [t.type], ir.ReturnStmt([t], h.SPAN), h.SPAN,
        ir.FunctionType.AIV, attrs=attrs,
    )  # fmt: skip
    group = wrapper("group", ir.FunctionType.Group, *members)
    stmt = ir.EvalStmt(h.call("group", {a: h.INOUT}), h.SPAN)
    found = h.lines_of(h.kernel("cube", cube=True), step, group, h.host([a], stmt))
    assert found == [
        "CoreTaskArgs params_t0;",
        "params_t0.add_inout(ext_a);",
        lanes,
        "rt_submit_task(mixed_0, params_t0);",
    ]


def test_a_group_of_two_vector_kernels_is_two_tasks() -> None:
    a = h.tensor("a__ssa_v0")
    group = wrapper("group", ir.FunctionType.Group, "step", "other")
    stmt = ir.EvalStmt(h.call("group", {a: h.INOUT}), h.SPAN)
    found = h.lines_of(STEP, h.kernel("other"), group, h.host([a], stmt))
    assert [line for line in found if "submit" in line] == [
        "rt_submit_aiv_task(0, params_t0);",
        "rt_submit_aiv_task(1, params_t1);",
    ]


@pytest.mark.parametrize(
    ("backend", "setter"),
    [(BackendType.Ascend910B, "set_block_num"), (BackendType.Ascend950, "set_core_num")],
)
def test_a_grid_says_in_how_many_blocks_it_runs(backend: BackendType, setter: str) -> None:
    a, n = h.tensor("a__ssa_v0"), h.scalar("n__ssa_v0")
    grid = wrapper("grid", ir.FunctionType.Spmd, "step")
    stmt = ir.EvalStmt(h.call("grid", {a: h.INOUT}, core_num=n, sync_start=True), h.SPAN)
    found = h.lines_of(STEP, grid, h.host([a, n], stmt), backend=backend)
    assert found[2:4] == [
        f"params_t0.launch_spec.{setter}(n);",
        "params_t0.launch_spec.set_require_sync_start(true);",
    ]


def submitted(a: ir.Var, *deps: ir.Expr, **launch: object) -> tuple[list[ir.Stmt], ir.Var]:
    pair = ir.Var("pair", ir.TupleType([a.type, TASK_ID]), h.SPAN)
    own = ir.Var("own__ssa_v0", TASK_ID, h.SPAN)
    return [
        h.assign(pair, h.submit("step", {a: h.INOUT}, deps, **launch)),
        h.assign(own, ir.TupleGetItemExpr(pair, 1, h.SPAN)),
    ], own


def test_a_launch_may_depend_on_an_element(tmp_path: Path) -> None:
    a, flags, i = h.tensor("a__ssa_v0"), h.tensor("f__ssa_v0", (4,), DataType.INT32), h.scalar("i__ssa_v0")
    read = h.op("tensor.read", flags, ir.MakeTuple([i], h.SPAN), type_=ir.ScalarType(DataType.INT32))
    stmts, _ = submitted(
        a, predicate=ir.Lt(h.number(3), read, DataType.BOOL, h.SPAN), allow_early_resolve=True
    )
    found = compiled(tmp_path, STEP, h.host([a, flags, i], *stmts))
    assert found[2:-1] == [
        "params_t0.set_allow_early_resolve(true);",
        "CoreTaskPredicate params_t0_pred;",
        "params_t0_pred.operand.tensor = &ext_f;",
        "params_t0_pred.operand.ndims = 1;",
        "params_t0_pred.operand.indices[0] = i;",
        "params_t0_pred.op = PredicateOp::GT;",
        "params_t0_pred.target = 3;",
        "params_t0.set_predicate(params_t0_pred);",
    ]


def test_other_predicates_are_refused() -> None:
    a, n = h.tensor("a__ssa_v0"), h.scalar("n__ssa_v0")
    stmts, _ = submitted(a, predicate=ir.Lt(n, h.number(3), DataType.BOOL, h.SPAN))
    (note,) = h.refusals(STEP, h.host([a, n], *stmts))
    assert note.startswith(
        "the predicate of a launch compares an element of an integer tensor with an integer"
    )
    assert note.endswith("(function 'main', variable 'pair', k.py:7:5)")


def test_a_barrier_waits_for_an_array_of_ids(tmp_path: Path) -> None:
    a, ids = h.tensor("a__ssa_v0"), ir.Var("ids", ir.ArrayType(DataType.TASK_ID, 2), h.SPAN)
    first, own = submitted(a)
    joined, alone = ir.Var("joined", TASK_ID, h.SPAN), ir.Var("alone", TASK_ID, h.SPAN)
    waits = {"dummy_task": True, "manual_dep_edges": [ids]}
    dummy = ir.Call(ir.Op("system.task_dummy"), [], None, waits, TASK_ID, h.SPAN)
    last, _ = submitted(a, joined, alone)
    stmts = [
        h.assign(ids, h.op("array.create", h.number(2), type_=ids.type, dtype=DataType.TASK_ID)),
        *first,
        h.assign(
            ir.Var("ids_1", ids.type, h.SPAN),
            h.op("array.update_element", ids, h.number(1), own, type_=ids.type),
        ),
        h.assign(joined, dummy),
        h.assign(alone, ir.Call(ir.Op("system.task_dummy"), [], None, {"dummy_task": True}, TASK_ID, h.SPAN)),
        *last,
    ]
    found = compiled(tmp_path, STEP, h.host([a], h.scope(*stmts, manual=True)))
    barrier, outs = "params_phase_fence_barrier", "phase_fence_barrier"
    each = "for (int64_t __init_i = 0; __init_i < 2; ++__init_i)"
    assert [line.strip() for line in found] == [
        "PTO2_SCOPE(PTO2ScopeMode::MANUAL) {",
        f"PTO2TaskId ids[2]; {each} ids[__init_i] = PTO2TaskId::invalid();",
        "CoreTaskArgs params_t0;",
        "params_t0.add_inout(ext_a);",
        "TaskOutputTensors task_0_outs = rt_submit_aiv_task(0, params_t0);",
        "PTO2TaskId own = task_0_outs.task_id();",
        "ids[1] = own;",
        f"CoreTaskArgs {barrier}_0;",
        f"PTO2TaskId {barrier}_0_deps[2];",
        f"uint32_t {barrier}_0_deps_count = 0;",
        f"if (ids[0].is_valid()) {barrier}_0_deps[{barrier}_0_deps_count++] = ids[0];",
        f"if (ids[1].is_valid()) {barrier}_0_deps[{barrier}_0_deps_count++] = ids[1];",
        f"{barrier}_0.set_dependencies({barrier}_0_deps, {barrier}_0_deps_count);",
        "PTO2TaskId joined = PTO2TaskId::invalid();",
        f"if ({barrier}_0_deps_count > 0) {{",
        f"TaskOutputTensors {outs}_0_outs = rt_submit_dummy_task({barrier}_0);",
        f"joined = {outs}_0_outs.task_id();",
        "}",
        f"CoreTaskArgs {barrier}_1;",
        "PTO2TaskId alone = PTO2TaskId::invalid();",
        f"TaskOutputTensors {outs}_1_outs = rt_submit_dummy_task({barrier}_1);",
        f"alone = {outs}_1_outs.task_id();",
        "CoreTaskArgs params_t1;",
        "params_t1.add_inout(ext_a);",
        "PTO2TaskId params_t1_deps[2];",
        "uint32_t params_t1_deps_count = 0;",
        "if (joined.is_valid()) params_t1_deps[params_t1_deps_count++] = joined;",
        "if (alone.is_valid()) params_t1_deps[params_t1_deps_count++] = alone;",
        "params_t1.set_dependencies(params_t1_deps, params_t1_deps_count);",
        "TaskOutputTensors task_1_outs = rt_submit_aiv_task(0, params_t1);",
        "}",
    ]


def test_a_task_of_a_closed_scope_cannot_be_waited_for() -> None:
    a = h.tensor("a__ssa_v0")
    first, own = submitted(a)
    last, _ = submitted(a, own)
    function = h.host([a], h.scope(*first, manual=True), h.scope(*last, manual=True))
    (note,) = h.refusals(STEP, function)
    assert note.startswith("Task dependency deps=[own__ssa_v0] cannot be honored: its scope has closed")


def test_what_the_compiler_would_wait_for_is_left_out_there() -> None:
    a = h.tensor("a__ssa_v0")
    first, own = submitted(a)
    last = ir.EvalStmt(h.call("step", {a: h.INOUT}, compiler_manual_dep_edges=[own]), h.SPAN)
    found = h.lines_of(STEP, h.host([a], h.scope(*first), h.scope(last)))
    assert not any("deps" in line for line in found)


def test_outputs_that_a_submit_leaves_out_are_made_by_the_run_time(tmp_path: Path) -> None:
    source, made = h.tensor("x"), h.tensor("y", (4, 8))
    kernel = ir.Function(
        "grow", [(source, ParamDirection.In), (made, ParamDirection.Out)], [made.type],
        ir.ReturnStmt([made], h.SPAN), h.SPAN, ir.FunctionType.AIV,
    )  # fmt: skip
    a, fresh = h.tensor("a__ssa_v0"), h.tensor("fresh__ssa_v0", (4, 8))
    pair = ir.Var("pair", ir.TupleType([made.type, TASK_ID]), h.SPAN)
    launch = ir.Submit(ir.GlobalVar("grow"), [a], [], None, {"arg_directions": [h.INPUT]}, pair.type, h.SPAN)
    stmts = [
        h.assign(pair, launch),
        h.assign(fresh, ir.TupleGetItemExpr(pair, 0, h.SPAN)),
        ir.EvalStmt(h.call("step", {fresh: h.INOUT}), h.SPAN),
    ]
    assert compiled(tmp_path, kernel, STEP, h.host([a], *stmts)) == [
        "uint32_t params_t0_synth_out_0_shapes[2] = {4, 8};",
        "TensorCreateInfo params_t0_synth_out_0(params_t0_synth_out_0_shapes, 2, DataType::FLOAT32);",
        "CoreTaskArgs params_t0;",
        "params_t0.add_input(ext_a);",
        "params_t0.add_output(params_t0_synth_out_0);",
        "TaskOutputTensors task_0_outs = rt_submit_aiv_task(0, params_t0);",
        "const ChipTensor& fresh = task_0_outs.get_ref(0);",
        "CoreTaskArgs params_t1;",
        "params_t1.add_inout(fresh);",
        "rt_submit_aiv_task(1, params_t1);",
    ]


def test_a_scalar_result_is_refused() -> None:
    t, s = h.tensor("t"), h.scalar("s")
    kernel = ir.Function(
        "count",
        [(t, ParamDirection.InOut)],
        [s.type],
        ir.ReturnStmt([s], h.SPAN),
        h.SPAN,
        ir.FunctionType.AIV,
    )
    a = h.tensor("a__ssa_v0")
    stmt = h.assign(h.scalar("n__ssa_v0"), h.call("count", {a: h.INOUT}, s.type))
    assert h.refusals(kernel, h.host([a], stmt)) == [
        "result 0 of 'count' is none of its arguments, and the host has no other "
        "(function 'main', variable 'n__ssa_v0', k.py:7:5)"
    ]


def tuple_of(*values: int | ir.Expr) -> ir.MakeTuple:
    return ir.MakeTuple([h.number(v) if isinstance(v, int) else v for v in values], h.SPAN)


def test_ops_on_tensors(tmp_path: Path) -> None:
    size = h.scalar("N")
    a, n = h.tensor("a__ssa_v0", (size, 64)), h.scalar("n__ssa_v0")
    flat, turned, extent = (
        h.tensor("flat__ssa_v0", (1024,)),
        h.tensor("turned", (64, 16)),
        h.scalar("d__ssa_v0"),
    )
    dn = ir.Var(
        "dn", ir.TensorType([64, size], DataType.FP32, None, ir.TensorView([], TensorLayout.DN)), h.SPAN
    )
    array, element = ir.Var("arr", ir.ArrayType(DataType.INT32, 3), h.SPAN), h.scalar("e", DataType.INT32)
    stmts = [
        h.assign(extent, h.op("tensor.dim", a, h.number(0), type_=extent.type)),
        h.assign(h.scalar("last"), h.op("tensor.dim", a, h.number(-1), type_=extent.type)),
        h.assign(flat, h.op("tensor.reshape", a, tuple_of(n, 8), type_=flat.type)),
        h.assign(turned, h.op("tensor.transpose", a, h.number(0), h.number(-1), type_=turned.type)),
        h.assign(dn, h.op("tensor.view", a, type_=dn.type, layout=TensorLayout.DN)),
        ir.EvalStmt(
            h.op("tensor.write", a, tuple_of(n, 0), ir.ConstFloat(2.5, DataType.FP32, h.SPAN), type_=a.type),
            h.SPAN,
        ),
        h.assign(array, h.op("array.create", h.number(3), type_=array.type, dtype=DataType.INT32)),
        h.assign(element, h.op("array.get_element", array, n, type_=element.type)),
        h.assign(h.scalar("w", DataType.INT32), h.op("system.available_aiv_count", type_=element.type)),
    ]
    assert compiled(tmp_path, STEP, h.host([a, n], *stmts)) == [
        "int64_t d = ext_a.shapes[0];",
        "int64_t last = 64;",
        "uint32_t flat_shapes[2] = {static_cast<uint32_t>(n), 8};",
        "ChipTensor flat = ext_a.reshape(flat_shapes, 2);",
        "ChipTensor turned = ext_a.transpose(0, 1);",
        "ChipTensor dn = ext_a.transpose(0, 1);",
        "{",
        "    uint32_t indices_ext_a[2] = {static_cast<uint32_t>(n), 0};",
        "    set_tensor_data<float>(ext_a, 2, indices_ext_a, 2.500000);",
        "}",
        "int32_t arr[3] = {0};",
        "int32_t e = arr[n];",
        "int32_t w = rt_available_aiv_count();",
    ]


def test_new_tensors_may_be_filled() -> None:
    a = h.tensor("a__ssa_v0")
    kinds = [(DataType.FP32, 1.5), (DataType.INT32, 7.0), (DataType.INT8, 0.0)]
    made = [h.tensor(f"t{i}__ssa_v0", (4,), dtype) for i, (dtype, _) in enumerate(kinds)]
    stmts = [
        h.assign(var, h.op("tensor.create", tuple_of(4), type_=var.type, dtype=dtype, init_value=value))
        for var, (dtype, value) in zip(made, kinds, strict=True)
    ]
    found = h.lines_of(STEP, h.host([a], *stmts))
    assert [line for line in found if "initial" in line] == [
        "t0_ci.set_initial_value(static_cast<float>(1.500000));",
        "t1_ci.set_initial_value(static_cast<int32_t>(7));",
        "t2_ci.set_initial_value(0);",
    ]
    half = h.tensor("half__ssa_v0", (4,), DataType.FP16)
    stmt = h.assign(
        half, h.op("tensor.create", tuple_of(4), type_=half.type, dtype=DataType.FP16, init_value=1.5)
    )
    (note,) = h.refusals(STEP, h.host([a], stmt))
    assert note.startswith(
        "the run time cannot fill a tensor of FP16 with 1.5 (function 'main', variable 'half"
    )


def test_a_part_that_is_no_window_of_the_whole_is_not_dropped() -> None:
    a, part = h.tensor("a__ssa_v0"), h.tensor("p__ssa_v0", (4, 64))
    window = h.tensor("w__ssa_v0", (4, 64))
    lay = h.op("tensor.assemble", a, part, tuple_of(0, 0), type_=a.type)
    (note,) = h.refusals(STEP, h.host([a, part], h.assign(h.tensor("a__ssa_v1"), lay)))
    assert note.startswith("the host copies no tensors: the source is no window of the target")
    cut = h.assign(window, h.op("tensor.slice", a, tuple_of(4, 64), tuple_of(8, 0), type_=window.type))
    back = h.op("tensor.assemble", a, window, tuple_of(8, 0), type_=a.type)
    found = h.lines_of(STEP, h.host([a], cut, h.assign(h.tensor("a__ssa_v1"), back)))
    assert found[-1] == "ChipTensor w = ext_a.view(w_shapes, w_offsets);"


def test_extents_are_read_off_tensors_by_wrappers() -> None:
    n, m = h.scalar("N"), h.scalar("M")
    x = h.tensor("x", (ir.Mul(n, h.number(2), DataType.INDEX, h.SPAN), 8), DataType.BF16)
    y = h.tensor("y", (8, m))
    ways = [(x, ParamDirection.In), (y, ParamDirection.InOut)]
    kernel = ir.Function("k", ways, [], ir.ReturnStmt([], h.SPAN), h.SPAN, ir.FunctionType.AIV)
    found = wrapper_texts(h.program(kernel), BackendType.Ascend910B, {"ptoas/k.pto": "// made"})
    lines = h.without_comments(found.texts["kernels/aiv/k.cpp"])
    assert lines[-4:-1] == [
        "    int64_t N = (static_cast<int64_t>(x_tensor->shapes[0]) / 2);",
        "    int64_t M = static_cast<int64_t>(y_tensor->shapes[1]);",
        "    k(x, y, N, M);",
    ]


def test_extents_that_no_tensor_tells_are_refused() -> None:
    n = h.scalar("N")
    x = h.tensor("x", (ir.Mul(n, n, DataType.INDEX, h.SPAN), 8))
    kernel = ir.Function(
        "k", [(x, ParamDirection.In)], [], ir.ReturnStmt([], h.SPAN), h.SPAN, ir.FunctionType.AIV
    )
    found = wrapper_texts(h.program(kernel), BackendType.Ascend910B, {"ptoas/k.pto": ""})
    assert list(found.errors["k"].notes) == [
        "Cannot recover dynamic dimension 'N' from a tensor (function 'k', k.py:7:5)"
    ]


def test_external_kernels_stay_where_they_are() -> None:
    t = h.tensor("t")
    attrs = {
        "external_source": "/src/theirs.cpp",
        "external_include_dirs": os.pathsep.join(["/src/include", "/src/more"]),
    }
    theirs = ir.Function(
        "theirs", [(t, ParamDirection.InOut)], [t.type], ir.ReturnStmt([t], h.SPAN), h.SPAN,
        ir.FunctionType.AIV, attrs=attrs,
    )  # fmt: skip
    a = h.tensor("a__ssa_v0")
    stmt = ir.EvalStmt(h.call("theirs", {a: h.INOUT}), h.SPAN)
    found = host_texts(h.program(theirs, h.host([a], stmt)), BackendType.Ascend910B)
    assert (
        '\t{"func_id": 0, "name": "theirs", "source": "/src/theirs.cpp", "core_type": "aiv", '
        '"external": True, '
        '"extra_include_dirs": ["/src/include", "/src/more"], "signature": [_D.INOUT]},'
    ) in found.texts["kernel_config.py"].splitlines()
