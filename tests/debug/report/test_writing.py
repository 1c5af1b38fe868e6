"""The page of a validation: what stands in it, that nothing breaks out of it, and how it is written."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl import ir
from pypto_tmpl.debug import Options, Validation, ValidationResult, validate_pass_ir_codegen_results
from pypto_tmpl.debug.report import run_stage, write_report
from pypto_tmpl.debug.report.headline import headline
from pypto_tmpl.debug.report.html import json_in_html
from pypto_tmpl.debug.report.writing import SCRIPTS, STYLES, ReportError, is_page, page_text
from pypto_tmpl.debug.search.divergence import Divergence, ValueSummary
from pypto_tmpl.execution.statement_place import StatementPlace
from pypto_tmpl.files import FileError
from pypto_tmpl.language import parse

GOOD, BAD = scaled_text(), scaled_text(odd=3.0)
HOSTILE = '</script><script>alert("x")</script><!--<b onmouseover=alert(1)>&amp;\u2028'


class Page(HTMLParser):
    """The elements of a page, and the text of each kind of element."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.texts, self._open = [], [], {}, []
        self.in_order = []  # the texts of definitions, code or not
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in ("meta", "input"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)
            if "dd" in self._open:
                self.in_order.append(data)

    @property
    def data(self):
        return json.loads(self.texts["script"][0])


def rerun(stage, tensor):
    return f"again {stage.name} {tensor}".strip()


def validated(folder, *texts, **options):
    write_dump(folder, *texts)
    validation = Validation(folder, inputs(), expected(), Options(keep_for_report=True, **options))
    return ValidationResult(len(validation.stages), list(validation.results()))


def lines(data, runs):
    pairs = zip(runs[::2], runs[1::2], strict=True)
    return [data["lines"][n] for first, count in pairs for n in range(first, first + count)]


@pytest.fixture
def page(tmp_path):
    """The page of four stages, the second like the first, the third wrong."""
    result = validated(tmp_path / "dump", GOOD, scaled_text(ssa="__ssa_v0"), BAD, GOOD)
    return Page(page_text(result, rerun))


def test_the_first_bad_stage_stands_on_top(page):
    assert page.texts["h2"][0] == "First bad stage: 02_after_Pass2 computes something else than expected"
    facts = list(zip(page.texts["dt"], page.in_order, strict=True))
    assert facts == [
        ("last good stage", "01_after_Pass1"),
        ("tensor", "out"),
        ("bad cells", "1024 of 2048 (50 %)"),
        ("max abs diff", "2.048000e+03 at [63, 31]: got 6144.0, expected 4096.0"),
        ("where", "all in rows 8-15 of each 16"),
        ("where", "the second half: what lane 1 of a split by rows computes"),
        ("rerun", "again 02_after_Pass2 out"),
    ]


def test_the_stages_are_listed_in_order_with_verdict_and_how_they_ran(page):
    rows = [text.strip() for text in page.texts["span"] if text.strip()]
    found = [row for row in rows if row in ("✓ ok", "✗ wrong") or "_" in row or row == "00_frontend"]
    names = ["00_frontend", "01_after_Pass1", "02_after_Pass2", "03_after_Pass3"]
    assert found[::2] == ["✓ ok", "✓ ok", "✗ wrong", "✓ ok"] and found[1::2] == names
    stages = page.data["stages"]
    assert [stage["how"] for stage in stages] == ["text", "same IR as 00_frontend", "text", "text"]
    assert [stage["verdict"] for stage in stages] == ["ok", "ok", "wrong", "ok"]
    assert all(float(stage["time"].removesuffix(" s")) > 0 for stage in stages[2:])


def test_a_stage_has_its_text_its_changes_and_its_script(page):
    data = page.data
    bad = data["stages"][2]
    assert [line for _, _, runs in bad["ir"] for line in lines(data, runs)] == BAD.splitlines()
    assert bad["before"] == 1
    counts = {change["name"]: change["counts"] for change in bad["changes"]}
    # Without the SSA suffix six lines are spelled differently, the wrong constant among them.
    assert counts == {"": [0, 0], "main": [6, 6]}
    script = lines(data, bad["script"])
    assert any("* 3.0" in line for line in script)
    program, helpers = script[: bad["program_lines"]], script[bad["program_lines"] :]
    assert any(line.startswith("def main(") for line in program) and program[-1].startswith("    return ")
    assert "# Run-time helpers follow." in helpers
    assert data["stages"][0]["before"] is None and data["stages"][0]["changes"] == []


