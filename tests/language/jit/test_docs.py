"""docs/jit.md: its script runs and prints what the text shows."""

import contextlib
import io
import linecache
import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[3] / "docs/jit.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_script_of_the_document_prints_what_it_shows():
    namespace, printed, shown = {"__name__": "document"}, "", 0
    for kind, text in BLOCK.findall(DOCUMENT.read_text()):
        if kind == "text":
            assert printed.rstrip() == text.rstrip()
            shown += 1
            continue
        name = f"<block {shown}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, name, "exec"), namespace)
        printed = out.getvalue().replace(name, "example.py")
    assert shown == 3
