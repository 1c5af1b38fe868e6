"""Rules on what passes leave nothing of."""

from __future__ import annotations

import pytest
from codegen.builders import function as function_of_type
from codegen.builders import program
from ir.printer_samples import NOWHERE, sequence
from ir.verifier_samples import WORK, A, N, P, counted, errors

from pypto_tmpl import ir

F = ir.FunctionType
JUMPING = counted(sequence(WORK, ir.BreakStmt(NOWHERE)))
LEVEL = ir.Level.HOST
LEFT = [
    (P.StructuredCtrlFlow, F.InCore, JUMPING, "a jump"),
    (P.UnrollResolved, F.Opaque, counted(WORK, kind=ir.ForKind.Unroll), "a loop of kind Unroll"),
    (P.PipelineResolved, F.AIV, counted(WORK, kind=ir.ForKind.Pipeline), "a loop of kind Pipeline"),
    (
        P.HierarchyOutlined,
        F.Opaque,
        ir.HierarchyScopeStmt(LEVEL, body=WORK, span=NOWHERE),
        "a Hierarchy scope",
    ),
    (P.SplitIncoreOrch, F.Orchestration, ir.InCoreScopeStmt(body=WORK, span=NOWHERE), "an InCore scope"),
    (P.ClusterOutlined, F.Opaque, ir.ClusterScopeStmt(body=WORK, span=NOWHERE), "a Cluster or Spmd scope"),
    (P.ClusterOutlined, F.Opaque, ir.SpmdScopeStmt(2, body=WORK, span=NOWHERE), "a Cluster or Spmd scope"),
]


@pytest.mark.parametrize(("wanted", "kind", "stmt", "what"), LEFT)
def test_what_is_left(wanted: ir.IRProperty, kind: ir.FunctionType, stmt: ir.Stmt, what: str) -> None:
    found = errors(function_of_type("f", [A, N], stmt, type=kind), wanted)
    assert found == [f"error: {wanted.name} 0: {what} is left in a function of type {kind.name}"]
    assert errors(function_of_type("f", [A, N], WORK, type=kind), wanted) == []


def test_where_it_may_be_left() -> None:
    cluster = ir.ClusterScopeStmt(body=WORK, span=NOWHERE)
    assert errors(function_of_type("f", [A, N], cluster, type=F.Group), P.ClusterOutlined) == []
    assert errors(function_of_type("f", [A, N], JUMPING, type=F.Opaque), P.StructuredCtrlFlow) == []
    scope = ir.InCoreScopeStmt(body=WORK, span=NOWHERE)
    assert errors(function_of_type("f", [A, N], scope, type=F.InCore), P.SplitIncoreOrch) == []


def calling(name: str, kind: ir.FunctionType) -> ir.Function:
    call = ir.Call(ir.GlobalVar(name), [], NOWHERE)
    return function_of_type("f", [], ir.EvalStmt(call, NOWHERE), type=kind)


def test_functions_that_are_called_exist_and_are_no_longer_inline() -> None:
    helper = function_of_type("helper", [], WORK, type=F.Inline)
    there = program(calling("helper", F.Orchestration), helper)
    assert errors(there, P.InlineFunctionsEliminated) == [
        "error: InlineFunctionsEliminated 0: the Inline function 'helper' is called",
        "error: InlineFunctionsEliminated 0: the Inline function 'helper' is left",
    ]
    missing = program(calling("nobody", F.Orchestration))
    assert errors(missing, P.OrchestrationReferencesResolved) == [
        "error: OrchestrationReferencesResolved 0: there is no function 'nobody' to call"
    ]
    assert errors(program(calling("nobody", F.InCore)), P.OrchestrationReferencesResolved) == []
    assert errors(calling("nobody", F.InCore), P.InlineFunctionsEliminated) == []


def test_a_property_without_a_check_is_refused() -> None:
    with pytest.raises(
        ValueError, match="there is no check of VectorKernelSplit, HasMemRefs; there are checks of"
    ):
        ir.verify(program(calling("f", F.InCore)), [P.TypeChecked, P.VectorKernelSplit, P.HasMemRefs])
