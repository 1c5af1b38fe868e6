"""How much a run says, by the names of the run time's levels."""

from __future__ import annotations

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.upstream.core.logs import LogLevel, set_log_level

LEVELS = {"debug": 0, "info": 1, "timing": 2, "warn": 3, "warning": 3, "error": 4, "null": 5}
_AS_PYPTO = {
    0: LogLevel.DEBUG,
    1: LogLevel.INFO,
    2: LogLevel.INFO,
    3: LogLevel.WARN,
    4: LogLevel.ERROR,
    5: LogLevel.NONE,
}


class _Runtime:
    level = LEVELS["warn"]


def configure_log(level: int | str, *, sync_pypto: bool = False) -> None:
    """Set the level by its name or number; with ``sync_pypto`` that of ``pypto.log_info`` and its like too.

    A simulated run says nothing by itself, whatever the level. Raises ValueError for a name or number that
    is none.
    """
    found = LEVELS.get(level) if isinstance(level, str) else level
    if isinstance(found, bool) or found not in _AS_PYPTO:
        note = allowed_note("levels", list(LEVELS), level if isinstance(level, str) else "")
        raise ValueError(f"{level!r} is no log level; {note}")
    _Runtime.level = found
    if sync_pypto:
        set_log_level(_AS_PYPTO[found])


def log_level() -> int:
    """The number of the level: 3, ``warn``, until it is set."""
    return _Runtime.level
