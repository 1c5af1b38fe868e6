"""The page of a report in a browser: it loads, can be moved in by keyboard, draws, and stays quick."""

import random
import time
from pathlib import Path

import pytest
import torch
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.codegen.layout import outline
from pypto_tmpl.debug import Options, Rules, StageResult, Validation, ValidationResult, compare_tensors
from pypto_tmpl.debug.report import run_stage, write_report
from pypto_tmpl.debug.stages.dumps import Stage

pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'browser')")
pytestmark = [pytest.mark.usefixtures("browser"), pytest.mark.xdist_group("browser")]
GOOD = scaled_text()
FAILING = GOOD.replace("a: pl.Tensor[[8, 32]", "a: pl.Tensor[[8, 16]")
HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror=window.broken=1>"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Five stages: two right ones, a wrong one, one whose script fails, and a right one."""
    folder = tmp_path_factory.mktemp("report")
    write_dump(folder / "dump", GOOD, scaled_text(ssa="__ssa_v0"), scaled_text(odd=3.0), FAILING, GOOD)
    options = Options(keep_for_report=True, jobs=1)
    validation = Validation(folder / "dump", inputs(), expected(), options)
    result = ValidationResult(len(validation.stages), list(validation.results()))
    write_report(folder / "report.html", result, lambda stage, tensor: f"again {stage.name} {tensor}")
    return folder / "report.html"


def stage(page):
    return page.locator("#stage h2").inner_text()


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def test_the_first_bad_stage_is_shown_at_once(open_page, report):
    page = open_page(report)
    assert page.title().startswith("Validation of dump: First bad stage: 02_after_Pass2")
    assert stage(page) == "02_after_Pass2"
    assert page.get_by_role("option", selected=True).locator(".name").inner_text() == "02_after_Pass2"
    assert page.get_by_role("tab", selected=True).inner_text() == "Outputs 1"
    assert "all in rows 8-15 of each 16" in page.locator("#stage").inner_text()


def test_keys_move_from_stage_to_stage(open_page, report):
    page = open_page(report)
    for key, name in [
        ("j", "03_after_Pass3"),
        ("j", "04_after_Pass4"),
        ("j", "04_after_Pass4"),
        ("k", "03_after_Pass3"),
        ("g", "00_frontend"),
        ("n", "02_after_Pass2"),
        ("n", "03_after_Pass3"),
        ("p", "02_after_Pass2"),
        ("G", "04_after_Pass4"),
        ("ArrowUp", "03_after_Pass3"),
        ("ArrowDown", "04_after_Pass4"),
        ("Home", "00_frontend"),
        ("End", "04_after_Pass4"),
    ]:
        press(page, key)
        assert (key, stage(page)) == (key, name)
        assert page.get_by_role("option", selected=True).count() == 1
        active = page.get_by_role("listbox").get_attribute("aria-activedescendant")
        assert page.locator(f"#{active} .name").inner_text() == name


def test_the_address_keeps_the_place(open_page, report):
    page = open_page(report)
    press(page, "j", "2")
    place = page.evaluate("location.hash")
    other = open_page(report, place)
    assert stage(other) == "03_after_Pass3"
    assert other.get_by_role("tab", selected=True).inner_text() == "IR changes 2"


def test_a_click_selects_a_stage(open_page, report):
    page = open_page(report)
    page.get_by_role("option").filter(has_text="04_after_Pass4").click()
    assert stage(page) == "04_after_Pass4"
    page.get_by_role("button", name="show this stage").click()
    assert stage(page) == "02_after_Pass2"


def test_changes_stand_side_by_side(open_page, report):
    page = open_page(report)
    press(page, "2")
    assert "Left 01_after_Pass1, right 02_after_Pass2." in page.locator("#view").inner_text()
    row = page.locator("tr", has_text="3.0")
    left, right = row.locator("td").nth(1), row.locator("td").nth(3)
    assert left.locator("mark").all_text_contents()[-1] == "2" or "2.0" in left.text_content()
    assert right.locator("mark").all_text_contents()[-1] in ("3", "3.0")
    number = next(n for n, line in enumerate(scaled_text(odd=3.0).splitlines(), start=1) if "3.0" in line)
    assert row.locator("td").nth(0).get_attribute("data-number") == str(number)


