"""Which line of a script's own functions an error came from."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Iterator


def function_at(script: ast.Module, line: int) -> ast.FunctionDef | None:
    """The function of a script that a line belongs to, helpers included, methods not."""
    for node in script.body:
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            return node
    return None


def failing_line(error: BaseException, filename: str, script: ast.Module) -> traceback.FrameSummary | None:
    """The innermost line of a script's own functions that led to an error, None if none did."""
    for cause in _causes(error):
        for frame in reversed(traceback.extract_tb(cause.__traceback__)):
            if frame.filename == filename and _is_of_program(frame, script):
                return frame
    return None


def _is_of_program(frame: traceback.FrameSummary, script: ast.Module) -> bool:
    """True for a function of the program; helpers have names with an underscore, or are methods."""
    function = function_at(script, frame.lineno or 0)
    return function is not None and function.name == frame.name and not frame.name.startswith("_")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors that led to an error, the first of them first."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    return reversed(chain)
