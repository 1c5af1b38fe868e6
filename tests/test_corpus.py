"""The dumps in tests/corpus hold: their wire form is kept, and what they emit computes their golden."""

from pathlib import Path

import pytest
from corpus_check import Dump, check_run, check_wire, find_dumps

BINARY_DUMPS = find_dumps(Path(__file__).resolve().parent / "corpus", ".msgpack")

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("dump", BINARY_DUMPS, ids=str)
def test_wire_form_is_kept(dump: Dump) -> None:
    assert check_wire(dump) is None


@pytest.mark.parametrize("dump", BINARY_DUMPS, ids=str)
def test_emitted_script_computes_golden(dump: Dump) -> None:
    assert check_run(dump) is None


def test_corpus_is_complete() -> None:
    programs = {path.stem for path in (BINARY_DUMPS[0].corpus / "programs").glob("*.py")}
    assert {dump.program for dump in BINARY_DUMPS} == programs
