"""The live line: on a terminal only, and never between the lines of the contract."""

import io
import json
import re
import threading
import time

import pytest
from runtime import kernels

from pypto_tmpl.golden.progress import TaskCounter, live_line, progress_text


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("seconds", "done", "total", "text"),
    [
        (3.4, 0, None, "3 s"),
        (3.4, 0, 10, "3 s"),
        (12.0, 340, None, "12 s, 340 tasks"),
        (12.0, 300, 1200, "12 s, 300 of 1200 tasks, about 36 s left"),
        (12.0, 1201, 1200, "12 s, 1201 tasks"),
    ],
)
def test_texts(seconds, done, total, text):
    assert progress_text(seconds, done, total) == text


def test_nothing_is_shown_or_counted_off_a_terminal(tmp_path):
    out = io.StringIO()
    with live_line("runtime", tmp_path / "tasks.json", out, first_after=0.0) as on_task:
        assert on_task is None
    assert out.getvalue() == ""
    assert not (tmp_path / "tasks.json").exists()


def test_the_line_is_cleared_and_the_number_of_tasks_is_kept(tmp_path):
    known, out = tmp_path / "tasks.json", Terminal()
    with live_line("runtime", known, out, first_after=0.01) as on_task:
        for _ in range(4):
            on_task()
        while "4 tasks" not in out.getvalue():
            time.sleep(0.01)
    assert re.search(r"\r\x1b\[Kruntime: \d+ s, 4 tasks", out.getvalue())
    assert out.getvalue().endswith("\r\x1b[K")
    assert json.loads(known.read_text()) == {"tasks": 4}
    again = Terminal()
    with live_line("runtime", known, again, first_after=0.01) as on_task:
        on_task()
        while "1 of 4 tasks" not in again.getvalue():
            time.sleep(0.01)
    assert re.search(r"runtime: \d+ s, 1 of 4 tasks, about \d+ s left", again.getvalue())


def test_a_stage_that_raises_clears_the_line_and_keeps_no_number(tmp_path):
    out = Terminal()
    with pytest.raises(LookupError), live_line("runtime", tmp_path / "tasks.json", out, 3600):
        raise LookupError
    assert out.getvalue() == "\r\x1b[K"
    assert not (tmp_path / "tasks.json").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"tasks": "many"}', "{}"])
def test_a_damaged_number_is_none(tmp_path, text):
    (tmp_path / "tasks.json").write_text(text)
    out = Terminal()
    with live_line("runtime", tmp_path / "tasks.json", out, first_after=0.01) as on_task:
        on_task()
        while "1 tasks" not in out.getvalue():
            time.sleep(0.01)


def test_counting_from_several_threads():
    counter = TaskCounter()
    threads = [threading.Thread(target=lambda: [counter() for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.done in range(1990, 2001)  # the last call may be seen before the one before it


def test_a_run_on_a_terminal_counts_its_kernels(run_scale, console, monkeypatch):
    out = Terminal()
    monkeypatch.setattr("sys.stderr", out)
    result = run_scale(program=kernels.scale())
    assert result.passed
    assert json.loads((result.work_dir / "report/tasks.json").read_text()) == {"tasks": 1}
    # A line is shown for what takes longer than a second, which on a busy machine anything may.
    assert re.fullmatch(r"(\r\x1b\[K(compile|runtime): \d+ s[^\r]*|\r\x1b\[K)*", out.getvalue())
    assert [line for line in console() if "runtime" in line] == [
        "[RUN] runtime ...",
        "[RUN] runtime done (T)",
    ]


def test_a_first_run_says_how_many_tasks_there_will_be(tmp_path):
    out = Terminal()
    with live_line("runtime", tmp_path / "tasks.json", out, 0.01, expected=lambda: 8) as on_task:
        on_task()
        while "1 of 8 tasks" not in out.getvalue():
            time.sleep(0.01)
    known = tmp_path / "known.json"
    known.write_text('{"tasks": 5}')  # what was counted goes before what was foretold
    again = Terminal()
    with live_line("runtime", known, again, 0.01, expected=lambda: 8) as on_task:
        on_task()
        while "1 of 5 tasks" not in again.getvalue():
            time.sleep(0.01)
