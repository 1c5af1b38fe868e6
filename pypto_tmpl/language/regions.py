"""Scopes: ``with pl.at(...)`` and its kin, SPMD regions and split vector regions (spec, 6)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.attributes import stored
from pypto_tmpl.language.calls import variables
from pypto_tmpl.language.constants import boolean, enum_member, integer, shown, string, unsupported
from pypto_tmpl.language.diagnostics import ParserSyntaxError
from pypto_tmpl.language.expressions import expression, scalar
from pypto_tmpl.language.scopes import Reader
from pypto_tmpl.language.statements import assign, block, emit, reads

_INDEX = ir.ScalarType(ir.DataType.INDEX)
_TASK = ir.ScalarType(ir.DataType.TASK_ID)
_ATTR_KEYWORDS = {
    "deps": "manual_dep_edges",
    "no_dep_args": "arg_direction_overrides_vars",
    "dumps": "dump_vars",
}
_ATTR_ORDER = (
    "manual_dep_edges", "arg_direction_overrides_vars", "dump_vars", "task_id_var", "predicate",
    "allow_early_resolve", "slot_num", "windowize",
)  # fmt: skip
_SPMD_SUFFIX = "_spmd"


@dataclass(slots=True)
class _Options:
    """The keywords that scopes share."""

    name_hint: str = ""
    split: ir.SplitMode = ir.SplitMode.NONE
    has_optimizations: bool = False
    attrs: dict[str, Any] = field(default_factory=dict)
    sync_start: bool = False
    role: ir.Role | None = None
    level: ir.Level | None = None

    def stored(self, reader: Reader, node: ast.AST, names: Sequence[str] = _ATTR_ORDER) -> ir.AttrMap:
        """Those attributes, in upstream's order."""
        return stored(reader, node, [(name, self.attrs[name]) for name in names if name in self.attrs])


_AT = (
    "level",
    "role",
    "optimizations",
    "deps",
    "no_dep_args",
    "dumps",
    "allow_early_resolve",
    "name_hint",
    "windowize",
)
_SPMD = (
    "sync_start",
    "name_hint",
    "optimizations",
    "allow_early_resolve",
    "predicate",
    "deps",
    "dumps",
    "no_dep_args",
)


def _options(reader: Reader, call: ast.Call, allowed: Sequence[str]) -> _Options:
    found = _Options()
    for keyword in call.keywords:
        name, value = keyword.arg or "", keyword.value
        if name not in allowed:
            hint = allowed_note("keywords", allowed, name)
            message = f"{shown(call.func)} takes no keyword {name!r}"
            raise reader.error(ParserSyntaxError, value, message, hint)
        match name:
            case "name_hint":
                found.name_hint = string(reader, value, name)
            case "level":
                found.level = enum_member(reader, value, ir.Level, name)
            case "role":
                found.role = enum_member(reader, value, ir.Role, name)
            case "optimizations":
                _optimizations(reader, value, found)
            case "deps" | "no_dep_args" | "dumps":
                found.attrs[_ATTR_KEYWORDS[name]] = variables(reader, value, name)
            case "sync_start":
                found.sync_start = boolean(reader, value, name)
            case "allow_early_resolve" | "windowize":
                if boolean(reader, value, name):
                    found.attrs[name] = True
            case "predicate":
                found.attrs[name] = expression(reader, value)
    return found


