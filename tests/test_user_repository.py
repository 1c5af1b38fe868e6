"""examples/user_repo: its own tests and snapshots hold, and the documentation shows its files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from pypto_tmpl.cli import main

ROOT = Path(__file__).resolve().parent.parent
REPOSITORY = ROOT / "examples/user_repo"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the repository, which nothing above it configures."""
    copy = tmp_path / "user_repo"
    shutil.copytree(REPOSITORY, copy, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    monkeypatch.chdir(copy)
    return copy


def test_its_own_tests_pass(folder):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "pypto_tmpl.pytest_plugin",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout
    assert "1 passed\n" in done.stdout.partition("pypto snapshots")[2]


def test_its_scripts_are_those_that_are_emitted(folder):
    result = CliRunner().invoke(main, ["snapshot", "--check"])
    assert (result.exit_code, result.stdout) == (0, "2 golden scripts, 0 differ\n")


@pytest.mark.parametrize("file", [".github/workflows/snapshots.yml", ".pre-commit-config.yaml"])
def test_the_page_on_ci_shows_its_files(file):
    text = (REPOSITORY / file).read_text()
    assert f"```yaml\n{text}```\n" in (ROOT / "docs/ci.md").read_text()


def test_the_workflow_fits_its_schema():
    workflow = REPOSITORY / ".github/workflows/snapshots.yml"
    command = ["--builtin-schema", "vendor.github-workflows", str(workflow)]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *command], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_the_hooks_run_commands_that_there_are():
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (used,) = yaml.safe_load((REPOSITORY / ".pre-commit-config.yaml").read_text())["repos"]
    assert used["repo"] == "local"
    for hook in (*hooks, *used["hooks"]):
        assert {"id", "name", "entry", "language"} <= hook.keys()
        program, *arguments = hook["entry"].split()
        assert program == "pypto-tmpl"
        assert hook["pass_filenames"] is False
        assert CliRunner().invoke(main, [*arguments, "--help"]).exit_code == 0


def test_the_page_on_ci_names_no_place_that_is_none():
    """What is shown works as it is pasted: no file asks to have something filled in."""
    page = (ROOT / "docs/ci.md").read_text()
    shown = [yaml.safe_load(part.partition("```")[0]) for part in page.split("```yaml\n")[1:]]
    assert [sorted(map(str, found)) for found in shown] == [["repos"], ["True", "jobs", "name"]]  # on: true
    for found in shown:
        assert "OWNER" not in str(found) and "your-organisation" not in str(found)


def test_the_configuration_of_the_page_is_read(tmp_path):
    """docs/snapshots.md: every key that it shows is one that there is."""
    from pypto_tmpl.snapshots.config import read_config

    page = (ROOT / "docs/snapshots.md").read_text()
    (tmp_path / "pyproject.toml").write_text(page.partition("```toml\n")[2].partition("```")[0])
    table = read_config(tmp_path / "pyproject.toml").table
    assert (len(table.kernels), len(table.programs), len(table.dumps)) == (3, 1, 2)
