"""The hunt as a whole: its folder, faults told once, going on, interruptions, executors, other compilers."""

import json
import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hunt.seeded import FAULTS

from pypto_tmpl.cli import main
from pypto_tmpl.debug import Options as DebugOptions
from pypto_tmpl.debug import first_divergence
from pypto_tmpl.debug.validate.tensors_io import load_tensors
from pypto_tmpl.hunt.blame import blamed
from pypto_tmpl.hunt.compilers import CompilerError, compiler_of
from pypto_tmpl.hunt.coverage import coverage_lines
from pypto_tmpl.hunt.examine import examine
from pypto_tmpl.hunt.findings import Coverage
from pypto_tmpl.hunt.hunting import hunt
from pypto_tmpl.hunt.options import HuntError, Options
from pypto_tmpl.hunt.programs.kinds import draw_program
from pypto_tmpl.hunt.report.fault import fault_of
from pypto_tmpl.hunt.shrinking.edits import statement_count
from pypto_tmpl.hunt.shrinking.shrink import shrunk

ROOT = Path(__file__).resolve().parent.parent.parent
DUMP = f"{shlex.quote(sys.executable)} -m pypto_tmpl exec {shlex.quote(str(ROOT / 'tools/pypto_dump.py'))}"


def options(**given):
    """Programs of this process, where seeded faults are; a thread has no alarms, and needs none here."""
    return Options(kinds=("tensors",), executor=ThreadPoolExecutor(1), shrink_seconds=1, jobs=1, **given)


def seeded():
    return next(one for one in FAULTS if one.name == "arguments of outlined kernels exchanged")


def state(folder):
    return json.loads((folder / "hunt.json").read_bytes())


def test_a_fault_has_one_folder_however_often_it_shows(tmp_path):
    told = []
    with seeded().at_work():
        record = hunt(tmp_path / "found", options(programs=16), progress=told.append)
    assert record.programs == record.next == 16
    assert {signature.stage for signature in record.found} == {"OutlineIncoreScopes"}
    folders = sorted((tmp_path / "found/faults").iterdir())
    assert len(folders) == len(record.found) == len([one for one in told if one.fault is not None])
    assert sum(found.programs for found in record.found.values()) > len(folders)
    page = (tmp_path / "found/index.html").read_text()
    assert "OutlineIncoreScopes: it computes something else than the program" in page
    # one of them is wrong in a parameter, which `bisect` compares, and not in what is returned alone
    folder = next(one for one in folders if "validate tensor: 'out'" in (one / "report.md").read_text())
    divergence = first_divergence(
        folder / "passes_dump",
        load_tensors(folder / "inputs.pt"),
        load_tensors(folder / "expected.pt"),
        DebugOptions(entry="main"),
    )
    assert divergence is not None and "OutlineIncoreScopes" in divergence.first_bad


def test_a_hunt_goes_on_where_it_ended(tmp_path):
    first = hunt(tmp_path, options(programs=8))
    assert (first.next, first.found) == (8, {})
    with pytest.raises(HuntError, match="holds a hunt already"):
        hunt(tmp_path, options(programs=8))
    again = hunt(tmp_path, options(programs=12), again=True)
    assert (again.next, again.programs, state(tmp_path)["programs"]) == (12, 12, 12)
    with pytest.raises(HuntError, match="of other programs or of another compiler"):
        hunt(tmp_path, options(programs=12, seed=2), again=True)
    whole = (tmp_path / "hunt.json").read_text()
    (tmp_path / "hunt.json").write_text(whole.replace('"next"', '"before"'))
    with pytest.raises(HuntError, match="record of a hunt cannot be read: 'next'"):
        hunt(tmp_path, options(programs=12), again=True)
    with pytest.raises(HuntError, match="holds no hunt"):
        hunt(tmp_path / "none", options(programs=8), again=True)