def test_an_output_has_facts_and_a_picture(page):
    data = page.data
    [tensor] = data["stages"][2]["tensors"]
    assert tensor["rerun"] == "again 02_after_Pass2 out"
    assert ["max rel diff", "5.000000e-01 at [8, 0]: got 771.0, expected 514.0"] in tensor["facts"]
    found = data["pictures"][tensor["picture"]]
    rows = [n // 32 for n, share in enumerate(base64.b64decode(found["map"]["bad"])) if share]
    assert sorted(set(rows)) == [row for row in range(64) if row % 16 >= 8]
    assert sum(found["histogram"]["bad"]) == 1024 and found["histogram"]["equal"] == 1024
    assert data["stages"][0]["tensors"][0]["picture"] is None


def test_a_stage_that_was_read_from_its_companion_has_that_ones_text(tmp_path):
    write_dump(tmp_path, GOOD.replace("muls", "mulls"))
    ir.serialize_to_file(parse(GOOD), tmp_path / "00_frontend.msgpack")
    data = Page(page_text(validated(tmp_path, GOOD.replace("muls", "mulls")), rerun)).data
    [stage] = data["stages"]
    assert stage["how"] == "msgpack" and stage["note"].startswith("the text cannot be emitted")
    shown = [line for _, _, runs in stage["ir"] for line in lines(data, runs)]
    assert shown == ir.python_print(parse(GOOD), format=False).splitlines()


def test_stages_without_a_verdict(tmp_path):
    fails = GOOD.replace("a: pl.Tensor[[8, 32]", "a: pl.Tensor[[8, 16]")
    page = Page(page_text(validated(tmp_path, GOOD, fails, "def main(:\n"), rerun))
    data = page.data
    assert [stage["verdict"] for stage in data["stages"]] == ["ok", "failed", "unreadable"]
    failed = data["stages"][1]
    # The last frame is in a helper, the one before in the program.
    program_line = next(n for n in failed["failed_lines"] if n <= failed["program_lines"])
    assert '_check_tensor("a", a, [8, 16]' in lines(data, failed["script"])[program_line - 1]
    assert "01_after_Pass1.py:9" in failed["failure"]
    assert page.texts["h2"][0] == "First bad stage: 01_after_Pass1 fails"
    unreadable = data["stages"][2]
    assert lines(data, unreadable["ir"][0][2]) == ["def main(:"] and unreadable["script"] == []


def test_a_dump_that_is_right(tmp_path):
    page = Page(page_text(validated(tmp_path, GOOD), rerun))
    assert page.texts["h2"][0] == "Every output is as expected"
    result = validated(tmp_path / "b", GOOD, GOOD)
    assert Page(page_text(result, rerun)).texts["h2"][0] == "All 2 stages are as expected"
    result.total = 5
    page = Page(page_text(result, rerun))
    assert page.texts["h2"][0] == "Interrupted: 2 of 5 stages checked, these as expected"


def test_a_validation_that_found_nothing_yet_has_a_page():
    assert "Interrupted: 0 of 3" in page_text(ValidationResult(3), rerun)


def hostile_page():
    wanted = {HOSTILE: torch.zeros(2)}
    text, error = f"# {HOSTILE}\n", f"ValueError: {HOSTILE}"
    one = run_stage(
        HOSTILE, Path(HOSTILE), actual=wanted, expected={HOSTILE: torch.ones(2)}, ir=text, script=text
    )
    other = run_stage(HOSTILE, Path(HOSTILE), error=error, ir=text, script=text)
    both = ValidationResult(2, one.stages + other.stages)
    return page_text(both, lambda stage, tensor: HOSTILE, title=HOSTILE)


def test_nothing_breaks_out_of_the_page():
    text = hostile_page()
    page = Page(text)
    assert page.tags.count("script") == 2 and "b" not in page.tags
    assert not [found for found in page.attributes if found[1].startswith("on")]
    assert page.data["stages"][0]["name"] == HOSTILE
    assert page.texts["h1"] == [HOSTILE]
    [data] = re.findall(
        r'<script type="application/json"[^>]*>(.*)</script>\n<script type="module"', text, re.DOTALL
    )
    assert not set("<>&\u2028\u2029") & set(data)


def test_a_name_that_is_no_text_can_be_written(tmp_path):
    """Such names come from file systems with bytes that are no UTF-8."""
    result = run_stage("a\udc80b", Path("x.py"), error="a\udc80b")
    write_report(tmp_path / "r.html", result, rerun)
    assert Page((tmp_path / "r.html").read_text()).data["stages"][0]["name"] == "a\udc80b"


def test_the_page_needs_nothing_else_and_allows_nothing_else(page):
    assert not [found for found in page.attributes if found[1] in ("src", "href", "action")]
    [policy] = [value for tag, name, value in page.attributes if name == "content" and "default-src" in value]
    digest = {
        kind: "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"
        for kind, text in (("script", page.texts["script"][1]), ("style", page.texts["style"][0]))
    }
    assert policy == f"default-src 'none'; script-src {digest['script']}; style-src {digest['style']}"
    for text in (page.texts["script"][1], page.texts["style"][0]):
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|fetch\(|XMLHttp", text)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", page.texts["script"][1]
    )


def test_script_and_style_are_files_of_their_own(page):
    folder = Path(__file__).resolve().parents[3] / "templates" / "report"
    for names, text in ((SCRIPTS, page.texts["script"][1]), (STYLES, page.texts["style"][0])):
        assert [name for name in names if (folder / name).read_text().strip() not in text] == []


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_texts_stand_out_from_what_they_stand_on(page, theme):
    """A contrast of 4.5, which WCAG asks of text of normal size."""
    pairs = dict(re.findall(r"--([\w-]+): light-dark\((#\w+, #\w+)\)", page.texts["style"][0]))
    colours = {name: value.split(", ")[theme] for name, value in pairs.items()}

    def luminance(name):
        channels = [int(colours[name][at : at + 2], 16) / 255 for at in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(text, ground):
        low, high = sorted((luminance(text), luminance(ground)))
        return (high + 0.05) / (low + 0.05)

    marked = ["new-line", "gone-line", "new-part", "gone-part", "failed-line"]
    grounds = {
        "text": ["surface", "panel", "selected", "good-surface", "bad-surface", *marked],
        "quiet": ["surface", "panel", "selected", "good-surface", "bad-surface"],
        "accent": ["surface", "panel"],
        "good": ["surface", "panel", "selected", "good-surface"],
        "bad": ["surface", "panel", "selected", "bad-surface"],
        **{kind: ["surface", "failed-line"] for kind in ("keyword", "string", "number", "comment", "call")},
    }
    poor = {
        (text, ground): round(contrast(text, ground), 2)
        for text, names in grounds.items()
        for ground in names
        if contrast(text, ground) < 4.5
    }
    assert poor == {}


def test_json_in_html_reads_as_it_is():
    value = {"a": [HOSTILE, "\ud800", "\u2029", 1.5, None]}
    assert json.loads(json_in_html(value)) == value


@pytest.mark.parametrize(("name", "page"), [("a.html", True), ("a.HTM", True), ("a.json", False)])
def test_the_name_decides_the_form(name, page):
    assert is_page(Path(name)) is page


@pytest.mark.parametrize("name", ["a.txt", "html", "a.html.gz"])
def test_another_name_is_refused(name, tmp_path):
    with pytest.raises(ReportError) as caught:
        write_report(tmp_path / name, ValidationResult(1), rerun)
    assert str(caught.value) == f"error[report]: a report is a .html or .json file, got {name!r}"
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "r.html"
    target.write_text("earlier")
    monkeypatch.setattr("os.replace", _disk_full)
    with pytest.raises(FileError):
        write_report(target, ValidationResult(1), rerun)
    assert target.read_text() == "earlier" and list(tmp_path.iterdir()) == [target]


def _disk_full(*_):
    raise OSError(28, "No space left on device")


def test_templates_of_the_user_come_first(tmp_path):
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "page.html.jinja").write_text("{{ headline.text }}, {{ total }} stages\n")
    text = page_text(ValidationResult(3), rerun, template_dirs=[tmp_path])
    assert text == "Interrupted: 0 of 3 stages checked, these as expected, 3 stages\n"


def test_validation_writes_a_page(tmp_path):
    write_dump(tmp_path / "dump", GOOD, BAD)
    with pytest.raises(AssertionError):
        validate_pass_ir_codegen_results(
            tmp_path / "dump", inputs(), expected(), jobs=1, report=tmp_path / "r.html"
        )
    page = Page((tmp_path / "r.html").read_text())
    # The constant stands in line 10 of the dump; it is a part of the statement of b.
    facts = dict(zip(page.texts["dt"], page.in_order, strict=True))
    assert facts["statement"].startswith("b: ") and "3.0)" in facts["statement"]
    assert facts["source"] == f"{tmp_path / 'dump' / '01_after_Pass1.py'}:10"
    assert (facts["variable"], facts["last good stage"]) == ("b", "00_frontend")
    assert page.texts["title"][0].startswith("Validation of dump: First bad stage: 01_after_Pass1")
    assert page.data["stages"][1]["tensors"][0]["picture"] == 0
    assert page.data["stages"][1]["rerun"].startswith("validate_pass_ir_codegen_results('")


def test_one_run_has_a_page_of_its_own(tmp_path):
    actual = {"out": torch.tensor([1.0, 2.0]), "idx": torch.tensor([3, 4])}
    wanted = {"out": torch.tensor([1.0, 3.0]), "idx": torch.tensor([3, 5])}
    result = run_stage(
        "Kernel", Path("build/00_frontend.msgpack"), actual=actual, expected=wanted,
        decided={"idx": (True, "ties"), "out": (False, "1 of 2 too far")}, seconds=2.5,
    )  # fmt: skip
    write_report(
        tmp_path / "r.html",
        result,
        lambda stage, tensor: "pypto-tmpl run kernel.py",
        title="Kernel on a2a3sim",
    )
    page = Page((tmp_path / "r.html").read_text())
    assert page.texts["h1"] == ["Kernel on a2a3sim"]
    assert page.texts["h2"][0] == "Kernel computes something else than expected"
    [stage] = page.data["stages"]
    assert (stage["how"], stage["time"]) == ("msgpack", "2.500 s")
    assert [(t["name"], t["passed"]) for t in stage["tensors"]] == [("out", False), ("idx", True)]
    assert stage["tensors"][0]["facts"][0] == ["why", "1 of 2 too far"]


def test_a_run_that_failed_has_a_page(tmp_path):
    result = run_stage("Kernel", Path("00_frontend.py"), error="RuntimeError: deadlock\n  line 2")
    page = Page(page_text(result, rerun))
    assert page.texts["h2"][0] == "Kernel fails"
    assert page.texts["pre"] == ["RuntimeError: deadlock\n  line 2"]


def diverged():
    return Divergence(
        first_bad="01_after_Pass1",
        last_good="00_frontend",
        search="binary search, 2 of 2 stages run",
        kind="statement",
        place_stage="01_after_Pass1",
        place=StatementPlace(
            "main",
            "body/0/body/1",
            "b = pl.tensor.muls(t, 3.0)",
            "b",
            "k.py:10",
            61,
            "b = t * 3.0",
            iteration={"r": 16},
        ),
        good_place=StatementPlace("main", text="b = pl.tensor.muls(t, 2.0)"),
        good=ValueSummary("FP32", (8, 32), minimum=514.0, maximum=1024.0, mean=769.0),
        bad=ValueSummary("FP32", (8, 32), minimum=771.0, maximum=math.inf, mean=1153.5),
        evidence=("operands are equal",),
    )


def explained_page(result, divergence):
    return page_text(result, rerun, headline(result, rerun, divergence))


def test_the_first_divergence_stands_on_top(tmp_path):
    page = Page(explained_page(validated(tmp_path, GOOD, BAD), diverged()))
    assert page.texts["h2"][0].startswith("First bad stage: 01_after_Pass1")
    facts = dict(zip(page.texts["dt"], page.in_order, strict=True))
    script = lines(page.data, page.data["stages"][1]["script"])
    number = 1 + script.index("        b = x[r + 8 : r + 8 + 8, 0:32] * 3.0")
    assert {key: facts[key] for key in list(facts)[:10]} == {
        "the first value that differs": "main, body/0/body/1",
        "statement": "b = pl.tensor.muls(t, 3.0)",
        "variable": "b",
        "source": "k.py:10",
        "in the script": f"line {number}: {script[number - 1].strip()}",
        "run": "r=16",
        "good value": "FP32 [8, 32]; min 514, max 1024, mean 769",
        "bad value": "FP32 [8, 32]; min 771, max inf, mean 1153.5",
        "in 00_frontend": "main: b = pl.tensor.muls(t, 2.0)",
        "because": "operands are equal",
    }
    assert list(facts)[:2] == ["the first value that differs", "because"]
    assert facts["found by"] == "binary search, 2 of 2 stages run"
    assert facts["last good stage"] == "00_frontend" and facts["bad cells"] == "1024 of 2048 (50 %)"


def test_the_first_divergence_is_in_the_data(tmp_path):
    write_report(tmp_path / "r.json", validated(tmp_path / "d", GOOD, BAD), rerun, divergence=diverged())
    found = json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)["first_divergence"]
    assert found["place"]["source"] == "k.py:10" and found["bad"]["maximum"] == "inf"
    write_report(tmp_path / "s.json", validated(tmp_path / "e", GOOD), rerun)
    assert "first_divergence" not in json.loads((tmp_path / "s.json").read_text())


def test_a_divergence_that_cannot_be_found_is_told(tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("no trace")

    monkeypatch.setattr("pypto_tmpl.debug.report.explaining.explain", fail)
    write_dump(tmp_path / "dump", GOOD, BAD)
    with pytest.raises(AssertionError):
        validate_pass_ir_codegen_results(
            tmp_path / "dump", inputs(), expected(), jobs=1, report=tmp_path / "r.html"
        )
    page = Page((tmp_path / "r.html").read_text())
    facts = dict(zip(page.texts["dt"], page.in_order, strict=True))
    assert facts["first divergence"] == "not found: RuntimeError: no trace"
    assert facts["bad cells"] == "1024 of 2048 (50 %)"
