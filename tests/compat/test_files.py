"""Kernel files as their authors write them run unchanged, with the numbers that torch gives."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pypto_tmpl.cli import main

FILES = sorted((Path(__file__).parent / "files").glob("*.py"))
OPTIONS = [
    ("padded_columns", "--cols 100"),
    ("padded_columns", "--cols 64"),
    ("tail_after_return", "--rows 57"),
    ("group_quant", "--rows 57"),
    ("latent_scores", "--length 64"),
    ("pooled_windows", "--variant max"),
]


def executed(path: Path, *options: str, platform: str = "a2a3sim") -> Result:
    return CliRunner().invoke(main, ["exec", str(path), "-p", platform, *options])


def test_there_are_files() -> None:
    assert len(FILES) >= 10


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_runs(path: Path, platform: str) -> None:
    result = executed(path, platform=platform)
    assert result.exit_code == 0, result.output
    assert "[RUN] PASS" in result.output


@pytest.mark.parametrize(("name", "options"), OPTIONS)
def test_a_file_runs_with_other_shapes(name: str, options: str) -> None:
    path = next(path for path in FILES if path.stem == name)
    result = executed(path, *options.split())
    assert result.exit_code == 0, result.output


def test_another_golden_function_fails(tmp_path: Path) -> None:
    path = tmp_path / "half_gate.py"
    text = next(path for path in FILES if path.stem == "half_gate").read_text()
    path.write_text(text.replace("(y / 3)", "(y / 4)"))
    result = executed(path)
    assert result.exit_code == 1 and "'wide' FAIL" in result.output
