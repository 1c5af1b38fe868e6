"""Backends: what programs are compiled for, what is known of each, and the one of the process."""

from typing import Any

from pypto_tmpl.backend.facts import BackendFacts, BackendFactsError, chosen_facts, facts_of, largest_capacity
from pypto_tmpl.backend.instances import (
    Backend,
    Backend910B,
    Backend950,
    BackendHandler,
    Cluster,
    Core,
    Die,
    Mem,
    SoC,
    get_backend_instance,
    get_handler,
)
from pypto_tmpl.backend.selection import (
    compiling_for,
    get_backend_type,
    is_backend_configured,
    reset_for_testing,
    set_backend_type,
)
from pypto_tmpl.faces import find_face
from pypto_tmpl.ir.enums import BackendType

__all__ = [
    "Backend",
    "Backend910B",
    "Backend950",
    "BackendFacts",
    "BackendFactsError",
    "BackendHandler",
    "BackendType",
    "Cluster",
    "Core",
    "Die",
    "Mem",
    "SoC",
    "chosen_facts",
    "compiling_for",
    "facts_of",
    "get_backend_instance",
    "get_backend_type",
    "get_handler",
    "is_backend_configured",
    "largest_capacity",
    "reset_for_testing",
    "set_backend_type",
]


def __getattr__(name: str) -> Any:
    return find_face(__name__, name)
