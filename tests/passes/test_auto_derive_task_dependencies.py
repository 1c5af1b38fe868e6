"""AutoDeriveTaskDependencies: where tasks name those that they wait for, and where they do not."""

import re
from random import Random

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


def test_users_of_two_tensors_wait_for_both_and_name_a_task_once():
    lines = (
        CREATED,
        "u = pl.create_tensor([16, 16], dtype=pl.FP32)",
        FILL,
        "c, tc = pl.submit(self.copy, b, u)",
        "d, td = pl.submit(self.copy, c, b)",
    )
    assert with_scopes(*lines) == [
        "output_existing",
        "no_dep, output_existing after tb",
        "no_dep, output_existing after tb, tc",
    ]


def test_readers_before_the_last_writer_are_not_waited_for():
    lines = (
        CREATED,
        FILL,
        COPY,
        "d, td = pl.submit(self.grow, b, n)",
        "e, te = pl.submit(self.grow, d, n)",
    )
    assert with_scopes(*lines)[2:] == [
        "output_existing, scalar after tb, tc",
        "output_existing, scalar after td",
    ]


def test_what_is_only_read_needs_no_order():
    lines = (CREATED, "c, tc = pl.submit(self.copy, a, out)", "d, td = pl.submit(self.copy, a, t)")
    assert with_scopes(*lines) == ["input, output_existing", "input, output_existing"]


@pytest.mark.parametrize("kind", ["Opaque", "Inline"])
def test_only_orchestration_launches_tasks(kind):
    assert "after" not in " ".join(with_scopes(CREATED, FILL, COPY, type=kind))


@pytest.mark.parametrize("seed", range(40))
def test_all_tasks_that_share_what_one_of_them_writes_are_in_order(seed):
    """Those that a task names, and those that these name, hold all that it must not overtake."""
    drawn = Random(seed)
    lines = [
        "t0 = pl.create_tensor([16, 16], dtype=pl.FP32)",
        "t1 = pl.create_tensor([16, 16], dtype=pl.FP32)",
    ]
    names, used, ids = {"t0": "t0", "t1": "t1", "out": "out"}, [], []
    for at in range(drawn.randint(3, 9)):
        kernel = drawn.choice(["fill", "copy", "grow"])
        tensors = drawn.sample(sorted(names), 2 if kernel == "copy" else 1)
        args = [names[tensor] for tensor in tensors] + ["n"] * (kernel == "grow")
        lines.append(f"v{at}, id{at} = pl.submit(self.{kernel}, {', '.join(args)})")
        names[tensors[-1]] = f"v{at}"
        used.append((set(tensors), tensors[-1]))
        ids.append(f"id{at}")
    before: list[set[int]] = []
    for said in with_scopes(*lines):
        named = {ids.index(name) for name in said.partition(" after ")[2].split(", ") if name}
        before.append(named.union(*(before[at] for at in named)))
    assert len(before) == len(used)
    for at, (tensors, written) in enumerate(used):
        earlier = {n for n, (those, other) in enumerate(used[:at]) if written in those or other in tensors}
        assert before[at] >= earlier
