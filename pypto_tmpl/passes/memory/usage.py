"""What the memories of a core hold while a kernel runs: which bytes, for which tiles, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.printer.names import assign_names
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.ops import load_table
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.checks.pipes import RESERVE
from pypto_tmpl.passes.memory.lifespans import Group, Lifetime, Lifetimes
from pypto_tmpl.passes.memory.placed_tiles import aligned, allocations, is_pinned, placed, size_of
from pypto_tmpl.passes.memory.room import most_at_once
from pypto_tmpl.passes.memory.views import source_place
from pypto_tmpl.rewrite import Rewriter, build
from pypto_tmpl.storage.destinations import as_assignments
from pypto_tmpl.storage.places import has_addresses


@dataclass(frozen=True, slots=True)
class TileUse:
    """A tile: its bytes from ``start`` on, and the numbers of the statements that make and last read it."""

    name: str
    type: str
    start: int
    size: int
    first: int
    last: int
    is_own: bool  # not a view, a second name, or what an op has changed in place
    where: str

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class BufferUse:
    """An allocation: its bytes from ``start`` on, where that is known, and when it is in use."""

    name: str
    kind: str  # "tiles", "declared" by the program, or of a "pipe"
    start: int | None
    size: int
    first: int
    last: int
    tiles: tuple[TileUse, ...]

    @property
    def end(self) -> int:
        """The byte behind the last one."""
        return (self.start or 0) + self.size

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        own = {name: getattr(self, name) for name in self.__slots__}
        return own | {"tiles": [tile.as_dict() for tile in self.tiles]}


@dataclass(frozen=True, slots=True)
class SpaceUse:
    """One memory of the core; ``limit`` is what tiles may use of it, None where no backend tells."""

    space: ir.MemorySpace
    limit: int | None
    buffers: tuple[BufferUse, ...]

    @property
    def is_placed(self) -> bool:
        """Whether the allocations have addresses."""
        return all(buffer.start is not None for buffer in self.buffers)

    @property
    def used(self) -> int:
        """Bytes up to the end of the last allocation, or what they take one behind the other."""
        if self.is_placed:
            return max((buffer.end for buffer in self.buffers), default=0)
        return sum(aligned(buffer.size) for buffer in self.buffers)

    @property
    def unshared(self) -> int:
        """Bytes if no two tiles shared any: views and what is changed in place need none of their own."""
        return sum(
            max(buffer.size, sum(tile.size for tile in buffer.tiles if tile.is_own))
            for buffer in self.buffers
        )

    @property
    def reuse(self) -> float:
        """How often the bytes of allocations serve, on average; 1.0 where nothing is shared."""
        return self.unshared / self._covered if self._covered else 1.0

    @property
    def _covered(self) -> int:
        """Bytes in which an allocation lies; those without an address lie apart."""
        size, end = 0, 0
        for buffer in sorted(self.buffers, key=lambda one: one.start or 0):
            start = max(buffer.start, end) if buffer.start is not None else end
            end = max(end, buffer.end) if buffer.start is not None else end + buffer.size
            size += max(end - start, 0)
        return size

    @property
    def peak(self) -> int:
        """The most bytes that are in use at once, whoever plans the addresses."""
        always = sum(buffer.size for buffer in self.buffers if buffer.kind != "tiles")
        shared = [buffer.tiles for buffer in self.buffers if buffer.kind == "tiles"]
        return most_at_once(always, [[(t.first, t.last, t.size) for t in tiles] for tiles in shared])[0]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "space": self.space.name,
            "limit": self.limit,
            "used": self.used,
            "unshared": self.unshared,
            "reuse": self.reuse,
            "peak": self.peak,
            "buffers": [buffer.as_dict() for buffer in self.buffers],
        }


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A kernel: its statements by number, its loops, and the memories that it uses."""

    name: str
    statements: tuple[ir.Stmt, ...]
    loops: tuple[tuple[int, int], ...]
    spaces: tuple[SpaceUse, ...]

    @property
    def is_placed(self) -> bool:
        """Whether all allocations have addresses."""
        return all(space.is_placed for space in self.spaces)

    def as_dict(self) -> dict[str, Any]:
        """Plain data; of statements the text and the source line."""
        return {
            "name": self.name,
            "statements": [[_text(stmt), _place(stmt)] for stmt in self.statements],
            "loops": [list(each) for each in self.loops],
            "spaces": [space.as_dict() for space in self.spaces],
        }


def memory_use(program: ir.Program, backend: BackendFacts | None, *, placed: bool = False) -> list[KernelUse]:
    """What the kernels of a program use, in the order of the program; those without storage are left out.

    A program that is ``placed`` has addresses though all may be 0.
    """
    program = as_assignments(program, load_table())
    kernels = [f for f in program.functions.values() if is_incore_type(f.func_type)]
    placed = placed or has_addresses(program.functions.values())
    found = [_kernel_use(function, backend, placed) for function in kernels]
    return [kernel for kernel in found if kernel.spaces]


def has_storage(program: ir.Program) -> bool:
    """Whether tiles of a program have been given storage, be it without addresses yet.

    That a program names a buffer that it declares for a tile is none.
    """
    memrefs = (memref for function in program.functions.values() for _, memref, _ in placed(function))
    return any(not memref.is_pinned_ for memref in memrefs)


