"""What is wrong with a plan of addresses: tiles read after others took their bytes, no room, no alignment."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.checks.pipes import RESERVE
from pypto_tmpl.passes.memory.usage import BufferUse, KernelUse, SpaceUse
from pypto_tmpl.storage.misfits import misfits
from pypto_tmpl.storage.overwrites import overwrites
from pypto_tmpl.storage.places import ALIGNMENT, FunctionPlaces


def plan_problems(
    program: ir.Program,
    kernels: Iterable[KernelUse],
    *,
    copies_yields: bool = False,
    placed: bool = False,
) -> list[str]:
    """A line for each problem: reads, tiles that cannot lie where they are to, then by kernel and memory.

    Each has the kernel, and of a tile the name, size, address and line. Kernels tell how much there is of a
    memory. In a program that ``copies_yields``, nobody has planned the copies of what loops and branches
    yield; one that is ``placed`` has addresses though all may be 0.
    """
    table = load_table()
    wrong = overwrites(program, table, copies_yields=copies_yields, placed=placed)
    found = [overwrite.text() for overwrite in wrong]
    misplaced: set[tuple[str, str]] = set()
    for function in program.functions.values():
        for var, what in misfits(FunctionPlaces(function, table)):
            misplaced.add((function.name, var.name_hint))
            found.append(f"{function.name}: `{var.name_hint}`{_on_line(var.span)} is {what}")
    for kernel in kernels:
        told = {name for function, name in misplaced if function == kernel.name}
        for space in kernel.spaces:
            found += [f"{kernel.name}: {problem}" for problem in _of_space(kernel, space, told)]
    return found


def _on_line(span: ir.Span | None) -> str:
    return f" on line {span.begin_line}" if span is not None and span.is_valid() else ""


def _named(kernel: KernelUse, buffer: BufferUse) -> str:
    """An allocation, or the buffer of a pipe, with its line and size."""
    kind = "the pipe buffer" if buffer.kind == "pipe" else "the allocation"
    made = (stmt.span for stmt in kernel.statements if _makes(stmt) == buffer.name)
    return f"{kind} {buffer.name}{_on_line(next(made, None))} of {buffer.size} bytes"


def _makes(stmt: ir.Stmt) -> str | None:
    """The name of the buffer that a statement makes."""
    call = call_of(stmt)
    if call is not None and call.op.name == RESERVE:
        return str(call.kwargs["name"])
    return stmt.var.name_hint if isinstance(stmt, ir.AssignStmt) else None


def _of_space(kernel: KernelUse, space: SpaceUse, told: Container[str]) -> Iterator[str]:
    if space.limit is not None and space.used > space.limit:
        yield from _beyond(kernel, space, space.limit, told)
    for buffer in space.buffers:
        if buffer.kind != "tiles" and buffer.start is not None and buffer.start % ALIGNMENT:
            what = f"{_named(kernel, buffer)} at {space.space.name} {buffer.start:#x}"
            yield f"{what}, which is no multiple of {ALIGNMENT}"
    yield from _on_pipes(kernel, space)


def _beyond(kernel: KernelUse, space: SpaceUse, limit: int, told: Container[str]) -> Iterator[str]:
    """The tiles, or buffers without any, that lie beyond a memory; without addresses the largest buffer."""
    name = space.space.name
    if not space.is_placed:
        largest = max(space.buffers, key=lambda buffer: buffer.size)
        yield (
            f"{name} is used up to {space.used} bytes, and has {limit}; the largest is"
            f" {_named(kernel, largest)}"
        )
        return
    for buffer in space.buffers:
        tiles = [tile for tile in buffer.tiles if tile.start + tile.size > limit]
        for tile in tiles:
            if tile.name not in told:
                line = _on_line(kernel.statements[tile.first].span)
                what = f"`{tile.name}`{line} is a tile of {tile.size} bytes"
                yield f"{what} at {name} {tile.start:#x}, and {name} has {limit:#x}"
        if not tiles and buffer.end > limit:
            yield f"{_named(kernel, buffer)} at {name} {buffer.start or 0:#x}, and {name} has {limit:#x}"


def _on_pipes(kernel: KernelUse, space: SpaceUse) -> Iterator[str]:
    """The other core may write the slots of a pipe at any time."""
    placed = [buffer for buffer in space.buffers if buffer.start is not None]
    for number, pipe in enumerate(placed):
        for at, other in enumerate(placed):
            if pipe.kind != "pipe" or other is pipe or other.kind == "pipe" and at < number:
                continue
            first, end = max(pipe.start or 0, other.start or 0), min(pipe.end, other.end)
            if first < end:
                where = f"{space.space.name} {first:#x}-{end - 1:#x}"
                yield f"{_named(kernel, other)} lies on {_named(kernel, pipe)} at {where}"
