"""What waits have asked of signal cells since these were set, though other processes set them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from mpi4py import MPI

Cell = tuple[int, int, int]  # number of its window, rank of the domain, place
Resets = dict[Cell, int]  # of cells that were set or counted down: the waits that had ended before


class WaitCounter:
    """How many waits have ended in each process, which the others read."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._window = MPI.Win.Allocate(8, 1, comm=comm)
        memory: Any = self._window.tomemory()
        self._own = np.frombuffer(memory, dtype=np.int64)
        self._own[0] = 0
        self._rank = comm.rank
        comm.Barrier()
        self._window.Lock_all()

    def free(self) -> None:
        """Give the memory back; all processes come here."""
        del self._own
        self._window.Unlock_all()
        self._window.Free()

    def count(self) -> int:
        """Count a wait of this process, which is over; its number."""
        self._own[0] += 1
        self._window.Sync()
        return int(self._own[0])

    def of(self, process: int) -> int:
        """How many waits a process has counted."""
        if process == self._rank:
            return int(self._own[0])
        found = np.zeros(1, dtype=np.int64)
        self._window.Get(found.view(np.uint8), process, (0, 8, MPI.BYTE))
        self._window.Flush(process)
        return int(found[0])


class Asked:
    """What the waits of a call have asked for, by the cells of this process.

    A reset, which sets a cell or counts it down, is told with the waits that had been counted before it was
    made: it came behind these. A wait that ends at the same time counts as one that came after it.
    """

    def __init__(self, counter: WaitCounter) -> None:
        self._counter = counter
        # By cell the numbers of waits, which rise, with what they have asked for, which falls.
        self._waits: dict[Cell, list[tuple[int, int]]] = {}
        self.resets: Resets = {}  # that this process has made

    def waited(self, cell: Cell, expected: int) -> None:
        """A wait for a number is over."""
        waits = self._waits.setdefault(cell, [])
        while waits and waits[-1][1] <= expected:
            waits.pop()
        waits.append((self._counter.count(), expected))

    def before_reset(self, cell: Cell, process: int) -> None:
        """A cell of a process is about to be set, or counted down."""
        self.resets[cell] = self._counter.of(process)

    def learn(self, resets: Iterable[Mapping[Cell, int]]) -> None:
        """Take over what processes, this one too, have made of cells."""
        for made in resets:
            for cell, waits in made.items():
                self.resets[cell] = max(waits, self.resets.get(cell, 0))

    def since_reset(self, cell: Cell) -> int | None:
        """The most that waits have asked of a cell since its last reset; None for no wait."""
        before = self.resets.get(cell, 0)
        return next((wanted for number, wanted in self._waits.get(cell, ()) if number > before), None)
