"""Scripts written for PyPTO, run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest
from runtime import kernels

from pypto_tmpl import ir
from pypto_tmpl.compat import run_script

SCRIPT = '''\
"""A script in the shape users write."""
import argparse
import sys

import torch
from fixtures import COLS

from golden import TensorSpec, run

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("-p", "--platform", default="a2a3", choices=["a2a3", "a2a3sim", "a5", "a5sim"])
    parser.add_argument("-d", "--device", type=int, default=0)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--enable-l2-swimlane", action="store_true")
    args = parser.parse_args()

    def reference(values):
        values["y"][:] = values["x"] + args.wrong

    result = run(
        program="copy.msgpack",
        specs=[
            TensorSpec("x", [4, COLS], torch.float32, torch.randn),
            TensorSpec("y", [4, COLS], torch.float32, is_output=True),
        ],
        golden_fn=reference,
        compile_cfg=dict(dump_passes=True),
        runtime_cfg=dict(
            platform=args.platform, device_id=args.device, enable_l2_swimlane=args.enable_l2_swimlane
        ),
        rtol=1e-3, atol=1e-3,
    )
    if not result.passed:
        print(result.error or "")
        raise SystemExit(1)
'''


@pytest.fixture
def script(tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "fixtures.py").write_text("COLS = 8\n")
    (folder / "copy_kernel.py").write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    ir.serialize_to_file(kernels.copy(), "copy.msgpack")
    yield folder / "copy_kernel.py"
    sys.modules.pop("fixtures", None)


def test_a_script_that_passes(script, capsys):
    argv, path = list(sys.argv), list(sys.path)
    assert run_script(script, ["-p", "a2a3sim"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("[RUN] PASS (")
    assert (sys.argv, sys.path) == (argv, path)


def test_a_script_that_fails(script, capsys):
    assert run_script(str(script), ["-p", "a5sim", "--wrong"]) == 1
    assert "Output(s) does not match golden: ['y']" in capsys.readouterr().out


def test_a_device_is_refused_with_what_to_do(script, capsys):
    assert run_script(script) == 1
    out = capsys.readouterr().out
    assert "platform 'a2a3' needs a real Ascend NPU" in out
    assert "run on its simulated platform instead: 'a2a3sim'" in out


@pytest.mark.parametrize(("stop", "status"), [("", 0), ("None", 0), ("0", 0), ("3", 3), ("'no card'", 1)])
def test_exit_statuses(tmp_path, capsys, stop, status):
    path = tmp_path / "stop.py"
    path.write_text(f"raise SystemExit({stop})\n")
    assert run_script(path) == status
    assert capsys.readouterr().err == ("no card\n" if status == 1 else "")


def test_other_errors_propagate_and_imports_are_undone(tmp_path):
    path = tmp_path / "broken.py"
    path.write_text("import golden\nraise LookupError('here')\n")
    with pytest.raises(LookupError, match="here"):
        run_script(path)
    assert "golden" not in sys.modules or not hasattr(sys.modules["golden"], "run")


def test_the_module_runs_scripts(script):
    command = [sys.executable, "-m", "pypto_tmpl.compat", str(script), "-p", "a2a3sim"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path.cwd())
    assert (done.returncode, done.stderr) == (0, "")
    assert "[RUN]   'y' PASS  shape=(4, 8) dtype=torch.float32" in done.stdout
    done = subprocess.run(command[:3], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "usage: python -m pypto_tmpl.compat SCRIPT [ARGS]\n")
