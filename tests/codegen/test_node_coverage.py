"""Every node class, scope kind and function type of the IR has a test that executes a script of it."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pypto_tmpl import ir

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BASES = {"IRNode", "Expr", "Stmt", "BinaryExpr", "UnaryExpr", "ScopeStmt"}  # have no objects of their own

BINARY = "test_scalars.py::test_binary_operators_on_integers_and_bools"
UNARY = "test_scalars.py::test_unary_operators"

TESTS = {
    "Program": "test_names.py::test_variables_of_submits_and_tiles",
    "Function": "test_statements.py::test_a_function_alone",
    # Expressions
    "Var": "test_names.py::test_two_variables_with_one_hint_and_one_that_has_the_suffix_already",
    "IterArg": "test_statements.py::test_fibonacci",
    "MemRef": "test_scopes.py::test_memory_references_in_types_change_nothing",
    "WindowBuffer": "test_scopes.py::test_tensors_in_a_communication_window",
    "ConstInt": "test_statements.py::test_constants",
    "ConstFloat": "test_statements.py::test_constants",
    "ConstBool": "test_statements.py::test_constants",
    "Call": "test_statements.py::test_functions_that_return_tuples",
    "Submit": "test_launches.py::test_a_submit_with_one_result",
    "MakeTuple": "test_statements.py::test_tuples",
    "TupleGetItemExpr": "test_statements.py::test_tuples",
    "Add": BINARY,
    "Sub": BINARY,
    "Mul": BINARY,
    "FloorDiv": BINARY,
    "FloorMod": BINARY,
    "FloatDiv": BINARY,
    "Min": BINARY,
    "Max": BINARY,
    "Pow": BINARY,
    "Eq": BINARY,
    "Ne": BINARY,
    "Lt": BINARY,
    "Le": BINARY,
    "Gt": BINARY,
    "Ge": BINARY,
    "And": BINARY,
    "Or": BINARY,
    "Xor": BINARY,
    "BitAnd": BINARY,
    "BitOr": BINARY,
    "BitXor": BINARY,
    "BitShiftLeft": BINARY,
    "BitShiftRight": BINARY,
    "Abs": UNARY,
    "Neg": UNARY,
    "Not": UNARY,
    "BitNot": UNARY,
    "Cast": "test_scalars.py::test_casts",
    # Statements
    "AssignStmt": "test_statements.py::test_assignment_reads_the_old_value",
    "EvalStmt": "test_statements.py::test_an_expression_for_its_effect",
    "SeqStmts": "test_statements.py::test_an_empty_loop_body",
    "IfStmt": "test_statements.py::test_if_with_results",
    "ForStmt": "test_statements.py::test_swap",
    "WhileStmt": "test_statements.py::test_while_with_carries",
    "YieldStmt": "test_statements.py::test_an_if_in_a_loop_yields_the_carries",
    "ReturnStmt": "test_statements.py::test_returns_in_both_branches",
    "BreakStmt": "test_statements.py::test_break_and_continue",
    "ContinueStmt": "test_statements.py::test_break_and_continue",
    "InlineStmt": "test_statements.py::test_inline_python",
    # Scopes
    "InCoreScopeStmt": "test_scopes.py::test_slices_copy_in_kernel_code_and_alias_in_orchestration",
    "ClusterScopeStmt": "test_groups.py::test_a_round_trip_needs_both_members_at_once",
    "HierarchyScopeStmt": "test_scopes.py::test_a_scope_runs_its_body_once_and_hides_no_name",
    "SpmdScopeStmt": "test_scopes.py::test_an_spmd_scope_runs_its_body_for_every_block",
    "SplitAivScopeStmt": "test_scopes.py::test_a_split_scope_runs_on_both_lanes",
    "RuntimeScopeStmt": "test_scopes.py::test_a_scope_runs_its_body_once_and_hides_no_name",
    "CommDomainScopeStmt": "test_scopes.py::test_tensors_in_a_communication_window",
    "ScopeKind.InCore": "test_scopes.py::test_slices_copy_in_kernel_code_and_alias_in_orchestration",
    "ScopeKind.Cluster": "test_groups.py::test_a_cluster_of_blocks",
    "ScopeKind.Hierarchy": "test_scopes.py::test_scopes_in_scopes",
    "ScopeKind.Spmd": "test_scopes.py::test_an_spmd_scope_runs_its_body_for_every_block",
    "ScopeKind.Runtime": "test_scopes.py::test_a_yield_in_a_scope_is_the_loop_s",
    "ScopeKind.CommDomain": "test_scopes.py::test_tensors_in_a_communication_window",
    "ScopeKind.SplitAiv": "test_scopes.py::test_shards_and_gathers_meet_between_the_lanes",
    # Functions
    "FunctionType.Opaque": "test_statements.py::test_functions_do_not_share_names",
    "FunctionType.Orchestration": "test_launches.py::test_an_spmd_function",
    "FunctionType.InCore": "test_scopes.py::test_a_function_on_two_lanes",
    "FunctionType.AIC": "test_group_lanes.py::test_a_group_of_cube_work_only",
    "FunctionType.AIV": "test_scopes.py::test_replayed_lanes_return_from_both_branches",
    "FunctionType.Group": "test_groups.py::test_forms_of_a_plain_group",
    "FunctionType.Spmd": "test_launches.py::test_an_spmd_function",
    "FunctionType.Inline": "test_group_lanes.py::test_functions_that_a_muted_lane_calls_are_muted",
    "FunctionType.Graph": "test_scopes.py::test_a_graph_function",
}


def node_classes(base: type = ir.IRNode) -> Iterator[str]:
    """Names of the public node classes that have objects."""
    for cls in base.__subclasses__():
        if cls.__module__.startswith("pypto_tmpl."):
            if cls.__name__ not in BASES and not cls.__name__.startswith("_"):
                yield cls.__name__
            yield from node_classes(cls)


def missing_entries(tests: dict[str, str]) -> set[str]:
    kinds = [f"{type(kind).__name__}.{kind.name}" for kind in (*ir.ScopeKind, *ir.FunctionType)]
    return {*node_classes(), *kinds} ^ set(tests)


def missing_tests(tests: dict[str, str]) -> set[str]:
    defined = {
        f"{path.name}::{node.name}"
        for path in HERE.glob("test_*.py")
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }
    return set(tests.values()) - defined


def test_every_class_and_kind_has_an_entry():
    assert missing_entries(TESTS) == set()


def test_every_entry_s_test_exists():
    assert missing_tests(TESTS) == set()


def test_both_would_notice_a_gap():
    assert missing_entries({name: test for name, test in TESTS.items() if name != "WhileStmt"}) == {
        "WhileStmt"
    }
    assert missing_entries({**TESTS, "GotoStmt": BINARY}) == {"GotoStmt"}
    assert missing_tests({**TESTS, "Add": "test_scalars.py::test_no_such_thing"}) == {
        "test_scalars.py::test_no_such_thing"
    }


@pytest.fixture(scope="module")
def executed(tmp_path_factory) -> dict[str, set[str]]:
    """Node classes in the scripts that each listed test executes."""
    record = tmp_path_factory.mktemp("record") / "nodes.json"
    ids = [f"{HERE / test}" for test in sorted(set(TESTS.values()))]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "codegen.node_recorder",
        "-p",
        "no:cacheprovider",
        *ids,
    ]
    environment = {**os.environ, "NODE_RECORD": str(record), "PYTHONPATH": str(ROOT / "tests")}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    found = json.loads(record.read_text())
    return {test.rpartition("/")[2]: set(classes) for test, classes in found.items()}


@pytest.mark.slow
def test_every_test_executes_what_it_is_listed_for(executed):
    wrong = {name: test for name, test in TESTS.items() if name not in executed.get(test, ())}
    assert wrong == {}
