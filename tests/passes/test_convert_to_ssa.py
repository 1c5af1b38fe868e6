"""ConvertToSSA: names, what loops carry, what branches merge, and what has no value."""

import pytest
from passes.kernels import after, body, kernel, program

from pypto_tmpl import ir, passes


def test_what_a_loop_carries_and_a_branch_merges():
    lines = (
        "a = pl.load(x, [0, 0], [16, 16])",
        "for i in pl.range(n):",
        "    a = pl.exp(a)",
        "    if i > 2:",
        "        a = pl.neg(a)",
        "        b = pl.abs(a)",
        "out = pl.store(a, [0, 0], out)",
        "return out",
    )
    assert after("ConvertToSSA", kernel(*lines)) == [
        "a__ssa_v0 = pl.tile.load(x__ssa_v0, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)",
        "for i__idx_v0, (a__iter_v1,) in pl.range(n__ssa_v0, init_values=(a__ssa_v0,)):",
        "  a__ssa_v3 = pl.tile.exp(a__iter_v1)",
        "  if i__idx_v0 > 2:",
        "    a__ssa_v4 = pl.tile.neg(a__ssa_v3)",
        "    b__ssa_v0 = pl.tile.abs(a__ssa_v4)",
        "    a__phi_v5 = pl.yield_(a__ssa_v4)",
        "  else:",
        "    a__phi_v5 = pl.yield_(a__ssa_v3)",
        "  a__rv_v2 = pl.yield_(a__phi_v5)",
        "out__ssa_v1 = pl.tile.store(a__rv_v2, [0, 0], out__ssa_v0)",
        "return out__ssa_v1",
    ]


def test_what_is_first_assigned_in_a_loop_starts_as_the_output_that_it_writes():
    lines = (
        "a = pl.load(x, [0, 0], [16, 16])",
        "for i in pl.range(n):",
        "    last = pl.store(a, [0, 0], out)",
        "return last",
    )
    got = after("ConvertToSSA", kernel(*lines))
    assert got[1] == "for i__idx_v0, (last__iter_v0,) in pl.range(n__ssa_v0, init_values=(out__ssa_v0,)):"
    assert got[-1] == "return last__rv_v1"


def test_two_variables_assigned_on_both_sides_are_merged_in_the_order_of_their_names():
    lines = (
        "if n > 2:",
        "    b = n + 1",
        "    a = n + 2",
        "else:",
        "    a = n + 3",
        "    b = n + 4",
        "c = a + b",
    )
    got = after("ConvertToSSA", kernel(*lines))
    assert got[3] == "  a__phi_v2, b__phi_v2 = pl.yield_(a__ssa_v0, b__ssa_v0)"
    assert got[7] == "  a__phi_v2, b__phi_v2 = pl.yield_(a__ssa_v1, b__ssa_v1)"
    assert got[8] == "c__ssa_v0 = a__phi_v2 + b__phi_v2"


def test_what_has_no_value_is_an_error_that_names_it():
    with pytest.raises(passes.PassError) as raised:
        passes.convert_to_ssa()(kernel("for i in pl.range(n):", "    a = i + 1", "b = a + 1"))
    assert str(raised.value) == (
        "error[pass]: 'a' is read after a loop that may not have assigned it\n"
        "  --> <string>:10:9\n"
        "   = in function 'kernel', variable 'a'"
    )


@pytest.mark.parametrize(
    ("pass_name", "kind", "lines"),
    [
        ("ConvertToSSA", "range", ["    n = n + i"]),
        ("ConvertToSSA", "parallel", ["    n = n + i"]),
        ("CtrlFlowTransform", "range", ["    if i > n:", "        break"]),
        ("UnrollLoops", "unroll", ["    n = n + i"]),
    ],
)
@pytest.mark.parametrize("before", [[], ["i = n + 10"]])
def test_a_loop_variable_has_no_value_behind_its_loop(pass_name, kind, lines, before):
    """Also where a variable of that name was there before: in Python it would have another value now."""
    node = kernel(*before, f"for i in pl.{kind}(3):", *lines, "if i == 2:", "    n = n + 1")
    with pytest.raises(passes.PassError) as raised:
        passes.make_pass(pass_name)(node)
    assert str(raised.value) == (
        "error[pass]: the loop variable 'i' is read outside of its loop\n"
        f"  --> <string>:{11 + len(before) + len(lines)}:9\n"
        "   = in function 'kernel', variable 'i'"
    )


