"""What integer expressions have in common: sums of multiples, simplified and compared.

An expression is read as ``constant + Σ factor · atom``; an atom is a variable or anything that is no
sum, such as ``min(n, 64)``. Atoms of equal structure are one. Extents are far from any overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.expr import Call
from pypto_tmpl.ir.leaves import ConstInt
from pypto_tmpl.ir.scalar_ops import (
    Add,
    BinaryExpr,
    Cast,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Sub,
    UnaryExpr,
)
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.span import Span

_Key = tuple[object, ...]
_INDEX_LIKE = (DataType.INDEX, DataType.INT64)


class _Sum:
    """A constant and the factors of atoms."""

    __slots__ = ("atoms", "constant", "factors")

    def __init__(self, constant: int = 0) -> None:
        self.constant = constant
        self.factors: dict[_Key, int] = {}
        self.atoms: dict[_Key, Expr] = {}

    def add_atom(self, atom: Expr, factor: int) -> None:
        key = _key(atom)
        self.factors[key] = self.factors.get(key, 0) + factor
        self.atoms.setdefault(key, atom)
        if not self.factors[key]:
            del self.factors[key]

    def terms(self) -> Iterator[tuple[Expr, int]]:
        return ((self.atoms[key], factor) for key, factor in self.factors.items())


def constant_value(expr: Expr) -> int | None:
    """The value that the expression has whatever its variables are, None where it depends on them."""
    if isinstance(expr, ConstInt):
        return expr.value
    if not isinstance(expr, (BinaryExpr, UnaryExpr)):
        return None
    total = _sum_of(expr)
    return None if total.factors else total.constant


def constant_difference(a: Expr, b: Expr) -> int | None:
    """``a - b`` where that is a constant; 0 says that they are provably equal."""
    if a is b:
        return 0
    if isinstance(a, ConstInt) and isinstance(b, ConstInt):
        return a.value - b.value
    total = _sum_of(a)
    _accumulate(total, b, -1)
    return None if total.factors else total.constant


def gap_and_step(a: Expr, b: Expr, is_fixed: Callable[[Expr], bool]) -> tuple[int, int]:
    """What ``a - b`` is at any two times: the first number, give or take multiples of the second.

    Atoms that are not fixed may have one value in ``a`` and another one in ``b``. A step of 0 says that the
    difference is the gap.
    """
    left, right = _sum_of(a), _sum_of(b)
    fixed = _Sum()
    steps: list[int] = []
    for total, sign in ((left, 1), (right, -1)):
        for atom, factor in total.terms():
            if is_fixed(atom):
                fixed.add_atom(atom, sign * factor)
            else:
                steps.append(factor)
    return left.constant - right.constant, math.gcd(*steps, *fixed.factors.values())


def provably_equal(a: Sequence[Expr], b: Sequence[Expr]) -> bool:
    """Whether two lists of extents are equal for all values of their variables."""
    return len(a) == len(b) and all(constant_difference(x, y) == 0 for x, y in zip(a, b, strict=True))


def simplify(expr: Expr) -> Expr:
    """The expression with constants folded and equal terms cancelled: ``(n + 64) - n`` is 64.

    What cannot be made shorter comes back as it is.
    """
    if not isinstance(expr, (BinaryExpr, UnaryExpr)):
        return expr
    total = _sum_of(expr)
    dtype = expr.type.dtype if isinstance(expr.type, ScalarType) else DataType.INDEX
    if not total.factors:
        return ConstInt(total.constant, dtype, expr.span)
    found = _rebuilt(total, dtype, expr.span)
    return found if _leaf_count(found) < _leaf_count(expr) else expr


def _rebuilt(total: _Sum, dtype: DataType, span: Span) -> Expr:
    """The sum as an expression, terms in the order in which they were met."""
    found: Expr | None = None
    for atom, factor in total.terms():
        size = abs(factor)
        term = atom if size == 1 else Mul(atom, ConstInt(size, dtype, span), dtype, span)
        if found is None:
            found = term if factor > 0 else Mul(atom, ConstInt(factor, dtype, span), dtype, span)
        else:
            found = (Add if factor > 0 else Sub)(found, term, dtype, span)
    assert found is not None
    if total.constant:
        operation = Add if total.constant > 0 else Sub
        found = operation(found, ConstInt(abs(total.constant), dtype, span), dtype, span)
    return found


def _leaf_count(expr: Expr) -> int:
    """How many variables and constants the expression is written with."""
    count, todo = 0, [expr]
    while todo:
        node = todo.pop()
        if isinstance(node, BinaryExpr):
            todo += [node.left, node.right]
        elif isinstance(node, UnaryExpr):
            todo.append(node.operand)
        else:
            count += 1
    return count


def _sum_of(expr: Expr) -> _Sum:
    total = _Sum()
    _accumulate(total, expr, 1)
    return total


def _accumulate(total: _Sum, expr: Expr, factor: int) -> None:
    """Add ``factor`` times the expression; a loop follows long sums."""
    todo = [(expr, factor)]
    while todo:
        node, times = todo.pop()
        match node:
            case ConstInt():
                total.constant += times * node.value
            case Add():
                todo += [(node.right, times), (node.left, times)]
            case Sub():
                todo += [(node.right, -times), (node.left, times)]
            case Neg():
                todo.append((node.operand, -times))
            case Cast() if _keeps_value(node):
                todo.append((node.operand, times))
            case Mul():
                _accumulate_product(total, node, times, todo)
            case FloorDiv() | FloorMod() | Min() | Max():
                _accumulate_folded(total, node, times)
            case _:
                total.add_atom(node, times)


def _keeps_value(node: Cast) -> bool:
    """Whether the cast is between the two types of indices."""
    types = (node.type, node.operand.type)
    return all(isinstance(type_, ScalarType) and type_.dtype in _INDEX_LIKE for type_ in types)


def _accumulate_product(total: _Sum, node: Mul, times: int, todo: list[tuple[Expr, int]]) -> None:
    left, right = constant_value(node.left), constant_value(node.right)
    if right is not None:
        todo.append((node.left, times * right))
    elif left is not None:
        todo.append((node.right, times * left))
    else:
        total.add_atom(node, times)


def _accumulate_folded(total: _Sum, node: BinaryExpr, times: int) -> None:
    """An operator that folds where its operands are constants, or a constant apart."""
    left, right = constant_value(node.left), constant_value(node.right)
    if isinstance(node, (Min, Max)):
        gap = constant_difference(node.left, node.right)
        if gap is not None:
            takes_left = gap <= 0 if isinstance(node, Min) else gap >= 0
            _accumulate(total, node.left if takes_left else node.right, times)
            return
    elif right and left is not None:
        total.constant += times * (left // right if isinstance(node, FloorDiv) else left % right)
        return
    elif right:
        inner = _sum_of(node.left)
        if all(factor % right == 0 for factor in inner.factors.values()):
            _accumulate_quotient(total, node, inner, right, times)
            return
    total.add_atom(node, times)


def _accumulate_quotient(total: _Sum, node: BinaryExpr, inner: _Sum, divisor: int, times: int) -> None:
    """Quotient or remainder of a sum whose factors the divisor divides: only the constant leaves a rest."""
    if isinstance(node, FloorMod):
        total.constant += times * (inner.constant % divisor)
        return
    total.constant += times * (inner.constant // divisor)
    for atom, factor in inner.terms():
        total.add_atom(atom, times * (factor // divisor))


def _key(expr: Expr) -> _Key:
    """What is equal exactly for atoms of equal structure."""
    if isinstance(expr, ConstInt):
        return (ConstInt, expr.value)
    if isinstance(expr, BinaryExpr):
        return (type(expr), _key(expr.left), _key(expr.right))
    if isinstance(expr, UnaryExpr):
        dtype = expr.type.dtype.code() if isinstance(expr.type, ScalarType) else None
        return (type(expr), dtype, _key(expr.operand))
    if isinstance(expr, Call) and not expr.kwargs:
        return (Call, expr.op.name, *map(_key, expr.args))
    return (id(expr),)
