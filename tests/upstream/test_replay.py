"""Running builds again, under PyPTO's path ``pypto.runtime.debug.replay``."""

import importlib

import pytest
import torch
from runtime import kernels

from pypto_tmpl import compat, ir
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.manifest import file_record, read_manifest
from pypto_tmpl.upstream.replay import main, replay

GOLDEN = """
import torch

__outputs__ = ["y"]
RTOL = ATOL = 1e-6


def generate_inputs(params):
    return [("x", torch.ones(4, 8)), ("y", torch.zeros(4, 8))]


def compute_golden(tensors, params):
    tensors["y"][:] = tensors["x"]{change}
"""
# Stands for the assembler: a unit with the kernel, and in it how often the text says "edit".
PTOAS = """\
#!/bin/sh
echo "using namespace pto;" > "$3"
echo "AICORE void kernel(Tensor x) { /* $(grep -c edit "$1") */ }" >> "$3"
"""


@pytest.fixture
def build(tmp_path):
    ir.compile(kernels.copy(), tmp_path, skip_ptoas=True)
    return tmp_path


def test_it_is_answered_under_its_name():
    with compat.answering():
        module = importlib.import_module("pypto.runtime.debug.replay")
        from pypto.runtime.debug.replay import replay as theirs
    assert theirs is replay
    assert module._main is main


def test_in_place_and_with_returned_outputs(build):
    x, y = torch.randn(4, 8), torch.zeros(4, 8)
    assert replay(build, x, y) is None
    assert torch.equal(y, x)
    assert torch.equal(replay(str(build), x, config=RunConfig(stage="frontend")), x)


def test_a_script_that_is_missing_is_made_again_and_an_edited_one_is_run(build):
    script = build / "torch/main.py"
    text = script.read_text()
    script.unlink()
    x = torch.ones(4, 8)
    assert torch.equal(replay(build, x), x)
    assert script.read_text() == text
    script.write_text(text + "\n\nfirst = main\n\n\ndef main(x, y):\n    return first(x, y).add_(1)\n")
    assert torch.equal(replay(build, x), x + 1)


def test_validation_is_against_golden_py(build, capsys):
    x, y = torch.randn(4, 8), torch.zeros(4, 8)
    with pytest.raises(FileNotFoundError, match=r"validation needs golden.py, and there is none in "):
        replay(build, x, y, validate=True)
    (build / "golden.py").write_text(GOLDEN.replace("{change}", ""))
    replay(build, x, y, validate=True)
    with pytest.raises(ValueError, match=r"golden.py has 2 inputs \(x, y\), and 1 are given"):
        replay(build, x, validate=True)
    (build / "golden.py").write_text(GOLDEN.replace("{change}", " + 1"))
    with pytest.raises(AssertionError, match="does not match golden"):
        replay(build, x, y, validate=True)
    (build / "golden.py").write_text("RTOL = 1")
    with pytest.raises(ValueError, match="golden.py defines no generate_inputs"):
        replay(build, x, y, validate=True)


def test_what_is_no_build(tmp_path):
    with pytest.raises(FileNotFoundError, match="is no complete build: it has no manifest.json"):
        replay(tmp_path, torch.ones(4))


def test_cpp_of_an_edited_text_is_made_again(tmp_path, monkeypatch):
    tool = tmp_path / "root/ptoas"
    tool.parent.mkdir()
    tool.write_text(PTOAS)
    tool.chmod(0o755)
    monkeypatch.setenv("PTOAS_ROOT", str(tool.parent))
    build = tmp_path / "build"
    ir.compile(kernels.scale(), build)
    entry, text = build / "kernels/aiv/kernel.cpp", build / "ptoas/kernel.pto"
    first = entry.read_text()
    assert "static __aicore__ void kernel(ChipTensor x) { /* 0 */ }\n\n// --- Kernel entry" in first
    x = torch.ones(4, 8)

    text.write_text("// edit\n" + text.read_text())
    monkeypatch.setenv("PYPTO_REBUILD_FROM_PTO", "0")
    replay(build, x, 2.0)
    monkeypatch.delenv("PYPTO_REBUILD_FROM_PTO")
    replay(build, x, 2.0, rebuild_from_pto=False)
    assert entry.read_text() == first
    assert torch.equal(replay(build, x, 2.0), x * 2)
    assert entry.read_text() == first.replace("/* 0 */", "/* 1 */")
    files = read_manifest(build).files
    assert {files[str(path.relative_to(build))] == file_record(path) for path in (entry, text)} == {True}

    monkeypatch.setenv("PTOAS_ROOT", str(tmp_path / "nowhere"))
    text.write_text("// edit\n" + text.read_text())
    replay(build, x, 2.0)  # without an assembler nothing is done, and nothing said


def test_the_command_runs_on_what_a_run_has_saved(build, capsys):
    assert main(argv=[str(build)]) == 1
    assert "has no saved inputs" in capsys.readouterr().err
    for side, name in (("in", "x"), ("out", "y")):
        (build / "data" / side).mkdir(parents=True)
        torch.save(torch.arange(32.0).reshape(4, 8), build / "data" / side / f"{name}.pt")
    with pytest.warns(UserWarning, match="no task ran on a core"):
        assert main(argv=[str(build), "--dep-gen"]) == 0
    assert capsys.readouterr().out == f"PASS (nothing was validated): {build}\n"
    assert (build / "dfx_outputs/deps.json").is_file()


def test_the_command_compares_as_its_user_does(build, capsys):
    x, y = torch.randn(4, 8), torch.zeros(4, 8)
    seen = []
    assert main(build, lambda: [x, y], lambda *given: seen.append(given), []) == 0
    assert seen == [(x, y)]
    assert torch.equal(y, x)

    def disagree(x, y):
        assert not torch.equal(x, y), "they are equal"

    assert main(build, lambda: [x, y], disagree, []) == 1
    assert "they are equal" in capsys.readouterr().err
    (build / "golden.py").write_text(GOLDEN.replace("{change}", ""))
    assert main(build, lambda: [x, y], None, []) == 0
    assert f"PASS: {build}" in capsys.readouterr().out
    assert main(build, lambda: [x, y], None, ["--no-validate"]) == 0
    assert "nothing was validated" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "what"),
    [
        (["--platform", "a5sim"], "the build is for Ascend910B"),
        (["--platform", "a2a3"], "needs a real Ascend NPU"),
        (["--swimlane-level", "7"], "enable_chip_swimlane"),
    ],
)
def test_what_the_command_refuses(build, capsys, argv, what):
    assert main(build, lambda: [torch.ones(4, 8), torch.ones(4, 8)], None, argv) == 1
    assert what in capsys.readouterr().err
