"""One browser for the tests of pages, which one worker runs."""

import os
import shutil

import pytest

CHROMIUM = os.environ.get("PYPTO_TMPL_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")

# The last ones keep a browser from looking for its maker's hosts.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser():
    if not CHROMIUM:
        pytest.skip("no chromium on PATH, nor in PYPTO_TMPL_CHROMIUM")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (extra 'browser')"
    )
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=600_000)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser):
    """Opens a file; the test fails if the page reports anything or asks for anything else."""
    problems, contexts = [], []

    def opened(path, place="", ready="html[data-ready=yes]", **options):
        options = {"color_scheme": "light", "viewport": {"width": 1400, "height": 900}} | options
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(600_000)  # for a page that hangs; the machine may have other work
        page.on("console", lambda message: message.type == "error" and problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or problems.append(request.url))
        page.goto(f"{path.as_uri()}{place}")
        page.wait_for_selector(ready)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []
