"""``pypto-tmpl validate``: its texts, its exit codes, its formats, and what an interruption leaves."""

import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest
import torch
from click.testing import CliRunner
from scaled_dumps import expected, inputs, scaled_text, write_dump

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.cli import main

GOOD, BAD = scaled_text(), scaled_text(odd=3.0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Inputs, expected tensors and a dump of four stages, of which the third is wrong."""
    monkeypatch.chdir(tmp_path)
    for name, tensors in (("in", inputs()), ("out", expected())):
        (tmp_path / name).mkdir()
        for tensor, value in tensors.items():
            torch.save(value, tmp_path / name / f"{tensor}.pt")
    write_dump(tmp_path / "dump", GOOD, scaled_text(ssa="__ssa_v0"), BAD, GOOD)
    write_dump(tmp_path / "good", GOOD, scaled_text(2.0000001))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["validate", *map(str, arguments)])


def check(dump, *arguments):
    return run(dump, "--inputs", "in", "--expected", "out", *arguments)


def without_seconds(text):
    return re.sub(r"\d+\.\d{3}$", "#", text, flags=re.MULTILINE)


RIGHT = "validate tensor: 'out', max_abs_diff: 0.000000e+00, pass: True, rtol: 5e-02, atol: 5e-02"
COMMAND = "pypto-tmpl validate dump/02_after_Pass2.py --inputs in --expected out --only out"
WRONG = f"""\
==================== 02_after_Pass2 ====================
read from 02_after_Pass2.py
validate tensor: 'out', max_abs_diff: 2.048000e+03, pass: False, rtol: 5e-02, atol: 5e-02
    bad cells: 1024 of 2048 (50 %)
    max abs diff: 2.048000e+03 at [63, 31]: got 6144.0, expected 4096.0
    max rel diff: 5.000000e-01 at [8, 0]: got 771.0, expected 514.0
    first bad cell: 2.570000e+02 at [8, 0]: got 771.0, expected 514.0
    abs diff quantiles: 50 % 2.570e+02, 90 % 1.843e+03, 99 % 2.028e+03, 99.9 % 2.046e+03
    where: all in rows 8-15 of each 16
    where: the second half: what lane 1 of a split by rows computes
    rerun: {COMMAND}
"""
TABLE = """
stage           read from  run    verdict  max_abs_diff  seconds
00_frontend     .py        yes    ok       0.000000e+00  #
01_after_Pass1  .py        as 00  ok       0.000000e+00  #
02_after_Pass2  .py        yes    wrong    2.048000e+03  #
"""


def test_the_text_up_to_the_first_bad_stage(folder):
    result = check("dump")
    assert result.exit_code == 1
    assert without_seconds(result.stdout) == (
        "==================== 00_frontend ====================\n"
        f"read from 00_frontend.py\n{RIGHT}\n"
        "==================== 01_after_Pass1 ====================\n"
        f"read from 01_after_Pass1.py\nsame IR as 00_frontend: not run again\n{RIGHT}\n"
        f"{WRONG}{TABLE}\n"
        "3 of 4 stages checked, 1 bad; the first bad one: 02_after_Pass2 (--keep-going checks the rest)\n"
    )
    assert result.stderr == ""


def test_quiet_shows_what_is_wrong_and_the_table(folder):
    result = check("dump", "-q", "--keep-going")
    assert result.exit_code == 1
    assert without_seconds(result.stdout) == (
        f"{WRONG}{TABLE}03_after_Pass3  .py        yes    ok       0.000000e+00  #\n\n"
        "4 of 4 stages checked, 1 bad; the first bad one: 02_after_Pass2\n"
    )


def test_a_dump_that_is_right(folder):
    result = check("good", "-q")
    assert result.exit_code == 0
    assert without_seconds(result.stdout) == (
        "\nstage           read from  run  verdict  max_abs_diff  seconds\n"
        "00_frontend     .py        yes  ok       0.000000e+00  #\n"
        "01_after_Pass1  .py        yes  ok       0.000000e+00  #\n\n"
        "2 of 2 stages checked, all as expected\n"
    )


def test_the_command_to_run_again_does_just_that(folder):
    words = COMMAND.split()[2:]
    result = run(*words)
    assert result.exit_code == 1
    assert result.stdout.startswith(WRONG)
    assert "1 of 1 stages checked" in result.stdout


def test_options_are_in_the_command_to_run_again(folder):
    result = check(
        "dump", "-q", "--rtol", "1e-3", "--atol", "0.01", "--entry", "main", "--equal-nan", "--widen-dtypes",
        *("--tolerance", "out=0.1,0.2"),
    )  # fmt: skip
    assert (
        f"    rerun: {COMMAND} --entry main --rtol 0.001 --atol 0.01 --tolerance out=0.1,0.2 --equal-nan "
        "--widen-dtypes\n"
    ) in result.stdout
    assert "pass: False, rtol: 1e-01, atol: 2e-01" in result.stdout


@pytest.mark.parametrize(("text", "code"), [("out=0.5", 0), ("out=0.5,0", 0), ("out=0.1", 1)])
def test_a_tensor_may_have_its_own_tolerance(folder, text, code):
    assert check("dump", "-q", "--tolerance", text).exit_code == code


@pytest.mark.slow
def test_workers_find_the_same(folder):
    result = check("dump", "--jobs", "2", "--keep-going", "-q")
    assert (result.exit_code, result.stdout.startswith(WRONG)) == (1, True)


def test_json_lines(folder):
    result = check("dump", "--format", "json")
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(line.get("stage"), line.get("passed"), line.get("same_as")) for line in lines] == [
        ("00_frontend", True, ""),
        ("01_after_Pass1", True, "00_frontend"),
        ("02_after_Pass2", False, ""),
        (None, None, None),
    ]
    assert lines[-1] == {
        "summary": {
            "passed": False,
            "complete": False,
            "total": 4,
            "checked": 3,
            "bad": ["02_after_Pass2"],
            "interrupted": False,
        }
    }
    assert lines[2]["tensors"][0]["error"]["bad"] == 1024
    assert lines[2]["rerun"] == COMMAND.replace(" --only out", "")
    assert len(check("dump", "--format", "json", "-q").stdout.splitlines()) == 2


def test_pull_request_annotations(folder):
    write_dump(folder / "a,b", GOOD.replace("muls", "mulls"))
    ir.serialize_to_file(pl.parse(GOOD), folder / "a,b" / "00_frontend.msgpack")
    notice, summary = check("a,b", "--format", "github").stdout.splitlines()
    assert notice.startswith(
        "::notice file=a%2Cb/00_frontend.py,title=00_frontend::read from 00_frontend.msgpack: "
    )
    assert summary == "1 of 1 stages checked, all as expected"
    assert check("a,b", "--format", "github", "-q").stdout.splitlines() == [summary]
    error, summary = check("dump", "--format", "github").stdout.splitlines()
    message = WRONG.partition("\n")[2].rstrip().replace("%", "%25").replace("\n", "%0A")
    assert error == f"::error file=dump/02_after_Pass2.py,title=02_after_Pass2::{message}"
    assert summary.startswith("3 of 4 stages checked, 1 bad")


def test_a_stage_that_was_not_read_from_its_text_is_noted(folder):
    (folder / "good" / "00_frontend.py").write_text(GOOD.replace("muls", "mulls"))
    ir.serialize_to_file(pl.parse(GOOD), folder / "good" / "00_frontend.msgpack")
    result = check("good", "-q")
    assert result.exit_code == 0
    assert "00_frontend     .msgpack   yes  ok" in result.stdout
    assert (
        "\nnote: 00_frontend was read from its companion: the text cannot be emitted (operator 'tensor.mulls'"
        in (result.stdout)
    )


def test_a_stage_that_cannot_be_read(folder):
    (folder / "good" / "01_after_Pass1.py").unlink()
    (folder / "good" / "01_after_Pass1.msgpack").write_bytes(b"\x93\x01")
    result = check("good", "-q")
    assert result.exit_code == 2
    assert result.stdout.splitlines()[:2] == [
        "==================== 01_after_Pass1 ====================",
        "no verdict: error[stage]: good/01_after_Pass1.msgpack is damaged",
    ]
    assert "\n01_after_Pass1  -          no   unreadable  -             #\n" in without_seconds(result.stdout)
    assert "Traceback" not in result.output


def test_numbers_that_are_wrong_weigh_more_than_a_stage_that_cannot_be_read(folder):
    (folder / "dump" / "00_frontend.py").write_text("def")
    assert check("dump", "-q").exit_code == 2
    assert check("dump", "-q", "--keep-going").exit_code == 1


def test_a_script_that_fails(folder):
    wrong = GOOD.replace("a: pl.Tensor[[8, 32]", "a: pl.Tensor[[8, 16]")
    (folder / "good" / "01_after_Pass1.py").write_text(wrong)
    result = check("good", "-q")
    assert result.exit_code == 1
    assert "no verdict: ValueError: a: got shape [8, 32], expected [8, 16]\n" in result.stdout
    assert "\n01_after_Pass1  .py        no   failed   -             #\n" in without_seconds(result.stdout)


def test_a_missing_input_is_one_message(folder):
    (folder / "in" / "x.pt").unlink()
    for options in ([], ["--jobs", "2"], ["--keep-going"]):
        result = check("dump", *options)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == (
            "error[missing-tensor]: parameter 'x' of the entry 'main' is not among the inputs\n"
            "   = parameters: x, out\n"
            "   = inputs: out\n"
        )


def test_an_output_that_is_not_among_the_inputs_starts_as_zeros(folder):
    (folder / "in" / "out.pt").unlink()
    assert check("good").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["nothing"], "error[no-dumps]: there is no 'nothing'\n"),
        (
            ["in"],
            "error[no-dumps]: no pass dumps in 'in'\n"
            "   = dumps: NN_after_<Pass>.py, NN_after_<Pass>.msgpack\n",
        ),
        (
            ["dump", "--entry", "man"],
            "error[entry]: there is no function 'man'\n   = functions: main; did you mean 'main'?\n",
        ),
        (
            ["dump", "--only", "ouut"],
            "Error: --only ouut: no such tensor; expected tensors: out; did you mean 'out'?\n",
        ),
        (["dump", "--rtol", "-1"], "Error: rtol must be 0 or more, got -1.0\n"),
        (["dump", "--tolerance", "out"], "Error: --tolerance out: expected NAME=RTOL or NAME=RTOL,ATOL\n"),
        (
            ["dump", "--tolerance", "x=1"],
            "Error: tolerances has 'x', which is not among the expected tensors; expected: out\n",
        ),
        (["dump", "--report", "r.txt"], "error[report]: a report is a .html or .json file, got 'r.txt'\n"),
    ],
)
def test_wrong_usage_is_one_message(folder, arguments, text):
    result = check(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.endswith(text)
    assert "Traceback" not in result.stderr


def test_inputs_that_are_not_there(folder):
    result = run("dump", "--inputs", "no", "--expected", "out")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (2, "error[tensor-file]: there is no 'no'")


def test_a_report(folder):
    assert check("dump", "--report", "found/r.json", "-q").exit_code == 1
    found = json.loads((folder / "found" / "r.json").read_text())
    assert (found["checked"], found["bad"]) == (3, ["02_after_Pass2"])


def test_a_page(folder):
    assert check("dump", "--report", "found/r.html", "-q", "--keep-going").exit_code == 1
    text = (folder / "found" / "r.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "First bad stage: 02_after_Pass2" in text and "4 of 4 stages checked" in text
    assert COMMAND in text and '"levels":"' in text


def endless(folder):
    """A dump whose stages differ and are too many to be done soon."""
    return write_dump(folder / "endless", *(scaled_text(2.0 + n * 1e-6) for n in range(1500)))


def command(*arguments):
    options = ["--inputs", "in", "--expected", "out", *arguments]
    return [sys.executable, "-m", "pypto_tmpl", "validate", *options]


@pytest.mark.slow
@pytest.mark.parametrize(("jobs", "report"), [("1", "r.json"), ("2", "r.json"), ("1", "r.html")])
def test_an_interruption_leaves_what_was_found(folder, jobs, report):
    endless(folder)
    process = subprocess.Popen(
        command("endless", "--jobs", jobs, "--report", report),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Whoever runs the tests in the background may have made them ignore interruptions.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    head = [process.stdout.readline() for _ in range(9)]
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate()
    assert head[6].startswith("==================== 02_after_Pass2")
    assert (process.returncode, errors) == (130, "")
    last = rest.splitlines()[-1]
    match = re.fullmatch(r"interrupted: (\d+) of 1500 stages checked, these as expected", last)
    assert match and int(match[1]) >= 3
    text = (folder / report).read_text()
    if report == "r.html":
        assert f"Interrupted: {match[1]} of 1500 stages checked" in text and text.endswith("</html>\n")
    else:
        found = json.loads(text)
        assert (found["complete"], found["checked"]) == (False, int(match[1]))


def on_a_terminal(words, stdout=None):
    """What a command writes to a terminal, and its exit code."""
    child, terminal = pty.openpty()
    process = subprocess.Popen(words, stdin=terminal, stdout=stdout or terminal, stderr=terminal)
    os.close(terminal)
    written = b""
    while True:
        try:
            data = os.read(child, 65536)
        except OSError:  # the other end is closed
            break
        written += data
    os.close(child)
    return written.decode(), process.wait()


@pytest.mark.slow
def test_a_bar_on_a_terminal_and_only_there(folder, monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    write_dump(folder / "some", *(scaled_text(2.0 + n * 1e-6) for n in range(30)))
    written, code = on_a_terminal(command("some", "-q"))
    assert code == 0
    assert "━" in written and re.search(r"\d+%", written)
    with (folder / "stdout.txt").open("w") as file:
        bar, code = on_a_terminal(command("dump"), stdout=file)
    text = (folder / "stdout.txt").read_text()
    assert code == 1 and WRONG in text and "\x1b" not in text
    assert "validate tensor" not in bar


def test_help_names_the_exit_codes():
    text = run("--help").stdout
    assert "Exit codes: 0 every stage is as expected; 1 a stage computes something else" in text
    assert "--keep-going" in text


def test_listing_the_command_imports_no_torch():
    code = "import sys; from pypto_tmpl.cli import main; main(['--help'], standalone_mode=False)"
    shown = [sys.executable, "-c", f"{code}; print('torch' in sys.modules)"]
    assert subprocess.run(shown, capture_output=True, text=True).stdout.endswith("False\n")
