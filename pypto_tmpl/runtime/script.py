"""Loading a generated script so that tracebacks, pdb and inspect show its lines."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.load import load_script


class ScriptError(PyptoTmplError, ValueError):
    """A script that is missing, is no Python, or lacks its entry."""

    slug = "script"


def load_entry(
    path: Path,
    name: str,
    source: Callable[[], ir.Program | None] | None = None,
    rewrite: Callable[[ast.Module], ast.Module] | None = None,
) -> Callable[..., object]:
    """The function ``name`` of a script, which is executed as it stands in its file.

    ``source`` finds the program that it was emitted for, whose lines its own reports then name; ``rewrite``
    may change what is executed, if the lines stay.
    Raises ScriptError for a script that is missing, is no Python or has no such function.
    """
    try:
        namespace = load_script(path.read_text(encoding="utf-8"), str(path), source, rewrite)
    except FileNotFoundError:
        raise ScriptError(f"the generated script {path} is missing") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ScriptError(f"the script is no Python: {error}", where=f"{path}{line}") from None
    found: Any = namespace.get(name)
    if not callable(found):
        raise ScriptError(f"the script has no function {name!r}", where=str(path))
    entry: Callable[..., object] = found
    return entry
