"""The backend of the process: chosen once, for all that is compiled from then on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from pypto_tmpl.ir.enums import BackendType

_lock = threading.Lock()
_chosen: BackendType | None = None
_for_a_while: ContextVar[BackendType | None] = ContextVar("backend", default=None)


def set_backend_type(backend_type: object) -> None:
    """Choose the backend. Raises ValueError where another one is chosen already, TypeError for no backend."""
    global _chosen
    if not isinstance(backend_type, BackendType):
        names = ", ".join(f"BackendType.{member.name}" for member in BackendType)
        raise TypeError(f"a backend is one of {names}, got {backend_type!r}")
    with _lock:
        if _chosen is not None and _chosen is not backend_type:
            raise ValueError(
                f"Backend type already set to {_chosen.name}, cannot change to {backend_type.name}"
            )
        _chosen = backend_type


def get_backend_type() -> BackendType:
    """The chosen backend. Raises ValueError where none is."""
    found = _for_a_while.get() or _chosen
    if found is None:
        raise ValueError(
            "Backend type not configured. Please call SetBackendType() or use compile() "
            "with backend_type parameter."
        )
    return found


def is_backend_configured() -> bool:
    """True if a backend is chosen."""
    return (_for_a_while.get() or _chosen) is not None


@contextmanager
def compiling_for(backend_type: BackendType) -> Iterator[None]:
    """Let a backend be the chosen one inside the block, in this thread, whatever that of the process is."""
    token = _for_a_while.set(backend_type)
    try:
        yield
    finally:
        _for_a_while.reset(token)


def reset_for_testing() -> None:
    """Forget the choice."""
    global _chosen
    with _lock:
        _chosen = None
