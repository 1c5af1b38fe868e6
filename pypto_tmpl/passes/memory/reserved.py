"""Memory that the buffers of pipes take, before any tile."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.checks.calls import call_of
from pypto_tmpl.passes.checks.pipes import RESERVE
from pypto_tmpl.passes.memory.placed_tiles import ALIGNMENT, aligned


class Reserved:
    """The reserved buffers of a kernel: those without an address get one, behind the earlier ones.

    Raises PassError for addresses off the alignment, buffers that overlap, and what does not fit.
    """

    def __init__(self, function: ir.Function, backend: BackendFacts | None) -> None:
        self.space = ir.MemorySpace.Mat if function.func_type is ir.FunctionType.AIC else ir.MemorySpace.Vec
        self.given: dict[int, int] = {}
        """The addresses of the calls (ids) that had none."""
        self.end = 0
        """Where tiles may begin."""
        self._function = function
        self._limit = None if backend is None else backend.capacity(self.space)
        self._taken: list[tuple[int, int, ir.Call]] = []
        for stmt in statements(function.body):
            call = call_of(stmt)
            if call is None or call.op.name != RESERVE:
                continue
            start, size = int(call.kwargs.get("base", -1)), int(call.kwargs["size"])
            if start < 0:
                start = self.end
                self.given[id(call)] = start
            self._take(start, size, call)
            self.end = max(self.end, aligned(start + size))
        self._refuse_overlaps()

    def _take(self, start: int, size: int, call: ir.Call) -> None:
        end = start + size
        where = f"the buffer {call.kwargs['name']!r} of {size} bytes at {start} in {self.space.name}"
        if start % ALIGNMENT:
            what = f"does not begin at a multiple of {ALIGNMENT}"
            raise PassError(f"{where}{self._of_limit} {what}", self._function, call)
        if self._limit is not None and end > self._limit:
            raise PassError(f"{where} exceeds platform limit ({self._limit} bytes)", self._function, call)
        self._taken.append((start, end, call))

    def _refuse_overlaps(self) -> None:
        last: tuple[int, int, ir.Call] | None = None
        for taken in sorted(self._taken, key=lambda taken: taken[:2]):
            if last is not None and taken[0] < last[1]:
                both = " and ".join(
                    f"{call.kwargs['name']!r} ({end - start} bytes at {start})"
                    for start, end, call in (last, taken)
                )
                what = f"the buffers {both} overlap in {self.space.name}{self._of_limit}"
                raise PassError(what, self._function, taken[2])
            if last is None or taken[1] > last[1]:
                last = taken

    @property
    def _of_limit(self) -> str:
        return "" if self._limit is None else f" (of {self._limit} bytes)"
