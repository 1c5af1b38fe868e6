"""docs/golden.md: its script runs and prints what the text shows."""

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main
from pypto_tmpl.compat import run_script

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/golden.md"
TUTORIAL, REFERENCE = DOCUMENT.read_text().split("\n## Step by step, from Python\n")
BLOCK = re.compile(r"^```(python|text|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def normal(text):
    text = re.sub(r"\d+\.\d\ds", "T", text)
    return re.sub(r"max rel diff=[^;]*", "max rel diff=...", text).splitlines()


def test_the_script_of_the_document_prints_what_it_shows():
    namespace, printed, shown = {"__name__": "document"}, [], 0
    for kind, text in BLOCK.findall(REFERENCE):
        if kind == "text":
            assert printed == normal(text)
            shown += 1
            continue
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, str(DOCUMENT), "exec"), namespace)
        printed = normal(out.getvalue())
    assert shown == 4


def commands():
    """The commands of the tutorial: their words, and what they print; ``...`` stands for any lines."""
    for kind, text in BLOCK.findall(TUTORIAL):
        if kind == "console":
            first, _, shown = text.partition("\n")
            yield shlex.split(first.removeprefix("$ ")), normal(shown)


def executed(words, capsys):
    """Exit status of a command and what it prints, in this process."""
    if words[0] == "pypto-tmpl":
        done = CliRunner().invoke(main, words[1:])
        return done.exit_code, normal(done.output)
    assert words[0] == "python"
    status = run_script(words[1], words[2:])
    return status, normal(capsys.readouterr().out)


def pattern(shown):
    """What matches the lines of a command's output; it may go on after them."""
    text = "\n".join("(?:.*\n)*?.*" if line == "..." else re.escape(line) for line in shown)
    return re.compile(re.sub(r"(?<=max\\ abs\\ diff=)\\.\\.\\.", ".*", text))


@pytest.fixture
def without_sibling_modules(monkeypatch):
    """The kernel file is not left among the imported modules."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def test_the_tutorial_from_an_empty_file_to_a_validated_kernel(capsys, without_sibling_modules):
    file = Path("softmax.py")
    file.write_text("\n\n".join(text for kind, text in BLOCK.findall(TUTORIAL) if kind == "python"))
    wrong, looked_at, right = commands()
    for (words, shown), expected in ((wrong, 1), (looked_at, 1), (right, 0)):
        if expected == 0:
            text = file.read_text()
            assert text.count("pl.row_max(e)") == 1  # the mistake that the text speaks of
            file.write_text(text.replace("pl.row_max(e)", "pl.row_sum(e)"))
        status, printed = executed(words, capsys)
        assert status == expected, printed
        assert pattern(shown).match("\n".join(printed)), printed
    assert "<html" in Path("softmax.html").read_text()
