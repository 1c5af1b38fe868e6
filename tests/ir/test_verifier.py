"""Rules on definitions, uses and the shape of statements: every error code with its message."""

from __future__ import annotations

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    NOWHERE,
    TENSOR,
    assign,
    branch,
    call,
    carry,
    evaluate,
    function,
    loop,
    program,
    returns,
    scalar,
    sequence,
    submit,
    tensor,
    tuple_of,
    while_loop,
    yields,
)
from ir.verifier_samples import (
    FLAG,
    ONE,
    WORK,
    ZERO,
    A,
    N,
    P,
    X,
    counted,
    doubled,
    errors,
)

from pypto_tmpl import ir
from pypto_tmpl.ir.verifier import DiagnosticSeverity

# SSAForm


def test_ssa_form_of_carries_and_branches() -> None:
    c, r, s, t = carry("c", A), tensor("r"), tensor("s"), tensor("t")
    inner = sequence(assign(t, doubled(c)), yields(t))
    choice = branch(FLAG, yields(A), yields(r), [s])
    assert errors(sequence(counted(inner, (c, r)), choice, returns(s)), P.SSAForm) == []


def test_ssa_1_multiple_assignment() -> None:
    t = tensor("t")
    assert errors(sequence(assign(t, A), assign(t, A), returns(t)), P.SSAForm) == [
        "error: SSAVerify 1: 't' is assigned more than once"
    ]


@pytest.mark.parametrize(
    "body",
    [
        assign(A, doubled(A)),
        loop(X, ZERO, N, ONE, WORK),
        branch(FLAG, yields(A), yields(A), [A]),
        counted(yields(A), (carry("c", A), A)),
        while_loop(FLAG, yields(A), [carry("c", A)], [A]),
    ],
    ids=["assignment", "loop variable", "result of a branch", "result of a loop", "result of a while"],
)
def test_ssa_1_of_a_parameter(body: ir.Stmt) -> None:
    (found,) = errors(body, P.SSAForm)
    assert found.startswith("error: SSAVerify 1: ") and found.endswith(" is assigned more than once")


def test_ssa_2_names_do_not_matter() -> None:
    assert errors(sequence(assign(tensor("a"), A), assign(tensor("a"), A)), P.SSAForm) == []


def test_ssa_3_missing_yield_of_a_loop() -> None:
    message = "error: SSAVerify 3: the body of a loop that produces values does not end in a yield"
    c, r = carry("c", A), tensor("r")
    assert errors(counted(WORK, (c, r)), P.SSAForm) == [message]
    assert errors(while_loop(FLAG, sequence(WORK, WORK), [c], [r]), P.SSAForm) == [message]
    assert errors(counted(sequence(), (c, r)), P.SSAForm) == [message]


def test_ssa_3_missing_yield_of_a_branch() -> None:
    assert errors(branch(FLAG, WORK, yields(A), [tensor("r")]), P.SSAForm) == [
        "error: SSAVerify 3: the body of a branch that produces values does not end in a yield"
    ]


def test_ssa_3_missing_else() -> None:
    assert errors(branch(FLAG, yields(A), None, [tensor("r")]), P.SSAForm) == [
        "error: SSAVerify 3: a branch with return variables has no else"
    ]


@pytest.mark.parametrize("scope", ["runtime", "split_aiv"])
def test_scopes_that_a_trailing_yield_may_stand_in(scope: str) -> None:
    body = sequence(WORK, yields(A))
    if scope == "runtime":
        inner: ir.Stmt = ir.RuntimeScopeStmt(body=body, span=NOWHERE)
    else:
        inner = ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, body=body, span=NOWHERE)
    assert errors(counted(sequence(WORK, inner), (carry("c", A), tensor("r"))), P.SSAForm) == []


def test_a_yield_in_another_scope_is_missing() -> None:
    inner = ir.InCoreScopeStmt(body=yields(A), span=NOWHERE)
    assert errors(counted(inner, (carry("c", A), tensor("r"))), P.SSAForm) == [
        "error: SSAVerify 3: the body of a loop that produces values does not end in a yield"
    ]