def _optimizations(reader: Reader, node: ast.expr, found: _Options) -> None:
    """``[pl.split(mode), pl.cross_core_slot(slot_num=N)]``."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        raise reader.error(ParserSyntaxError, node, "optimizations is a list")
    found.has_optimizations = True
    for entry in node.elts:
        match entry:
            case ast.Call(func=ast.Attribute(attr="split"), args=[mode], keywords=keywords):
                found.split = enum_member(reader, mode, ir.SplitMode, "the mode of pl.split")
            case ast.Call(func=ast.Attribute(attr="cross_core_slot"), args=[], keywords=keywords):
                pass
            case _:
                hint = "known are pl.split(mode) and pl.cross_core_slot(slot_num=N)"
                raise reader.error(ParserSyntaxError, entry, f"unknown optimization {shown(entry)}", hint)
        for keyword in keywords:
            if keyword.arg != "slot_num":
                raise reader.error(ParserSyntaxError, entry, f"unknown keyword {keyword.arg!r}")
            found.attrs["slot_num"] = integer(reader, keyword.value, "slot_num")


@reads(ast.With)
def _with(reader: Reader, node: ast.With) -> None:
    if len(node.items) != 1:
        raise reader.error(ParserSyntaxError, node, "a `with` opens one scope", "nest two `with` statements")
    call, target = node.items[0].context_expr, node.items[0].optional_vars
    function = call.func if isinstance(call, ast.Call) else None
    name = function.attr if isinstance(function, ast.Attribute) else ""
    if not isinstance(call, ast.Call) or name not in _SCOPES:
        hint = allowed_note("scopes", [f"pl.{known}" for known in _SCOPES])
        raise unsupported(reader, call, f"the context manager {shown(call)}", hint)
    if target is not None and (name not in ("at", "spmd") or not isinstance(target, ast.Name)):
        raise reader.error(ParserSyntaxError, target, f"pl.{name} takes no `as {ast.unparse(target)}`")
    _SCOPES[name](reader, node, call, target if isinstance(target, ast.Name) else None)


def _task_id(reader: Reader, target: ast.Name | None, found: _Options, span: ir.Span) -> None:
    """``as tid``: a placeholder in front of the scope, which the printer hides."""
    if target is None:
        return
    value = ir.Call(ir.Op("system.task_invalid"), (), _TASK, span)
    assign(reader, target, target.id, _TASK, value, span)
    found.attrs["task_id_var"] = reader.names.find(target.id)


def _kernel_body(
    reader: Reader, body: Sequence[ast.stmt], span: ir.Span, first: ir.Stmt | None = None
) -> ir.Stmt:
    """The body of an InCore scope."""
    reader.kernel_depth += 1
    try:
        return block(reader, body, span, first)
    finally:
        reader.kernel_depth -= 1


def _at(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    span = reader.span(node)
    found = _options(reader, call, _AT)
    levels = [enum_member(reader, argument, ir.Level, "level") for argument in call.args[:1]]
    found.level = levels[0] if levels else found.level
    for argument in call.args[1:2]:
        found.role = enum_member(reader, argument, ir.Role, "role")
    if found.level is None or len(call.args) > 2:
        raise reader.error(ParserSyntaxError, call, "pl.at takes a level")
    _task_id(reader, target, found, span)
    if found.level is ir.Level.CORE_GROUP:
        if found.role is not None:
            raise reader.error(ParserSyntaxError, call, "pl.at(level=pl.Level.CORE_GROUP) takes no role")
        body = _kernel_body(reader, node.body, span)
        attrs = found.stored(reader, call)
        emit(reader, ir.InCoreScopeStmt(found.split, found.name_hint, body, span, attrs=attrs))
        return
    if found.has_optimizations:
        raise reader.error(ParserSyntaxError, call, "optimizations need level=pl.Level.CORE_GROUP")
    body = block(reader, node.body, span)
    attrs = found.stored(reader, call)
    emit(reader, ir.HierarchyScopeStmt(found.level, found.role, found.name_hint, body, span, attrs=attrs))


def _cluster(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    span = reader.span(node)
    found = _options(reader, call, ("name_hint",))
    _no_arguments(reader, call)
    emit(reader, ir.ClusterScopeStmt(found.name_hint, block(reader, node.body, span), span))


def _no_arguments(reader: Reader, call: ast.Call) -> None:
    if call.args:
        raise reader.error(ParserSyntaxError, call.args[0], f"{shown(call.func)} takes keywords only")


def _runtime(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    """``pl.scope()``, ``pl.scope(mode=pl.ScopeMode.MANUAL)``, ``pl.manual_scope()``."""
    span = reader.span(node)
    _no_arguments(reader, call)
    manual = isinstance(call.func, ast.Attribute) and call.func.attr == "manual_scope"
    for keyword in call.keywords:
        match keyword.value:
            case ast.Attribute(attr="AUTO" | "MANUAL" as mode) if keyword.arg == "mode" and not manual:
                manual = mode == "MANUAL"
            case _:
                message = "a run-time scope takes mode=pl.ScopeMode.AUTO or pl.ScopeMode.MANUAL"
                raise reader.error(ParserSyntaxError, keyword.value, message)
    emit(reader, ir.RuntimeScopeStmt(manual, "", block(reader, node.body, span), span))


def _core_num(reader: Reader, call: ast.Call) -> ir.Expr:
    if len(call.args) != 1:
        raise reader.error(ParserSyntaxError, call, "pl.spmd takes the number of blocks")
    return scalar(reader, call.args[0], "the number of blocks")


def _spmd(reader: Reader, node: ast.With, call: ast.Call, target: ast.Name | None) -> None:
    span = reader.span(node)
    core_num, found = _core_num(reader, call), _options(reader, call, _SPMD)
    _task_id(reader, target, found, span)
    if found.has_optimizations or (not _holds_kernel_scope(node.body) and _reads_block_index(node.body)):
        body = _kernel_body(reader, node.body, span)
        _emit_spmd(reader, call, core_num, found, _wrapped(reader, call, found, body, span), True, span)
        return
    body = block(reader, node.body, span)
    _emit_spmd(reader, call, core_num, found, body, False, span)


def _holds_kernel_scope(body: Sequence[ast.stmt]) -> bool:
    """Whether ``with pl.at(...)`` is the only statement."""
    match body:
        case [ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="at")))])]:
            return True
    return False


def _reads_block_index(body: Sequence[ast.stmt]) -> bool:
    names = (inner for root in body for inner in ast.walk(root) if isinstance(inner, ast.Attribute))
    return any(name.attr == "get_block_idx" for name in names)


def _wrapped(reader: Reader, call: ast.Call, found: _Options, body: ir.Stmt, span: ir.Span) -> ir.Stmt:
    """The InCore scope that an SPMD region implies; its name is that of the region without ``_spmd``."""
    attrs = found.stored(reader, call, ("slot_num",))
    return ir.InCoreScopeStmt(
        found.split, found.name_hint.removesuffix(_SPMD_SUFFIX), body, span, attrs=attrs
    )


def _emit_spmd(
    reader: Reader,
    call: ast.Call,
    core_num: ir.Expr,
    found: _Options,
    body: ir.Stmt,
    wrapped: bool,
    span: ir.Span,
) -> None:
    name = found.name_hint
    if wrapped and name and not name.endswith(_SPMD_SUFFIX):
        name += _SPMD_SUFFIX
    attrs = found.stored(reader, call, [key for key in _ATTR_ORDER if key != "slot_num"])
    emit(reader, ir.SpmdScopeStmt(core_num, found.sync_start, name, body, span, attrs=attrs))


def spmd_loop(reader: Reader, node: ast.For, call: ast.Call) -> None:
    """``for i in pl.spmd(n):``: every block runs the body with its own index."""
    span = reader.span(node)
    core_num, found = _core_num(reader, call), _options(reader, call, _SPMD)
    index = _index_assignment(reader, node, "tile.get_block_idx", span)
    reader.loops.append("spmd")
    try:
        body = _kernel_body(reader, node.body, span, index)
    finally:
        reader.loops.pop()
    _emit_spmd(reader, call, core_num, found, _wrapped(reader, call, found, body, span), True, span)


def _index_assignment(reader: Reader, node: ast.For, op: str, span: ir.Span) -> ir.Stmt:
    """``i = <index op>()``, the first statement of a region."""
    if not isinstance(node.target, ast.Name):
        raise reader.error(ParserSyntaxError, node.target, "the target of this loop is one name")
    variable = reader.names.define(node.target.id, _INDEX, reader.span(node.target))
    return ir.AssignStmt(variable, ir.Call(ir.Op(op), (), _INDEX, span), span)


def split_loop(reader: Reader, node: ast.For, call: ast.Call) -> None:
    """``for lane in pl.split_aiv(2, mode=...)``: both vector lanes run the body."""
    span = reader.span(node)
    mode = _split_mode(reader, call)
    index = _index_assignment(reader, node, "tile.get_subblock_idx", span)
    reader.splits.append(mode)
    reader.loops.append("split_aiv")
    try:
        body = block(reader, node.body, span, index)
    finally:
        reader.loops.pop()
        reader.splits.pop()
    region: ir.Stmt = ir.SplitAivScopeStmt(mode, 2, "", body, span)
    if not reader.kernel_depth and not ir.is_incore_type(reader.function_type):
        region = ir.InCoreScopeStmt(ir.SplitMode.NONE, "", region, span)
    emit(reader, region)


def _split_mode(reader: Reader, call: ast.Call) -> ir.SplitMode:
    match call:
        case ast.Call(args=[ast.Constant(value=2)], keywords=[ast.keyword(arg="mode", value=mode)]):
            found: ir.SplitMode = enum_member(reader, mode, ir.SplitMode, "mode")
            return found
    raise reader.error(ParserSyntaxError, call, "a split region is pl.split_aiv(2, mode=pl.SplitMode.X)")


_SCOPES: dict[str, Callable[[Reader, ast.With, ast.Call, ast.Name | None], None]] = {
    "at": _at,
    "cluster": _cluster,
    "scope": _runtime,
    "manual_scope": _runtime,
    "spmd": _spmd,
}
