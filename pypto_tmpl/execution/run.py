"""Running the entry of a script on named tensors."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from pypto_tmpl.codegen.record import Script
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.execution.entry import Entry
from pypto_tmpl.execution.lines import without_source
from pypto_tmpl.execution.load import ScriptError, load_script
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.named import Binding, MissingTensorError, bind_named, output_name


def run_entry(
    script: Script | str,
    name: str,
    entry: Entry,
    inputs: Mapping[str, torch.Tensor],
    expected: Mapping[str, torch.Tensor],
    *,
    after: Callable[[Mapping[str, Any]], None] | None = None,
    check: Callable[[Binding], None] | None = None,
    large: Sequence[str] = (),
) -> dict[str, torch.Tensor]:
    """Run a script's entry on copies of the inputs; return what it computed for the expected names.

    When it has run ``after`` gets the script's names, and ``check`` its arguments.
    ``large`` are the functions that several threads pay for.
    Raises MissingTensorError, TensorShapeError, and ScriptError for whatever the script raises.
    """
    binding = bind_named(entry, inputs, expected)
    namespace: dict[str, Any] = {}
    try:
        namespace = load_script(script, name)
        result = LoadedScript(namespace, entry, large).call(binding.arguments)
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