def test_ssa_4_iter_args_and_return_vars() -> None:
    body = loop(scalar("i"), ZERO, N, ONE, yields(A), [carry("c", A)], [tensor("r"), tensor("s")])
    assert errors(body, P.SSAForm) == ["error: SSAVerify 4: a loop has 1 iter_args and 2 return variables"]
    body = loop(scalar("i"), ZERO, N, ONE, WORK, [], [tensor("r")])
    assert errors(body, P.SSAForm) == ["error: SSAVerify 4: a loop has 0 iter_args and 1 return variables"]
    body = while_loop(FLAG, yields(A), [carry("c", A)], [])
    assert errors(body, P.SSAForm) == ["error: SSAVerify 4: a loop has 1 iter_args and 0 return variables"]


def test_ssa_5_yield_count() -> None:
    assert errors(counted(yields(A, A), (carry("c", A), tensor("r"))), P.SSAForm) == [
        "error: SSAVerify 5: a yield of 2 values in a loop that produces 1"
    ]
    assert errors(branch(FLAG, yields(A), yields(), [tensor("r")]), P.SSAForm) == [
        "error: SSAVerify 5: a yield of 0 values in a branch that produces 1"
    ]


def leaking_statements() -> list[tuple[str, ir.Stmt, ir.Var]]:
    """Statements with a variable that is not visible behind them, by what it is."""
    t, i = tensor("t"), scalar("i")
    c, d = carry("c", A), carry("d", A)
    return [
        ("t", counted(assign(t, A)), t),
        ("t", branch(FLAG, assign(t, A)), t),
        ("t", branch(FLAG, WORK, assign(t, A)), t),
        ("t", while_loop(FLAG, assign(t, A)), t),
        ("i", loop(i, ZERO, N, ONE, WORK), i),
        ("c", loop(scalar("i"), ZERO, N, ONE, yields(c), [c], [tensor("r")]), c),
        ("d", while_loop(FLAG, yields(d), [d], [tensor("r")]), d),
    ]


@pytest.mark.parametrize(("name", "stmt", "var"), leaking_statements())
def test_ssa_6_scope_violation(name: str, stmt: ir.Stmt, var: ir.Var) -> None:
    assert errors(sequence(stmt, returns(var)), P.SSAForm) == [
        f"error: SSAVerify 6: {name!r} is used outside the scope that defines it"
    ]


def test_ssa_6_in_the_other_branch_and_before_the_definition() -> None:
    t = tensor("t")
    message = "error: SSAVerify 6: 't' is used outside the scope that defines it"
    assert errors(branch(FLAG, assign(t, A), evaluate(doubled(t))), P.SSAForm) == [message]
    assert errors(sequence(evaluate(doubled(t)), assign(t, A)), P.SSAForm) == [message]


def test_scopes_do_not_hide_what_they_define() -> None:
    t = tensor("t")
    inner = ir.InCoreScopeStmt(body=assign(t, A), span=NOWHERE)
    assert errors(sequence(inner, returns(t)), P.SSAForm, P.UseAfterDef) == []


def test_initial_values_are_read_outside_and_conditions_inside_a_while() -> None:
    p = carry("p", FLAG)
    assert errors(while_loop(p, yields(p), [p], [scalar("r", BOOL)]), P.SSAForm, P.UseAfterDef) == []
    q = carry("q", p)
    assert errors(
        while_loop(FLAG, yields(p, q), [p, q], [scalar("r", BOOL), scalar("s", BOOL)]), P.SSAForm
    ) == ["error: SSAVerify 6: 'p' is used outside the scope that defines it"]


def test_ssa_7_misplaced_yield() -> None:
    body = sequence(yields(A), WORK, yields(A))
    assert errors(counted(body, (carry("c", A), tensor("r"))), P.SSAForm) == [
        "error: SSAVerify 7: a yield before the end of the body of a loop that produces values"
    ]
    assert errors(branch(FLAG, body, yields(A), [tensor("r")]), P.SSAForm) == [
        "error: SSAVerify 7: a yield before the end of the body of a branch that produces values"
    ]


def test_a_yield_of_an_inner_branch_is_its_own() -> None:
    s = tensor("s")
    inner = sequence(branch(FLAG, yields(A), yields(A), [s]), yields(s))
    assert errors(counted(inner, (carry("c", A), tensor("r"))), P.SSAForm) == []


