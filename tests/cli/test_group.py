"""What all commands share: help, suggestions, interruptions, colours, completion."""

from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from pypto_tmpl.cli import group, main
from pypto_tmpl.cli.colours import unified_diff

ROOT = Path(__file__).resolve().parents[2]
DUMPS = ROOT / "tests/corpus/dumps/elementwise_chain/Ascend910B"
FIRST, LAST = (sorted(DUMPS.glob("*.py"))[at] for at in (0, -1))


def invoke(*arguments, **options):
    return CliRunner().invoke(main, [*map(str, arguments)], **options)


@pytest.mark.parametrize("command", [[], ["gen"], ["run"], ["exec"], ["ops"], ["ops", "show"], ["validate"]])
def test_help_has_a_short_form(command):
    done = invoke(*command, "-h")
    assert (done.exit_code, done.stdout) == (0, invoke(*command, "--help").stdout)
    assert "-h, --help" in done.stdout


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (["validte"], "No such command 'validte'. Did you mean 'validate'?"),
        (["ops", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["zzzzzz"], "No such command 'zzzzzz'."),
    ],
)
def test_a_mistyped_command_gets_a_suggestion(typed, hint):
    done = invoke(*typed)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"Error: {hint}"


@pytest.mark.parametrize("where", ["arguments", "import", "work"])
def test_an_interruption_has_its_exit_code_wherever_it_comes(monkeypatch, where):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    if where == "arguments":
        monkeypatch.setattr(click.Group, "make_context", interrupted)
    elif where == "import":
        monkeypatch.setattr(group, "import_module", interrupted)
    else:
        monkeypatch.setattr("pypto_tmpl.cli.gen.read_dump", interrupted)
    done = invoke("gen", "some.py")
    assert (done.exit_code, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_colours_are_for_terminals_and_can_be_refused(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b" not in invoke("diff", FIRST, LAST).stdout
    coloured = invoke("diff", FIRST, LAST, color=True).stdout
    assert "\x1b[31m  left: " in coloured and "\x1b[32m  right: " in coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in invoke("diff", FIRST, LAST, color=True).stdout
    monkeypatch.setenv("NO_COLOR", "")  # as good as not set: https://no-color.org
    assert "\x1b" in invoke("diff", FIRST, LAST, color=True).stdout


def test_the_colours_of_a_diff():
    lines = ["--- a", "+++ b", "@@ -1 +1 @@", " same", "-gone", "+new", ""]
    assert unified_diff(lines).split("\n") == [
        "\x1b[1m--- a\x1b[0m",
        "\x1b[1m+++ b\x1b[0m",
        "\x1b[36m@@ -1 +1 @@\x1b[0m",
        " same",
        "\x1b[31m-gone\x1b[0m",
        "\x1b[32m+new\x1b[0m",
        "",
    ]


def completed(*words, typed=""):
    shell = ShellComplete(main, {}, "pypto-tmpl", "_PYPTO_TMPL_COMPLETE")
    return [item.value for item in shell.get_completions([*words], typed)]


def test_names_of_ops_are_completed():
    assert completed("ops", "show", typed="tile.matmul_mx_b") == ["tile.matmul_mx_bias"]
    assert {"tile.row_sum", "tensor.row_sum"} <= {*completed("ops", "show", typed="row_s")}
    assert completed("ops", "show", typed="no_such") == []


def test_names_of_cases_are_completed(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    assert "swiglu_scope" in completed("snapshot", typed="s")
    assert {*completed("snapshot", typed="swiglu_s")} >= {"swiglu_scope/frontend"}
    monkeypatch.chdir(tmp_path)  # where no snapshots are configured
    assert completed("snapshot", typed="s") == []
