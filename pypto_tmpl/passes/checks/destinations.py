"""Kernels whose tiles are buffers: what makes a tile says where it goes."""

from __future__ import annotations

from collections.abc import Iterator

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendFacts
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.destinations import COPY, OP_NAMES, SLOT, WRITE, is_buffer, is_declaration, written
from pypto_tmpl.ir.enums import is_incore_type
from pypto_tmpl.ir.extents import same_extents
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import definitions
from pypto_tmpl.ir.walking import walk
from pypto_tmpl.ops import facts

_TWO = 2


def destination_passing(
    function: ir.Function, findings: Findings, program: ir.Program, backend: BackendFacts | None
) -> None:
    """Tiles that lie in allocations of a kernel are declared, and written by statements that name them.

    No loop carries such a tile and no branch has one as its result. Views and second names of them are bound.
    """
    if not is_incore_type(function.func_type):
        return
    for stmt in statements(function.body):
        for what in _violations(stmt):
            findings.add(0, what, stmt.span)


def _violations(stmt: ir.Stmt) -> Iterator[str]:
    if isinstance(stmt, ir.AssignStmt):
        yield from _bound(stmt)
    elif isinstance(stmt, ir.EvalStmt) and isinstance(stmt.expr, ir.Call) and stmt.expr.op.name in OP_NAMES:
        yield from _stored(stmt, stmt.expr)
    else:
        for var in filter(is_buffer, definitions(stmt)):
            kind = "the result of a branch" if isinstance(stmt, ir.IfStmt) else "carried by a loop"
            yield f"the tile {var.name_hint!r} is {kind}, and has to be copied to a buffer"
        yield from (f"{name} stands in another expression" for name in _names_in(stmt))


def _bound(stmt: ir.AssignStmt) -> Iterator[str]:
    var, value = stmt.var, stmt.value
    name = f"the tile {var.name_hint!r}"
    if is_declaration(stmt):
        assert isinstance(value, ir.Call)
        if not is_buffer(var) or len(value.args) != 1 or value.args[0] is not _allocation(var):
            yield f"{name} is declared in another allocation than its type says"
    elif isinstance(value, ir.Call) and value.op.name == SLOT:
        if len(value.args) != _TWO or facts.of_value(value.args[1]).pipe_end != "pop":
            yield f"{name} is the slot of a pipe, and nothing takes it out of one"
    elif isinstance(value, ir.Call) and value.op.name in OP_NAMES:
        yield f"{value.op.name} makes no value for {var.name_hint!r}"
    elif isinstance(value, ir.Var) and is_buffer(value) and _allocation(value) is not _allocation(var):
        yield f"{name} is a second name of {value.name_hint!r}, which lies in another allocation"
    elif is_buffer(var) and not isinstance(value, ir.Var) and not _is_view(var, value):
        what = value.op.name if isinstance(value, ir.Call) else type(value).__name__
        yield f"{name} is made by {what}, which is given no destination"


def _stored(stmt: ir.EvalStmt, call: ir.Call) -> Iterator[str]:
    found = written(stmt)
    if found is None or len(call.args) != _TWO:
        yield f"{call.op.name} takes a declared tile and a value"
        return
    destination, value = found
    name = f"the tile {destination.name_hint!r}"
    if not is_buffer(destination):
        yield f"{name} is written, and lies in no allocation"
    if call.op.name == COPY and not isinstance(value, ir.Var):
        yield f"{name} is copied from what is no tile: write it"
    is_made_by_op = not (
        isinstance(value, ir.Call) and value.op.name in OP_NAMES or isinstance(value, ir.Var)
    )
    if call.op.name == WRITE and not is_made_by_op:
        yield f"{name} is written with what no op makes: copy it"
    one, other = destination.type, value.type
    if not isinstance(one, ir.TileType) or not isinstance(other, ir.TileType):
        yield f"{name} is given what is no tile"
    elif one.dtype != other.dtype or not same_extents(one.shape, other.shape):
        yield f"{name} is given a tile of another dtype or of other extents"


def _is_view(var: ir.Var, value: ir.Expr) -> bool:
    known = facts.of_value(value)
    if known.view_of is None or known.returned is not None or not isinstance(value, ir.Call):
        return False
    source = value.args[known.view_of]
    return is_buffer(source) and _allocation(source) is _allocation(var)


def _allocation(tile: ir.Expr) -> ir.Var | None:
    type_ = tile.type
    return type_.memref.base_ if isinstance(type_, ir.TileType) and type_.memref is not None else None


def _names_in(stmt: ir.Stmt) -> Iterator[str]:
    """The ops over buffers that a statement has in its conditions, bounds and values."""
    roots: list[ir.Expr] = []
    match stmt:
        case ir.EvalStmt():
            roots = [stmt.expr]
        case ir.ReturnStmt() | ir.YieldStmt():
            roots = [*stmt.value]
        case ir.IfStmt() | ir.WhileStmt():
            roots = [stmt.condition]
    for root in roots:
        yield from (
            node.op.name for node in walk(root) if isinstance(node, ir.Call) and node.op.name in OP_NAMES
        )
