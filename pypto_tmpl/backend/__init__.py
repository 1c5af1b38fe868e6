"""Backends: what programs are compiled for, and the one that is chosen for the process."""

from pypto_tmpl.backend.selection import (
    BackendType,
    get_backend_type,
    is_backend_configured,
    reset_for_testing,
    set_backend_type,
)

__all__ = [
    "BackendType",
    "get_backend_type",
    "is_backend_configured",
    "reset_for_testing",
    "set_backend_type",
]
