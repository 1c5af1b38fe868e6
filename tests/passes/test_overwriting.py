"""What MemoryReuse asks of its own result: nothing is written over before its last read, or misplaced."""

from pathlib import Path

import pytest
from passes.stored import stored, with_places_of_results

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.passes.memory.overwriting import misplaced, overwritten

TESTS = Path(__file__).resolve().parents[1]
LOAD = "{}: T[{}] = pl.tile.load(x, [{}, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
A, B = LOAD.format("a", "A", 0), LOAD.format("b", "B", 16)
HALF = (
    "{}: pl.Tile[[8, 64], pl.FP32, pl.MemRef(A, {}, 2048), pl.Mem.Vec] = pl.tile.slice(a, [8, 64], [{}, 0])"
)
HALVES = (HALF.format("g", 0, 0), HALF.format("h", 2048, 8))
STORED = "out1: O = pl.tile.store({}, [0, 0], out)"
ROUNDS = "for i, (p,) in pl.range(4, init_values=(a,)):"
WHILE = ("for (p, k) in pl.while_(init_values=(a, n)):", "    pl.cond(0 < k)")
# Each kernel with what is lost in it: the tile that is read later, and what is written where it lies.
LOST = {
    "two tiles of one buffer": (
        (A, LOAD.format("b", "A", 16), "s: T[C] = pl.tile.add(a, b)", STORED.format("s")),
        [("a", "b")],
    ),
    "read behind the loop that starts with it": (
        (
            A,
            ROUNDS,
            "    s: T[A] = pl.tile.exp(p)",
            "    p1 = pl.yield_(s)",
            "t: T[C] = pl.tile.sub(p1, a)",
            STORED.format("t"),
        ),
        [("a", "s")],
    ),
    "read in the next round": (
        (
            A,
            B,
            "for i, (p,) in pl.range(4, init_values=(b,)):",
            "    u: T[C] = pl.tile.add(a, p)",
            "    v: T[A] = pl.tile.exp(u)",
            "    w: T[B] = pl.tile.add(u, v)",
            "    p1 = pl.yield_(w)",
            STORED.format("p1"),
        ),
        [("a", "v")],
    ),
    "read in the next round of a while": (
        (
            A,
            B,
            *WHILE,
            "    u: T[B] = pl.tile.exp(p)",
            "    s: T[A] = pl.tile.add(u, b)",
            "    p1, k1 = pl.yield_(s, k - 1)",
            STORED.format("p1"),
        ),
        [("b", "u")],
    ),
    "read on one side only": (
        (
            A,
            "s: T[B] = pl.tile.exp(a)",
            "if 0 < n:",
            "    t: T[A] = pl.tile.exp(s)",
            "    u: T[C] = pl.tile.add(t, a)",
            "    r: T[C] = pl.yield_(u)",
            "else:",
            "    v: T[A] = pl.tile.exp(s)",
            "    w: T[C] = pl.tile.exp(v)",
            "    r: T[C] = pl.yield_(w)",
            STORED.format("r"),
        ),
        [("a", "t")],
    ),
    "a view is read": (
        (
            A,
            "d: T[A] = pl.tile.reshape(a, [16, 64])",
            LOAD.format("b", "A", 16),
            "s: T[C] = pl.tile.add(d, b)",
            STORED.format("s"),
        ),
        [("d", "b")],
    ),
}
KEPT = {
    "the last read is the write": (A, "s: T[A] = pl.tile.exp(a)", STORED.format("s")),
    "nothing reads it any more": (
        A,
        "s: T[B] = pl.tile.exp(a)",
        LOAD.format("c", "A", 16),
        "t: T[B] = pl.tile.add(s, c)",
        STORED.format("t"),
    ),
    "halves of a tile stay where they are": (
        A,
        *HALVES,
        "for i, (p, q) in pl.range(4, init_values=(g, h)):",
        "    p1, q1 = pl.yield_(p, q)",
        STORED.format("p1"),
    ),
    "a carry that is written in place": (
        A,
        ROUNDS,
        "    s: T[A] = pl.tile.exp(p)",
        "    p1 = pl.yield_(s)",
        STORED.format("p1"),
    ),
    "each side writes for itself": (
        A,
        "s: T[B] = pl.tile.exp(a)",
        "if 0 < n:",
        "    t: T[A] = pl.tile.exp(s)",
        "    r: T[A] = pl.yield_(t)",
        "else:",
        "    u: T[A] = pl.tile.neg(s)",
        "    r: T[A] = pl.yield_(u)",
        STORED.format("r"),
    ),
}
# What is yielded, and does not lie where it is handed on to.
ELSEWHERE = {
    "carries that change places": (
        (
            A,
            B,
            "for i, (p, q) in pl.range(4, init_values=(a, b)):",
            "    p1, q1 = pl.yield_(q, p)",
            STORED.format("p1"),
        ),
        ("p", "q"),
    ),
    "halves of a tile that change places": (
        (
            A,
            *HALVES,
            "for i, (p, q) in pl.range(4, init_values=(g, h)):",
            "    p1, q1 = pl.yield_(q, p)",
            STORED.format("p1"),
        ),
        ("p", "q"),
    ),
    "a value of its own": (
        (A, ROUNDS, "    s: T[B] = pl.tile.exp(p)", "    p1 = pl.yield_(s)", STORED.format("p1")),
        ("p", "s"),
    ),
    "what a while yields": (
        (
            A,
            *WHILE,
            "    s: T[B] = pl.tile.exp(p)",
            "    p1, k1 = pl.yield_(s, k - 1)",
            STORED.format("p1"),
        ),
        ("p", "s"),
    ),
    "a carry that a branch yields": (
        (
            A,
            ROUNDS,
            "    if i < n:",
            "        s: T[B] = pl.tile.exp(p)",
            "        r: T[B] = pl.yield_(s)",
            "    else:",
            "        r: T[B] = pl.yield_(p)",
            "    t: T[A] = pl.tile.exp(r)",
            "    p1 = pl.yield_(t)",
            STORED.format("p1"),
        ),
        ("r", "p"),
    ),
}


def lost_in(node: ir.Program) -> list[tuple[str, str]]:
    return [
        (one.tile.name_hint, one.written.name_hint)
        for function in node.functions.values()
        for one in overwritten(function)
    ]


@pytest.mark.parametrize("what", LOST)
def test_what_is_written_over_before_its_last_read_is_found(what):
    lines, lost = LOST[what]
    assert lost_in(stored(*lines)) == lost


@pytest.mark.parametrize("what", KEPT)
def test_what_nobody_reads_later_may_be_written_over(what):
    node = stored(*KEPT[what])
    assert lost_in(node) == []
    assert misplaced(node["kernel"]) is None


@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_is_handed_on_and_lies_elsewhere_is_found(what):
    lines, (goal, value) = ELSEWHERE[what]
    found = misplaced(stored(*lines)["kernel"])
    assert found is not None
    assert (found[0].name_hint, found[1].name_hint) == (goal, value)


def test_of_what_was_recorded_only_what_computes_wrong_values_is_found():
    """Of the recorded programs in this repository PyPTO's pass breaks the one whose carries change places."""
    found, total = set(), 0
    for path in sorted((TESTS / "corpus/dumps").glob("*/*/34_after_MemoryReuse.py")):
        node = with_places_of_results(pl.loads(str(path)))
        total += 1
        if lost_in(node) or any(misplaced(function) for function in node.functions.values()):
            found.add(path.parent.parent.name)
    assert total > 10
    assert found == {"carried_swap"}
