"""``pypto-tmpl snapshot``: whose files it touches, what it says of line ends, the order of stages."""

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from pypto_tmpl.cli import main
from pypto_tmpl.snapshots.places import in_ci

DUMPS = Path(__file__).resolve().parents[1] / "corpus/dumps"
FRONTEND = DUMPS / "cast_rounding/Ascend910B/00_frontend.msgpack"
EMITTED = (
    '"""Old\n\nEmitted by pypto_tmpl: change the IR or a template, not this text.\n"""\n\nimport torch\n'
)


KERNEL = """import pypto.language as pl

@pl.jit
def double(x: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.add(x[:, :], x[:, :])
    return out

@pl.jit
def bare(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor]):
    return out

@pl.jit.inline
def helper(x: pl.Tensor):
    return x
"""
CONFIG = """[snapshots]
golden = "golden_scripts"
[[snapshots.dumps]]
dumps = "dumps/{program}/{backend}"
backends = ["Ascend910B"]
stages = ["frontend"]
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project with one dump, golden scripts up to date; it is the working directory."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    dumps = tmp_path / "dumps/cast_rounding/Ascend910B"
    dumps.mkdir(parents=True)
    (dumps / "00_frontend.msgpack").write_bytes(FRONTEND.read_bytes())
    (tmp_path / "pypto-tmpl.toml").write_text(CONFIG)
    assert run("--update").exit_code == 0
    return tmp_path


def run(*args):
    return CliRunner().invoke(main, ["snapshot", *args])


def contents(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_update_in_a_folder_of_sources_changes_none_of_them(project):
    (project / "pypto-tmpl.toml").write_text(CONFIG.replace('"golden_scripts"', '"src"'))
    (project / "src/cast_rounding").mkdir(parents=True)
    (project / "src/app.py").write_text("print('mine')\n")
    (project / "src/cast_rounding/helper.py").write_text("x = 1\n")
    before = contents(project)
    result = run("--update", "--prune")
    assert result.exit_code == 0, result.output
    assert contents(project).items() >= before.items()
    assert (project / "src/cast_rounding/frontend.py").is_file()


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


def test_prune_leaves_links_hidden_folders_and_unmarked_files(project):
    outside = project / "outside"
    outside.mkdir()
    (outside / "kept.py").write_text(EMITTED)
    golden = project / "golden_scripts"
    (golden / "linked").symlink_to(outside)
    (golden / "mine").mkdir()
    (golden / "mine/link.py").symlink_to(outside / "kept.py")
    for folder in ("mine/.deep", "mine/__pypto_snapshots__"):
        (golden / folder).mkdir()
        (golden / folder / "x.py").write_text(EMITTED)
    (golden / "mine/quoted.py").write_text(
        "# Emitted by pypto_tmpl: change the IR or a template, not this text.\n"
    )
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
    other = project / "dumps/softmax/Ascend910B/00_frontend.msgpack"
    other.parent.mkdir(parents=True)
    other.write_bytes(FRONTEND.read_bytes())
    assert run("--update").exit_code == 0
    other.unlink()
    before = contents(project / "golden_scripts")
    assert len(before) == 2
    assert run("--update").exit_code == 0
    assert contents(project / "golden_scripts") == before


@pytest.mark.parametrize("action", ["--check", "--update", "--diff"])
def test_a_missing_folder_is_an_error(project, action):
    (project / "dumps").rename(project / "elsewhere")
    before = contents(project)
    result = run(action)
    assert result.exit_code == 2
    assert result.stderr == (
        "error[snapshot-config]: nothing matches 'dumps/{program}/{backend}'\n  --> pypto-tmpl.toml:4\n"
    )
    assert contents(project) == before


def test_prune_is_for_all_cases(project):
    result = run("--update", "--prune", "cast_rounding")
    assert result.exit_code == 2
    assert "--prune looks at all cases" in result.stderr


def test_a_folder_without_dumps_says_so(project):
    (project / "dumps/cast_rounding/Ascend910B/00_frontend.msgpack").unlink()
    result = run()
    assert result.exit_code == 2
    assert "no dump is of the stage 'frontend'\n  --> pypto-tmpl.toml:6\n" in result.stderr


def test_the_command_reports_updates_and_then_agrees(project):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    script.unlink()
    missing = run()
    assert missing.exit_code == 1
    assert "missing: cast_rounding/frontend" in missing.stdout
    updated = run("--update", "cast_rounding/frontend")
    assert updated.exit_code == 0
    assert script.read_text().startswith('"""')
    assert (run("cast_rounding").exit_code, run().stdout) == (0, "1 golden scripts, 0 differ\n")


def test_the_command_shows_a_difference_in_every_format(project):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    lines = len(script.read_text().splitlines())
    script.write_text(script.read_text() + "# by hand\n")
    text = run("--diff")
    assert text.exit_code == 1
    assert "--- a/golden_scripts/cast_rounding/frontend.py\n" in text.stdout
    assert "-# by hand" in text.stdout
    rows = [json.loads(line) for line in run("--format", "json").stdout.splitlines()]
    assert rows == [
        {
            "case": "cast_rounding/frontend",
            "script": "golden_scripts/cast_rounding/frontend.py",
            "state": "differs",
        }
    ]
    assert run("--format", "github").stdout == (
        f"::error file=golden_scripts/cast_rounding/frontend.py,line={lines + 1},title=golden script::"
        "golden script differs; accept it by `pypto-tmpl snapshot --update cast_rounding/frontend`\n"
    )


