"""Ranks that are kept ready for many calls: ``with compiled.prepare() as rt: rt(x, y)``."""

from __future__ import annotations

import ctypes
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from pypto_tmpl.compile.distributed import DistributedCompiledProgram
from pypto_tmpl.runtime.calling import complete_call
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.options import runtime_options
from pypto_tmpl.runtime.platforms import require_simulated
from pypto_tmpl.runtime.prepared import PreparedBuild
from pypto_tmpl.runtime.refusals import refuse
from pypto_tmpl.runtime.sub_workers import bind_sub_workers
from pypto_tmpl.upstream.device_tensor import DeviceTensor, StackedDeviceTensor, alloc_device_tensor

_IN_FLIGHT = 2  # a further submit waits for the oldest run


class DistributedRunHandle:
    """A run that goes on meanwhile."""

    def __init__(self, future: Future[None]) -> None:
        self._future = future

    @property
    def done(self) -> bool:
        """Whether it has ended."""
        return self._future.done()

    def wait(self, timeout: float | None = None) -> None:
        """As ``result``."""
        self.result(timeout)

    def result(self, timeout: float | None = None) -> None:
        """Wait for the end, at most ``timeout`` seconds. Raises what the run raised, and TimeoutError."""
        try:
            self._future.result(timeout)
        except FutureTimeout:
            if self._future.done():  # the run itself raised it
                raise
            raise TimeoutError("DistributedRunHandle.result() timed out") from None


@dataclass(frozen=True, slots=True)
class _Registered:
    """A program that a worker knows: a call runs it."""

    worker: DistributedWorker
    compiled: DistributedCompiledProgram

    def __call__(self, *args: object, config: RunConfig | None = None) -> None:
        self.worker.run(self.compiled, *args, config=config)


class _Memory(NamedTuple):
    """Bytes on a rank."""

    rank: int
    cells: torch.Tensor


