"""Parts of models as kernel libraries have them, run as their users run them and held against torch."""

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main

KERNELS = Path(__file__).parent / "kernels"
OUTPUTS = {
    "conv_state": ["state", "y"],
    "expert_pool": ["probs", "y"],
    "flash_decode": ["out"],
    "fused_mlp": ["y"],
    "grouped_norm": ["y"],
    "int8_linear": ["q", "x_scale", "y"],
    "layer_program": ["y"],
    "nested": ["out", "picked"],
    "prefill": ["out", "summed", "merged", "best", "mask"],
    "rope_cache": ["k_cache", "v_cache", "slots", "q_rot"],
    "split_k": ["y"],
    "stages": ["y", "s", "back", "hist", "counts"],
    "tile_matmul": ["c", "y"],
    "token_router": ["counts", "routed", "sums"],
    "top_tokens": ["values", "tokens", "probs"],
    "transposed_rows": ["swapped", "turned", "picked", "bounds"],
    "window_attention": ["out"],
}
PLATFORMS = ["a2a3sim", "a5sim"]


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


def execute(part, *flags, platform="a2a3sim"):
    done = CliRunner().invoke(main, ["exec", str(KERNELS / f"{part}.py"), "-p", platform, *flags])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize(
    ("part", "flags"),
    [
        *((part, []) for part in OUTPUTS),
        ("grouped_norm", ["--no-gain"]),
        ("rope_cache", ["--batch", "3"]),
        ("stages", ["--mode", "2"]),
    ],
)
def test_the_outputs_are_those_of_torch(part, flags, platform):
    output = execute(part, *flags, platform=platform)
    assert re.findall(r"^\[RUN\]   '(\w+)' PASS ", output, re.MULTILINE) == OUTPUTS[part]


def test_launches_that_wait_for_each_other_are_recorded():
    output = execute("flash_decode", "--enable-dep-gen", "--enable-chip-swimlane", "2", "--enable-pmu")
    for name in ("chip_swimlane_records.json", "deps.json", "deps_graph.html", "pmu.csv"):
        assert f"wrote dfx_outputs/{name}" in output
