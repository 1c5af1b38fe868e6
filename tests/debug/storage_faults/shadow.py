"""Which faults in a plan have an effect: kernels run on bytes that hold names of elements, not numbers.

This is the criterion by which faults are drawn, and what is held to be true of them. It was written before
any of them was scored, and takes nothing from ``pypto_tmpl.storage`` or the emitter: positions of elements
are the formulas of the specification, written out here.

Every result of an op is a new value, of which each element has a number. Results are written to the bytes
that their types name; where an op reads a tile, its bytes must hold the numbers of the value that the
variable stands for. A fault has an effect if with it, and not without it, some read finds other numbers, and
something that is computed from that leaves the kernel, in a store or through a pipe: on each way through the
kernel that is tried. Loops run three rounds at most, two where their bounds are not known; ways differ in the
branches whose conditions are not known. Fills of one constant are one value. What lies outside of the valid
region is not looked at.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table

Array = np.ndarray
ROUNDS, ROUNDS_UNKNOWN = 3, 2
MEMORY_BYTES = 1 << 20
STRIDE = 1 << 24  # numbers of one value
OFFSETS = 2  # of tile.slice

_OPERATORS: Mapping[type, Callable[[int, int], int]] = {
    ir.Add: operator.add,
    ir.Sub: operator.sub,
    ir.Mul: operator.mul,
    ir.FloorDiv: operator.floordiv,
    ir.FloorMod: operator.mod,
    ir.Lt: operator.lt,
    ir.Le: operator.le,
    ir.Gt: operator.gt,
    ir.Ge: operator.ge,
    ir.Eq: operator.eq,
    ir.Ne: operator.ne,
    ir.Min: min,
    ir.Max: max,
}


@dataclass(frozen=True, slots=True)
class WrongRead:
    """A tile that a statement reads from bytes that hold something else, and who has written these.

    Statements are told by the lines of the text; a writer of "" is nobody.
    """

    function: str
    tile: str
    line: int
    writer: str
    writer_line: int


@dataclass(slots=True)
class Effect:
    """What is read wrongly on one way through a kernel, and whether something of that leaves the kernel."""

    wrong: set[WrongRead] = field(default_factory=set)
    leaves: bool = False


@dataclass(slots=True)
class _Tile:
    """What a variable stands for: the numbers of its elements, if it has a value, and where each begins.

    ``is_wrong`` says that it comes from a wrong read.
    """

    numbers: Array | None
    starts: Array | None
    size: int
    is_wrong: bool = False


def effects(function: ir.Function) -> tuple[Effect, Effect]:
    """The effects on the way that takes branches of unknown conditions, and on the one that does not."""
    return _Shadow(function, True).effect(), _Shadow(function, False).effect()


def positions(shape: Sequence[int], view: ir.TileView, size: int) -> Array:
    """The index of each element, counted from the start of a tile: section 4.5 of the specification."""
    if len(shape) != 2:
        return np.arange(int(np.prod(shape))).reshape(shape)
    rows, columns = shape
    r, c = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    by_columns = view.blayout is ir.TileLayout.col_major
    across = 32 // size
    box = {
        (512, True): (16, across),
        (512, False): (across, 16),
        (1024, True): (16, 16),
        (1024, False): (16, 16),
        (32, True): (16, 2),
        (32, False): (2, 16),
    }[view.fractal, view.slayout is ir.TileLayout.row_major]
    # what does not fill its boxes lies by rows, as a single row or column does
    if view.slayout is ir.TileLayout.none_box or rows % box[0] or columns % box[1]:
        is_plain = view.slayout is not ir.TileLayout.none_box or 1 in shape
        return c * rows + r if by_columns and not is_plain else r * columns + c
    height, width = box
    pitch = _pitch(rows, view)
    if by_columns:
        number = (c // width) * (pitch // height) + r // height
    else:
        number = (r // height) * (columns // width) + c // width
    is_row_major = view.slayout is ir.TileLayout.row_major
    inner = (r % height) * width + c % width if is_row_major else (c % width) * height + r % height
    return number * (height * width) + inner


def _pitch(rows: int, view: ir.TileView) -> int:
    """How many rows a column of boxes has: of a compact tile those that its valid rows fill."""
    if view.compact is not ir.CompactMode.normal or not view.valid_shape:
        return rows
    valid = view.valid_shape[0]
    return min(rows, -(-valid.value // 16) * 16) if isinstance(valid, ir.ConstInt) else rows


def _stored_rows(type_: ir.Type, shape: Sequence[int]) -> int:
    """The rows of a tile that have bytes."""
    return _pitch(shape[0], type_.get_effective_tile_view()) if len(shape) == 2 else shape[0]


class _Shadow:
    """One way through one kernel."""

    def __init__(self, function: ir.Function, takes: bool) -> None:
        self._function, self._takes = function, takes
        self._table = load_table()
        self._memories: dict[ir.MemorySpace, Array] = {}
        self._tiles: dict[int, _Tile] = {}
        self._scalars: dict[int, int] = {}
        self._events: list[tuple[str, int, bool]] = [("", 0, False)]  # who has written, where, whether wrong
        self._constants: dict[str, int] = {}
        self._effect = Effect()

    def effect(self) -> Effect:
        """Run the kernel."""
        self._body(self._function.body)
        return self._effect

    # Statements

    def _body(self, body: ir.Stmt | None) -> Sequence[ir.Expr]:
        """Run a body; what it yields."""
        yielded: Sequence[ir.Expr] = ()
        for stmt in body.stmts if isinstance(body, ir.SeqStmts) else [] if body is None else [body]:
            match stmt:
                case ir.SeqStmts():
                    yielded = self._body(stmt) or yielded
                case ir.AssignStmt():
                    self._assign(stmt)
                case ir.EvalStmt():
                    self._leave(stmt.expr, stmt)
                case ir.ReturnStmt():
                    for value in stmt.value:
                        self._leave(value, stmt)
                case ir.YieldStmt():
                    yielded = stmt.value
                case ir.ForStmt() | ir.WhileStmt():
                    self._loop(stmt)
                case ir.IfStmt():
                    condition = self._scalar(stmt.condition)
                    takes = self._takes if condition is None else bool(condition)
                    values = self._body(stmt.then_body if takes else stmt.else_body)
                    self._bind_all(stmt.return_vars, values)
                case ir.ScopeStmt():
                    yielded = self._body(stmt.body) or yielded
        return yielded

    def _loop(self, stmt: ir.ForStmt | ir.WhileStmt) -> None:
        carries: Sequence[ir.Var] = stmt.iter_args
        self._bind_all(carries, [carry.initValue for carry in stmt.iter_args])
        for number in self._rounds(stmt):
            if isinstance(stmt, ir.ForStmt):
                self._set(stmt.loop_var, number)
            self._bind_all(carries, self._body(stmt.body), are_carried=True)
        self._bind_all(stmt.return_vars, carries)

    def _rounds(self, stmt: ir.ForStmt | ir.WhileStmt) -> Iterator[int | None]:
        if isinstance(stmt, ir.ForStmt):
            bounds = [self._scalar(bound) for bound in (stmt.start, stmt.stop, stmt.step)]
            if None not in bounds:
                yield from list(range(*bounds))[:ROUNDS]
                return
        yield from [None] * ROUNDS_UNKNOWN

    def _bind_all(
        self, targets: Sequence[ir.Var], values: Sequence[ir.Expr], are_carried: bool = False
    ) -> None:
        """Variables take values at once, without moving any byte: each stays where its own type says.

        What a loop has carried before stays as it lay then.
        """
        found = [
            (target, self._tiles.get(id(value)), self._scalar(value))
            for target, value in zip(targets, values, strict=False)
        ]
        for target, tile, scalar in found:
            if tile is None:
                self._set(target, scalar)
                continue
            starts = tile.starts
            start = self._start(target.type)
            if starts is not None and start is not None:
                starts = starts - starts.min() + start
            if are_carried and id(target) in self._tiles:
                starts = self._tiles[id(target)].starts
            self._tiles[id(target)] = _Tile(tile.numbers, starts, tile.size, tile.is_wrong)

    def _assign(self, stmt: ir.AssignStmt) -> None:
        var, value = stmt.var, stmt.value
        if isinstance(value, ir.Var):
            self._bind_all([var], [value])
        elif not isinstance(var.type, ir.TileType):
            self._set(var, self._scalar(value))
            if not isinstance(value, ir.Call) or not self._table.facts(value.op.name).has("reserves"):
                self._leave(value, stmt)
        elif not isinstance(value, ir.Call) or not self._view(var, value):
            self._result(var, value, stmt)

    def _view(self, var: ir.Var, call: ir.Call) -> bool:
        """Bind a view: it moves nothing, and shows elements of its source by the meaning of its op."""
        name = call.op.name.removeprefix("tile.")
        if name not in ("reshape", "transpose_view", "slice", "reinterpret_view", "set_validshape"):
            return False
        source = self._tiles.get(id(call.args[0]))
        shape = _shape(var.type)
        if source is None or source.numbers is None or source.starts is None or shape is None:
            self._tiles[id(var)] = _Tile(None, None, _size(var.type), source is not None and source.is_wrong)
            return True
        numbers, starts = source.numbers, self._starts(var.type, shape)
        if name == "transpose_view":
            numbers = numbers.swapaxes(0, 1)
        elif name == "slice":
            numbers, starts = self._window(var, call, source, shape)
        else:
            numbers = numbers.reshape(*shape, -1)
        self._tiles[id(var)] = _Tile(numbers, starts, _size(var.type), source.is_wrong)
        return True

    def _window(
        self, var: ir.Var, call: ir.Call, source: _Tile, shape: Sequence[int]
    ) -> tuple[Array | None, Array | None]:
        """A window begins where its type says, and has the pitch of its source.

        One of a tile in boxes, or with offsets that are not known, is cut from its source instead.
        """
        assert source.numbers is not None and source.starts is not None
        given = call.args[OFFSETS]
        offsets = (
            [self._scalar(offset) for offset in given.elements] if isinstance(given, ir.MakeTuple) else []
        )
        known = [offset for offset in offsets if offset is not None]
        if len(known) != len(shape) or len(shape) != source.starts.ndim:
            return None, None
        part = tuple(slice(at, at + extent) for at, extent in zip(known, shape, strict=True))
        starts = source.starts[part]
        is_fixed = all(isinstance(offset, ir.ConstInt) for offset in given.elements)
        start = self._start(var.type)
        view = call.args[0].type.get_effective_tile_view()
        if is_fixed and start is not None and view.slayout is ir.TileLayout.none_box:
            starts = starts - starts.min() + start
        return source.numbers[part], starts

    def _result(self, var: ir.Var, value: ir.Expr, stmt: ir.Stmt) -> None:
        """An op reads all its operands, and then writes its result over the bytes of its place."""
        is_wrong = self._reads_any(value, stmt)
        shape, size = _shape(var.type), _size(var.type)
        op = value.op.name if isinstance(value, ir.Call) else ""
        starts = None if shape is None else self._starts(var.type, shape)
        if op == "tile.create" or shape is None:
            self._tiles[id(var)] = _Tile(None, starts, size)
            return
        event = self._event(var, value, stmt, is_wrong)
        count = int(np.prod(shape))
        numbers = event * STRIDE + np.arange(count) * (0 if op == "tile.full" else 1)
        bytes_ = (numbers[:, None] * 16 + np.arange(size)).reshape(*shape, size)
        self._tiles[id(var)] = _Tile(bytes_, starts, size, is_wrong)
        if starts is not None:
            memory = self._memory(var.type.memory_space)
            kept = slice(None, _stored_rows(var.type, shape))
            memory[starts[kept][..., None] + np.arange(size)] = bytes_[kept]

    def _event(self, var: ir.Var, value: ir.Expr, stmt: ir.Stmt, is_wrong: bool) -> int:
        op = value.op.name if isinstance(value, ir.Call) else ""
        if op == "tile.full" and str(value) in self._constants:
            return self._constants[str(value)]
        self._events.append((var.name_hint, stmt.span.begin_line, is_wrong))
        if op == "tile.full":
            self._constants[str(value)] = len(self._events) - 1
        return len(self._events) - 1

    def _leave(self, value: ir.Expr, stmt: ir.Stmt) -> None:
        if self._reads_any(value, stmt):
            self._effect.leaves = True

    # Values

    def _operands(self, value: ir.Expr) -> Iterator[ir.Var]:
        if isinstance(value, ir.Var):
            if id(value) in self._tiles:
                yield value
        elif isinstance(value, ir.Call):
            entry = self._table.get(value.op.name)
            for at, arg in enumerate(value.args):
                if entry is None or at >= len(entry.operands) or not entry.operands[at].scratch:
                    yield from self._operands(arg)
        elif isinstance(value, ir.MakeTuple):
            for element in value.elements:
                yield from self._operands(element)

    def _clobber(self, value: ir.Expr, stmt: ir.Stmt) -> None:
        entry = self._table.get(value.op.name) if isinstance(value, ir.Call) else None
        if entry is None or not isinstance(value, ir.Call):
            return
        for operand, arg in zip(entry.operands, value.args, strict=False):
            tile = self._tiles.get(id(arg)) if operand.scratch else None
            if tile is not None and tile.starts is not None and isinstance(arg, ir.Var):
                self._events.append((arg.name_hint, stmt.span.begin_line, False))
                numbers = (len(self._events) - 1) * STRIDE + np.arange(tile.starts.size)
                bytes_ = numbers.reshape(*tile.starts.shape, 1) * 16 + np.arange(tile.size)
                self._memory(arg.type.memory_space)[tile.starts[..., None] + np.arange(tile.size)] = bytes_

    def _reads_any(self, value: ir.Expr, stmt: ir.Stmt) -> bool:
        """Whether any of the operands of a value is read wrongly; all of them are looked at.

        An op uses its workspaces before it has read all else.
        """
        self._clobber(value, stmt)
        found = [self._reads(tile, stmt) for tile in self._operands(value)]
        return any(found)

    def _reads(self, var: ir.Var, stmt: ir.Stmt) -> bool:
        """Whether what a statement reads is wrong, be it that its bytes hold something else."""
        tile = self._tiles[id(var)]
        if tile.numbers is None or tile.starts is None:
            return tile.is_wrong
        valid = tuple(slice(0, extent) for extent in _valid(var.type, tile.starts.shape))
        wanted, starts = tile.numbers[valid], tile.starts[valid]
        found = self._memory(var.type.memory_space)[starts[..., None] + np.arange(tile.size)]
        wrong = found[found != wanted]
        for event in {int(number) // 16 // STRIDE for number in np.unique(wrong)}:
            writer, line, _ = self._events[event]
            name = self._function.name
            self._effect.wrong.add(WrongRead(name, var.name_hint, stmt.span.begin_line, writer, line))
        return tile.is_wrong or bool(wrong.size)

    def _memory(self, space: ir.MemorySpace) -> Array:
        return self._memories.setdefault(space, np.zeros(MEMORY_BYTES, dtype=np.int64))

    def _start(self, type_: ir.Type) -> int | None:
        memref = type_.memref if isinstance(type_, ir.TileType) else None
        offset = None if memref is None else self._scalar(memref.byte_offset_)
        return None if memref is None or type_.memory_space is ir.MemorySpace.DDR else offset

    def _starts(self, type_: ir.Type, shape: Sequence[int]) -> Array | None:
        start, size = self._start(type_), _size(type_)
        if start is None or not size:
            return None
        found = start + positions(shape, type_.get_effective_tile_view(), size) * size
        return found if found.min() >= 0 and found.max() + size <= MEMORY_BYTES else None

    def _set(self, var: ir.Var, value: int | None) -> None:
        if value is None:
            self._scalars.pop(id(var), None)
        else:
            self._scalars[id(var)] = value

    def _scalar(self, value: ir.Expr) -> int | None:
        if isinstance(value, ir.ConstInt | ir.ConstBool):
            return int(value.value)
        if isinstance(value, ir.Var):
            return self._scalars.get(id(value))
        if type(value) in _OPERATORS:
            left, right = self._scalar(value.left), self._scalar(value.right)
            return None if left is None or right is None else int(_OPERATORS[type(value)](left, right))
        return None


def _shape(type_: ir.Type) -> tuple[int, ...] | None:
    extents = type_.shape if isinstance(type_, ir.TileType) else ()
    if not extents or not all(isinstance(extent, ir.ConstInt) for extent in extents):
        return None
    return tuple(extent.value for extent in extents)


def _size(type_: ir.Type) -> int:
    """Bytes of an element, 0 for elements of half a byte."""
    return type_.dtype.get_bit() // 8


def _valid(type_: ir.Type, shape: Sequence[int]) -> list[int]:
    valid = type_.get_effective_tile_view().valid_shape
    if len(valid) != len(shape):
        return list(shape)
    return [
        min(extent, known.value) if isinstance(known, ir.ConstInt) else extent
        for known, extent in zip(valid, shape, strict=True)
    ]