class DistributedWorker:
    """Programs on the same ranks, loaded once. Memory of a rank is memory of this process.

    With ``persistent`` the windows of a program live until ``close``, and are zeroed before each later call
    unless ``reset_persistent_windows`` is False. Arguments of calls are all parameters, in shared memory.
    ``callbacks`` are the functions of sub-workers whose body is ``...``, by name: each takes the arguments
    of a call as one tuple, tensors over their memory. ``sub_worker_overrides`` take the places of other
    sub-workers' bodies, with the arguments one by one.

    Raises ValueError for programs that disagree about platform or devices, for settings that contradict each
    other, for callbacks that are missing, and for names of no sub-worker, TypeError for what is no function,
    HardwareNeededError for a platform that is a device.
    """

    def __init__(
        self,
        compiled: DistributedCompiledProgram | Sequence[DistributedCompiledProgram],
        config: RunConfig | None = None,
        *,
        persistent: bool = False,
        reset_persistent_windows: bool | None = None,
        callbacks: Mapping[str, Callable[[Any], object]] | None = None,
        sub_worker_overrides: Mapping[str, Callable[..., object]] | None = None,
        startup_timeout_s: float | None = None,
    ) -> None:
        given = [compiled] if isinstance(compiled, DistributedCompiledProgram) else list(compiled)
        self._programs = list(dict.fromkeys(_checked(given)))
        if reset_persistent_windows and not persistent:
            raise ValueError("DistributedWorker reset_persistent_windows=True requires persistent=True")
        if startup_timeout_s is not None and startup_timeout_s <= 0:
            raise ValueError(f"startup_timeout_s must be positive, got {startup_timeout_s}")
        _check_config(config, self._programs[0].platform)
        reset = reset_persistent_windows is not False
        self._prepared: dict[DistributedCompiledProgram, PreparedBuild] = {
            one: one.prepared(keeps_windows=persistent, reset=reset) for one in self._programs
        }
        bind_sub_workers([*self._prepared.values()], callbacks or {}, sub_worker_overrides or {})
        self._memory: dict[int, _Memory] = {}
        self._runner = ThreadPoolExecutor(1, "ranks")
        self._running: deque[Future[None]] = deque()
        self._is_closed = False

    # Running

    def __call__(self, *args: object, config: RunConfig | None = None) -> None:
        """Run the only program there is."""
        if len(self._programs) != 1:
            what = "rt(*args) is ambiguous on a multi-program DistributedWorker"
            raise TypeError(f"{what}; use rt.run(compiled, *args)")
        self.run(self._programs[0], *args, config=config)

    def run(
        self, compiled: DistributedCompiledProgram, *args: object, config: RunConfig | None = None
    ) -> None:
        """Run a program and wait for its end."""
        self.submit(compiled, *args, config=config).result()

    def submit(
        self, compiled: DistributedCompiledProgram, *args: object, config: RunConfig | None = None
    ) -> DistributedRunHandle:
        """Let a program run behind those that were submitted before it.

        Raises ValueError for a program that the worker was not made for, TypeError for arguments that it does
        not take, RuntimeError once the worker is closed.
        """
        self._check_open()
        prepared = self._prepared.get(compiled)
        if prepared is None:
            what = f"{compiled} is not known: a program must be registered when this worker was constructed."
            raise ValueError(what)
        _check_config(config, compiled.platform)
        entry = prepared.entry
        if len(args) != len(entry.parameters):
            raise TypeError(
                f"DistributedWorker expects {len(entry.parameters)} arguments (in-place, one per parameter), "
                f"got {len(args)}. Parameters: {compiled.param_names}"
            )
        values = [self._argument(name, arg) for name, arg in zip(compiled.param_names, args, strict=True)]
        call = complete_call(entry, False, [value for value, _ in values], "DistributedWorker")
        while len(self._running) >= _IN_FLIGHT:
            _ended(self._running.popleft())
        copies = [copy_back for _, copy_back in values if copy_back is not None]

        def run() -> None:
            prepared.run(call.arguments)
            for copy_back in copies:
                copy_back()

        future = self._runner.submit(run)
        self._running.append(future)
        return DistributedRunHandle(future)

    def register(self, compiled: DistributedCompiledProgram) -> Callable[..., None]:
        """What runs one of the worker's programs when it is called. Raises ValueError for other ones."""
        self._check_open()
        if compiled not in self._prepared:
            raise ValueError(f"{compiled} must be registered when this worker was constructed.")
        return _Registered(self, compiled)

    def _argument(self, name: str, arg: object) -> tuple[object, Callable[[], None] | None]:
        """An argument as a program takes it, and what brings results back to where it lies."""
        if isinstance(arg, DeviceTensor):
            return self._resident(arg), None
        if isinstance(arg, StackedDeviceTensor):
            shards = [self._resident(shard) for shard in arg.shards]
            whole = torch.stack(shards)

            def copy_back() -> None:
                for shard, part in zip(shards, whole, strict=True):
                    shard.copy_(part)

            return whole, copy_back
        if isinstance(arg, torch.Tensor) and not arg.is_shared():  # type: ignore[no-untyped-call]
            raise TypeError(
                f"parameter {name!r}: a tensor must be shared memory allocated BEFORE prepare(); "
                "make it with tensor.share_memory_(), or with alloc_tensor of the worker"
            )
        return arg, None

    # Memory of ranks

    def alloc_tensor(
        self,
        shape: Sequence[int],
        dtype: torch.dtype,
        *,
        init: torch.Tensor | None = None,
        worker_id: int = 0,
    ) -> DeviceTensor:
        """A tensor that stays on a rank. Raises ValueError for a rank that there is not."""
        return alloc_device_tensor(
            malloc=lambda size: self.malloc(size, worker_id),
            copy_to=lambda target, source, size: self.copy_to(target, source, size, worker_id),
            free=lambda pointer: self.free(pointer, worker_id),
            shape=shape,
            dtype=dtype,
            init=init,
        )

    def free_tensor(self, tensor: DeviceTensor) -> None:
        """Give the memory of a tensor back."""
        self.free(tensor.data_ptr)

    def malloc(self, size: int, worker_id: int = 0) -> int:
        """The address of as many zeroed bytes on a rank."""
        self._check_rank(worker_id)
        if size < 1:
            raise ValueError(f"malloc takes a positive number of bytes, got {size}")
        memory = torch.zeros(size, dtype=torch.uint8)
        self._memory[memory.data_ptr()] = _Memory(worker_id, memory)
        return memory.data_ptr()

    def free(self, pointer: int, worker_id: int = 0) -> None:
        """Give memory back. Raises ValueError for an address that ``malloc`` has not given."""
        self._check_rank(worker_id)
        self._bytes(pointer, 0)
        del self._memory[pointer]

    def copy_to(self, pointer: int, host: int, size: int, worker_id: int = 0) -> None:
        """Copy bytes from an address of the host to memory of a rank."""
        self._check_rank(worker_id)
        ctypes.memmove(self._bytes(pointer, size).data_ptr(), host, size)

    def copy_from(self, host: int, pointer: int, size: int, worker_id: int = 0) -> None:
        """Copy bytes from memory of a rank to an address of the host."""
        self._check_rank(worker_id)
        ctypes.memmove(host, self._bytes(pointer, size).data_ptr(), size)

    def alloc_stacked_tensor(
        self, host: torch.Tensor, worker_ids: Sequence[int] | None = None
    ) -> StackedDeviceTensor:
        """``host[i]`` on rank ``worker_ids[i]``, by default i. Raises ValueError for unfit ranks."""
        ids = [*range(host.shape[0])] if worker_ids is None else [*worker_ids]
        if len(set(ids)) != len(ids) or len(ids) != host.shape[0]:
            raise ValueError(f"worker_ids must be {host.shape[0]} distinct ranks, got {ids}")
        shards = [
            self.alloc_tensor(part.shape, host.dtype, init=part, worker_id=rank)
            for part, rank in zip(host, ids, strict=True)
        ]
        return StackedDeviceTensor(shards, tuple(host.shape), ids)

    def free_stacked_tensor(self, tensor: StackedDeviceTensor) -> None:
        """Give the memory of all parts back."""
        for shard in tensor.shards:
            self.free_tensor(shard)

    def copy_stacked_from(self, stacked: StackedDeviceTensor, host: torch.Tensor) -> None:
        """Copy all parts to a tensor of the host, whose first axis counts them."""
        for part, shard in zip(host, stacked.shards, strict=True):
            part.copy_(self._resident(shard))

    def committed_device_memory(self, worker_id: int = 0) -> int:
        """How many bytes ``malloc``, and what calls it, have given on a rank and not got back."""
        self._check_rank(worker_id)
        return sum(one.cells.numel() for one in self._memory.values() if one.rank == worker_id)

    def release_inherited_host_tensor_refs(self) -> None:
        """Nothing: no process was started that would hold tensors of the host."""

    def _resident(self, tensor: DeviceTensor) -> torch.Tensor:
        memory = self._bytes(tensor.data_ptr, tensor.nbytes)
        return memory[: math.prod(tensor.shape) * tensor.dtype.itemsize].view(tensor.dtype).view(tensor.shape)

    def _bytes(self, pointer: int, size: int) -> torch.Tensor:
        self._check_open()
        held = self._memory.get(pointer)
        memory = None if held is None else held.cells
        if memory is None or memory.numel() < size:
            found = "none" if memory is None else f"{memory.numel()} bytes"
            raise ValueError(f"{size} bytes at address {pointer}: this worker has {found} there")
        return memory

    def _check_rank(self, rank: int) -> None:
        self._check_open()
        ids = self._programs[0].device_ids
        if rank < 0 or (ids is not None and rank >= len(ids)):
            count = "any number of" if ids is None else len(ids)
            raise ValueError(f"worker_id {rank} is no rank, of {count} ranks")

    # Open and closed

    def _check_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("the DistributedWorker is closed")

    def close(self) -> None:
        """Let what was submitted end, and give all memory back; once is enough."""
        self._is_closed = True
        self._runner.shutdown()
        self._memory.clear()
        self._prepared.clear()

    def __enter__(self) -> DistributedWorker:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _checked(programs: Sequence[object]) -> list[DistributedCompiledProgram]:
    """Programs that go together."""
    found = [one for one in programs if isinstance(one, DistributedCompiledProgram)]
    if not programs or len(found) < len(programs):
        kinds = sorted({type(one).__name__ for one in programs}) or ["none"]
        raise TypeError(f"DistributedWorker takes DistributedCompiledPrograms, got {', '.join(kinds)}")
    facts = {(one.platform, one.device_ids) for one in found}
    if len(facts) > 1:
        told = "; ".join(f"{platform}, {ids}" for platform, ids in sorted(facts, key=str))
        what = "DistributedWorker multi-program mode requires the same platform / device_ids / runtime"
        raise ValueError(f"{what}: {told}")
    return found


def _check_config(config: RunConfig | None, platform: str) -> None:
    """Refuse what a prepared program cannot do: another stage, another platform, records of its tasks."""
    if config is None:
        return
    options = runtime_options(config.runtime_cfg())
    require_simulated(options.platform)
    asked = [*options.dfx.enabled, *(["stage"] if options.stage is not None else [])]
    asked += [f"platform {options.platform.name!r}"] if options.platform.name != platform else []
    if asked:
        instead = "call the compiled program itself"
        refuse(f"config asks for {', '.join(asked)}, which", "a prepared program does not do", instead)


def _ended(run: Future[None]) -> None:
    """Wait for a run; its error is for the one who has its handle."""
    run.exception()


__all__ = ["TYPE_CHECKING", "DistributedRunHandle", "DistributedWorker"]
