"""Where scopes may stand, and what they may hold (spec, 6). Text of the printer is not asked."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.diagnostics import ParserSyntaxError
from pypto_tmpl.language.reader import Reader


def check_context(reader: Reader, node: ast.With, call: ast.Call, name: str) -> None:
    """The scope that a ``with`` opens may stand here."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=root)) if root in reader.module.language:
            pass
        case _:
            raise unsupported(reader, call, f"the context manager {shown(call)}")
    if name == "spmd":
        check_spmd(reader, call, has_task=node.items[0].optional_vars is not None)


def check_runtime(reader: Reader, call: ast.Call, is_manual: bool) -> None:
    """A run-time scope stands in no manual one, and an automatic one where the function has none itself."""
    if "manual" in reader.scopes:
        what = "a manual scope" if is_manual else "pl.scope()"
        raise reader.error(ParserSyntaxError, call, f"{what} stands inside a manual scope")
    if not is_manual and reader.auto_scope:
        message = "pl.scope() needs a function with auto_scope=False"
        raise reader.error(ParserSyntaxError, call, message, "write @pl.function(auto_scope=False)")


def check_spmd(reader: Reader, call: ast.Call, has_task: bool) -> None:
    """The keywords of ``pl.spmd`` go with one another and with what is around."""
    given = {keyword.arg for keyword in call.keywords}
    if "deps" in given and not has_task:
        message = "deps= of pl.spmd needs `as tid`"
        raise reader.error(ParserSyntaxError, call, message, "write `with pl.spmd(...) as tid:`")
    if "cluster" in reader.scopes:
        for name in ("allow_early_resolve", "predicate"):
            if name in given:
                raise reader.error(ParserSyntaxError, call, f"pl.spmd inside pl.cluster takes no {name}")
        if has_task:
            raise reader.error(ParserSyntaxError, call, "pl.spmd inside pl.cluster takes no `as`")


def check_dispatch(reader: Reader, node: ast.With) -> None:
    """``with pl.spmd(n):`` without kernel code of its own holds one call of a kernel."""
    calls, others = 0, 0
    for statement in node.body:
        match getattr(statement, "value", None):
            case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name(id="self"))):
                calls += 1
            case ast.Constant(value=str()):
                pass
            case _:
                others += 1
    if (calls, others) != (1, 0):
        message = "the body of pl.spmd is kernel code, an InCore scope or one call of a kernel"
        hint = "kernel code reads pl.tile.get_block_idx()"
        raise reader.error(ParserSyntaxError, node, message, hint)


def check_split(reader: Reader, call: ast.Call) -> None:
    """A split scope stands in no other, and in no scope that is split as a whole."""
    if reader.splits:
        raise reader.error(ParserSyntaxError, call, "a split region stands inside another")
    if reader.function_type is ir.FunctionType.InCore:
        message = "a split region stands inside a function declared InCore"
        hint = "write it in an orchestration function, which makes it a kernel"
        raise reader.error(ParserSyntaxError, call, message, hint)
    if "split" in reader.scopes:
        message = "a split region stands inside a scope with pl.split(...)"
        raise reader.error(ParserSyntaxError, call, message, "leave out the split of the scope")