def test_views_are_tabs(open_page, report):
    page = open_page(report)
    titles = ["Outputs 1", "IR changes 2", "IR 3", "Script 4"]
    assert page.get_by_role("tab").all_inner_texts() == titles
    for number, title in enumerate(titles, start=1):
        press(page, str(number))
        assert page.get_by_role("tab", selected=True).inner_text() == title
        assert page.get_by_role("tabpanel").get_attribute("aria-labelledby") == f"view-{number - 1}"
    press(page, "ArrowLeft")
    assert page.get_by_role("tab", selected=True).inner_text() == "IR 3"
    assert page.locator(".code-line").count() == len(scaled_text().splitlines())


def test_a_script_shows_its_program_and_the_line_that_failed(open_page, report):
    page = open_page(report)
    press(page, "j", "4")
    failed = page.locator(".code-line.failed:visible")
    assert '_check_tensor("a", a, [8, 16], torch.float32)' in failed.inner_text()
    helpers = page.locator(".fold")
    assert "lines of run-time helpers" in helpers.inner_text()
    assert not page.get_by_text("def _check_tensor").is_visible()
    press(page, "e")
    assert helpers.count() == 0 and page.get_by_text("def _check_tensor").is_visible()
    press(page, "e")
    assert helpers.count() == 1


def test_the_filter(open_page, report):
    page = open_page(report)
    press(page, "/")
    page.keyboard.type("wrong")
    assert page.locator("#stages [role=option]:visible .name").all_inner_texts() == ["02_after_Pass2"]
    page.keyboard.type("x")
    assert page.get_by_text("nothing matches").is_visible()
    press(page, "Escape")
    assert page.locator("#stages [role=option]:visible").count() == 5
    press(page, "j")  # the list has the focus again
    assert stage(page) == "03_after_Pass3"


def test_help_is_shown_and_closed(open_page, report):
    page = open_page(report)
    assert "all keys" in page.locator("footer").inner_text()
    dialog = page.get_by_role("dialog")
    press(page, "?")
    assert dialog.is_visible() and "next, previous bad stage" in dialog.inner_text()
    press(page, "j", "Escape")
    assert not dialog.is_visible() and stage(page) == "02_after_Pass2"
    press(page, "?", "?")
    assert not dialog.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_chosen(open_page, report, scheme):
    page = open_page(report, color_scheme=scheme)
    brightness = "sum = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert (page.evaluate(brightness) > 128) == (scheme == "light")
    press(page, "t")
    page.wait_for_function(f"{brightness} > 128")
    assert page.locator("#theme").inner_text() == "theme: light"
    press(page, "t")
    page.wait_for_function(f"{brightness} < 128")
    assert page.locator("#theme").inner_text() == "theme: dark"
    for _ in range(300):
        page.reload()
        page.wait_for_selector("html[data-ready=yes]")
        if page.evaluate(brightness) < 128:
            break
        page.wait_for_timeout(100)  # a loaded browser hands the choice to the next page a moment late
    assert page.evaluate(brightness) < 128


def pixels(page):
    """Rows of the error map, each as the set of its colours."""
    return page.evaluate(
        """() => {
            const map = document.querySelector("canvas.map");
            const data = map.getContext("2d").getImageData(0, 0, map.width, map.height).data;
            const rows = [];
            for (let row = 0; row < map.height; row += 1) {
                const colours = new Set();
                for (let at = row * map.width; at < (row + 1) * map.width; at += 1)
                    colours.add([...data.slice(4 * at, 4 * at + 3)].join());
                rows.push([...colours]);
            }
            return rows;
        }"""
    )


def test_the_map_shows_where_the_errors_are(open_page, report):
    page = open_page(report)
    rows = pixels(page)
    assert len(rows) == 64
    [none] = rows[0]
    assert [n for n, colours in enumerate(rows) if colours != [none]] == [n for n in range(64) if n % 16 >= 8]
    page.get_by_label("share of bad cells").check()
    [shade] = {colour for row in pixels(page)[8:16] for colour in row}
    assert shade != none and pixels(page)[16] == [none]


def test_the_keyboard_reads_the_map(open_page, report):
    page = open_page(report)
    page.locator("canvas.map").focus()
    press(page, *["ArrowDown"] * 70, *["ArrowRight"] * 40, "ArrowLeft", "ArrowRight")
    # The last cell of x is 2048: three times that was computed instead of twice.
    text = "row 63, column 31: max |diff| about 2.05e+3; 100 % of the cells bad"
    assert page.locator(".cell-text").inner_text() == text
    assert stage(page) == "02_after_Pass2"


def test_the_histogram_counts_bad_cells(open_page, report):
    page = open_page(report)
    assert page.get_by_role("img", name="out: cells by size of error, 1024 cells").is_visible()
    assert page.locator("svg .bad").count() > 0 and page.locator("svg .good").count() == 0


