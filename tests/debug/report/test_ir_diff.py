"""Sections of a program's text, and what changed between two of them."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st
from scaled_dumps import scaled_text

from pypto_tmpl.debug.report.ir_diff import line_blocks, section_changes
from pypto_tmpl.debug.report.ir_sections import ir_sections

TWO = """\
# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def inner(a):
        b = pl.add(a, a)
        return b
    @pl.function
    def main(a):
        return self.inner(a)
"""


def test_a_text_is_cut_before_each_function():
    sections = ir_sections(TWO)
    assert [(section.name, section.start, len(section.lines)) for section in sections] == [
        ("", 1, 5),
        ("inner", 6, 4),
        ("main", 10, 3),
    ]
    assert [line for section in sections for line in section.lines] == TWO.splitlines()


def test_any_text_is_cut_without_loss():
    for text in ("", "x", "    def f(:\n", scaled_text(), "@pl.function\n@pl.function\ndef f(a): ..."):
        assert [line for section in ir_sections(text) for line in section.lines] == text.splitlines()


def blocks(before, after):
    return [tuple(block) for block in line_blocks(before.splitlines(), after.splitlines())]


def test_a_changed_line_is_paired_with_its_earlier_form():
    assert blocks("a\nx = pl.add(a, b)\nz", "a\nx = pl.sub(a, b)\nz") == [
        ("equal", 0, 1, 0, 1),
        ("change", 1, 2, 1, 2),
        ("equal", 2, 3, 2, 3),
    ]


def test_names_of_another_form_are_paired_across_new_lines():
    before = "x = pl.add(a, b)\ny = pl.mul(x, x)"
    after = "m = pl.load(a)\nx__ssa_v0 = pl.add(m, b)\nn = pl.load(b)\ny__tile_1 = pl.mul(x, x)"
    assert blocks(before, after) == [
        ("insert", 0, 0, 0, 1),
        ("change", 0, 1, 1, 2),
        ("insert", 1, 1, 2, 3),
        ("change", 1, 2, 3, 4),
    ]


def test_functions_are_matched_by_name():
    after = TWO.replace("pl.add(a, a)", "pl.sub(a, a)").replace("main", "entry")
    found = section_changes(ir_sections(TWO), ir_sections(after))
    assert [(change.name, change.before, change.after, change.counts()) for change in found] == [
        ("", 0, 0, (0, 0)),
        ("inner", 1, 1, (1, 1)),
        ("entry", None, 2, (3, 0)),
        ("main", 2, None, (0, 3)),
    ]
    assert [change.is_changed for change in found] == [False, True, True, True]


def test_functions_of_one_name_are_matched_in_order():
    twice = TWO + TWO.partition("class P:\n")[2]
    found = section_changes(ir_sections(twice), ir_sections(twice.replace("a, a", "a, b", 1)))
    assert [(change.name, change.is_changed) for change in found if change.name == "inner"] == [
        ("inner", True),
        ("inner", False),
    ]


LINES = st.lists(
    st.sampled_from(["x = pl.add(a)", "y = pl.add(a)", "x = pl.add(b)", "pass", ""]), max_size=12
)


@given(LINES, LINES)
def test_blocks_lead_from_one_text_to_the_other(before, after):
    rebuilt, at = [], (0, 0)
    for tag, b0, b1, a0, a1 in line_blocks(before, after):
        assert (b0, a0) == at and (b1, a1) != at
        at = (b1, a1)
        if tag == "equal":
            assert before[b0:b1] == after[a0:a1]
        if tag in ("equal", "change"):
            assert b1 - b0 == a1 - a0
        assert (tag == "delete") == (a0 == a1) and (tag == "insert") == (b0 == b1)
        rebuilt += before[b0:b1] if tag == "equal" else after[a0:a1]
    assert rebuilt == after and at == (len(before), len(after))


@given(LINES, LINES)
def test_as_many_lines_stay_equal_as_a_plain_comparison_finds_in_the_middle(before, after):
    """Equal ends are taken first; what is between is compared as a whole."""
    kept = sum(
        block.before_end - block.before for block in line_blocks(before, after) if block.tag == "equal"
    )
    assert kept <= min(len(before), len(after))
    if before == after:
        assert kept == len(before)
    elif not SequenceMatcher(None, before, after, autojunk=False).find_longest_match().size:
        assert kept == 0
