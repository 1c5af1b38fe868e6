"""Log lines of a process, and the level from which on they are written."""

from __future__ import annotations

import sys
from enum import Enum


class LogLevel(Enum):
    """How much a line matters; lines below the level of the process are not written, NONE silences all."""

    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    FATAL = 4
    EVENT = 5
    NONE = 6


class _Log:
    level = LogLevel.INFO


def get_log_level() -> LogLevel:
    """The level of the process, INFO until it is set."""
    return _Log.level


def set_log_level(level: LogLevel) -> None:
    """Write lines of that level and above from now on. Raises TypeError for what is no LogLevel."""
    if not isinstance(level, LogLevel):
        raise TypeError(f"set_log_level takes a LogLevel, got {type(level).__name__}")
    _Log.level = level


def log_debug(message: str) -> None:
    """Write a line for developers."""
    _write(LogLevel.DEBUG, message)


def log_info(message: str) -> None:
    """Write what happens."""
    _write(LogLevel.INFO, message)


def log_warn(message: str) -> None:
    """Write what may be wrong."""
    _write(LogLevel.WARN, message)


def log_error(message: str) -> None:
    """Write what is wrong."""
    _write(LogLevel.ERROR, message)


def log_fatal(message: str) -> None:
    """Write what nothing can go on after; the process goes on all the same."""
    _write(LogLevel.FATAL, message)


def log_event(message: str) -> None:
    """Write what is to be known at every level but NONE."""
    _write(LogLevel.EVENT, message)


def _write(level: LogLevel, message: str) -> None:
    if _Log.level is not LogLevel.NONE and level.value >= _Log.level.value:
        print(f"[{level.name}] {message}", file=sys.stderr)
