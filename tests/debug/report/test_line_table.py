"""Texts as runs of shared lines."""

from hypothesis import given
from hypothesis import strategies as st

from pypto_tmpl.debug.report.line_table import LineTable


def read(table, runs):
    pairs = zip(runs[::2], runs[1::2], strict=True)
    return [table.lines[n] for first, count in pairs for n in range(first, first + count)]


def test_a_text_that_is_like_another_takes_little_room():
    table = LineTable()
    assert table.runs(["a", "b", "c", "d"]) == [0, 4]
    assert table.runs(["a", "b", "new", "d"]) == [0, 2, 4, 1, 3, 1]
    assert table.runs(["a", "a"]) == [0, 1, 0, 1]
    assert table.runs([]) == []
    assert table.lines == ["a", "b", "c", "d", "new"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=20), max_size=5))
def test_runs_give_the_text_back(texts):
    table = LineTable()
    stored = [table.runs(text) for text in texts]
    assert [read(table, runs) for runs in stored] == texts
