"""The entry of a program that is compiled."""

from __future__ import annotations

from dataclasses import replace

from pypto_tmpl import ir
from pypto_tmpl.domains.host import is_host, is_sub_worker
from pypto_tmpl.execution.entry import Entry, EntryError, describe_entry, entry_candidates, select_entry


def find_entry(program: ir.Program) -> Entry:
    """The entry of a program: the function that ``debug.select_entry`` finds, by its name in the IR.

    Raises EntryError where that is not clear, for what is above the level of a card and orchestrates no
    ranks, and for a parameter that is neither tensor nor scalar.
    """
    has_host = any(map(is_host, program.functions.values()))
    for driver in program.functions.values():
        is_of_host = is_host(driver) or (has_host and is_sub_worker(driver))
        if driver.level is not None and driver.level.value > ir.Level.CHIP.value and not is_of_host:
            what = f"entry {driver.name!r} of level {driver.level.name} drives several cards"
            raise EntryError(what, notes=["programs run on one simulated card"])
    function = select_entry(program)
    parameters = describe_entry(function, function.name).parameters
    for parameter, var in zip(parameters, function.params, strict=True):
        if parameter.shape is None and not parameter.is_scalar:
            kind = type(var.type).__name__.removesuffix("Type")
            what = f"parameter {parameter.name!r} of the entry {function.name!r} is a {kind}"
            raise EntryError(what, notes=["parameters of an entry: Tensor, Scalar"])
    # Arguments come by position: what else the IR calls them is not kept.
    return Entry(function.name, function.name, tuple(replace(p, exact="") for p in parameters))


def orchestrations_of(program: ir.Program) -> list[str]:
    """The orchestrations, sorted, of a program that has several and no host that drives them; else none."""
    functions = list(program.functions.values())
    if any(f.level is not None and f.level.value >= ir.Level.HOST.value for f in functions):
        return []
    names = sorted(f.name for f in functions if f.func_type is ir.FunctionType.Orchestration)
    return names if len(names) > 1 else []


def start_of(program: ir.Program) -> str | None:
    """The one of several orchestrations that calls the others, None where there is no such one."""
    candidates = entry_candidates(list(program.functions.values()))
    return candidates[0].name if len(candidates) == 1 and orchestrations_of(program) else None


def part_of(program: ir.Program, name: str) -> ir.Program:
    """The program of one orchestration: it and what it calls, directly or not."""
    functions = {function.name: function for function in program.functions.values()}
    found, pending = set[str](), [name]
    while pending:
        current = pending.pop()
        if current in found or current not in functions:
            continue
        found.add(current)
        calls = (n for n in ir.walk(functions[current]) if isinstance(n, ir.Call | ir.Submit))
        pending += [call.op.name for call in calls if isinstance(call.op, ir.GlobalVar)]
    parts = [function for function in functions.values() if function.name in found]
    return ir.Program(parts, program.name, program.span)


def stage_entry(program: ir.Program, given: Entry) -> Entry:
    """The entry of a stage of a program, which is called as the entry of the program that was ``given``.

    Passes rename parameters, and say of more of them that they are written. Raises EntryError where they have
    made others.
    """
    found = find_entry(program)
    if len(found.parameters) != len(given.parameters):
        what = (
            f"the entry {found.name!r} has {len(found.parameters)} parameters, and {len(given.parameters)} as"
        )
        raise EntryError(f"{what} it is written")
    return replace(found, parameters=given.parameters)


def result_count(program: ir.Program, entry: Entry) -> int:
    """How many values the entry returns; if any, a call may leave out the pure outputs."""
    function = program.get_function(entry.name)
    return 0 if function is None else len(function.return_types)
