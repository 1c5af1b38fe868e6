"""The passes that make functions of scopes: names, what is not recorded of launches, and what is refused."""

import pytest
from codegen.builders import function
from ir.printer_samples import NOWHERE, integer, scalar, sequence
from ir.verifier_samples import WORK, N
from passes.kernels import body, program

from pypto_tmpl import ir, passes
from pypto_tmpl.passes.outline.dataflow import Callees, Origins

TENSOR = "pl.Tensor[[16, 16], pl.FP32]"


def outlined(*lines: str, more: str = "") -> ir.Program:
    """A program with an Opaque function ``main`` after OutlineIncoreScopes."""
    head = f"    @pl.function\n    def main(self, x: {TENSOR}, out: pl.Out[{TENSOR}]):\n"
    node = program(more + head + "".join(f"        {line}\n" for line in lines))
    return passes.outline_incore_scopes()(passes.convert_to_ssa()(node))


def region(name: str = "", **options: str) -> str:
    given = {"level": "pl.Level.CORE_GROUP", **({"name_hint": repr(name)} if name else {}), **options}
    return f"with pl.at({', '.join(f'{key}={value}' for key, value in given.items())}):"


def names(node: ir.Program) -> list[str]:
    return sorted(found.name for found in node.functions.values())


def test_names_of_regions_count_all_of_a_function_and_avoid_others():
    other = f"    @pl.function\n    def again(self, x: {TENSOR}):\n        y = pl.neg(x)\n        return y\n"
    use = "    out = pl.assemble(out, pl.neg(x), [0, 0])"
    lines = [region(), use, region("again"), use, region("twice"), use, region("twice"), use, region(), use]
    got = outlined(*lines, more=other)
    assert names(got) == [
        "again", "main", "main_again", "main_incore_0", "main_incore_4", "twice", "twice_0",
    ]  # fmt: skip


def test_what_is_read_behind_a_region_is_returned_and_what_is_not_stays_inside():
    lines = [region("one"), "    a = pl.add(x, 1.0)", "    b = pl.add(a, 2.0)", "return b"]
    got = outlined(*lines)
    assert body(got, "one")[-1] == "return b__ssa_v0"
    assert body(got, "main") == ["b__ssa_v0 = self.one(x__ssa_v0)", "return b__ssa_v0"]
    assert got["main"].func_type is ir.FunctionType.Orchestration


def test_a_parameter_that_is_read_and_stored_into_is_both():
    store = "    out = pl.assemble(out, pl.add(pl.slice(out, [16, 16], [0, 0]), 1.0), [0, 0])"
    assert outlined(region("both"), store)["both"].param_directions == (ir.ParamDirection.InOut,)
    one = outlined(region("one"), "    out = pl.assemble(out, pl.neg(x), [0, 0])")["one"]
    directions = {v.name_hint: way.name for v, way in zip(one.params, one.param_directions, strict=True)}
    assert directions == {"x__ssa_v0": "In", "out__ssa_v0": "Out"}


def test_a_split_of_its_own_and_regions_of_lanes():
    lanes = ir.SplitAivScopeStmt(ir.SplitMode.UP_DOWN, body=WORK, span=NOWHERE)
    scope = ir.InCoreScopeStmt(ir.SplitMode.LEFT_RIGHT, "half", lanes, ir.Span("kernel.py", 7, 9))
    node = ir.Program([function("f", [N], scope)], "p", NOWHERE)
    with pytest.raises(passes.PassError) as raised:
        passes.outline_incore_scopes()(node)
    assert str(raised.value) == (
        "error[pass]: the scope 'half' asks for a split and has regions of two lanes of its own\n"
        "  --> kernel.py:7:9\n"
        "   = in function 'f'"
    )


def cluster(*inside: ir.Stmt) -> ir.Program:
    scope = ir.ClusterScopeStmt("", sequence(*inside), NOWHERE)
    return ir.Program([function("f", [N], scope)], "p", NOWHERE)


