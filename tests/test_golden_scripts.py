"""The committed scripts: emitted anew they are the same, and executed they agree with the goldens."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from corpus_check import compare_with_golden, load_program

from pypto_tmpl.cli import main
from pypto_tmpl.debug.snapshots import SnapshotCase, find_cases, find_example_cases, stale_scripts

ROOT = Path(__file__).resolve().parent.parent
DUMPS, GOLDEN = ROOT / "tests/corpus/dumps", ROOT / "golden_scripts"
CASES = list(find_cases(DUMPS, GOLDEN))
IDS = [case.name for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_script_is_unchanged(case, golden_script):
    golden_script(case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_script_agrees_with_golden(case):
    program = load_program(ROOT / "tests/corpus/programs" / f"{case.name.partition('/')[0]}.py")
    namespace = {}
    exec(compile(case.script.read_text(), f"<golden {case.name}>", "exec"), namespace)
    assert compare_with_golden(program, namespace[program.entry]) is None


def test_there_are_as_many_cases_as_stages_with_a_dump():
    # 33 frontends, 28 ConvertTensorToTileOps, 31 ExpandMixedKernel, 31 last (two have a frontend only)
    assert len(CASES) == 123
    assert {case.name.partition("/")[0] for case in CASES if case.name.endswith("/frontend")} == {
        path.stem for path in (ROOT / "tests/corpus/programs").glob("*.py")
    }


def test_every_script_has_a_case():
    examples = list(find_example_cases(ROOT / "examples", GOLDEN))
    assert len(examples) == 14
    assert stale_scripts(GOLDEN, CASES + examples) == []
    assert len([*GOLDEN.rglob("*.py")]) == len(CASES) + 14


@pytest.fixture
def project(tmp_path):
    """A folder with one program's dumps and no golden scripts, and the command's options for it."""
    dumps = tmp_path / "dumps"
    (dumps / "cast_rounding").mkdir(parents=True)
    (dumps / "cast_rounding/Ascend910B").symlink_to(DUMPS / "cast_rounding/Ascend910B")
    (tmp_path / "examples").mkdir()
    places = {"dumps": dumps, "examples": tmp_path / "examples", "golden": tmp_path / "golden"}
    return tmp_path, [word for name, path in places.items() for word in (f"--{name}", str(path))]


def run(*args):
    return CliRunner().invoke(main, ["snapshot", *args])


def test_the_command_reports_updates_and_then_agrees(project, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    folder, options = project
    missing = run(*options)
    assert missing.exit_code == 1
    assert "missing: cast_rounding/frontend" in missing.stdout

    updated = run("--update", "cast_rounding/frontend", *options)
    assert updated.exit_code == 0
    assert (folder / "golden/cast_rounding/frontend.py").read_bytes() == (
        GOLDEN / "cast_rounding/frontend.py"
    ).read_bytes()
    same = run("cast_rounding/frontend", *options)
    assert (same.exit_code, same.stdout) == (0, "1 golden scripts, 0 differ\n")


def test_the_command_shows_a_difference_in_every_format(project, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    folder, options = project
    run("--update", *options)
    script = folder / "golden/cast_rounding/frontend.py"
    script.write_text(script.read_text() + "# by hand\n")
    text = run("--diff", *options)
    assert text.exit_code == 1
    assert "-# by hand" in text.stdout
    rows = [json.loads(line) for line in run("--format", "json", *options).stdout.splitlines()]
    assert rows == [{"case": "cast_rounding/frontend", "script": script.as_posix(), "state": "differs"}]
    annotations = run("--format", "github", *options).stdout
    assert annotations == (
        f"::error file={script.as_posix()}::golden script differs; "
        "accept it by `pypto-tmpl snapshot --update cast_rounding/frontend`\n"
    )


def test_a_script_without_a_case_counts_as_a_difference(project, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    folder, options = project
    run("--update", *options)
    emitted = (folder / "golden/cast_rounding/frontend.py").read_text()
    (folder / "golden/cast_rounding/old_stage.py").write_text(emitted)
    result = run(*options)
    assert result.exit_code == 1
    assert "stale: " in result.stdout


def test_a_broken_dump_gives_exit_code_2(project, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    folder, options = project
    broken = folder / "dumps/broken/Ascend910B"
    broken.mkdir(parents=True)
    (broken / "00_frontend.msgpack").write_bytes(b"\xc1")
    result = run("broken", *options)
    assert result.exit_code == 2
    assert "broken/frontend: error[" in result.stderr


def test_nothing_is_updated_in_ci(project, monkeypatch):
    monkeypatch.setenv("CI", "true")
    _, options = project
    result = run("--update", *options)
    assert result.exit_code == 2
    assert "not updated where CI is set" in result.stderr


def test_update_writes_nothing_when_the_script_cannot_be_emitted(tmp_path):
    script = tmp_path / "golden/x.py"
    script.parent.mkdir()
    script.write_text("good\n")
    (tmp_path / "bad.msgpack").write_bytes(b"\x81")
    case = SnapshotCase("x/frontend", tmp_path / "bad.msgpack", script)
    with pytest.raises(ValueError):
        case.compare()
    assert script.read_text() == "good\n"
