"""What a script launches: which of its functions are kernels, and which of its lines stand for a launch."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import Launch, code_nodes
from pypto_tmpl.codegen.marks import LaunchNote
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.script import generator
from pypto_tmpl.execution.entry import describe_entry
from pypto_tmpl.ops import facts
from pypto_tmpl.runtime.records.script_names import names_taken

CoreType = Literal["aic", "aiv"]
_CORE_TYPES: Mapping[ir.FunctionType, CoreType] = {ir.FunctionType.AIC: "aic", ir.FunctionType.AIV: "aiv"}
_WRAPPERS = (ir.FunctionType.Group, ir.FunctionType.Spmd)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of the program that is launched; ``core`` is None for one that only launches others."""

    name: str
    core: CoreType | None
    params: tuple[str, ...]
    directions: tuple[str, ...]  # In, Out or InOut
    used: frozenset[str] = frozenset()  # parameters that its code names, other than to return them


@dataclass(frozen=True, slots=True)
class LaunchLine:
    """A statement that launches something, or an empty task that only has dependencies.

    ``loops`` are the parallel loops that it is in, the outermost first, as far as no other loop is between.
    """

    note: LaunchNote
    is_manual: bool
    is_dummy: bool
    loops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ScopeLines:
    """A scope that runs where it stands, from the first to the last of its lines."""

    name: str
    core: CoreType
    first: int
    last: int
    note: LaunchNote
    is_manual: bool
    loops: tuple[int, ...]
    names: tuple[str, ...]  # variables of the script that the lines read
    is_block_loop: bool = False  # the lines are a loop over blocks
    is_body: bool = True  # they compute themselves: what they launch is no task of its own


@dataclass(frozen=True, slots=True)
class TaskPlan:
    """All of it for one script."""

    kernels: Mapping[str, Kernel]  # by the names of the script
    launches: Mapping[int, LaunchLine] = field(default_factory=dict)  # by the first line
    scopes: tuple[ScopeLines, ...] = ()
    loops: Mapping[int, int] = field(default_factory=dict)  # numbers of parallel loops, by their lines


def task_plan(program: ir.Program, script: Script | None, tree: ast.Module) -> TaskPlan:
    """What a script that was made from ``program`` launches; ``tree`` is what is executed of it.

    Of an edited script, which has no record, only the kernels are known.
    """
    lines = {} if script is None else script.statements
    notes = {} if script is None else script.notes
    own = generator().function_names(program) if script is None else script.names
    kernels = {own[f.name]: _kernel(f) for f in program.functions.values() if _is_launched(f)}
    first_lines: dict[int, int] = {}
    last_lines: dict[int, int] = {}
    for line, stmt in sorted(lines.items()):
        first_lines.setdefault(id(stmt), line)
        last_lines[id(stmt)] = line
    dummies = facts.named("dummy_task")
    launched = {*dummies, *(f.name for f in program.functions.values() if _is_launched(f))}
    launches: dict[int, LaunchLine] = {}
    scopes: list[ScopeLines] = []
    numbers: dict[int, int] = {}
    for stmt in lines.values():
        if isinstance(stmt, ir.ForStmt) and stmt.kind is ir.ForKind.Parallel:
            numbers.setdefault(id(stmt), len(numbers))
    for function in program.functions.values():
        if ir.is_incore_type(function.func_type):
            continue
        for stmt, is_manual, around in _launching(function.body, is_manual=False):
            loops = tuple(numbers[loop] for loop in around if loop in numbers)
            if isinstance(stmt, ir.ScopeStmt):
                inner = [id(node) for node in code_nodes(stmt) if id(node) in first_lines]
                if inner:
                    first, last = min(first_lines[i] for i in inner), max(last_lines[i] for i in inner)
                    names = names_taken(tree.body, first, last)
                    note = notes.get(stmt, LaunchNote())
                    scopes.append(_scope_lines(function, stmt, first, last, note, is_manual, loops, names))
            elif id(stmt) in first_lines and _launch_of(stmt) in launched:
                launches[first_lines[id(stmt)]] = LaunchLine(
                    notes.get(stmt, LaunchNote()), is_manual, _launch_of(stmt) in dummies, loops
                )
    by_line = {line: numbers[id(stmt)] for line, stmt in lines.items() if id(stmt) in numbers}
    return TaskPlan(kernels, launches, tuple(scopes), by_line)


