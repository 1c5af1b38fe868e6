"""MLIR takes the texts: those of recorded programs, and what the check has to find."""

import os
import subprocess
from pathlib import Path

import pytest

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.streams import pto_texts

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
BUILDS = sorted((HERE / "recorded").glob("*/*"))


def find_mlir() -> str | None:
    """A Python that has MLIR: that of MLIR_PYTHON, else that of `make mlir`."""
    for python in (os.environ.get("MLIR_PYTHON"), REPOSITORY / ".venv-mlir/bin/python"):
        if python and Path(python).is_file():
            found = subprocess.run([python, "-c", "import mlir.ir"], capture_output=True, check=False)
            return str(python) if found.returncode == 0 else None
    return None


@pytest.fixture(scope="module")
def mlir() -> str:
    python = find_mlir()
    if python is None:
        pytest.skip("no Python 3.12 with MLIR: `make mlir` makes one, MLIR_PYTHON names another")
    return python


def checked(mlir: str, folder: Path) -> tuple[int, list[str]]:
    command = [mlir, HERE / "mlir_check.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines() + done.stderr.splitlines()


def test_the_texts_of_programs(mlir: str, tmp_path: Path) -> None:
    count = 0
    for number, build in enumerate(BUILDS):
        program = ir.deserialize_from_file(str(build / "last.msgpack"))
        for path, text in pto_texts(program, BackendType[build.name]).items():
            file = tmp_path / str(number) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            count += 1
    assert checked(mlir, tmp_path) == (0, [f"{count}/{count}"])


WRONG = {
    "constant": ("%c0_index = arith.constant 0", "%c0_index = arith.constant 0.5", "not valid for"),
    "undefined": ("pto.tload ins(", "pto.tload ins(%nothing, ", "%nothing is not defined"),
    "type": ("v_row=?, v_col=?", "v_row=?, v_col=7", "printed as"),
    "region": ("  }\n}\n", "}\n", "expected"),
    "operands": ("  return\n", "  %x = arith.addi %c0_index, %arg0 : index\n  return\n", "different type"),
}


def test_what_is_wrong_is_found(mlir: str, tmp_path: Path) -> None:
    text = (HERE / "recorded/softmax_rows/Ascend910B/ptoas/main_incore_0.pto").read_text()
    text = "\n".join(part.partition(" loc(")[0] for part in text.splitlines()) + "\n"
    for name, (line, broken, _) in WRONG.items():
        place = text.rindex(line)
        (tmp_path / f"{name}.pto").write_text(text[:place] + broken + text[place + len(line) :])
    code, lines = checked(mlir, tmp_path)
    assert (code, lines[-1]) == (1, f"0/{len(WRONG)}")
    for name, (_, _, said) in WRONG.items():
        (found,) = [line for line in lines if line.startswith(f"{name}.pto: ")]
        assert said in found, found
