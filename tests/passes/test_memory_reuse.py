"""MemoryReuse: which tiles share an allocation, and copies of what would be lost."""

import re

import pytest
from passes.kernels import program
from passes.recorded_pairs import recorded_pairs
from passes.stored import addresses, places, stored

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.pass_manager import OptimizationStrategy, PassManager
from pypto_tmpl.passes.memory import keeping
from pypto_tmpl.passes.memory.overwriting import misplaced, overwritten
from pypto_tmpl.passes.memory.placing import with_storage
from pypto_tmpl.rewrite import Rewriter

LOADED = (
    "a: T[A] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
    "b: T[B] = pl.tile.load(x, [16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
)
STORED = "out1: O = pl.tile.store({}, [0, 0], out)"


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def reused(*lines: str, spaces: dict[str, str] | None = None) -> ir.Program:
    """The program behind the pass; nothing that is still read is written over, and nothing is misplaced."""
    node = passes.make_pass("MemoryReuse")(stored(*lines, spaces=spaces or {}))
    for function in node.functions.values():
        assert not overwritten(function) and misplaced(function) is None
    return node


def test_what_is_last_read_makes_room_for_the_result():
    lines = (*LOADED, "s: T[C] = pl.tile.add(a, b)", "t: T[D] = pl.tile.exp(s)", STORED.format("t"))
    assert places(reused(*lines)) == {"a": "A", "b": "B", "s": "A", "t": "A"}


def test_what_is_read_later_keeps_its_memory():
    lines = (
        *LOADED,
        "s: T[C] = pl.tile.exp(a)",
        "t: T[D] = pl.tile.add(a, b)",
        "u: T[E] = pl.tile.add(s, t)",
    )
    assert places(reused(*lines, STORED.format("u"))) == {"a": "A", "b": "B", "s": "C", "t": "A", "u": "A"}


def test_an_op_that_needs_its_operand_apart_gets_another_buffer():
    lines = (*LOADED, "s: T[C] = pl.tile.add(a, b)", "t: T[D] = pl.tile.recip(s)", STORED.format("t"))
    assert places(reused(*lines)) == {"a": "A", "b": "B", "s": "A", "t": "B"}


COMPARED = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[16, 32], pl.FP32], d: pl.Out[pl.Tensor[[16, 16], pl.INT32]],
               n: pl.Out[pl.Tensor[[1, 16], pl.INT32]]):
        t = pl.load(x, [0, 0], [16, 32])
        work = pl.create_tile([16, 32], dtype=pl.UINT8, target_memory=pl.Mem.Vec)
        found, count = pl.tile.gather_compare(t, 0.5, work, cmp_mode="gt", out_cols=16)
        d = pl.store(found, [0, 0], d)
        n = pl.store(count, [0, 0], n)
        return d, n
