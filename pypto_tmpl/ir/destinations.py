"""Statements of programs whose tiles are buffers: declarations, and writes with explicit destinations.

``t = buffer.at(allocation)`` declares a tile, ``buffer.write(t, call)`` computes a value over it, and
``buffer.copy(t, other)`` gives it the value of another tile. ``buffer.slot(reserved, pop)`` is the slot of a
pipe's buffer that a pop hands out.
"""

from __future__ import annotations

from typing import TypeGuard

from pypto_tmpl.ir.base import Expr, Stmt
from pypto_tmpl.ir.bodies import parts
from pypto_tmpl.ir.expr import Call, Op
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.program import Function, Program
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.stmt import AssignStmt, EvalStmt
from pypto_tmpl.ir.types import TileType

AT = "buffer.at"
WRITE = "buffer.write"
COPY = "buffer.copy"
SLOT = "buffer.slot"
OP_NAMES = frozenset({AT, WRITE, COPY, SLOT})


def declaration(tile: Var, allocation: Var) -> AssignStmt:
    """The statement that declares a tile, where its type says, in an allocation."""
    return AssignStmt(tile, Call(Op(AT), [allocation], tile.type, tile.span), tile.span)


def write(destination: Var, value: Expr, span: Span) -> EvalStmt:
    """The statement that computes a value over a declared tile."""
    return EvalStmt(Call(Op(WRITE), [destination, value], span), span)


def copy(destination: Var, source: Expr, span: Span) -> EvalStmt:
    """The statement that gives a declared tile the value of another one."""
    return EvalStmt(Call(Op(COPY), [destination, source], span), span)


def slot(tile: Var, reserved: Var, pop: Expr, span: Span) -> AssignStmt:
    """The statement that names the slot, of a buffer that a pipe has reserved, which a pop hands out."""
    return AssignStmt(tile, Call(Op(SLOT), [reserved, pop], tile.type, span), span)


def is_declaration(stmt: Stmt) -> TypeGuard[AssignStmt]:
    """Whether a statement declares a tile."""
    return isinstance(stmt, AssignStmt) and isinstance(stmt.value, Call) and stmt.value.op.name == AT


def written(stmt: Stmt) -> tuple[Var, Expr] | None:
    """The destination of a write or copy, and what it becomes; None for any other statement."""
    if not isinstance(stmt, EvalStmt) or not isinstance(stmt.expr, Call):
        return None
    call = stmt.expr
    if call.op.name not in (WRITE, COPY) or not call.args or not isinstance(call.args[0], Var):
        return None
    return call.args[0], call.args[-1]


def has_destinations(node: Program | Function) -> bool:
    """Whether tiles of a program are buffers that statements write."""
    functions = node.functions.values() if isinstance(node, Program) else [node]
    todo = [function.body for function in functions]
    seen: set[int] = set()  # in a blob, one statement may stand in very many places
    while todo:
        stmt = todo.pop()
        if is_declaration(stmt) or written(stmt) is not None:
            return True
        inner = parts(stmt)
        if inner and id(stmt) not in seen:
            seen.add(id(stmt))
            todo += inner
    return False


def is_buffer(value: Expr) -> bool:
    """Whether a value is a tile that lies in an allocation."""
    return isinstance(value.type, TileType) and value.type.memref is not None