def _kernel_use(function: ir.Function, backend: BackendFacts | None, is_placed: bool) -> KernelUse:
    function = _with_distinct_names(function)
    lifetimes = Lifetimes(function)
    numbers = {id(stmt): number for number, stmt in enumerate(lifetimes.numbered)}
    buffers: dict[ir.MemorySpace, list[BufferUse]] = {}
    for space, buffer in _pipe_buffers(function, len(lifetimes.numbered)):
        buffers.setdefault(space, []).append(buffer)
    declared = {base: call for base, (_, call) in allocations(function).items() if is_pinned(call)}
    for group in lifetimes.groups.values():
        buffers.setdefault(group.space, []).append(_buffer(group, declared.get(id(group.base))))
    spaces = tuple(
        SpaceUse(space, None if backend is None else backend.capacity(space), _ordered(own, is_placed))
        for space, own in sorted(buffers.items(), key=lambda one: one[0].value)
    )
    loops = tuple(_loops(function, numbers))
    return KernelUse(function.name, tuple(lifetimes.numbered), loops, spaces)


def _with_distinct_names(function: ir.Function) -> ir.Function:
    """The function with the names that its text has, where several variables of one name are numbered."""
    variables = list({id(var): var for var, _ in all_definitions(function)}.values())
    names = assign_names(variables, ("pl", "pld", "self"))
    if all(names[id(var)] == var.name_hint for var in variables):
        return function
    return _Naming(names).rewrite(function)


class _Naming(Rewriter):
    def __init__(self, names: Mapping[int, str]) -> None:
        super().__init__()
        self._names = names

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        name = self._names.get(id(old), old.name_hint)
        return typed if name == old.name_hint else build(typed, name_hint=name)


def _ordered(buffers: list[BufferUse], is_placed: bool) -> tuple[BufferUse, ...]:
    """By address; without addresses where all begin at 0 though they are in use together."""
    without = not is_placed and all(buffer.start == 0 for buffer in buffers) and _are_together(buffers)
    if without or any(buffer.start is None for buffer in buffers):
        return tuple(_unplaced(buffer) for buffer in sorted(buffers, key=lambda one: one.name))
    return tuple(sorted(buffers, key=lambda one: (one.start or 0, one.first, one.name)))


def _are_together(buffers: list[BufferUse]) -> bool:
    """Whether one is made before another one was read for the last time."""
    ordered = sorted(buffers, key=lambda one: one.first)
    lasts = accumulate((buffer.last for buffer in ordered), max)
    return any(last >= later.first for last, later in zip(lasts, ordered[1:], strict=False))


def _unplaced(buffer: BufferUse) -> BufferUse:
    return BufferUse(buffer.name, buffer.kind, None, buffer.size, buffer.first, buffer.last, buffer.tiles)


def _pipe_buffers(function: ir.Function, count: int) -> Iterator[tuple[ir.MemorySpace, BufferUse]]:
    """What pipes have reserved, from the first statement to the last."""
    space = ir.MemorySpace.Mat if function.func_type is ir.FunctionType.AIC else ir.MemorySpace.Vec
    for stmt in statements(function.body):
        call = call_of(stmt)
        if call is not None and call.op.name == RESERVE:
            start, size = int(call.kwargs.get("base", -1)), int(call.kwargs["size"])
            where = None if start < 0 else start
            yield space, BufferUse(str(call.kwargs["name"]), "pipe", where, size, 0, max(count - 1, 0), ())


def _buffer(group: Group, declared: ir.Call | None) -> BufferUse:
    tiles = tuple(_tile(member) for member in group.members)
    start = min(tile.start for tile in tiles)
    size = max(tile.start + tile.size for tile in tiles) - start
    kind = "tiles" if declared is None else "declared"
    size = size if declared is None else max(size, size_of(declared))
    return BufferUse(group.base.name_hint, kind, start, size, group.start, group.end, tiles)


def _tile(member: Lifetime) -> TileUse:
    var, memref, call = member.var, member.memref, member.call
    start, size = 0, memref.size_
    match memref.byte_offset_:
        case ir.ConstInt(value=value):
            start = value
        case ir.Add(left=ir.ConstInt(value=value)) | ir.Add(right=ir.ConstInt(value=value)):
            start, size = value, size * memref.slot_count_
        case _:
            size *= memref.slot_count_
    is_own = call is not None and source_place(call) is None
    assert isinstance(var.type, ir.TileType)
    extents = ", ".join(map(ir.python_print, var.type.shape))
    text = f"[{extents}] {var.type.dtype.name}"
    where = str(var.span) if var.span.is_valid() else ""
    return TileUse(var.name_hint, text, start, size, member.start, member.end, is_own, where)


def _loops(function: ir.Function, numbers: dict[int, int]) -> Iterator[tuple[int, int]]:
    """The first and the last statement of each loop, the outer loops first."""
    for stmt in statements(function.body):
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            inside = [numbers[id(inner)] for inner in statements(stmt.body) if id(inner) in numbers]
            if inside:
                yield min(inside), max(inside)


def _text(stmt: ir.Stmt) -> str:
    """A statement without the types of what it assigns."""
    if isinstance(stmt, ir.AssignStmt):
        return f"{stmt.var.name_hint} = {ir.python_print(stmt.value)}"
    return ir.python_print(stmt).strip()


def _place(stmt: ir.Stmt) -> str:
    return str(stmt.span) if stmt.span.is_valid() else ""
