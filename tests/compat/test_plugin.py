"""Test suites written for PyPTO."""

import subprocess
import sys


def test_imports_of_conftest_files_and_tests_are_answered(tmp_path):
    (tmp_path / "conftest.py").write_text("import pypto.language as pl\n")
    (tmp_path / "test_theirs.py").write_text(
        "from pypto import ir\n\ndef test_theirs():\n    assert ir.DataType.FP32.name == 'FP32'\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run([*command, "-p", "pypto_tmpl.compat"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stdout + done.stderr
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode != 0
