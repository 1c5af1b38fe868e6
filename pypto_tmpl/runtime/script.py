"""Loading a generated script so that tracebacks, pdb and inspect show its lines."""

from __future__ import annotations

import ast
import traceback
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.debug.execution import load_script
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.runtime.source_lines import function_at


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


def announce(entry: Callable[..., Any], kernels: Iterable[str], on_task: Callable[[], None]) -> None:
    """Have ``on_task`` called whenever a kernel of the entry's script starts."""
    names: dict[str, Any] = getattr(entry, "__globals__", {})
    for name in kernels:
        if callable(names.get(name)):
            names[name] = _announced(names[name], on_task)


def _announced(kernel: Callable[..., Any], on_task: Callable[[], None]) -> Callable[..., Any]:
    @wraps(kernel)
    def announced(*args: Any, **kwargs: Any) -> Any:
        on_task()
        return kernel(*args, **kwargs)

    return announced


def failing_line(error: BaseException, path: Path, script: ast.Module) -> traceback.FrameSummary | None:
    """The innermost line of a script's own functions that led to an error, None if none did."""
    for cause in _causes(error):
        for frame in reversed(traceback.extract_tb(cause.__traceback__)):
            if frame.filename == str(path) and _is_kernel(frame, script):
                return frame
    return None


def _is_kernel(frame: traceback.FrameSummary, script: ast.Module) -> bool:
    """True for a function of the program; helpers have names with an underscore, or are methods."""
    function = function_at(script, frame.lineno or 0)
    return function is not None and function.name == frame.name and not frame.name.startswith("_")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The errors that led to an error, the first of them first."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    return reversed(chain)
