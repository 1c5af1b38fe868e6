"""What variables of a kernel stand for in its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pypto_tmpl import ir


@dataclass(frozen=True, slots=True)
class Value:
    """An SSA value with its type as text; of a scalar also the dtype, of a tile also the IR's type.

    ``constant`` is the number that an integer constant stands for; ``window`` where a slice comes from.
    """

    name: str
    type: str = ""
    dtype: ir.DataType | None = None
    constant: int | None = None
    tile: ir.TileType | None = None
    is_view: bool = False
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The slice that the variable ``var`` is: the tile and the place in it."""

    var: ir.Var
    source: Value
    row: Value
    col: Value


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor in global memory: the pointer, and the view that its windows are cut from.

    ``param`` is the parameter that holds it; ``hint`` names windows that no variable names.
    """

    param: ir.Var
    pointer: Value
    view: Value
    type: ir.TensorType
    hint: str

    def called(self, hint: str) -> Tensor:
        """The same tensor, its windows named after another variable."""
        return Tensor(self.param, self.pointer, self.view, self.type, hint)


@dataclass(frozen=True, slots=True)
class LocalArray:
    """An array in scalar memory."""

    value: Value
    element: ir.DataType


Meaning = Value | Tensor | LocalArray


@dataclass(frozen=True, slots=True)
class TensorShape:
    """How a tensor lies in global memory, as values and as text."""

    shape: Sequence[Value]
    strides: Sequence[Value]
    layout: str
