"""The loaded op table: op name → entry, with the places it came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import yaml

from pypto_tmpl.errors import Location, PyptoTmplError, closest
from pypto_tmpl.ops.fact_model import Trait
from pypto_tmpl.ops.macros import Macro, MacroFile
from pypto_tmpl.ops.model import MacroKey, OpEntry
from pypto_tmpl.ops.op_facts import NO_FACTS, OpFacts, facts_of_entry
from pypto_tmpl.ops.positions import YamlFile


class UnknownOpError(PyptoTmplError, KeyError):
    """The table has no op of that name."""

    slug = "unknown-op"


@dataclass(frozen=True, slots=True)
class Declaration:
    """An entry while the table is loaded: the family, the file and the node it was read from."""

    entry: OpEntry
    family: str
    file: YamlFile
    node: yaml.Node

    def locate(self, *path: str | int) -> Location:
        """The line of a part of the entry, of the entry's first line without a path."""
        return Location(self.file.path, self.file.line_of(path, self.node))


@dataclass(frozen=True, slots=True)
class _Op:
    entry: OpEntry
    family: str
    location: Location


class OpTable(Mapping[str, OpEntry]):
    """All ops by registered name, in the order of the names.

    A legacy name finds its op too (``table["old.name"].name`` is the present one); iteration and
    length know present names only.
    """

    def __init__(self, declarations: Iterable[Declaration], macro_files: Mapping[str, MacroFile]) -> None:
        self._ops: dict[str, _Op] = {}
        self._aliases: dict[str, str] = {}
        self._macro_files = macro_files
        self._facts: dict[str, OpFacts] = {}
        self._with_trait: dict[Trait, frozenset[str]] = {}
        self._matching: dict[Callable[[OpEntry], bool], frozenset[str]] = {}
        families: dict[str, list[OpEntry]] = {}
        for declaration in sorted(declarations, key=lambda item: item.entry.name):
            entry, family = declaration.entry, declaration.family
            # The node trees are only for errors of the load and can go now.
            self._ops[entry.name] = _Op(entry, family, declaration.locate())
            self._aliases.update(dict.fromkeys(entry.aliases, entry.name))
            families.setdefault(family, []).append(entry)
        # By present and by legacy names.
        legacy = {alias: self._ops[name].entry for alias, name in self._aliases.items()}
        self._entries = legacy | {name: op.entry for name, op in self._ops.items()}
        self.families: Mapping[str, tuple[OpEntry, ...]] = MappingProxyType(
            {family: tuple(families[family]) for family in sorted(families)}
        )

    def __getitem__(self, name: str) -> OpEntry:
        return self._op(name).entry

    def get(self, name: str, default: Any = None) -> Any:
        """The entry of the op, or ``default`` where there is none; cheaper than a caught error."""
        return self._entries.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._ops)

    def __len__(self) -> int:
        return len(self._ops)

    def __contains__(self, name: object) -> bool:
        return name in self._ops or name in self._aliases

    def __eq__(self, other: object) -> bool:
        return self is other  # what is derived from a table is kept by the table

    def __hash__(self) -> int:
        return id(self)

    def facts(self, name: str) -> OpFacts:
        """What an op does beyond its value; no facts where the table has no op of that name."""
        found = self._facts.get(name)
        if found is None:
            op = self._find(name)
            found = self._facts[name] = NO_FACTS if op is None else facts_of_entry(op.entry)
        return found

    def with_trait(self, trait: Trait) -> frozenset[str]:
        """The names of the ops that have a trait."""
        found = self._with_trait.get(trait)
        if found is None:
            names = (name for name, op in self._ops.items() if trait in op.entry.traits)
            found = self._with_trait[trait] = frozenset(names)
        return found

    def matching(self, test: Callable[[OpEntry], bool]) -> frozenset[str]:
        """The names, legacy ones too, of the ops that pass a test; a function of a module, asked once."""
        found = self._matching.get(test)
        if found is None:
            names = (name for name, entry in self._entries.items() if test(entry))
            found = self._matching[test] = frozenset(names)
        return found

    def family_of(self, name: str) -> str:
        """The family whose files hold the op; its macros stand in ``ops/<family>.py.jinja``."""
        return self._op(name).family

    def location(self, name: str) -> Location:
        """File and line of the op's entry."""
        return self._op(name).location

    def macro(self, name: str, key: MacroKey = "emit") -> Macro | None:
        """The macro that emits the op, or that ``key`` names; none for an op without it."""
        op = self._op(name)
        macro = op.entry.macros.get(key)
        return None if macro is None else self._macro_files[op.family].macros[macro]

    def macro_source(self, name: str) -> str | None:
        """The text of the op's macro as it stands in the template."""
        macro = self.macro(name)
        return None if macro is None else macro.source

    def _find(self, name: str) -> _Op | None:
        return self._ops.get(name) or self._ops.get(self._aliases.get(name, ""))

    def _op(self, name: str) -> _Op:
        found = self._find(name)
        if found is None:
            guess = closest(name, [*self._ops, *self._aliases])
            notes = (f"did you mean {guess!r}?",) if guess else ()
            raise UnknownOpError(f"the op table has no op {name!r}", notes=notes)
        return found
