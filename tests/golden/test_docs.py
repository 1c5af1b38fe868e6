"""docs/golden.md: its script runs and prints what the text shows."""

import contextlib
import io
import re
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/golden.md"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def normal(text):
    text = re.sub(r"\d+\.\d\ds", "T", text)
    return re.sub(r"max rel diff=[^;]*", "max rel diff=...", text).splitlines()


def test_the_script_of_the_document_prints_what_it_shows():
    namespace, printed, shown = {"__name__": "document"}, [], 0
    for kind, text in BLOCK.findall(DOCUMENT.read_text()):
        if kind == "text":
            assert printed == normal(text)
            shown += 1
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(DOCUMENT), "exec"), namespace)
        printed = normal(out.getvalue())
    assert shown == 4
