"""What editors and type checkers know of the ops: the generated stub files."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import pypto_tmpl
from pypto_tmpl.cli import main
from pypto_tmpl.language.namespaces import stubs

KERNEL = """\
import pypto_tmpl.language as pl
import pypto_tmpl.language.distributed as pld

N = pl.dynamic("N")


@pl.jit
def softmax(x: pl.Tensor[[N, 96], pl.FP32], table: pl.Tensor, out: pl.Out[pl.Tensor]) -> pl.Tensor:
    rows, columns = x.shape
    for r in pl.parallel(0, rows, 32):
        block = pl.slice(x, [32, 96], [r, 0])
        out[r : r + 16, :] = pl.exp(block)[0:16, :]
        shifted = pl.row_expand_sub(block, pl.row_max(block))
        total = pl.add(pl.row_sum(pl.exp(shifted)), 1e-6)
        scaled = pl.mul(pl.cast(total, target_type=pl.BF16, mode="rint"), 0.5)
        picked = pl.gather(block, dim=-1, index=table)
        wide = pl.matmul(picked, block, out_dtype=pl.FP32, b_trans=True)
        row = pl.read(table, [r, 0]) + 1
        out = pl.assemble(out, pl.maximum(wide, scaled), [row, 0])
    return out


@pl.function(type=pl.FunctionType.InCore)
def copy(
    x: pl.Tensor[[16, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[16, 64], pl.FP32, pl.NZ]],
    window: pld.DistributedTensor[[16, 64], pl.FP32],
) -> pl.Tensor[[16, 64], pl.FP32]:
    i: pl.Scalar[pl.INT32] = n + 1
    t = pl.tile.load(x, [0, 0], [16, 64], target_memory=pl.Mem.Vec)
    masked = pl.tile.gather_mask(t, mask_pattern=pl.tile.MaskPattern.P0101)
    pld.remote_store(masked, window, 0, [0, 0])
    return pl.store(pl.add(t, 1), [0, 0], out)
"""
WRONG = {
    "keyword": (
        "b_trans=True",
        "b_transposed=True",
        'No overload variant of "matmul" matches|Unexpected keyword',
    ),
    "operand": ("pl.tile.load(x,", "pl.tile.load(3,", 'Argument 1 to "load" has incompatible type "int"'),
    "name": ("pl.row_sum", "pl.row_summ", 'Module has no attribute "row_summ"'),
    "dtype": ("target_type=pl.BF16", "target_type='BF16'", 'No overload variant of "cast" matches'),
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The errors that mypy finds in each kernel file; it raises the recursion limit of its process for good.

    One run looks at all of them: most of its time goes into what they import.
    """
    folder = tmp_path_factory.mktemp("typing")
    texts = {"right": KERNEL} | {name: KERNEL.replace(old, new) for name, (old, new, _) in WRONG.items()}
    for name, text in texts.items():
        (folder / f"{name}_kernel.py").write_text(text)
    options = ["--strict", "--follow-imports=silent", f"--cache-dir={os.devnull}", "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, *(f"{name}_kernel.py" for name in texts)]
    environment = os.environ | {"MYPYPATH": str(Path(pypto_tmpl.__file__).parent.parent)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    lines = [line for line in done.stdout.splitlines() if ": error:" in line]
    found = {name: [line for line in lines if line.startswith(f"{name}_kernel.py:")] for name in texts}
    assert sum(map(len, found.values())) == len(lines), done.stdout
    return found


def test_the_stubs_are_fresh() -> None:
    assert stubs.stale_stubs() == [], "update: pypto-tmpl ops stubs --write"


def test_stale_stubs_are_told_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stubs, "__file__", str(tmp_path / "stubs.py"))
    told = CliRunner().invoke(main, ["ops", "stubs", "--check"])
    assert told.exit_code == 1
    assert f"{tmp_path / 'tile.pyi'} is out of date" in told.output
    assert CliRunner().invoke(main, ["ops", "stubs", "--write"]).exit_code == 0
    assert CliRunner().invoke(main, ["ops", "stubs", "--check"]).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{name}.pyi" for name in stubs.MODULES)
    assert CliRunner().invoke(main, ["ops", "stubs"]).exit_code == 2


def test_every_name_of_a_namespace_stands_in_its_stub() -> None:
    for module, namespace in stubs.MODULES.items():
        tree = ast.parse((Path(stubs.__file__).parent / f"{module}.pyi").read_text())
        defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert defined == stubs.names_in(namespace)


@pytest.mark.slow
@pytest.mark.xdist_group("type_checker")
def test_a_kernel_passes_the_type_checker(errors: dict[str, list[str]]) -> None:
    assert errors["right"] == []


@pytest.mark.slow
@pytest.mark.xdist_group("type_checker")
@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_in_a_kernel_is_flagged(mistake: str, errors: dict[str, list[str]]) -> None:
    before, after, message = WRONG[mistake]
    assert KERNEL.count(before) == 1
    (line,) = {int(error.split(":")[1]) for error in errors[mistake]}
    assert after in KERNEL.replace(before, after).splitlines()[line - 1]
    assert re.search(message, "\n".join(errors[mistake]))
