"""Ops of a user's template folder: known wherever the project's own are, seen when they change."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.debug import Options, Validation, torch_codegen
from pypto_tmpl.ops import load_table
from pypto_tmpl.overlays import TemplateFolderError, all_folders, using_templates

ENTRY = """\
family: overlaid
ops:
  - name: tile.clamp01
    summary: Limit every element to the range from 0 to 1.
    operands:
      - {name: tile, kind: tile, memory: [Vec]}
    result: {dtype: tile, shape: tile, valid: tile, memory: Vec}
    dsl: [pl.tile.clamp01, pl.clamp01]
    emit: clamp01
    dtypes: [FP32]
    samples:
      - {tile: "FP32[16, 32]"}
"""
MACRO = """\
{% macro clamp01(a, attr, emit) -%}
torch.clamp({{ a.tile }}, 0.0, 1.0)
{%- endmacro %}
"""
TEXT = """\
# pypto.program: Clamped
import pypto.language as pl

@pl.program
class Clamped:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        t: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)
        u: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec] = pl.tile.clamp01(t)
        z: pl.Tensor[[4, 8], pl.FP32] = pl.tile.store(u, [0, 0], y)
        return z
"""  # noqa: E501
CONCISE = TEXT.removeprefix("# pypto.program: Clamped\n").replace(
    "u: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec]", "u"
)
KERNEL = """\
import torch
import pypto.language as pl
from golden import TensorSpec, run

@pl.program
class Clamped:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
        t = pl.load(x, [0, 0], [4, 8])
        u = pl.clamp01(t)
        return pl.store(u, [0, 0], y)

def golden(values):
    values["y"][:] = values["x"].clamp(0, 1)

specs = [
    TensorSpec("x", [4, 8], torch.float32, lambda: torch.arange(32.0).reshape(4, 8) / 8 - 1),
    TensorSpec("y", [4, 8], torch.float32, is_output=True),
]
if __name__ == "__main__":
    result = run(Clamped, specs, golden)
    assert result.passed, result.error
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ops = tmp_path / "mine/ops"
    ops.mkdir(parents=True)
    (ops / "overlaid.yaml").write_text(ENTRY)
    (ops / "overlaid.py.jinja").write_text(MACRO)
    (tmp_path / "clamped.py").write_text(TEXT)
    return tmp_path / "mine"


