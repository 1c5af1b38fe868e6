"""Running emitted scripts: compiled under a readable name, so that tracebacks and pdb show their lines."""

from __future__ import annotations

import ast
import hashlib
import linecache
import re
import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.errors import PyptoTmplError, allowed_note
from pypto_tmpl.execution.binding import Binding, MissingTensorError, bind_arguments, output_name
from pypto_tmpl.execution.cores import on_one_core
from pypto_tmpl.execution.entry import Entry
from pypto_tmpl.execution.lines import ScriptLines, without_source
from pypto_tmpl.execution.origins import LazySourceLines, source_lines
from pypto_tmpl.execution.threads import threads_for

LANES = "def _run_lanes("  # the helper that starts the threads of a mixed kernel
KEPT_SCRIPTS = 64  # compiled scripts that a process keeps, since neighbouring stages often share one
Node = ir.Program | ir.Function
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_compiled: OrderedDict[bytes, CodeType] = OrderedDict()
_names: OrderedDict[str, None] = OrderedDict()  # those whose lines linecache has, oldest first
_lock = Lock()


class ScriptError(PyptoTmplError, RuntimeError):
    """An emitted script raised; the text holds the script's own frames."""

    slug = "script"


def script_name(program: str, stage: str) -> str:
    """``<pypto_tmpl swiglu_scope 22_after_ExpandMixedKernel>``: what stands for a file in tracebacks."""
    return f"<pypto_tmpl {_CAPITAL.sub('_', program).lower()} {stage}>"


def load_script(
    script: str,
    name: str,
    source: Node | Callable[[], Node | None] | None = None,
    rewrite: Callable[[ast.Module], ast.Module] | None = None,
    *,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
) -> dict[str, Any]:
    """Execute a script under ``name`` and return its namespace; tracebacks, pdb and inspect show its lines.

    With the ``source`` that it was emitted for, with these ``template_dirs`` and ``trace``, or what finds
    that when it is needed, they name source lines too, and so do reports of the script itself. ``rewrite``
    may change what is executed, if the lines stay. A name that is no file is put in ``<>``, as pdb wants it.
    """
    namespace: dict[str, Any] = {"__name__": "pypto_tmpl_script"}
    sources: Mapping[str, str] = {}
    if source is not None:
        sources = LazySourceLines(lambda: _lines_of(source, script, template_dirs, trace))
        namespace["_SOURCE_MAP"] = sources
    if not (name.startswith("<") and name.endswith(">")) and not Path(name).is_file():
        name = f"<{name}>"
    code = _code(script, name, sources)
    exec(code if rewrite is None else compile(rewrite(ast.parse(script)), name, "exec"), namespace)
    return namespace


def _lines_of(
    source: Node | Callable[[], Node | None],
    script: str,
    template_dirs: Sequence[Path],
    trace: TraceSelection | None,
) -> Mapping[str, str]:
    node = source if isinstance(source, ir.Program | ir.Function) else source()
    return {} if node is None else source_lines(node, script, template_dirs=template_dirs, trace=trace)


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


def run_entry(
    script: str,
    name: str,
    entry: Entry,
    inputs: Mapping[str, torch.Tensor],
    expected: Mapping[str, torch.Tensor],
    source: Callable[[], Node | None] | None = None,
    *,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
    after: Callable[[Mapping[str, Any]], None] | None = None,
    check: Callable[[Binding], None] | None = None,
) -> dict[str, torch.Tensor]:
    """Run a script's entry on copies of the inputs; return what it computed for the expected names.

    Errors name the lines of the ``source``, which is only asked for then; ``trace`` is what the script was
    emitted with. When it has run ``after`` gets the script's names, and ``check`` its arguments.
    Raises MissingTensorError, TensorShapeError, and ScriptError for whatever the script raises.
    """
    binding = bind_arguments(entry, inputs, expected)
    namespace: dict[str, Any] = {}
    try:
        with on_one_core() if LANES in script else threads_for(binding.tensors.values()):
            namespace = load_script(script, name, source, template_dirs=template_dirs, trace=trace)
            result = namespace[entry.script_name](*binding.arguments)
    except Exception as error:
        raise ScriptError(described(error, name, namespace.get("_SOURCE_MAP", {}))) from error
    if after is not None:
        after(namespace)
    if check is not None:
        check(binding)
    found = binding.tensors | _returned(entry, result, binding.tensors)
    return {wanted: _output(found, entry, wanted) for wanted in expected}


def _returned(entry: Entry, result: Any, known: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Returned tensors by the names of the variables; parameters are found where they were passed."""
    values: Sequence[Any] = result if isinstance(result, tuple) else (result,)
    pairs = zip(entry.returned, values, strict=False)
    return {n: v for n, v in pairs if n and n not in known and isinstance(v, torch.Tensor)}


def _output(found: Mapping[str, torch.Tensor], entry: Entry, wanted: str) -> torch.Tensor:
    name = output_name(entry, wanted)
    if name is None or name not in found:
        raise MissingTensorError(
            f"the expected {wanted!r} is no tensor that the entry {entry.name!r} takes or returns",
            notes=[allowed_note("tensors", sorted(found), wanted)],
        )
    return found[name]


def described(error: Exception, name: str, sources: Mapping[str, str]) -> str:
    """The error and the lines of the script that led to it; of its cause, if that was raised there too."""
    lines = traceback.format_exception_only(error)[-1].strip().splitlines()
    origin: BaseException | None = error
    frames: list[traceback.FrameSummary] = []
    while origin is not None:
        inside = [f for f in traceback.extract_tb(origin.__traceback__) if f.filename == name]
        frames, origin = inside or frames, origin.__cause__
    for frame in frames:
        lines.append(f'  File "{name}", line {frame.lineno}, in {frame.name}')
        lines.append(f"    {without_source(frame.line)}")
        if source := sources.get(str(frame.lineno)):
            lines.append(f"    from {source}")
    return "\n".join(lines)
