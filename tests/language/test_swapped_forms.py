"""A binary dump given where text is read, and text where the binary form is: the error says which it is."""

from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.ir.wire import WireError
from pypto_tmpl.language.diagnostics import PythonSyntaxError

TEXT = """# pypto.program: P
import pypto.language as pl

@pl.program
class P:
    @pl.function
    def f(self, x: pl.Scalar[pl.INDEX]) -> pl.Scalar[pl.INDEX]:
        return x
"""
BLOB = ir.serialize(pl.parse(TEXT))


def test_a_binary_dump_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "f.msgpack"
    file.write_bytes(BLOB)
    with pytest.raises(PythonSyntaxError) as caught:
        pl.loads(file)
    assert str(caught.value) == (
        f"error[E001]: Failed to compile code from {file}: "
        "it is a binary dump (.msgpack), and a text is expected\n"
        f"  --> {file}:1:1\n"
        "   = hint: read it with ir.deserialize_from_file"
    )


def test_text_is_no_binary_dump(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_text(TEXT)
    with pytest.raises(WireError) as caught:
        ir.deserialize_from_file(file)
    assert str(caught.value) == (
        "error[wire-text]: this is text, and the binary form is expected\n"
        f"  --> {file}: byte 0\n"
        "   = pl.loads reads a file of text, pl.parse the text itself"
    )


@pytest.mark.parametrize(
    "data", [TEXT.encode(), b"\xef\xbb\xbf" + TEXT.encode(), "# Größe\nx = 1".encode(), b"\r\n\tx", b"{}"]
)
def test_text_of_any_kind_is_told(data: bytes) -> None:
    with pytest.raises(WireError, match="this is text"):
        ir.deserialize(data)


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x01\x02", b"\x80", BLOB[:40], b"#\x00\x01", b"\xc3\xa4"])
def test_other_bytes_are_no_text(data: bytes) -> None:
    with pytest.raises(WireError) as caught:
        ir.deserialize(data)
    assert caught.value.error_slug != "wire-text"


def test_values_of_the_other_kind() -> None:
    with pytest.raises(TypeError, match=r"^deserialize takes bytes, got str; a text is read with pl\.parse$"):
        ir.deserialize(TEXT)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^deserialize takes bytes, got int$"):
        ir.deserialize(3)  # type: ignore[arg-type]
    message = "pl.parse takes text, got bytes; this is a binary dump, which ir.deserialize reads"
    with pytest.raises(TypeError, match=f"^{message}$"):
        pl.parse(BLOB)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^pl\.parse takes text, got bytes$"):
        pl.parse(TEXT.encode())  # type: ignore[arg-type]


def test_text_with_a_wrong_byte_is_told_as_before(tmp_path: Path) -> None:
    file = tmp_path / "f.py"
    file.write_bytes(b"# \xff\n")
    with pytest.raises(PythonSyntaxError, match="save the file as UTF-8"):
        pl.loads(file)
