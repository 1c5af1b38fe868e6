"""How much of a program is dumped while it is compiled."""

from __future__ import annotations

from enum import Enum


class PassDumpLevel(Enum):
    """What pass dumps hold: nothing, the usual text, or text with every layout field written out.

    A level is true unless it is NONE, so that ``if level:`` means what it says.
    """

    NONE = 0
    CONCISE = 1
    EXPLICIT = 2

    def __bool__(self) -> bool:
        return self is not PassDumpLevel.NONE


def dump_level(value: object) -> PassDumpLevel:
    """The level of a ``dump_passes`` option: a level, or a bool (True is CONCISE).

    Raises TypeError for anything else.
    """
    if isinstance(value, PassDumpLevel):
        return value
    if isinstance(value, bool):
        return PassDumpLevel.CONCISE if value else PassDumpLevel.NONE
    allowed = ", ".join(f"PassDumpLevel.{level.name}" for level in PassDumpLevel)
    raise TypeError(f"dump_passes must be a bool or one of {allowed}, got {value!r}")
