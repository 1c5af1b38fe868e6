"""Valid regions that types state."""

from __future__ import annotations

from pypto_tmpl import ir


def static_region(type_: ir.Type) -> tuple[ir.Expr, ...] | None:
    """Valid extents that the type states, None when the whole box is valid (or there is no box)."""
    view: ir.TileView | ir.TensorView | None
    if isinstance(type_, ir.TileType):
        view = type_.tile_view
    elif isinstance(type_, ir.TensorType):
        view = type_.tensor_view
    else:
        return None
    return None if view is None else view.valid_shape or None


def unbound_region_params(function: ir.Function) -> frozenset[int]:
    """Identities of the parameters whose regions are stated by variables that the function does not have."""
    partial = [var for var in function.params if static_region(var.type) is not None]
    if not partial:
        return frozenset()
    known = {id(param) for param in function.params}
    for param in function.params:
        if isinstance(param.type, ir.ShapedType):
            known |= {id(dim) for dim in param.type.shape}
    unbound = set()
    for param in partial:
        used = (node for extent in static_region(param.type) or () for node in ir.walk(extent))
        if any(isinstance(node, ir.Var) and id(node) not in known for node in used):
            unbound.add(id(param))
    return frozenset(unbound)
