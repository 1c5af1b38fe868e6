"""Which line of a script's own functions led to an error."""

import traceback

import pytest

from pypto_tmpl.codegen.layout import outline
from pypto_tmpl.execution.frames import failing_line

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
    found = failing_line(caught.value, "main.py", outline(SCRIPT))
    assert (found and found.lineno) == line


def test_errors_that_cause_each_other_end():
    error = ValueError()
    error.__cause__ = error
    assert failing_line(error, "main.py", outline("")) is None
    assert traceback.format_exception(error)
