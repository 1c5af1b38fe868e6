"""Loops, branches, scopes and values of orchestration functions as C++."""

from pathlib import Path

import pytest
from streams import host_builds as h

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ForKind

STEP = h.kernel("step")
TASK_ID = ir.ScalarType(DataType.TASK_ID)


def loop(
    body: list[ir.Stmt],
    carries: list[tuple[ir.IterArg, ir.Var]],
    bounds: tuple[int, int, int] = (0, 4, 1),
    kind: ForKind = ForKind.Sequential,
    **attrs: object,
) -> ir.ForStmt:
    start, stop, step = (h.number(bound) for bound in bounds)
    args, results = [arg for arg, _ in carries], [var for _, var in carries]
    seq = ir.SeqStmts(body, h.SPAN)
    return ir.ForStmt(h.scalar("i__idx_v0"), start, stop, step, args, seq, results, h.SPAN, kind, attrs)


def carry(name: str, init: ir.Expr) -> tuple[ir.IterArg, ir.Var]:
    return ir.IterArg(f"{name}__iter_v1", init.type, init, h.SPAN), ir.Var(
        f"{name}__rv_v2", init.type, h.SPAN
    )


def launch(var: ir.Expr) -> ir.EvalStmt:
    return ir.EvalStmt(h.call("step", {var: h.INOUT}), h.SPAN)


def task(number: int, tensor: str) -> list[str]:
    params = f"params_t{number}"
    return [f"CoreTaskArgs {params};", f"{params}.add_inout({tensor});", f"rt_submit_aiv_task(0, {params});"]


def test_carries_that_change_places_keep_their_values_until_all_are_known() -> None:
    a, b = h.tensor("a__ssa_v0"), h.tensor("b__ssa_v0")
    one, other = carry("p", a), carry("q", b)
    body = [launch(one[0]), ir.YieldStmt([other[0], one[0]], h.SPAN)]
    found = h.lines_of(STEP, h.host([a, b], loop(body, [one, other])))
    assert found == [
        "ChipTensor p__rv_v2 = ext_a;",
        "ChipTensor q__rv_v2 = ext_b;",
        "for (int64_t i = 0; i < 4; i += 1) {",
        *("    " + line for line in task(0, "p__rv_v2")),
        "    ChipTensor q__rv_v2_next = p__rv_v2;",
        "    p__rv_v2 = q__rv_v2;",
        "    q__rv_v2 = q__rv_v2_next;",
        "}",
    ]


@pytest.mark.parametrize(
    ("bounds", "head"),
    [
        ((0, 8, 2), "for (int64_t i = 0; i < 8; i += 2) {"),
        ((8, 0, -2), "for (int64_t i = 8; i > 0; i += -2) {"),
        ((0, 8, 0), "for (int64_t i = 0; false; i += 0) {"),
    ],
)
def test_a_loop_counts_up_or_down(bounds: tuple[int, int, int], head: str) -> None:
    a = h.tensor("a__ssa_v0")
    assert h.lines_of(STEP, h.host([a], loop([launch(a)], [], bounds)))[0] == head


def test_a_loop_whose_step_is_not_known_goes_either_way() -> None:
    a, s = h.tensor("a__ssa_v0"), h.scalar("s__ssa_v0")
    made = ir.ForStmt(h.scalar("i"), h.number(0), h.number(8), s, [], launch(a), [], h.SPAN)
    found = h.lines_of(STEP, h.host([a, s], made))
    assert found[0] == "for (int64_t i = 0; (((s) > 0 && i < 8) || ((s) < 0 && i > 8)); i += s) {"


