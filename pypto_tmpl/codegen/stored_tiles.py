"""Binding tiles that lie in a memory: to views of its bytes, into which values are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from pypto_tmpl import ir
from pypto_tmpl.codegen.assignments import Assignments
from pypto_tmpl.codegen.calls import OperatorCalls
from pypto_tmpl.codegen.context import Context, Lines
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.pool_texts import PoolTexts
from pypto_tmpl.codegen.stored_values import StoredValues
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.storage.places import Place, static_shape

_OFFSETS = 2  # of a window, among the operands of the op


class StoredAssignments(Assignments):
    """Texts that write values where the types of variables say; what has no place is bound as elsewhere."""

    def __init__(
        self,
        context: Context,
        variables: Variables,
        values: StoredValues,
        expressions: Expressions,
        valid: ValidRegions,
        calls: OperatorCalls,
    ) -> None:
        super().__init__(context, variables, values, expressions, valid, calls)
        self._values: StoredValues = values
        self._places = values.places
        self._pools = PoolTexts(context, variables, expressions, values.places)
        self._yielded: list[tuple[str, str]] = []  # tiles with the texts of what is to lie there
        self._declared: Lines | None = None  # before the outermost of the loops around, if there is one
        expressions.name_by(self._read)

    def assign(self, var: ir.Var, value: ir.Expr) -> Lines:
        before = [] if self._is_declared_first(var, value) else self._clobbered(value)
        return [*before, *super().assign(var, value)]

    def _is_declared_first(self, var: ir.Var, value: ir.Expr) -> bool:
        """Whether the line before that of the op declares the result, which touches no byte."""
        place = self._places.of(var)
        if place is None or not isinstance(value, ir.Call) or self._places.rings.of(value) is not None:
            return False
        in_place = place.is_plain and self._values.changes_in_place(value, place)
        return not in_place and not self._places.is_view(var, value)

    def _clobbered(self, value: ir.Expr) -> Lines:
        """What an op does to its workspaces, before all else: whoever has bytes of one loses them."""
        tiles = self._places.workspaces(value)
        return [self._forms.evaluate(self._macros.clobber(self._variables.name_of(tile))) for tile in tiles]

    def freed(self, value: ir.Expr) -> Lines:
        """What gives a slot of a pipe back."""
        ring = self._places.rings.of(value)
        name = None if ring is None else self._pools.rings.get(id(ring.buffer))
        return [] if name is None else [self._forms.evaluate(self._macros.free_slot(name))]

    def _named(self, var: ir.Var, value: ir.Expr, text: str) -> Lines:
        place = self._places.of(var)
        if place is None:
            return super()._named(var, value, text)
        name = self._variables.bind(var)
        ring = self._places.rings.of(value)
        if ring is not None:
            return [self._forms.assign(name, self._taken(self._pools.rings[id(ring.buffer)], text, place))]
        source = self._places.of(value)
        if source is not None:
            assert isinstance(value, ir.Var)
            given = self._variables.name_of(value)
            if _is_there(source, place):
                return super()._named(var, value, given)
            return [self._left_behind(given, name), self._forms.assign(name, self._pools.view(place))]
        if self._places.is_view(var, value):
            return self._declaration(var, place, self._view(value, place, text))
        if place.is_plain and self._values.changes_in_place(value, place):
            return [self._forms.assign(name, text)]
        lines = [*self._declaration(var, place, self._destination(value, place)), *self._clobbered(value)]
        if isinstance(value, ir.Call) and self._context.table.facts(value.op.name).has("allocates"):
            return lines
        into = self._moved(name, value, place) or self._into(name, value, place)
        return [*lines, self._write(place, name, value, text) if into is None else self._forms.evaluate(into)]

    @contextmanager
    def in_loop(self) -> Iterator[Lines]:
        outer, lines = self._declared, Lines()
        if outer is None:
            self._declared = lines
        try:
            yield lines
        finally:
            self._declared = outer

    def _declaration(self, var: ir.Var, place: Place, text: str) -> Lines:
        """What gives a tile its bytes; where all rounds of a loop have the same, it stands before that."""
        line = self._forms.assign(self._variables.name_of(var), text)
        is_fixed = place.address is not None and len(self._context.facts.values.get(id(var), ())) == 1
        if self._declared is None or not is_fixed or self._notes_edges:
            return [line]
        self._declared.append(line)
        return []

    @lazy
    def _notes_edges(self) -> bool:
        """Whether tiles may hold notes of the cells that their tensors had, which another round has not."""
        return self._context.script.notes_edges or self._values.edges.has_any

    def _destination(self, value: ir.Expr, place: Place) -> str:
        """The text of the tile into which a value is written; only the run tells where some windows begin."""
        changed = self._values.changed_operand(value, place) if place.is_moving else None
        return self._pools.view(place) if changed is None else self._variables.name_of(changed)

    def _carried(self, target: ir.Var, value: ir.Expr, text: str, before: Lines) -> Iterable[tuple[str, str]]:
        """A carry lies where its type says: a round changes it only by what it writes there."""
        place, source = self._places.of(target), self._places.of(value)
        if place is None:
            if source is not None and source.is_plain:
                text = self._copied(text)
            return super()._carried(target, value, text, before)
        is_known = isinstance(target, ir.IterArg) and value is not target.initValue
        name = self._variables.bind(target)
        if source is None:
            before += [] if is_known else [self._forms.assign(name, self._pools.view(place))]
            before.append(self._write(place, name, value, text))
            return []
        assert isinstance(value, ir.Var)
        given = self._variables.name_of(value)
        if _is_there(source, place):
            return [] if is_known else [(name, given)]
        if self._context.script.options.copy_yields:
            before += [] if is_known else [self._forms.assign(name, self._pools.view(place))]
            self._yielded.append((name, text))
            return []
        before.append(self._left_behind(given, name))
        return [] if is_known else [(name, self._pools.view(place))]

    def _carried_together(self) -> Lines:
        pairs, self._yielded = self._yielded, []
        return [self._forms.evaluate(self._macros.carried(*zip(*pairs, strict=True)))] if pairs else []

    def check_of(self, var: ir.Var, may_be_clipped: bool) -> Lines:
        """What is checked of other tiles holds of one in boxes or of four bits as it is made."""
        return [] if self._is_unpacked_to_read(var) else super().check_of(var, may_be_clipped)

    def _check_poison(self, var: ir.Var) -> Lines:
        return [] if self._is_unpacked_to_read(var) else super()._check_poison(var)

    def _is_unpacked_to_read(self, var: ir.Var) -> bool:
        place = self._places.of(var)
        return place is not None and not place.is_plain

    def _read(self, var: ir.Var) -> str:
        """The text of a variable as an operand, by row and column."""
        name, place = self._variables.name_of(var), self._places.of(var)
        if place is None or place.is_plain:
            return name
        if place.boxes is None:
            return str(self._macros.numbers(name))
        is_whole = place.shape == (place.boxes.rows, place.boxes.columns)
        return str(self._macros.unpack(name, None if is_whole else self._pools.literals(place.shape)))

    def _moved(self, name: str, value: ir.Expr, place: Place) -> str | None:
        """The text that copies a tile in boxes, or a window of one, to other boxes; None of anything else."""
        if self._context.script.trace is not None or not self._values.moves_boxes(value, place):
            return None
        assert isinstance(value, ir.Call) and isinstance(value.args[0], ir.Var)
        source = self._variables.name_of(value.args[0])
        offsets = [self._expressions.alone(arg) for arg in value.args if isinstance(arg.type, ir.ScalarType)]
        return str(self._macros.move_boxes(name, source, offsets))

    def _taken(self, ring: str, text: str, place: Place) -> str:
        """The text of a popped tile in the next slot."""
        boxes = place.boxes
        if boxes is None:
            return str(self._macros.take_slot(ring, text))
        return str(self._macros.take_boxed_slot(ring, text, boxes.name, self._macros.literal(boxes.fractal)))

    def _into(self, name: str, value: ir.Expr, place: Place) -> str | None:
        """The text of an op that writes its result into a tile, None where it gives a value of its own."""
        if self._context.script.trace is not None or self._values.edges.has_any:
            return None
        if not self._values.may_be_written_into(value, place):
            return None
        assert isinstance(value, ir.Call)
        return self._calls.into(value, name)

    def _write(self, place: Place, name: str, value: ir.Expr, text: str) -> str:
        """The text that writes a value over a tile: one that may show bytes of it is copied before."""
        is_apart = self._values.is_apart(value, place)
        if place.boxes is not None:
            is_itself = self._values.changes_in_place(value, place)
            text = text if is_apart or is_itself else self._copied(text)
            is_plain = place.is_whole and place.shape == static_shape(value.type) and not is_itself
            pack = self._macros.pack if is_plain else self._macros.pack_part
            return str(self._forms.evaluate(pack(name, text)))
        is_plain = is_apart and place.shape == static_shape(value.type) and not self._may_be_cut(value)
        write = self._macros.copy_into if is_plain else self._macros.write_tile
        return str(self._forms.evaluate(write(name, text)))

    def _may_be_cut(self, value: ir.Expr) -> bool:
        """Whether a value may be one of which a load has noted that its tensor had not all of its cells."""
        if not self._notes_edges:
            return False
        return not isinstance(value, ir.Call) or not self._values.is_new(value)

    def _copied(self, text: str) -> str:
        return str(self._macros.copied(text))

    def _left_behind(self, source: str, target: str) -> str:
        return str(self._forms.comment(self._forms.left_behind(source, target)))

    def _view(self, value: ir.Expr, place: Place, text: str) -> str:
        """The text of a tile that shows the bytes of another one."""
        if not place.is_moving:
            return self._pools.view(place)
        source = self._places.window_source(value)
        if source is None:
            return text
        assert isinstance(value, ir.Call) and isinstance(source, ir.Var)
        offsets = value.args[_OFFSETS]
        assert isinstance(offsets, ir.MakeTuple)
        texts = [self._expressions.alone(offset) for offset in offsets.elements]
        window = self._macros.window if place.boxes is None else self._macros.box_window
        return str(window(self._variables.name_of(source), texts, self._pools.literals(place.shape)))


def _is_there(source: Place, place: Place) -> bool:
    """Whether a value lies where its taker does: also where that is known at run time only."""
    return source.is_same(place) or source.is_moving and place.is_moving
