"""Collects everything in a program that no script can be made of, for one report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError


@dataclass(frozen=True, slots=True)
class Unsupported:
    """One obstacle: what it is, the function and variable it stands at, and its source position.

    ``unbound`` is the name of a variable that is used, but that nothing binds: the program is wrong then.
    """

    what: str
    function: str
    variable: str
    span: ir.Span
    unbound: str = ""

    def __str__(self) -> str:
        place = self.span.to_string() if self.span.is_valid() else "no source line"
        variable = f", variable {self.variable!r}" if self.variable else ""
        return f"{self.what} (function {self.function!r}{variable}, {place})"


class UnsupportedProgramError(PyptoTmplError, ValueError):
    """The program holds ops, dtypes or nodes that no script can be made of; all of them are listed."""

    slug = "unsupported"

    def __init__(self, found: Sequence[Unsupported] = ()) -> None:
        noun = "thing" if len(found) == 1 else "things"
        super().__init__(
            f"{len(found)} {noun} in this program cannot be emitted", notes=[str(item) for item in found]
        )
        self.found = tuple(found)

    @property
    def is_undefined(self) -> bool:
        """Whether undefined variables are all that is wrong: then no implementation could run the program."""
        return bool(self.found) and all(item.unbound for item in self.found)

    def __reduce__(self) -> tuple[type[UnsupportedProgramError], tuple[tuple[Unsupported, ...]]]:
        return type(self), (self.found,)