def test_while_loops_test_their_carries() -> None:
    a, n = h.tensor("a__ssa_v0"), h.scalar("n__ssa_v0")
    arg, result = carry("n", n)
    body = ir.SeqStmts(
        [launch(a), ir.YieldStmt([ir.Add(arg, h.number(1), DataType.INDEX, h.SPAN)], h.SPAN)], h.SPAN
    )
    condition = ir.Lt(arg, h.number(2), DataType.BOOL, h.SPAN)
    found = h.lines_of(STEP, h.host([a, n], ir.WhileStmt(condition, [arg], body, [result], h.SPAN)))
    assert found == [
        "int64_t n__rv_v2 = n;",
        "while ((n__rv_v2 < 2)) {",
        *("    " + line for line in task(0, "ext_a")),
        "    n__rv_v2 = (n__rv_v2 + 1);",
        "}",
    ]


def test_what_is_read_behind_a_scope_is_declared_before_it(tmp_path: Path) -> None:
    a, b, flag = h.tensor("a__ssa_v0"), h.tensor("b__ssa_v0"), h.scalar("flag__ssa_v0", DataType.BOOL)
    made, chosen = h.tensor("t__ssa_v0"), h.tensor("c__phi_v1")
    create = h.assign(made, h.op("tensor.create", ir.MakeTuple([h.number(16)], h.SPAN), dtype=DataType.FP32))
    branch = ir.IfStmt(flag, ir.YieldStmt([a], h.SPAN), ir.YieldStmt([b], h.SPAN), [chosen], h.SPAN)
    function = h.host([a, b, flag], h.scope(create, branch), h.scope(launch(chosen), launch(made)))
    assert h.lines_of(STEP, function) == [
        "uint32_t t_ci_shapes[2] = {16, 64};",
        "TensorCreateInfo t_ci(t_ci_shapes, 2, DataType::FLOAT32);",
        "TaskOutputTensors alloc_0 = alloc_tensors(t_ci);",
        "const ChipTensor& t = alloc_0.get_ref(0);",
        "ChipTensor c = ext_a;",
        "PTO2_SCOPE() {",
        "    if (flag) {",
        "        c = ext_a;",
        "    } else {",
        "        c = ext_b;",
        "    }",
        "}",
        "PTO2_SCOPE() {",
        *("    " + line for line in task(0, "c") + task(1, "t")),
        "}",
    ]
    (tmp_path / "host.cpp").write_text(h.text_of(STEP, function))
    h.check_syntax(tmp_path / "host.cpp")


def test_rounds_of_a_parallel_loop_wait_for_those_of_the_loop_before(tmp_path: Path) -> None:
    a, none = h.tensor("a__ssa_v0"), ir.Var("none__ssa_v0", TASK_ID, h.SPAN)
    outer, inner = carry("all", none), carry("some", none)
    inner = ir.IterArg("some__iter_v1", TASK_ID, outer[0], h.SPAN), inner[1]
    pair = ir.Var("pair", ir.TupleType([a.type, TASK_ID]), h.SPAN)
    own = ir.Var("own__ssa_v0", TASK_ID, h.SPAN)
    body = [
        h.assign(pair, h.submit("step", {a: h.INOUT}, [inner[0]])),
        h.assign(own, ir.TupleGetItemExpr(pair, 1, h.SPAN)),
        ir.YieldStmt([own], h.SPAN),
    ]
    size = {"iter_arg_array_size_0": 2, "iter_arg_rebind_0": True}
    rounds = loop(body, [inner], (4, 8, 2), ForKind.Parallel, **size)
    both = loop([rounds, ir.YieldStmt([inner[1]], h.SPAN)], [outer], (0, 3, 1), **size)
    first = h.assign(none, h.op("system.task_invalid", type_=TASK_ID))
    function = h.host([a], h.scope(first, both, manual=True))
    each = "for (int64_t __init_i = 0; __init_i < 2; ++__init_i)"
    assert h.lines_of(STEP, function) == [
        "PTO2_SCOPE(PTO2ScopeMode::MANUAL) {",
        "    PTO2TaskId none = PTO2TaskId::invalid();",
        f"    PTO2TaskId all__rv_v2[2]; {each} all__rv_v2[__init_i] = none;",
        "    for (int64_t i = 0; i < 3; i += 1) {",
        f"        PTO2TaskId some__rv_v2[2]; {each} some__rv_v2[__init_i] = PTO2TaskId::invalid();",
        f"        {each} some__rv_v2[__init_i] = all__rv_v2[__init_i];",
        "        for (int64_t i__idx_v0 = 4; i__idx_v0 < 8; i__idx_v0 += 2) {",
        "            CoreTaskArgs params_t0;",
        "            params_t0.add_inout(ext_a);",
        "            PTO2TaskId params_t0_deps[2];",
        "            uint32_t params_t0_deps_count = 0;",
        "            if (all__rv_v2[0].is_valid()) params_t0_deps[params_t0_deps_count++] = all__rv_v2[0];",
        "            if (all__rv_v2[1].is_valid()) params_t0_deps[params_t0_deps_count++] = all__rv_v2[1];",
        "            params_t0.set_dependencies(params_t0_deps, params_t0_deps_count);",
        "            TaskOutputTensors task_0_outs = rt_submit_aiv_task(0, params_t0);",
        "            PTO2TaskId own = task_0_outs.task_id();",
        "            some__rv_v2[((i__idx_v0 - 4) / 2)] = own;",
        "        }",
        f"        {each} all__rv_v2[__init_i] = some__rv_v2[__init_i];",
        "    }",
        "}",
    ]
    (tmp_path / "host.cpp").write_text(h.text_of(STEP, function))
    h.check_syntax(tmp_path / "host.cpp")


