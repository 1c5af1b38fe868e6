"""Memory that the buffers of pipes take, before any tile."""

from __future__ import annotations

from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.checks.pipes import RESERVE
from pypto_tmpl.passes.memory.placed_tiles import aligned
from pypto_tmpl.storage.places import ALIGNMENT


@dataclass(frozen=True, slots=True)
class _Taken:
    """The bytes of a buffer, its name, and the statement that reserves it."""

    start: int
    end: int
    name: str
    stmt: ir.Stmt


class Reserved:
    """The reserved buffers of a kernel: those without an address get one, behind the earlier ones."""

    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        self.space = ir.MemorySpace.Mat if function.func_type is ir.FunctionType.AIC else ir.MemorySpace.Vec
        self.given: dict[int, int] = {}
        """The addresses of the calls (ids) that had none."""
        self.end = 0
        """Where tiles may begin."""
        self._function = function
        self._limit = None if backend is None else backend.capacity(self.space)
        self._taken: list[_Taken] = []
        for stmt in statements(function.body):
            call = call_of(stmt)
            if call is None or call.op.name != RESERVE:
                continue
            start, size = int(call.kwargs.get("base", -1)), int(call.kwargs["size"])
            if start < 0:
                start = self.end
                self.given[id(call)] = start
            self._taken.append(_Taken(start, start + size, str(call.kwargs["name"]), stmt))
            self.end = max(self.end, aligned(start + size))

    def check(self) -> None:
        """Raise PassError for addresses off the alignment, buffers that overlap, and what does not fit."""
        for taken in self._taken:
            self._check(taken)
        last: _Taken | None = None
        for taken in sorted(self._taken, key=lambda taken: (taken.start, taken.end)):
            if last is not None and taken.start < last.end:
                both = " and ".join(
                    f"{one.name!r} ({one.end - one.start} bytes at {one.start})" for one in (last, taken)
                )
                what = f"the buffers {both} overlap in {self.space.name}{self._of_limit}"
                raise PassError(what, self._function, taken.stmt)
            if last is None or taken.end > last.end:
                last = taken

    def _check(self, taken: _Taken) -> None:
        size = taken.end - taken.start
        where = f"the buffer {taken.name!r} of {size} bytes at {taken.start} in {self.space.name}"
        if taken.start % ALIGNMENT:
            what = f"does not begin at a multiple of {ALIGNMENT}"
            raise PassError(f"{where}{self._of_limit} {what}", self._function, taken.stmt)
        if self._limit is not None and taken.end > self._limit:
            raise PassError(
                f"{where} exceeds platform limit ({self._limit} bytes)", self._function, taken.stmt
            )

    @property
    def _of_limit(self) -> str:
        return "" if self._limit is None else f" (of {self._limit} bytes)"