# UseAfterDef


@pytest.mark.parametrize(("name", "stmt", "var"), leaking_statements())
def test_names_leak_where_there_are_no_return_vars(name: str, stmt: ir.Stmt, var: ir.Var) -> None:
    found = errors(sequence(stmt, returns(var)), P.UseAfterDef)
    if name == "t":
        assert found == []
    else:  # a loop variable or iter_arg is not visible after its loop
        assert found == [f"error: UseAfterDefCheck 401: {name!r} is used before it is defined"]


def test_401_use_before_definition() -> None:
    t = tensor("t")
    assert errors(sequence(evaluate(doubled(t)), assign(t, A), returns(t)), P.UseAfterDef) == [
        "error: UseAfterDefCheck 401: 't' is used before it is defined"
    ]


def test_401_leak_of_a_statement_with_return_vars() -> None:
    t = tensor("t")
    body = sequence(assign(t, A), yields(t))
    for stmt in (branch(FLAG, body, yields(A), [tensor("r")]), counted(body, (carry("c", A), tensor("r")))):
        assert errors(sequence(stmt, returns(t)), P.UseAfterDef) == [
            "error: UseAfterDefCheck 401: 't' is used before it is defined"
        ]


def test_401_every_operand_counts() -> None:
    t, task = tensor("t"), scalar("task", ir.DataType.TASK_ID)
    place = ir.MemRef(ir.Var("mem", ir.PtrType(), NOWHERE), X, 8, slot=scalar("k"))
    uses = [
        tuple_of(A, t),
        ir.TupleGetItemExpr(tensor("pair", ir.TupleType([TENSOR])), 0, NOWHERE),
        ir.Neg(scalar("y"), INDEX, NOWHERE),
        ir.Add(X, scalar("z"), INDEX, NOWHERE),
        submit("g", A, deps=[task], core_num=scalar("cores"), predicate=scalar("p", BOOL)),
        call("tile.use", place),
    ]
    found = errors(sequence(*map(evaluate, uses)), P.UseAfterDef)
    names = ["t", "pair", "y", "z", "task", "cores", "p", "mem", "k"]
    assert found == [f"error: UseAfterDefCheck 401: {name!r} is used before it is defined" for name in names]


def test_variables_of_types_count_as_defined() -> None:
    m = scalar("m")
    shaped = ir.TensorType([m, 4], FP32)
    body = sequence(assign(tensor("t", shaped), call("tensor.create", type=shaped)), evaluate(call("op", m)))
    assert errors(body, P.UseAfterDef, P.SSAForm) == []
    assert errors(function("f", [tensor("b", shaped)], returns(m)), P.UseAfterDef, P.SSAForm) == []
    assert errors(function("f", [], returns(m), [shaped]), P.UseAfterDef, P.SSAForm) == []


def test_position_of_the_use_is_reported() -> None:
    stmt = ir.ReturnStmt([tensor("t")], ir.Span("kernel.py", 3, 5))
    (found,) = ir.verify(function("f", [], stmt), [P.UseAfterDef])
    assert str(found) == "error: UseAfterDefCheck 401: 't' is used before it is defined [kernel.py:3:5]"
    assert (found.function, found.severity) == ("f", DiagnosticSeverity.Error)


# NoNestedCalls


def nested_calls() -> list[tuple[int, str, ir.Stmt]]:
    inner = call("tensor.read", A, type=ir.ScalarType(INDEX))
    test = call("tensor.test", A, type=ir.ScalarType(BOOL))
    return [
        (201, "an argument of a call", evaluate(call("op", inner))),
        (201, "an argument of a call", evaluate(submit("g", inner))),
        (202, "the condition of an if", branch(test, WORK)),
        (203, "the range of a loop", loop(scalar("i"), inner, N, ONE, WORK)),
        (203, "the range of a loop", loop(scalar("i"), ZERO, inner, ONE, WORK)),
        (203, "the range of a loop", loop(scalar("i"), ZERO, N, inner, WORK)),
        (204, "an operand of a binary operator", assign(scalar("y"), ir.Add(inner, X, INDEX, NOWHERE))),
        (204, "an operand of a binary operator", assign(scalar("y"), ir.Add(X, inner, INDEX, NOWHERE))),
        (205, "the operand of a unary operator", assign(scalar("y"), ir.Neg(inner, INDEX, NOWHERE))),
        (206, "the condition of a while", while_loop(test, WORK)),
    ]


