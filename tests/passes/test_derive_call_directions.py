"""DeriveCallDirections: what is said of an argument, by where the call stands and what was written before."""

import re

import pytest
from passes.kernels import program
from passes.task_programs import KERNELS, tasks

from pypto_tmpl import ir, passes


def directions(node: ir.Program, function: str = "main") -> list[str]:
    """What the calls of a function say of their arguments, in the order of the text."""
    after = passes.derive_call_directions()(node)
    text = ir.python_print(after, format=False)
    found = text[text.index(f"def {function}(") :].split("@pl.function")[0]
    listed = re.findall(r'"arg_directions": \[(.*?)\]', found)
    return [said.replace("pl.adir.", "") for said in listed]


def test_inputs_scalars_and_what_is_read_and_written():
    node = tasks("b = self.grow(out, n)", "c = self.copy(a, b)", "return c", direction="InOut")
    assert directions(node) == ["inout, scalar", "input, inout"]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        (("b = self.fill(out)",), ["output_existing"]),
        (("b = self.fill(out)", "c = self.fill(b)"), ["output_existing", "inout"]),
        (
            ("t = pl.create_tensor([16, 16], dtype=pl.FP32)", "b = self.fill(t)", "c = self.copy(b, out)"),
            ["output_existing", "input, output_existing"],
        ),
    ],
)
def test_what_is_only_written_waits_for_what_was_written_before(lines, wanted):
    assert directions(tasks(*lines, "return out")) == wanted


def test_the_caller_may_have_written_what_the_function_reads_and_writes():
    assert directions(tasks("b = self.fill(out)", "return b", direction="InOut")) == ["inout"]


@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ("for i in pl.range(4):", "inout"),
        ("for i in pl.parallel(4):", "output_existing"),
        ("while n > 3:", "inout"),
    ],
)
def test_rounds_write_again_what_rounds_before_have_written(head, wanted):
    assert directions(tasks(head, "    b = self.fill(out)", "return out")) == [wanted]


def test_a_parallel_loop_in_a_sequential_one_is_written_again_too():
    lines = ("for i in pl.range(4):", "    for j in pl.parallel(4):", "        b = self.fill(out)")
    assert directions(tasks(*lines, "return out")) == ["inout"]


def test_a_branch_does_not_see_the_other_one_and_what_follows_sees_both():
    lines = (
        "t = pl.create_tensor([16, 16], dtype=pl.FP32)",
        "if n > 3:",
        "    b = self.fill(out)",
        "else:",
        "    c = self.fill(out)",
        "    d = self.fill(t)",
        "e = self.fill(out)",
        "f = self.fill(t)",
    )
    first = "output_existing"
    assert directions(tasks(*lines, "return out")) == [first, first, first, "inout", "inout"]


def test_a_parallel_loop_sees_what_was_written_before_it():
    lines = ("b = self.fill(out)", "for j in pl.parallel(4):", "    c = self.fill(out)")
    assert directions(tasks(*lines, "return out")) == ["output_existing", "inout"]


def test_one_of_two_tensors_may_have_been_written():
    lines = (
        "t = pl.create_tensor([16, 16], dtype=pl.FP32)",
        "if n > 3:",
        "    u = pl.yield_(out)",
        "else:",
        "    u = pl.yield_(t)",
        "b = self.fill(u)",
    )
    assert directions(tasks(*lines, "return b")) == ["inout"]


def test_a_group_does_to_its_parameters_what_its_kernels_do():
    group = """
    @pl.function(type=pl.FunctionType.Group)
    def group(
        self, x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]], n: pl.Scalar[pl.INDEX]
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        b = self.fill(x)
        c = self.grow(y, n)
        return c

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self, x: pl.Out[pl.Tensor[[16, 16], pl.FP32]], y: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
        n: pl.Scalar[pl.INDEX],
    ) -> pl.Tensor[[16, 16], pl.FP32]:
        c = self.group(x, y, n)
        return c
"""
    node = program(KERNELS + group)
    after = passes.derive_call_directions()(node)
    wrapper = after.get_function("group")
    assert [direction.name for direction in wrapper.param_directions] == ["Out", "InOut", "In"]
    assert directions(node, "group") == ["output_existing", "inout, scalar"]
    assert directions(node) == ["output_existing, inout, scalar"]


def test_what_a_call_says_already_stays_and_no_dep_counts():
    given = 'b = self.copy(a, out, attrs={"arg_directions": [pl.adir.no_dep, pl.adir.inout]})'
    assert directions(tasks(given, "c = self.fill(b)", "return c")) == ["no_dep, inout", "inout"]
    override = "b = self.copy(pl.no_dep(a), out)"
    assert directions(tasks(override, "return b")) == ["no_dep, output_existing"]


def test_nothing_changes_twice():
    node = passes.derive_call_directions()(tasks("b = self.fill(out)", "return b"))
    assert passes.derive_call_directions()(node) is node
