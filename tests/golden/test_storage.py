"""Runs on the bytes of tiles: after the run by values, what is told of a wrong plan, and the choices."""

import pytest
import torch
from cli.test_kernel_files import KERNEL
from click.testing import CliRunner
from storage.placed_kernels import inputs, placed

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.debug.validate.results import ValidationError
from pypto_tmpl.golden import ScalarSpec, TensorSpec, run
from pypto_tmpl.runtime.execute import execute_compiled

APART = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ 0x2000 FP32[16, 64] = load(y)
    c @ 0x4000 FP32[16, 64] = pl.tile.add(a, b)
    store(c)
"""
OVERLAID = APART.replace("0x2000", "0x1800")
AGAIN = "this was the run on the bytes of the tiles; the one by values is right"
TOLD = "kernel: written by line 11 `b` at Vec 0x1800-0x1fff while `a` is read on line 12"


@pytest.fixture
def run_placed(tmp_path):
    """Runs a kernel of placed tiles as it is written; ``storage`` is the knob."""

    def run_it(body, name="build", **knobs):
        x, y = inputs()
        specs = [
            TensorSpec("x", [16, 64], torch.float32, x),
            TensorSpec("y", [16, 64], torch.float32, y),
            ScalarSpec("n", torch.int64, 0),
            TensorSpec("out", [16, 64], torch.float32, torch.full((16, 64), 9.0), is_output=True),
        ]
        program = ir.deserialize(ir.serialize(placed(body)))
        return run(
            program,
            specs,
            lambda values: values["out"].copy_(values["x"] + values["y"]),
            compile_cfg={"output_dir": tmp_path / name, "dump_passes": True},
            runtime_cfg={"stage": "frontend", **knobs},
        )

    return run_it


def phases(text):
    return [line.removeprefix("[RUN] ")[:-4] for line in text.splitlines() if line.endswith(" ...")]


def test_a_plan_that_is_right_runs_by_values_and_on_bytes(run_placed, capsys):
    result = run_placed(APART)
    assert result.passed, result.error
    text = capsys.readouterr().out
    assert phases(text)[-2:] == ["runtime", "validate"] and text.count("'out' PASS") == 1
    scripts = [path.read_text() for path in sorted((result.work_dir / "torch").rglob("*.py"))]
    assert len(scripts) == 2 and ["_pool(" in text for text in scripts].count(True) == 1


def test_a_plan_that_is_wrong_fails_on_bytes_with_the_overwrite(run_placed):
    result = run_placed(OVERLAID)
    assert (result.passed, result.phase) == (False, "validate")
    assert result.error.splitlines()[-2:] == [AGAIN, TOLD]


@pytest.mark.parametrize(
    ("storage", "phase"),
    [("off", None), ("planned", "validate"), ("on", "validate"), (None, "validate")],
)
def test_the_choice_says_which_runs_there_are(run_placed, storage, phase):
    result = run_placed(OVERLAID, storage=storage)
    assert (result.passed, result.phase) == (phase is None, phase)


def test_an_unknown_choice_is_refused(run_placed):
    result = run_placed(APART, storage="of")
    told = "storage is 'of'; choices: planned, on, off, both; did you mean 'off'?"
    assert result.error == f"arguments: ValueError: {told}"


def test_one_run_of_a_build_is_of_one_kind(run_placed):
    build = run_placed(OVERLAID, storage="off").work_dir
    x, y = inputs()
    out = torch.zeros(16, 64)
    scalar = ScalarSpec("n", torch.int64, 0).to_ctypes()
    execute_compiled(build, [x, y, scalar, out])
    assert torch.equal(out, x + y)
    execute_compiled(build, [x, y, scalar, out], storage="planned")
    assert torch.equal(out[:8], x[:8] + y[:8])
    # rows 8 and later of `a` are where rows 0 and later of `b` lie
    assert torch.equal(out[8:], y[:8] + y[8:])
    with pytest.raises(ValueError, match="storage is 'both', and one run is by values or on bytes"):
        execute_compiled(build, [x, y, scalar, out], storage="both")


def test_run_takes_the_choice_on_its_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tile = "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec]"
    more = f"v: {tile} = pl.tile.add(u, t)\n        w: {tile} = pl.tile.sub(v, t)\n        r: "
    text = KERNEL.replace("r: ", more, 1).replace("store(u", "store(w")
    (tmp_path / "kernel.py").write_text(text)
    for choice, scripts in (("off", 1), ("both", 2)):
        command = ["run", "kernel.py", "--storage", choice, "--build-dir", choice]
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
        assert len(list((tmp_path / choice / "torch").rglob("*.py"))) == scripts


def test_a_compiled_program_validates_its_stages_on_bytes_too(run_placed):
    compiled = CompiledProgram.from_dir(run_placed(OVERLAID, storage="off").work_dir)
    x, y = inputs()
    tensors = {"x": x, "y": y, "n": 0, "out": torch.zeros(16, 64)}
    assert compiled.validate_ir(tensors, {"out": x + y}, storage="off").passed
    with pytest.raises(ValidationError) as error:
        compiled.validate_ir(tensors, {"out": x + y})
    assert error.value.result.bad[0].notes == (TOLD,)
