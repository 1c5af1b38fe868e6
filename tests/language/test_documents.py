"""The scripts of docs/language.md and docs/jit.md run and print what the text shows."""

import contextlib
import io
import linecache
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("page", "count"), [("jit.md", 3), ("language.md", 4)])
def test_the_script_of_a_page_prints_what_it_shows(page: str, count: int) -> None:
    namespace: dict[str, object] = {"__name__": "document"}
    printed, shown = "", 0
    for kind, text in BLOCK.findall((DOCS / page).read_text()):
        if kind == "text":
            assert printed.rstrip() == text.rstrip()
            shown += 1
            continue
        name = f"<{page}, block {shown}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, name, "exec"), namespace)
        printed = out.getvalue().replace(name, "example.py")
    assert shown == count
