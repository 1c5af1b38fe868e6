"""Bytes of the tensors that are alive while a script runs, on all of its threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Alive:
    """Counts the storages that ops have made and that are not freed yet.

    ``peak`` is the largest number of bytes, ``pools`` the largest that pools of tiles had of them.
    """

    def __init__(self) -> None:
        self.peak = self.pools = 0
        self._known: dict[int, tuple[StorageWeakRef, int, bool]] = {}
        self._lock = threading.Lock()
        self._here = threading.local()

    def note(self, value: Any) -> None:
        """Count the storages of what an op has given."""
        with self._lock:
            self._known = {key: one for key, one in self._known.items() if not one[0].expired()}
            for tensor in tree_leaves(value):
                if isinstance(tensor, torch.Tensor):
                    storage = tensor.untyped_storage()
                    is_pool = getattr(self._here, "in_pool", False)
                    size = storage.nbytes()
                    self._known.setdefault(storage._cdata, (StorageWeakRef(storage), size, is_pool))
            self.peak = max(self.peak, sum(size for _, size, _ in self._known.values()))
            pools = sum(size for _, size, is_pool in self._known.values() if is_pool)
            self.pools = max(self.pools, pools)

    def making_pools(self, make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        """The helper that makes a pool, with what it makes counted as one."""

        def made(*args: Any, **kwargs: Any) -> torch.Tensor:
            self._here.in_pool = True
            try:
                return make(*args, **kwargs)
            finally:
                self._here.in_pool = False

        return made


class _Noting(TorchDispatchMode):
    def __init__(self, alive: Alive) -> None:
        super().__init__()
        self._alive = alive

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        self._alive.note(found)
        return found


def counting(alive: Alive, names: Mapping[str, Any]) -> TorchDispatchMode:
    """A context that counts what is made in this thread, and in those of a loaded script from now on."""
    for found in list(names.values()):
        if isinstance(found, type) and issubclass(found, threading.Thread):
            found.run = _counted(found.run, alive)  # type: ignore[method-assign]
    return _Noting(alive)


def _counted(run: Callable[[Any], None], alive: Alive) -> Callable[[Any], None]:
    def counted(thread: threading.Thread) -> None:
        with _Noting(alive):
            run(thread)

    return counted
