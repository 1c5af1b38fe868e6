"""Rules on what stands ready to be run: they hold of recorded programs from some pass on."""

from pathlib import Path

import pytest
from codegen.builders import (
    AIC,
    AIV,
    BOOL,
    FP32,
    Acc,
    Orchestration,
    Out,
    U,
    Vec,
    assign,
    call,
    carry,
    evaluate,
    function,
    op,
    program,
    ret,
    scalar,
    tensor,
    tile,
    tile_type,
)
from ir.verifier_samples import P

from pypto_tmpl import ir

D = ir.ArgDirection
X, OUT, N = tensor("x", [16, 16]), tensor("out", [16, 16]), scalar("n")
KERNEL = function("kernel", [X, (OUT, Out), N], type=AIV)
RULES = {
    P.TileMemoryInferred: 18,
    P.AccToGmStoreValid: 18,
    P.CallDirectionsResolved: 38,
    P.RuntimeScopesMaterialized: 46,
    P.IterArgCarryClassified: 47,
}
DUMPS = [
    path
    for corpus in ("corpus", "pass_corpus")
    for path in sorted(Path(__file__).parents[1].glob(f"{corpus}/dumps/*/*/*.msgpack"))
    if int(path.name[:2]) >= min(RULES.values())
]


def found(node: ir.Program, wanted: ir.IRProperty) -> list[str]:
    return [item.message for item in ir.verify(node, [wanted])]


@pytest.mark.parametrize("path", DUMPS, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_the_rules_hold_of_recorded_programs(path):
    node = ir.deserialize_from_file(str(path))
    ir.verify_or_throw(node, [rule for rule, first in RULES.items() if int(path.name[:2]) >= first])


def launching(*directions: ir.ArgDirection) -> ir.Program:
    attrs = {"arg_directions": list(directions)} if directions else {}
    launch = evaluate(call("kernel", [X, OUT, N], **attrs))
    return program(function("main", [X, (OUT, Out), N], launch, type=Orchestration), KERNEL)


def test_directions_of_calls():
    wanted = P.CallDirectionsResolved
    assert found(launching(D.Input, D.OutputExisting, D.Scalar), wanted) == []
    assert found(launching(), wanted) == ["the call of 'kernel' has directions of 0 of its 3 arguments"]
    assert found(launching(D.InOut, D.Input, D.Input), wanted) == [
        "the call of 'kernel' takes argument 0 as InOut",
        "the call of 'kernel' takes argument 1 as Input",
        "the call of 'kernel' takes argument 2 as Input",
    ]


def test_a_tile_without_a_memory_space():
    lost = assign(tile("t", [16, 16], memory=None), op("tile.full", [], tile_type([16, 16], memory=None)))
    assert found(program(function("k", [], lost, type=AIV)), P.TileMemoryInferred) == [
        "the tile 't' has no memory space"
    ]
    assert found(program(function("k", [], lost, type=Orchestration)), P.TileMemoryInferred) == []


@pytest.mark.parametrize(
    ("dtype", "memory", "is_right"), [(FP32, Acc, True), (BOOL, Acc, False), (BOOL, Vec, True)]
)
def test_what_accumulators_are_stored_as(dtype, memory, is_right):
    target = tensor("out", [16, 16], dtype)
    store = evaluate(op("tile.store", [tile("t", [16, 16], memory=memory), [0, 0], target]))
    expected = [] if is_right else ["an accumulator is stored as BOOL"]
    assert found(program(function("k", [(target, Out)], store, type=AIC)), P.AccToGmStoreValid) == expected


def test_scopes_and_carries_of_orchestration_functions():
    kept = carry("c", N)
    body = ir.YieldStmt([kept], U)
    bounds = [ir.ConstInt(value, ir.DataType.INDEX, U) for value in (0, 4, 1)]
    loop = ir.ForStmt(scalar("i"), *bounds, [kept], body, [scalar("r")], U)
    node = program(function("main", [N], loop, ret(), type=Orchestration))
    assert found(node, P.RuntimeScopesMaterialized) == [
        "the Orchestration function 'main' has no auto_scope=False"
    ]
    assert found(node, P.IterArgCarryClassified) == ["the carry 'c' has no iter_arg_rebind_0"]
