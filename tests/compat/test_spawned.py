"""Scripts whose child processes start anew: the children answer the imports of PyPTO too."""

import multiprocessing.spawn
import subprocess
import sys

import pytest

from pypto_tmpl.compat.imports import answering

SCRIPT = """\
import multiprocessing
import sys

import pypto.language as pl
from golden import TensorSpec

def work(queue, size):
    import pypto
    queue.put((pypto.__name__, pl.FP32.name, TensorSpec.__module__, size))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    queue = context.Queue()
    child = context.Process(target=work, args=(queue, 3))
    child.start()
    print(*queue.get(timeout=60))
    child.join()
    sys.exit(child.exitcode)
"""


@pytest.mark.parametrize("command", ["exec", "run"])
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_a_child_imports_what_its_parent_does(tmp_path, method, command):
    script = tmp_path / "parent.py"
    text = SCRIPT.replace("sys.exit(child.exitcode)", "assert child.exitcode == 0")
    script.write_text(text.replace("sys.argv[1]", repr(method)))
    line = [sys.executable, "-m", "pypto_tmpl", command, str(script)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert "No module named" not in done.stderr
    assert "pypto_tmpl FP32 pypto_tmpl.golden.spec 3" in done.stdout, done.stderr


def test_children_are_left_alone_outside():
    before = multiprocessing.spawn.get_preparation_data
    with answering():
        with answering():
            assert multiprocessing.spawn.get_preparation_data is not before
        assert multiprocessing.spawn.get_preparation_data is not before
    assert multiprocessing.spawn.get_preparation_data is before
