"""The kinds of JIT functions, and what each becomes in the generated program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pypto_tmpl.errors import allowed_note


class Kind(Enum):
    """What a JIT function becomes; the value is how its decorator is written."""

    ENTRY = "pl.jit"
    HOST = "pl.jit.host"
    INCORE = "pl.jit.incore"
    INLINE = "pl.jit.inline"
    OPAQUE = "pl.jit.opaque"
    EXTERN = "pl.jit.extern"

    @property
    def is_entry(self) -> bool:
        """True for the kinds that are called from Python."""
        return self in (Kind.ENTRY, Kind.HOST)


_KEYWORDS: Mapping[Kind, tuple[str, ...]] = {
    Kind.ENTRY: ("auto_scope",),
    Kind.HOST: ("auto_scope",),
    Kind.INCORE: ("level",),
    Kind.INLINE: ("auto_scope",),
    Kind.OPAQUE: (),
    Kind.EXTERN: ("core_type", "source", "aic_source", "aiv_source", "dual_aiv_dispatch", "include_dirs"),
}
_TYPES = {
    Kind.ENTRY: "Orchestration",
    Kind.INCORE: "InCore",
    Kind.INLINE: "Inline",
    Kind.OPAQUE: "Opaque",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The kind of a function and the keywords of its decorator."""

    kind: Kind
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def decorator(self) -> str:
        """The decorator of the generated function."""
        if self.kind is Kind.HOST:
            parts = ["level=pl.Level.HOST", "role=pl.Role.Orchestrator"]
        else:
            parts = [f"type=pl.FunctionType.{_TYPES[self.kind]}"]
        if self.keywords.get("level") is not None:
            parts.append(f"level=pl.Level.{self.keywords['level'].name}")
        if self.keywords.get("auto_scope", True) is False:
            parts.append("auto_scope=False")
        return f"pl.function({', '.join(parts)})"


def checked_options(kind: Kind, keywords: Mapping[str, Any]) -> Options:
    """The options of a decorator. Raises TypeError for a keyword or value that its kind does not take."""
    allowed = _KEYWORDS[kind]
    for name, value in keywords.items():
        if name not in allowed:
            note = allowed_note("keywords", allowed, name)
            raise TypeError(f"@{kind.value} takes no keyword {name!r}; {note}")
        if name == "auto_scope" and not isinstance(value, bool):
            raise TypeError(f"@{kind.value}: auto_scope is True or False, got {value!r}")
        if name == "level" and value is not None and type(value).__name__ != "Level":
            raise TypeError(f"@{kind.value}: level is a pl.Level, got {value!r}")
    return Options(kind, dict(keywords))