def test_names_that_look_like_markup_do_nothing(open_page, tmp_path):
    tensors = {HOSTILE: torch.zeros(2)}
    result = run_stage(
        HOSTILE, Path("x.py"), actual=tensors, expected={HOSTILE: torch.ones(2)}, ir=HOSTILE, script=HOSTILE
    )
    write_report(tmp_path / "r.html", result, lambda stage, tensor: HOSTILE, title=HOSTILE)
    page = open_page(tmp_path / "r.html")
    for view in "1234":
        press(page, view)
        assert stage(page) == HOSTILE
    assert page.evaluate("window.broken") is None
    assert not page.locator("nav").is_visible()  # there is only one stage
    assert page.get_by_role("heading", name=f"✗ {HOSTILE}").count() == 0
    press(page, "1")
    assert page.get_by_role("heading", name=f"✗ {HOSTILE}").is_visible()


def test_screenshots(open_page, report, tmp_path):
    """The page paints: many colours, other ones in the dark, and nothing wider than the window."""
    shots = [open_page(report, color_scheme=scheme).screenshot() for scheme in ("light", "dark")]
    assert all(len(shot) > 50_000 for shot in shots) and shots[0] != shots[1]
    for width in (1400, 420):
        page = open_page(report, viewport={"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def large_text(stage_number, generator):
    """2,000 lines in 20 functions; each stage renames some variables and adds and drops some lines."""
    head = ["import pypto.language as pl", "", "@pl.program", "class Large:"]
    for kernel in range(20):
        head += ["    @pl.function(type=pl.FunctionType.InCore)", f"    def kernel_{kernel}(a, out):"]
        for n in range(97):
            kind = generator.random()
            name = f"t{n}__ssa_v{stage_number}" if kind < 0.05 else f"t{n}__ssa_v0"
            if kind > 0.02:
                value = f"pl.tile.load(a, [{n}, {kernel}])"
                head.append(f"        {name}: pl.Tile[[64, 128], pl.FP32, pl.Mem.Vec] = {value}")
            if kind > 0.98:
                head.append(f"        pl.system.bar_v(event={stage_number})")
        head.append("        return out")
    return "\n".join(head)


@pytest.fixture(scope="module")
def large_report(tmp_path_factory):
    """Fifty stages of 2,000 lines; every other one has a wrong output."""
    generator, path = random.Random(5), tmp_path_factory.mktemp("large") / "large.html"
    wanted = torch.randn(512, 1024, generator=torch.Generator().manual_seed(5))
    result = ValidationResult(50)
    for number in range(50):
        text = large_text(number, generator)
        actual = wanted + 1e-6 * number
        actual[64:128] += number % 2
        verdict = compare_tensors("out", actual, wanted, Rules(pictures=True))
        name = f"{number:02}_after_Pass{number}"
        script = (
            "\n".join(["import torch"] * 1500)
            + "\n"
            + text.replace("    def ", "def ").replace("pl.tile", "torch")
        )
        result.stages.append(
            StageResult(
                Stage(name, Path(f"{name}.py"), None),
                (verdict,),
                read_from=f"{name}.py",
                ir=text,
                record=outline(script),
            )
        )
    began = time.process_time()
    write_report(path, result, lambda stage, tensor: f"again {stage.name}")
    assert time.process_time() - began < 10  # about 0.4 s
    return path


def busy(page):
    """Seconds of processor time that the page's thread has worked: other load does not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return metrics["TaskDuration"]


def test_fifty_stages_of_two_thousand_lines(open_page, large_report):
    assert large_report.stat().st_size < 8_000_000
    page = open_page(large_report)
    assert page.locator("#stages [role=option]").count() == 50
    # Only what is looked at is in the page: neither the texts of all stages nor all lines of this one.
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    before = busy(page)
    press(page, "2", *"j" * 20)
    assert stage(page) == "21_after_Pass21"
    page.wait_for_selector("#view > [data-complete=yes]")
    assert page.locator("table.sides tr.hunk").count() > 20
    assert busy(page) - before < 15
    press(page, "]", "]")
    assert page.locator("#stage").evaluate("main => main.scrollTop") > 0
    press(page, "4")
    page.wait_for_selector(".code[data-complete=yes]")
    assert page.locator(".code-line").count() > 3000


def test_the_headline_can_be_closed(open_page, report):
    page = open_page(report)
    fact = page.get_by_text("last good stage")
    assert fact.is_visible()
    press(page, "h")
    assert not fact.is_visible() and page.get_by_text("First bad stage: 02_after_Pass2").is_visible()
    press(page, "h")
    assert fact.is_visible()
