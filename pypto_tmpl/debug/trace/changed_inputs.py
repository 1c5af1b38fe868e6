"""Inputs that a program only reads, but that a stage has changed: which, where, by which statement."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from pypto_tmpl.codegen.script import ScriptBuilder, generator
from pypto_tmpl.codegen.tracing import TraceSelection, located_statements
from pypto_tmpl.compare.tensors import Rules, TensorVerdict, compare_tensors
from pypto_tmpl.compare.tolerance import EXACT
from pypto_tmpl.debug.stages.preparation import Node
from pypto_tmpl.debug.trace.records import statement_text
from pypto_tmpl.execution.binding import Binding, bind_arguments
from pypto_tmpl.execution.cores import on_one_core
from pypto_tmpl.execution.entry import Entry, describe_entry, functions_of, select_entry
from pypto_tmpl.execution.load import LANES, load_script
from pypto_tmpl.execution.statement_place import StatementPlace

Tensors = Mapping[str, torch.Tensor]
Places = Callable[[], Mapping[str, StatementPlace]]
_WORD = 8
_EXACT = Rules(EXACT, equal_nan=True)


def changed_inputs(
    entry: Entry, binding: Binding, inputs: Tensors, expected: Collection[str]
) -> dict[str, torch.Tensor]:
    """What has become of inputs that the entry only reads, of those that are not as they were."""
    return {
        parameter.name: binding.tensors[parameter.name]
        for parameter in entry.parameters
        if parameter.is_read_only
        and parameter.name in binding.tensors
        and not {parameter.name, parameter.exact} & {*expected}
        and not same_cells(binding.tensors[parameter.name], inputs[binding.sources[parameter.name]])
    }


def same_cells(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same bytes; eight at a time where they come so, which is much faster."""
    parts = _bytes(one), _bytes(other)
    if all(not (part.numel() % _WORD or part.storage_offset() % _WORD) for part in parts):
        parts = parts[0].view(torch.int64), parts[1].view(torch.int64)
    return torch.equal(*parts)


def _bytes(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


def verdict_on(
    name: str, now: torch.Tensor, before: torch.Tensor, place: StatementPlace | None
) -> TensorVerdict:
    """The verdict on an input that was changed, with the statement that did it."""
    found = compare_tensors(name, now, before, _EXACT)
    reason = "the program only reads this input, but the stage has changed it"
    if place is not None:
        where = f", {place.source}" if place.source else ""
        reason += f"\nchanged by: {place.function}{where}: {place.text}"
    return replace(found, passed=False, reason=reason, is_input=True)


def changing_statements(
    node: Node,
    function: str,
    inputs: Tensors,
    expected: Tensors,
    names: Collection[str],
    template_dirs: tuple[Path, ...] = (),
) -> dict[str, StatementPlace]:
    """The statement that changed each of these inputs last, by one more run that records writes."""
    selection = TraceSelection(inputs=True, limit=1)
    builder = ScriptBuilder(generator(template_dirs), node, check_shapes=False, trace=selection)
    script = builder.build("used")
    entry = describe_entry(select_entry(node, wanted=function), builder.function_names[function])
    binding = bind_arguments(entry, inputs, expected)
    namespace = load_script(script, "<pypto_tmpl changed inputs>")
    with on_one_core() if LANES in script else nullcontext():
        namespace[entry.script_name](*binding.arguments)
    return {name: place for name in names for place in changes_of(node, namespace, binding.tensors[name])}


def changes_of(node: Node, namespace: Mapping[str, Any], tensor: torch.Tensor) -> Iterator[StatementPlace]:
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
