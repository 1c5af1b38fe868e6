"""The check of pipelines tells what computes the right values from what does not."""

import pipeline_check
import pytest
from corpus_check import default_corpus

from pypto_tmpl import backend

NAME, UNTIL = "mixed_c2v_none", "ConvertTensorToTileOps"


@pytest.fixture(autouse=True)
def no_backend():
    yield
    backend.reset_for_testing()


@pytest.fixture
def corpus(tmp_path):
    """A corpus of one program for one backend, which a test may change."""
    for part in (f"programs/{NAME}.py", f"dumps/{NAME}/Ascend910B"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).symlink_to(default_corpus() / part)
    return tmp_path


def check(corpus, capsys, *options):
    status = pipeline_check.main([str(corpus), *options])
    return status, capsys.readouterr().out.splitlines()


def test_stages_that_compute_what_they_should(corpus, capsys):
    status, lines = check(corpus, capsys, "--until", UNTIL, "--seeds", "1")
    good, _, total = lines[-1].partition("/")
    assert (status, len(lines)) == (0, 1)
    assert good == total and int(total) >= 4


def test_stages_with_cores_are_run_in_every_schedule(corpus, capsys, monkeypatch):
    def compare(program, entry):
        options = entry.__globals__
        is_strict = "_BOUNDED_PIPES" in options and "_RACE_CHECK" in options
        return "wrong" if is_strict and options["_SCHEDULE_SEED"] == 1 else None

    monkeypatch.setattr(pipeline_check, "compare_with_golden", compare)
    status, lines = check(corpus, capsys, "--until", "ExpandMixedKernel", "--seeds", "2")
    good, _, total = lines[-1].partition("/")
    assert status == 1 and int(total) == int(good) + 1
    assert lines[:-1] == [f"{NAME}/Ascend910B ExpandMixedKernel: schedule 1: wrong"]


def test_wrong_values_and_nothing_to_check_are_failures(corpus, capsys):
    path = corpus / "programs" / f"{NAME}.py"
    text = path.read_text()
    path.unlink()
    path.write_text(text + "\n\n_golden = golden\n\n\ndef golden(t):\n    t[OUTPUTS[0]].fill_(7)\n")
    status, lines = check(corpus, capsys, "--until", UNTIL, "--seeds", "1")
    assert status == 1 and lines[-1].startswith("0/")
    assert all("cells differ" in line for line in lines[:-1])
    assert check(corpus, capsys, "--only", "no such program") == (1, ["0/0"])
