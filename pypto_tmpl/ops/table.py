"""The loaded op table: op name → entry, with the places it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import yaml

from pypto_tmpl.errors import Location, PyptoTmplError, closest
from pypto_tmpl.ops.macros import Macro, MacroFile
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.positions import YamlFile


class UnknownOpError(PyptoTmplError, KeyError):
    """The table has no op of that name."""

    slug = "unknown-op"


class Declaration:
    """An entry with its place in the table: the family, the file and the node it was read from."""

    __slots__ = ("entry", "family", "file", "node")

    def __init__(self, entry: OpEntry, family: str, file: YamlFile, node: yaml.Node) -> None:
        self.entry = entry
        self.family = family
        self.file = file
        self.node = node

    def locate(self, *path: str | int) -> Location:
        """The line of a part of the entry, of the entry's first line without a path."""
        return Location(self.file.path, self.file.line_of(path, self.node))


class OpTable(Mapping[str, OpEntry]):
    """All ops by registered name, in the order of the names.

    A legacy name finds its op too (``table["old.name"].name`` is the present one); iteration and
    length know present names only.
    """

    def __init__(self, declarations: Mapping[str, Declaration], macro_files: Mapping[str, MacroFile]) -> None:
        self._declarations = dict(sorted(declarations.items()))
        self._macro_files = macro_files
        self._aliases = {
            alias: declaration.entry.name
            for declaration in self._declarations.values()
            for alias in declaration.entry.aliases
        }
        families: dict[str, list[OpEntry]] = {}
        for declaration in declarations.values():
            families.setdefault(declaration.family, []).append(declaration.entry)
        self.families: Mapping[str, tuple[OpEntry, ...]] = MappingProxyType(
            {family: tuple(families[family]) for family in sorted(families)}
        )

    def __getitem__(self, name: str) -> OpEntry:
        return self._declaration(name).entry

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of the op, or ``default`` where there is none; cheaper than a caught error."""
        found = self._find(name)
        return default if found is None else found.entry

    def __iter__(self) -> Iterator[str]:
        return iter(self._declarations)

    def __len__(self) -> int:
        return len(self._declarations)

    def __contains__(self, name: object) -> bool:
        return name in self._declarations or name in self._aliases

    def _find(self, name: str) -> Declaration | None:
        return self._declarations.get(name) or self._declarations.get(self._aliases.get(name, ""))

    def family_of(self, name: str) -> str:
        """The family whose files hold the op; its macros stand in ``ops/<family>.py.jinja``."""
        return self._declaration(name).family

    def location(self, name: str) -> Location:
        """File and line of the op's entry."""
        return self._declaration(name).locate()

    def macro(self, name: str) -> Macro | None:
        """The macro that emits the op, or none for an op without effect or not executable."""
        declaration = self._declaration(name)
        if not declaration.entry.is_executable:
            return None
        return self._macro_files[declaration.family].macros[str(declaration.entry.emit)]

    def macro_source(self, name: str) -> str | None:
        """The text of the op's macro as it stands in the template."""
        macro = self.macro(name)
        return None if macro is None else macro.source

    def _declaration(self, name: str) -> Declaration:
        found = self._find(name)
        if found is None:
            guess = closest(name, [*self._declarations, *self._aliases])
            notes = (f"did you mean {guess!r}?",) if guess else ()
            raise UnknownOpError(f"the op table has no op {name!r}", notes=notes)
        return found
