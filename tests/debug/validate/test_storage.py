"""Stages that run on the bytes of their tiles: which do, and what is said of those that are wrong there."""

from pathlib import Path

import pytest
import torch
from click.testing import CliRunner
from storage.placed_kernels import inputs, placed, run

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.debug import Options, first_divergence, validate_pass_ir_codegen_results
from pypto_tmpl.debug.validate.results import ValidationError

OVERLAID = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ 0x1800 FP32[16, 64] = load(y)
    c @ 0x4000 FP32[16, 64] = pl.tile.add(a, b)
    store(c)
"""
APART = OVERLAID.replace("0x1800", "0x2000")
TOLD = "kernel: written by line 11 `b` at Vec 0x1800-0x1fff while `a` is read on line 12"


@pytest.fixture
def dumps(tmp_path: Path) -> Path:
    """Two stages that compute the same by values; the second has two live tiles in the same bytes."""
    for name, body in (("35_after_AllocateMemoryAddr", APART), ("36_after_FoldNoOpReshape", OVERLAID)):
        (tmp_path / f"{name}.py").write_text(ir.python_print(placed(body), format=False))
    return tmp_path


def check(dumps: Path, **options: str) -> None:
    x, y = inputs()
    tensors = {"x": x, "y": y, "n": torch.tensor(0), "out": torch.zeros(16, 64)}
    validate_pass_ir_codegen_results(
        dumps, tensors, {"out": run(placed(APART), storage=False)}, entry="kernel", jobs=1, **options
    )


def test_the_first_stage_whose_bytes_are_wrong_is_told_with_the_overwrite(dumps: Path) -> None:
    with pytest.raises(ValidationError) as error:
        check(dumps)
    assert [stage.stage.name for stage in error.value.result.bad] == ["36_after_FoldNoOpReshape"]
    assert error.value.result.bad[0].notes == (TOLD,)
    assert TOLD in str(error.value)
    assert "this was a run on the bytes of the tiles" in str(error.value)
    told = [stage["on_bytes"] for stage in error.value.result.as_dict()["stages"]]
    assert told == [True, True]


def test_a_stage_that_is_wrong_by_values_is_not_said_to_be_wrong_on_bytes(tmp_path: Path) -> None:
    text = ir.python_print(placed(APART.replace("add", "sub")), format=False)
    (tmp_path / "35_after_AllocateMemoryAddr.py").write_text(text)
    with pytest.raises(ValidationError) as error:
        check(tmp_path)
    assert "on the bytes" not in str(error.value)


def test_by_values_both_stages_are_right(dumps: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(dumps, storage="off")
    assert "same IR as 35_after_AllocateMemoryAddr: not run again" in capsys.readouterr().out


def test_both_readings_are_run(dumps: Path) -> None:
    with pytest.raises(ValidationError) as error:
        check(dumps, storage="both")
    assert error.value.result.bad[0].notes == (TOLD,)


@pytest.mark.parametrize(("storage", "bad"), [("planned", []), ("on", ["32_after_InitMemRef"])])
def test_tiles_without_addresses_have_places_where_that_is_asked_for(
    tmp_path: Path, storage: str, bad: list[str]
) -> None:
    body = """
        a @ 0 FP32[16, 64] = load(x)
        b @ 0 FP32[16, 64] = load(y)
        c @ other+0 FP32[16, 64] = pl.tile.add(a, b)
        store(c)
    """
    text = ir.python_print(placed(body), format=False)
    for name in ("32_after_InitMemRef", "34_after_MemoryReuse"):
        (tmp_path / f"{name}.py").write_text(text)
    try:
        check(tmp_path, storage=storage)
        found = []
    except ValidationError as error:
        found = [stage.stage.name for stage in error.result.bad]
        assert error.result.bad[0].notes == (
            "kernel: written by line 11 `b` at mem 0x0-0xfff while `a` is read on line 12",
        )
    assert found == bad


def test_before_memory_reuse_loops_copy_what_they_yield(tmp_path: Path) -> None:
    """The sum has an allocation of its own, from which MemoryReuse plans a copy."""
    body = """
        third: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 4096)
        a @ 0 FP32[16, 64] = load(x)
        b @ other+0 FP32[16, 64] = load(y)
        for i, (c,) in pl.range(3, init_values=(a,)):
            s @ third+0 FP32[16, 64] = pl.tile.add(b, c)
            d = pl.yield_(s)
        store(d)
    """
    for name in ("32_after_InitMemRef", "33_after_MaterializeSemanticAliases", "34_after_MemoryReuse"):
        (tmp_path / f"{name}.py").write_text(ir.python_print(placed(body), format=False))
    x, y = inputs()
    tensors = {"x": x, "y": y, "n": torch.tensor(0), "out": torch.zeros(16, 64)}
    with pytest.raises(ValidationError) as error:
        validate_pass_ir_codegen_results(
            tmp_path, tensors, {"out": x + 3 * y}, entry="kernel", jobs=1, storage="on"
        )
    assert [stage.stage.name for stage in error.value.result.bad] == ["34_after_MemoryReuse"]
    for name, code in (("32_after_InitMemRef", 0), ("34_after_MemoryReuse", 1)):
        checked = CliRunner().invoke(main, ["memory", str(tmp_path / f"{name}.py"), "--check"])
        assert checked.exit_code == code


def test_a_choice_that_there_is_not_is_refused(dumps: Path) -> None:
    with pytest.raises(ValueError) as error:
        check(dumps, storage="of")
    assert str(error.value) == "storage is 'of'; choices: planned, on, off, both; did you mean 'off'?"


def test_the_plan_of_a_stage_is_checked_without_running_it(dumps: Path) -> None:
    wrong = CliRunner().invoke(main, ["memory", str(dumps / "36_after_FoldNoOpReshape.py"), "--check"])
    assert (wrong.exit_code, wrong.stdout.splitlines()[-2:]) == (1, [f"wrong: {TOLD}", "1 problem"])
    right = CliRunner().invoke(main, ["memory", str(dumps / "35_after_AllocateMemoryAddr.py"), "--check"])
    assert right.exit_code == 0
    assert right.stdout.splitlines()[-1] == "check: tiles are where they are read"


ALL_AT_0 = """
    a @ 0 FP32[16, 64] = load(x)
    b @ other+0 FP32[16, 64] = load(y)
    c @ other+0 FP32[16, 64] = pl.tile.add(a, b)
    store(c)
