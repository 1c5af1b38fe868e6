"""The page of a build in a browser: stages, files and memory in one list, at several widths."""

import pytest
from debug.report.test_memory_page import KERNELS

from pypto_tmpl.debug import StageResult, ValidationResult
from pypto_tmpl.debug.report import write_report
from pypto_tmpl.debug.report.attached import Attached
from pypto_tmpl.debug.stages.dumps import Stage

pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra 'browser')")
pytestmark = [pytest.mark.usefixtures("browser"), pytest.mark.xdist_group("browser")]
FILE = "func.func @main() {\n  # no comment\n}"
HOSTILE = "</script><script>window.broken = 1</script>"


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Two stages that were not run, two kernels, two files."""
    folder = tmp_path_factory.mktemp("build")
    stages = []
    for name, text in (("00_frontend", "x = 1\n"), ("01_after_Pass", "x = 2\n")):
        (folder / f"{name}.py").write_text(text)
        stages.append(StageResult(Stage(name, folder / f"{name}.py", None), ir=text, is_run=False))
    facts = [("program", "Scaled"), ("kernels", "empty")]
    attached = Attached(
        "Scaled", facts, [("ptoas/main.pto", FILE), ("notes.txt", HOSTILE)], KERNELS, "after it all"
    )
    write_report(
        folder / "r.html", ValidationResult(2, stages), lambda stage, tensor: "again", attached=attached
    )
    return folder / "r.html"


@pytest.mark.parametrize("width", [390, 700, 1400])
def test_every_entry_fits_the_window(open_page, path, width):
    page = open_page(path, viewport={"width": width, "height": 844})
    assert page.title() == "Scaled: 2 stages, none of them run"
    assert page.locator("#headline dd").all_inner_texts() == ["Scaled", "empty"]
    for entry in range(5):
        page.locator("#stages [role=option]").nth(entry).click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), entry
        assert page.get_by_role("option", selected=True).count() == 1
    assert page.evaluate("window.broken") is None


def test_it_opens_at_the_text_of_the_first_stage(open_page, path):
    page = open_page(path)
    assert page.locator("#stage h2").inner_text() == "00_frontend"
    assert page.get_by_role("tab", selected=True).inner_text() == "IR 3"
    page.keyboard.press("1")
    assert "This stage was not run." in page.locator("#view").inner_text()
    page.keyboard.press("j")
    page.keyboard.press("2")
    assert page.locator(".hunk").count() == 1


def test_a_file_is_shown_as_it_is(open_page, path):
    page = open_page(path, "#3.1")
    assert page.locator("#stage h2").inner_text() == "ptoas/main.pto"
    # Contents, not what is shown: lines that no frame has shown yet have no inner text.
    assert page.locator(".code-line").all_text_contents() == FILE.splitlines()
    assert page.locator(".code .comment").count() == 0  # only Python has colours
    page.keyboard.press("j")
    assert page.locator(".code-line").all_text_contents() == [HOSTILE]
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.locator("#stage h2").first.inner_text() == "Memory"


def test_the_memory_of_each_kernel_is_drawn_and_moved_in(open_page, path):
    page = open_page(path, "#2.1")
    bars = page.locator(".picture .bar")
    assert bars.count() == 3
    page.locator("#stage").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tip strong").inner_text() == "slots"
    page.keyboard.press("ArrowUp")
    assert page.locator("#tip strong").inner_text() == "a"
    page.get_by_role("tab", name="second").click()
    assert page.locator("#memory h2").inner_text() == "second" and bars.count() == 3
    page.locator("#find").fill("jkn")  # letters that are keys elsewhere
    assert page.locator(".bar.other").count() == 3
    page.set_viewport_size({"width": 700, "height": 844})
    # In the page, as it draws the picture anew: a box asked for from outside may be of one that is gone.
    page.wait_for_function("document.querySelector('.picture').getBoundingClientRect().width <= 700")
    page.locator("#stages").focus()
    page.keyboard.press("ArrowUp")
    assert page.locator("#stage h2").inner_text() == "01_after_Pass"


def test_the_filter_finds_files(open_page, path):
    page = open_page(path)
    page.keyboard.press("/")
    page.keyboard.type("pto")
    assert page.locator("#stages [role=option]:visible .name").all_inner_texts() == ["ptoas/main.pto"]
