"""Expected intermediates: whole values and values in tiles, right, wrong, and names that nothing has."""

from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from corpus_check import load_program
from scaled_dumps import expected, inputs, scaled_text, write_dump

from pypto_tmpl.cli import main
from pypto_tmpl.debug import ValidationError, validate_pass_ir_codegen_results
from pypto_tmpl.debug.validate.checkpoints import CheckpointError

CORPUS = Path(__file__).resolve().parents[2] / "corpus"


def check(folder, checkpoints, **keywords):
    return validate_pass_ir_codegen_results(
        folder, inputs(), expected(), checkpoints=checkpoints, jobs=1, **keywords
    )


def upper_halves(factor):
    """What ``a`` is in all rounds: rows 0-7 of each 16, scaled."""
    x = inputs()["x"]
    return factor * torch.cat([x[row : row + 8] for row in (0, 16, 32, 48)])


def test_the_tiles_of_all_rounds_are_one_tensor(tmp_path):
    folder = write_dump(tmp_path, scaled_text(), scaled_text(ssa="__ssa_v0"))
    result = check(folder, {"a": upper_halves(2.0)})
    assert [[v.name for v in stage.verdicts] for stage in result.stages] == [["out", "a"]] * 2
    assert result.passed


def test_a_wrong_intermediate_fails_though_the_outputs_are_right(tmp_path):
    wanted = upper_halves(2.0)
    wanted[9, 3] += 100
    with pytest.raises(ValidationError) as raised:
        check(write_dump(tmp_path, scaled_text()), {"a": wanted})
    out, a = raised.value.result.stages[0].verdicts
    assert out.passed and not a.passed
    assert a.shape.bad == 1 and a.shape.first.index == (9, 3)
    assert a.max_abs_diff == 100.0


def test_tiles_that_do_not_make_up_the_checkpoint(tmp_path):
    with pytest.raises(ValidationError, match=r"4 values of shape \[8, 32\] do not make up \[64, 32\]"):
        check(write_dump(tmp_path, scaled_text()), {"a": inputs()["x"]})


def test_a_name_that_no_stage_has(tmp_path):
    folder = write_dump(tmp_path, scaled_text())
    with pytest.raises(CheckpointError, match="no variable of the 1 stages is named 'resid'"):
        check(folder, {"resid": torch.zeros(3)})
    with pytest.raises(ValueError, match="'out' is among the expected tensors"):
        check(folder, {"out": torch.zeros(3)})
    with pytest.raises(TypeError, match="checkpoints"):
        check(folder, {"a": 3})


def test_the_same_checkpoint_holds_before_and_after_lanes_split_it():
    """``scaled`` is a quarter of ``a``, made anew in each round and, once lanes are there, by halves."""
    program = load_program(CORPUS / "programs/mixed_bidirect_up_down.py")
    tensors = program.make_inputs()
    golden = {name: tensor.clone() for name, tensor in tensors.items()}
    program.golden(golden)
    outputs = {name: golden[name] for name in program.outputs}
    for stage in ("00_frontend", "11_after_ConvertTensorToTileOps"):
        dump = CORPUS / f"dumps/mixed_bidirect_up_down/Ascend910B/{stage}.py"
        result = validate_pass_ir_codegen_results(
            dump, tensors, outputs, checkpoints={"scaled": tensors["a"] * 0.25}, jobs=1
        )
        assert result.passed and [v.name for v in result.stages[0].verdicts] == [*outputs, "scaled"]


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    wrong = upper_halves(2.0) + 1000
    for name, tensors in (("in", inputs()), ("out", expected()), ("mid", {"a": wrong})):
        (tmp_path / name).mkdir()
        for tensor, value in tensors.items():
            torch.save(value, tmp_path / name / f"{tensor}.pt")
    write_dump(tmp_path / "dump", scaled_text())
    command = ["validate", "dump", "--inputs", "in", "--expected", "out", "--checkpoints", "mid"]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert "validate tensor: 'a', max_abs_diff: 1.000000e+03, pass: False" in result.output
    rerun = "validate dump/00_frontend.py --inputs in --expected out --checkpoints mid"
    assert f"rerun: pypto-tmpl {rerun}\n" in result.output
    (tmp_path / "mid/a.pt").rename(tmp_path / "mid/nosuch.pt")
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "no variable of the 1 stages is named 'nosuch'" in result.output


def test_the_last_round_of_two_lanes_is_one_value():
    """c is updated 64 columns at a time: the last new tile is what its last columns become."""
    data = load_program(CORPUS / "programs/mixed_c2v_up_down.py")
    tensors = data.make_inputs()
    golden = {name: tensor.clone() for name, tensor in tensors.items()}
    data.golden(golden)
    dumps, outputs = CORPUS / "dumps/mixed_c2v_up_down/Ascend910B", {"c": golden["c"]}
    last = golden["c"][:, -64:]
    for stage in ("18_after_InferTileMemorySpace", "22_after_ExpandMixedKernel"):
        path = dumps / f"{stage}.py"
        result = validate_pass_ir_codegen_results(path, tensors, outputs, checkpoints={"nxt": last})
        assert [(v.name, v.passed) for v in result.stages[0].verdicts] == [("c", True), ("nxt", True)]
        with pytest.raises(AssertionError, match="'nxt' not as expected, max diff 1"):
            validate_pass_ir_codegen_results(path, tensors, outputs, checkpoints={"nxt": last + 1})
