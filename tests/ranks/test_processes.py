"""Ranks that are processes: the tests of ranks again, by mpiexec, and what becomes of processes that fail."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ranks.test_commands import KERNEL_FILE

pytest.importorskip("mpi4py", reason="mpi4py is not installed (extra 'mpi')")

TESTS = Path(__file__).resolve().parents[1]
HERE = TESTS / "ranks"
EXAMPLE = TESTS.parent / "examples" / "distributed" / "pipeline.py"
AGAIN = ["collectives", "failures", "host", "host_collectives", "host_runtime", "kernels", "lanes"]
AGAIN += ["parts_of_windows", "recorded", "sub_workers", "tasks"]
CALLS = {2: 100, 4: 40}  # at least, by both engines; without recorded programs


def started(processes: int, *words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What a Python command does in as many processes, whose tensors are single-threaded."""
    places = [str(TESTS.parent), str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1"}
    environment = {name: value for name, value in environment.items() if not name.startswith("PYTEST_")}
    bin_folder = str(Path(sys.executable).parent)  # where the wheel of an MPI has its mpiexec
    mpiexec = shutil.which("mpiexec", path=f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    assert mpiexec is not None
    command = [mpiexec, "-n", str(processes), sys.executable, *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, timeout=800)


@pytest.mark.parametrize("processes", [2, 4])
def test_programs_compute_the_same_bits_as_on_threads(processes: int, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    tests = [str(HERE / f"test_{name}.py") for name in AGAIN]
    tests += [str(HERE / f"{name}.py") for name in ("with_processes", "records_of_processes")]
    done = started(processes, "-m", "ranks.on_processes", str(report), *tests, folder=TESTS.parent)
    assert report.is_file(), done.stdout + done.stderr
    found = json.loads(report.read_text())
    assert not found["failed"], "\n\n".join(found["failed"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert sum(found["calls"].values()) >= CALLS[processes]
    assert any(error.startswith("deadlock: ") for error in found["errors"])


def test_records_are_all_in_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "own"))
    words = ("-m", "ranks.recorded_run", str(tmp_path / "build"))
    done = started(2, *words, folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    records = tmp_path / "build" / "dfx_outputs"
    for rank in range(2):  # x before, data and sig before and after, y after
        dump = records / f"rank{rank}" / "d0" / "args_dump" / "args.bin"
        assert dump.stat().st_size == 256 + 2 * (256 + 8) + 256
    assert not [*(tmp_path / "own").iterdir()]


def test_a_command_prints_once_and_has_the_status_of_its_run(tmp_path: Path) -> None:
    words = ("-m", "pypto_tmpl", "exec", "--engine", "mpi", str(EXAMPLE))
    done = started(2, *words, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("[RUN] PASS (") == 1
    assert len(list((tmp_path / "build_output").iterdir())) == 1  # the second process builds nothing
    assert not done.stderr


def test_another_number_of_processes_than_of_ranks(tmp_path: Path) -> None:
    done = started(3, str(EXAMPLE), "--engine", "mpi", folder=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "arguments: EngineError: the program runs on 2 ranks, device_ids [0, 1], and there are 3 processes",
        "   = start it by: mpiexec -n 2 ...",
    ]
    assert not done.stderr


@pytest.mark.parametrize("processes", [1, 3])
def test_a_kernel_file_on_another_number_of_processes(tmp_path: Path, processes: int) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL_FILE.replace("3, 1, 16", "2, 1, 16").replace("48.0", "32.0"))
    words = ("-m", "pypto_tmpl", "run", "kernel.py", "--engine", "mpi")
    done = started(processes, *words, folder=tmp_path)
    assert done.returncode == 1
    are = "is 1 process" if processes == 1 else "are 3 processes"
    what = f"EngineError: the program runs on 2 ranks, device_ids [0, 1], and there {are}"
    lines = done.stdout.splitlines()
    place = lines.index(f"runtime: {what}")
    assert lines[place + 1] == "   = start it by: mpiexec -n 2 ..."
    assert "Traceback" not in done.stdout + done.stderr


def test_a_process_that_leaves_ends_all(tmp_path: Path) -> None:
    done = started(2, "-m", "ranks.dying", "exit", folder=tmp_path)
    assert done.returncode != 0
    assert done.stdout.splitlines() == ["begins"]
    assert done.stderr.startswith("rank 1 has ended its process by os._exit(0)\n")


def test_a_process_that_is_killed_ends_all(tmp_path: Path) -> None:
    done = started(2, "-m", "ranks.dying", "kill", folder=tmp_path)
    assert done.returncode != 0
    assert "has ended" not in done.stdout
    assert "EXIT STRING: Killed (signal 9)" in done.stdout + done.stderr


def test_a_process_that_never_comes_to_a_wait_is_ended_when_another_has_failed(tmp_path: Path) -> None:
    done = started(2, "-m", "ranks.dying", "loop", folder=tmp_path)
    assert done.returncode != 0
    assert done.stdout.splitlines() == ["begins"]
    told = ["ValueError: rank 0: no further", "other ranks have not ended behind it"]
    assert done.stderr.splitlines()[:2] == told
    assert "Traceback" not in done.stderr and "has left a call" not in done.stderr


def test_a_missing_extra_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text("")
    (tmp_path / "mpi4py" / "MPI.py").write_text("raise RuntimeError('cannot load MPI library')")
    command = [sys.executable, "-m", "pypto_tmpl", "exec", "--engine", "mpi", str(EXAMPLE)]
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{TESTS.parent}"}
    alone = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
    assert alone.returncode == 2
    assert alone.stdout == ""
    assert alone.stderr.splitlines() == [
        "error[engine]: mpi4py finds no MPI: cannot load MPI library",
        "   = pip install pypto_tmpl[mpi]",
    ]
    second = subprocess.run(command, capture_output=True, text=True, env={**environment, "PMI_RANK": "1"})
    assert (second.returncode, second.stdout, second.stderr) == (2, "", "")
