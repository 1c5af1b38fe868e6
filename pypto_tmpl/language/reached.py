"""Code that no run reaches: the branch of a constant condition, a loop without rounds, what follows a return.

It is read and stays in the IR, as upstream has it, but it is not judged: a window that would be empty, or a
type that does not fit, says nothing of a kernel that never gets there. A statement that cannot even be built
then is left out. Names that do not exist and what the language lacks are errors there too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value
from pypto_tmpl.language.diagnostics import ParserError
from pypto_tmpl.language.scopes import Reader

_COMPARISONS: Mapping[type[ir.Expr], Callable[[float], bool]] = MappingProxyType(
    {
        ir.Eq: lambda difference: difference == 0,
        ir.Ne: lambda difference: difference != 0,
        ir.Lt: lambda difference: difference < 0,
        ir.Le: lambda difference: difference <= 0,
        ir.Gt: lambda difference: difference > 0,
        ir.Ge: lambda difference: difference >= 0,
    }
)


def truth(condition: ir.Expr) -> bool | None:
    """What a condition is in every run; None where that depends on the run."""
    match condition:
        case ir.ConstBool(value=value):
            return value
        case ir.Not(operand=operand):
            found = truth(operand)
            return None if found is None else not found
        case ir.And(left=left, right=right):
            parts = truth(left), truth(right)
            return False if False in parts else None if None in parts else True
        case ir.Or(left=left, right=right):
            parts = truth(left), truth(right)
            return True if True in parts else None if None in parts else False
    compare = _COMPARISONS.get(type(condition))
    if compare is None or not isinstance(condition, ir.BinaryExpr):
        return None
    difference = _difference(condition.left, condition.right)
    return None if difference is None else compare(difference)


def _difference(left: ir.Expr, right: ir.Expr) -> float | None:
    if isinstance(left, ir.ConstFloat) and isinstance(right, ir.ConstFloat):
        return left.value - right.value
    is_integer = isinstance(left.type, ir.ScalarType) and left.type.dtype.is_int()
    return constant_difference(left, right) if is_integer else None


def has_rounds(start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> bool:
    """Whether a counted loop may run its body."""
    length, by = constant_difference(stop, start), constant_value(step)
    return length is None or by is None or (length > 0 if by > 0 else length < 0)


def leaves(statement: ir.Stmt) -> bool:
    """Whether nothing behind a statement is reached."""
    match statement:
        case ir.ReturnStmt() | ir.BreakStmt() | ir.ContinueStmt():
            return True
        case ir.SeqStmts(stmts=statements):
            return any(leaves(inner) for inner in statements)
        case ir.IfStmt(condition=condition, then_body=then_body, else_body=else_body):
            taken = truth(condition)
            then_leaves = taken is False or leaves(then_body)
            return then_leaves and (taken is True or (else_body is not None and leaves(else_body)))
        case ir.ScopeStmt(body=body):
            return leaves(body)
    return False


@contextmanager
def reached(reader: Reader, is_reached: bool) -> Iterator[None]:
    """Inside it statements are read that a run may reach, or not."""
    if is_reached:
        yield
        return
    failed, known = set(reader.failed), reader.names.visible()
    reader.failed |= reader.left_out
    reader.unreached += 1
    try:
        yield
    finally:
        reader.unreached -= 1
        reader.left_out |= reader.failed - failed
        reader.failed = failed
        reader.names.note_unreached(known)


def is_judgement(reader: Reader, error: ParserError) -> bool:
    """Whether an error only says that values or types do not fit, of a statement that nothing reaches."""
    return error.concerns_values and bool(reader.unreached) and not reader.module.printed
