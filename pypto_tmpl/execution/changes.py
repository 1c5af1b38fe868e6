"""Which cells of a tensor a run has changed, and by which statement."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.tracing import TraceSelection, located_statements
from pypto_tmpl.execution.entry import functions_of, select_entry
from pypto_tmpl.execution.load import load_script
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.named import bind_named
from pypto_tmpl.execution.script import make_script
from pypto_tmpl.execution.statement_place import StatementPlace, statement_text

Tensors = Mapping[str, torch.Tensor]
_WORD = 8


def same_cells(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same bytes; eight at a time where they come so, which is much faster."""
    parts = _bytes(one), _bytes(other)
    if all(not (part.numel() % _WORD or part.storage_offset() % _WORD) for part in parts):
        parts = parts[0].view(torch.int64), parts[1].view(torch.int64)
    return torch.equal(*parts)


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def changing_statements(
    node: ir.Program | ir.Function,
    function: str,
    inputs: Tensors,
    expected: Tensors,
    names: Collection[str],
    template_dirs: tuple[Path, ...] = (),
) -> dict[str, StatementPlace]:
    """The statement that changed each of these inputs last, by one more run that records writes."""
    script = make_script(node, template_dirs=template_dirs, trace=TraceSelection(inputs=True, limit=1))
    entry = script.entry(select_entry(node, wanted=function))
    binding = bind_named(entry, inputs, expected)
    namespace = load_script(script.script, "<pypto_tmpl changed inputs>")
    LoadedScript(namespace, entry, script.large()).call(binding.arguments)
    return {name: place for name in names for place in changes_of(node, namespace, binding.tensors[name])}


def changes_of(
    node: ir.Program | ir.Function, namespace: Mapping[str, Any], tensor: torch.Tensor
) -> Iterator[StatementPlace]:
    """The statement that was the last to change a tensor in a traced run, if any has."""
    last = last_change(namespace, tensor)
    if not last:
        return
    number, _ = namespace["_TRACE"].memory.changes[last - 1]
    function_name, path, _, _, source, _ = namespace["_TRACE_SITES"][number]
    for function in functions_of(node):
        for place, stmt in located_statements(function.body) if function.name == function_name else ():
            if place == path:
                yield StatementPlace(function_name, path, statement_text(stmt), source=source)


def last_change(namespace: Mapping[str, Any], tensor: torch.Tensor) -> int:
    """The number of the last change of a tensor in a traced run, 0 if there was none."""
    numbers = namespace["_TRACE"].memory.numbers(tensor, None, None)
    return 0 if numbers is None or not numbers.numel() else int(numbers.max())
