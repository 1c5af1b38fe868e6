"""What is known of the values of a function whose tiles are views of bytes: several may show the same."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.storage.misfits import misfits
from pypto_tmpl.storage.places import FunctionPlaces, Place, static_shape


class StoredValues(Values):
    """Answers as ``Values`` has them, where any op may write the bytes of any tile that has a place."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.places = FunctionPlaces(context.function, context.table)

    @lazy
    def quiet(self) -> None:
        """Nothing: every tile has a name, which says where it lies."""
        return None

    def misfits(self) -> Iterable[tuple[ir.Var, str]]:
        return misfits(self.places)

    def copied_views(self) -> Iterable[tuple[ir.Var, ir.Call]]:
        return (found for found in super().copied_views() if not self._has_place(found[0]))

    def is_written(self, call: ir.Call) -> bool:
        if self._is_copied():
            return False
        places = [place for arg in call.args if (place := self.places.of(arg)) is not None]
        if places and all(map(_is_copied_to_read, places)):
            return False
        return bool(places) or super().is_written(call)

    def may_be_view(self, call: ir.Call) -> bool:
        if not self._is_copied():
            return not self._has_place(call.args[0]) and super().may_be_view(call)
        known = self._table.facts(call.op.name)
        return known.copies_window and (not known.has("checks_poison") or self.is_clean(call))

    def _is_copied(self) -> bool:
        """Whether the value being emitted is written into a place at once."""
        target = self._context.current_variable
        return self._context.script.trace is None and target is not None and self._has_place(target)

    def _has_place(self, value: ir.Expr) -> bool:
        return self.places.of(value) is not None

    def may_share(self, left: ir.Expr, right: ir.Expr) -> bool:
        one, two = self.places.of(left), self.places.of(right)
        return super().may_share(left, right) if one is None or two is None else self._may_meet(one, two)

    def _may_meet(self, one: Place, two: Place) -> bool:
        """Whether two places may have bytes in common."""
        if one.space is not two.space:
            return False
        if not self._context.script.has_addresses and one.base is not two.base:
            return False
        return one.may_overlap(two)

    def is_apart(self, value: ir.Expr, place: Place) -> bool:
        """Whether a value is surely none that shows bytes of a place: it is new, or of other bytes."""
        other = self.places.of(value)
        if other is not None:
            return not self._may_meet(other, place)
        if not isinstance(value, ir.Call) or isinstance(value.op, ir.GlobalVar):
            return False
        if self.is_new(value):
            return True
        sources = [self.places.of(tile) for arg in value.args for tile in _tiles_in(arg)]
        return not any(source is not None and self._may_meet(source, place) for source in sources)

    def is_new(self, call: ir.Call) -> bool:
        """Whether an op gives a value that is no operand or view of one, if only by converting it."""
        facts = self._table.facts(call.op.name)
        if not facts.has("casts"):
            return facts.has("makes_value") and facts.returned is None
        dtypes = {
            type_.dtype.name for type_ in (call.type, call.args[0].type) if isinstance(type_, ir.TileType)
        }
        return len(dtypes) > 1

    def may_be_written_into(self, value: ir.Expr, place: Place) -> bool:
        """Whether an op may write its result over a place while it reads: what it reads is there or apart.

        Extents have to be those of types, since torch would resize what it writes to. In boxes, it is a sum
        that goes on, or a product whose columns of boxes lie one behind the other.
        """
        if not isinstance(value, ir.Call) or place.is_moving or place.shape != static_shape(value.type):
            return False
        if place.is_packed:
            return False
        facts, shapes = self._table.facts(value.op.name), []
        is_product = facts.has("product") and not facts.has("accumulates")
        if place.boxes is not None:
            is_sum = facts.has("accumulates") and self.changes_in_place(value, place)
            is_product = is_product and place.boxes.name == "NZ"
            return (is_sum or is_product) and place.is_whole and self._others_are_apart(value, place)
        if is_product:
            return False
        for arg in self._read_tiles(value):
            source, shape = self.places.of(arg), static_shape(arg.type)
            if shape is None or source is not None and source.shape != shape:
                return False
            is_there = source is not None and source.is_same(place) and not source.is_moving
            if source is not None and self._may_meet(source, place) and not is_there:
                return False
            shapes.append(shape)
        return not facts.has("cellwise") or all(_is_repeated(shape, place.shape) for shape in shapes)

    def _others_are_apart(self, call: ir.Call, place: Place) -> bool:
        """Whether no operand but the one that an op changes may have bytes of a place."""
        changed = self._table.facts(call.op.name).returned
        others = [self.places.of(arg) for at, arg in enumerate(call.args) if at != changed]
        return not any(other is not None and self._may_meet(other, place) for other in others)

    def moves_boxes(self, value: ir.Expr, place: Place) -> bool:
        """Whether a value is a tile in boxes, or a window of whole cells of one, which is copied to boxes.

        Of a window the scalars among the operands say where it begins.
        """
        if not isinstance(value, ir.Call) or not value.args or not self.is_apart(value, place):
            return False
        facts, source = self._table.facts(value.op.name), self.places.of(value.args[0])
        if source is None or source.dtype != place.dtype or not (source.is_whole and place.is_whole):
            return False
        if facts.has("moves"):
            return source.shape == place.shape
        return facts.copies_window and facts.view_of is None and self.is_plain_window(value)

    def changes_in_place(self, value: ir.Expr, place: Place) -> bool:
        """Whether an op changes the operand that lies in a place and gives it back."""
        return self.changed_operand(value, place) is not None

    def changed_operand(self, value: ir.Expr, place: Place) -> ir.Var | None:
        """The operand that lies in a place, if an op changes it there and gives it back."""
        if not isinstance(value, ir.Call):
            return None
        returned = self._table.facts(value.op.name).returned
        operand = None if returned is None else value.args[returned]
        target = None if operand is None else self.places.of(operand)
        is_there = target is not None and target.is_there(place)
        return operand if is_there and isinstance(operand, ir.Var) else None

    def _read_tiles(self, call: ir.Call) -> list[ir.Expr]:
        """The tiles among the operands of an op, but for its workspaces."""
        entry = self._table.get(call.op.name)
        scratch = [] if entry is None else [operand.scratch for operand in entry.operands]
        read = [arg for at, arg in enumerate(call.args) if at >= len(scratch) or not scratch[at]]
        return [tile for arg in read for tile in _tiles_in(arg)]


def _tiles_in(operand: ir.Expr) -> list[ir.Expr]:
    """The tiles that an operand is, or that stand in it."""
    if isinstance(operand, ir.MakeTuple):
        return [tile for element in operand.elements for tile in _tiles_in(element)]
    return [operand] if isinstance(operand.type, ir.TileType) else []


def _is_copied_to_read(place: Place) -> bool:
    """Whether a tile by row and column is a copy of what lies in a place."""
    return place.is_packed or place.boxes is not None and place.boxes.is_scattered


def _is_repeated(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    """Whether cells of a shape fill another one, those along extents of 1 being repeated."""
    pairs = zip(reversed(shape), reversed(into), strict=False)
    return len(shape) <= len(into) and all(extent in (1, wanted) for extent, wanted in pairs)