def test_an_interruption_keeps_what_was_found(tmp_path):
    def interrupt(progress):
        if progress.shrinking:
            raise KeyboardInterrupt

    with seeded().at_work(), pytest.raises(KeyboardInterrupt):
        hunt(tmp_path, options(programs=64), progress=interrupt)
    assert state(tmp_path)["faults"]
    with seeded().at_work():
        record = hunt(tmp_path, options(programs=8), again=True)
    assert len(record.found) >= len(state(tmp_path)["faults"]) >= 1


def test_what_a_killed_hunt_was_shrinking_is_found_again(tmp_path):
    with seeded().at_work():
        first = hunt(tmp_path / "whole", options(programs=8))
        found = {signature: one.fault for signature, one in first.found.items()}
        numbers = [options().number(replace(one.program, seed=one.drawn[1])) for one in found.values()]
        first.found.clear()
        first.unfinished = numbers
        first.write()  # as of a hunt that was killed then
        record = hunt(tmp_path / "whole", options(programs=8), again=True)
    assert found and record.found.keys() == found.keys()
    assert (record.programs, record.next, state(tmp_path / "whole")["unfinished"]) == (8, 8, [])


def test_what_is_ignored_is_counted(tmp_path):
    with seeded().at_work():
        record = hunt(tmp_path, options(programs=16, ignored=("OutlineIncoreScopes / values / *",)))
    assert not record.found and sum(record.ignored.values()) >= 1


def test_coverage():
    lines = list(coverage_lines(Coverage({"tile.add": 3, "tensor.abs": 1}, {"Simplify": 2}), 4))
    assert lines[0].startswith("ops: 2 of ") and lines[0].endswith("in 4 programs")
    assert lines[1].startswith("    none: ") and "tile.load," in lines[1] and " tile.add," not in lines[1]
    assert (
        "    written by nobody, made by no pass: system.task_is_valid (Made by the compiler only.)" in lines
    )
    assert not any("system.task_is_valid" in line for line in lines[:2])
    first = lines.index("          1 tensor.abs")
    assert lines[first + 1] == "          3 tile.add"
    assert any(line.startswith("passes that changed something: 1 of ") for line in lines)


# Commands


def test_a_command_that_dumps_is_a_compiler():
    found = examine(draw_program("tasks", 3), compiler_of(DUMP))
    assert found.finding is None, found.finding
    assert found.stages[-1][0].partition("_after_")[2] and len(found.stages) > 6


def command(tmp_path, text, seconds=5):
    path = tmp_path / "compiler.py"
    path.write_text(text)
    return compiler_of(f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}", time_limit=seconds)


@pytest.mark.parametrize(
    ("text", "wrong", "op"),
    [
        ("import sys\nsys.exit('no such op: x12')", "refused", "no such op: _"),
        (
            "import sys\nsys.exit('a warning\\nerror[pass]: x12 is lost\\n = in function kernel')",
            "refused",
            "error[pass]: _ is lost",
        ),
        ("raise ValueError('x12 is lost')", "refused", "ValueError: _ is lost"),
        ("import os\nos.abort()", "crash", "SIGABRT"),
        (
            "import os, sys\nprint('x12 > 0 is false', file=sys.stderr)\nos.abort()",
            "crash",
            "SIGABRT: _ > _ is false",
        ),
        (
            "import os, sys\nprint('warning: x', file=sys.stderr)\nos.kill(os.getpid(), 11)",
            "crash",
            "SIGSEGV",
        ),
        ("import sys\nsys.exit(sys.argv[1] + ': bad')", "refused", "program.py: bad"),
        ("import time\ntime.sleep(60)", "time", "compiler"),
    ],
)
def test_commands_that_end_otherwise(tmp_path, text, wrong, op):
    finding = examine(draw_program("tasks", 3), command(tmp_path, text)).finding
    assert finding is not None and (finding.stage, finding.wrong, finding.op) == ("00_frontend", wrong, op)


