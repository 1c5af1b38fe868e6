"""Names that passes give (spec: passes, 2.4): ``base__[qualifier_]role_vN``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pypto_tmpl import ir

ROLES = ("ssa", "iter", "rv", "phi", "idx", "tile", "tmp", "out", "store")

_GENERATED = re.compile(
    rf"(?P<base>.+?)__(?:(?P<qualifier>.+)_)?(?P<role>{'|'.join(ROLES)})_v(?P<version>\d+)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class GeneratedName:
    """The parts of a name that a pass gave."""

    base: str
    role: str
    version: int
    qualifier: str = ""

    def __str__(self) -> str:
        qualified = f"{self.qualifier}_{self.role}" if self.qualifier else self.role
        return f"{self.base}__{qualified}_v{self.version}"

    @staticmethod
    def parse(name: str) -> GeneratedName | None:
        """The parts of ``name``, None for one of another form."""
        found = _GENERATED.fullmatch(name)
        if found is None:
            return None
        return GeneratedName(found["base"], found["role"], int(found["version"]), found["qualifier"] or "")


def base_name(name: str) -> str:
    """What a name says without what passes have added to it: the part before the first double underscore."""
    base = name.partition("__")[0]
    return base or name.strip("_") or "v"


class Names:
    """The names that are taken in one function."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: Counter[tuple[str, str, str]] = Counter()

    @staticmethod
    def of(function: ir.Function) -> Names:
        """The names of everything that a function binds or reads."""
        return Names(var.name_hint for var in ir.walk(function) if isinstance(var, ir.Var))

    def fresh(self, name: str, role: str, qualifier: str = "") -> str:
        """A name of the same base in another role, in the first version that is not taken.

        Raises ValueError for a role that is none of ``ROLES``.
        """
        if role not in ROLES:
            raise ValueError(f"{role!r} is no role of a generated name; roles are {', '.join(ROLES)}")
        key = (base_name(name), qualifier, role)
        while True:
            found = str(GeneratedName(key[0], role, self._next[key], qualifier))
            self._next[key] += 1
            if found not in self._taken:
                self._taken.add(found)
                return found

    def unique(self, name: str) -> str:
        """``name`` itself, or with the first number behind it that makes it free."""
        found, number = name, 0
        while found in self._taken:
            number += 1
            found = f"{name}_{number}"
        self._taken.add(found)
        return found