def test_clusters_that_cannot_be_launched():
    blocks = ir.SpmdScopeStmt(2, body=WORK, span=NOWHERE)
    with pytest.raises(passes.PassError, match="a cluster has more than one Spmd scope"):
        passes.outline_cluster_scopes()(cluster(blocks, blocks))
    count = scalar("count")
    counted = ir.SpmdScopeStmt(count, body=WORK, span=NOWHERE)
    with pytest.raises(passes.PassError, match="the number of blocks depends on 'count', which the cluster"):
        passes.outline_cluster_scopes()(cluster(ir.AssignStmt(count, integer(2), NOWHERE), counted))


def test_a_cluster_around_other_scopes_is_one_function():
    runtime = ir.RuntimeScopeStmt(body=WORK, span=NOWHERE)
    got = passes.outline_cluster_scopes()(cluster(runtime, WORK))
    assert names(got) == ["f", "f_cluster_0"]
    assert got["f_cluster_0"].func_type is ir.FunctionType.Group
    assert not got["f_cluster_0"].attrs


def test_a_level_without_a_role():
    scope = ir.HierarchyScopeStmt(ir.Level.HOST, None, "", WORK, NOWHERE)
    worker = ir.HierarchyScopeStmt(ir.Level.CHIP, ir.Role.SubWorker, "", WORK, NOWHERE)
    node = ir.Program([function("f", [N], scope, worker)], "p", NOWHERE)
    got = passes.outline_hierarchy_scopes()(node)
    assert names(got) == ["f", "f_chip_sub_worker_0", "f_host_0"]
    assert (got["f_host_0"].level, got["f_host_0"].role) == (ir.Level.HOST, None)


def test_variables_that_are_assigned_from_each_other_have_an_origin():
    a, b = scalar("a"), scalar("b")
    circle = sequence(ir.AssignStmt(a, b, NOWHERE), ir.AssignStmt(b, a, NOWHERE))
    origins = Origins(circle, Callees())
    assert any(origins.of(a) is var for var in (a, b))
    assert not origins.is_carried(a)


def test_what_a_loop_makes_anew_in_each_round_is_no_version_of_what_it_starts_from():
    loop = ["    for i, (c,) in pl.range(3, init_values=(x,)):", "        r = pl.yield_(pl.neg({}))"]
    for carried in ("c", "x"):
        got = outlined(region("one"), loop[0], loop[1].format(carried), "return r")
        assert body(got, "one")[-1] == "return r"


def test_what_a_loop_stores_into_in_each_round_is_a_version_of_what_it_starts_from():
    loop = [
        "    for i, (c,) in pl.range(3, init_values=(out,)):",
        "        r = pl.yield_(pl.assemble(c, pl.slice(x, [1, 16], [i, 0]), [i, 0]))",
    ]
    assert body(outlined(region("one"), *loop, "return r"), "one")[-1] == "return out__ssa_v0"


def test_carries_that_change_places_are_no_versions_of_what_they_start_from():
    loop = ["    for i, (a, b) in pl.range(3, init_values=(x, out)):", "        r, s = pl.yield_(b, a)"]
    got = outlined(region("one"), *loop, "return r, s")
    assert body(got, "one")[-1] == "return r, s"


def test_the_number_of_a_task_is_defined_until_its_launch_is_made():
    lines = ["with pl.spmd(2) as tid:", "    i = pl.tile.get_block_idx()",
             "    out = pl.assemble(out, pl.slice(x, [8, 16], [i * 8, 0]), [i * 8, 0])",
             region(deps="[tid]"),
             "    out = pl.assemble(out, pl.neg(out), [0, 0])",
             "return out"]  # fmt: skip
    got = outlined(*lines)
    rules = passes.IRPropertySet([ir.IRProperty.SSAForm])
    ir.verify_or_throw(got, rules)
    assert any(called(stmt) == "system.task_invalid" for stmt in ir.walk(got["main"].body))
    after = passes.outline_cluster_scopes()(got)
    ir.verify_or_throw(after, rules)
    assert not any(called(stmt) == "system.task_invalid" for stmt in ir.walk(after["main"].body))


def called(node: object) -> str:
    return node.op.name if isinstance(node, ir.Call) else ""