# One that is quick: its stages are the program as it was given.
COPYING = """
import shutil, sys, time
from pathlib import Path
folder = Path(sys.argv[2]) / "passes_dump"
folder.mkdir()
for name in ("00_frontend", "01_after_Simplify"):
    shutil.copy(sys.argv[1], folder / (name + ".py"))
"""


@pytest.mark.parametrize(("of_command", "of_all"), [(3, 60), (60, 3)])
def test_a_command_that_does_not_end_is_told_of_with_its_last_stage(tmp_path, of_command, of_all):
    hanging = command(tmp_path, f"{COPYING}time.sleep(60)", seconds=of_command)
    finding = examine(draw_program("tasks", 3), hanging, seconds=of_all).finding
    assert finding is not None and str(finding.signature) == "Simplify / time / compiler"
    assert finding.detail == "the compiler was still at work after 3 s"


def test_what_takes_too_long_is_made_smaller(tmp_path):
    text = "time.sleep(60 if 'self.join(' in Path(sys.argv[1]).read_text() else 0)"
    slow = command(tmp_path, COPYING + text, seconds=30)
    program = next(one for one in (draw_program("tasks", k) for k in range(20)) if "self.join(" in one.text)
    finding = examine(program, slow, seconds=2).finding
    assert finding is not None and finding.wrong == "time"
    small = shrunk(program, finding, slow, seconds=10, limit=2)
    assert small.finding is not None and small.finding.signature == finding.signature
    assert statement_count(small.program.text) < statement_count(program.text)


def test_reports_name_the_command(tmp_path):
    failing = command(tmp_path, f"{COPYING}sys.exit('no such op')", seconds=60)
    record = hunt(tmp_path / "found", options(compiler=failing, programs=1))
    [found] = record.found.values()
    assert found.fault.headline.startswith("the compiler behind Simplify: the compiler refuses")
    text = (tmp_path / "found" / found.folder / "report.md").read_text()
    assert text.endswith(
        f"```\n{failing.name} program.py again --backend {found.fault.program.backend}\n```\n"
    )
    assert "pypto-tmpl lower" not in text
    resumed = hunt(tmp_path / "found", options(compiler=failing, programs=1), again=True)
    assert [one.fault.headline for one in resumed.found.values()] == [found.fault.headline]


def test_what_does_not_show_again_is_told_as_it_was(tmp_path):
    mark = tmp_path / "mark"
    text = f"mark = Path({str(mark)!r})\nonce = mark.exists()\nmark.touch()\nsys.exit(0 if once else 'lost')"
    fickle = command(tmp_path, COPYING + text, seconds=60)
    program = draw_program("tasks", 3)
    finding = examine(program, fickle).finding
    assert finding is not None
    found = shrunk(program, finding, fickle, seconds=0)
    assert found.finding is not None and found.finding.signature == finding.signature
    assert "lost\nIt did not show again." in fault_of(found, program).files["report.md"].decode()


def test_commands_that_are_no_compilers(tmp_path):
    folder = tmp_path / "found"
    with pytest.raises(CompilerError, match="leaves no passes_dump"):
        hunt(folder, options(compiler=command(tmp_path, ""), programs=4))
    with pytest.raises(CompilerError, match="cannot be started"):
        hunt(folder, options(compiler=compiler_of("no_such_compiler_at_all"), programs=4))
    assert not folder.exists()


def test_what_a_compiler_has_started_ends_with_it(tmp_path):
    marks = tmp_path / "alive"
    code = f"import time\nwhile True:\n    open({str(marks)!r}, 'a').write('.')\n    time.sleep(0.05)"
    text = f"import subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {code!r}])\ntime.sleep(60)"
    finding = examine(draw_program("tasks", 3), command(tmp_path, text)).finding
    assert finding is not None and finding.wrong == "time"
    time.sleep(0.3)
    count = marks.stat().st_size
    time.sleep(0.3)
    assert marks.stat().st_size == count