@pytest.mark.parametrize("change", ["edited", "no last line end", "cr lf", "no text", "missing"])
def test_git_applies_the_patch(project, change):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    emitted = script.read_bytes()
    changed = {
        "edited": emitted.replace(b"import torch", b"import  torch") + b"# by hand\n",
        "no last line end": emitted[:-1],
        "cr lf": emitted.replace(b"\n", b"\r\n"),
        "no text": emitted + b"\xff\n",
    }
    script.write_bytes(changed.get(change, emitted))
    if change == "missing":
        script.unlink()
    result = run("--diff", "--format", "patch")
    assert result.exit_code == 1
    apply_patch(result, project)
    assert script.read_bytes() == emitted


def apply_patch(result, folder):
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=result.stdout_bytes, cwd=folder, check=True)


def test_a_broken_dump_gives_exit_code_2_and_nothing_is_written(project):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    script.write_text(EMITTED)
    broken = project / "dumps/broken/Ascend910B"
    broken.mkdir(parents=True)
    (broken / "00_frontend.msgpack").write_bytes(b"\xc1")
    for action in ("--check", "--update"):
        result = run(action)
        assert result.exit_code == 2
        assert "broken/frontend: error[" in result.stderr
        assert "   = case of pypto-tmpl.toml:3\n" in result.stderr
        assert script.read_text() == EMITTED


def test_a_kernel_that_cannot_be_specialised_is_told_once_and_nothing_is_written(project):
    (project / "kernels.py").write_text(KERNEL)
    kernels = "".join(f'[[snapshots.kernels]]\nkernel = "kernels.py:{name}"\n' for name in ("double", "bare"))
    (project / "pypto-tmpl.toml").write_text(CONFIG + kernels)
    before = contents(project / "golden_scripts")
    result = run("--update")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "bare: error[snapshot]: kernels.py:bare cannot be specialised: ValueError: bare(): argument 'x' is "
        "not given, and its annotation has no shape and dtype\n"
        "  --> kernels.py:10\n"
        "   = arguments = [...] says what for: tensors as 'FP32[64, 128]', numbers\n"
        "   = case of pypto-tmpl.toml:9\n"
    )
    assert contents(project / "golden_scripts") == before


def test_a_change_of_many_scripts_is_shown_once(project):
    for name in ("second", "third"):
        dump = project / f"dumps/{name}/Ascend910B/00_frontend.msgpack"
        dump.parent.mkdir(parents=True)
        dump.write_bytes(FRONTEND.read_bytes())
    assert run("--update").exit_code == 0
    scripts = sorted((project / "golden_scripts").rglob("*.py"))
    assert len(scripts) == 3
    for script in scripts:
        script.write_text(script.read_text().replace("import torch", "import torch  # by hand"))
    scripts[1].write_text(scripts[1].read_text() + "# its own\n")
    shown = run("--diff").stdout
    assert "# the same change in 3 scripts: golden_scripts/cast_rounding/frontend.py, " in shown
    assert shown.count("-import torch  # by hand\n") == 1
    assert shown.count("-# its own\n") == 1
    annotations = run("--format", "github").stdout.splitlines()
    assert len(annotations) == 2  # the one with a change of its own, and the two others together
    assert "golden script differs, as 1 more do" in annotations[0]
    apply_patch(run("--diff", "--format", "patch"), project)
    assert run().exit_code == 0


def test_a_page_shows_the_differences(project):
    script = project / "golden_scripts/cast_rounding/frontend.py"
    script.write_text(script.read_text() + "# <b>by hand</b>\n")
    assert run("--diff", "--html", "page.html").exit_code == 1
    page = (project / "page.html").read_text()
    assert "# &lt;b&gt;by hand&lt;/b&gt;" in page
    assert "<b>" not in page
    assert run("--html", "page.html").exit_code == 2  # goes with --diff
    (project / "mine.html").write_text("mine")
    refused = run("--diff", "--html", "mine.html")
    assert (refused.exit_code, (project / "mine.html").read_text()) == (2, "mine")


def test_init_finds_the_kernels_of_a_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels/add.py").write_text(KERNEL)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'")
    assert run().exit_code == 2
    result = run("init")
    assert result.stdout == (
        "added to: pyproject.toml\nkernels found: 2, 1 of them need arguments\n"
        "look at it, then: pypto-tmpl snapshot --update\n"
    )
    written = (tmp_path / "pyproject.toml").read_text()
    assert written.startswith("[project]\nname = 'x'\n\n# Scripts that pypto-tmpl emits")
    assert '# arguments = { x = "FP32[64, 128]", n = 1, out = "FP32[64, 128]" }\n' in written
    assert run("--update").exit_code == 0
    assert [path.name for path in (tmp_path / "golden_scripts").iterdir()] == ["double.py"]
    assert "init takes no options" in run("init", "--update").stderr
    again = run("init")
    assert again.exit_code == 2
    assert "snapshots are configured already" in again.stderr
    assert (tmp_path / "pyproject.toml").read_text() == written


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


@pytest.mark.parametrize("action", ["--check", "--diff"])
def test_prune_goes_with_update_only(project, action):
    before = contents(project)
    result = run(action, "--prune")
    assert result.exit_code == 2
    assert "--prune goes with --update" in result.stderr
    assert contents(project) == before
