"""What is wrong with a plan of addresses: tiles read after others took their bytes, no room, no alignment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.memory.placed_tiles import ALIGNMENT
from pypto_tmpl.passes.memory.usage import BufferUse, KernelUse, SpaceUse
from pypto_tmpl.storage.overwrites import overwrites
from pypto_tmpl.storage.places import FunctionPlaces


def plan_problems(program: ir.Program, kernels: Iterable[KernelUse], *, placed: bool = False) -> list[str]:
    """A line for each problem: reads, tiles beyond their allocations, and then by kernel and memory.

    A program that is ``placed`` has addresses though all may be 0.
    """
    table = load_table()
    found = [overwrite.text() for overwrite in overwrites(program, table, placed=placed)]
    for function in program.functions.values():
        for var, what in FunctionPlaces(function, table).misfits():
            on_line = f" on line {var.span.begin_line}" if var.span.is_valid() else ""
            found.append(f"{function.name}: `{var.name_hint}`{on_line} is {what}")
    for kernel in kernels:
        for space in kernel.spaces:
            found += [f"{kernel.name}: {problem}" for problem in _of_space(space)]
    return found


def _of_space(space: SpaceUse) -> Iterator[str]:
    if space.limit is not None and space.used > space.limit:
        yield f"{space.space.name} is used up to {space.used} bytes, and has {space.limit}"
    for buffer in space.buffers:
        if buffer.start is not None and buffer.start % ALIGNMENT:
            yield f"{buffer.name} begins at {space.space.name} {buffer.start:#x}, no multiple of {ALIGNMENT}"
    yield from _on_pipes(space, [buffer for buffer in space.buffers if buffer.start is not None])


def _on_pipes(space: SpaceUse, placed: Sequence[BufferUse]) -> Iterator[str]:
    """The other core may write the slots of a pipe at any time."""
    for pipe in placed:
        if pipe.kind != "pipe" or pipe.start is None:
            continue
        for other in placed:
            if other is not pipe and other.start is not None and pipe.start < other.end:
                first, end = max(pipe.start, other.start), min(pipe.end, other.end)
                if first < end and (other.kind != "pipe" or placed.index(other) > placed.index(pipe)):
                    where = f"{space.space.name} {first:#x}-{end - 1:#x}"
                    yield f"{other.name} lies on the pipe buffer {pipe.name} at {where}"
