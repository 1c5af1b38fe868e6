"""Whatever is done to a text, reading it gives IR or a diagnostic: nothing else, and soon."""

import re
import time
from typing import Any

import pytest
from corpus_check import default_corpus, find_dumps
from drawn_examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ir.strategies import programs

import pypto_tmpl.language as pl
from pypto_tmpl import ir

DUMPS = find_dumps(default_corpus(), ".py")
TEXTS = [dump.path.read_text() for dump in DUMPS[:: max(1, len(DUMPS) // 40)]]
TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
TOKENS = sorted({token for text in TEXTS for token in TOKEN.findall(text)})
PIECES = [
    "None", "True", "0", "-1", "1e999", "99999999999999999999", '"x"', "b'x'", "1j", "[]", "()", "{}", "...",
    "lambda: 0", "x if x else y", "*x", "**x", 'f"{x}"', "self", "pl", "pl.Tensor", "pl.Mem.Vec", "pl.FP32",
    "pl.const(1, pl.INT8)", "pl.yield_(x)", "[x for x in y]", "(x := y)", "not x", "a.b.c", "inf", "x[0]",
    'pl.MemRef("a")', "pl.MemRef()", "pl.TileView()", 'pl.dynamic("N")', "pl.submit(self.f)", "x__FREE_VAR",
]  # fmt: skip
CHARACTERS = st.sampled_from("()[]{},.:=+-*/%<>!&|^~@#\"'\\ \n\t\r\0abc019_é\u200b\ud800\U0001f600")
CPU_SECONDS = 10.0  # a text takes milliseconds; a mutation that takes this long has found a loop

fuzzed = settings(max_examples=examples(300), suppress_health_check=[HealthCheck.too_slow])


@st.composite
def mutated(draw: Any) -> str:
    """A real dump, changed in one to four places: characters, tokens or lines."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from([_character, _cut, _token, _swap, _line, _splice]))(draw, text)
    return text


def _at(draw: Any, parts: Any) -> int:
    return draw(st.integers(0, max(0, len(parts) - 1)))


def _character(draw: Any, text: str) -> str:
    i = _at(draw, text)
    return text[:i] + draw(CHARACTERS) + text[i:]


def _cut(draw: Any, text: str) -> str:
    i = _at(draw, text)
    return text[:i] + text[i + draw(st.integers(1, 30)) :]


def _token(draw: Any, text: str) -> str:
    tokens = TOKEN.findall(text) or [""]
    tokens[_at(draw, tokens)] = draw(st.sampled_from(TOKENS) | st.sampled_from(PIECES))
    return "".join(tokens)


def _swap(draw: Any, text: str) -> str:
    tokens = TOKEN.findall(text) or [""]
    i, j = _at(draw, tokens), _at(draw, tokens)
    tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def _line(draw: Any, text: str) -> str:
    lines = text.split("\n")
    i, j = _at(draw, lines), _at(draw, lines)
    match draw(st.sampled_from(["swap", "repeat", "drop", "indent"])):
        case "swap":
            lines[i], lines[j] = lines[j], lines[i]
        case "repeat":
            lines.insert(j, lines[i])
        case "drop":
            del lines[i]
        case _:
            lines[i] = "    " + lines[i]
    return "\n".join(lines)


def _splice(draw: Any, text: str) -> str:
    lines, other = text.split("\n"), draw(st.sampled_from(TEXTS)).split("\n")
    i, j = _at(draw, lines), _at(draw, other)
    return "\n".join([*lines[:i], *other[j : j + draw(st.integers(1, 5))], *lines[i:]])


def read(text: str) -> ir.Program | ir.Function | None:
    """What a text reads as, None where it is refused."""
    start = time.process_time()
    try:
        return pl.parse(text)
    except pl.ParserError as error:
        assert str(error).startswith("error[E")
        assert error.__cause__ is None or not isinstance(error.__cause__, AssertionError)
        return None
    finally:
        assert time.process_time() - start < CPU_SECONDS


@fuzzed
@given(mutated())
def test_changed_dumps(text: str) -> None:
    read(text)


@fuzzed
@given(mutated())
def test_what_is_read_of_a_changed_dump_prints_and_reads_again(text: str) -> None:
    program = read(text)
    if program is None:
        return
    try:
        printed = ir.python_print(program, format=False)
    except ir.PrintError:
        return
    again = read(printed)
    # A branch whose sides yield different names prints a yield of one value for two names.
    assert again is not None or "Mismatch" in str(pytest.raises(pl.ParserError, pl.parse, printed).value)


@fuzzed
@given(st.text(max_size=200) | st.text("()[]{}:,.=@'\"#\\ \nabpl0\t", max_size=300))
def test_any_text(text: str) -> None:
    read(text)


@fuzzed
@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "d.py"
    path.write_bytes(data)
    with pytest.raises(pl.ParserError):
        pl.loads(path)


@settings(
    max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(programs())
def test_the_text_of_any_program(program: ir.Program) -> None:
    """Programs that no verifier would pass print all the same; their text is read or refused."""
    try:
        text = ir.python_print(program, format=False)
    except ir.PrintError:
        return
    read(text)
