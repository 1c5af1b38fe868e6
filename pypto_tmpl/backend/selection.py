"""The backend of the process: chosen once, for all that is compiled from then on."""

from __future__ import annotations

import threading

from pypto_tmpl.ir.enums import BackendType

_lock = threading.Lock()
_chosen: BackendType | None = None


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
    if _chosen is None:
        raise ValueError(
            "Backend type not configured. Please call SetBackendType() or use compile() "
            "with backend_type parameter."
        )
    return _chosen


def is_backend_configured() -> bool:
    """True if a backend is chosen."""
    return _chosen is not None


def reset_for_testing() -> None:
    """Forget the choice."""
    global _chosen
    with _lock:
        _chosen = None
