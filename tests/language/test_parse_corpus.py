"""Real dumps read to the IR of the msgpack beside them."""

import os
from pathlib import Path

import pytest
from corpus_check import Dump, default_corpus, find_dumps

import pypto_tmpl.language as pl
from pypto_tmpl import ir

DUMPS = find_dumps(default_corpus(), ".py")
SOME = DUMPS[:: max(1, len(DUMPS) // 25)]

pytestmark = pytest.mark.corpus


def binary_of(dump: Dump) -> ir.Program | ir.Function | None:
    """The IR beside a text, None where there is none or where text cannot carry it."""
    path = dump.path.with_suffix(".msgpack")
    if not path.exists() or dump.is_excused("text"):
        return None
    return ir.deserialize_from_file(str(path))


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_text_reads_to_the_same_ir_and_prints_again(dump: Dump) -> None:
    program = pl.loads(dump.path)
    assert ir.python_print(program, format=False).rstrip("\n") == dump.path.read_text().rstrip("\n")
    binary = binary_of(dump)
    assert binary is None or ir.structural_diff(program, binary) is None


@pytest.mark.parametrize("options", [{"explicit_layout": True}, {"prefix": "X"}], ids=["explicit", "prefix"])
@pytest.mark.parametrize("dump", SOME, ids=str)
def test_other_texts_of_a_dump_read_to_the_same_ir(dump: Dump, options: dict) -> None:
    program = pl.loads(dump.path)
    text = ir.python_print(program, format=False, **options)
    assert ir.structural_diff(pl.parse(text), program) is None


@pytest.mark.parametrize("dump", SOME, ids=str)
def test_formatted_text_reads_to_the_same_ir(dump: Dump) -> None:
    program = pl.loads(dump.path)
    assert ir.structural_diff(pl.parse(ir.python_print(program, format=True)), program) is None


@pytest.mark.parametrize("dump", SOME, ids=str)
def test_names_need_no_header_to_be_scoped_right(dump: Dump) -> None:
    """Without the header line of printed text, names follow the scopes of the language."""
    program = pl.loads(dump.path)
    body = dump.path.read_text().partition("\n")[2]
    assert ir.structural_diff(pl.parse(body), program) is None


def test_line_ends_byte_order_mark_and_locale_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = pl.loads(DUMPS[0].path)
    text = DUMPS[0].path.read_text()
    path = tmp_path / "dump.py"
    monkeypatch.setattr(os, "linesep", "\r\n")
    monkeypatch.setattr("locale.getencoding", lambda: "cp1252")
    for ending in ("\n", "\r\n", "\r"):
        path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", ending).encode())
        assert ir.structural_diff(pl.loads(path), program) is None
    assert ir.structural_diff(pl.parse("\ufeff" + text), program) is None


def test_reading_does_not_run_the_text(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    text = f"from pathlib import Path\nPath({str(marker)!r}).touch()\n" + DUMPS[0].path.read_text()
    with pytest.raises(pl.UnsupportedFeatureError):
        pl.parse(text)
    assert not marker.exists()