def _is_launched(function: ir.Function) -> bool:
    return ir.is_incore_type(function.func_type) or function.func_type in _WRAPPERS


def _kernel(function: ir.Function) -> Kernel:
    core = None if function.func_type in _WRAPPERS else _CORE_TYPES.get(function.func_type)
    if core is None and function.func_type not in _WRAPPERS:
        core = _core_of(function.body)
    names = tuple(param.name for param in describe_entry(function, function.name).parameters)
    directions = tuple(direction.name for direction in function.param_directions)
    used = _used(function)
    return Kernel(function.name, core, names, directions, frozenset(itertools.compress(names, used)))


def _used(function: ir.Function) -> list[bool]:
    """Which of the parameters the body has a use for."""
    used = {
        id(child)
        for node in code_nodes(function.body)
        if not isinstance(node, ir.ReturnStmt)
        for child in ir.children(node)
    }
    return [id(var) in used for var in function.params]


def _core_of(body: ir.Stmt) -> CoreType:
    """The core that a body runs on where its function does not say: the cube core if it multiplies."""
    is_cube = any(
        isinstance(node, ir.Call) and facts.of_value(node).has("product") for node in code_nodes(body)
    )
    return "aic" if is_cube else "aiv"


def _launch_of(stmt: ir.Stmt) -> str | None:
    """Name of the function that a statement calls or submits, or of the empty task; else None."""
    launch = getattr(stmt, "value", None) or getattr(stmt, "expr", None)
    if not isinstance(launch, Launch):
        return None
    is_launch = isinstance(launch.op, ir.GlobalVar) or facts.of(launch.op).has("dummy_task")
    return launch.op.name if is_launch else None


def _launching(
    stmt: ir.Stmt, is_manual: bool, loops: tuple[int, ...] = ()
) -> Iterator[tuple[ir.Stmt, bool, tuple[int, ...]]]:
    """Statements and scopes that launch something, whether a manual scope is around them, and which loops.

    The loops are identities of parallel ones, up to the innermost that is not.
    """
    if isinstance(stmt, ir.InCoreScopeStmt | ir.SpmdScopeStmt) or _launch_of(stmt) is not None:
        yield stmt, is_manual, loops
    if isinstance(stmt, ir.InCoreScopeStmt) or (isinstance(stmt, ir.SpmdScopeStmt) and _computes(stmt)):
        return
    if isinstance(stmt, ir.RuntimeScopeStmt):
        is_manual = stmt.manual
    if isinstance(stmt, ir.ForStmt):
        loops = (*loops, id(stmt)) if stmt.kind is ir.ForKind.Parallel else ()
    elif isinstance(stmt, ir.WhileStmt):
        loops = ()
    for child in ir.children(stmt):
        if isinstance(child, ir.Stmt):
            yield from _launching(child, is_manual, loops)


def _computes(scope: ir.SpmdScopeStmt) -> bool:
    """True for a scope of blocks that computes by itself: it holds neither a launch nor another scope."""
    return not any(
        isinstance(node, ir.InCoreScopeStmt) or (isinstance(node, ir.Stmt) and _launch_of(node) is not None)
        for node in code_nodes(scope.body)
    )


def _scope_lines(
    function: ir.Function,
    scope: ir.ScopeStmt,
    first: int,
    last: int,
    note: LaunchNote,
    is_manual: bool,
    loops: tuple[int, ...],
    names: tuple[str, ...],
) -> ScopeLines:
    name = scope.name_hint or f"{function.name}_incore"
    is_block_loop = isinstance(scope, ir.SpmdScopeStmt)
    is_body = not isinstance(scope, ir.SpmdScopeStmt) or _computes(scope)
    core = _core_of(scope.body)
    return ScopeLines(name, core, first, last, note, is_manual, loops, names, is_block_loop, is_body)
