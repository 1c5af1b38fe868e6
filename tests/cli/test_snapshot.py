"""``pypto-tmpl snapshot``: whose files it touches, what it says of line ends, the order of stages."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main
from pypto_tmpl.debug.snapshots import SnapshotCase, find_cases, in_ci

DUMPS = Path(__file__).resolve().parents[1] / "corpus/dumps"
FRONTEND = DUMPS / "cast_rounding/Ascend910B/00_frontend.msgpack"
EMITTED = (
    '"""Old\n\nEmitted by pypto_tmpl: change the IR or a template, not this text.\n"""\n\nimport torch\n'
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one dump, no examples, golden scripts up to date; it is the working directory."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    dumps = tmp_path / "tests/corpus/dumps/cast_rounding/Ascend910B"
    dumps.mkdir(parents=True)
    (dumps / "00_frontend.msgpack").write_bytes(FRONTEND.read_bytes())
    (tmp_path / "examples").mkdir()
    assert run("--update").exit_code == 0
    return tmp_path


def run(*args):
    return CliRunner().invoke(main, ["snapshot", *args])


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_update_in_a_folder_of_sources_changes_none_of_them(project):
    (project / "src").mkdir()
    (project / "src/app.py").write_text("print('mine')\n")
    (project / "setup.py").write_text("")
    (project / "cast_rounding").mkdir()
    (project / "cast_rounding/helper.py").write_text("x = 1\n")
    before = contents(project)
    result = run("--update", "--prune", "--golden", ".")
    assert result.exit_code == 0, result.output
    assert contents(project).items() >= before.items()
    assert (project / "cast_rounding/frontend.py").is_file()


def test_stale_scripts_stay_without_prune_and_are_listed_before_they_go(project):
    stale = project / "golden_scripts/gone/last.py"
    stale.parent.mkdir()
    stale.write_text(EMITTED)
    for arguments, code in (((), 1), (("--update",), 0)):
        result = run(*arguments)
        assert (result.exit_code, stale.is_file()) == (code, True)
        assert "stale: golden_scripts/gone/last.py" in result.stdout
        assert "pypto-tmpl snapshot --update --prune" in result.stdout
    result = run("--update", "--prune")
    assert result.exit_code == 0
    assert "removed: golden_scripts/gone/last.py" in result.stdout
    assert not stale.exists()
    assert run().exit_code == 0


def test_prune_leaves_links_deeper_folders_and_unmarked_files(project):
    outside = project / "outside"
    outside.mkdir()
    (outside / "kept.py").write_text(EMITTED)
    golden = project / "golden_scripts"
    (golden / "linked").symlink_to(outside)
    (golden / "mine").mkdir()
    (golden / "mine/link.py").symlink_to(outside / "kept.py")
    (golden / "mine/deep").mkdir()
    (golden / "mine/deep/x.py").write_text(EMITTED)
    (golden / "mine/quoted.py").write_text(
        "# Emitted by pypto_tmpl: change the IR or a template, not this text.\n"
    )
    (golden / "top.py").write_text(EMITTED)
    before = contents(project)
    assert run("--update", "--prune").exit_code == 0
    assert contents(project) == before
    assert (golden / "mine/link.py").is_symlink()


def test_a_users_file_in_the_place_of_a_golden_script_is_an_error(project):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    script.write_text("print('mine')\n")
    result = run("--update")
    assert result.exit_code == 2
    assert "error[not-generated]" in result.stderr
    assert "golden_scripts/cast_rounding/frontend.py" in result.stderr
    assert script.read_text() == "print('mine')\n"


def test_a_part_of_the_dumps_costs_no_golden_script(project):
    other = project / "tests/corpus/dumps/softmax/Ascend910B/00_frontend.msgpack"
    other.parent.mkdir(parents=True)
    other.write_bytes(FRONTEND.read_bytes())
    assert run("--update").exit_code == 0
    other.unlink()
    before = contents(project / "golden_scripts")
    assert len(before) == 2
    assert run("--update").exit_code == 0
    assert contents(project / "golden_scripts") == before


@pytest.mark.parametrize("missing", ["examples", "tests/corpus/dumps"])
@pytest.mark.parametrize("action", ["--check", "--update", "--diff"])
def test_a_missing_folder_is_an_error(project, missing, action):
    (project / missing).rename(project / "elsewhere")
    before = contents(project)
    result = run(action)
    assert result.exit_code == 2
    assert f"error[snapshot]: there is no folder of {Path(missing).name} '{missing}'" in result.stderr
    assert contents(project) == before


def test_without_examples_their_scripts_stay(project):
    (project / "examples").rmdir()
    script = project / "golden_scripts/examples/scale.py"
    script.parent.mkdir()
    script.write_text(EMITTED)
    assert run("--no-examples").exit_code == 0
    assert run("--no-examples", "--update", "--prune").exit_code == 0
    assert script.is_file()


def test_prune_is_for_all_cases(project):
    result = run("--update", "--prune", "cast_rounding")
    assert result.exit_code == 2
    assert "--prune looks at all cases" in result.stderr


def test_a_folder_without_dumps_says_so(project):
    frontend = project / "tests/corpus/dumps/cast_rounding/Ascend910B/00_frontend.msgpack"
    frontend.unlink()
    result = run()
    assert result.exit_code == 2
    assert "no dumps in tests/corpus/dumps" in result.stderr


ENDS = {
    "cr lf": (lambda data: data.replace(b"\n", b"\r\n"), "line ends: 40 of the committed script are CR LF"),
    "cr": (lambda data: data.replace(b"\n", b"\r", 2), "line ends: 2 of the committed script are CR, "),
    "no last line end": (lambda data: data[:-1], "has no line end after its last line"),
    "empty line at the end": (lambda data: data + b"\n", "has empty lines at its end"),
    "byte-order mark": (lambda data: b"\xef\xbb\xbf" + data, "begins with a byte-order mark"),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("style", ["text", "json"])
def test_differences_that_no_line_shows_are_named(project, name, style):
    change, said = ENDS[name]
    script = project / "golden_scripts/cast_rounding/frontend.py"
    data = script.read_bytes()
    said = said.replace("40", str(data.count(b"\n")))
    script.write_bytes(change(data))
    result = run("--diff", "--format", style)
    assert result.exit_code == 1
    shown = json.loads(result.stdout)["diff"] if style == "json" else result.stdout
    assert said in shown


def test_a_committed_script_that_is_no_text_has_a_diff(project):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    script.write_bytes(script.read_bytes() + b"\xff\n")
    result = run("--diff")
    assert result.exit_code == 1
    assert "-\\xff" in result.stdout


@pytest.mark.parametrize("value", ["", "0", "false", "False", "no", "off", " false "])
def test_a_value_that_denies_a_ci_allows_the_update(project, monkeypatch, value):
    monkeypatch.setenv("CI", value)
    assert not in_ci()
    assert run("--update").exit_code == 0


@pytest.mark.parametrize("value", ["true", "1", "True", "yes", "woodpecker"])
@pytest.mark.parametrize("action", ["--update", "--prune"])
def test_nothing_is_written_in_a_ci(project, monkeypatch, value, action):
    monkeypatch.setenv("CI", value)
    result = run(action)
    assert result.exit_code == 2
    assert "not updated where CI is set" in result.stderr


def test_the_last_stage_is_the_one_of_the_highest_number(tmp_path):
    folder = tmp_path / "dumps/program/Ascend910B"
    folder.mkdir(parents=True)
    names = ["00_frontend", "09_after_A", "99_after_B", "100_after_C", "7_after_ExpandMixedKernel"]
    names += ["101_after_ExpandMixedKernel", "notes"]
    for name in names:
        (folder / f"{name}.msgpack").write_bytes(b"")
    golden = tmp_path / "golden"
    assert list(find_cases(tmp_path / "dumps", golden)) == [
        SnapshotCase(f"program/{stage}", folder / f"{dump}.msgpack", golden / f"program/{stage}.py")
        for stage, dump in {
            "frontend": "00_frontend",
            "ExpandMixedKernel": "101_after_ExpandMixedKernel",
            "last": "101_after_ExpandMixedKernel",
        }.items()
    ]


@pytest.mark.parametrize("action", ["--check", "--diff"])
def test_prune_goes_with_update_only(project, action):
    before = contents(project)
    result = run(action, "--prune")
    assert result.exit_code == 2
    assert "--prune goes with --update" in result.stderr
    assert contents(project) == before
