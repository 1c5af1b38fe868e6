"""Where the lines of a script have gone in a text of another layout: formatted, or read from a file.

The one place where the text of a script is read. Black moves lines without saying which, and a script that a
user has kept is a text and nothing else: its record is that of the script emitted now, if both are one
program, and else an outline of what it says itself.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from pypto_tmpl.codegen.formatting import format_script
from pypto_tmpl.codegen.record import Script, ScriptFunction
from pypto_tmpl.codegen.wrapping import own_lines, statements, wrapped

# What comes first behind the functions of a script.
_BEHIND = ("# Run-time helpers follow", "if globals() is not locals():")


def formatted(script: Script) -> Script:
    """A script as black formats it. Raises FormatError where that cannot read it."""
    lay_out = wrapped if script.is_own else format_script
    start, end = script.ready if script.ready[0] else (len(script.text), len(script.text))
    program, helpers, behind = script.text[:start], script.text[start:end], script.text[end:]
    text = lay_out(program)
    parts = [text, helpers, lay_out(behind) if behind.strip() else ""]
    whole = "\n\n".join(part.strip("\n") + "\n" for part in parts if part)
    return _moved(script, whole, ast.parse(program), ast.parse(text))


def laid_out(script: Script, text: str) -> Script | None:
    """The record of a text that has the same program as a script, None for any other text."""
    if text == script.text:
        return script
    try:
        ours, theirs = ast.parse(script.text), ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    return None if ast.dump(ours) != ast.dump(theirs) else _moved(script, text, ours, theirs)


def _moved(script: Script, text: str, ours: ast.Module, theirs: ast.Module) -> Script:
    """The record of a text, given the same program as it is in the script and as it is in the text."""
    moved: dict[int, range] = {}  # lines of a statement, of its head only if it has a body
    ends: dict[int, int] = {}
    for left, right in zip(statements(ours.body), statements(theirs.body), strict=True):
        moved[left.lineno] = own_lines(right)
        ends[left.lineno] = right.end_lineno or right.lineno
    return replace(
        script,
        text=text,
        functions=tuple(_moved_function(found, moved, ends) for found in script.functions),
        program_line=moved[script.program_line].start if script.program_line in moved else 0,
        statements={new: stmt for old, stmt in script.statements.items() for new in moved.get(old, ())},
        heads={stmt: moved[old].start for stmt, old in script.heads.items()},
        spans={new: span for old, span in script.spans.items() for new in moved.get(old, ())},
    )


def outline(text: str) -> Script:
    """What is known of a script that was edited, or whose program is gone: its functions, but for helpers.

    The names of helpers begin with an underscore. Nothing is known of a text that is no Python.
    """
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        body = []
    functions = tuple(
        ScriptFunction(stmt.name, stmt.name, "", stmt.lineno, stmt.end_lineno or stmt.lineno)
        for stmt in body
        if isinstance(stmt, ast.FunctionDef) and not stmt.name.startswith("_")
    )
    names = {found.name: found.name for found in functions}
    first = min((found.first for found in functions), default=0)
    return Script(text, names, functions, (), first, {}, {}, {})


def program_lines(lines: Sequence[str]) -> range:
    """The numbers, from 0, of the lines of a committed script that are the program: up to the helpers.

    A committed file may be anything by now, even no Python. Who has just emitted a script asks its record.
    """
    start = next((number for number, line in enumerate(lines) if line.startswith("def ")), 0)
    stop = next((number for number, line in enumerate(lines) if line.startswith(_BEHIND)), len(lines))
    while stop > start and not lines[stop - 1].strip():
        stop -= 1
    return range(start, stop)


def program_part(text: str) -> str:
    """The lines of a committed script that are the program, as text."""
    lines = text.splitlines()
    return "".join(f"{lines[number]}\n" for number in program_lines(lines))


def _moved_function(found: ScriptFunction, moved: dict[int, range], ends: dict[int, int]) -> ScriptFunction:
    return replace(found, first=moved[found.first].start, last=ends[found.first])