@pytest.mark.parametrize(("code", "place", "stmt"), nested_calls())
def test_nested_calls(code: int, place: str, stmt: ir.Stmt) -> None:
    (found,) = errors(stmt, P.NoNestedCalls)
    assert found in {
        f"error: NoNestedCall {code}: {name} is called inside {place}"
        for name in ("tensor.read", "tensor.test")
    }


def test_calls_that_are_not_nested() -> None:
    body = sequence(assign(tensor("t"), call("op", A, tuple_of(X, N))), evaluate(call("op")), returns(A))
    assert errors(body, P.NoNestedCalls) == []


# NoRedundantBlocks, BreakContinueValid, NoNestedInCore, PipelineLoopValid


def test_redundant_blocks() -> None:
    assert errors(sequence(WORK, sequence(), WORK), P.NoRedundantBlocks) == [
        "error: NoRedundantBlocks 0: a sequence directly inside a sequence"
    ]
    assert errors(counted(sequence(WORK)), P.NoRedundantBlocks) == [
        "error: NoRedundantBlocks 0: a sequence of one statement"
    ]
    assert errors(sequence(yields(A), WORK), P.NoRedundantBlocks) == [
        "error: NoRedundantBlocks 0: a yield before the end of its block"
    ]
    assert errors(sequence(WORK, yields(A)), P.NoRedundantBlocks) == []
    assert errors(sequence(), P.NoRedundantBlocks) == []


@pytest.mark.parametrize("jump", [ir.BreakStmt, ir.ContinueStmt])
def test_jumps(jump: type) -> None:
    name = "break" if jump is ir.BreakStmt else "continue"
    codes = dict(
        zip(("Parallel", "Unroll", ""), (301, 302, 305) if name == "break" else (303, 304, 306), strict=True)
    )
    stmt = branch(FLAG, ir.InCoreScopeStmt(body=jump(NOWHERE), span=NOWHERE))

    def found(body: ir.Stmt) -> list[str]:
        return errors(body, P.BreakContinueValid)

    for kind in (ir.ForKind.Sequential, ir.ForKind.Pipeline):
        assert found(counted(stmt, kind=kind)) == []
    assert found(while_loop(FLAG, stmt)) == []
    for kind in (ir.ForKind.Parallel, ir.ForKind.Unroll):
        message = f"error: BreakContinueCheck {codes[kind.name]}: a {name} in a loop of kind {kind.name}"
        assert found(counted(stmt, kind=kind)) == [message]
        assert found(while_loop(FLAG, counted(stmt, kind=kind))) == [message]
        assert found(counted(while_loop(FLAG, stmt), kind=kind)) == []
    assert found(sequence(counted(WORK), stmt)) == [
        f"error: BreakContinueCheck {codes['']}: a {name} outside any loop"
    ]


def test_nested_incore() -> None:
    inner = ir.InCoreScopeStmt(body=WORK, span=NOWHERE)
    middle = ir.InCoreScopeStmt(body=sequence(WORK, counted(inner)), span=NOWHERE)
    assert errors(sequence(inner, inner), P.NoNestedInCore) == []
    message = "error: NoNestedInCore 501: an InCore scope inside an InCore scope"
    assert errors(middle, P.NoNestedInCore) == [message]
    outer = ir.InCoreScopeStmt(body=ir.ClusterScopeStmt(body=middle, span=NOWHERE), span=NOWHERE)
    assert errors(outer, P.NoNestedInCore) == [message, message]


