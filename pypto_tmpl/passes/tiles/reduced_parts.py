"""Which part of a window an allreduce in a kernel is of: what is valid, as one row or as one rectangle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent, same_extent
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.reductions import CHUNK, element_count


@dataclass(frozen=True, slots=True)
class Box:
    """The valid rectangle of a window: extents of the window as a matrix, of a tile for it, and its own."""

    matrix: tuple[int, int]
    tile: tuple[int, int]
    valid: tuple[int | ir.Expr, int | ir.Expr]


def elements_of(recipe: Recipe, target: ir.Expr) -> int | ir.Expr:
    """How many elements are valid, from the start of the window; PassError where they lie apart."""
    type_ = _packed(recipe, target)
    valid = _valid(type_)
    whole = len(valid)  # from that axis on, all is valid
    while whole and same_extent(valid[whole - 1], type_.shape[whole - 1]):
        whole -= 1
    if any(constant_extent(extent) != 1 for extent in valid[: max(whole - 1, 0)]):
        raise recipe.error("target valid_shape must be a contiguous row-major prefix")
    return element_count(valid)


def box_of(recipe: Recipe, target: ir.Expr) -> Box | None:
    """The valid rectangle of the window, None where all of it is; PassError for what is no rectangle."""
    type_ = _packed(recipe, target)
    valid = _valid(type_)
    if all(map(same_extent, valid, type_.shape)):
        return None
    sizes = [constant_extent(extent) for extent in type_.shape]
    constants = [size for size in sizes if size is not None]
    if len(constants) < len(sizes):
        raise recipe.error("a window that is valid in part has constant extents")
    lead, last = valid[:-1], valid[-1]
    whole = len(lead)
    while whole and same_extent(lead[whole - 1], type_.shape[whole - 1]):
        whole -= 1
    if any(constant_extent(extent) != 1 for extent in lead[: max(whole - 1, 0)]):
        raise recipe.error("target valid_shape cannot be represented by a single 2D view")
    matrix = (prod(constants[:-1]), constants[-1])
    rows, columns = element_count(lead), element_count([last])
    unit = 32 * 8 // type_.dtype.get_bit()
    width = -(-columns // unit) * unit if isinstance(columns, int) else matrix[1]
    tile = (rows if isinstance(rows, int) else matrix[0], width)
    if tile[0] * tile[1] * type_.dtype.get_bit() > CHUNK * 8:
        raise recipe.error(
            f"partial valid_shape must fit within one {CHUNK}-byte mesh chunk, got a tile of {list(tile)}"
        )
    return Box(matrix, tile, (rows, columns))


def _packed(recipe: Recipe, target: ir.Expr) -> ir.TensorType:
    """The type of a window; PassError where its elements do not lie one behind the other."""
    type_ = target.type
    assert isinstance(type_, ir.TensorType)
    view = type_.tensor_view
    if view is not None and view.layout is not ir.TensorLayout.ND:
        raise recipe.error("target view only supports ND layout")
    if view is not None and view.stride:
        packed = 1
        for extent, stride in zip(reversed(type_.shape), reversed(view.stride), strict=True):
            size, step = constant_extent(extent), constant_extent(stride)
            if step != packed or size is None:
                raise recipe.error("requires a packed source")
            packed *= size
    return type_


def _valid(type_: ir.TensorType) -> Sequence[ir.Expr]:
    view = type_.tensor_view
    return view.valid_shape if view is not None and view.valid_shape else type_.shape
