"""TOML files with the lines that their keys stand on."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pypto_tmpl.errors import PyptoTmplError

Key = str | int


class ConfigError(PyptoTmplError, ValueError):
    """A configuration of snapshots is missing or broken."""

    slug = "snapshot-config"


@dataclass(frozen=True, slots=True)
class TomlFile:
    """What a TOML file holds; ``shown`` is how messages name it."""

    path: Path
    text: str
    data: dict[str, Any]

    @property
    def shown(self) -> str:
        """The path as it is seen from the working directory, if it lies there."""
        return shown_from_here(self.path)

    def place(self, keys: Sequence[Key]) -> str:
        """``file:line`` of a key, or of the part of its path that the file has."""
        return f"{self.shown}:{self.line_of(keys)}"

    def line_of(self, keys: Sequence[Key]) -> int:
        """The line on which the statement begins that brings a key, 1 where nothing of it is there."""
        while keys and not _has(self.data, keys):
            keys = keys[:-1]
        return _lines_of_keys(self.text).get(tuple(keys), 1)


@lru_cache(maxsize=8)
def _lines_of_keys(text: str) -> dict[tuple[Key, ...], int]:
    """The lines of all keys, by their paths.

    They are found without a grammar of TOML: a key stands in the first statement up to which the file, cut
    off there, has it.
    """
    found: dict[tuple[Key, ...], int] = {}
    lines = text.splitlines(keepends=True)
    begin = 0
    for number in range(len(lines)):
        try:
            data = tomllib.loads("".join(lines[: number + 1]))
        except tomllib.TOMLDecodeError:
            continue  # inside of a value of several lines
        for path in _paths(data):
            found.setdefault(path, begin + 1)
        begin = number + 1
    return found


def _paths(data: Any, above: tuple[Key, ...] = ()) -> Iterator[tuple[Key, ...]]:
    """The paths of all keys in a value."""
    items: Iterable[tuple[Key, Any]] = ()
    if isinstance(data, dict):
        items = data.items()
    elif isinstance(data, list):
        items = enumerate(data)
    for key, value in items:
        yield (*above, key)
        yield from _paths(value, (*above, key))


def read_toml(path: Path) -> TomlFile:
    """A TOML file. Raises ConfigError where it cannot be read, with the line if that is known."""
    shown = shown_from_here(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return TomlFile(path, text, tomllib.loads(text))
    except OSError as error:
        what = f"the file cannot be read: {error.strerror or error}"
        raise ConfigError(what, where=shown) from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file is not UTF-8: {error.reason}", where=shown) from None
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).rpartition(" (at ")
        line = place.removeprefix("line ").partition(",")[0]
        if not line.isdecimal():  # at the end of the file
            what, line = what or str(error), str(len(text.splitlines()) or 1)
        raise ConfigError(f"this is no TOML: {what}", where=f"{shown}:{line}") from None


def shown_from_here(path: Path) -> str:
    """A path as it is seen from the working directory; as it is where it lies elsewhere."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else path.as_posix()


def _has(data: Any, keys: Sequence[Key]) -> bool:
    for key in keys:
        is_item = isinstance(data, list) and isinstance(key, int) and key < len(data)
        if not is_item and not (isinstance(data, dict) and key in data):
            return False
        data = data[key]
    return True
