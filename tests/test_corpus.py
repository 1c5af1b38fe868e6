"""The dumps of this repository hold: what is read is written again, what is emitted computes golden.

``tests/corpus`` has the programs that are kept as golden scripts, ``tests/pass_corpus`` stages of
others in which something is printed, read or run that those do not have.
"""

from pathlib import Path

import pytest
from corpus_check import Dump, check_run, check_text, check_wire, find_dumps

HERE = Path(__file__).resolve().parent
CORPORA = [HERE / "corpus", HERE / "pass_corpus"]
BINARY_DUMPS = [dump for corpus in CORPORA for dump in find_dumps(corpus, ".msgpack")]
TEXT_DUMPS = [dump for corpus in CORPORA for dump in find_dumps(corpus, ".py")]

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("dump", BINARY_DUMPS, ids=str)
def test_wire_form_is_kept(dump: Dump) -> None:
    assert check_wire(dump) is None


@pytest.mark.parametrize("dump", TEXT_DUMPS, ids=str)
def test_text_is_printed_again_and_reads_as_the_binary_form(dump: Dump) -> None:
    assert check_text(dump) is None


@pytest.mark.parametrize("dump", BINARY_DUMPS, ids=str)
def test_emitted_script_computes_golden(dump: Dump) -> None:
    assert check_run(dump) is None


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.name)
def test_corpus_is_complete(corpus: Path) -> None:
    programs = {path.stem for path in (corpus / "programs").glob("*.py")}
    for suffix in (".msgpack", ".py"):
        assert {dump.program for dump in find_dumps(corpus, suffix)} == programs
