"""AutoDeriveTaskDependencies: where tasks name those that they wait for, and where they do not."""

import re

import pytest
from passes.kernels import body
from passes.task_programs import tasks

from pypto_tmpl import ir, passes

CREATED = "t = pl.create_tensor([16, 16], dtype=pl.FP32)"
FILL = "b, tb = pl.submit(self.fill, t)"
COPY = "c, tc = pl.submit(self.copy, b, out)"


def derived(node: ir.Program, **options: bool) -> list[str]:
    """For each call what it says of its arguments, and the tasks that it names."""
    directed = passes.derive_call_directions()(node)
    after = passes.auto_derive_task_dependencies(**options)(directed)
    lines = [line for line in body(after, "main") if "arg_directions" in line]
    return [_said(line) for line in lines]


def _said(line: str) -> str:
    directions = re.findall(r'"arg_directions": \[(.*?)\]', line)[0].replace("pl.adir.", "")
    edges = re.findall(r'"compiler_manual_dep_edges": \[(.*?)\]', line)
    return f"{directions} after {edges[0]}" if edges else directions


def with_scopes(*lines: str, **options: object) -> list[str]:
    return derived(tasks(*lines, "return out", **options), analyze_auto_scopes=True)


def test_a_reader_waits_for_the_writer():
    assert with_scopes(CREATED, FILL, COPY) == ["output_existing", "no_dep, output_existing after tb"]


def test_a_writer_waits_for_the_writer_and_the_readers_before_it():
    lines = (CREATED, FILL, COPY, "d, td = pl.submit(self.copy, b, a)", "e = self.grow(b, n)")
    assert with_scopes(*lines) == [
        "output_existing",
        "no_dep, output_existing after tb",
        "no_dep, output_existing after tb",
        "output_existing, scalar after tb, tc, td",
    ]


def test_a_writer_stands_for_those_before_it():
    lines = (CREATED, FILL, "c, tc = pl.submit(self.grow, b, n)", "d, td = pl.submit(self.copy, c, out)")
    assert with_scopes(*lines) == [
        "output_existing",
        "output_existing, scalar after tb",
        "no_dep, output_existing after tc",
    ]


def test_a_task_that_is_named_already_is_not_named_again():
    named = "c, tc = pl.submit(self.copy, b, out, deps=[tb])"
    assert with_scopes(CREATED, FILL, named) == ["output_existing", "no_dep, output_existing"]


def test_a_scope_of_its_own_is_a_scope():
    lines = (CREATED, "with pl.scope():", f"    {FILL}", f"    {COPY}")
    assert with_scopes(*lines, auto_scope=False) == ["output_existing", "no_dep, output_existing after tb"]


UNCERTAIN = {
    "a call has no task": (CREATED, "b = self.fill(t)", COPY),
    "the id is not taken": (CREATED, "p = pl.submit(self.fill, t)", "b = p[0]", COPY),
    "the id is taken later": (CREATED, "p = pl.submit(self.fill, t)", "b = p[0]", COPY, "tb = p[1]"),
    "a loop": (CREATED, FILL, "for i in pl.parallel(4):", f"    {COPY}"),
    "a branch": (CREATED, FILL, "if n > 3:", f"    {COPY}"),
    "a manual scope": (CREATED, "with pl.manual_scope():", f"    {FILL}", f"    {COPY}"),
    "a part of the storage": (
        CREATED,
        FILL,
        "p = pl.slice(b, [16, 16], [0, 0])",
        "c, tc = pl.submit(self.copy, p, out)",
    ),
    "a cell is read elsewhere": (CREATED, FILL, "v = pl.tensor.read(b, [0, 0])", COPY),
    "the task may be over before it has written": (
        CREATED,
        "b, tb = pl.submit(self.fill, t, allow_early_resolve=True)",
        COPY,
    ),
    "nobody is to wait": (CREATED, FILL, "c, tc = pl.submit(self.copy, pl.no_dep(b), out)"),
    "twice in one call": (CREATED, FILL, "c, tc = pl.submit(self.copy, b, t)"),
}


@pytest.mark.parametrize("what", UNCERTAIN)
def test_nothing_changes_where_something_is_uncertain(what):
    node = tasks(*UNCERTAIN[what], "return out")
    assert "after" not in " ".join(derived(node, analyze_auto_scopes=True))
    assert derived(node, analyze_auto_scopes=True) == derived(node)


def test_a_scope_that_is_left_has_no_tasks_to_wait_for():
    lines = (CREATED, "with pl.scope():", f"    {FILL}", "with pl.scope():", "    c = self.copy(t, out)")
    assert with_scopes(*lines, auto_scope=False) == ["output_existing", "input, output_existing"]


def test_nothing_changes_unless_it_is_asked_for():
    node = passes.derive_call_directions()(tasks(CREATED, FILL, COPY, "return out"))
    assert passes.auto_derive_task_dependencies()(node) is node


def test_what_is_named_is_checked_like_other_programs():
    node = passes.derive_call_directions()(tasks(CREATED, FILL, COPY, "return out"))
    after = passes.auto_derive_task_dependencies(analyze_auto_scopes=True)(node)
    assert passes.auto_derive_task_dependencies(analyze_auto_scopes=True)(after) is after
    assert not ir.verify(after, {ir.IRProperty.CallDirectionsResolved})