def test_pipeline_loops() -> None:
    stages = {"pipeline_stages": 2}
    assert errors(counted(WORK, kind=ir.ForKind.Pipeline), P.PipelineLoopValid) == [
        "error: PipelineLoopValid 0: a loop of kind Pipeline without the attribute pipeline_stages"
    ]
    assert errors(counted(WORK, kind=ir.ForKind.Parallel, attrs=stages), P.PipelineLoopValid) == [
        "error: PipelineLoopValid 1: the attribute pipeline_stages on a loop of kind Parallel"
    ]
    assert errors(counted(WORK, kind=ir.ForKind.Pipeline, attrs=stages), P.PipelineLoopValid) == []
    assert errors(counted(WORK), P.PipelineLoopValid) == []


# The whole


def test_checks_of_all_properties_that_have_one() -> None:
    for wanted in ir.CHECKED_PROPERTIES:
        assert errors(WORK, wanted) == []


def test_sets_of_properties() -> None:
    assert {p.name for p in ir.DEFAULT_PROPERTIES} == {
        "SSAForm", "TypeChecked", "NoNestedCalls", "BreakContinueValid", "NoRedundantBlocks", "UseAfterDef",
        "OutParamNotShadowed", "NoNestedInCore", "TileTypeCoherence", "ArrayNotEscaped",
    }  # fmt: skip
    assert {p.name for p in ir.STRUCTURAL_PROPERTIES} == {
        "TypeChecked", "BreakContinueValid", "NoRedundantBlocks", "UseAfterDef", "OutParamNotShadowed",
        "NoNestedInCore", "InOutUseValid", "PipelineLoopValid", "ArrayNotEscaped", "ManualDepsOnSubmitOnly",
        "AtomicAddDtypeValid",
    }  # fmt: skip


def test_structural_properties_are_checked_unless_others_are_named() -> None:
    twice = sequence(assign(tensor("t"), A), ir.BreakStmt(NOWHERE), sequence(WORK))
    found = ir.verify(program(function("f", [A], twice), function("g", [A], sequence(WORK))))
    assert [(item.function, item.rule_name, item.error_code) for item in found] == [
        ("f", "BreakContinueCheck", 305),
        ("f", "NoRedundantBlocks", 0),
        ("f", "NoRedundantBlocks", 0),
        ("g", "NoRedundantBlocks", 0),
    ]


def test_the_error_lists_all_violations() -> None:
    body = sequence(ir.BreakStmt(ir.Span("kernel.py", 7, 9)), sequence())
    with pytest.raises(ir.VerificationError) as raised:
        ir.verify_or_throw(program(function("f", [], body)))
    assert str(raised.value) == (
        "error[verification]: 2 violation(s) of the IR's rules\n"
        "   = error: BreakContinueCheck 305: a break outside any loop [kernel.py:7:9] (function 'f')\n"
        "   = error: NoRedundantBlocks 0: a sequence directly inside a sequence (function 'f')"
    )
    assert len(raised.value.diagnostics) == 2
    assert isinstance(raised.value, ValueError)
    ir.verify_or_throw(program(function("f", [], WORK)))


ALL = list(ir.CHECKED_PROPERTIES)


def nest(depth: int, kind: str) -> ir.Stmt:
    t = tensor("t")
    stmt: ir.Stmt = sequence(assign(t, A), evaluate(doubled(t)))
    for _ in range(depth):
        if kind == "for":
            stmt = counted(stmt)
        elif kind == "if":
            stmt = branch(FLAG, stmt, WORK)
        elif kind == "while":
            stmt = while_loop(FLAG, stmt)
        elif kind == "scope":
            stmt = ir.RuntimeScopeStmt(body=stmt, span=NOWHERE)
        else:
            stmt = sequence(WORK, stmt)
    return stmt


@pytest.mark.parametrize("kind", ["for", "if", "while", "scope", "sequence"])
def test_deep_statements(kind: str) -> None:
    found = errors(nest(5_000, kind), *ALL)
    nested = "0: a sequence directly inside a sequence"
    assert set(found) <= {
        f"error: {rule} {nested}" for rule in ("NoRedundantBlocks", "NormalizedStmtStructure")
    }


def test_deep_carries() -> None:
    stmt: ir.Stmt = yields(A)
    for _ in range(3_000):
        r = tensor("r")
        stmt = sequence(counted(stmt, (carry("c", A), r)), yields(r))
    assert errors(stmt, *ALL) == []
