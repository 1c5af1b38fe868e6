"""Pages in windows of several widths and in both themes: what they show when they open, what they mark."""

import warnings

import pytest
import torch
from runtime import kernels
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.compile import compile_options, compile_program
from pypto_tmpl.debug import Options, Validation, ValidationResult
from pypto_tmpl.debug.report.explaining import write_explained
from pypto_tmpl.runtime import execute_compiled

pytestmark = [pytest.mark.usefixtures("browser"), pytest.mark.xdist_group("browser")]

GOOD = scaled_text()
FAILING = GOOD.replace("a: pl.Tensor[[8, 32]", "a: pl.Tensor[[8, 16]")
WIDTHS = (390, 700, 1400)


def explained(folder, *texts):
    write_dump(folder / "dump", *texts)
    validation = Validation(folder / "dump", inputs(), expected(), Options(keep_for_report=True, jobs=1))
    result = ValidationResult(len(validation.stages), list(validation.results()))
    write_explained(
        folder / "r.html", result, lambda stage, tensor: f"again {stage.name} {tensor}", validation
    )
    return folder / "r.html"


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """The second stage computes 3 * x in its line 10."""
    return explained(tmp_path_factory.mktemp("wrong"), GOOD, scaled_text(odd=3.0), GOOD)


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """Many good stages before one whose check of a tile's shape fails, so that the list scrolls."""
    return explained(tmp_path_factory.mktemp("failing"), *[GOOD] * 12, FAILING)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    build = compile_program(
        kernels.diamond(), tmp_path_factory.mktemp("graph"), compile_options({})
    ).directory
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        execute_compiled(build, [torch.ones(4, 8), torch.zeros(4, 8)], enable_dep_gen=True)
    return build / "dfx_outputs/deps_graph.html"


def window(width):
    return {"viewport": {"width": width, "height": 844 if width == 390 else 900}}


def is_in_view(page, locator):
    """Whether an element lies within the window, and in each box that scrolls around it."""
    return locator.evaluate(
        """node => {
            const own = node.getBoundingClientRect();
            for (let box = node.parentElement; box; box = box.parentElement) {
                const around = box.getBoundingClientRect();
                if (getComputedStyle(box).overflowY !== "visible"
                    && (own.top < around.top - 1 || own.bottom > around.bottom + 1)) return false;
            }
            return own.top >= 0 && own.bottom <= innerHeight;
        }"""
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_opens_at_its_headline(open_page, failing, wrong, width):
    for path in (failing, wrong):
        for place in ("", "#1.3", "#1.4"):
            page = open_page(path, place, **window(width))
            assert page.evaluate("scrollY") == 0
            assert is_in_view(page, page.locator("#headline-text"))
            because = page.locator("dt", has_text="because").first
            assert is_in_view(page, because) and is_in_view(page, because.locator("+ dd"))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("view", ["IR", "script"])
def test_the_line_that_is_wrong_is_marked_and_gone_to(open_page, wrong, width, view):
    page = open_page(wrong, **window(width))
    button = page.get_by_role("button", name=f"show {view} line")
    line = int(button.inner_text().split()[-1])
    button.click()
    marked = page.locator(".code-line.failed")
    assert marked.count() == 1 and int(marked.get_attribute("data-number")) == line
    assert "3.0" in marked.text_content() and is_in_view(page, marked)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_lines_of_an_error_are_marked_in_the_text_and_in_the_script(open_page, failing, width):
    page = open_page(failing, **window(width))
    number = next(n for n, text in enumerate(FAILING.splitlines(), 1) if "a: pl.Tensor[[8, 16]" in text)
    page.keyboard.press("3")
    marked = page.locator(".code-line.failed")
    assert marked.count() == 1 and marked.get_attribute("data-number") == str(number)
    assert is_in_view(page, marked)
    page.keyboard.press("4")
    marked = page.locator(".code-line.failed:visible")
    assert "_check_tensor" in marked.first.text_content() and is_in_view(page, marked.first)


def test_a_click_in_a_narrow_window_leads_to_the_stage(open_page, failing):
    page = open_page(failing, **window(390))
    page.get_by_role("option").nth(1).click()
    assert page.locator("#stage h2").inner_text() == "01_after_Pass1"
    assert is_in_view(page, page.locator("#stage h2"))


def test_an_error_stands_once_in_full(open_page, failing):
    page = open_page(failing)
    assert page.get_by_text("raise ValueError").count() == 1
    assert page.locator("#headline dd", has_text="ValueError: a: got shape").first.is_visible()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_graph_opens_whole_in_both_themes(open_page, graph, width, scheme):
    page = open_page(graph, ready="svg", color_scheme=scheme, **window(width))
    brightness = "sum = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    assert (page.evaluate(brightness) > 128) == (scheme == "light")
    frame = page.locator("main").bounding_box()
    assert page.locator(".node").count() == 4
    for box in (page.locator(".node").nth(n).bounding_box() for n in range(4)):
        assert frame["x"] <= box["x"] and box["x"] + box["width"] <= frame["x"] + frame["width"]
        assert frame["y"] <= box["y"] and box["y"] + box["height"] <= frame["y"] + frame["height"]
    # Text and what it stands on are light and dark, or dark and light.
    text, ground = page.evaluate(
        """() => {
            const numbers = (text) => text.match(/\\d+/g).map(Number);
            const style = (name) => numbers(getComputedStyle(document.querySelector(name)).fill);
            const sum = (colour) => colour[0] + colour[1] + colour[2];
            return [sum(style(".node text")), sum(style(".node rect"))];
        }"""
    )
    assert abs(text - ground) > 250
    page.locator("#list button").nth(2).click()
    assert "waits for: r1t0" in page.locator("#details").inner_text()
