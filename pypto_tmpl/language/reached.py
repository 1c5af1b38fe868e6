"""Code that no run reaches: the branch of a constant condition, a loop without rounds, what follows a return.

It is read and stays in the IR, as upstream has it, but it is not judged: a window that would be empty, or a
type that does not fit, says nothing of a kernel that never gets there. A statement that cannot even be built
then is left out. Names that do not exist and what the language lacks are errors there too.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference, constant_value
from pypto_tmpl.language.diagnostics import ParserError
from pypto_tmpl.language.reader import Reader
from pypto_tmpl.rewrite import substitute

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


def assigned_once(function: ast.FunctionDef) -> frozenset[str]:
    """The names that one statement of a function binds, and nothing else in it."""
    nodes = [*ast.walk(function)]
    parameters = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return frozenset(name for name, count in _stored(nodes).items() if count == 1) - parameters


def bound_by(function: ast.FunctionDef) -> Counter[str]:
    """How many statements of a function bind each name; what an inline function binds its caller sees."""
    return _stored(ast.walk(function))


def _stored(nodes: Iterable[ast.AST]) -> Counter[str]:
    names = (node for node in nodes if isinstance(node, ast.Name))
    return Counter(name.id for name in names if isinstance(name.ctx, ast.Store))


def note_constant(reader: Reader, name: str, variable: ir.Var, value: ir.Expr) -> None:
    """Remember what a variable is in every run: one that is assigned once, and from constants."""
    reader.constants.pop(variable, None)  # of an inline function's body that is read again
    if reader.module.printed:
        return
    once = assigned_once(reader.expanding[-1].node) if reader.expanding else reader.assigned_once
    if name not in once:
        return
    value = settled(reader, value)
    found, number = truth(value), constant_value(value)
    if found is not None:
        reader.constants[variable] = ir.ConstBool(found, value.span)
    elif number is not None or isinstance(value, ir.ConstFloat):
        reader.constants[variable] = value


def settled(reader: Reader, value: ir.Expr) -> ir.Expr:
    """``value`` with the constants that variables in it are in every run."""
    return substitute(value, reader.constants) if reader.constants else value


def has_rounds(start: ir.Expr, stop: ir.Expr, step: ir.Expr) -> bool:
    """Whether a counted loop may run its body."""
    length, by = constant_difference(stop, start), constant_value(step)
    return length is None or by is None or (length > 0 if by > 0 else length < 0)


def leaves(reader: Reader, statement: ir.Stmt) -> bool:
    """Whether nothing behind a statement is reached."""
    match statement:
        case ir.ReturnStmt() | ir.BreakStmt() | ir.ContinueStmt():
            return True
        case ir.SeqStmts(stmts=statements):
            return any(leaves(reader, inner) for inner in statements)
        case ir.IfStmt(condition=condition, then_body=then_body, else_body=else_body):
            taken = truth(settled(reader, condition))
            then_leaves = taken is False or leaves(reader, then_body)
            return then_leaves and (taken is True or (else_body is not None and leaves(reader, else_body)))
        case ir.ScopeStmt(body=body):
            return leaves(reader, body)
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
