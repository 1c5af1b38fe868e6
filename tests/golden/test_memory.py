"""Peak memory over the bytes of the specs, measured in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/memory.py"


@pytest.mark.slow
@pytest.mark.parametrize("case", ["bfloat16", "inout", "distribution"])
def test_peak_memory(case):
    command = [sys.executable, str(BENCHMARK), "--mib", "64", "--case", case]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    ratio = float(done.stdout.split("largest ratio ")[1].split(",")[0])
    assert 0.5 < ratio <= 2.2  # less would mean that the run was not measured
