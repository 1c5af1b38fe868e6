"""The engine of host programs whose ranks are processes: rank r is process r, which runs the whole host.

Windows are windows of MPI, which the others reach without the help of their owner. Tensors of the host are
copies in each process: what a dispatch has changed in them is sent to those that need it.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from mpi4py import MPI

from pypto_tmpl.execution.engines import LISTENER, EngineError, ranks_of
from pypto_tmpl.execution.mpi.arguments import described_value, value_described
from pypto_tmpl.execution.mpi.asked import Asked, Resets
from pypto_tmpl.execution.mpi.cells import ADDED, bytes_element, bytes_of, shape_of
from pypto_tmpl.execution.mpi.changes import Changes, apply_changes, changes_in, copies_of
from pypto_tmpl.execution.mpi.failures import Elsewhere, Failure, packed

if TYPE_CHECKING:
    from pypto_tmpl.execution.mpi.team import Team

_ENDED = 2  # tag of messages that tell what a dispatch has changed
_LONGEST_PAUSE = 0.001  # seconds between two looks at what others did
_PATIENCE = 20.0  # seconds that a process may go on with when another has failed


class MpiEngine:
    """The ranks of one call of a host program; docs/ranks.md has the methods that scripts call."""

    def __init__(self, team: Team, world: Any) -> None:
        self._team, self._world = team, world
        self._comm, self._board = team.comm, team.board
        self._me = team.comm.rank
        self._call, self._is_deadlocked, self._has_agreed = 0, False, False  # 0 before it is open
        self._made: list[Any] = []  # buffers of this call
        self._wanted: list[Any] = []  # those that are not allocated yet
        self._befores: dict[int, list[torch.Tensor]] = {}
        self._changes: dict[int, Changes | None] = {}  # of ended dispatches, None once nothing is to be done
        self._returned: dict[int, Any] = {}  # of the same, descriptions of their values
        self._kept: dict[int, Changes] = {}  # made, but one that came before it may come yet
        self._asked = Asked(team.waits)
        self._requests: list[MPI.Request] = []
        self._sent_to = np.zeros(team.comm.size, dtype=np.int64)

    # The call

    def open(self, program: Any, args: Sequence[Any]) -> None:
        """Begin a call: the first process lets the others make the same one.

        Raises: EngineError for another number of ranks than of processes, or an option that asks for threads.
        """
        self._program = program
        if self._me == 0:
            check_processes(self._world.device_ids, self._comm.size)
            _check_options(program)
            self._team.send_call(program, args, self._world.device_ids)
        self._call = self._team.calls = self._team.calls + 1
        self._board.tell(idle=0, failed=0, sent=0, received=0, arrived=self._team.allocated)
        self._team.is_in_call = True
        self._comm.Barrier()

    def agree(self, error: BaseException | None = None) -> None:
        """Wait until all processes have come here; raises the error of the first of them that has its own."""
        if type(error).__name__ == "_FiberCancelled":  # what a fiber is ended by when another has failed
            error = self._world.fibers.failure[1]
        is_told = isinstance(error, Elsewhere) or (self._is_deadlocked and self._me > 0)
        is_own = error is not None and not is_told
        self._board.tell(closing=self._call, **({} if error is None else {"failed": self._call}))
        self._await_all(error)
        told = packed(error, self._program) if is_own and error is not None else None
        found: list[tuple[Failure | None, Resets]] = self._comm.allgather((told, self._asked.resets))
        failures = [failure for failure, _ in found]
        self._asked.learn(resets for _, resets in found)
        self._receive_rest()
        if (listener := self._program.__globals__.get(LISTENER)) is not None:
            self._team.gather_told(listener)
        self._has_agreed = True
        first = next((one for one in failures if one is not None), None)
        if first is None:
            return
        if error is not None and failures.index(first) == self._me:
            raise error
        raise first.error(self._world, self._program) from None

    def close(self) -> None:
        """Give the windows of the call back, if they are not kept."""
        if not self._call:
            return
        if (
            not self._has_agreed
        ):  # an interruption, or a fault of this engine: the others wait for this process
            traceback.print_exc()
            self._team.abort(f"process {self._me} has left a call before its end")
        self._comm.Barrier()
        self._team.is_in_call = False
        MPI.Request.Waitall(self._requests)
        if ranks_of(self._program.__globals__).kept is None:
            for buffer in self._made:
                self._team.free_window(buffer)

    def _await_all(self, error: BaseException | None) -> None:
        """Wait until every process is at its end, and make the allocations that others may wait for."""
        pause, latest = _Pause(), time.monotonic() + _PATIENCE
        while True:
            self._receive()
            self._board.read()
            is_end = bool((self._board.column("closing") == self._call).all())
            if is_end:  # nobody comes to a further allocation
                self._board.read()
            if self._wanted and self._all_arrived():
                self._allocate(self._wanted.pop(0))
                continue
            if is_end:
                return
            if error is not None and time.monotonic() > latest:
                self._team.abort(f"{type(error).__name__}: {error}\nother ranks have not ended behind it")
            pause.rest()

    def _receive_rest(self) -> None:
        """Receive what dispatches of others have sent, so that it does not come in the next call."""
        expected = np.zeros(self._comm.size, dtype=np.int64)
        self._comm.Alltoall(self._sent_to, expected)
        while self._board.own("received") < expected.sum():
            self._receive()

    # Windows

    def runs(self, device: int | None) -> bool:
        """Whether this process runs a rank; Python on the host is run by the first process."""
        return (device or 0) == self._me

    def allocate(self, buffer: Any) -> None:
        """Give a buffer its memory, zeroed, when all processes have come to it."""
        self._wanted.append(buffer)
        self._board.tell(arrived=self._board.own("arrived") + 1)

        def ready() -> bool:
            self._board.read()
            return self._all_arrived()

        if not ready():
            self._world.fibers.block(ready, lambda: f"allocates the window {buffer.name!r} with the others")
        self._allocate(self._wanted.pop(0))

    def _all_arrived(self) -> bool:
        return bool((self._board.column("arrived") > self._team.allocated).all())

    def _allocate(self, buffer: Any) -> None:
        self._team.allocated += 1
        size = -(-buffer.size // 32) * 32 or 32
        memory = self._team.make_window(buffer, size if self._me in buffer.domain.devices else 0)
        if memory is not None:
            buffer.hold(buffer.domain.devices.index(self._me), memory)
        self._made.append(buffer)

    def _target(self, buffer: Any, peer: int) -> tuple[MPI.Win, int]:
        return self._team.windows[buffer], buffer.domain.devices[peer]

    def memory(self, buffer: Any, rank: int) -> torch.Tensor:
        """The bytes that a rank has: the own ones, or a copy."""
        if rank in buffer.memory:
            own: torch.Tensor = buffer.memory[rank]
            return own
        found = torch.empty(-(-buffer.size // 32) * 32 or 32, dtype=torch.uint8)
        window, target = self._target(buffer, rank)
        window.Get([found.numpy(), MPI.BYTE], target)
        window.Flush(target)
        return found

    def fetch(self, cells: torch.Tensor, buffer: Any, peer: int) -> torch.Tensor:
        """Copy of what a peer has where own cells are."""
        if peer in buffer.memory:
            return cells.clone()
        values = torch.empty(cells.shape, dtype=cells.dtype)
        if cells.numel():
            window, target = self._target(buffer, peer)
            with bytes_element(cells.element_size()) as element, shape_of(cells, element) as place:
                window.Get([bytes_of(values), MPI.BYTE], target, place)
                window.Flush(target)
        return values

    def store(self, cells: torch.Tensor, buffer: Any, peer: int, values: torch.Tensor) -> None:
        """Write values where own cells are to a peer's window."""
        if peer in buffer.memory:
            cells.copy_(values)
            return
        self._board.count("operations")
        window, target = self._target(buffer, peer)
        with bytes_element(cells.element_size()) as element, shape_of(cells, element) as place:
            window.Put([bytes_of(values.contiguous()), MPI.BYTE], target, place)
            window.Flush(target)

    def add(self, cells: torch.Tensor, buffer: Any, peer: int, values: torch.Tensor) -> None:
        """Add values where own cells are in a peer's window, each element atomically."""
        element = ADDED.get(cells.dtype)
        if element is None:
            self._add_under_lock(cells, buffer, peer, values)
            return
        self._board.count("operations")
        window, target = self._target(buffer, peer)
        with shape_of(cells, element) as place:
            given = bytes_of(values.contiguous()), values.numel(), element
            window.Accumulate(given, target, place, MPI.SUM)
            window.Flush(target)

    def _add_under_lock(self, cells: torch.Tensor, buffer: Any, peer: int, values: torch.Tensor) -> None:
        """A sum that MPI has no type for; as nobody waits with the lock, it is soon free."""
        while not self._board.try_lock():
            time.sleep(0)
        try:
            self.store(cells, buffer, peer, self.fetch(cells, buffer, peer).add_(values))
            self._sync()
        finally:
            self._board.unlock()

    def notify(self, buffer: Any, index: int, peer: int, value: int, is_add: bool) -> None:
        """Set the signal cell of a peer, or add to it; a sum wraps."""
        if not is_add or value < 0:
            place = self._world.buffers.index(buffer), peer, index
            self._asked.before_reset(place, buffer.domain.devices[peer])
        self._sync()  # so that the peer sees what was stored before
        self._board.count("operations")
        window, target = self._target(buffer, peer)
        given, old = np.array([value % 2**32], dtype=np.uint32), np.zeros(1, dtype=np.uint32)
        how = MPI.SUM if is_add else MPI.REPLACE
        cell = MPI.UINT32_T
        window.Fetch_and_op([given, cell], [old, cell], target, 4 * index, how)
        window.Flush(target)

    def waited(self, cell: tuple[Any, int, int], expected: int) -> None:
        """An own signal cell has come to a number that a wait asks for."""
        buffer, rank, index = cell
        self._asked.waited((self._world.buffers.index(buffer), rank, index), expected)

    def asked(self, cell: tuple[Any, int, int], signal: Any) -> int | None:
        """The most that waits have asked for since the cell was set or counted down; None for no wait."""
        buffer, rank, index = cell
        return self._asked.since_reset((self._world.buffers.index(buffer), rank, index))

    def _sync(self) -> None:
        for buffer in self._world.buffers:
            if buffer in self._team.windows:
                self._team.windows[buffer].Sync()

    # Tensors of the host

    def start(self, dispatch: Any, after: Sequence[Any]) -> None:
        """Before a dispatch runs here: make the changes of those that it follows."""
        self.share(after)
        self._befores[dispatch.number] = copies_of(dispatch.writes)

    def finish(self, dispatch: Any, value: Any) -> None:
        """Send what a dispatch has changed to those that need it, and to all others that it has ended."""
        returned = described_value(value, dispatch.values) if dispatch.is_asked else None
        changes = changes_in(dispatch.writes, self._befores.pop(dispatch.number))
        for process in range(self._comm.size):
            if process == self._me:
                continue
            told = changes if self._is_needed(dispatch, process) else None
            self._requests.append(self._comm.isend((dispatch.number, told, returned), process, _ENDED))
            self._sent_to[process] += 1
            self._board.count("sent")

    def _is_needed(self, dispatch: Any, process: int) -> bool:
        """Whether a process reads what a dispatch writes; the first one returns all tensors."""
        if process == 0 or not self._world.is_submitted:
            return bool(dispatch.writes)
        later = self._world.queues.get(process, ())
        return any(one.number > dispatch.number and dispatch.touches(one.reads) for one in later)

    def has_ended(self, dispatch: Any) -> bool:
        """Whether a dispatch has ended that another process runs."""
        return dispatch.number in self._changes

    def share(self, dispatches: Sequence[Any]) -> None:
        """Wait until dispatches of other processes have ended, and make their changes here."""
        away = sorted((one for one in dispatches if one.fiber is None), key=lambda one: one.number)

        def ready() -> bool:
            return all(map(self.has_ended, away))

        if not ready():
            self._world.fibers.block(ready, None)
        for one in away:
            self._make_changes(one)

    def value(self, dispatch: Any) -> Any:
        """What a dispatch that has ended returned: arguments as they are here, other tensors as copies."""
        if dispatch.fiber is not None:
            return dispatch.fiber.value
        return value_described(self._returned[dispatch.number], dispatch.values)

    def _make_changes(self, dispatch: Any) -> None:
        """Make the changes of a dispatch once, below those that were made of later ones."""
        changes, self._changes[dispatch.number] = self._changes[dispatch.number], None
        if changes is None:
            return
        apply_changes(dispatch.writes, changes)
        others = [one for one in self._world.dispatches() if one.fiber is None]
        for one in others:
            if one.number > dispatch.number and one.number in self._kept and one.touches(dispatch.writes):
                apply_changes(one.writes, self._kept[one.number])
        if any(
            one.number < dispatch.number and self._is_open(one) and one.touches(dispatch.writes)
            for one in others
        ):
            self._kept[dispatch.number] = changes

    def _is_open(self, dispatch: Any) -> bool:
        """Whether the changes of a dispatch have not been made here."""
        return self._changes.get(dispatch.number, ()) is not None

    def _receive(self) -> bool:
        """Receive what has come; whether anything has."""
        has_come = False
        while self._comm.iprobe(MPI.ANY_SOURCE, _ENDED):
            number, changes, returned = self._comm.recv(None, MPI.ANY_SOURCE, _ENDED)
            self._changes[number], self._returned[number] = changes, returned
            self._board.count("received")
            has_come = True
        return has_come

    # Waiting

    def idle(self) -> bool:
        """Wait for others until a fiber can go on; False if the call is deadlocked."""
        fibers, board, call = self._world.fibers, self._board, self._call
        pause = _Pause()
        while not self._can_go_on(fibers):
            board.tell(idle=call, rounds=board.own("rounds") + 1)
            board.read()
            if (board.column("failed") == call).any():
                fibers.fail(None, Elsewhere("a rank of another process has failed"))
                break
            if board.is_deadlocked(call) or (self._me == 0 and board.finds_deadlock(call)):
                self._is_deadlocked = True
                return False
            pause.rest()
        board.tell(idle=0, wakes=board.own("wakes") + 1)
        return True

    def _can_go_on(self, fibers: Any) -> bool:
        self._sync()
        self._receive()
        return any(one.ready() for one in fibers.live)

    def elsewhere(self, what: Callable[[], Any]) -> list[Any]:
        """What ``what()`` is in other processes, which all come here, in the order of ranks."""
        found = self._comm.allgather(what())
        return [one for rank, one in enumerate(found) if rank != self._me]


class _Pause:
    """Pauses between looks, which become longer."""

    def __init__(self) -> None:
        self._seconds = 0.0

    def rest(self) -> None:
        time.sleep(self._seconds)
        self._seconds = min(self._seconds + _LONGEST_PAUSE / 64, _LONGEST_PAUSE)


def check_processes(devices: Sequence[int], processes: int) -> None:
    """Refuse another number of processes than of ranks, which have the devices.   Raises: EngineError."""
    if len(devices) != processes:
        ranks = f"{len(devices)} rank{'s' * (len(devices) != 1)}"
        are = "is 1 process" if processes == 1 else f"are {processes} processes"
        what = f"the program runs on {ranks}, device_ids {list(devices)}, and there {are}"
        raise EngineError(what, notes=[f"start it by: mpiexec -n {len(devices)} ..."])


def _check_options(program: Any) -> None:
    """Refuse options of a script that processes cannot serve.   Raises: EngineError."""
    for option in ("race_check", "schedule_seed"):
        if f"_{option.upper()}" in program.__globals__:
            what = f"the script has the option {option!r}, which sees all ranks of one process"
            raise EngineError(what, notes=["leave the option away, or the engine: --engine threads"])
