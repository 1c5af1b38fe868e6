"""An input that a program only reads, and a stage that writes to it: no outputs need be wrong for that."""

import pytest
import torch
from scaled_dumps import expected, inputs, scaled_text, tensor, write_dump

from pypto_tmpl.debug import Options, ValidationError, first_divergence, validate_pass_ir_codegen_results

GOOD = scaled_text()
# Row 5 of x is made row 6 when all has been read of it.
WRITE = f"        x: {tensor()} = pl.tensor.assemble(x, pl.tensor.slice(x, [1, 32], [6, 0]), [5, 0])\n"
BAD = GOOD.replace("        return out", f"{WRITE}        return out")


def test_validation_says_which_where_and_by_which_statement(tmp_path, capsys):
    folder = write_dump(tmp_path, GOOD, GOOD, BAD)
    with pytest.raises(ValidationError) as caught:
        validate_pass_ir_codegen_results(folder, inputs(), expected(), jobs=1)
    (stage,) = caught.value.result.bad
    assert stage.stage.name == "02_after_Pass2"
    assert [(verdict.name, verdict.passed) for verdict in stage.verdicts] == [("out", True), ("x", False)]
    text = str(caught.value)
    assert "the program only reads this input, but the stage has changed it" in text
    assert "changed by: main, " in text and "02_after_Pass2.py:13: x: " in text
    assert "bad cells: 32 of 2048" in text and "[5, 0]: got 193.0, expected 161.0" in text
    assert "only" not in next(line for line in text.splitlines() if "rerun" in line)


def test_the_search_names_the_statement(tmp_path):
    found = first_divergence(write_dump(tmp_path, GOOD, GOOD, BAD), inputs(), expected(), Options(jobs=1))
    assert (found.first_bad, found.last_good) == ("02_after_Pass2", "01_after_Pass1")
    assert found.place.source.endswith("02_after_Pass2.py:13") and found.place.variable == "x"
    assert found.evidence == ("it writes to x, which the program only reads",)


def test_what_is_expected_or_declared_to_change_may_change(tmp_path):
    folder = write_dump(tmp_path, BAD)
    changed = inputs()["x"]
    changed[5] = changed[6]
    assert validate_pass_ir_codegen_results(folder, inputs(), {**expected(), "x": changed}).passed
    in_place = BAD.replace(f"x: {tensor()},", f"x: pl.InOut[{tensor()}],")
    assert in_place != BAD
    assert validate_pass_ir_codegen_results(write_dump(tmp_path / "b", in_place), inputs(), expected()).passed


def test_values_that_are_written_back_are_no_change(tmp_path):
    same = BAD.replace("[5, 0])\n", "[6, 0])\n")
    given = inputs()
    given["x"][6, 3] = torch.nan
    wanted = {"out": given["x"] * 2}
    result = validate_pass_ir_codegen_results(write_dump(tmp_path, same), given, wanted, equal_nan=True)
    assert result.passed
