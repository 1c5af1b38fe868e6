"""Parts of models as kernel libraries have them, run as their users run them and held against torch."""

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main

KERNELS = Path(__file__).parent / "kernels"
OUTPUTS = {
    "rope_cache": ["k_cache", "v_cache", "slots", "q_rot"],
    "flash_decode": ["out"],
    "nested": ["out", "picked"],
    "prefill": ["out", "summed", "merged", "best", "mask"],
    "stages": ["y", "s", "back", "hist", "counts"],
}


@pytest.fixture(autouse=True)
def fresh_modules(tmp_path, monkeypatch):
    """Kernel files import their neighbours by bare names, which other tests may use too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYPTO_PROG_BUILD_DIR", raising=False)
    neighbours = {path.stem for path in KERNELS.glob("*.py")}
    for name in neighbours:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in neighbours:
        sys.modules.pop(name, None)


def execute(part, *flags):
    done = CliRunner().invoke(main, ["exec", str(KERNELS / f"{part}.py"), "-p", "a2a3sim", *flags])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize(
    ("part", "flags"),
    [*((part, []) for part in OUTPUTS), ("rope_cache", ["--batch", "3"]), ("stages", ["--mode", "2"])],
)
def test_the_outputs_are_those_of_torch(part, flags):
    output = execute(part, *flags)
    assert re.findall(r"^\[RUN\]   '(\w+)' PASS ", output, re.MULTILINE) == OUTPUTS[part]


def test_launches_that_wait_for_each_other_are_recorded():
    output = execute("flash_decode", "--enable-dep-gen", "--enable-chip-swimlane", "2", "--enable-pmu")
    for name in ("chip_swimlane_records.json", "deps.json", "deps_graph.html", "pmu.csv"):
        assert f"wrote dfx_outputs/{name}" in output
