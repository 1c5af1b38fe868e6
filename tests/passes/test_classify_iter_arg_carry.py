"""ClassifyIterArgCarry: carries that are the storage they begin with, own values, and ids of tasks."""

import re

import pytest
from passes.task_programs import tasks

from pypto_tmpl import ir, passes

CREATED = "t = pl.create_tensor([16, 16], dtype=pl.FP32)"


def classified(*lines: str, **options: object) -> list[str]:
    """What the loops of ``main`` say, in the order of the text."""
    node = passes.classify_iter_arg_carry()(tasks(*lines, **options))
    text = ir.python_print(node, format=False)
    found = re.findall(r"for .*?attrs=\{(.*?)\}\):", text)
    return [re.sub(r'"iter_arg_(\w+)"', r"\1", said) for said in found]


def carried(*body: str, init: str = "out", head: str = "pl.range(4") -> tuple[str, ...]:
    return (f"for i, (o,) in {head}, init_values=({init},)):", *(f"    {line}" for line in body))


STORAGE = {
    "what a kernel has written": ("b = self.fill(o)", "r = pl.yield_(b)"),
    "what kernels have written one after the other": (
        "b = self.fill(o)",
        "c = self.grow(b, n)",
        "r = pl.yield_(c)",
    ),
    "a result of a submit": ("b, t = pl.submit(self.fill, o)", "r = pl.yield_(b)"),
    "the carry": ("b = self.fill(out)", "r = pl.yield_(o)"),
    "a tensor into which a block was put": ("b = pl.assemble(o, a, [0, 0])", "r = pl.yield_(b)"),
}
OWN = {
    "another tensor": (CREATED, "b = self.fill(t)", "r = pl.yield_(b)"),
    "another argument of the kernel": (CREATED, "b = self.copy(o, t)", "r = pl.yield_(b)"),
    "another name": ("b = self.fill(o)", "c = b", "r = pl.yield_(c)"),
    "one of two": (
        "if n > 3:",
        "    b = self.fill(o)",
        "    c = pl.yield_(b)",
        "else:",
        "    c = pl.yield_(o)",
        "r = pl.yield_(c)",
    ),
}


@pytest.mark.parametrize("what", STORAGE)
def test_storage_that_is_handed_on(what):
    assert classified(*carried(*STORAGE[what]), "return r") == ["rebind_0: False"]


@pytest.mark.parametrize("what", OWN)
def test_a_value_of_its_own(what):
    assert classified(*carried(*OWN[what]), "return r") == ["rebind_0: True"]


def test_a_scalar_is_a_value_and_each_carry_is_looked_at():
    lines = (
        "for i, (k, o) in pl.range(4, init_values=(n, out)):",
        "    b = self.grow(o, k)",
        "    k2, r = pl.yield_(k + 1, b)",
    )
    assert classified(*lines, "return r") == ["rebind_0: True, rebind_1: False"]


@pytest.mark.parametrize(("value", "is_own"), [("q", "False"), ("w", "True")])
def test_an_inner_loop_hands_on_what_it_began_with_if_it_does(value, is_own):
    lines = (
        "for i, (o,) in pl.range(4, init_values=(out,)):",
        f"    {CREATED}",
        "    for j, (p,) in pl.range(4, init_values=(o,)):",
        "        q = self.fill(p)",
        "        w = self.fill(t)",
        f"        s = pl.yield_({value})",
        "    r = pl.yield_(s)",
    )
    assert classified(*lines, "return r") == [f"rebind_0: {is_own}"] * 2


def test_loops_without_carries_say_nothing():
    assert classified("for i in pl.range(4):", "    b = self.fill(out)", "return out") == []


TASK = "none = pl.system.task_invalid()"


def ids(head: str) -> tuple[str, ...]:
    """A loop that hands on the id of its last task, in a manual scope."""
    return (
        TASK,
        "with pl.manual_scope():",
        f"    for i, (k,) in {head}, init_values=(none,)):",
        "        b, t = pl.submit(self.fill, out, deps=[k])",
        "        r = pl.yield_(t)",
        "return out",
    )


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("pl.parallel(4", "rebind_0: True, array_size_0: 4"),
        ("pl.parallel(4, 0, -3", "rebind_0: True, array_size_0: 2"),
        ("pl.range(4", "rebind_0: True"),
        ("pl.range(n", "rebind_0: True"),
    ],
)
def test_ids_of_the_tasks_of_parallel_rounds_are_as_many(head, wanted):
    assert classified(*ids(head)) == [wanted]


def test_outside_of_manual_scopes_an_id_is_one():
    lines = [line.removeprefix("    ") for line in ids("pl.parallel(n") if "manual" not in line]
    assert classified(*lines) == ["rebind_0: True"]


def test_a_sequential_loop_hands_on_all_ids_of_the_parallel_one_inside():
    lines = (
        TASK,
        "with pl.manual_scope():",
        "    for h, (g,) in pl.range(3, init_values=(none,)):",
        "        for i, (k,) in pl.parallel(4, init_values=(g,)):",
        "            b, t = pl.submit(self.fill, out, deps=[k])",
        "            r = pl.yield_(t)",
        "        s = pl.yield_(r)",
        "return out",
    )
    assert classified(*lines) == ["rebind_0: True, array_size_0: 4"] * 2


def test_parallel_rounds_that_cannot_be_counted():
    with pytest.raises(passes.PassError) as raised:
        classified(*ids("pl.parallel(n"))
    what, where, owner = str(raised.value).splitlines()
    assert what == (
        "error[pass]: the parallel loop over 'i' hands on the ids of the tasks of its rounds in 'k':"
        " how many these are has to be known, by constant bounds"
    )
    assert where.endswith(":34:13") and owner == "   = in function 'main'"


def test_only_orchestration():
    node = tasks(*carried("b = self.fill(o)", "r = pl.yield_(b)"), "return r", type="Opaque")
    assert passes.classify_iter_arg_carry()(node) is node
