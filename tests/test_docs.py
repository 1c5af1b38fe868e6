"""The documentation's examples work as they stand."""

import re
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.codegen.environment import OpMacros, create_environment
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import load_table
from pypto_tmpl.resources import template_root

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL)
UNKNOWN = ir.Span.unknown()


def blocks(page, language):
    """The fenced blocks of a page, those of one language."""
    return [m["text"] for m in FENCE.finditer((ROOT / page).read_text()) if m["language"] == language]


@pytest.fixture
def example_templates(tmp_path):
    """The files of docs/adding-an-op.md, each named by the comment on its first line."""
    page = "docs/adding-an-op.md"
    for text in [*blocks(page, "yaml"), *blocks(page, "jinja")]:
        name = re.search(r"ops/\S+", text.splitlines()[0])[0]
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


def clamp_kernel(inverted):
    """load -> tile.clamp01 -> store, over a [4, 8] tensor."""
    fp32, vec = ir.DataType.FP32, ir.MemorySpace.Vec
    tensor, tile = ir.TensorType([4, 8], fp32), ir.TileType([4, 8], fp32, None, None, vec)

    def const(value):
        return ir.ConstInt(value, ir.DataType.INDEX, UNKNOWN)

    def pair(a, b):
        return ir.MakeTuple([const(a), const(b)], UNKNOWN)

    x, out = ir.Var("x", tensor, UNKNOWN), ir.Var("out", tensor, UNKNOWN)
    t, u, written = ir.Var("t", tile, UNKNOWN), ir.Var("u", tile, UNKNOWN), ir.Var("written", tensor, UNKNOWN)
    window = [pair(0, 0), pair(4, 8), pair(4, 8)]
    load = ir.Call(ir.Op("tile.load"), [x, *window], {"target_memory": vec}, tile, UNKNOWN)
    clamp = ir.Call(ir.Op("tile.clamp01"), [t], {"inverted": True} if inverted else {}, tile, UNKNOWN)
    store = ir.Call(ir.Op("tile.store"), [u, pair(0, 0), out], {}, tensor, UNKNOWN)
    body = ir.SeqStmts(
        [
            ir.AssignStmt(t, load, UNKNOWN),
            ir.AssignStmt(u, clamp, UNKNOWN),
            ir.AssignStmt(written, store, UNKNOWN),
            ir.ReturnStmt([written], UNKNOWN),
        ],
        UNKNOWN,
    )
    params = [x, (out, ir.ParamDirection.Out)]
    return ir.Function("kernel", params, [tensor], body, UNKNOWN, type=ir.FunctionType.InCore)


@pytest.mark.parametrize("inverted", [False, True])
def test_the_op_of_the_page_runs(example_templates, inverted):
    script = torch_codegen(clamp_kernel(inverted), template_dirs=[example_templates])
    namespace = {}
    exec(script, namespace)
    x, out = torch.linspace(-1.0, 2.0, 32).reshape(4, 8), torch.zeros(4, 8)
    namespace["kernel"](x, out)
    limited = x.clone()
    limited[x < 0] = 0.0
    limited[x > 1] = 1.0
    assert torch.equal(out, 1 - limited if inverted else limited)


def test_the_reference_of_the_page_agrees_with_its_samples(example_templates, monkeypatch):
    """Run as the tests of the table run the project's own."""
    from ops import references, sample_calls, sampled

    folders = [example_templates, template_root()]
    table = load_table(folders)
    monkeypatch.setattr(sampled, "TABLE", table)
    monkeypatch.setattr(sample_calls, "TABLE", table)
    monkeypatch.setattr(sampled, "MACROS", OpMacros(table, create_environment(folders)))
    monkeypatch.setattr(references.registry, "REFERENCES", dict(references.registry.REFERENCES))
    exec("import torch\n" + blocks("docs/adding-an-op.md", "py")[0], {})
    samples = table["tile.clamp01"].samples
    assert len(samples) == 2
    for sample in samples:
        call = sample_calls.SampleCall("tile.clamp01", sample)
        assert sample_calls.disagreement(call, call.value(call.text()), call.expected()) == ""


def test_the_op_of_the_page_is_refused_without_its_files():
    with pytest.raises(ValueError, match="operator 'tile.clamp01' is not in the op table"):
        torch_codegen(clamp_kernel(False))


def test_the_commands_of_the_page_show_it(example_templates):
    command = ["--template-dir", str(example_templates), "ops", "show", "tile.clamp01"]
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0
    assert "Limit every element to the range from 0 to 1." in shown.stdout
    assert "torch.clamp({{ a.tile }}, 0.0, 1.0)" in shown.stdout


def test_a_misspelt_name_stops_generation_with_the_templates_line(example_templates):
    path = example_templates / "ops/example.py.jinja"
    path.write_text(path.read_text().replace("attr.inverted", "attr.inverse"))
    with pytest.raises(Exception, match="inverse") as caught:
        torch_codegen(clamp_kernel(False), template_dirs=[example_templates])
    assert "example.py.jinja:3" in str(caught.value)
    assert "did you mean 'inverted'?" in str(caught.value)
