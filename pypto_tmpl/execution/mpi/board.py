"""What the processes of a call tell each other of themselves: a row each, in the memory of the first."""

from __future__ import annotations

from typing import Any

import numpy as np
from mpi4py import MPI

_FIELDS = ("idle", "wakes", "rounds", "operations", "sent", "received", "arrived", "failed", "closing")
_PLACE = {name: place for place, name in enumerate(_FIELDS)}
_STEADY = [_PLACE[name] for name in ("idle", "wakes", "operations", "sent", "received")]
_HEAD = 2  # in front of the rows: the call that is deadlocked, the lock of sums
_DEADLOCK, _LOCK = range(_HEAD)
_ROUNDS = 2  # a round that ends after a look may have begun before it, the next one has not


class Board:
    """Rows of numbers: one of each process, which alone writes it with ``tell``; all read all of them.

    ``idle`` is the call that no fiber of the process can go on in, or 0; ``wakes`` how often one could again,
    ``rounds`` how often it looked in vain, ``operations`` what it did to others, ``arrived`` the allocations
    that it has come to; ``failed`` and ``closing`` are calls.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._rank, self._size = comm.rank, comm.size
        words = _HEAD + comm.size * len(_FIELDS)
        self._window = MPI.Win.Allocate(8 * words if comm.rank == 0 else 0, 1, comm=comm)
        if comm.rank == 0:
            memory: Any = self._window.tomemory()
            np.frombuffer(memory, dtype=np.int64)[:] = 0
        self._own = np.zeros(len(_FIELDS), dtype=np.int64)
        self._all = np.zeros(words, dtype=np.int64)
        self._seen: Any = None
        comm.Barrier()
        self._window.Lock_all()

    def free(self) -> None:
        """Give the memory back; all processes come here."""
        self._window.Unlock_all()
        self._window.Free()

    def tell(self, **numbers: int) -> None:
        """Write into the own row."""
        for name, number in numbers.items():
            self._own[_PLACE[name]] = number
        place = 8 * (_HEAD + self._rank * len(_FIELDS))
        self._window.Put(self._own.view(np.uint8), 0, (place, self._own.nbytes, MPI.BYTE))
        self._window.Flush(0)

    def count(self, name: str, by: int = 1) -> None:
        """Count up a number of the own row, which is told with the next that is."""
        self._own[_PLACE[name]] += by

    def own(self, name: str) -> int:
        """A number of the own row."""
        return int(self._own[_PLACE[name]])

    def read(self) -> None:
        """Look at all rows."""
        self._window.Get(self._all.view(np.uint8), 0, (0, self._all.nbytes, MPI.BYTE))
        self._window.Flush(0)

    def column(self, name: str) -> Any:
        """A number of each process, as of the last look."""
        return self._all[_HEAD:].reshape(self._size, -1)[:, _PLACE[name]]

    # Deadlocks

    def is_deadlocked(self, call: int) -> bool:
        """Whether the first process has found a call to be deadlocked."""
        return bool(self._all[_DEADLOCK] == call)

    def finds_deadlock(self, call: int) -> bool:
        """As the first process, which is idle: whether no process can go on; then all are told.

        All are idle at two looks between which none was woken or did anything to another, no message is
        on its way, and each has looked at what its fibers wait for after the first of them, in vain.
        """
        rows = self._all[_HEAD:].reshape(self._size, -1)
        are_idle = bool((self.column("idle") == call).all())
        if not are_idle or self.column("sent").sum() != self.column("received").sum():
            self._seen = None
            return False
        if self._seen is None or (rows[:, _STEADY] != self._seen[:, _STEADY]).any():
            self._seen = rows.copy()
            return False
        if (self.column("rounds") < self._seen[:, _PLACE["rounds"]] + _ROUNDS).any():
            return False
        number = np.array([call], dtype=np.int64)
        self._window.Put(number.view(np.uint8), 0, (8 * _DEADLOCK, 8, MPI.BYTE))
        self._window.Flush(0)
        return True

    # A lock

    def try_lock(self) -> bool:
        """Take the lock of sums, if nobody has it."""
        taken, free, found = (np.array([value], dtype=np.int64) for value in (1, 0, 0))
        self._window.Compare_and_swap(
            [taken, MPI.INT64_T],
            [free, MPI.INT64_T],
            [found, MPI.INT64_T],
            0,
            8 * _LOCK,
        )
        self._window.Flush(0)
        return not found[0]

    def unlock(self) -> None:
        """Give the lock of sums back."""
        free, found = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        self._window.Fetch_and_op(
            [free, MPI.INT64_T],
            [found, MPI.INT64_T],
            0,
            8 * _LOCK,
            MPI.REPLACE,
        )
        self._window.Flush(0)
