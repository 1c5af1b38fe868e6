"""The site of the documentation: every page is in it, and it is built without a warning."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"


def test_every_page_stands_in_the_list_of_pages():
    trees = re.findall(r"```\{toctree\}\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)
    listed = {line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")}
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md")}
    assert listed == pages - {"index"}


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("sphinx", reason="make docs installs it")
    pytest.importorskip("furo", reason="make docs installs it")
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-d", str(tmp_path / "doctrees"), str(DOCS)]
    done = subprocess.run([*command, str(tmp_path / "site")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert "tile.matmul_acc" in (site / "ops.html").read_text()
    assert "first_divergence" in (site / "api/debug.html").read_text()
    for page in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="(https?://[^"]+)', page.read_text())
        assert loaded == [], page