"""


def test_both_results_of_an_op_are_made_where_it_reads_its_operands():
    """They are taken from its tuple afterwards, and lie neither there nor in one place."""
    backend.set_backend_type(backend.BackendType.Ascend910B)
    made = PassManager.get_strategy(OptimizationStrategy.Default).run_passes(program(COMPARED))
    found = places(made)
    tiles = {name: found[f"{name}__ssa_v0"] for name in ("t", "work", "found", "count")}
    assert len(set(tiles.values())) == 4, tiles


def test_whether_tiles_have_one_object_for_their_place_does_not_count():
    """A file does not tell: what is computed here and what is read from one become the same."""
    small = "pl.Tile[[4, 64], pl.FP32, pl.MemRef(B, pl.const(0, pl.INT64), 1024), pl.Mem.Vec]"
    lines = (
        "B: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 1024)",
        LOADED[0],
        STORED.format("a"),
        f"b: {small} = pl.tile.load(x, [0, 0], [4, 64], [4, 64], target_memory=pl.Mem.Vec)",
        f"c: {small} = pl.tile.fillpad_inplace(b)",
        "out2: O = pl.tile.store(c, [0, 0], out1)",
    )
    node = stored(*lines)
    (function,) = node.functions.values()
    tiles = {stmt.var.name_hint: stmt.var for stmt in statements(function.body) if hasattr(stmt, "var")}
    one = tiles["b"].type.memref
    shared = with_storage(function, {id(tiles[name]): one for name in "bc"})
    made = [
        ir.python_print(passes.make_pass("MemoryReuse")(ir.Program([each], node.name, node.span)))
        for each in (function, shared)
    ]
    assert made[0] == made[1]
    sizes = {name: re.search(rf" {name}: .*MemRef\(A, .*?, (\d+)\)", made[0]) for name in "bc"}
    assert {name: found and found[1] for name, found in sizes.items()} == {"b": "4096", "c": "1024"}


def test_a_loop_that_exchanges_its_carries_copies_both():
    """The first copy would write over what the second one reads, so that one value waits elsewhere."""
    loop = "for i, (p, q) in pl.range(4, init_values=(a, b)):"
    lines = (*LOADED, loop, "    p1, q1 = pl.yield_(q, p)", STORED.format("p1"))
    found = places(reused(*lines))
    assert found == {"a": "A", "b": "B", "p_mv": "mem_vec_0", "q_mv": "A", "p_mv_mv": "B"}


def test_a_loop_that_exchanges_halves_of_a_tile_copies_both():
    """They lie in one allocation, and at different bytes of it."""
    half = "{}: pl.Tile[[8, 64], pl.FP32, pl.MemRef(A, {}, 2048), pl.Mem.Vec] = "
    view = "pl.tile.slice(a, [8, 64], [{}, 0])"
    views = (half.format("g", 0) + view.format(0), half.format("h", 2048) + view.format(8))
    loop = ("for i, (p, q) in pl.range(4, init_values=(g, h)):", "    p1, q1 = pl.yield_(q, p)")
    node = reused(*LOADED[:1], *views, *loop, STORED.format("p1"))
    copies = ("p_mv", "q_mv", "p_mv_mv")
    assert [places(node)[name] for name in copies] == ["mem_vec_0", "A", "A"]
    assert [addresses(node)[name] for name in copies] == [0, 0, 2048]
    assert "= pl.yield_(q_mv, p_mv_mv)" in ir.python_print(node)


def test_a_part_of_what_a_while_gives_keeps_its_distance():
    """The whole lies where the loop begins; its part has what it was given apart, and joins it there."""
    own = "C: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)"
    loop = (
        "for (p, k) in pl.while_(init_values=(a, n)):",
        "    pl.cond(0 < k)",
        "    p1, k1 = pl.yield_(p, k - 1)",
    )
    type_ = "pl.Tile[[8, 64], pl.FP32, pl.MemRef(C, 2048, 2048), pl.Mem.Vec]"
    part = f"h: {type_} = pl.tile.slice(p1, [8, 64], [8, 0])"
    node = reused(*LOADED[:1], own, *loop, part, STORED.format("h"))
    assert (places(node)["h"], addresses(node)["h"]) == ("A", 2048)


def test_a_carry_that_becomes_another_one_is_copied_before_that_is_written():
    loop = "for i, (p, q) in pl.range(4, init_values=(a, b)):"
    lines = (
        *LOADED,
        loop,
        "    s: T[C] = pl.tile.add(p, q)",
        "    p1, q1 = pl.yield_(q, s)",
        STORED.format("q1"),
    )
    found = places(reused(*lines))
    assert list(found.items()) == [("a", "A"), ("b", "B"), ("s", "C"), ("q_mv", "A"), ("s_mv", "B")]


def test_what_a_while_yields_is_copied_to_its_carry():
    loop = ("for (p, k) in pl.while_(init_values=(a, n)):", "    pl.cond(0 < k)")
    lines = (*LOADED[:1], *loop, "    s: T[C] = pl.tile.exp(p)", "    p1, k1 = pl.yield_(s, k - 1)")
    assert places(reused(*lines, STORED.format("p1"))) == {"a": "A", "s": "C", "s_mv": "A"}


def test_a_tile_that_a_carry_starts_with_is_kept_for_who_reads_it_behind_the_loop():
    loop = (
        "for i, (p,) in pl.range(4, init_values=(a,)):",
        "    s: T[A] = pl.tile.exp(p)",
        "    p1 = pl.yield_(s)",
    )
    lines = (*LOADED[:1], *loop, "t: T[C] = pl.tile.sub(p1, a)", STORED.format("t"))
    node = reused(*lines)
    assert places(node) == {"a": "A", "a_mv": "mem_vec_0", "s": "A", "t": "A"}
    assert "pl.tile.sub(p1, a_mv)" in ir.python_print(node)


def test_carries_that_start_as_one_tile_lie_apart_where_they_become_two():
    """The second one begins with a copy, and gets what the first one was."""
    loop = (
        "for i, (p, q) in pl.range(4, init_values=(a, a)):",
        "    s: T[C] = pl.tile.exp(p)",
        "    p1, q1 = pl.yield_(s, p)",
    )
    node = reused(*LOADED[:1], *loop, "t: T[D] = pl.tile.sub(p1, q1)", STORED.format("t"))
    assert places(node) == {
        "a": "A",
        "a_mv": "mem_vec_0",
        "s": "C",
        "p_mv": "mem_vec_0",
        "s_mv": "A",
        "t": "A",
    }
    text = ir.python_print(node)
    assert "init_values=(a, a_mv)" in text and "= pl.yield_(s_mv, p_mv)" in text


def test_carries_that_stay_one_tile_stay_in_one_place():
    loop = (
        "for i, (p, q) in pl.range(4, init_values=(a, a)):",
        "    s: T[C] = pl.tile.add(p, q)",
        "    p1, q1 = pl.yield_(s, s)",
    )
    node = reused(*LOADED[:1], *loop, "t: T[D] = pl.tile.sub(p1, q1)", STORED.format("t"))
    text = ir.python_print(node)
    assert places(node) == {"a": "A", "s": "C", "s_mv": "A", "t": "A"}
    assert "init_values=(a, a)" in text and "= pl.yield_(s_mv, s_mv)" in text


def test_results_of_an_if_lie_apart_though_a_branch_gives_both_one_tile():
    branches = (
        "if 0 < n:",
        "    r, u = pl.yield_(a, a)",
        "else:",
        "    s: T[C] = pl.tile.add(a, b)",
        "    r, u = pl.yield_(b, s)",
    )
    node = reused(*LOADED, *branches, "t: T[D] = pl.tile.sub(r, u)", STORED.format("t"))
    found = places(node)
    text = ir.python_print(node)
    assert found["a_mv"] == found["s_mv"] == "mem_vec_0" and found["b_mv"] == found["a"] == "A"
    assert "pl.yield_(a, a_mv)" in text and "pl.yield_(b_mv, s_mv)" in text


def test_a_refusal_names_the_variables_of_the_program(monkeypatch):
    monkeypatch.setattr(keeping, "_ROUNDS", 0)
    loop = (
        "for i, (p,) in pl.range(4, init_values=(a,)):",
        "    s__ssa_v1: T[C] = pl.tile.exp(p)",
        "    p1 = pl.yield_(s__ssa_v1)",
    )
    lines = (*LOADED[:1], *loop, "t: T[D] = pl.tile.sub(p1, a)", STORED.format("t"))
    with pytest.raises(passes.PassError) as raised:
        reused(*lines)
    assert "'s' is written where 'a' lies, which is read later" in str(raised.value)
    assert (raised.value.function, raised.value.variable, raised.value.line) == ("kernel", "a", 14)


def test_what_reads_a_tile_that_nothing_defines_is_refused():
    class WithoutB(Rewriter):
        def statement(self, stmt: ir.Stmt) -> ir.Stmt | None:
            return None if isinstance(stmt, ir.AssignStmt) and stmt.var.name_hint == "b" else stmt

    node = WithoutB().rewrite(stored(*LOADED, "s: T[C] = pl.tile.add(a, b)", STORED.format("s")))
    with pytest.raises(passes.PassError, match="'b' is used before it is defined") as raised:
        passes.make_pass("MemoryReuse")(node)
    assert (raised.value.function, raised.value.variable, raised.value.line) == ("kernel", "s", 14)


@pytest.mark.parametrize("sides", [("p", "s"), ("s", "p")])
def test_a_branch_that_hands_on_a_carry_copies_it(sides):
    made = {
        "s": ("        s: T[C] = pl.tile.exp(p)", "        r: T[C] = pl.yield_(s)"),
        "p": ("        r: T[C] = pl.yield_(p)",),
    }
    loop = "for i, (p,) in pl.range(4, init_values=(a,)):"
    branches = ("    if i < n:", *made[sides[0]], "    else:", *made[sides[1]])
    last = ("    u: T[D] = pl.tile.add(r, p)", "    p1 = pl.yield_(u)")
    found = places(reused(*LOADED[:1], loop, *branches, *last, STORED.format("p1")))
    assert found["p_mv"] == found["s"] == "C" and found["u_mv"] == "A"


def test_nothing_copies_an_accumulator():
    lines = (
        "a: T[A] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Acc)",
        "b: T[B] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Acc)",
        "for i, (p, q) in pl.range(4, init_values=(a, b)):",
        "    p1, q1 = pl.yield_(q, p)",
        STORED.format("p1"),
    )
    with pytest.raises(passes.PassError) as raised:
        reused(*lines, spaces={"": "Acc"})
    text = str(raised.value)
    assert "has to be kept in another place of Acc" in text and "in function 'kernel'" in text
    assert raised.value.where.split(":")[1] == "14"  # that of the yield


@pytest.mark.parametrize("pair", recorded_pairs("MemoryReuse"), ids=str)
def test_recorded_programs_get_the_same_memory(pair):
    """Structural equality leaves memory out, so it is compared by itself."""
    backend.set_backend_type(backend.BackendType[pair.backend])
    assert places(passes.make_pass("MemoryReuse")(pair.before())) == places(pair.after())
