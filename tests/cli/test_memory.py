"""``memory``: the table and the page of a dump or of a program that is lowered first, and what is refused."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl import backend, ir
from pypto_tmpl.cli import main
from pypto_tmpl.debug.report.memory_page import SCRIPTS, STYLES

TESTS = Path(__file__).resolve().parents[1]
FOLDER = TESTS / "corpus/dumps/mixed_c2v_up_down/Ascend910B"
LAST = FOLDER / "46_after_MaterializeRuntimeScopes.msgpack"
KERNEL = """
import pypto.language as pl

@pl.program
class Doubled:
    @pl.function
    def main(self, x: pl.Tensor[[{rows}, 64], pl.FP32], out: pl.Out[pl.Tensor[[{rows}, 64], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP):
            out = pl.assemble(out, pl.mul(x, pl.exp(x)), [0, 0])
        return out
"""


DECLARED = """
import pypto.language as pl

@pl.program
class p:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
        ) -> pl.Tensor[[16, 64], pl.FP32]:
        s = pl.load(x, [0, 0], [16, 64])
        for i in pl.range(4):
            t: pl.Tile[[16, 64], pl.FP32, pl.MemRef("own", slots=2)[i % 2], pl.Mem.Vec] = \\
                pl.load(x, [i * 16, 0], [16, 64])
            s = pl.add(s, t)
        out = pl.store(s, [0, 0], out)
        return out
"""


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


@pytest.fixture
def kernel(tmp_path):
    """Each tile takes 16 rows of 256 bytes: 4,096 bytes."""
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL.format(rows=16))
    return path


def run(*args):
    return CliRunner().invoke(main, ["memory", *(str(arg) for arg in args)])


def data_of(page):
    [text] = re.findall(r'<script type="application/json" id="report-data">(.*?)</script>', page, re.S)
    return json.loads(text)


def test_a_recorded_stage():
    result = run(LAST, "--backend", "Ascend910B")
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        "=== Memory Usage Report ===",
        "Pass: MaterializeRuntimeScopes",
        "Backend: 910B",
        "Functions: 2 compute functions",
    ]
    assert "Vec   | 24.0 KB | 184.0 KB | 13.0% | 3       | 1.17x" in lines
    assert (
        "  mem_vec_4                     | 4.0 KB  | [16384, 20480) | [5, 10]    | prev__tile, nxt__tile"
        in lines
    )


def test_text_and_binary_form_and_stages_without_the_backend(tmp_path):
    """A text has no source lines, and the same tiles; without a backend nothing has a limit."""
    text = run(LAST.with_suffix(".py"))
    assert text.exit_code == 0 and text.stdout == run(LAST).stdout
    assert "Backend: none" in text.stdout and "Vec   | 24.0 KB | N/A   | N/A" in text.stdout


@pytest.mark.parametrize(("chosen", "limit"), [("Ascend910B", "184.0 KB"), ("Ascend950", "240.0 KB")])
def test_a_program_is_lowered_first(kernel, chosen, limit):
    """x is read twice, so exp(x) lies beside it, and the product in its place: 12 KB of values in 8."""
    result = run(kernel, "--backend", chosen)
    assert result.exit_code == 0, result.output
    assert "Pass: AllocateMemoryAddr" in result.stdout
    assert re.search(rf"Vec   \| 8.0 KB \| {limit} \| \d.\d%  \| 2       \| 1.50x", result.stdout)


def test_other_planners(kernel):
    """DSA_RP keeps the three allocations, of which two begin at the same byte."""
    overlaid = run(kernel, "--backend", "Ascend910B", "--planner", "DSA_RP").stdout
    assert "Vec   | 8.0 KB | 184.0 KB | 4.3%  | 3       | 1.50x" in overlaid
    elsewhere = run(kernel, "--planner", "ptoas", "--backend", "Ascend910B").stdout
    assert "Pass: MaterializeSemanticAliases" in elsewhere and elsewhere.count("(unallocated)") == 3


def test_a_program_that_declares_buffers_has_no_allocations_yet(tmp_path):
    """Two slots of 16 rows of 256 bytes, of which the run chooses one: 8 KB that are declared."""
    path = tmp_path / "kernel.py"
    path.write_text(DECLARED)
    result = run(path, "--backend", "Ascend910B")
    assert result.exit_code == 0, result.output
    assert "Pass: AllocateMemoryAddr" in result.stdout
    assert re.search(r"own +\| 8.0 KB \| \[\d+, \d+\) +\| .* \| t\w*\n", result.stdout)


def test_the_page(tmp_path):
    page = tmp_path / "folder/memory.html"
    result = run(LAST, "--backend", "Ascend910B", "--html", page)
    assert result.exit_code == 0, result.output
    text = page.read_text()
    data = data_of(text)
    assert [kernel["name"] for kernel in data["kernels"]] == ["main_incore_0_aic", "main_incore_0_aiv"]
    (vec,) = data["kernels"][1]["spaces"]
    assert (vec["space"], vec["limit"], vec["used"]) == ("Vec", 188416, 24576)
    (tile,) = vec["buffers"][2]["tiles"]
    assert (tile["name"], tile["start"], tile["size"], tile["first"], tile["last"]) == (
        "t__tile",
        20480,
        4096,
        7,
        9,
    )
    assert "Right 25.0% used" in text and "2 kernels, 910B" in text
    assert run(LAST, "--html", page).exit_code == 0  # a page of ours may be written again
    folder = TESTS.parent / "templates/report"
    assert [name for name in (*STYLES, *SCRIPTS) if (folder / name).read_text().strip() not in text] == []
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\(|fetch\(|innerHTML", text)


def test_names_of_programs_are_no_markup(tmp_path):
    page = tmp_path / "memory.html"
    name = "<img src=x onerror=alert(1)>.msgpack"
    (tmp_path / name).write_bytes(LAST.read_bytes())
    assert run(tmp_path / name, "--html", page).exit_code == 0
    assert "<img" not in page.read_text()


@pytest.mark.parametrize("chosen", ["Ascend910B", "Ascend950"])
@pytest.mark.parametrize("planner", ["PYPTO", "DSA_RP", "PTOAS"])
def test_a_program_that_does_not_fit(planner, chosen, tmp_path):
    """Two tiles of 1,024 rows of 256 bytes: more than the 184 or 240 KB that tiles may use."""
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL.format(rows=1024))
    result = run(path, "--backend", chosen, "--planner", planner, "--html", tmp_path / "memory.html")
    limit = {"Ascend910B": 188416, "Ascend950": 245760}[chosen]
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"exceeds platform limit ({limit} bytes)" in result.stderr and "262144 bytes" in result.stderr
    assert "Vec buffer usage (524288 bytes" in result.stderr and f"{path}:8:" in result.stderr
    assert "in function 'main_incore_0'" in result.stderr and "Traceback" not in result.stderr
    assert not (tmp_path / "memory.html").exists()


def test_what_needs_a_backend_names_the_option():
    for command in ("lower", "memory"):
        result = CliRunner().invoke(main, [command, str(FOLDER / "00_frontend.msgpack")])
        assert result.exit_code == 2
        assert "choose one with --backend: Ascend910B, Ascend950" in result.stderr
        assert "in the pass ExpandMixedKernel" in result.stderr


def test_what_is_refused(kernel, tmp_path):
    foreign = tmp_path / "mine.html"
    foreign.write_text("<p>mine</p>")
    result = run(LAST, "--html", foreign)
    assert (result.exit_code, result.stdout) == (2, "") and "was not written by pypto_tmpl" in result.stderr
    assert foreign.read_text() == "<p>mine</p>"
    result = run(kernel, "--planner", "PTOAS", "--html", tmp_path / "memory.html")
    assert result.exit_code == 2 and "have no addresses to draw" in result.stderr
    assert "give a stage after AllocateMemoryAddr" in result.stderr
    program = ir.deserialize_from_file(str(LAST))
    assert isinstance(program, ir.Program)
    path = tmp_path / "function.msgpack"
    path.write_bytes(ir.serialize(next(iter(program.functions.values()))))
    result = run(path)
    assert result.exit_code == 2 and "holds a function, and kernels are those of programs" in result.stderr
