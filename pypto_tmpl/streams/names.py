"""Names of SSA values and the constants of one function, numbered as upstream numbers them."""

from __future__ import annotations

import re
from typing import Any

from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.spelling import float_text, mlir_dtype
from pypto_tmpl.streams.values import Value

_FOREIGN = re.compile(r"[^A-Za-z0-9_.$]")


class Names:
    """The names in use in one function; a name stays taken after its region ends."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._next = 0

    def temp(self) -> str:
        """The next number that is no name yet."""
        while True:
            name = f"%{self._next}"
            self._next += 1
            if name not in self._used:
                self._used.add(name)
                return name

    def named(self, hint: str) -> str:
        """The hint itself if it is free, else a number."""
        name = _FOREIGN.sub("_", hint)
        name = f"%_{name}" if name[:1].isdigit() else f"%{name}"
        if not name[1:] or name in self._used:
            return self.temp()
        self._used.add(name)
        return name

    def reserve(self, name: str) -> str:
        """Take a name that nothing else may have."""
        self._used.add(name)
        return name


class Constants:
    """The constants of one function, each once by value and type, in the order of the requests."""

    def __init__(self, names: Names, macros: Any) -> None:
        self._names = names
        self._macros = macros
        self._known: dict[tuple[int | str, DataType], Value] = {}
        self.lines: list[str] = []

    def integer(self, value: int, dtype: DataType) -> Value:
        """An integer constant of a type."""
        found = self._known.get((value, dtype))
        if found is None:
            sign = "n" if value < 0 else ""
            kind = mlir_dtype(dtype)
            name = self._names.named(f"c{sign}{abs(value)}_{kind}")
            found = self._known[value, dtype] = Value(name, kind, dtype, constant=value)
            if dtype.is_unsigned_int():
                signless = Value(self._names.temp(), kind.removeprefix("u"))
                self.lines.append(self._macros.constant(signless, str(value)))
                self.lines.append(self._macros.unsigned(found, signless))
            else:
                self.lines.append(self._macros.constant(found, str(value)))
        return found

    def floating(self, value: float, dtype: DataType) -> Value:
        """A floating-point constant of a type; its name counts the constants before it."""
        text = float_text(value)
        found = self._known.get((text, dtype))
        if found is None:
            count = len(self._known)
            name = self._names.named(f"cst_{count}" if count else "cst")
            found = self._known[text, dtype] = Value(name, mlir_dtype(dtype), dtype)
            self.lines.append(self._macros.constant(found, text))
        return found
