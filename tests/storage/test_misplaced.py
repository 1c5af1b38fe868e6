"""Tiles and allocations that cannot be where a program has them: one message, from whoever reads it.

Each has the function, the variable, its address, its size and its line. Sizes are longhand: FP32[16, 64] has
4096 bytes, a Vec at most 0x3c000 = 245760 (of 950; 910B has 0x2e000), as the specification says.
"""

from pathlib import Path

import pytest
import torch
from click.testing import CliRunner, Result
from storage.placed_kernels import inputs, placed

from pypto_tmpl import ir
from pypto_tmpl.cli import main
from pypto_tmpl.debug import ValidationError, validate_pass_ir_codegen_results

GOOD = """
    a @ 0x1000 FP32[16, 64] = load(x)
    b @ other+0x12000 FP32[16, 64] = pl.tile.muls(a, 2.0)
    store(b)
"""
STAGE = "35_after_AllocateMemoryAddr"


def at(address: str) -> str:
    """The text of a program whose second tile, of line 12, begins elsewhere."""
    return printed(GOOD.replace("other+0x12000", address))


def then(line: str) -> str:
    """The text of a program with one more tile, on line 13."""
    return printed(GOOD.replace("store(b)", f"{line}\n    store(b)"))


def printed(body: str) -> str:
    return ir.python_print(placed(body), format=False)


def allocated(other: str) -> str:
    """The text of a program with another second allocation, on line 9."""
    return printed(GOOD).replace(
        "pl.tile.alloc(pl.Mem.Vec, 65536)\n        a:", f"pl.tile.alloc({other})\n        a:"
    )


CASES = {
    "beyond its memory": (
        at("other+0x3b800"),
        "b",
        "a tile of 4096 bytes at Vec 0x3b800, and no core has more than 0x3c000 there",
    ),
    "before its memory": (
        at("other+-64"),
        "b",
        "a tile of 4096 bytes at Vec -0x40, in an allocation of 65536 bytes from -0x40 on",
    ),
    "at no multiple of 32": (
        at("0x2010"),
        "b",
        "a tile of 4096 bytes at Vec 0x2010, which is no multiple of 32",
    ),
    "within an element": (
        at("0x2022"),
        "b",
        "a tile of 4096 bytes at Vec 0x2022, which is no multiple of the 4 bytes of an element",
    ),
    "at no integer": (
        at("other+0x12000").replace("pl.const(73728, pl.INT64)", "pl.const(1.5, pl.INT64)"),
        "b",
        "a tile of 4096 bytes at Vec 1.5, which is no integer",
    ),
    "in boxes that there are not": (
        then("w @ other+0x12000 FP32[16, 64] = pl.tile.reshape(b, [16, 64])").replace(
            "pl.Mem.Vec] = pl.tile.reshape",
            "pl.Mem.Vec, pl.TileView(slayout=pl.TileLayout.row_major, fractal=100)] = pl.tile.reshape",
        ),
        "w",
        "a tile in boxes of 100 bytes, which there are not (there are boxes of 512, 1024, 32)",
    ),
    "beyond its allocation": (
        at("0x10800"),
        "b",
        "a tile of 4096 bytes at Vec 0x10800, in an allocation of 65536 bytes from 0x1000 on",
    ),
    "larger than its allocation": (
        allocated("pl.Mem.Vec, 2048"),
        "b",
        "a tile of 4096 bytes at Vec 0x12000, in an allocation of 2048 bytes from 0x12000 on",
    ),
    "in nothing that is allocated": (
        at("ghost+0x12000"),
        "b",
        "a tile of 4096 bytes at Vec 0x12000, in 'ghost', which nothing allocates",
    ),
    "in another memory": (
        allocated("pl.Mem.Mat, 65536"),
        "b",
        "a tile of 4096 bytes at Vec 0x12000, in an allocation of Mat",
    ),
    "an allocation in an unknown memory": (
        allocated("99, 65536"),
        "other",
        "an allocation of 65536 bytes in memory 99, which there is not (there are 0 DDR, 1 Vec, 2 Mat,"
        " 3 Left, 4 Right, 5 Acc, 6 Bias, 7 ScalarLocal, 8 LeftScale, 9 RightScale)",
    ),
    "an allocation larger than its memory": (
        allocated("pl.Mem.Vec, 245792"),
        "other",
        "an allocation of 245792 bytes in Vec, of which no core has more than 245760",
    ),
    "a window beyond its tile": (
        then("w @ other+0x12c40 FP32[8, 16] = pl.tile.slice(b, [8, 16], [12, 16])"),
        "w",
        # seven rows of 256 bytes, and 64 of the last
        "a window [8, 16] of 1856 bytes at Vec 0x12c40, from [12, 16] on in a tile [16, 64]",
    ),
    "a view of more bytes": (
        then("w @ other+0x12000 FP32[32, 64] = pl.tile.reshape(b, [32, 64])"),
        "w",
        "a view of 8192 bytes at Vec 0x12000, of a tile of 4096 bytes",
    ),
    "a view larger than its type": (
        then("w @ other+0x12000 FP32[16, 64] = pl.tile.reshape(b, [16, 64])").replace(
            "4096), pl.Mem.Vec] = pl.tile.reshape", "2048), pl.Mem.Vec] = pl.tile.reshape"
        ),
        "w",
        "a tile of 4096 bytes at Vec 0x12000, for which its type has 2048 bytes",
    ),
}
LINES = {"other": 9, "b": 11, "w": 12}