"""
AT_0 = "kernel: written by line 11 `b` at Vec 0x0-0xfff while `a` is read on line 12"


@pytest.mark.parametrize(
    ("stage", "bad"),
    [
        ("35_after_AllocateMemoryAddr", True),
        ("38_after_DeriveCallDirections", True),
        ("36_after_DeriveCallDirections", False),  # of the planner PTOAS, which has placed nothing
    ],
)
def test_a_plan_in_which_all_begins_at_0_is_one_from_the_stage_on_that_has_addresses(
    tmp_path: Path, stage: str, bad: bool
) -> None:
    text = ir.python_print(placed(ALL_AT_0), format=False)
    for name in ("34_after_MemoryReuse", stage):
        (tmp_path / f"{name}.py").write_text(text)
    try:
        check(tmp_path)
        found = []
    except ValidationError as error:
        found = [(stage.stage.name, stage.notes) for stage in error.result.bad]
    assert found == ([(stage, (AT_0,))] if bad else [])
    dump = tmp_path / f"{stage}.py"
    checked = CliRunner().invoke(main, ["memory", str(dump), "--check"])
    assert (f"wrong: {AT_0}" in checked.stdout.splitlines()) is bad
    script = CliRunner().invoke(main, ["gen", str(dump), "--storage"])
    pools = [line.split()[0] for line in script.stdout.splitlines() if "= _pool(" in line]
    assert pools == (["vec"] if bad else ["mem", "other"])


def test_bisect_names_the_overwrite_of_a_plan_in_which_all_begins_at_0(tmp_path: Path) -> None:
    for name in ("34_after_MemoryReuse", "35_after_AllocateMemoryAddr"):
        (tmp_path / f"{name}.py").write_text(ir.python_print(placed(ALL_AT_0), format=False))
    x, y = inputs()
    tensors = {"x": x, "y": y, "n": torch.tensor(0), "out": torch.zeros(16, 64)}
    found = first_divergence(tmp_path, tensors, {"out": x + y}, Options(entry="kernel", jobs=1))
    assert found is not None and found.overwrite is not None
    assert (found.first_bad, found.overwrite.text) == ("35_after_AllocateMemoryAddr", AT_0[8:])
