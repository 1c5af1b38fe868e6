"""Python identifiers for IR names."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable

PYTHON_NAMES = frozenset({*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "torch", "_"})
_NOT_IN_IDENTIFIER = re.compile(r"\W")


def identifier(hint: str) -> str:
    """A Python identifier close to ``hint``, normalised as the Python parser normalises names.

    Characters that cannot stand in one become ``_``; a leading digit gets a ``_`` before it; an empty hint
    gives ``v``.
    """
    name = _NOT_IN_IDENTIFIER.sub("_", unicodedata.normalize("NFKC", hint))
    if not name:
        return "v"
    if not name.isidentifier():
        name = "_" + name
    if not name.isidentifier():
        name = name.encode("ascii", "replace").decode().replace("?", "_")
    return name


class NameTable:
    """Hands out distinct identifiers; a suffix ``_1``, ``_2``, ... appears only on a clash."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = {*PYTHON_NAMES, *reserved}
        self._next_suffix: dict[str, int] = {}

    def unique(self, hint: str) -> str:
        """An identifier like ``hint`` that nothing else in this table has."""
        base = identifier(hint)
        name = base
        while name in self._taken:
            suffix = self._next_suffix.get(base, 1)
            self._next_suffix[base] = suffix + 1
            name = "_".join((base, str(suffix)))
        self._taken.add(name)
        return name
