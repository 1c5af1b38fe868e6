"""Text of attribute and keyword values (spec: DSL, 12.6 and 12.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from keyword import iskeyword
from typing import Any

from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.enums import SplitMode
from pypto_tmpl.ir.expr import MakeTuple
from pypto_tmpl.ir.printer.expressions import BODY, TYPED, is_constant
from pypto_tmpl.ir.printer.pieces import Piece, Pieces, PrintError, bracketed, float_text, joined, string_text
from pypto_tmpl.ir.printer.spellings import ARG_DIRECTIONS, CAST_MODES, CAST_OPS, CODED_KEYWORDS
from pypto_tmpl.ir.printer.types import TypePrinter


class AttributePrinter(TypePrinter):
    """Values of attributes (``attrs={...}``) and of keywords."""

    def attributes(
        self, attrs: AttrMap, keys: Iterable[str], of_function: bool = False, of_op: bool = False
    ) -> Pieces:
        """The entries of ``attrs`` under these keys as a dict display."""
        yield "{"
        yield joined(self._entry(key, attrs, of_function, of_op) for key in keys)
        yield "}"

    def keyword(self, key: str, values: AttrMap, owner: str) -> Pieces:
        """``key=value`` of an op call."""
        if not key.isidentifier() or iskeyword(key):
            raise PrintError(f"keyword {key!r} of {owner} is no identifier")
        yield key + "="
        value, kind = values[key], values.kinds[key]
        if kind is AttrKind.INT:
            yield self._coded(key, value, owner)
        elif kind is AttrKind.STR:
            yield string_text(value, "'")
        else:
            yield self.value(key, kind, value)

    def value(self, key: str, kind: AttrKind, value: Any) -> Piece:
        """Text of a stored value; PrintError naming the key for one that has none."""
        if value is None and kind in (AttrKind.VAR, AttrKind.EXPR):
            return "None"
        try:
            return _WRITERS[kind](self, value)
        except (KeyError, TypeError, AttributeError) as error:
            raise PrintError(f"attribute {key!r}: no text for {value!r} stored as {kind}") from error

    def _entry(self, key: str, attrs: AttrMap, of_function: bool, of_op: bool) -> Pieces:
        yield string_text(key, '"') + ": "
        if of_function and key == "split" and attrs.kinds[key] is AttrKind.INT:
            yield self._split(attrs[key])
        elif key == "core_num" and not of_op and isinstance(attrs[key], Expr) and is_constant(attrs[key]):
            yield self.expr(attrs[key])  # the reader makes an expression of an int under this key
        else:
            yield self.value(key, attrs.kinds[key], attrs[key])

    def _split(self, code: int) -> str:
        modes = {mode.value: mode for mode in SplitMode}
        if code not in modes:
            raise PrintError(f"attribute 'split': {code} is no SplitMode (0 to {len(modes) - 1})")
        return self.enum(modes[code])

    def _coded(self, key: str, code: int, owner: str) -> str:
        if key == "mode" and owner in CAST_OPS:
            if not 0 <= code < len(CAST_MODES):
                raise PrintError(
                    f"keyword 'mode' of {owner}: {code} is no cast mode (0 to {len(CAST_MODES) - 1})"
                )
            return string_text(CAST_MODES[code], "'")
        members = CODED_KEYWORDS.get(key)
        if members is None:
            return str(code)
        if code not in list(members):
            raise PrintError(f"keyword {key!r} of {owner}: {code} is no {members.__name__}")
        return self.enum(members(code))

    def _directions(self, values: tuple[Any, ...]) -> Pieces:
        return bracketed([self._direction(value) for value in values])

    def _direction(self, value: Any) -> str:
        return f"{self.prefix}.adir.{ARG_DIRECTIONS[value]}"

    def _variables(self, values: tuple[Any, ...]) -> Pieces:
        return bracketed(["None" if var is None else self.expr(var) for var in values])

    def _expression(self, value: Expr) -> Piece:
        """An expression so that it is not stored as something else: a bare number, or a list of values."""
        if isinstance(value, MakeTuple):
            comma = "," if len(value.elements) == 1 else ""
            return iter(("(", joined(self.expr(element) for element in value.elements), comma + ")"))
        return self.expr(value, TYPED if is_constant(value) else BODY)


def _enum(printer: AttributePrinter, value: Enum) -> Piece:
    return printer.enum(value)


_WRITERS: dict[AttrKind, Callable[[AttributePrinter, Any], Piece]] = {
    AttrKind.BOOL: lambda printer, value: str(bool(value)),
    AttrKind.INT: lambda printer, value: str(int(value)),
    AttrKind.FLOAT: lambda printer, value: float_text(value),
    AttrKind.STR: lambda printer, value: string_text(value, '"'),
    AttrKind.DATA_TYPE: lambda printer, value: printer.dtype(value),
    AttrKind.MEMORY_SPACE: _enum,
    AttrKind.TENSOR_LAYOUT: _enum,
    AttrKind.TILE_LAYOUT: _enum,
    AttrKind.PAD_VALUE: _enum,
    AttrKind.ARG_DIRECTION: lambda printer, value: printer._direction(value),
    AttrKind.ARG_DIRECTIONS: lambda printer, value: printer._directions(value),
    AttrKind.INT32S: lambda printer, value: f"[{', '.join(str(int(item)) for item in value)}]",
    AttrKind.VAR: lambda printer, value: printer.expr(value, BODY),
    AttrKind.VARS: lambda printer, value: printer._variables(value),
    AttrKind.EXPR: lambda printer, value: printer._expression(value),
}