def command(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


def test_the_language_knows_the_op_only_where_the_folder_is_in_use(folder):
    with pytest.raises(pl.parser.ParserError, match="clamp01"):
        pl.parse(CONCISE)
    with using_templates(folder):
        node = pl.parse(CONCISE)
        assert "clamp01" in dir(pl.tile)
        assert "Limit every element" in pl.clamp01.__doc__
    assert "clamp01" not in dir(pl.tile)
    with pytest.raises(AttributeError):
        _ = pl.tile.clamp01
    with pytest.raises(ValueError, match=r"tile\.clamp01"):
        torch_codegen(node)


def test_printing_and_reading_again_gives_the_same(folder):
    with using_templates(folder):
        node = pl.loads("clamped.py")
        text = ir.python_print(node, format=False)
        assert "pl.tile.clamp01(t)" in text
        again = pl.parse(text)
        assert ir.structural_equal(node, again, enable_auto_mapping=True)
        assert ir.structural_equal(node, ir.deserialize(ir.serialize(node)), enable_auto_mapping=True)


@pytest.mark.parametrize("shape", [str, Path, lambda f: [str(f)], lambda f: (f,)])
def test_a_folder_may_be_a_text_or_a_path_alone_or_in_a_list(folder, shape):
    with using_templates(shape(folder)):
        node = pl.loads("clamped.py")
    assert "torch.clamp(t, 0.0, 1.0)" in torch_codegen(node, template_dirs=shape(folder))


def test_a_folder_that_does_not_exist_is_an_error(folder):
    with using_templates(folder):
        node = pl.loads("clamped.py")
    for missing in ("nosuch", Path("nosuch"), ["nosuch"], "clamped.py"):
        with pytest.raises(TemplateFolderError, match="the template folder '(nosuch|clamped.py)' "):
            torch_codegen(node, template_dirs=missing)
        with pytest.raises(TemplateFolderError):
            using_templates(missing).__enter__()
    assert issubclass(TemplateFolderError, FileNotFoundError)
    x = torch.zeros(4, 8)
    with pytest.raises(TemplateFolderError):
        Validation("clamped.py", {"x": x}, {"y": x}, Options(template_dirs="nosuch"))
    result = command("--template-dir", "nosuch", "gen", "clamped.py")
    assert result.exit_code == 2
    assert "nosuch" in result.output


def test_gen_on_a_text(folder):
    result = command("--template-dir", folder, "gen", "clamped.py")
    assert result.exit_code == 0, result.output
    assert "torch.clamp(t, 0.0, 1.0)" in result.output
    assert command("gen", "clamped.py").exit_code == 2


def test_print_validate_and_trace(folder, tmp_path):
    x = torch.arange(32.0).reshape(4, 8) / 8 - 1
    torch.save({"x": x, "y": torch.zeros(4, 8)}, "in.pt")
    torch.save({"y": x.clamp(0, 1)}, "out.pt")
    assert "pl.tile.clamp01(t)" in command("--template-dir", folder, "print", "clamped.py").output
    for extra in (("validate", "--expected", "out.pt"), ("trace", "--out", "t")):
        result = command("--template-dir", folder, extra[0], "clamped.py", "--inputs", "in.pt", *extra[1:])
        assert result.exit_code == 0, result.output


def test_run(folder, monkeypatch, tmp_path):
    (tmp_path / "kernel.py").write_text(KERNEL)
    monkeypatch.setenv("PYPTO_PROG_BUILD_DIR", str(tmp_path / "builds"))
    environment = os.environ | {"PYTHONPATH": str(Path(pl.__file__).parents[2])}
    line = [sys.executable, "-m", "pypto_tmpl", "--template-dir", str(folder), "run", "kernel.py"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_samples_are_shown(folder):
    result = command("--template-dir", folder, "ops", "show", "tile.clamp01")
    assert result.exit_code == 0
    assert "tile=FP32[16, 32]\n      torch.clamp(tile, 0.0, 1.0)" in result.output


def test_a_changed_file_is_seen_by_the_same_process(folder):
    with using_templates(folder):
        node = pl.loads("clamped.py")
        assert "torch.clamp(t, 0.0, 1.0)" in torch_codegen(node)
        macro = folder / "ops/overlaid.py.jinja"
        macro.write_text(MACRO.replace("0.0, 1.0", "0.0, 100.0"))
        assert "torch.clamp(t, 0.0, 100.0)" in torch_codegen(node)
        entry = folder / "ops/overlaid.yaml"
        entry.write_text(ENTRY.replace("clamp01,", "clamp02,").replace("tile.clamp01", "tile.clamp02"))
        with pytest.raises(pl.parser.ParserError, match="clamp01"):
            pl.parse(CONCISE)
        assert "tile.clamp02" in load_table()
        entry.unlink()
        macro.unlink()
        torch_codegen(ir.Program([], "Empty", ir.Span.unknown()))
        assert "tile.clamp02" not in load_table()


def test_a_change_of_equal_size_within_one_tick_of_the_clock_is_seen(folder):
    with using_templates(folder):
        node = pl.loads("clamped.py")
        assert "0.0, 1.0" in torch_codegen(node)
        macro = folder / "ops/overlaid.py.jinja"
        before = macro.stat().st_mtime_ns
        macro.write_text(MACRO.replace("0.0, 1.0", "0.5, 1.0"))
        os.utime(macro, ns=(before + 1, before + 1))
        assert "0.5, 1.0" in torch_codegen(node)


def test_folders_are_given_back_after_an_error(folder):
    with pytest.raises(RuntimeError), using_templates(folder):
        assert len(all_folders()) == 2
        raise RuntimeError
    assert len(all_folders()) == 1


def test_a_command_leaves_no_folder_in_use(folder):
    command("--template-dir", folder, "gen", "clamped.py")
    assert len(all_folders()) == 1