def test_workers_of_the_host_stay_as_they_are():
    node = program(
        "    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)\n"
        "    def f(self, n: pl.Scalar[pl.INDEX]):\n"
        "        n = n + 1\n"
    )
    assert passes.convert_to_ssa()(node) is node


def test_ssa_form_is_verified_in_a_pipeline():
    lines = ("for i in pl.unroll(3):", "    n = n + i", "a = pl.load(x, [n, 0], [4, 16])")
    pipeline = passes.PassPipeline([passes.unroll_loops(), passes.convert_to_ssa()])
    got = pipeline.run(kernel(*lines))
    ir.verify_or_throw(got, [ir.IRProperty.SSAForm, ir.IRProperty.UseAfterDef])


def test_results_of_a_loop_that_each_round_of_another_defines_anew_do_not_escape():
    lines = (
        "for k in pl.unroll(2):",
        "    for i in pl.range(4):",
        "        for j, (c,) in pl.range(2, init_values=(n,)):",
        "            r = pl.yield_(c + 1)",
        "        t = pl.load(x, [r, 0], [1, 16])",
    )
    found = after("ConvertToSSA", passes.unroll_loops()(kernel(*lines)))
    loops = [line for line in found if "for i" in line]
    assert loops == ["for i__idx_v0 in pl.range(4):", "for i__idx_v1 in pl.range(4):"]


NARROW = ("m = n + 1", "t = pl.load(x, [0, 0], [16, 16], valid_shape=[m, 16])")


def regions(node: ir.Program) -> dict[str, str]:
    """The valid rows that the types of the tiles of a program state."""
    found = [stmt.var for stmt in ir.walk(node) if isinstance(stmt, ir.AssignStmt)]
    return {
        var.name_hint: ir.python_print(var.type.tile_view.valid_shape[0])
        for var in found
        if isinstance(var.type, ir.TileType) and var.type.tile_view is not None
    }


def test_a_valid_region_names_the_version_that_its_value_was_made_with():
    lines = (
        *NARROW,
        "m = m + 3",
        "u = pl.add(t, 1.0)",
        "c = pl.tile.col_sum(u)",
        "return pl.store(u, [0, 0], out)",
    )
    assert regions(passes.convert_to_ssa()(kernel(*lines))) == {
        "t__ssa_v0": "m__ssa_v0",
        "u__ssa_v0": "m__ssa_v0",
    }


@pytest.mark.parametrize(
    "lines",
    [
        (
            "for i in pl.range(3):",
            "    m = m + 1",
            "    t = pl.load(x, [0, 0], [16, 16], valid_shape=[m, 16])",
        ),
        ("if n > 2:", "    m = m + 1", "    t = pl.load(x, [0, 0], [16, 16], valid_shape=[m, 16])"),
    ],
)
def test_a_valid_region_that_no_type_can_tell_is_an_error(lines):
    with pytest.raises(passes.PassError, match="valid region of 't' depends on the way through the function"):
        passes.convert_to_ssa()(kernel(*NARROW, *lines, "return pl.store(t, [0, 0], out)"))


def test_rounds_without_assignments_become_one_sequence():
    lines = ("for i in pl.unroll(3):", "    for j in pl.unroll(2):", "        pl.system.bar_all()")
    unrolled = passes.make_pass("UnrollLoops")(kernel(*lines))
    flat = ir.IRProperty.NoRedundantBlocks
    assert ir.verify(unrolled, [flat])
    node = passes.make_pass("ConvertToSSA")(unrolled)
    assert ir.verify(node, [flat]) == []
    assert body(node, "kernel") == ["pl.system.bar_all()"] * 6


def test_a_branch_that_is_never_taken_may_read_what_is_never_assigned():
    lines = (
        "a = n + 1",
        "if False:",
        "    b = n + 2",
        "if True:",
        "    a = a + 3",
        "if False:",
        "    a = a + b",
        "c = a",
    )
    assert after("ConvertToSSA", kernel(*lines)) == [
        "a__ssa_v0 = n__ssa_v0 + 1",
        "a__ssa_v1 = a__ssa_v0 + 3",
        "c__ssa_v0 = a__ssa_v1",
    ]


def test_branches_that_are_known_stay_where_all_is_assigned():
    found = after("ConvertToSSA", kernel("a = n + 1", "if False:", "    a = n + 2", "c = a"))
    assert found[1] == "if False:"


def test_a_branch_that_is_taken_may_not_read_what_is_never_assigned():
    lines = ("if False:", "    b = n + 2", "if True:", "    a = b + 1")
    with pytest.raises(passes.PassError, match="'b' is read where it may not have been assigned"):
        passes.convert_to_ssa()(kernel(*lines))
