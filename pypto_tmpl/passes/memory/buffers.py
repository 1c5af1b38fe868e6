"""The buffers of a function whose tiles have places: where they lie, and what is known of their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements, trailing_yield
from pypto_tmpl.ir.destinations import declaration, is_buffer
from pypto_tmpl.ir.verifier.walking import all_definitions
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.rewrite import as_body, build
from pypto_tmpl.storage.places import FunctionPlaces, Place, has_addresses


class Buffers:
    """Answers about the tiles of one function, and about the buffers that stand for some of them."""

    def __init__(self, function: ir.Function) -> None:
        self._function = function
        places = FunctionPlaces(function, load_table())
        definitions = list(all_definitions(function))
        tiles = [var for var, _ in definitions if is_buffer(var)]
        self._places = {id(tile): places.of(tile) for tile in tiles}
        self._typed: dict[int, Place | None] = {}
        self._note_types(tiles)
        self._values = {
            id(var): stmt.value
            for var, stmt in definitions
            if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.value, ir.Var)
        }
        self._beginnings = self._values | dict(_beginnings(function.body))
        bases = {id(base_of(tile)) for tile in tiles}
        self._has_addresses = has_addresses([function])
        params = {id(param) for param in function.params}
        self._local = {id(var) for var, _ in definitions} - bases - params

    def _note_types(self, tiles: Sequence[ir.Var]) -> None:
        """Where tiles lie by their types alone, as declarations say it."""
        allocations = [
            stmt
            for stmt in statements(self._function.body)
            if isinstance(stmt, ir.AssignStmt) and facts.of_value(stmt.value).has("reserves")
        ]
        declared = [declaration(tile, base_of(tile)) for tile in tiles]
        span = self._function.body.span
        function = build(self._function, body=as_body([*allocations, *declared], span))
        found = FunctionPlaces(function, load_table())
        self._typed |= {id(tile): found.of(tile) for tile in tiles}

    def of(self, tile: ir.Expr) -> Place | None:
        """The place of a tile, None of one that has none."""
        return self._places.get(id(tile))

    def has_own(self, tile: ir.Expr) -> bool:
        """Whether the type of a tile says all of where it lies; that of a window has not got the pitch."""
        typed, place = self._typed[id(tile)], self._places[id(tile)]
        if typed is None or place is None:
            return typed is place
        return typed.is_same(place) and not place.is_moving

    def is_view(self, stmt: ir.AssignStmt) -> bool:
        """Whether a statement gives bytes of a tile another name, extents or layout, and moves nothing."""
        value = stmt.value
        if isinstance(value, ir.Var):
            return self.of(stmt.var) is None or self.are_one_place(stmt.var, value)
        known = facts.of_value(value)
        if known.view_of is None or known.returned is not None or not isinstance(value, ir.Call):
            return False
        source = value.args[known.view_of]
        return is_buffer(source) and base_of(source) is base_of(stmt.var)

    def origin(self, value: ir.Expr) -> ir.Expr:
        """What a value is a second name of; itself where it is none."""
        while (named := self._values.get(id(value))) is not None:
            value = named
        return value

    def are_one_place(self, one: ir.Expr, other: ir.Expr) -> bool:
        """Whether two tiles are the same elements."""
        place, others = self.of(one), self.of(other)
        return place is not None and others is not None and others.is_there(place)

    def may_overlap(self, one: ir.Expr, other: ir.Expr) -> bool:
        """Whether tiles may have bytes in common."""
        place, others = self.of(one), self.of(other)
        if place is None or others is None or place.space is not others.space:
            return False
        return (self._has_addresses or place.base is others.base) and place.may_overlap(others)

    def is_known_at_start(self, type_: ir.Type) -> bool:
        """Whether a type names nothing that the function computes."""
        return not any(id(node) in self._local for node in walk(type_))

    def carried(self, carry: ir.IterArg) -> ir.Var:
        """The buffer that stands for what a loop carries."""
        type_ = self._fitting(carry, carry.initValue)
        return self._placed(ir.Var(carry.name_hint, type_, carry.span), self.of(carry))

    def resulting(self, stmt: ir.IfStmt, at: int) -> ir.Var:
        """The buffer that stands for a result of a branch. Raises PassError where its type tells no place."""
        result, end = stmt.return_vars[at], trailing_yield(stmt.then_body)
        type_ = result.type if end is None else self._fitting(result, end.value[at])
        if type_ is result.type:
            buffer = result
        else:
            buffer = self._placed(ir.Var(result.name_hint, type_, result.span), self.of(result))
        if not self.has_own(buffer):
            raise self.error(result, stmt)
        return buffer

    def error(self, tile: ir.Var, stmt: ir.Stmt) -> PassError:
        """What a tile is refused with that has to be declared."""
        what = f"{tile.name_hint!r} lies with the pitch of a window, of which a declaration does not tell"
        return PassError(what, self._function, stmt, variable=tile)

    def _fitting(self, tile: ir.Var, value: ir.Expr) -> ir.Type:
        """The type of a carry or result: as it is, or that of its value, since some are wider than that."""
        if self.has_own(tile):
            return tile.type
        while is_buffer(value) and not self.has_own(value) and id(value) in self._beginnings:
            value = self._beginnings[id(value)]
        if not is_buffer(value):
            return tile.type
        assert isinstance(tile.type, ir.TileType)
        return build(value.type, memref=tile.type.memref)

    def _placed(self, buffer: ir.Var, place: Place | None) -> ir.Var:
        self._places[id(buffer)] = place
        self._note_types([buffer])
        return buffer


def _beginnings(body: ir.Stmt) -> Iterator[tuple[int, ir.Expr]]:
    """What carries and results of loops begin as, and results of branches on one side, by their ids.

    They lie as that does, and may be declared otherwise.
    """
    for stmt in statements(body):
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            for carry, result in zip(stmt.iter_args, stmt.return_vars, strict=True):
                yield id(carry), carry.initValue
                yield id(result), carry.initValue
        elif isinstance(stmt, ir.IfStmt) and (end := trailing_yield(stmt.then_body)) is not None:
            for result, value in zip(stmt.return_vars, end.value, strict=True):
                yield id(result), value


def base_of(tile: ir.Expr) -> ir.Var:
    """The allocation that a tile lies in."""
    assert isinstance(tile.type, ir.TileType) and tile.type.memref is not None
    return tile.type.memref.base_
