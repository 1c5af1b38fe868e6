"""Tiles: their names, allocations and types, and the results that are their operand's buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.types import layout_of
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.scalars import Scalars
from pypto_tmpl.streams.spelling import constant_of, tile_facts
from pypto_tmpl.streams.values import Value


class Tiles:
    """The tiles of one kernel."""

    def __init__(self, kernel: Kernel, scalars: Scalars) -> None:
        self._kernel = kernel
        self._scalars = scalars
        self._macros = kernel.templates.tiles
        self._names: dict[ir.Var, str] = {}
        self._types: dict[int, tuple[ir.TileType, str]] = {}
        self._hoisted: list[tuple[ir.Var, str]] = []
        self._parts: dict[tuple[ir.Expr, int], ir.Var] = {}

    def name_all(self, body: ir.Stmt) -> None:
        """Name all tile variables of the body that have a buffer, then issue their addresses."""
        found = list(_tile_variables(body))
        for var in found:
            self._names[var] = self._kernel.names.named(var.name_hint)
        for var in found:
            self._issue_address(_tile_type(var))
        for stmt in statements_of(body):
            value = stmt.value if isinstance(stmt, ir.AssignStmt) and stmt.var in self._names else None
            if isinstance(stmt, ir.AssignStmt) and isinstance(value, ir.TupleGetItemExpr):
                self._parts.setdefault((value.tuple, value.index), stmt.var)

    def allocate_parts(self, var: ir.Var) -> list[tuple[ir.Var, Value]]:
        """The buffers of the tiles that a tuple consists of, under the variables that take them from it."""
        assert isinstance(var.type, ir.TupleType)
        found = []
        for index in range(len(var.type.types)):
            part = self._parts.get((var, index))
            if part is None:
                raise Obstacle(f"nothing takes result {index} of the operation, so that it has no buffer")
            found.append((part, self.allocate(part)))
        return found

    def name_of(self, var: ir.Var) -> str:
        """The name of a tile variable; one without a buffer is named when it is met."""
        return self._names.get(var) or self._kernel.names.named(var.name_hint)

    def type_text(self, tile: ir.TileType) -> str:
        """The type of a tile whose valid extents are not part of it."""
        found = self._types.get(id(tile))
        if found is None:
            text = self._kernel.templates.values.tile_type(tile_facts(tile), "?", "?")
            found = self._types[id(tile)] = tile, text
        return found[1]

    def static_type(self, tile: ir.TileType, valid: Sequence[int | None]) -> str:
        """The type of a view, which has the valid extents that are numbers."""
        shown = ["?" if extent is None else extent for extent in valid]
        text: str = self._kernel.templates.values.tile_type(tile_facts(tile), *shown)
        return text

    def value_of(self, var: ir.Var, name: str) -> Value:
        """A tile variable under a name."""
        tile = _tile_type(var)
        return Value(name, self.type_text(tile), tile.dtype, tile=tile)

    def allocate(self, var: ir.Var) -> Value:
        """The line of a variable's buffer."""
        value = self.value_of(var, self.name_of(var))
        self._kernel.line(self._alloc_line(var, value))
        return value

    def hoist(self, var: ir.Var, hint: str) -> Value:
        """A buffer that is allocated before the body, as the result of a branch is."""
        name = self._kernel.names.named(hint)
        self._hoisted.append((var, name))
        self._issue_address(_tile_type(var))
        return self.value_of(var, name)

    def prologue(self) -> list[str]:
        """The lines of the hoisted buffers."""
        span = self._kernel.function.span
        lines: list[str] = []
        for var, name in self._hoisted:
            text = self._alloc_line(var, self.value_of(var, name), hoisted=True)
            lines += self._kernel.writer.located(text, span)
        return lines

    def _alloc_line(self, var: ir.Var, value: Value, hoisted: bool = False) -> str:
        tile = _tile_type(var)
        address = self._address(tile)
        extents = tile.get_effective_tile_view().valid_shape
        if hoisted and not all(constant_of(extent) is not None for extent in extents):
            extents = tile.shape
        rows, cols = self.extents(extents)
        text: str = self._macros.alloc_tile(value, address, rows, cols)
        return text

    def extents(self, shape: Sequence[ir.Expr]) -> tuple[Value, Value]:
        """Rows and columns of a region as values; a vector has one row."""
        found = [self._scalars.index(extent) for extent in shape[:2]]
        if len(found) == 1:
            return self._kernel.index_constant(1), found[0]
        return found[0], found[1]

    def _issue_address(self, tile: ir.TileType) -> None:
        """The constant of an address; one that is worked out at run time has lines where it is used."""
        if tile.memref is not None and isinstance(tile.memref.byte_offset_, ir.ConstInt):
            self._address(tile)

    def _address(self, tile: ir.TileType) -> Value | None:
        if tile.memref is None:
            return None
        offset = tile.memref.byte_offset_
        if isinstance(offset, ir.ConstInt):
            return self._kernel.constants.integer(offset.value, offset.dtype)
        return self._scalars.converted(self._scalars.value(offset), DataType.INT64)


def _tile_type(var: ir.Expr) -> ir.TileType:
    if not isinstance(var.type, ir.TileType):
        raise Obstacle("a tile is expected here", var.span)
    return var.type


def _tile_variables(body: ir.Stmt) -> Iterator[ir.Var]:
    """The assigned tile variables that have a buffer, as they stand in the text."""
    for stmt in statements_of(body):
        if isinstance(stmt, ir.AssignStmt):
            kind = stmt.var.type
            if isinstance(kind, ir.TileType) and kind.memref is not None:
                yield stmt.var


def statements_of(body: ir.Stmt) -> Iterator[ir.Stmt]:
    """All statements from the outside in, in the order of the text."""
    pending: list[ir.Stmt] = [body]
    while pending:
        stmt = pending.pop()
        yield stmt
        if isinstance(stmt, ir.SeqStmts):
            pending += reversed(stmt.stmts)
        elif isinstance(stmt, ir.IfStmt):
            pending += [stmt.then_body] if stmt.else_body is None else [stmt.else_body, stmt.then_body]
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt | ir.ScopeStmt):
            pending.append(stmt.body)


def shares_base(a: ir.TileType, b: ir.TileType) -> bool:
    """Whether two tiles lie in one allocation."""
    return a.memref is not None and b.memref is not None and a.memref.base_ is b.memref.base_


def is_same_buffer(a: ir.TileType, b: ir.TileType) -> bool:
    """Whether two tiles are one buffer of one layout."""
    if a.memref is None or b.memref is None or not shares_base(a, b):
        return False
    first, second = constant_of(a.memref.byte_offset_), constant_of(b.memref.byte_offset_)
    same_place = first is not None and first == second and a.memref.size_ == b.memref.size_
    same_box = [constant_of(x) for x in a.shape] == [constant_of(x) for x in b.shape] and a.dtype == b.dtype
    views = a.get_effective_tile_view(), b.get_effective_tile_view()
    return same_place and same_box and layout_of(views[0]) == layout_of(views[1])
