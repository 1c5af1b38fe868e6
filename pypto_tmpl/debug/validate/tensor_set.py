"""The tensors of a validation on their way to tasks in other threads, processes or machines."""

from __future__ import annotations

import io
import os
import tempfile
import uuid
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import Any

import torch

Tensors = dict[str, torch.Tensor]
LOADED_SETS = 2  # sets of other processes that a process keeps loaded
_loaded: OrderedDict[str, tuple[Tensors, Tensors, Tensors]] = OrderedDict()
_loading = Lock()


class TensorSet:
    """Inputs, expected tensors and expected intermediates, which no task may change.

    Tasks of the same process get the tensors themselves. When a set is pickled, a file is written once and
    sent by name; with ``by_value``, for other machines, its bytes are sent each time.
    """

    def __init__(
        self,
        inputs: Tensors,
        expected: Tensors,
        checkpoints: Tensors | None = None,
        *,
        by_value: bool = False,
    ) -> None:
        self.key = uuid.uuid4().hex
        self.by_value = by_value
        self._tensors: tuple[Tensors, Tensors, Tensors] | None = (inputs, expected, checkpoints or {})
        self._sent: Path | bytes | None = None
        self._lock = Lock()

    def load(self) -> tuple[Tensors, Tensors]:
        """Inputs and expected tensors."""
        return self._all()[:2]

    def checkpoints(self) -> Tensors:
        """Expected intermediates."""
        return self._all()[2]

    def _all(self) -> tuple[Tensors, Tensors, Tensors]:
        if self._tensors is not None:
            return self._tensors
        with _loading:
            if self.key not in _loaded:
                assert self._sent is not None
                source = io.BytesIO(self._sent) if isinstance(self._sent, bytes) else self._sent
                _loaded[self.key] = torch.load(source, weights_only=True)
                if len(_loaded) > LOADED_SETS:
                    _loaded.popitem(last=False)
            return _loaded[self.key]

    def discard(self) -> None:
        """Remove the file, if one was written."""
        if isinstance(self._sent, Path):
            self._sent.unlink(missing_ok=True)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            if self._sent is None:
                self._sent = self._as_bytes() if self.by_value else self._as_file()
        return _received, (self.key, self._sent)

    def _as_bytes(self) -> bytes:
        buffer = io.BytesIO()
        torch.save(self._tensors, buffer)
        return buffer.getvalue()

    def _as_file(self) -> Path:
        handle, name = tempfile.mkstemp(prefix="pypto_tmpl_", suffix=".pt")
        with os.fdopen(handle, "wb") as file:
            torch.save(self._tensors, file)
        return Path(name)


def _received(key: str, sent: Path | bytes) -> TensorSet:
    """The set as a task of another process has it."""
    found = TensorSet({}, {})
    found.key, found._tensors, found._sent = key, None, sent
    return found
