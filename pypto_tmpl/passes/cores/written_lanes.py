"""Regions whose author hands tiles over to lanes: what is halved must be, and valid cells are the lane's."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir import DataType
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ir.extents import constant_extent, same_extent
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.ops import facts
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import Kernel, evaluated_call
from pypto_tmpl.passes.cores.lane import Lane
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.passes.structure.yields import results
from pypto_tmpl.rewrite import build

_ADDRESSES = {"tile.load": (1,), "tile.slice": (2,), "tile.extract": (1, 2), "tile.gather_row": (3,)}
"""The operands by which ops say what they read."""
_GENERATORS = ("tile.full", "tile.create", "tile.ci", "tile.random")
_TRANSPOSE, _STORE = "tile.transpose", "tile.store"


class WrittenLanes:
    """Checks one region, and says which statements and types change."""

    def __init__(self, kernel: Kernel, region: ir.SplitAivScopeStmt) -> None:
        self.replacements: dict[int, list[ir.Stmt]] = {}
        self.types: dict[int, ir.Type] = {}
        self._kernel, self._region = kernel, region
        self._axis = region.split.value - 1
        self._index: ir.Var | None = None
        self._half: set[int] = set()
        self._by_lane: set[int] = set()  # values that the index of the lane is part of
        self._cells: dict[
            int, tuple[ir.Expr, bool]
        ] = {}  # ragged tiles: valid cells, and whether there are any
        self._whole: dict[str, ir.Stmt] = {}
        self._follow()
        if self._whole:
            names = ", ".join(self._whole)
            what = f"a region mixes explicit boundaries with full-width operations: {names}"
            raise PassError(what, kernel.function, next(iter(self._whole.values())))

    def _error(self, what: str, stmt: ir.Stmt, variable: ir.Expr | None = None) -> PassError:
        return PassError(what, self._kernel.function, stmt, variable)

    def _follow(self) -> None:
        todo: list[tuple[ir.Stmt, bool]] = [(self._region.body, True)]
        while todo:
            stmt, enters = todo.pop()
            if not enters:
                self._leave(stmt)
                continue
            for arg in getattr(stmt, "iter_args", ()):
                self._carry(arg, arg.initValue, stmt)
            if isinstance(stmt, ir.AssignStmt | ir.EvalStmt):
                self._look(stmt)
            todo.append((stmt, False))
            todo += [(part, True) for part in reversed(parts(stmt))]

    def _carry(self, arg: ir.Var, value: ir.Expr, stmt: ir.Stmt) -> None:
        if id(value) in self._cells:
            what = f"{arg.name_hint!r} carries a tile of which lanes have parts of unlike extent"
            raise self._error(what, stmt, arg)
        if id(value) in self._half:
            self._half.add(id(arg))

    def _leave(self, stmt: ir.Stmt) -> None:
        for variables, values in results(stmt):
            ragged = [value for value in values if id(value) in self._cells]
            if ragged and (isinstance(variables[0], ir.IterArg) or len(ragged) < len(values)):
                what = f"{variables[-1].name_hint!r} is a tile of which lanes have parts of unlike extent"
                raise self._error(what, stmt, variables[-1])
            if ragged and isinstance(values[0], ir.Var):
                self._tell(variables[-1], self._cells[id(ragged[0])])
            if any(id(value) in self._half for value in values):
                self._half |= set(map(id, variables))

    def _look(self, stmt: ir.AssignStmt | ir.EvalStmt) -> None:
        call = evaluated_call(stmt)
        known = facts.of_value(call)
        if known.has("lane_index") and isinstance(stmt, ir.AssignStmt):
            self._index = self._index or stmt.var
            self._by_lane.add(id(stmt.var))
            return
        is_scalar = isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.ScalarType)
        if is_scalar and any(id(var) in self._by_lane for var in own_reads(stmt)):
            self._by_lane |= set(map(id, definitions(stmt)))
        if call is None:
            if isinstance(stmt, ir.AssignStmt):
                self._name(stmt.var, stmt.value)
        elif known.core == "mixed" and isinstance(stmt, ir.AssignStmt):
            self._cross(stmt, call)
        elif self._kernel.side(stmt) is CoreSide.VECTOR:
            self._compute(stmt, call)

    def _name(self, var: ir.Var, value: ir.Expr) -> None:
        if id(value) in self._half:
            self._half.add(id(var))
        if id(value) in self._cells:
            self._tell(var, self._cells[id(value)])

    def _cross(self, stmt: ir.AssignStmt, call: ir.Call) -> None:
        source = call.args[0]
        if not facts.of_value(call).has("shards"):
            if id(source) in self._cells:
                raise self._error("lanes have parts of unlike extent, which cannot be gathered", stmt, source)
            return
        self._half.add(id(stmt.var))
        if not call.kwargs["split"]:
            return
        assert isinstance(source.type, ir.TileType)
        extent = source.type.shape[self._axis]
        valid = source.type.get_effective_tile_view().valid_shape[self._axis]
        if self._index is None:
            what = "a region hands a tile over before it has the index of its lane"
            raise self._error(what, stmt, source)
        lane = Lane(self._kernel.function, self._axis, self._index, call.kwargs.get("lane_stride"))
        cells = lane.valid(valid, extent, stmt)
        if constant_extent(cells) is None:
            some = constant_extent(valid)
            self._tell(stmt.var, (cells, some is not None and some > lane.step(extent, stmt)))
            self.replacements[id(stmt)] = [build(stmt, value=build(call, type=self.types[id(stmt.var)]))]

    def _compute(self, stmt: ir.AssignStmt | ir.EvalStmt, call: ir.Call) -> None:
        is_tile = isinstance(call.type, ir.TileType)
        tiles = [arg for arg in call.args if isinstance(arg.type, ir.TileType)]
        if not (is_tile or tiles):
            return
        takes_half = any(id(tile) in self._half for tile in tiles)
        addresses = [call.args[place] for place in _ADDRESSES.get(call.op.name, ()) if place < len(call.args)]
        reads_own = any(id(node) in self._by_lane for address in addresses for node in ir.walk(address))
        if takes_half or reads_own:
            self._half |= {id(stmt.var)} if is_tile and isinstance(stmt, ir.AssignStmt) else set()
        elif call.op.name not in _GENERATORS:
            self._whole.setdefault(call.op.name, stmt)
        is_wide = any(constant_extent(tile.shape[self._axis]) != 1 for tile in _tile_types(tiles[:1]))
        if call.op.name == _TRANSPOSE and takes_half and is_wide:
            raise self._error("tile.transpose exchanges the axis that the lanes share", stmt)
        ragged = next((self._cells[id(tile)] for tile in tiles if id(tile) in self._cells), None)
        if ragged is not None:
            self._compute_ragged(stmt, call, ragged)

    def _compute_ragged(
        self, stmt: ir.AssignStmt | ir.EvalStmt, call: ir.Call, cells: tuple[ir.Expr, bool]
    ) -> None:
        if call.op.name == _STORE:
            if not cells[1]:
                self.replacements[id(stmt)] = [_guarded(stmt, call, cells[0])]
            return
        operand = next(arg for arg in call.args if id(arg) in self._cells)
        assert isinstance(operand.type, ir.TileType)
        is_like = isinstance(call.type, ir.TileType) and isinstance(stmt, ir.AssignStmt)
        if not is_like or not isinstance(call.type, ir.TileType) or not isinstance(stmt, ir.AssignStmt):
            raise self._error(f"{call.op.name} reads a tile of which lanes have parts of unlike extent", stmt)
        before = operand.type.get_effective_tile_view().valid_shape[self._axis]
        after = call.type.get_effective_tile_view().valid_shape[self._axis]
        if not same_extent(before, after):
            what = "has another extent than its operand, of which lanes have parts of unlike extent"
            raise self._error(f"{call.op.name} {what}", stmt)
        self._tell(stmt.var, cells)
        self.replacements[id(stmt)] = [build(stmt, value=build(call, type=self.types[id(stmt.var)]))]

    def _tell(self, var: ir.Var, cells: tuple[ir.Expr, bool]) -> None:
        """Have the type of a variable say how many cells of it the lane has."""
        assert isinstance(var.type, ir.TileType)
        view = var.type.get_effective_tile_view()
        valid = list(view.valid_shape)
        valid[self._axis] = cells[0]
        self._cells[id(var)] = cells
        self.types[id(var)] = build(var.type, tile_view=build(view, valid_shape=tuple(valid)))


def _tile_types(values: list[ir.Expr]) -> list[ir.TileType]:
    return [value.type for value in values if isinstance(value.type, ir.TileType)]


def _guarded(stmt: ir.AssignStmt | ir.EvalStmt, call: ir.Call, cells: ir.Expr) -> ir.Stmt:
    """A store that runs where the lane has cells: a store of nothing is none of the hardware's."""
    span = call.span
    is_some = ir.Gt(cells, ir.ConstInt(0, DataType.INDEX, span), DataType.BOOL, span)
    if isinstance(stmt, ir.EvalStmt):
        return ir.IfStmt(is_some, ir.EvalStmt(call, span), None, [], span)
    stored = ir.Var(stmt.var.name_hint, stmt.var.type, span)
    then_body = ir.SeqStmts([ir.AssignStmt(stored, call, span), ir.YieldStmt([stored], span)], span)
    return ir.IfStmt(is_some, then_body, ir.YieldStmt([call.args[2]], span), [stmt.var], span)
