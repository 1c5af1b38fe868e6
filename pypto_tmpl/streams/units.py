"""Which kernels share a file, and where in a build it lies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.ir.enums import Level
from pypto_tmpl.streams.tiles import statements_of

_BOTH_WAYS = 3  # the direction mask of a pipe that carries tiles either way
KERNELS = (ir.FunctionType.InCore, ir.FunctionType.AIC, ir.FunctionType.AIV)


@dataclass(frozen=True, slots=True)
class Unit:
    """One ``.pto`` file: its name without the ending, and its kernels in the order of the program."""

    name: str
    functions: tuple[ir.Function, ...]
    is_group: bool = False


def units_of(program: ir.Program) -> list[Unit]:
    """The units of a program, by name."""
    return _units(program.functions.values(), program)


def paths_of(program: ir.Program, *, skip_ptoas: bool = False) -> dict[str, Unit]:
    """The units by their paths in a build; without ptoas they stand where the kernels would.

    Where several orchestrations run, or the host runs one, each has a folder with what it launches.
    """
    folders = folders_of(program)
    if not any(folders.values()):
        return {_path(unit, skip_ptoas): unit for unit in units_of(program)}
    return {
        f"{folder}{_path(unit, skip_ptoas)}": unit
        for chip, folder in folders.items()
        for unit in _units(_reached(chip, program), program)
    }


def folders_of(program: ir.Program) -> dict[ir.Function, str]:
    """The orchestrations of chips with the folders of all that they launch; "" for one that runs alone."""
    functions = program.functions.values()
    chips = [f for f in functions if f.func_type is ir.FunctionType.Orchestration and f.level is Level.CHIP]
    is_alone = len(chips) < 2 and all(f.level is not Level.HOST for f in functions)
    return {chip: "" if is_alone else f"next_levels/{chip.name}/" for chip in chips}


def names_in_folders(program: ir.Program) -> dict[str, set[str]]:
    """The names of the orchestrations and of all that they launch, by the folders that hold their texts."""
    return {
        folder: {chip.name, *(function.name for function in _reached(chip, program))}
        for chip, folder in folders_of(program).items()
    }


def drivers_of(program: ir.Program) -> list[ir.Function]:
    """The functions of the host that say what chips run."""
    return [f for f in program.functions.values() if f.level is Level.HOST and f.role is ir.Role.Orchestrator]


def _path(unit: Unit, skip_ptoas: bool) -> str:
    if not skip_ptoas:
        return f"ptoas/{unit.name}.pto"
    if unit.is_group:
        return f"kernels/{unit.name}.pto"
    core = "aic" if unit.functions[0].func_type is ir.FunctionType.AIC else "aiv"
    return f"kernels/{core}/{unit.name}.pto"


def _units(functions: Iterable[ir.Function], program: ir.Program) -> list[Unit]:
    functions = list(functions)
    grouped: set[str] = set()
    units: list[Unit] = []
    for function in functions:
        if function.func_type is ir.FunctionType.Group:
            members = tuple(f for f in _called(function, program) if f.func_type in KERNELS)
            grouped |= {member.name for member in members}
            if members:
                units.append(Unit(function.name, members, is_group=True))
    for function in functions:
        if function.func_type in KERNELS and function.name not in grouped:
            units.append(Unit(function.name, (function,)))
    return sorted(units, key=lambda unit: unit.name)


def _reached(start: ir.Function, program: ir.Program) -> list[ir.Function]:
    """The functions that an orchestration calls, and those that they call, in the order of the program.

    Another orchestration that it calls has a folder of its own, with what that calls.
    """
    others = {chip.name for chip in folders_of(program)}
    found: set[str] = set()
    pending = [start]
    while pending:
        for function in _called(pending.pop(), program):
            if function.name not in found | others:
                found.add(function.name)
                pending.append(function)
    return [function for function in program.functions.values() if function.name in found]


def _called(caller: ir.Function, program: ir.Program) -> list[ir.Function]:
    """The functions that a function calls or submits, in the order of the program."""
    names: set[str] = set()
    for stmt in statements_of(caller.body):
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        value = stmt.expr if isinstance(stmt, ir.EvalStmt) else value
        if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
            names.add(value.op.name)
    return [function for function in program.functions.values() if function.name in names]


def pipe_sizes(kernel: ir.Function) -> dict[tuple[int, int], int]:
    """Bytes that the pipes of a kernel take in global memory, by id and direction."""
    sizes: dict[tuple[int, int], int] = {}
    for stmt in statements_of(kernel.body):
        call = stmt.expr if isinstance(stmt, ir.EvalStmt) else None
        if isinstance(call, ir.Call) and "slot_size" in call.kwargs:
            both = call.kwargs.get("dir_mask") == _BOTH_WAYS
            slots = call.kwargs.get("slot_num") or (4 if both else 8)
            key = (call.kwargs.get("id") or 0, call.kwargs.get("dir_mask", 0))
            sizes[key] = slots * (2 if both else 1) * call.kwargs.get("slot_size", 0)
    return sizes


def pipe_bytes(kernel: ir.Function) -> int:
    """Bytes that all pipes of a kernel take in global memory."""
    return sum(pipe_sizes(kernel).values())
