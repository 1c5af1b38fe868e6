"""Rules on what calls write: every error code with its message."""

from __future__ import annotations

import pytest
from ir.printer_samples import (
    BOOL,
    TENSOR,
    assign,
    branch,
    call,
    call_function,
    carry,
    evaluate,
    function,
    program,
    returns,
    sequence,
    submit,
    tensor,
    tuple_of,
    while_loop,
    yields,
)
from ir.verifier_samples import (
    FLAG,
    WORK,
    A,
    N,
    P,
    X,
    counted,
    errors,
)

from pypto_tmpl import ir

# OutParamNotShadowed, InOutUseValid


@pytest.mark.parametrize("op", ["tensor.create", "tensor.full"])
@pytest.mark.parametrize("direction", list(ir.ParamDirection))
def test_501_output_parameters_are_not_shadowed(op: str, direction: ir.ParamDirection) -> None:
    body = sequence(assign(tensor("other"), call(op)), assign(A, call(op)))
    message = f"error: OutParamNotShadowed 501: the output parameter 'a' is reassigned by {op}"
    expected = [] if direction is ir.ParamDirection.In else [message]
    assert errors(function("f", [(A, direction)], body), P.OutParamNotShadowed) == expected


def test_output_parameters_may_be_written_otherwise() -> None:
    body = assign(A, call("tensor.assemble", A, A))
    assert errors(function("f", [(A, ir.ParamDirection.Out)], body), P.OutParamNotShadowed) == []


def caller(*stmts: ir.Stmt, **options: object) -> ir.Program:
    """A program whose kernel writes its second parameter, and a caller of it with a, b, n and flag."""
    kernel = function("kernel", [A, (B, ir.ParamDirection.InOut)], WORK)
    body = sequence(*stmts)
    return program(kernel, function("main", [A, B, N, FLAG], body, **options))  # type: ignore[arg-type]


B = tensor("b")
LAUNCH = evaluate(call_function("kernel", A, B))
USE = evaluate(call("tensor.use", B))
STALE = "error: InOutUseValid 0: 'b' is read after 'kernel' wrote it"


@pytest.mark.parametrize(
    "stmts",
    [
        (LAUNCH, USE),
        (LAUNCH, returns(B)),
        (branch(FLAG, LAUNCH), USE),
        (branch(FLAG, WORK, LAUNCH), USE),
        (counted(LAUNCH), USE),
        (LAUNCH, counted(yields(carry("c", A)), (carry("c", B), tensor("r")))),
        (LAUNCH, while_loop(FLAG, yields(A), [carry("c", B)], [tensor("r")])),
        (LAUNCH, while_loop(call("tensor.test", B, type=ir.ScalarType(BOOL)), WORK)),
        (evaluate(tuple_of(call_function("kernel", A, B), A)), USE),
    ],
)
def test_outputs_are_not_read_under_their_old_name(stmts: tuple[ir.Stmt, ...]) -> None:
    assert errors(caller(*stmts), P.InOutUseValid) == [STALE]


@pytest.mark.parametrize(
    "stmts",
    [
        (USE, LAUNCH),
        (LAUNCH, evaluate(call("tensor.use", A))),
        (assign(B, call_function("kernel", A, B)), USE),
        (LAUNCH, assign(B, A), USE),
        (branch(FLAG, LAUNCH, USE),),
        (branch(FLAG, sequence(LAUNCH, assign(B, A)), WORK), USE),
        (evaluate(call_function("elsewhere", A, B)), USE),
        (evaluate(submit("kernel", A, B)), USE),
    ],
)
def test_uses_that_are_not_stale(stmts: tuple[ir.Stmt, ...]) -> None:
    assert errors(caller(*stmts), P.InOutUseValid) == []


def test_a_branch_without_else_may_not_be_taken() -> None:
    assert errors(caller(LAUNCH, branch(FLAG, assign(B, A)), USE), P.InOutUseValid) == [STALE]


@pytest.mark.parametrize("kind", [ir.FunctionType.Group, ir.FunctionType.Spmd])
def test_wrappers_are_exempt(kind: ir.FunctionType) -> None:
    assert errors(caller(LAUNCH, USE, type=kind), P.InOutUseValid) == []


def test_directions_are_those_of_the_program() -> None:
    main = caller(LAUNCH, USE)["main"]
    assert main is not None and errors(main, P.InOutUseValid) == []


# ManualDepsOnSubmitOnly, AtomicAddDtypeValid


def test_manual_dependencies() -> None:
    attrs = {"manual_dep_edges": [X]}
    assert errors(evaluate(call_function("g", A, attrs=attrs)), P.ManualDepsOnSubmitOnly) == [
        "error: ManualDepsOnSubmitOnly 0: a call of 'g' has the attribute manual_dep_edges"
    ]
    assert errors(evaluate(submit("g", A, attrs=attrs)), P.ManualDepsOnSubmitOnly) == [
        "error: ManualDepsOnSubmitOnly 1: a submit of 'g' has the attribute manual_dep_edges"
    ]
    assert errors(evaluate(call("system.task_dummy", attrs=attrs)), P.ManualDepsOnSubmitOnly) == []


@pytest.mark.parametrize(
    ("op", "place"),
    [
        ("tile.store", 2),
        ("tensor.assemble", 0),
        ("pld.tensor.put", 0),
        ("pld.tile.remote_store", 1),
        ("x.y", 9),
    ],
)
def test_atomic_additions(op: str, place: int) -> None:
    wrong = ir.TensorType([16, 64], ir.DataType.INT64)
    args = [tensor("wrong", wrong) if index == place else A for index in range(3)]
    type_ = wrong if place == 9 else TENSOR
    add = evaluate(call(op, *args, type=type_, atomic=ir.AtomicType.Add))
    assert errors(add, P.AtomicAddDtypeValid) == [
        f"error: AtomicAddDtypeValid 0: {op} adds atomically to INT64"
    ]
    for atomic in (ir.AtomicType.None_, True, X):
        assert errors(evaluate(call(op, *args, type=type_, atomic=atomic)), P.AtomicAddDtypeValid) == []
    assert errors(evaluate(call(op, A, A, A, atomic=ir.AtomicType.Add)), P.AtomicAddDtypeValid) == []
