"""What a pipeline is told: how much it verifies, when it warns, who plans memory, what runs the program."""

from __future__ import annotations

import os
from enum import Enum
from typing import TypeVar

from pypto_tmpl.errors import PyptoTmplError, allowed_note

E = TypeVar("E", bound=Enum)


class SettingError(PyptoTmplError, ValueError):
    """The environment gives a setting a value that it cannot have."""

    slug = "setting"


class VerificationMode(Enum):
    """When a ``VerificationInstrument`` verifies."""

    NONE = 0
    BEFORE = 1
    AFTER = 2
    BEFORE_AND_AFTER = 3


class VerificationLevel(Enum):
    """How much a pipeline verifies; the round trip itself is an instrument."""

    NONE = 0
    BASIC = 1
    ROUNDTRIP = 2


class DiagnosticPhase(Enum):
    """When a pipeline looks for warnings and hints."""

    NONE = 0
    PRE_PIPELINE = 1
    POST_PASS = 2
    POST_PIPELINE = 3


class MemoryPlanner(Enum):
    """Who gives tiles their addresses."""

    PYPTO = 0
    PTOAS = 1
    DSA_RP = 2


class RuntimeKind(Enum):
    """What runs the orchestration; the value is its name in options."""

    TENSORMAP_AND_RINGBUFFER = "tensormap_and_ringbuffer"
    HOST_BUILD_GRAPH = "host_build_graph"


def runtime_kind_to_name(kind: RuntimeKind) -> str:
    """The name of a runtime in options."""
    return kind.value


def runtime_kind_from_name(name: str) -> RuntimeKind:
    """The runtime of a name. Raises ValueError for an unknown one."""
    names = {kind.value: kind for kind in RuntimeKind}
    if name not in names:
        raise ValueError(f"{name!r} is no kind of runtime; {allowed_note('kinds', list(names), name)}")
    return names[name]


def get_default_verification_level() -> VerificationLevel:
    """The level of the environment (``PYPTO_VERIFY_LEVEL``), BASIC where that is not set."""
    return _of_environment("PYPTO_VERIFY_LEVEL", VerificationLevel.BASIC)


def get_default_diagnostic_phase() -> DiagnosticPhase:
    """The phase of the environment (``PYPTO_WARNING_LEVEL``), PRE_PIPELINE where that is not set."""
    return _of_environment("PYPTO_WARNING_LEVEL", DiagnosticPhase.PRE_PIPELINE)


def _of_environment(variable: str, default: E) -> E:
    """The member whose name a variable of the environment has, in lower case."""
    name = os.environ.get(variable, "")
    if not name:
        return default
    names = {member.name.lower(): member for member in type(default)}
    if name.lower() not in names:
        note = allowed_note("it may be", list(names), name.lower())
        raise SettingError(f"the environment variable {variable} is {name!r}", notes=[note])
    return names[name.lower()]
