"""What a few ops take from where they stand, or make of an argument before it is an operand."""

from __future__ import annotations

import math
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ops.calls.context import Argument, CallContext, OpCallError, shown_argument
from pypto_tmpl.ops.loader import load_table


def region_split(context: CallContext) -> int:
    """The code of the enclosing split region; OpCallError outside one."""
    if context.split is None:
        hint = "stand in a pl.split_aiv region, or give split="
        raise OpCallError("the keyword 'split' is missing outside a split region", hint)
    return int(context.split.value)


def target_name(context: CallContext) -> str:
    """The name that the call is assigned to; OpCallError where there is none."""
    if not context.target:
        raise OpCallError("it takes its name from the variable it is assigned to, and there is none")
    return context.target


def byte_count(size: Argument, dtype: Argument) -> Argument:
    """The bytes of these extents; without a dtype ``size`` itself."""
    if not isinstance(size, (list, tuple)):
        if dtype is not None:
            raise OpCallError(
                "dtype= is only valid when the first argument is a shape, as in ([16, 64], dtype=...)"
            )
        return size
    if dtype is None:
        raise OpCallError("requires dtype= when the first argument is a shape")
    if not isinstance(dtype, ir.DataType) or not dtype.get_byte():
        raise OpCallError(f"the parameter 'dtype' is a data type, not {shown_argument(dtype)}")
    extents = list(size)
    if not extents:
        raise OpCallError("shape must be non-empty")
    for axis, extent in enumerate(extents):
        number = extent.value if isinstance(extent, ir.ConstInt) else extent
        if isinstance(number, int) and number <= 0:
            raise OpCallError(f"shape dimension[{axis}] is {number}; all dimensions must be positive")
    values = [extent.value if isinstance(extent, ir.ConstInt) else extent for extent in extents]
    if all(isinstance(value, int) for value in values):
        return math.prod(value for value in values if isinstance(value, int)) * dtype.get_byte()
    product: ir.Expr | int = dtype.get_byte()
    for value in values:
        if not isinstance(value, (int, ir.Expr)):
            raise OpCallError(f"the operand 'size' is {shown_argument(size)}, and it takes integers")
        product = ir.mul(value, product)
    return product


def attributes(op: str, stated: dict[str, Argument]) -> ir.AttrMap | None:
    """The attributes of the call."""
    if not load_table().facts(op).has("dummy_task"):
        return None
    deps: Any = stated.get("deps")
    if deps is None:
        raise OpCallError("the keyword 'deps' is missing", "name the tasks that it stands for: deps=[tid]")
    for value in deps:
        if not isinstance(value, ir.Var):
            raise OpCallError(f"an entry of 'deps' is a variable, not {shown_argument(value)}")
    return ir.AttrMap([("dummy_task", True), ("manual_dep_edges", tuple(deps))])
