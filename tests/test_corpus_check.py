"""The corpus checker itself: on a corpus of one program, with scripts written by hand."""

import os
import time
from pathlib import Path

import corpus_check
import pytest
import torch
from corpus_check import Dump, find_dumps, run_script, tensor_difference, text_difference
from process_pool import run_all

PROGRAM = """
import torch
from math import sqrt

import pypto.language as pl

SIZE, DYNAMIC = 4, pl.dynamic("N")
ROOT = sqrt(SIZE)


@pl.program
class Kernel:
    pass


PROGRAM, ENTRY = Kernel, "kernel"
OUTPUTS = ["out", "count"]


def make_inputs(seed=0):
    return {
        "x": torch.arange(SIZE) / ROOT,
        "out": torch.zeros(SIZE),
        "count": torch.zeros(1, dtype=torch.int64),
    }


def golden(t):
    t["out"][:2] = t["x"][:2] * 2
    t["count"][:] = 2**60
"""

RIGHT = """
def kernel(x, out, count):
    out[:2] = x[:2] + x[:2]
    count[:] = 2**60
"""


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "tiny.py").write_text(PROGRAM)
    folder = tmp_path / "dumps" / "tiny" / "Ascend910B"
    folder.mkdir(parents=True)
    (folder / "07_after_Something.py").write_text("text")
    (folder / "00_frontend.py").write_text("text")
    return find_dumps(tmp_path, ".py")[-1]


def test_dumps_are_found_in_order_and_by_substring(dump: Dump) -> None:
    names = [found.path.name for found in find_dumps(dump.corpus, ".py")]
    assert names == ["00_frontend.py", "07_after_Something.py"]
    assert find_dumps(dump.corpus, ".py", "Something") == [dump]
    assert find_dumps(dump.corpus, ".msgpack") == []
    assert (dump.program, dump.stage_number) == ("tiny", 7)
    assert str(dump) == "tiny/Ascend910B/07_after_Something.py"


def test_right_script_passes(dump: Dump) -> None:
    assert run_script(RIGHT, dump) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("x[:2] + x[:2]", "x[:2] * 2.01"), "out: 1 of 4 cells differ, max abs diff 5.000e-03; first at [1]"),
        (("x[:2] + x[:2]", "x[:2] * 2.0000001"), None),
        (("out[:2] = x[:2] + x[:2]", "out[:] = 0; out[:2] = x[:2] * 2"), "out: 2 of 4 cells differ"),
        (("2**60", "2**60 + 1"), "count: 1 of 1 cells differ"),
        (("2**60", "2**60; x[0] = 1"), "input x was changed"),
        (("2**60", "2**60; out.data = out.data.half()"), "out: dtype torch.float16, want torch.float32"),
        (("2**60", "2**60; out.data = out.data[:3]"), "out: shape [3], want [4]"),
        (("x[:2] + x[:2]", "float('nan')"), "out: 2 of 4 cells differ, max abs diff inf"),
        (("def kernel", "def other"), "the script defines no kernel"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_script_is_told(dump: Dump, change: tuple[str, str], reason: str | None) -> None:
    script = RIGHT.replace(*change)
    assert script != RIGHT
    why = run_script(script, dump)
    assert why is None if reason is None else (why or "").startswith(reason)


def test_bfloat16_is_compared_coarsely() -> None:
    want = torch.full((3,), 1.0, dtype=torch.bfloat16)
    assert tensor_difference(want * 1.0078125, want) is None
    assert tensor_difference(want * 1.03, want) is not None
    assert tensor_difference(want.float() * 1.0078125, want.float()) is not None


@pytest.mark.parametrize(
    ("got", "want", "reason"),
    [
        ("a\nb\n", "a\nb", None),
        ("a\nbx", "a\nby", "line 2 column 2: got 'bx', want 'by'"),
        ("a", "a\nb", "got 1 lines, want 2"),
        ("ab", "a", "line 1 column 2: got 'ab', want 'a'"),
    ],
)
def test_text_difference(got: str, want: str, reason: str | None) -> None:
    assert text_difference(got, want) == reason


def test_every_program_of_the_corpus_loads() -> None:
    corpus = Path(__file__).resolve().parent / "corpus"
    paths = sorted(corpus.glob("programs/*.py")) + sorted(corpus.glob("faulty/programs/*.py"))
    assert len(paths) == 47
    for path in paths:
        program = corpus_check.load_program(path)
        tensors = corpus_check.prepared_inputs(program)
        assert set(program.outputs) <= set(tensors)
        program.golden(tensors)


def _nothing() -> None:
    pass


def _behave(task: str) -> str | None:
    if task == "hang":
        time.sleep(3600)
    if task == "die":
        os._exit(3)
    return None if task == "hold" else task


def test_lost_processes_cost_only_their_task() -> None:
    tasks = ["hold", "hang", "differs", "die", "hold", "last"]
    results = list(run_all(_behave, tasks, jobs=2, seconds=3, on_start=_nothing))
    died = "the process died with exit code 3"
    assert results == [None, "no answer in 3 s", "differs", died, None, "last"]


def test_command_line(
    dump: Dump, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def all_in_this_process(function, tasks, *_rest):
        return [function(task) for task in tasks]

    def only_the_frontend_holds(dump: Dump) -> str | None:
        if dump.stage_number:
            raise ValueError("off\nby one")
        return None

    monkeypatch.setattr(corpus_check, "run_all", all_in_this_process)
    monkeypatch.setattr(corpus_check, "CHECKS", {"run": only_the_frontend_holds})
    arguments = ["run", "--corpus", str(dump.corpus)]
    assert corpus_check.main(arguments) == 1
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == (f"{dump}: ValueError: off", "1/2")
    assert corpus_check.main([*arguments, "--only", "frontend"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1/1"
    assert corpus_check.main([*arguments, "--only", "no such"]) == 1
