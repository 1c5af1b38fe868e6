"""The operands of a call by the names of the op table, as the rules for result types see them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.vocabulary import ENUMERATIONS

Extents: TypeAlias = Sequence[ir.Expr]


def _member(type_: str, default: Any) -> Any:
    """A default as the value of a call: the table names members and dtypes."""
    if type_ == "DataType":
        return getattr(ir.DataType, default)
    return ENUMERATIONS[type_][default] if type_ in ENUMERATIONS else default


class InferenceError(Exception):
    """The operands of a call do not give its result type."""


class MissingRuleError(InferenceError):
    """The op table does not say of which type the result is; an annotation may."""


def operands_by_name(entry: OpEntry, args: Sequence[ir.Expr]) -> tuple[dict[str, ir.Expr], Sequence[ir.Expr]]:
    """The operands of a call by their names, and those that are too many.

    An optional one that is no tuple is absent where a tuple stands instead.
    """
    found: dict[str, ir.Expr] = {}
    rest = list(args)
    for spec in entry.operands:
        may_be_absent = spec.optional and "tuple" not in spec.kinds
        if rest and not (may_be_absent and isinstance(rest[0], ir.MakeTuple)):
            found[spec.name] = rest.pop(0)
    return found, rest


class Operands:
    """The operands and keywords of a call, by the names of the op table.

    ``is_built`` tells that the language builds the call: then what a rule cannot prove of it is an error.
    A call that is read is taken as it stands, since real programs break rules that upstream checks early.
    """

    def __init__(
        self, entry: OpEntry, args: Sequence[ir.Expr], kwargs: ir.AttrMap, is_built: bool = False
    ) -> None:
        if len(args) > len(entry.operands):
            raise InferenceError(f"{len(args)} operands, and the op takes {len(entry.operands)}")
        self.entry = entry
        self.args = args
        self.is_built = is_built
        self._by_name, _ = operands_by_name(entry, args)
        self._kwargs = kwargs

    def operand(self, name: str) -> ir.Expr | None:
        """The operand of that name, None where the call or the op has none."""
        return self._by_name.get(name)

    def needed(self, name: str) -> ir.Expr:
        """The operand of that name; InferenceError without it."""
        found = self._by_name.get(name)
        if found is None:
            raise InferenceError(f"the operand {name!r} is missing")
        return found

    def keyword(self, name: str) -> Any:
        """The keyword's value or its default, None without one."""
        if name in self._kwargs:
            return self._kwargs[name]
        for spec in self.entry.kwargs:
            if spec.name == name and spec.has_default:
                return _member(spec.type, spec.default)
        return None

    @property
    def shaped(self) -> list[ir.Expr]:
        """The tensor and tile operands that contribute a value."""
        return [
            arg
            for spec, arg in zip(self.entry.operands, self.args, strict=False)
            if not spec.scratch and isinstance(arg.type, ir.ShapedType)
        ]

    @property
    def scalars(self) -> list[ir.Expr]:
        """The scalar operands."""
        return [arg for arg in self.args if isinstance(arg.type, ir.ScalarType)]

    @property
    def first(self) -> ir.Expr:
        if not self.args:
            raise InferenceError("it has no operand")
        return self.args[0]

    def named(self, words: Sequence[str]) -> list[ir.Expr]:
        """The operands that a rule's parentheses name, else those that contribute a value."""
        found = [self.operand(word) for word in words]
        return [value for value in found if value is not None] if words else self.shaped

    def name_of(self, value: ir.Expr) -> str:
        """The name of an operand, the first one where it stands for several."""
        return next((name for name, found in self._by_name.items() if found is value), "?")

    def names_of(self, first: ir.Expr, second: ir.Expr) -> tuple[str, str]:
        """The names of two operands, also where one value stands for both."""
        names = [name for name, found in self._by_name.items() if found is second]
        return self.name_of(first), names[-1] if names else "?"

    def elements(self, *names: str) -> Extents:
        """The elements of the first of these tuple operands that the call has."""
        for name in names:
            value = self.operand(name)
            if isinstance(value, ir.MakeTuple):
                return value.elements
        raise InferenceError(f"its operand {names[0]!r} is no list")

    @staticmethod
    def dtype_of(value: ir.Expr) -> ir.DataType:
        if isinstance(value.type, (ir.ShapedType, ir.ScalarType)):
            return value.type.dtype
        raise InferenceError(f"a {type(value.type).__name__} has no dtype")

    @staticmethod
    def shape_of(value: ir.Expr) -> Extents:
        if isinstance(value.type, ir.ShapedType):
            return value.type.shape
        if isinstance(value, ir.MakeTuple):
            return value.elements
        raise InferenceError(f"a {type(value.type).__name__} has no shape")

    @staticmethod
    def valid_of(value: ir.Expr) -> Extents | None:
        """The valid region of an operand, None for the whole box."""
        view: ir.TensorView | ir.TileView | None = None
        if isinstance(value.type, ir.TensorType):
            view = value.type.tensor_view
        elif isinstance(value.type, ir.TileType):
            view = value.type.tile_view
        elif isinstance(value, ir.MakeTuple):
            return value.elements
        return view.valid_shape if view is not None and view.valid_shape else None

    def region_of(self, value: ir.Expr) -> list[ir.Expr]:
        """The valid region of an operand, written out."""
        valid = self.valid_of(value)
        return list(self.shape_of(value) if valid is None else valid)
