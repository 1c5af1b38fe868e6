"""Which of its two files a stage is read from, and what is said about it."""

import pytest
from scaled_dumps import inputs, scaled_text

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug.stages import preparation
from pypto_tmpl.debug.stages.dumps import StageContent
from pypto_tmpl.debug.stages.preparation import Request, StageReadError, prepare

REQUEST = Request(frozenset(inputs()))


def printed(text):
    return ir.python_print(pl.parse(text), format=False)


def content(text=None, binary=None):
    """A stage of these two files; ``binary`` is the text of the program that the companion holds."""
    data = None if binary is None else ir.serialize(pl.parse(binary))
    raw = text.encode() if isinstance(text, str) else text
    return StageContent("01_after_A", "d/01_after_A.py", raw, "d/01_after_A.msgpack", data)


@pytest.fixture
def no_text_parses(monkeypatch):
    """Make the reader refuse every text from now on, as it refuses Buffer text."""

    def refuse(code, filename):
        raise pl.ParserSyntaxError("buffers are no part of the language")

    return lambda: monkeypatch.setattr(preparation.pl, "parse", refuse)


def test_the_text_comes_first():
    found = prepare(content(scaled_text(3.0), scaled_text(2.0)), REQUEST)
    assert (found.read_from, found.note, found.is_from_text) == ("d/01_after_A.py", "", True)
    assert (
        "* 3.0" in found.script.text and "* 2.0" in found.script.text
    )  # even rows as edited, odd rows as they were
    assert (found.name, found.entry.name) == ("<pypto_tmpl scaled 01_after_A>", "main")


@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
def test_line_ends_and_a_byte_order_mark_do_not_matter(ends):
    raw = b"\xef\xbb\xbf" + scaled_text(3.0).encode().replace(b"\n", ends)
    assert prepare(content(raw), REQUEST).read_from == "d/01_after_A.py"


def test_without_a_text_the_binary_is_read():
    found = prepare(content(None, scaled_text()), REQUEST)
    assert (found.read_from, found.note, found.is_from_text) == ("d/01_after_A.msgpack", "", False)


@pytest.mark.parametrize("ends", ["", "\n", "\r\n\r\n"])
def test_a_text_that_does_not_parse_as_it_was_written_gives_way_to_the_companion(no_text_parses, ends):
    stage = content(printed(scaled_text()).rstrip() + ends, scaled_text())
    no_text_parses()
    found = prepare(stage, REQUEST)
    assert (found.read_from, found.is_from_text) == ("d/01_after_A.msgpack", False)
    assert found.note == "the text does not parse (buffers are no part of the language)"


def test_a_text_that_was_edited_and_does_not_parse_is_reported():
    text = printed(scaled_text()).replace("a: pl.Tensor", "a pl.Tensor")
    with pytest.raises(pl.ParserError) as reason:
        pl.parse(text, "d/01_after_A.py")
    with pytest.raises(StageReadError) as caught:
        prepare(content(text, scaled_text()), REQUEST)
    assert str(caught.value) == (
        "error[stage]: d/01_after_A.py was edited and does not parse; its companion was not run instead\n"
        f"{reason.value}"
    )
    assert "d/01_after_A.py:9:15" in str(reason.value)


def test_a_text_of_other_bytes_was_edited():
    raw = printed(scaled_text()).encode() + b"# \xff\n"
    with pytest.raises(StageReadError) as caught:
        prepare(content(raw, scaled_text()), REQUEST)
    assert caught.value.what.startswith("d/01_after_A.py was edited and does not parse")


def test_a_text_that_does_not_parse_and_has_no_companion_is_reported():
    with pytest.raises(StageReadError) as caught:
        prepare(content("x = \n"), REQUEST)
    first, second, *_ = str(caught.value).splitlines()
    assert first == "error[stage]: d/01_after_A.py does not parse and has no companion"
    assert second.startswith("error[E001]: ")


def test_both_files_may_be_damaged():
    stage = StageContent("01_after_A", "d/01_after_A.py", b"x = \n", "d/01_after_A.msgpack", b"\xc1")
    with pytest.raises(StageReadError) as caught:
        prepare(stage, REQUEST)
    text = str(caught.value)
    assert text.startswith("error[stage]: d/01_after_A.py does not parse\nerror[E001]: ")
    assert "\nd/01_after_A.msgpack is damaged\nerror[wire-" in text


def test_a_damaged_binary_alone_is_reported():
    data = ir.serialize(pl.parse(scaled_text()))[:100]
    with pytest.raises(StageReadError) as caught:
        prepare(StageContent("01_after_A", "", None, "d/01_after_A.msgpack", data), REQUEST)
    assert str(caught.value) == (
        "error[stage]: d/01_after_A.msgpack is damaged\n"
        "error[wire-truncated]: the data ends before the value does\n"
        "  --> byte 100"
    )


def test_a_binary_that_is_no_program_is_reported():
    data = ir.serialize(ir.ConstInt(1, ir.DataType.INDEX, ir.Span.unknown()))
    with pytest.raises(StageReadError) as caught:
        prepare(StageContent("01_after_A", "", None, "d/01_after_A.msgpack", data), REQUEST)
    assert str(caught.value) == (
        "error[stage]: d/01_after_A.msgpack holds a ConstInt, not a program or function"
    )


def test_a_text_with_an_op_that_is_not_supported_gives_way_to_the_companion():
    found = prepare(content(printed(scaled_text()).replace("muls", "mulls"), scaled_text()), REQUEST)
    assert found.read_from == "d/01_after_A.msgpack"
    assert found.note == (
        "the text cannot be emitted (operator 'tensor.mulls' is not in the op table (function 'main', "
        "variable 'a', d/01_after_A.py:9:46), and 1 more); it differs from what the companion prints, "
        "and these edits do not count"
    )


def test_the_error_of_the_text_is_told_where_the_companion_does_not_help_either():
    broken = scaled_text().replace("muls", "mulls")
    for binary in (None, broken):
        with pytest.raises(UnsupportedProgramError) as caught:
            prepare(content(broken, binary), REQUEST)
        assert "d/01_after_A.py:9:46" in str(caught.value)


def test_the_named_entry_is_prepared():
    text = scaled_text() + scaled_text(name="other").partition("class Scaled:\n")[2]
    found = prepare(content(text), Request(frozenset(inputs()), "other"))
    assert found.entry.name == "other"
