"""Running one stage with every value recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

import torch

from pypto_tmpl import ir
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.tracing import TraceSelection, located_statements
from pypto_tmpl.debug.stages.dumps import Stage, find_stages
from pypto_tmpl.debug.stages.preparation import Request, emit_from_best
from pypto_tmpl.debug.trace.records import Trace, TraceFailure
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.changes import last_change
from pypto_tmpl.execution.entry import functions_of, select_entry
from pypto_tmpl.execution.frames import failing_line
from pypto_tmpl.execution.lines import without_source
from pypto_tmpl.execution.load import load_script, script_name
from pypto_tmpl.execution.loaded import LoadedScript
from pypto_tmpl.execution.named import bind_named
from pypto_tmpl.execution.run import described
from pypto_tmpl.execution.statement_place import StatementPlace, statement_text
from pypto_tmpl.overlays import checked_folders


class TraceError(PyptoTmplError, ValueError):
    """A dump cannot be traced as asked."""

    slug = "trace"


def trace_dump(
    dump: str | PathLike[str],
    tensors: Mapping[str, torch.Tensor | bool | int | float],
    selection: TraceSelection | None = None,
    *,
    expected: Mapping[str, torch.Tensor] | None = None,
    entry: str | None = None,
    template_dirs: tuple[Path, ...] = (),
) -> Trace:
    """Run one dump on copies of ``tensors`` and record what its statements compute.

    Pure outputs that are not among the tensors start as zeros, of the shapes and dtypes in ``expected`` or
    else those of their parameters, which ``zeroed`` tells. A script that raises leaves the values from before
    that, and ``failure``.
    Raises: TraceError for a folder of several dumps; StageNotFoundError, StageReadError, EntryError,
    UnsupportedProgramError, MissingTensorError, TensorShapeError.
    """
    stages = find_stages(Path(dump))
    if len(stages) != 1:
        names = ", ".join(stage.name for stage in stages)
        raise TraceError(f"{str(dump)!r} has {len(stages)} dumps; name one", notes=[f"dumps: {names}"])
    inputs = {
        name: value if isinstance(value, torch.Tensor) else torch.tensor(value)
        for name, value in tensors.items()
    }
    request = Request(
        frozenset(inputs), entry, checked_folders(template_dirs), trace=selection or TraceSelection()
    )
    return trace_stage(stages[0], inputs, expected or {}, request)[0]


def trace_stage(
    stage: Stage,
    inputs: Mapping[str, torch.Tensor],
    expected: Mapping[str, torch.Tensor],
    request: Request,
) -> tuple[Trace, ir.Program | ir.Function]:
    """The trace of a stage, and the program that was run."""
    emitted, _ = emit_from_best(stage.read(), request)
    node, script = emitted.node, emitted.script
    entry = emitted.entry(select_entry(node, request.inputs, request.entry))
    binding = bind_named(entry, inputs, expected)
    name = script_name(node.name, f"{stage.name} traced")
    namespace = load_script(script, name)
    failure: TraceFailure | None = None
    try:
        LoadedScript(namespace, entry, emitted.large()).call(binding.arguments)
    except Exception as error:
        place = _failing_place(error, name, script, node)
        failure = TraceFailure(described(error, name, namespace["_SOURCE_MAP"]), place)
    trace = Trace.of(namespace, script, node, stage=stage.name)
    changed_by = {
        name: number for name, tensor in binding.tensors.items() if (number := last_change(namespace, tensor))
    }
    return replace(trace, failure=failure, zeroed=binding.zeroed, changed_by=changed_by), node


def _failing_place(
    error: Exception, name: str, script: Script, node: ir.Program | ir.Function
) -> StatementPlace | None:
    """The statement that a script failed at."""
    frame = failing_line(error, name, script)
    if frame is None or frame.lineno is None:
        return None
    place = StatementPlace(frame.name, generated_line=frame.lineno, generated_text=without_source(frame.line))
    stmt = script.statements.get(frame.lineno)
    if stmt is None:
        return place
    for function in functions_of(node):
        for path, candidate in located_statements(function.body):
            if candidate is stmt:
                span = stmt.span
                return replace(
                    place,
                    function=function.name,
                    path=path,
                    text=statement_text(stmt),
                    variable=stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else "",
                    source=f"{span.filename}:{span.begin_line}" if span.is_valid() else "",
                )
    return place
