"""Where in a program a pass was when something went wrong that is no error of the program."""

from __future__ import annotations

from traceback import walk_tb

from pypto_tmpl import ir


def place_in_program(error: BaseException) -> str:
    """Text on the function and the line that a pass was at, ", in the function 'f', at k.py:3:5".

    An error that no pass foresees has no place of its own: the innermost variables of the pass that hold a
    function and a node with a source tell it. "" where there are none.
    """
    function: ir.Function | None = None
    node: ir.IRNode | None = None
    for frame, _ in reversed(list(walk_tb(error.__traceback__))):
        values = list(frame.f_locals.values())
        function = function or next((value for value in values if isinstance(value, ir.Function)), None)
        node = node or next((value for value in values if _has_line(value)), None)
    name = f", in the function {function.name!r}" if function is not None else ""
    return name + (f", at {node.span}" if node is not None else "")


def _has_line(value: object) -> bool:
    return isinstance(value, ir.Stmt | ir.Expr) and value.span.is_valid()
