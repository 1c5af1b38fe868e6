"""Scopes: ``with pl.at(...)`` and its kin, SPMD scopes and split vector scopes (spec, 6)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from pypto_tmpl import ir, ops
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.assignments import assign, note_lane
from pypto_tmpl.language.constants import enum_member, shown, unsupported
from pypto_tmpl.language.diagnostics import ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.expressions import scalar
from pypto_tmpl.language.folding import integer
from pypto_tmpl.language.former_names import REPLACEMENTS
from pypto_tmpl.language.reader import HOST_LEVELS, Reader
from pypto_tmpl.language.scope_options import (
    AT,
    COMMON,
    RUNTIME,
    SPMD,
    ScopeOptions,
    check_listed,
    scope_options,
)
from pypto_tmpl.language.scope_rules import (
    check_context,
    check_dispatch,
    check_runtime,
    check_split,
    check_spmd,
)
from pypto_tmpl.language.statements import block, emit, reads
from pypto_tmpl.ops import facts

_INDEX = ir.ScalarType(ir.DataType.INDEX)
_TASK = ir.ScalarType(ir.DataType.TASK_ID)
_SPMD_SUFFIX = "_spmd"


@reads(ast.With)
def _with(reader: Reader, node: ast.With) -> None:
    if len(node.items) != 1:
        raise reader.error(ParserSyntaxError, node, "a `with` opens one scope", "nest two `with` statements")
    call, target = node.items[0].context_expr, node.items[0].optional_vars
    name = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
    if not isinstance(call, ast.Call) or name not in _SCOPES:
        gone = getattr(getattr(call, "func", call), "attr", "")
        hint = REPLACEMENTS.get(gone) or allowed_note("scopes", [f"pl.{known}" for known in _SCOPES])
        raise unsupported(reader, call, f"the context manager {shown(call)}", hint)
    if target is not None and (name not in ("at", "spmd") or not isinstance(target, ast.Name)):
        raise reader.error(ParserSyntaxError, target, f"pl.{name} takes no `as` with {shown(target)}")
    if not reader.module.printed:
        check_context(reader, node, call, name)
    reader.scopes.append(name)
    try:
        _SCOPES[name](reader, node, call, target if isinstance(target, ast.Name) else None)
    finally:
        reader.scopes.pop()


def _task_id(reader: Reader, target: ast.Name | None, found: ScopeOptions, span: ir.Span) -> None:
    """``as tid``: a placeholder in front of the scope, which the printer hides."""
    if target is None:
        return
    value = ops.call("system.task_invalid", span=span)
    assign(reader, target, target.id, _TASK, value, span)
    found.attrs["task_id_var"] = reader.names.find(target.id)


def _kernel_body(
    reader: Reader,
    body: Sequence[ast.stmt],
    span: ir.Span,
    first: ir.Stmt | None = None,
    split: ir.SplitMode = ir.SplitMode.NONE,
) -> ir.Stmt:
    """The body of an InCore scope."""
    reader.kernel_depth += 1
    is_split = split is not ir.SplitMode.NONE
    reader.scopes += ["split"] if is_split else []
    try:
        return block(reader, body, span, first)
    finally:
        reader.kernel_depth -= 1
        if is_split:
            reader.scopes.pop()


def _at(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    span = reader.span(node)
    found = scope_options(reader, call, AT)
    for argument in call.args[:1]:
        found.level = enum_member(reader, argument, ir.Level, "level")
    for argument in call.args[1:2]:
        found.role = enum_member(reader, argument, ir.Role, "role")
    level = found.level
    is_host_worker = found.role is ir.Role.SubWorker and level in HOST_LEVELS
    if is_host_worker and not reader.module.printed:
        message = "a scope of host level is no SubWorker"
        raise reader.error(ParserSyntaxError, call, message, "write a function of that level and role")
    if level is None or len(call.args) > 2:
        raise reader.error(ParserSyntaxError, call, "pl.at takes a level", "write pl.at(level=pl.Level.X)")
    if level is ir.Level.CORE_GROUP and found.role is not None:
        raise reader.error(ParserSyntaxError, call, "pl.at(level=pl.Level.CORE_GROUP) takes no role")
    if level is not ir.Level.CORE_GROUP and found.has_optimizations:
        raise reader.error(ParserSyntaxError, call, "optimizations need level=pl.Level.CORE_GROUP")
    _task_id(reader, target, found, span)
    if level is ir.Level.CORE_GROUP:
        if found.slot_num is not None:
            found.attrs["slot_num"] = found.slot_num
        body, attrs = _kernel_body(reader, node.body, span, split=found.split), found.stored(reader, call)
        check_listed(reader, call, found, body)
        emit(reader, ir.InCoreScopeStmt(found.split, found.name_hint, body, span, attrs=attrs))
    else:
        body, attrs = block(reader, node.body, span), found.stored(reader, call)
        check_listed(reader, call, found, body)
        emit(reader, ir.HierarchyScopeStmt(level, found.role, found.name_hint, body, span, attrs=attrs))


def _cluster(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    span = reader.span(node)
    found = _keywords_only(reader, call, COMMON)
    body = block(reader, node.body, span)
    emit(reader, ir.ClusterScopeStmt(found.name_hint, body, span, attrs=found.stored(reader, call)))


def _runtime(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    """``pl.scope()``, ``pl.scope(mode=pl.ScopeMode.MANUAL)`` and ``pl.manual_scope()``."""
    span = reader.span(node)
    is_short = isinstance(call.func, ast.Attribute) and call.func.attr == "manual_scope"
    found = _keywords_only(reader, call, COMMON if is_short else RUNTIME)
    is_manual = is_short or found.is_manual
    if not reader.module.printed:
        check_runtime(reader, call, is_manual)
    reader.scopes[-1] = "manual" if is_manual else "auto"
    body, attrs = block(reader, node.body, span), found.stored(reader, call)
    emit(reader, ir.RuntimeScopeStmt(is_manual, found.name_hint, body, span, attrs=attrs))


def _keywords_only(reader: Reader, call: ast.Call, allowed: Sequence[str]) -> ScopeOptions:
    if call.args:
        raise reader.error(ParserSyntaxError, call.args[0], f"{shown(call.func)} takes keywords only")
    return scope_options(reader, call, allowed)


def _spmd_options(reader: Reader, call: ast.Call) -> tuple[ir.Expr, ScopeOptions]:
    named = [keyword.value for keyword in call.keywords if keyword.arg == "core_num"]
    if len(call.args) + len(named) != 1:
        raise reader.error(ParserSyntaxError, call, "pl.spmd takes the number of blocks")
    count = (call.args or named)[0]
    core_num = scalar(reader, count, "the number of blocks")
    assert isinstance(core_num.type, ir.ScalarType)
    if not (core_num.type.dtype.is_int() or reader.module.printed):
        message = f"the number of blocks is an integer, and {shown(count)} is {core_num.type.dtype.name}"
        raise reader.error(ParserTypeError, count, message)
    if isinstance(core_num, ir.ConstInt) and core_num.value <= 0 and not reader.module.printed:
        message = "the number of blocks is positive"
        raise reader.error(ParserSyntaxError, count, message, concerns_values=True)
    return core_num, scope_options(reader, call, SPMD, but=("core_num",))


def _spmd(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    """``with pl.spmd(n):`` around kernel code, an InCore scope or the call of a kernel."""
    span = reader.span(node)
    core_num, found = _spmd_options(reader, call)
    _task_id(reader, target, found, span)
    is_kernel = not _holds_kernel_scope(node.body) and _reads_block_index(node.body)
    if found.has_optimizations or is_kernel:
        body = _in_core(found, _kernel_body(reader, node.body, span, split=found.split), span)
    else:
        if not (reader.module.printed or _holds_kernel_scope(node.body)):
            check_dispatch(reader, node)
        body = block(reader, node.body, span)
    attrs = found.stored(reader, call)
    check_listed(reader, call, found, body)
    emit(reader, ir.SpmdScopeStmt(core_num, found.sync_start, found.name_hint, body, span, attrs=attrs))


def _holds_kernel_scope(body: Sequence[ast.stmt]) -> bool:
    """Whether ``with pl.at(...)`` is the only statement."""
    match body:
        case [ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="at")))])]:
            return True
    return False


def _reads_block_index(body: Sequence[ast.stmt]) -> bool:
    names = (inner for root in body for inner in ast.walk(root) if isinstance(inner, ast.Attribute))
    return any(name.attr in facts.short_names("block_index") for name in names)


def _in_core(found: ScopeOptions, body: ir.Stmt, span: ir.Span) -> ir.Stmt:
    """The InCore scope that an SPMD scope implies; with a hint `q` it is `q` and the SPMD scope `q_spmd`."""
    attrs = {} if found.slot_num is None else {"slot_num": found.slot_num}
    name = found.name_hint.removesuffix(_SPMD_SUFFIX)
    found.name_hint = name + _SPMD_SUFFIX if found.name_hint else ""
    return ir.InCoreScopeStmt(found.split, name, body, span, attrs=attrs)


def spmd_loop(reader: Reader, node: ast.For, call: ast.Call) -> None:
    """``for i in pl.spmd(n):``: every block runs the body with its own index."""
    span = reader.span(node)
    if not reader.module.printed:
        check_spmd(reader, call, has_task=False)
    core_num, found = _spmd_options(reader, call)
    index = _index_assignment(reader, node, "tile.get_block_idx", span)
    reader.loops.append("spmd")
    try:
        body = _kernel_body(reader, node.body, span, index, found.split)
    finally:
        reader.loops.pop()
    body = _in_core(found, body, span)
    attrs = found.stored(reader, call)
    check_listed(reader, call, found, body)
    emit(reader, ir.SpmdScopeStmt(core_num, found.sync_start, found.name_hint, body, span, attrs=attrs))


def _index_assignment(reader: Reader, node: ast.For, op: str, span: ir.Span) -> ir.Stmt:
    """``i = <index op>()``, the first statement of such a scope."""
    if not isinstance(node.target, ast.Name):
        raise reader.error(ParserSyntaxError, node.target, "the target of this loop is one name")
    variable = reader.names.define(node.target.id, _INDEX, reader.span(node.target))
    value = ops.call(op, span=span)
    note_lane(reader, node.target.id, value)
    return ir.AssignStmt(variable, value, span)


def split_loop(reader: Reader, node: ast.For, call: ast.Call) -> None:
    """``for lane in pl.split_aiv(2, mode=...)``: both vector lanes run the body, each with its lane."""
    span = reader.span(node)
    found = scope_options(reader, call, COMMON, but=("mode",))
    modes = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    lanes = [integer(reader, argument, "the number of lanes") for argument in call.args]
    if len(modes) != 1 or lanes != [2]:
        message = "a split region is pl.split_aiv(2, mode=pl.SplitMode.X)"
        raise reader.error(ParserSyntaxError, call, message)
    mode = enum_member(reader, modes[0], ir.SplitMode, "mode")
    if not reader.module.printed:
        check_split(reader, call)
    index = _index_assignment(reader, node, "tile.get_subblock_idx", span)
    reader.splits.append(mode)
    reader.loops.append("split_aiv")
    try:
        body = block(reader, node.body, span, index)
    finally:
        reader.loops.pop()
        reader.splits.pop()
    attrs = found.stored(reader, call)
    scope: ir.Stmt = ir.SplitAivScopeStmt(mode, 2, found.name_hint, body, span, attrs=attrs)
    if not reader.kernel_depth and not ir.is_incore_type(reader.function_type):
        scope = ir.InCoreScopeStmt(ir.SplitMode.NONE, "", scope, span)
    emit(reader, scope)


_SCOPES: dict[str, Callable[[Reader, ast.With, ast.Call, ast.Name | None], None]] = {
    "at": _at,
    "cluster": _cluster,
    "scope": _runtime,
    "manual_scope": _runtime,
    "spmd": _spmd,
}
