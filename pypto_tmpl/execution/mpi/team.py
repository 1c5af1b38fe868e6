"""The processes that mpiexec has started, and what they have in common: windows, a board, calls."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import torch
from mpi4py import MPI

from pypto_tmpl.execution.engines import LISTENER, SCRIPT, Listener, ListenerElsewhere, ScriptText, ranks_of
from pypto_tmpl.execution.mpi.arguments import Arguments, described, share_bytes
from pypto_tmpl.execution.mpi.asked import WaitCounter
from pypto_tmpl.execution.mpi.board import Board

_PASSED_ON = 0.5  # seconds in which mpiexec shows what a process has printed
CALL, TOLD = 1, 3  # tags of what the first process sends to the others, and of what listeners tell it
_CLOCK = 4  # tag of readings of clocks
_READINGS = 16  # of which the fastest counts


@dataclass(frozen=True, slots=True)
class Call:
    """A call that other processes have to make: the host program of a script, and its arguments.

    ``number`` tells scripts apart that keep their windows, None is one that does not; ``sources`` are the
    source lines that reports name, None if the script is to look for them itself; ``listener`` records.
    """

    script: ScriptText
    sources: dict[str, str] | None
    program: str
    devices: tuple[int, ...]
    arguments: Arguments
    number: int | None
    resets: bool
    listener: ListenerElsewhere | None


class Team:
    """All processes, and their windows."""

    def __init__(self) -> None:
        self.comm: MPI.Intracomm = MPI.COMM_WORLD.Dup()
        self.board, self.waits = Board(self.comm), WaitCounter(self.comm)
        self.windows: dict[Any, MPI.Win] = {}  # of buffers
        self.calls = self.allocated = 0
        self.shift = _clock_shift(self.comm)
        self.is_in_call = False
        self._process, self._exit = os.getpid(), os._exit
        os._exit = self._exit_told
        self.scripts: dict[int, dict[str, Any]] = {}  # names of those that keep their windows, by number
        self._numbers: dict[int, int] = {}  # of the same, by the identity of their names

    # The first process

    def send_call(self, program: Any, args: Sequence[Any], devices: Sequence[int]) -> None:
        """Let the other processes make a call."""
        names = program.__globals__
        ranks, number = ranks_of(names), None
        if ranks.kept is not None:
            number = self._numbers.setdefault(id(names), len(self._numbers))
            self.scripts[number] = names  # so that nothing else gets its identity
        arguments, storages = described(args)
        found = names.get("_SOURCE_MAP")
        sources = None if found is None else dict(found)
        listener: Listener | None = names.get(LISTENER)
        call = Call(
            names[SCRIPT],
            sources,
            program.__name__,
            tuple(devices),
            arguments,
            number,
            ranks.resets,
            None if listener is None else listener.copy,
        )
        self._send(call)
        share_bytes(self.comm, storages)

    def end(self) -> None:
        """Let the other processes end, as this one does."""
        if self.is_in_call:
            self.abort("the first process has ended in the middle of a call")
        self._send(None)
        self.free()

    def _send(self, call: Call | None) -> None:
        for process in range(1, self.comm.size):
            self.comm.send(call, process, CALL)

    # All

    def make_window(self, buffer: Any, size: int) -> Any:
        """Memory of a buffer in this process, zeroed, None if it has none; all processes come here."""
        window = self.windows[buffer] = MPI.Win.Allocate(size, 1, comm=self.comm)
        memory: Any = window.tomemory() if size else None
        if memory is not None:
            torch.frombuffer(memory, dtype=torch.uint8).zero_()
        self.comm.Barrier()
        window.Lock_all()
        return memory

    def gather_told(self, listener: Any) -> None:
        """Let the listener of the first process learn what those of the others tell; all come here."""
        if self.comm.rank:
            for one in listener.told(self.shift):
                self.comm.send(one, 0, TOLD)
            self.comm.send(None, 0, TOLD)
            return
        for process in range(1, self.comm.size):
            listener.learn(iter(partial(self.comm.recv, None, process, TOLD), None))

    def free_window(self, buffer: Any) -> None:
        """Give the memory of a buffer back; all processes come here."""
        window = self.windows.pop(buffer)
        window.Unlock_all()
        window.Free()

    def free(self) -> None:
        """Give all windows back; all processes come here."""
        for buffer in [*self.windows]:
            self.free_window(buffer)
        self.waits.free()
        self.board.free()

    def _exit_told(self, status: int) -> NoReturn:
        """``os._exit``, for which mpiexec would end all processes without a word, with the same status."""
        if self.is_in_call and os.getpid() == self._process:  # a process that was forked may leave
            self.abort(f"rank {self.comm.rank} has ended its process by os._exit({status})", status or 1)
        self._exit(status)

    def abort(self, message: str, status: int = 1) -> NoReturn:
        """End all processes."""
        print(end="", flush=True)
        print(message, file=sys.stderr, flush=True)
        time.sleep(_PASSED_ON)  # mpiexec drops what it has not passed on yet
        MPI.COMM_WORLD.Abort(status)
        self._exit(status)  # Abort may return before this process is ended: it has nothing more to say


def _clock_shift(comm: MPI.Intracomm) -> int:
    """Nanoseconds by which the clock of the first process is ahead; one machine has one clock."""
    machines = comm.allgather(MPI.Get_processor_name())
    if comm.rank == 0:
        for process in range(1, comm.size):
            for _ in range(_READINGS if machines[process] != machines[0] else 0):
                comm.recv(None, process, _CLOCK)
                comm.send(time.perf_counter_ns(), process, _CLOCK)
        return 0
    found: list[tuple[int, int]] = []
    for _ in range(_READINGS if machines[comm.rank] != machines[0] else 0):
        asked = time.perf_counter_ns()
        comm.send(None, 0, _CLOCK)
        there, answered = comm.recv(None, 0, _CLOCK), time.perf_counter_ns()
        found.append((answered - asked, there - (asked + answered) // 2))
    return min(found, default=(0, 0))[1]
