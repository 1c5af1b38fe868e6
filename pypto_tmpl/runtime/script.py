"""Loading a generated script so that tracebacks, pdb and inspect show its lines."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pypto_tmpl.errors import PyptoTmplError


class ScriptError(PyptoTmplError, ValueError):
    """A script that is missing, is no Python, or lacks its entry."""

    slug = "script"


def load_entry(path: Path, name: str) -> Callable[..., object]:
    """The function ``name`` of a script, which is executed as it stands in its file.

    Raises ScriptError for a script that is missing, is no Python or has no such function.
    """
    try:
        text = path.read_text(encoding="utf-8")
        code = compile(text, str(path), "exec")
    except FileNotFoundError:
        raise ScriptError(f"the generated script {path} is missing") from None
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ScriptError(f"the script is no Python: {error}", where=f"{path}{line}") from None
    linecache.checkcache(str(path))
    namespace: dict[str, Any] = {"__name__": f"pypto_tmpl_script_{path.stem}", "__file__": str(path)}
    exec(code, namespace)
    found = namespace.get(name)
    if not callable(found):
        raise ScriptError(f"the script has no function {name!r}", where=str(path))
    entry: Callable[..., object] = found
    return entry