def command(name: str, dump: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [name, str(dump), *words])


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str, str]:
    text, variable, what = CASES[request.param]
    dump = tmp_path / f"{STAGE}.py"
    dump.write_text(text)
    return dump, variable, what


def test_no_script_is_made_of_it(case: tuple[Path, str, str]) -> None:
    dump, variable, what = case
    result = command("gen", dump, "--storage")
    place = f"(function 'kernel', variable {variable!r}, {dump}:{LINES[variable]}:9)"
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.splitlines() == [
        "error[unsupported]: 1 thing in this program cannot be emitted",
        f"   = {what} {place}",
    ]
    assert command("gen", dump).exit_code == 0


def test_the_check_of_the_plan_tells_of_it(case: tuple[Path, str, str]) -> None:
    dump, variable, what = case
    result = command("memory", dump, "--check")
    assert result.exit_code == 1
    assert f"wrong: kernel: `{variable}` on line {LINES[variable]} is {what}" in result.stdout.splitlines()


def test_a_run_on_bytes_is_refused_with_it(case: tuple[Path, str, str]) -> None:
    dump, variable, what = case
    x, y = inputs()
    tensors = {"x": x, "y": y, "n": torch.tensor(0), "out": torch.zeros(16, 64)}
    with pytest.raises(ValidationError) as error:
        validate_pass_ir_codegen_results(dump, tensors, {"out": 2 * x}, entry="kernel", jobs=1)
    assert f"{what} (function 'kernel', variable {variable!r}, " in str(error.value)
    assert f"{dump.name}:{LINES[variable]}" in str(error.value)


def test_a_window_that_leaves_its_tile_in_a_run_is_told_with_the_statement(tmp_path: Path) -> None:
    dump = tmp_path / f"{STAGE}.py"
    dump.write_text(then("w @ other+0x12000 FP32[8, 16] = pl.tile.slice(b, [8, 16], [n, 16])"))
    assert command("gen", dump, "--storage").exit_code == 0
    x, y = inputs()
    tensors = {"x": x, "y": y, "n": torch.tensor(9), "out": torch.zeros(16, 64)}
    with pytest.raises(ValidationError) as error:
        validate_pass_ir_codegen_results(
            dump, tensors, {"out": 2 * x}, entry="kernel", jobs=1, storage="planned"
        )
    told = str(error.value)
    for part in (
        "a window [8, 16] of 512 bytes from [9, 16] on is not inside of a tile [16, 64]",
        "of 4096 bytes at 0x12000",
        "in kernel",
        "w = _window(b, [n, 16], [8, 16])",
        f"{dump.name}:12",
    ):
        assert part in told


@pytest.mark.parametrize(
    ("before", "after", "what", "column"),
    [
        (
            "4096), pl.Mem.Vec] = pl.tile.muls",
            "4096), pl.Mem.Vex] = pl.tile.muls",
            "the memory of a tile",
            91,
        ),
        ("alloc(pl.Mem.Vec", "alloc(pl.Mem.Vex", "'pl.Mem.Vex'", 37),
    ],
)
def test_a_memory_that_there_is_not_is_no_text_that_can_be_read(
    tmp_path: Path, before: str, after: str, what: str, column: int
) -> None:
    dump = tmp_path / f"{STAGE}.py"
    dump.write_text(printed(GOOD).replace(before, after, 1))
    for words in (("gen", dump, "--storage"), ("memory", dump, "--check")):
        result = command(*words)
        assert result.exit_code == 2
        assert "Traceback" not in result.stderr
        assert what in result.stderr.splitlines()[0]
        assert f"{dump}:" in result.stderr.splitlines()[1]