def test_names_that_are_words_of_cpp_are_written_out() -> None:
    a, n = h.tensor("a__ssa_v0"), h.scalar("n__ssa_v0")
    new, again = h.scalar("new__ssa_v0"), h.scalar("n__ssa_v1")
    stmts = [
        h.assign(new, ir.Mul(n, h.number(2), DataType.INDEX, h.SPAN)),
        h.assign(again, ir.Min(new, n, DataType.INDEX, h.SPAN)),
        launch(a),
    ]
    found = h.lines_of(STEP, h.host([a, n], *stmts))
    assert found[:2] == [
        "int64_t new__ssa_v0 = (n * 2);",
        "int64_t n__ssa_v1 = std::min<int64_t>(new__ssa_v0, n);",
    ]


def test_a_loop_does_not_hide_a_scalar_of_the_caller() -> None:
    a, i = h.tensor("a__ssa_v0"), h.scalar("i__ssa_v0")
    found = h.lines_of(STEP, h.host([a, i], loop([launch(a)], [])))
    assert found[0] == "for (int64_t i__idx_v0 = 0; i__idx_v0 < 4; i__idx_v0 += 1) {"


def test_all_that_has_no_form_is_told_with_its_line() -> None:
    a, b, c = h.tensor("a__ssa_v0"), h.tensor("b__ssa_v0"), h.tensor("c__ssa_v0")
    stmts = [
        h.assign(b, h.op("tensor.add", a, a, type_=a.type)),
        h.assign(c, b),  # no problem of its own
        launch(c),
        ir.BreakStmt(h.SPAN),
        ir.EvalStmt(h.call("nothing", {a: h.INOUT}), h.SPAN),
    ]
    assert h.refusals(STEP, h.host([a], *stmts)) == [
        "Misplaced builtin op tensor.add: it has no form on the host "
        "(function 'main', variable 'b__ssa_v0', k.py:7:5)",
        "a BreakStmt has no form on the host (function 'main', k.py:7:5)",
        "the program has no function 'nothing' (function 'main', k.py:7:5)",
    ]


def test_symbols_that_nothing_binds_are_refused() -> None:
    a = h.tensor("a__ssa_v0")
    stmt = h.assign(h.scalar("n"), ir.Add(h.scalar("LOST"), h.number(1), DataType.INDEX, h.SPAN))
    assert h.refusals(STEP, h.host([a], stmt)) == [
        "nothing binds 'LOST' (function 'main', variable 'n', k.py:7:5)"
    ]
