"""ExpandManualPhaseFence: where a barrier stands for the tasks of an array, and where it would not do."""

import pytest
from passes.kernels import after
from passes.task_programs import tasks

from pypto_tmpl import passes

PASS = "ExpandManualPhaseFence"
IDS = "ids = pl.array.create({}, dtype=pl.TASK_ID)"


def fenced(*lines: str, length: int = 4, scope: str = "pl.manual_scope()", **options: object) -> list[str]:
    """The lines of a scope with an array ``ids`` after the pass, without the one that makes the array."""
    inside = (IDS.format(length), *lines)
    node = tasks(f"with {scope}:", *(f"    {line}" for line in inside), "return out", **options)
    return [line.removeprefix("  ") for line in after(PASS, node, "main")[2:-1]]


def loop(head: str, deps: str = "ids") -> tuple[str, ...]:
    return (head, f"    b, t = pl.submit(self.fill, out, deps=[{deps}])")


def submit(deps: str) -> list[str]:
    return [
        f"  _submit_tmp = pl.submit(self.fill, out, deps=[{deps}])",
        "  b = _submit_tmp[0]",
        "  t = _submit_tmp[1]",
    ]


BARRIER = "phase_fence_barrier_0_tid = pl.system.task_dummy(deps=[ids])"


@pytest.mark.parametrize("head", ["for i in pl.range(4):", "for i in pl.parallel(4):"])
def test_all_rounds_of_a_loop_wait_for_one_barrier(head):
    assert fenced(*loop(head)) == [BARRIER, head, *submit("phase_fence_barrier_0_tid")]


@pytest.mark.parametrize(
    ("head", "length", "is_fenced"),
    [
        ("for i in pl.range(2):", 3, True),  # 6 edges, or 5
        ("for i in pl.range(2):", 2, False),  # 4 edges, or 4
        ("for i in pl.range(1):", 9, False),
        ("for i in pl.range(9):", 1, False),
        ("for i in pl.parallel(0):", 9, False),
        ("for i in pl.range(0):", 9, False),
        ("for i in pl.range(3, 0, -1):", 3, True),
        ("for i in pl.parallel(n):", 9, False),  # how many wait is not known
        ("for i in pl.range(n):", 9, False),  # counts as one
    ],
)
def test_a_barrier_stands_where_it_saves_edges(head, length, is_fenced):
    lines = fenced(*loop(head), length=length)
    assert (BARRIER in lines) == is_fenced
    assert any("deps=[ids])" in line for line in lines if "submit" in line) != is_fenced


def test_two_submits_of_a_round_count_twice():
    second = "    c, u = pl.submit(self.copy, a, out, deps=[ids])"
    lines = fenced(*loop("for i in pl.range(n):"), second)  # 8 edges, or 6
    assert lines[0] == BARRIER
    assert sum("deps=[phase_fence_barrier_0_tid]" in line for line in lines) == 2


def test_rounds_of_an_inner_loop_count_in_a_sequential_one():
    inner = ("for i in pl.range(2):", "    for j in pl.range(2):")
    lines = fenced(*inner, f"        {loop('')[1].strip()}")
    assert lines[:3] == [BARRIER, "for i in pl.range(2):", "  for j in pl.range(2):"]
    assert "    _submit_tmp = pl.submit(self.fill, out, deps=[phase_fence_barrier_0_tid])" in lines


def test_inner_loops_of_a_parallel_one_have_their_own_barriers():
    inner = ("for i in pl.parallel(4):", "    for j in pl.range(4):")
    lines = fenced(*inner, f"        {loop('')[1].strip()}")
    assert lines[:3] == ["for i in pl.parallel(4):", f"  {BARRIER}", "  for j in pl.range(4):"]


def test_barriers_are_counted_from_the_outside_in():
    lines = fenced(*loop("for i in pl.range(4):"), "for i in pl.range(4):", *loop("")[1:])
    heads = [line.split(" = ")[0] for line in lines if "task_dummy" in line]
    assert heads == ["phase_fence_barrier_0_tid", "phase_fence_barrier_1_tid"]


UNCHANGED = {
    "two things to wait for": (
        "for i in pl.range(4):",
        "    b, t = pl.submit(self.fill, out, deps=[ids, one])",
    ),
    "one task": ("for i in pl.range(4):", "    b, t = pl.submit(self.fill, out, deps=[one])"),
    "an array of the round": (
        "for i in pl.range(4):",
        "    own = pl.array.create(4, dtype=pl.TASK_ID)",
        "    b, t = pl.submit(self.fill, out, deps=[own])",
    ),
    "an array that the loop hands on": (
        "for i, (k,) in pl.range(4, init_values=(ids,)):",
        "    b, t = pl.submit(self.fill, out, deps=[k])",
        "    m = pl.array.update_element(k, i, t)",
        "    r = pl.yield_(m)",
    ),
    "an array of which the loop changes elements": (
        "for i, (k,) in pl.range(4, init_values=(ids,)):",
        "    b, t = pl.submit(self.fill, out, deps=[ids])",
        "    m = pl.array.update_element(k, i, t)",
        "    r = pl.yield_(m)",
    ),
    "no loop": (
        "b, t = pl.submit(self.fill, out, deps=[ids])",
        "c, u = pl.submit(self.fill, out, deps=[ids])",
    ),
    "a while": ("while n > 3:", "    b, t = pl.submit(self.fill, out, deps=[ids])"),
}


@pytest.mark.parametrize("what", UNCHANGED)
def test_what_waits_for_something_else_stays(what):
    lines = fenced("one = pl.array.get_element(ids, 1)", *UNCHANGED[what])
    assert not any("phase_fence" in line for line in lines)


def test_only_manual_scopes_of_orchestration():
    head = "for i in pl.range(4):"
    for options in ({"scope": "pl.scope()", "auto_scope": False}, {"type": "Opaque"}):
        assert fenced(*loop(head), **options) == [head, *submit("ids")]


def test_nothing_changes_twice():
    node = tasks(
        "with pl.manual_scope():",
        f"    {IDS.format(4)}",
        *(f"    {x}" for x in loop("for i in pl.range(4):")),
        "return out",
    )
    once = passes.make_pass(PASS)(node)
    assert once is not node and passes.make_pass(PASS)(once) is once
