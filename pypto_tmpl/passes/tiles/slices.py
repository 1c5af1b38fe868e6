"""Windows of tiles that share their storage: where they lie, and whether the hardware can read them there."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_value
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.passes.tiles.bands import MATRIX, constants, plus

_SLICE = "tile.slice"
_BLOCK = 256  # bits: vector cores read tiles in blocks of 32 bytes
_SLICE_OPERANDS = 3


@dataclass(frozen=True, slots=True)
class Window:
    """A window of a tile that is none itself."""

    base: ir.Expr
    row: ir.Expr
    column: ir.Expr
    shape: ir.Expr

    @property
    def space(self) -> ir.MemorySpace | None:
        """Where the tile lies."""
        assert isinstance(self.base.type, ir.TileType)
        return self.base.type.memory_space

    @property
    def pitch(self) -> int | None:
        """How many columns the tile has, None where that is not constant."""
        assert isinstance(self.base.type, ir.TileType)
        return constant_extent(self.base.type.shape[-1])

    def size(self) -> tuple[int, int] | None:
        """Rows and columns of the window."""
        assert isinstance(self.shape, ir.MakeTuple)
        found = constants(self.shape.elements)
        return (found[0], found[1]) if found is not None and len(found) == MATRIX else None


class Slices:
    """The windows of a function that are views, and what is known of its scalars."""

    def __init__(self, function: ir.Function) -> None:
        self.windows: dict[int, Window] = {}
        self.variables: list[ir.Var] = []
        self._constants: dict[int, int] = {}
        self._multiples: dict[int, int] = {}
        for stmt in statements(function.body):
            if not isinstance(stmt, ir.AssignStmt):
                continue
            if isinstance(stmt.var.type, ir.ScalarType):
                self._multiples[id(stmt.var)] = self.multiple(stmt.value)
                if (value := self.constant(stmt.value)) is not None:
                    self._constants[id(stmt.var)] = value
            elif isinstance(stmt.value, ir.Call) and stmt.value.op.name == _SLICE:
                window = self._window(stmt.value)
                if window is not None:
                    self.windows[id(stmt.var)] = window
                    self.variables.append(stmt.var)

    def of(self, value: ir.Expr) -> Window | None:
        """The window that a variable is, None for anything else."""
        return self.windows.get(id(value))

    def _window(self, call: ir.Call) -> Window | None:
        if len(call.args) != _SLICE_OPERANDS:
            return None
        base, shape, offsets = call.args
        assert isinstance(offsets, ir.MakeTuple)
        if len(offsets.elements) != MATRIX:
            return None
        row, column = offsets.elements
        outer = self.of(base)
        if outer is None:
            return Window(base, row, column, shape)
        return Window(outer.base, self.sum(outer.row, row), self.sum(outer.column, column), shape)

    def sum(self, first: ir.Expr, second: ir.Expr) -> ir.Expr:
        """The sum of two offsets; known constants are added."""
        one, other = self.constant(first), self.constant(second)
        if one is not None and other is not None:
            return ir.ConstInt(one + other, ir.DataType.INDEX, second.span)
        return plus(first, second)

    def constant(self, value: ir.Expr) -> int | None:
        """The value of a constant, or of a variable that names one."""
        return self._constants.get(id(value), constant_value(value))

    def is_dynamic(self, window: Window) -> bool:
        """Whether only a run knows where the window lies."""
        return self.constant(window.row) is None or self.constant(window.column) is None

    def is_aligned(self, window: Window) -> bool:
        """Whether the window is sure to begin where a block does."""
        pitch = window.pitch
        if pitch is None:
            return False
        assert isinstance(window.base.type, ir.TileType)
        step = gcd(self.multiple(window.row) * pitch, self.multiple(window.column))
        return step * window.base.type.dtype.get_bit() % _BLOCK == 0

    def multiple(self, value: ir.Expr) -> int:
        """A number of which the value is a multiple whatever it is; 0 for zero."""
        order, todo = [], [value]
        while todo:
            order.append(todo.pop())
            todo += _terms(order[-1])
        found: list[int] = []
        for node in reversed(order):
            if _terms(node):
                one, other = found.pop(), found.pop()
                found.append(one * other if isinstance(node, ir.Mul) else gcd(one, other))
            elif isinstance(node, ir.ConstInt):
                found.append(abs(node.value))
            else:
                found.append(self._multiples.get(id(node), 1))
        return found[0]


def _terms(node: ir.Expr) -> list[ir.Expr]:
    return [node.left, node.right] if isinstance(node, ir.Add | ir.Sub | ir.Mul) else []
