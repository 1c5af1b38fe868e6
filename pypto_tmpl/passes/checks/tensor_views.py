"""Whether the strides of tensors are those of a layout."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.ir.verifier import Diagnostic
from pypto_tmpl.ir.walking import walk

RULE = "TensorViewCanonical"


def verify_tensor_view_canonical(program: ir.Program, require_materialized: bool = False) -> list[Diagnostic]:
    """The tensors of a program whose views are not canonical, each variable once.

    A view is canonical whose innermost stride is 1 and whose other strides are no smaller than what they step
    over; extents and strides that are known at run time only count as fitting. A tensor without a view is
    packed, and so is a view without strides unless strides are asked for.
    """
    found: list[Diagnostic] = []
    for function in program.functions.values():
        seen: set[int] = set()
        for node in walk(function):
            if not isinstance(node, ir.Var) or id(node) in seen or not isinstance(node.type, ir.TensorType):
                continue
            seen.add(id(node))
            for what in _faults(node.type, require_materialized):
                message = f"the view of the tensor {node.name_hint!r} {what}"
                found.append(Diagnostic(RULE, 0, message, node.span, function.name))
    return found


def _faults(type_: ir.TensorType, require_materialized: bool) -> Iterator[str]:
    view, rank = type_.tensor_view, len(type_.shape)
    if view is not None and view.layout is ir.TensorLayout.NZ:
        yield "has the layout NZ, which has no strides"
    elif view is None or not view.stride:
        if require_materialized and view is not None and rank:
            yield "has no strides"
    elif len(view.stride) != rank:
        yield f"has {len(view.stride)} strides for {rank} axes"
    elif view.layout is ir.TensorLayout.DN and rank < 2:
        yield "has the layout DN, for which it takes two axes"
    else:
        axes = list(reversed(range(rank)))
        if view.layout is ir.TensorLayout.DN:
            axes[0], axes[1] = axes[1], axes[0]
        yield from _wrong_strides(axes, view.stride, tuple(type_.shape))


def _wrong_strides(
    axes: list[int], strides: tuple[ir.Expr, ...], shape: tuple[ir.Expr, ...]
) -> Iterator[str]:
    """What is wrong with strides along axes, the innermost one first."""
    innermost = strides[axes[0]]
    if not isinstance(innermost, ir.ConstInt) or innermost.value != 1:
        yield f"has the stride {innermost} along axis {axes[0]}, which is the innermost one"
    for inner, outer in zip(axes, axes[1:], strict=False):
        step, extent, stride = strides[inner], shape[inner], strides[outer]
        if (
            isinstance(step, ir.ConstInt)
            and isinstance(extent, ir.ConstInt)
            and isinstance(stride, ir.ConstInt)
            and stride.value < step.value * extent.value
        ):
            yield f"has the stride {stride.value} along axis {outer}, less than {step.value * extent.value}"
