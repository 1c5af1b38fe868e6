"""Which lines of a stage a report marks."""

from dataclasses import replace
from pathlib import Path

import pytest

from pypto_tmpl.codegen.layout import outline
from pypto_tmpl.debug import StageResult, ValidationResult
from pypto_tmpl.debug.report.headline import headline
from pypto_tmpl.debug.report.marks import Marks, divergence_marks, failure_marks
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.stages.dumps import Stage
from pypto_tmpl.debug.validate.tasks import Failure
from pypto_tmpl.execution.statement_place import StatementPlace

IR = """@pl.program
class P:
    @pl.function
    def other(self):
        b: pl.Scalar[pl.INT32] = 1
    @pl.function
    def main(self):
        b: pl.Scalar[pl.INT32] = 1
        c: pl.Scalar[pl.INT32] = b + 1
        c: pl.Scalar[pl.INT32] = c + 2
"""
SCRIPT = """def other():
    b = 1


def main():
    b = 1
    c = b + 1
    c = c + 2
"""


PLACES = {
    ("other", "body/0"): (2,),
    ("main", "body/0"): (6,),
    ("main", "body/1"): (7, 8),
    ("main", "body/2"): (8,),
}


def stage(name, **changes):
    record = replace(outline(SCRIPT), places=PLACES)
    return StageResult(
        Stage(name, Path(f"{name}.py"), None), read_from=f"{name}.py", ir=IR, record=record, **changes
    )


def marks_of(place, place_stage="01", good_place=None):
    result = ValidationResult(2, [stage("00"), stage("01")])
    found = Divergence("01", "00", "scan", "statement", place, place_stage, good_place)
    return divergence_marks(result, found)


@pytest.mark.parametrize(
    ("place", "marks"),
    [
        # Of a text that is shown the line is known; the line of the script is known by the path.
        (StatementPlace("main", "body/0", "", "b", "01.py:8", 70, "b = 1"), Marks((8,), (6,))),
        (StatementPlace("other", "body/0", "", "b", "01.py:5", 70, "b = 1"), Marks((5,), (2,))),
        # Positions in other files are no lines of what is shown: the statement itself is looked for.
        (
            StatementPlace("main", "body/2", "c: pl.Scalar[pl.INT32] = c + 2", "c", "kernel.py:3"),
            Marks((10,), (8,)),
        ),
        # Of several lines it is the first, unless another one failed.
        (StatementPlace("main", "body/1", "", "c", "01.py:9", 70, "c = _traced(1, b)"), Marks((9,), (7,))),
        (StatementPlace("main", "body/1", "", "c", "01.py:9", 70, "c = c + 2"), Marks((9,), (8,))),
        # Where it is not found as it is, all assignments of the variable may be it.
        (StatementPlace("main", "body/7", "c = pl.add(c, 2)", "c", ""), Marks((9, 10), ())),
        (StatementPlace("main", "", "", "", "01.py:999"), Marks()),
        (StatementPlace("main"), Marks()),
    ],
)
def test_the_lines_of_a_statement(place, marks):
    assert marks_of(place) == {1: marks}


def test_a_statement_that_got_lost_is_marked_where_it_was():
    place = StatementPlace("main", "body/0", "", "b", "00.py:8", 70, "b = 1")
    assert marks_of(place, "00") == {0: Marks((8,), (6,))}
    other = replace(place, source="01.py:9", path="body/1")
    assert marks_of(other, good_place=place) == {0: Marks((8,), (6,)), 1: Marks((9,), (7,))}


def test_the_lines_of_an_error():
    text = (
        "ValueError: no\n"
        '  File "<pypto_tmpl P 01>", line 7, in main\n    c = b + 1\n    from 01.py:9\n'
        '  File "<pypto_tmpl P 01>", line 2, in other\n    b = 1\n    from elsewhere.py:5\n'
    )
    assert failure_marks(stage("01", failure=Failure("script", text))) == Marks((9,), (2, 7))
    assert failure_marks(stage("01")) == Marks()


def test_the_headline_names_a_line_only_where_there_is_one():
    result = ValidationResult(2, [stage("00"), stage("01", failure=Failure("script", "ValueError: no"))])
    place = StatementPlace("main", "", "", "c", "01.py:10", 70, "c = _traced(1, c) + 2")
    head = headline(result, lambda *_: "", Divergence("01", "00", "scan", "statement", place, "01"))
    facts = dict(head.groups[0])
    assert facts["in the traced script"] == "c = _traced(1, c) + 2" and "in the script" not in facts
    assert head.places == [("IR line 10", 1, 2)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('ValueError: no\n  File "x", line 1, in f\n    g()', "ValueError: no"),
        ("compile: ValueError: no\n\nTraceback (most recent call last):\n  ...", "compile: ValueError: no"),
        ("error[x]: what\n  --> k.py:3\n   = note", "error[x]: what\n  --> k.py:3\n   = note"),
        ("\n".join("123456789"), "\n".join("123456")),
        ('Traceback (most recent call last):\n  File "x", line 1\nValueError: no', "ValueError: no"),
    ],
)
def test_an_error_is_on_top_without_its_traceback(text, shown):
    result = ValidationResult(1, [stage("00", failure=Failure("script", text))])
    assert dict(headline(result, lambda *_: "").groups[0])["error"] == shown
