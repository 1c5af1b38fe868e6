"""Full disks and folders that cannot be written: one message, and nothing that passes for a build."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.compile.ownership import UNFINISHED
from pypto_tmpl.files import FileError
from pypto_tmpl.runtime.manifest import read_manifest

NOBODY = 65534
# Runs as root until everything is imported that a compilation needs, then as somebody else.
AS_NOBODY = """
import os, sys
from pathlib import Path
from runtime import kernels
from pypto_tmpl import ir
from pypto_tmpl.golden import TensorSpec, run
import torch

def outcome(folder):
    specs = [TensorSpec("x", [4, 8], torch.float32), TensorSpec("y", [4, 8], torch.float32, is_output=True)]
    cfg = {{"output_dir": folder, "skip_ptoas": True}}
    return run(kernels.copy(), specs, lambda t: t["y"].copy_(t["x"]), compile_cfg=cfg)

assert outcome("{warm}").passed
os.setgroups([])
os.setgid({nobody})
os.setuid({nobody})
for folder in {folders}:
    found = outcome(folder)
    print("#", found.passed, found.phase, found.error_type, "|", found.error.replace("\\n", " "))
"""


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("is_rebuilt", [False, True])
@pytest.mark.parametrize("written", [0, 1, 7, 40, 98, 100, 101, 102, 103, 104])
def test_a_disk_that_is_full_after_so_many_files(tmp_path, monkeypatch, written, is_rebuilt):
    build, left = tmp_path / "build", written
    if is_rebuilt:
        ir.compile(kernels.copy(), build, skip_ptoas=True)
    write = Path.write_bytes

    def until_full(path, data):
        nonlocal left
        left -= 1
        if left < 0:
            write(path, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", until_full)
        with pytest.raises(FileError, match="the file cannot be written: No space left on device"):
            ir.compile(kernels.copy(), build, skip_ptoas=True)
    assert files(build) == []  # not even a list of what was written could be kept
    compiled = ir.compile(kernels.copy(), build, skip_ptoas=True)
    assert set(read_manifest(build).files) == {
        path.relative_to(build).as_posix() for path in files(build) if path.name != "manifest.json"
    }
    assert compiled.output_dir == build


def test_a_single_file_that_cannot_be_written_leaves_the_others_listed(tmp_path, monkeypatch):
    write = Path.write_bytes

    def refusing(path, data):
        if path.name.startswith(".main.py"):
            raise OSError(errno.EIO, "Input/output error")
        return write(path, data)

    with monkeypatch.context() as faulty:
        faulty.setattr(Path, "write_bytes", refusing)
        with pytest.raises(FileError, match="Input/output error") as caught:
            ir.compile(kernels.copy(), tmp_path, skip_ptoas=True)
    assert str(tmp_path / "torch/main.py") in str(caught.value)
    assert (tmp_path / UNFINISHED).is_file()
    assert len(list((tmp_path / "passes_dump").glob("*.py"))) == 50
    ir.compile(kernels.copy(), tmp_path, skip_ptoas=True)
    assert not (tmp_path / UNFINISHED).exists()


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make folders that another user cannot write")
def test_folders_of_others():
    """As a user who is not root; a build of root's stays as it is."""
    with tempfile.TemporaryDirectory() as folder:  # that of pytest is for its user alone
        Path(folder).chmod(0o755)
        _try_as_nobody(Path(folder))


def _try_as_nobody(tmp_path: Path) -> None:
    closed, warm = tmp_path / "closed", tmp_path / "warm"
    closed.mkdir()
    own = tmp_path / "own"
    (own / "passes_dump").mkdir(parents=True)
    os.chown(own, NOBODY, NOBODY)
    folders = [closed / "new", closed, warm, own]
    code = AS_NOBODY.format(warm=warm, nobody=NOBODY, folders=[str(folder) for folder in folders])
    paths = os.pathsep.join([str(Path(__file__).parents[1]), str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    found = [line for line in done.stdout.splitlines() if line.startswith("#")]
    begins = "# False compile FileError | compile: FileError: the"
    assert found == [
        f"{begins} build directory {closed / 'new'} cannot be made (output_dir): Permission denied    ="
        " set output_dir in compile_cfg, or PYPTO_PROG_BUILD_DIR, to where builds may go",
        f"{begins} folder cannot be made: Permission denied   --> {closed / 'report'}",
        f"{begins} earlier build cannot be replaced: its folder is read-only   --> {warm}    ="
        " give another output_dir",
        f"{begins} file cannot be written: Permission denied   --> {own / 'passes_dump/00_frontend.py'}",
    ], done.stderr
    assert list(closed.iterdir()) == []
    assert files(own) == []
    manifest = read_manifest(warm)
    assert all((warm / path).is_file() for path in manifest.files)
