"""Dumps and scripts are UTF-8 with the line ends they have, in whatever locale they are read and written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import ir

COMMENT = "größe 漢 \N{GRINNING FACE}"
TEXT = f"""# pypto.program: Sample
import pypto.language as pl

@pl.program
class Sample:
    @pl.function
    def main(self, x: pl.Tensor[[4], pl.FP32], größe: pl.Scalar[pl.INDEX]) -> pl.Tensor[[4], pl.FP32]:
        # {COMMENT}
        y: pl.Tensor[[4], pl.FP32] = pl.tensor.exp(x)
        return y
"""
LOCALES = {
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "cp1252": {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    "UTF-8": {"LC_ALL": "C.UTF-8"},
}


def run(locale: str, *args: object) -> bytes:
    command = [sys.executable, "-m", "pypto_tmpl", *map(str, args)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **LOCALES[locale]}
    done = subprocess.run(command, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


@pytest.mark.parametrize("locale", LOCALES)
def test_print_reads_and_writes_utf_8(locale: str, tmp_path: Path) -> None:
    source, target = tmp_path / "dump.py", tmp_path / "again.py"
    source.write_bytes(TEXT.encode())
    assert run(locale, "print", source) == TEXT.encode()
    run(locale, "print", source, "-o", target)
    assert target.read_bytes() == TEXT.encode()


def test_emitted_scripts_do_not_depend_on_the_locale(tmp_path: Path) -> None:
    source = tmp_path / "dump.py"
    source.write_bytes(TEXT.encode())
    scripts = {run(locale, "gen", source, "--no-format") for locale in ("cp1252", "UTF-8")}
    assert len(scripts) == 1
    assert "größe".encode() in scripts.pop()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"], ids=["LF", "CR LF", "CR"])
def test_line_ends_and_marks_do_not_change_what_is_read(mark: bytes, ending: bytes, tmp_path: Path) -> None:
    path = tmp_path / "dump.py"
    path.write_bytes(mark + TEXT.encode().replace(b"\n", ending))
    node = pl.loads(path)
    assert ir.python_print(node).rstrip("\n") + "\n" == TEXT
    assert ir.structural_diff(node, pl.parse(TEXT)) is None


def test_written_files_do_not_depend_on_the_platform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pypto_tmpl.files import write_text

    monkeypatch.setattr(os, "linesep", "\r\n")
    monkeypatch.setattr("locale.getencoding", lambda: "cp1252")
    monkeypatch.setattr("locale.getpreferredencoding", lambda do_setlocale=True: "cp1252")
    path = tmp_path / "dump.py"
    write_text(path, TEXT)
    assert path.read_bytes() == TEXT.encode()
    assert ir.python_print(pl.loads(path)).rstrip("\n") + "\n" == TEXT
