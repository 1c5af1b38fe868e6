"""Sub-workers of the host as files of a build: their Python, and which of them have none of their own."""

from __future__ import annotations

import ast
import json
import keyword
from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.codegen.inline import inline_source
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.domains.host import SUB_WORKERS, is_callback, is_sub_worker
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.streams.problems import SubWorkerError
from pypto_tmpl.streams.templates import CppTemplates

_TORCH = "torch"


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A parameter with its Python type, and its direction: In, Out or InOut."""

    name: str
    type: str
    direction: str


@dataclass(frozen=True, slots=True)
class _SubWorker:
    """What the template reads."""

    name: str
    imports: Sequence[str]
    parameters: Sequence[_Parameter]
    body: str


def sub_workers_of(program: ir.Program) -> list[ir.Function]:
    """The sub-workers of the host, callbacks among them, in the order of the program."""
    return [function for function in program.functions.values() if is_sub_worker(function)]


def sub_worker_path(name: str) -> str:
    """Where in a build the Python of a sub-worker is."""
    return f"{SUB_WORKERS}/{name}.py"


def required_text(program: ir.Program) -> str:
    """The names of the callbacks, which whoever runs the program has to give; "" where there are none."""
    names = sorted(function.name for function in sub_workers_of(program) if is_callback(function))
    return json.dumps(names, indent=2) if names else ""


def sub_worker_text(function: ir.Function, templates: CppTemplates) -> str:
    """The module of a sub-worker with a body. Raises SubWorkerError for one that is no Python text."""
    problems: list[Unsupported] = []
    names = [function.name, *(var.name_hint for var in function.params)]
    problems += [
        _problem(f"the name {name!r}, which Python does not take", function, function.span)
        for name in names
        if not name.isidentifier() or keyword.iskeyword(name)
    ]
    lines: list[str] = []
    for stmt in flat(function.body):
        if isinstance(stmt, ir.InlineStmt):
            source, problem = inline_source(stmt)
            lines.append(source)
        else:
            problem = f"a {type(stmt).__name__}, where a sub-worker is Python text"
        if problem is not None:
            problems.append(_problem(problem, function, stmt.span))
    if problems:
        raise SubWorkerError(tuple(problems))
    body = "\n".join(lines)
    pairs = zip(function.params, function.param_directions, strict=True)
    parameters = [_Parameter(var.name_hint, _type_of(var.type), way.name) for var, way in pairs]
    is_named = any(isinstance(node, ast.Name) and node.id == _TORCH for node in ast.walk(ast.parse(body)))
    uses_torch = is_named or any(parameter.type.startswith(_TORCH) for parameter in parameters)
    text: str = templates.sub_worker.module(
        _SubWorker(function.name, [_TORCH] if uses_torch else [], parameters, body)
    )
    return text


def _problem(what: str, function: ir.Function, span: ir.Span) -> Unsupported:
    return Unsupported(what, function.name, "", span)


def _type_of(type_: ir.Type) -> str:
    """The Python type of an argument."""
    if isinstance(type_, ir.TensorType):
        return "torch.Tensor"
    if not isinstance(type_, ir.ScalarType):
        return "object"
    if type_.dtype.is_float():
        return "float"
    return "bool" if type_.dtype is ir.DataType.BOOL else "int"
