"""Which kernels share a file: the members of a group, or a kernel alone."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.streams.tiles import statements_of

KERNELS = (ir.FunctionType.InCore, ir.FunctionType.AIC, ir.FunctionType.AIV)


@dataclass(frozen=True, slots=True)
class Unit:
    """One ``.pto`` file: its name without the ending, and its kernels in the order of the program."""

    name: str
    functions: tuple[ir.Function, ...]


def units_of(program: ir.Program) -> list[Unit]:
    """The units of a program, by name."""
    grouped: set[str] = set()
    units: list[Unit] = []
    for function in program.functions.values():
        if function.func_type is ir.FunctionType.Group:
            members = _kernels_called(function, program)
            grouped |= {member.name for member in members}
            if members:
                units.append(Unit(function.name, members))
    for function in program.functions.values():
        if function.func_type in KERNELS and function.name not in grouped:
            units.append(Unit(function.name, (function,)))
    return sorted(units, key=lambda unit: unit.name)


def _kernels_called(group: ir.Function, program: ir.Program) -> tuple[ir.Function, ...]:
    """The kernels that a group launches."""
    called: set[str] = set()
    for stmt in statements_of(group.body):
        value = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        value = stmt.expr if isinstance(stmt, ir.EvalStmt) else value
        if isinstance(value, ir.Call | ir.Submit) and isinstance(value.op, ir.GlobalVar):
            called.add(value.op.name)
    functions = program.functions.values()
    return tuple(f for f in functions if f.name in called and f.func_type in KERNELS)
