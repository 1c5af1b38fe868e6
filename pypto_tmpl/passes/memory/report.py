"""The report on memory as text: a table of each kernel's memories, and one of the allocations in each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl.passes.memory.usage import BufferUse, KernelUse, SpaceUse

_UNIT = 1024
_LONGEST = 60
"""Columns that the names of the tiles of an allocation take at most."""


def report_text(pass_name: str, backend: str, kernels: Sequence[KernelUse]) -> str:
    """The report on a program, as it is after a pass; ``backend`` is empty where none is chosen."""
    head = [
        "=== Memory Usage Report ===",
        f"Pass: {pass_name}",
        f"Backend: {backend or 'none'}",
        f"Functions: {len(kernels)} compute functions",
    ]
    lines = [*head, *(line for kernel in kernels for line in _kernel(kernel))]
    return "\n".join(lines) + "\n"


def size_text(size: int) -> str:
    """A number of bytes as B, KB or MB."""
    if size < _UNIT:
        return f"{size} B"
    return f"{size / _UNIT:.1f} KB" if size < _UNIT**2 else f"{size / _UNIT**2:.1f} MB"


def _kernel(kernel: KernelUse) -> Iterator[str]:
    yield from ("", f"--- {kernel.name} ---", "")
    yield from _table(
        ("Space", "Used", "Limit", "Usage", "MemRefs", "Reuse"), [_space(space) for space in kernel.spaces]
    )
    for space in kernel.spaces:
        yield from ("", f"{space.space.name}:")
        rows = [_buffer(buffer) for buffer in space.buffers]
        yield from _table(("Name", "Size", "Address range", "Live range", "Tiles"), rows, 1)


def _space(space: SpaceUse) -> tuple[str, ...]:
    limit, usage = "N/A", "N/A"
    if space.limit is not None:
        limit, usage = size_text(space.limit), f"{space.used / space.limit:.1%}"
    reuse = f"{space.reuse:.2f}x"
    return space.space.name, size_text(space.used), limit, usage, str(len(space.buffers)), reuse


def _buffer(buffer: BufferUse) -> tuple[str, ...]:
    where = "(unallocated)" if buffer.start is None else f"[{buffer.start}, {buffer.end})"
    return (
        buffer.name,
        size_text(buffer.size),
        where,
        f"[{buffer.first}, {buffer.last}]",
        _names(buffer) if buffer.kind != "pipe" else "(pipe)",
    )


def _names(buffer: BufferUse) -> str:
    """The names of the tiles of an allocation, as many as a line has room for."""
    names = [tile.name for tile in buffer.tiles]
    shown, width = 0, 0
    for name in names:
        width += len(name) + 2
        if width > _LONGEST and shown:
            break
        shown += 1
    more = f" and {len(names) - shown} more" if shown < len(names) else ""
    return ", ".join(names[:shown]) + more


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], indent: int = 0) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    rule = tuple("-" * width for width in widths)
    for row in (head, rule, *rows):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        yield (" " * 2 * indent + (" | ", "-+-")[row is rule].join(cells)).rstrip()
