"""From the lines of a generated script back to the source."""

import ast
import re
import traceback
from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.runtime.script import failing_line
from pypto_tmpl.runtime.source_lines import source_place

CORPUS = Path(__file__).resolve().parent.parent / "corpus/dumps"
TEXTS = sorted(CORPUS.glob("*/Ascend910B/00_frontend.py"))


def assignments(script, names):
    for function in ast.parse(script).body:
        if isinstance(function, ast.FunctionDef) and function.name in names:
            yield from (node for node in ast.walk(function) if isinstance(node, ast.Assign))


def test_a_named_line_assigns_the_same_variable():
    """Read from text, a statement's position is its line in the text: it holds the variable's name."""
    named = total = 0
    for path in TEXTS:
        program = pl.loads(path)
        script = torch_codegen(program)
        lines = path.read_text().splitlines()
        for node in assignments(script, {f.name for f in program.functions.values()}):
            total += 1
            place = source_place(program, ast.parse(script), node.lineno)
            if place is None:
                continue
            named += 1
            file, _, line = place.rpartition(":")
            assert file == str(path)
            variable = re.sub(r"_\d+$", "", node.targets[0].id)
            assert re.search(rf"\b{variable}(_\d+)?\b", lines[int(line) - 1]), (place, variable)
    assert named > 0.6 * total > 100


def test_a_line_that_cannot_be_told():
    program = pl.loads(CORPUS / "scalar_control_flow/Ascend910B/00_frontend.py")
    script = ast.parse(torch_codegen(program))
    assert source_place(program, script, 1) is None  # the docstring
    loop = next(node for node in ast.walk(script) if isinstance(node, ast.For))
    assert source_place(program, script, loop.lineno) is None


SCRIPT = """\
class _Lane:
    def run(self):
        kernel()


def _helper():
    raise LookupError


def kernel():
    x = 1
    _helper()


def run():
    try:
        _Lane().run()
    except LookupError as error:
        raise RuntimeError("lane failed") from error


def _outer():
    raise LookupError
"""


@pytest.mark.parametrize(("entry", "line"), [("kernel", 12), ("run", 12), ("_outer", None)])
def test_the_failing_line_is_the_innermost_of_the_program(entry, line):
    """Not a helper, not the line where a lane's error was raised again."""
    namespace = {}
    exec(compile(SCRIPT, "main.py", "exec"), namespace)
    with pytest.raises((LookupError, RuntimeError)) as caught:
        namespace[entry]()
    found = failing_line(caught.value, Path("main.py"), ast.parse(SCRIPT))
    assert (found and found.lineno) == line


def test_errors_that_cause_each_other_end():
    error = ValueError()
    error.__cause__ = error
    assert failing_line(error, Path("main.py"), ast.parse("")) is None
    assert traceback.format_exception(error)
