"""Every program of the corpus, unmodified, from its source through the harness to its golden's values."""

from pathlib import Path

import pytest

from pypto_tmpl.compat import script_result
from pypto_tmpl.golden.kernel_files import run_kernel_file
from pypto_tmpl.golden.overrides import Overrides, overriding

PROGRAMS = sorted((Path(__file__).resolve().parents[1] / "corpus/programs").glob("*.py"))

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_agrees_with_its_golden(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    status, names = script_result(path)
    assert status == 0
    # Kernels of both cores that are written without a pipe are refused by ExpandMixedKernel.
    stage = "frontend" if path.stem in ("cross_core_explicit", "cross_core_odd") else None
    with overriding(Overrides(save_data=False, seed=0, stage=stage)):
        result = run_kernel_file(names)
    assert result.passed, result.error
