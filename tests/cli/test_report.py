"""``report``: what the page of a build holds, with and without verdicts, and what is refused."""

import json
import re

import pytest
import torch
from click.testing import CliRunner

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.cli import main
from pypto_tmpl.golden import TensorSpec
from pypto_tmpl.golden import run as golden_run

KERNEL = """
import pypto.language as pl

@pl.program
class Scaled:
    @pl.function
    def main(self, x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out = pl.assemble(out, pl.mul(x, 3.0), [0, 0])
        return out
"""
TILE_BYTES = 16 * 64 * 4


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build with the data of a run, whose specs have other names than the parameters."""
    folder = tmp_path_factory.mktemp("report") / "build"

    def golden(tensors):
        tensors["tripled"][:] = 3 * tensors["given"]

    specs = [
        TensorSpec("given", [16, 64], torch.float32, torch.randn),
        TensorSpec("tripled", [16, 64], torch.float32, is_output=True),
    ]
    cfg = {"output_dir": folder, "profiling": True}
    assert golden_run(pl.parse(KERNEL), specs, golden, compile_cfg=cfg).passed
    return folder


def run(*args):
    return CliRunner().invoke(main, ["report", *(str(arg) for arg in args)])


def data_of(path):
    [text] = re.findall(
        r'<script type="application/json" id="report-data">(.*?)</script>', path.read_text(), re.S
    )
    return json.loads(text)


def text_of(data, runs):
    pairs = zip(runs[::2], runs[1::2], strict=True)
    return "\n".join(line for first, count in pairs for line in data["lines"][first : first + count])


def test_stages_files_and_memory_are_in_one_page(build, tmp_path):
    result = run(build, "--no-run", "-o", tmp_path / "page.html")
    assert (result.exit_code, result.stdout) == (0, f"report: {tmp_path / 'page.html'}\n")
    data = data_of(tmp_path / "page.html")
    assert [stage["name"] for stage in data["stages"]] == [
        path.stem for path in sorted((build / "passes_dump").glob("*.py"))
    ]
    outlined = data["stages"][9]
    shown = [text_of(data, runs) for _, _, runs in outlined["ir"]]
    assert "\n".join(shown) == (build / "passes_dump/09_after_OutlineIncoreScopes.py").read_text().rstrip(
        "\n"
    )
    assert outlined["verdict"] == "not run" and {c["name"] for c in outlined["changes"]} >= {"main_incore_0"}
    files = {extra["name"]: extra for extra in data["extras"] if "lines" in extra}
    for name in (
        "torch/main.py",
        "ptoas/main_incore_0.pto",
        "compiled_meta.json",
        "report/pipeline_profile.txt",
    ):
        assert text_of(data, files[name]["lines"]) == (build / name).read_text().rstrip("\n"), name
    assert not [name for name in files if name.startswith(("passes_dump/", "data/"))]
    [kernel] = data["kernels"]
    [space] = kernel["spaces"]
    assert kernel["name"] == "main_incore_0" and space["space"] == "Vec"
    assert {tile["size"] for buffer in space["buffers"] for tile in buffer["tiles"]} == {TILE_BYTES}


def test_times_of_passes_are_those_of_the_profile(build, tmp_path):
    run(build, "--no-run", "-o", tmp_path / "page.html")
    times = [stage["time"] for stage in data_of(tmp_path / "page.html")["stages"]]
    profile = json.loads((build / "report/pipeline_profile.json").read_text())
    passes = next(stage["children"] for stage in profile["stages"] if stage["name"] == "passes")
    assert times == ["", *(f"{found['seconds']:.3f} s" for found in passes)]


def test_saved_data_give_verdicts(build):
    result = run(build)
    assert (result.exit_code, result.stdout) == (0, f"report: {build / 'report/build.html'}\n")
    data = data_of(build / "report/build.html")
    assert {stage["verdict"] for stage in data["stages"]} == {"ok"}
    assert [tensor["name"] for tensor in data["stages"][-1]["tensors"]] == ["out"]
    assert "All 50 stages are as expected" in (build / "report/build.html").read_text()


def test_a_wrong_stage_is_on_top_and_the_exit_code_says_so(build, tmp_path):
    dump = build / "passes_dump/11_after_ConvertTensorToTileOps.py"
    good = dump.read_text()
    assert good.count("3.0") == 1
    try:
        dump.write_text(good.replace("3.0", "4.0"))
        result = run(build, "-o", tmp_path / "page.html")
    finally:
        dump.write_text(good)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == f"wrong {dump.stem}"
    page = (tmp_path / "page.html").read_text()
    assert f"First bad stage: {dump.stem} computes something else than expected" in page
    assert "passes_dump/11_after_ConvertTensorToTileOps.py: edited" in page
    assert data_of(tmp_path / "page.html")["extras"]


def test_a_build_that_failed_has_its_stages(tmp_path):
    program = pl.parse(KERNEL.replace("[16, 64]", "[1024, 1024]"))
    with pytest.raises(ValueError, match="AllocateMemoryAddr|Vec"):
        ir.compile(program, tmp_path / "build")
    result = run(tmp_path / "build")
    assert result.exit_code == 0, result.output
    page = tmp_path / "build/report/build.html"
    assert "the compilation failed" in page.read_text()
    assert data_of(page)["stages"][-1]["name"] == "34_after_MemoryReuse"


def test_a_build_without_dumps_has_its_files(tmp_path):
    ir.compile(pl.parse(KERNEL), tmp_path / "build", dump_passes=False)
    assert run(tmp_path / "build").exit_code == 0
    data = data_of(tmp_path / "build/report/build.html")
    assert data["stages"] == [] and "torch/main.py" in {extra["name"] for extra in data["extras"]}


def test_what_is_no_build_is_refused(tmp_path):
    result = run(tmp_path)
    assert result.exit_code == 2 and "is no complete build" in result.output
    (tmp_path / "page.html").write_text("somebody's")
    assert run(tmp_path, "-o", tmp_path / "page.html").exit_code == 2
    assert (tmp_path / "page.html").read_text() == "somebody's"
    assert "the page is a .html file" in run(tmp_path, "-o", tmp_path / "page.json").output