def test_commands_end_with_a_hunt_that_is_interrupted(tmp_path):
    """Worker processes are ended at once, and cannot end what they have started."""
    marks = tmp_path / "alive"
    beat = f"while True:\n    open({str(marks)!r}, 'a').write('.')\n    time.sleep(0.05)"
    first = tmp_path / "first"
    text = f"if not Path({str(first)!r}).exists():\n    sys.exit(Path({str(first)!r}).touch())\n{beat}"

    def interrupt(_):
        if marks.exists():
            raise KeyboardInterrupt

    slow = command(tmp_path, COPYING + text, seconds=60)
    with pytest.raises(KeyboardInterrupt):
        hunt(tmp_path / "found", Options(compiler=slow, kinds=("tasks",), jobs=1), progress=interrupt)
    count = marks.stat().st_size
    time.sleep(0.3)
    assert marks.stat().st_size == count


# A compiler that dumps three stages of the program as it is, and then does something to the files.
DUMPING = """
import sys
from pathlib import Path
from pypto_tmpl import ir
from pypto_tmpl.language import parse
folder = Path(sys.argv[2]) / "build/passes_dump"
folder.mkdir(parents=True)
node = parse(Path(sys.argv[1]).read_text())
for name in ("00_frontend", "01_after_Simplify", "02_after_InitMemRef"):
    (folder / (name + ".py")).write_text(ir.python_print(node, format=False))
    (folder / (name + ".msgpack")).write_bytes(ir.serialize(node))
text, binary = (folder / ("01_after_Simplify" + suffix) for suffix in (".py", ".msgpack"))
"""
DAMAGED = "StageReadError: 01_after_Simplify"


@pytest.mark.parametrize(
    ("harm", "wrong", "op"),
    [
        ("", None, ""),
        ("binary.write_bytes(binary.read_bytes()[:-40])", "dump", f"{DAMAGED}.msgpack is damaged"),
        ("binary.write_bytes(b'')\ntext.unlink()", "dump", f"{DAMAGED}.msgpack is damaged"),
        ("text.write_text(text.read_text()[:900])", "text", "PythonSyntaxError: "),
        ("text.write_bytes(bytes([255, 254, 0]))\nbinary.unlink()", "text", ""),
        ("text.write_text(text.read_text().replace('2.0', '3.0'))", "text", ""),
    ],
)
def test_dumps_that_are_damaged_are_told_of(tmp_path, harm, wrong, op):
    found = examine(draw_program("tasks", 3), command(tmp_path, DUMPING + harm, seconds=120))
    if wrong is None:
        assert found.finding is None
        return
    assert found.finding is not None
    assert (found.finding.stage, found.finding.wrong) == ("01_after_Simplify", wrong)
    assert found.finding.op.startswith(op) and "/" not in found.finding.op
    assert found.finding.before == "00_frontend"


def test_statements_of_a_dump_are_told_by_their_places_in_the_report(tmp_path):
    harm = "binary.unlink()\ntext.write_text(text.read_text().replace('.sub(', '.add('))"
    finding = blamed(examine(draw_program("tasks", 3), command(tmp_path, DUMPING + harm, seconds=120)))
    assert (finding.stage, finding.wrong) == ("01_after_Simplify", "values")
    (source,) = [line.split()[-1] for line in finding.lines if "source: " in line]
    assert source.startswith("passes_dump/01_after_Simplify.py:")


def test_the_command_line(tmp_path):
    arguments = ["hunt", str(tmp_path / "found"), "--programs", "4", "--kind", "tasks", "--jobs", "1"]
    ran = CliRunner().invoke(main, [*arguments, "--coverage"])
    assert ran.exit_code == 0, ran.output
    assert "passes that changed something: " in ran.output
    assert "4 programs in " in ran.output and "programs a second: 0 faults" in ran.output
    again = CliRunner().invoke(main, arguments)
    assert again.exit_code == 2 and "holds a hunt already" in again.output
    wrong = CliRunner().invoke(main, ["hunt", str(tmp_path / "other"), "--kind", "task"])
    assert wrong.exit_code == 2 and "did you mean 'tasks'?" in wrong.output
