"""Encodings, line ends, and what Python's parser gives up on: always one clear diagnostic."""

import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

HEAD = "import pypto.language as pl\n@pl.function\ndef f(n: pl.Scalar[pl.INDEX]):\n"
GOOD = HEAD + "    # ä\n    return n\n"


def error_of(text: str) -> pl.ParserError:
    with pytest.raises(pl.ParserError) as caught:
        pl.parse(text, filename="d.py")
    return caught.value


@pytest.mark.parametrize(
    ("data", "message", "place"),
    [
        (b"a = 1\n# \xff\n", "the byte 0xff is no utf-8 text", (2, 3)),
        (b"# coding: nonsense\n", "unknown encoding: nonsense", (1, 1)),
        (b"\xef\xbb\xbf# coding: latin-1\n", "encoding problem: utf-8", (1, 1)),
        (b"# coding: ascii\n\xc3\xa4 = 1\n", "the byte 0xc3 is no ascii text", (2, 1)),
        ("a = 1\n".encode("utf-16"), "invalid or missing encoding declaration", (1, 1)),
    ],
)
def test_wrong_bytes(tmp_path: Path, data: bytes, message: str, place: tuple[int, int]) -> None:
    path = tmp_path / "d.py"
    path.write_bytes(data)
    with pytest.raises(pl.PythonSyntaxError) as caught:
        pl.loads(path)
    assert caught.value.message == f"Failed to compile code from {path}: {message}"
    assert (caught.value.lineno, caught.value.offset) == place


def test_wrong_bytes_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "d.py"
    path.write_bytes("a = 1\r\n# ä ".encode() + b"\xff!\r\n")
    with pytest.raises(pl.PythonSyntaxError) as caught:
        pl.loads(path)
    assert (caught.value.lineno, caught.value.offset) == (2, 5)
    assert "   |\n 2 | # ä \ufffd!\n   |     ^\n" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252"])
def test_declared_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "d.py"
    declared = "" if encoding.startswith("utf-8") else f"# -*- coding: {encoding} -*-\n"
    path.write_bytes((declared + GOOD).encode(encoding))
    function = pl.loads(path)
    assert function.body.leading_comments == ("ä",)


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_ends(ending: str) -> None:
    function = pl.parse(GOOD.replace("\n", ending))
    assert ir.structural_equal(function, pl.parse(GOOD))
    assert function.body.span.begin_line == 5
    error = error_of((HEAD + "    return m\n").replace("\n", ending))
    assert error.source_lines[3] == "    return m"


PYTHON_ERRORS = [
    ("a = (1\n", "'(' was never closed", (1, 5)),
    ("a = 1\n  b = 2\n", "unexpected indent", (2, 1)),
    ("a = '\0'\n", "a null byte cannot stand in source text", (1, 6)),
    ("a = 1\nb = '\ud800'\n", "a lone surrogate cannot stand in source text", (2, 6)),
    ("a = " + "(" * 300 + ")" * 300 + "\n", "too many nested parentheses", (1, 204)),
    ("a = " + "9" * 5000 + "\n", None, (1, 5)),
    ("a = 'x\n", None, (1, 5)),
]


@pytest.mark.parametrize("case", PYTHON_ERRORS, ids=lambda case: case[0][:20])
def test_what_python_cannot_parse(case) -> None:
    text, message, place = case
    error = error_of(text)
    assert type(error) is pl.PythonSyntaxError
    assert error.message.startswith("Failed to compile code from d.py: ")
    if message is not None:
        assert error.message == f"Failed to compile code from d.py: {message}"
    assert (error.lineno, error.filename) == (place[0], "d.py")
    assert error.span["line"] == place[0]
    shown = "".join(traceback.format_exception_only(error))
    assert "d.py" in shown
    assert "Failed to compile" in shown


DEEP = {
    "minus": "return {}n", "not": "return {}(n == 0)", "index": "return n{}", "attribute": "return pl{}",
    "call": "return n{}", "sum": "return n{}", "power": "return n{}", "choice": "return {}n",
    "branch": "if n == 0:\n        pass\n{}",
}  # fmt: skip
PARTS = {
    "minus": "-", "not": "not ", "index": "[0]", "attribute": ".a", "call": "()", "sum": " + n",
    "power": " ** n", "choice": "n if n else ", "branch": "    elif n == 1:\n        pass\n",
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("depth", [300, 900, 5_000, 50_000])
def test_depth_ends_in_a_diagnostic(name: str, depth: int) -> None:
    text = HEAD + "    " + DEEP[name].format(PARTS[name] * min(depth, 20_000)) + "\n"
    try:
        pl.parse(text, filename="d.py")
    except pl.ParserError as error:
        assert error.message
        assert len(str(error)) < 2_000


def test_depth_says_what_to_do() -> None:
    error = error_of(HEAD + "    return " + "-" * 5_000 + "n\n")
    assert error.message == "Failed to compile code from d.py: the text is nested too deeply"
    assert error.hint == "bind parts of the expression to names of their own"
    assert error.span["line"] == 4


def test_depth_does_not_end_the_process() -> None:
    """Running out of C stack cannot be caught, so the deepest texts go to a process of their own."""
    script = (
        "import pypto_tmpl.language as pl\n"
        f"head = {HEAD!r}\n"
        "for part in ('-', 'not ', '(', '[', 'lambda: ', 'n if n else ', 'n, ', '{1: ', 'f(', '~'):\n"
        "    for depth in (10_000, 100_000):\n"
        "        try:\n"
        "            pl.parse(head + '    return ' + part * depth + 'n\\n')\n"
        "        except pl.ParserError:\n"
        "            pass\n"
        "for part in ('.a', '()', '[0]', ' + n', ' ** n', ' and n', ' < n', ' or n', ', n', ' @ n'):\n"
        "    for depth in (10_000, 100_000):\n"
        "        try:\n"
        "            pl.parse(head + '    return n' + part * depth + '\\n')\n"
        "        except pl.ParserError:\n"
        "            pass\n"
        "print('alive')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "alive\n", done.stderr[-2_000:]


@pytest.mark.parametrize(
    "text",
    [
        "1 << 1000000000000",
        "2 ** 1000000000000",
        "((2 ** 1000) ** 1000) ** 1000",
        "1e300 ** 1e300",
        "(-8) ** 0.5",
        "1 // 0",
        "1 % 0",
        "1.0 / 0",
        "1 << -1",
        "0 ** -1",
        "0x" + "f" * 100_000,
        "10 ** 5000",
    ],
    ids=lambda text: text[:30],
)
def test_numbers_that_take_too_long_or_do_not_exist(text: str) -> None:
    error = error_of(HEAD + f"    return {text}\n")
    assert error.span["line"] == 4


def test_wide_texts_are_read() -> None:
    function = pl.parse(HEAD + "    return " + ", ".join(["n"] * 20_000) + "\n")
    assert len(function.body.value) == 20_000
    joined = pl.parse(HEAD + "    return n == 0" + " and n == 0" * 500 + "\n")
    assert isinstance(joined.body.value[0], ir.And)
