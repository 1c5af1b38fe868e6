"""Conditions of launches, which the run time looks up in a tensor when the task is due."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ops import facts
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.values import Predicate
from pypto_tmpl.streams.problems import Obstacle

_COMPARISONS: dict[type[ir.Expr], tuple[str, str]] = {  # as it stands, and with the sides exchanged
    ir.Eq: ("EQ", "EQ"), ir.Ne: ("NE", "NE"), ir.Lt: ("LT", "GT"),
    ir.Le: ("LE", "GE"), ir.Gt: ("GT", "LT"), ir.Ge: ("GE", "LE"),
}  # fmt: skip
_INTEGERS = (DataType.INT8, DataType.INT16, DataType.INT32, DataType.INT64)
_MOST_AXES = 5


def predicate_of(expr: ir.Expr, state: State, scalars: Scalars) -> Predicate:
    """The condition of a launch. Raises Obstacle for one that is not an element compared with a number."""
    what = "the predicate of a launch compares an element of an integer tensor with an integer"
    names = _COMPARISONS.get(type(expr))
    if names is None or not isinstance(expr, ir.BinaryExpr):
        raise Obstacle(f"{what}, got {expr}", expr.span)
    is_mirrored = isinstance(expr.left, ir.ConstInt)
    target, element = (expr.left, expr.right) if is_mirrored else (expr.right, expr.left)
    while isinstance(element, ir.Cast):  # the comparison is made in the type of the number
        element = element.operand
    is_read = facts.of_value(element).has("reads_element")
    if not isinstance(target, ir.ConstInt) or not isinstance(element, ir.Call) or not is_read:
        raise Obstacle(f"{what}, got {expr}", expr.span)
    tensor, indices = element.args
    dtype = tensor.type.dtype if isinstance(tensor.type, ir.TensorType) else None
    if dtype not in _INTEGERS or not isinstance(indices, ir.MakeTuple):
        raise Obstacle(f"{what}, got an element of {tensor}", expr.span)
    if len(indices.elements) > _MOST_AXES:
        raise Obstacle(f"the predicate of a launch has at most {_MOST_AXES} indices", expr.span)
    texts = [scalars.text(index) for index in indices.elements]
    return Predicate(state.variable(tensor).name, texts, names[is_mirrored], target.value)
