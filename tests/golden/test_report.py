"""The report on a run: one page, for a run that passed, that computed something else, or that failed."""

import json
import re

import pytest
from default_stages import LAST

from pypto_tmpl.golden import run

DATA = re.compile(r'<script type="application/json" id="report-data">(.*?)</script>', re.DOTALL)
HEADLINE = re.compile(r'<h2 id="headline-text">(.*?)</h2>')


def wrong_golden(values):
    """Off by 0.5 in row 2."""
    values["y"][:] = values["x"] * values["n"]
    values["y"][2] += 0.5


def read(path):
    """The headline, and the one stage of a page."""
    text = path.read_text()
    [stage] = json.loads(DATA.search(text)[1])["stages"]
    return HEADLINE.search(text)[1], stage


def facts(stage):
    return dict(stage["tensors"][0]["facts"])


def test_a_run_that_computes_something_else(run_scale, tmp_path):
    result = run_scale(golden_fn=wrong_golden, report=tmp_path / "r.html")
    assert not result.passed and result.phase == "validate"
    headline, stage = read(tmp_path / "r.html")
    assert headline == "Scale computes something else than expected"
    assert facts(stage)["bad cells"] == "8 of 32 (25 %)"
    assert facts(stage)["where"] == "all in row 2"
    # x is 16 to 23 in row 2.
    assert facts(stage)["first bad cell"] == "5.000000e-01 at [2, 0]: got 48.0, expected 48.5"
    assert "rtol: 1e-05, atol: 1e-05" in stage["tensors"][0]["line"]
    data = str(result.work_dir / "data")
    assert stage["tensors"][0]["rerun"] == (
        f"golden.run(program, specs, golden_data={data!r}, runtime_dir={str(result.work_dir)!r})"
    )


def test_the_page_has_the_program_and_its_script(run_scale, tmp_path):
    result = run_scale(report=str(tmp_path / "r.html"))
    assert result.passed
    text = (tmp_path / "r.html").read_text()
    headline, stage = read(tmp_path / "r.html")
    assert headline == "Every output is as expected" and "<h1>Scale on a2a3sim</h1>" in text
    lines = json.loads(DATA.search(text)[1])["lines"]

    def shown(runs):
        return [lines[n] for at in range(0, len(runs), 2) for n in range(runs[at], runs[at] + runs[at + 1])]

    dump = result.work_dir / f"passes_dump/{LAST}.py"
    assert [line for _, _, runs in stage["ir"] for line in shown(runs)] == dump.read_text().splitlines()
    assert shown(stage["script"]) == (result.work_dir / "torch" / "main.py").read_text().splitlines()
    assert stage["time"] == f"{result.execution_time:.3f} s"


def test_a_comparator_decides(run_scale, tmp_path):
    def lenient(*_, **__):
        return True, ""

    assert run_scale(golden_fn=wrong_golden, compare_fn={"y": lenient}, report=tmp_path / "r.html").passed
    headline, stage = read(tmp_path / "r.html")
    assert headline == "Every output is as expected" and stage["tensors"][0]["passed"]

    def strict(*_, **__):
        return False, "  row 2\n  is off"

    run_scale(golden_fn=wrong_golden, compare_fn={"y": strict}, report=tmp_path / "r.html")
    _, stage = read(tmp_path / "r.html")
    assert facts(stage)["why"] == "strict:   row 2\n  is off"


def test_a_run_that_fails_has_its_error(run_scale, tmp_path):
    def broken(values):
        raise ArithmeticError("no golden today")

    assert not run_scale(golden_fn=broken, report=tmp_path / "r.html").passed
    headline, stage = read(tmp_path / "r.html")
    assert headline == "Scale fails"
    assert stage["failure"].startswith("compute golden: ArithmeticError: no golden today\n  at ")
    assert "\n\nTraceback" in stage["failure"]
    assert stage["script"] != []


def test_a_program_that_cannot_be_compiled_has_a_report(scale_specs, tmp_path):
    result = run(tmp_path / "nothing.py", scale_specs, report=tmp_path / "r.html")
    assert not result.passed
    headline, stage = read(tmp_path / "r.html")
    assert stage["failure"].startswith(result.error) and stage["ir"] == []


def test_a_run_without_golden_compares_nothing(run_scale, tmp_path):
    assert run_scale(golden_fn=None, report=tmp_path / "r.html").passed
    assert read(tmp_path / "r.html")[0] == "It ran to its end; no output was compared"


def test_plain_data(run_scale, tmp_path):
    run_scale(golden_fn=wrong_golden, report=tmp_path / "r.json")
    found = json.loads((tmp_path / "r.json").read_text())
    assert found["passed"] is False and found["stages"][0]["tensors"][0]["error"]["bad"] == 8


@pytest.mark.parametrize(
    ("knobs", "text"),
    [
        ({"report": "r.txt"}, "a report is a .html or .json file, got 'r.txt'"),
        ({"report": "r.html", "compile_only": True}, "report is incompatible with compile_only"),
        ({"report": "r.html", "golden_only": True}, "report is incompatible with golden_only"),
    ],
)
def test_knobs_that_do_not_go_together(run_scale, knobs, text):
    result = run_scale(**knobs)
    assert not result.passed and text in result.error


@pytest.mark.parametrize(("golden", "passed"), [(None, True), (wrong_golden, False)])
def test_a_report_that_cannot_be_written_is_told(run_scale, tmp_path, golden, passed):
    (tmp_path / "file").write_text("")
    result = run_scale(golden_fn=golden, report=tmp_path / "file" / "r.html")
    assert not result.passed
    if passed:
        assert result.phase == "report" and "the file cannot be written" in result.error
    else:
        assert result.phase == "validate"
        assert result.error.splitlines()[-1].startswith(
            "the report was not written: the file cannot be written"
        )
