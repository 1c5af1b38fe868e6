"""What stands in the parentheses of a scope: ``pl.at(...)``, ``pl.spmd(...)`` and their kin (spec, 6)."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.ir.attrs import SCOPE_ATTRS, SCOPE_LISTS
from pypto_tmpl.language.attributes import attribute_dict, listed, stored, variables
from pypto_tmpl.language.constants import enum_member, shown
from pypto_tmpl.language.dependencies import dependencies, predicate
from pypto_tmpl.language.diagnostics import ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.folding import boolean, integer, string
from pypto_tmpl.language.reader import Reader

_VARIABLES = {keyword: name for name, keyword in SCOPE_LISTS.items()}
COMMON = ("name_hint", "attrs")
AT = (*COMMON, "level", "role", "optimizations", *_VARIABLES, "allow_early_resolve", "windowize")
SPMD = (*COMMON, "sync_start", "optimizations", *_VARIABLES, "allow_early_resolve", "predicate")
RUNTIME = (*COMMON, "mode")


@dataclass(slots=True)
class ScopeOptions:
    """The keywords of a scope; ``attrs`` holds what the scope stores as attributes."""

    name_hint: str = ""
    level: ir.Level | None = None
    role: ir.Role | None = None
    split: ir.SplitMode = ir.SplitMode.NONE
    slot_num: int | None = None
    has_optimizations: bool = False
    sync_start: bool = False
    is_manual: bool = False
    attrs: dict[str, Any] = field(default_factory=dict)

    def stored(self, reader: Reader, node: ast.AST) -> ir.AttrMap:
        """The attributes in upstream's order, those that it does not know behind."""
        known = [name for name in SCOPE_ATTRS if name in self.attrs]
        others = [name for name in self.attrs if name not in known]
        return stored(reader, node, [(name, self.attrs[name]) for name in (*known, *others)])


def scope_options(
    reader: Reader, call: ast.Call, allowed: Sequence[str], but: Sequence[str] = ()
) -> ScopeOptions:
    """The keywords of a scope, of those that are ``allowed``; ``but`` are left to the caller."""
    found = ScopeOptions()
    for keyword in call.keywords:
        name = keyword.arg or ""
        if name in allowed:
            _read(reader, found, name, keyword.value)
        elif name not in but:
            hint = allowed_note("keywords", [*allowed, *but], name)
            message = f"{shown(call.func)} takes no keyword {name!r}"
            raise reader.error(ParserSyntaxError, keyword.value, message, hint)
    return found


def _read(reader: Reader, found: ScopeOptions, name: str, value: ast.expr) -> None:
    match name:
        case "name_hint":
            found.name_hint = string(reader, value, name)
            if found.name_hint and not (reader.module.printed or found.name_hint.isidentifier()):
                message = f"the name hint {found.name_hint!r} is no identifier"
                raise reader.error(ParserSyntaxError, value, message)
        case "level":
            found.level = enum_member(reader, value, ir.Level, name)
        case "role":
            found.role = enum_member(reader, value, ir.Role, name)
        case "mode":
            found.is_manual = _is_manual(reader, value)
        case "optimizations":
            _optimizations(reader, value, found)
        case "deps" | "no_dep_args" | "dumps":
            is_source = name == "deps" and not reader.module.printed
            read = dependencies(reader, value) if is_source else variables(reader, value, name)
            if name == "no_dep_args" and not reader.module.printed:
                _check_distinct(reader, value, name)
            found.attrs[_VARIABLES[name]] = read
        case "sync_start":
            found.sync_start = boolean(reader, value, name)
        case "allow_early_resolve" | "windowize":
            found.attrs[name] = boolean(reader, value, name)
        case "predicate":
            found.attrs[name] = predicate(reader, value)
        case "attrs":
            found.attrs.update(attribute_dict(reader, value, name))


def check_listed(reader: Reader, call: ast.Call, found: ScopeOptions, body: ir.Stmt) -> None:
    """What a scope lists of its arguments are variables that it reads: of others nothing would come."""
    if reader.module.printed or reader.errors:
        return
    used = {id(node) for node in ir.walk(body) if isinstance(node, ir.Var)}
    for keyword in call.keywords:
        if keyword.arg not in ("dumps", "no_dep_args"):
            continue
        for element, value in listed(keyword.value, found.attrs[_VARIABLES[keyword.arg]]):
            if id(value) not in used:
                message = (
                    f"{shown(element)} in {keyword.arg} is no argument of the scope, which does not read it"
                )
                raise reader.error(ParserTypeError, element, message)


def _check_distinct(reader: Reader, node: ast.expr, what: str) -> None:
    """Every variable of a list stands in it once."""
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else []
    for index, element in enumerate(elements):
        if shown(element) in map(shown, elements[:index]) and not isinstance(element, ast.Constant):
            raise reader.error(ParserSyntaxError, element, f"{shown(element)} stands twice in {what}")


def _is_manual(reader: Reader, node: ast.expr) -> bool:
    match node:
        case ast.Attribute(attr="AUTO" | "MANUAL" as mode):
            return mode == "MANUAL"
    message = "the mode of a run-time scope is pl.ScopeMode.AUTO or pl.ScopeMode.MANUAL"
    raise reader.error(ParserSyntaxError, node, message)


def _optimizations(reader: Reader, node: ast.expr, found: ScopeOptions) -> None:
    """``[pl.split(mode), pl.cross_core_slot(slot_num=N)]``."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        raise reader.error(ParserSyntaxError, node, "optimizations is a list")
    found.has_optimizations = True
    kinds: set[str] = set()
    for entry in node.elts:
        match entry:
            case ast.Call(func=ast.Attribute(attr="split" as kind), args=[mode], keywords=keywords):
                found.split = enum_member(reader, mode, ir.SplitMode, "the mode of pl.split")
            case ast.Call(func=ast.Attribute(attr="cross_core_slot" as kind), args=[], keywords=keywords):
                pass
            case _:
                hint = "known are pl.split(mode) and pl.cross_core_slot(slot_num=N)"
                raise reader.error(ParserSyntaxError, entry, f"unknown optimization {shown(entry)}", hint)
        if kind in kinds:
            raise reader.error(ParserSyntaxError, entry, f"pl.{kind} is given twice")
        kinds.add(kind)
        for keyword in keywords:
            if keyword.arg == "slot_num" and kind == "split" and not reader.module.printed:
                message = "slot_num= of pl.split is deprecated, use pl.cross_core_slot"
                reader.warn(entry, message, DeprecationWarning)
            if keyword.arg != "slot_num":
                raise reader.error(ParserSyntaxError, entry, f"unknown keyword {keyword.arg!r}")
            found.slot_num = integer(reader, keyword.value, "slot_num")
