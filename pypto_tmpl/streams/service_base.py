"""What all services of macros have: the parts of a kernel's emission."""

from __future__ import annotations

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.scalars import Scalars
from pypto_tmpl.streams.tensors import Tensors
from pypto_tmpl.streams.tiles import Tiles
from pypto_tmpl.streams.values import Value


class ServiceBase:
    """Scalars and names, and the parts that the services of a subject work with."""

    def __init__(self, kernel: Kernel, scalars: Scalars, tensors: Tensors, tiles: Tiles) -> None:
        self._kernel = kernel
        self._scalars = scalars
        self._tensors = tensors
        self._tiles = tiles
        self._forms: Any = kernel.templates.forms

    def index(self, expr: ir.Expr) -> Value:
        """A scalar as an index."""
        return self._scalars.index(expr)

    def integer_scalar(self, expr: ir.Expr) -> Value:
        """A scalar as an i32."""
        if isinstance(expr, ir.ConstInt) and expr.dtype in (DataType.INDEX, DataType.INT64):
            return self._kernel.constants.integer(expr.value, DataType.INT32)
        return self._scalars.converted(self._scalars.value(expr), DataType.INT32)

    def named(self, hint: str) -> str:
        """A name of the function."""
        return self._kernel.names.named(hint)

    def parts(self, expr: ir.Expr | None) -> tuple[ir.Expr, ...]:
        """The parts of a tuple operand."""
        if not isinstance(expr, ir.MakeTuple):
            raise Obstacle("a tuple is expected here", None if expr is None else expr.span)
        return expr.elements

    def tile_of(self, expr: ir.Expr) -> ir.TileType:
        """The type of a tile operand."""
        if not isinstance(expr.type, ir.TileType):
            raise Obstacle("a tile is expected here", expr.span)
        return expr.type
