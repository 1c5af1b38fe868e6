"""Loading scripts: compiled under a readable name, so that tracebacks and pdb show their lines."""

from __future__ import annotations

import ast
import hashlib
import linecache
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.engines import attach_engine
from pypto_tmpl.execution.lines import ScriptLines
from pypto_tmpl.execution.origins import LazySourceLines, source_lines

KEPT_SCRIPTS = 64  # compiled scripts that a process keeps, since neighbouring stages often share one
Node = ir.Program | ir.Function
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_compiled: OrderedDict[bytes, CodeType] = OrderedDict()
_names: OrderedDict[str, None] = OrderedDict()  # those whose lines linecache has, oldest first
_lock = Lock()


class ScriptError(PyptoTmplError, RuntimeError, ValueError):
    """A script that cannot be loaded, or that raised; the text then holds the script's own frames."""

    slug = "script"


def script_name(program: str, stage: str) -> str:
    """``<pypto_tmpl swiglu_scope 22_after_ExpandMixedKernel>``: what stands for a file in tracebacks."""
    return f"<pypto_tmpl {_CAPITAL.sub('_', program).lower()} {stage}>"


def load_script(
    script: Script | str,
    name: str,
    source: Node | Mapping[str, str] | None = None,
    rewrite: Callable[[ast.Module], ast.Module] | None = None,
) -> dict[str, Any]:
    """Execute a script under ``name`` and return its namespace; tracebacks, pdb and inspect show its lines.

    They name source lines too, and so do reports of the script itself: those that its record has, of a mere
    text those of the ``source`` that it was emitted for, which may as well be the source lines themselves.
    ``rewrite`` may change what is executed, if the lines stay. A name that is no file is put in ``<>``, as
    pdb wants it.
    """
    namespace: dict[str, Any] = {"__name__": "pypto_tmpl_script"}
    text, sources = (script.text, script.sources) if isinstance(script, Script) else (script, {})
    if source is not None and isinstance(script, str):
        node = source
        sources = node if isinstance(node, Mapping) else LazySourceLines(lambda: source_lines(node, text))
    if source is not None or isinstance(script, Script):
        namespace["_SOURCE_MAP"] = sources
    if not (name.startswith("<") and name.endswith(">")) and not Path(name).is_file():
        name = f"<{name}>"
    code = _code(text, name, sources)
    exec(code if rewrite is None else compile(rewrite(ast.parse(text)), name, "exec"), namespace)
    attach_engine(namespace, text, name)
    return namespace


def load_script_file(
    path: Path,
    entry: str,
    sources: Mapping[str, str] | None = None,
    rewrite: Callable[[ast.Module], ast.Module] | None = None,
) -> dict[str, Any]:
    """The namespace of a script, with the function ``entry``; it is executed as it stands in its file.

    ``sources`` are the source lines that its own reports then name; ``rewrite`` may change what is executed,
    if the lines stay.
    Raises ScriptError for a script that is missing, is no Python or has no such function.
    """
    try:
        namespace = load_script(path.read_text(encoding="utf-8"), str(path), sources, rewrite)
    except FileNotFoundError:
        raise ScriptError(f"the generated script {path} is missing") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise ScriptError(f"the script is no Python: {error}", where=f"{path}{line}") from None
    if not callable(namespace.get(entry)):
        raise ScriptError(f"the script has no function {entry!r}", where=str(path))
    return namespace


def _code(script: str, name: str, sources: Mapping[str, str]) -> CodeType:
    key = hashlib.sha256(script.encode()).digest()
    with _lock:
        code = _compiled.get(key) or compile(script, name, "exec")
        _compiled[key] = code
        _compiled.move_to_end(key)
        if len(_compiled) > KEPT_SCRIPTS:
            _compiled.popitem(last=False)
        _names[name] = None
        _names.move_to_end(name)
        if len(_names) > KEPT_SCRIPTS:
            linecache.cache.pop(_names.popitem(last=False)[0], None)
        # No modification time: linecache then never looks for a file of that name.
        linecache.cache[name] = (len(script), None, ScriptLines(script, sources), name)
    return code if code.co_filename == name else _renamed(code, name)


def _renamed(code: CodeType, name: str) -> CodeType:
    """The same code under another name, which is much faster than to compile it again."""
    constants = (_renamed(c, name) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_filename=name, co_consts=tuple(constants))
