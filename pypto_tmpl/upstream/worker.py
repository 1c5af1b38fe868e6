"""A simulated chip: ``with ChipWorker(config=RunConfig(...)) as worker: worker.run(compiled, x, y)``."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from pypto_tmpl.compile.compiled_program import CompiledProgram
from pypto_tmpl.runtime.config import RunConfig
from pypto_tmpl.runtime.options import CHIP_LEVEL
from pypto_tmpl.runtime.platforms import find_platform, require_simulated
from pypto_tmpl.runtime.refusals import refuse

_NEEDS = "handles memory of a device, of which there is none here"
_INSTEAD = "a simulated platform computes on the tensors that a call is given"


class RegistrationHandle:
    """A program that a worker knows."""

    def __init__(self, worker: Worker, cid: int, compiled: CompiledProgram) -> None:
        self._worker = worker
        self._cid = cid
        self._compiled = compiled
        self._closed = False

    @property
    def cid(self) -> int:
        """Its number at the worker."""
        return self._cid

    @property
    def compiled(self) -> CompiledProgram:
        return self._compiled

    @property
    def closed(self) -> bool:
        """Whether the worker has forgotten it."""
        return self._closed

    def unregister(self) -> None:
        """Let the worker forget it; once is enough."""
        self._closed = True

    def __call__(self, *args: object, config: RunConfig | None = None) -> Any:
        """Run it. Raises ValueError once it is forgotten."""
        if self._closed:
            raise ValueError("the program is not registered any more")
        return self._worker.run(self._compiled, *args, config=config)


class Worker:
    """Runs compiled programs; memory of a device is refused, as there is none."""

    def __init__(self) -> None:
        self._registered = 0

    def run(self, compiled: CompiledProgram, *args: object, config: RunConfig | None = None) -> Any:
        """Call a compiled program."""
        return compiled(*args, config=config)

    def register(self, compiled: CompiledProgram) -> RegistrationHandle:
        """Make a program known, for many calls."""
        self._registered += 1
        return RegistrationHandle(self, self._registered - 1, compiled)

    def malloc(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no memory of a device."""
        refuse("Worker.malloc", _NEEDS, _INSTEAD)

    def free(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no memory of a device."""
        refuse("Worker.free", _NEEDS, _INSTEAD)

    def copy_to(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no memory of a device."""
        refuse("Worker.copy_to", _NEEDS, _INSTEAD)

    def copy_from(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no memory of a device."""
        refuse("Worker.copy_from", _NEEDS, _INSTEAD)

    def alloc_tensor(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no memory of a device."""
        refuse("Worker.alloc_tensor", _NEEDS, _INSTEAD)

    def free_tensor(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused: there is no memory of a device."""
        refuse("Worker.free_tensor", _NEEDS, _INSTEAD)


class ChipWorker(Worker):
    """One simulated chip on which programs run.

    Raises what ``RunConfig`` raises, and HardwareNeededError for a platform that is a device.
    """

    _opened: ClassVar[list[ChipWorker]] = []

    def __init__(
        self,
        config: RunConfig | None = None,
        *,
        runtime: str = "tensormap_and_ringbuffer",
        enable_sdma: bool = False,
    ) -> None:
        super().__init__()
        self._config = config or RunConfig()
        self._runtime = runtime
        require_simulated(find_platform(self._config.platform))
        if enable_sdma:
            raise RuntimeError("enable_sdma: a simulated chip has no SDMA engine")

    @property
    def level(self) -> int:
        return CHIP_LEVEL

    @property
    def platform(self) -> str:
        return self._config.platform

    @property
    def device_id(self) -> int:
        return self._config.device_id

    @property
    def runtime(self) -> str:
        return self._runtime

    @property
    def initialized(self) -> bool:
        """Whether the worker is open."""
        return any(worker is self for worker in self._opened)

    @property
    def aicpu_dlopen_count(self) -> int:
        """How many programs were loaded on the device: none."""
        return 0

    @property
    def host_dlopen_count(self) -> int:
        """How many programs were loaded on the host: none, as scripts are no libraries."""
        return 0

    @classmethod
    def current(cls) -> ChipWorker | None:
        """The worker that was opened last and is open still."""
        return cls._opened[-1] if cls._opened else None

    def init(self) -> None:
        """Open the worker; once is enough."""
        if not self.initialized:
            self._opened.append(self)

    def close(self) -> None:
        """Close the worker; once is enough."""
        if self.initialized:
            self._opened.remove(self)

    def run(self, compiled: CompiledProgram, *args: object, config: RunConfig | None = None) -> Any:
        """Call a compiled program under the worker's config, or another one."""
        return super().run(compiled, *args, config=config or self._config)

    def __enter__(self) -> ChipWorker:
        self.init()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


__all__ = ["TYPE_CHECKING", "ChipWorker", "RegistrationHandle", "Worker"]
