"""Every program of the corpus, imported as it is, builds the IR that PyPTO's own front end dumped."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import compat, ir

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
PROGRAMS = sorted((CORPUS / "programs").glob("*.py"))


def imported(path: Path) -> ModuleType:
    """The module of a program, its imports of PyPTO answered."""
    spec = importlib.util.spec_from_file_location(f"corpus_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with compat.answering():
        spec.loader.exec_module(module)
    return module


def program_of(path: Path) -> ir.Program:
    """The program of a module; that of a JIT kernel for the inputs that the module makes."""
    module = imported(path)
    found = module.PROGRAM
    if isinstance(found, pl.JITFunction):
        found = found.specialize(*module.make_inputs().values())
    assert isinstance(found, ir.Program)
    return found


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_equals_its_first_dump(path: Path) -> None:
    dumps = sorted((CORPUS / "dumps" / path.stem).glob("*/00_frontend.msgpack"))
    assert dumps
    program = program_of(path)
    for dump in dumps:
        assert ir.structural_diff(program, ir.deserialize_from_file(str(dump))) is None


def test_the_corpus_is_there() -> None:
    assert len(PROGRAMS) == 33


@pytest.mark.parametrize(
    "options", [{"concise": True}, {"explicit_layout": True}], ids=["concise", "explicit"]
)
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_prints_as_text_of_itself(path: Path, options: dict[str, bool]) -> None:
    program = program_of(path)
    text = ir.python_print(program, format=False, **options)
    assert ir.structural_diff(pl.parse(text), program) is None
    as_source = text.partition("\n")[2]  # without the header line it is read as a user's text
    assert ir.structural_diff(pl.parse(as_source), program) is None
