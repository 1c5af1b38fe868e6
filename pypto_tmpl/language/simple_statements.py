"""Statements without a target: expressions, returns, jumps, and branches (spec, 5.7 to 5.9)."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.language.calls import call
from pypto_tmpl.language.constants import SUBMITS, attribute_name, shown
from pypto_tmpl.language.diagnostics import InvalidOperationError, ParserSyntaxError, PythonSyntaxError
from pypto_tmpl.language.expressions import as_constant, expression, scalar
from pypto_tmpl.language.reached import reached, settled, truth
from pypto_tmpl.language.reader import Reader, Results
from pypto_tmpl.language.statements import block, emit, reads
from pypto_tmpl.language.static_statements import STATIC_STATEMENTS
from pypto_tmpl.language.yield_calls import is_yield, yield_target, yields
from pypto_tmpl.language.yields import define_results, read_yield

_NO_JUMPS = frozenset({"parallel", "unroll", "split_aiv", "spmd"})


@reads(ast.Expr)
def _expression_statement(reader: Reader, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        lines = [line.strip() for line in value.value.strip().splitlines()]
        reader.pending_comments += lines
        return
    if is_yield(value):
        read_yield(reader, value, [])
        return
    if isinstance(value, ast.Call) and (static := STATIC_STATEMENTS.get(attribute_name(value.func))):
        static(reader, value)
        return
    if isinstance(value, ast.Call) and attribute_name(value.func) in ("func_attr", "cond"):
        name = attribute_name(value.func)
        where = "first in a function" if name == "func_attr" else "first in a pl.while_ loop"
        raise reader.error(ParserSyntaxError, node, f"pl.{name} stands {where}")
    if isinstance(value, ast.Call) and attribute_name(value.func) in SUBMITS and not reader.module.printed:
        message = f"{shown(value.func)} stands alone on the right of an assignment"
        hint = "bind its results and its task id: `out, tid = ...`"
        raise reader.error(ParserSyntaxError, value, message, hint)
    reader.target, reader.root = "", value
    found = (
        call(reader, value, None, is_statement=True)
        if isinstance(value, ast.Call)
        else expression(reader, value)
    )
    effect = found if isinstance(found, ir.Expr) else as_constant(reader, value, found)
    emit(reader, ir.EvalStmt(effect, reader.span(node)))


@reads(ast.Return)
def _return(reader: Reader, node: ast.Return) -> None:
    if node.value is None:
        values: list[ast.expr] = []
    else:
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    emit(reader, ir.ReturnStmt([expression(reader, value) for value in values], reader.span(node)))


@reads(ast.Pass)
def _pass(reader: Reader, node: ast.Pass) -> None:
    pass


@reads(ast.Break)
@reads(ast.Continue)
def _jump(reader: Reader, node: ast.Break | ast.Continue) -> None:
    word = "break" if isinstance(node, ast.Break) else "continue"
    if not reader.loops:
        # Python itself refuses such text, so that it comes from pl.parse only.
        message = f"Failed to compile code from {reader.module.source.filename}: {word} outside a loop"
        raise reader.error(PythonSyntaxError, node, message)
    if reader.loops[-1] in _NO_JUMPS:
        raise reader.error(InvalidOperationError, node, f"{word} in a pl.{reader.loops[-1]} loop")
    span = reader.span(node)
    emit(reader, ir.BreakStmt(span) if isinstance(node, ast.Break) else ir.ContinueStmt(span))


@reads(ast.If)
def _if(reader: Reader, node: ast.If) -> None:
    span = reader.span(node)
    if not reader.module.printed:
        _check_yields(reader, node)
    condition = scalar(reader, node.test, "the condition of an if", ir.DataType.BOOL)
    outer, results = reader.results, Results()
    reader.results, taken = results, truth(settled(reader, condition))
    try:
        if yields(node.body) or yields(node.orelse):
            with reader.names.scope(), reached(reader, taken is not False):
                then_body = block(reader, node.body, span)
            results.yields = 0
            values, results.values = results.values, {} if taken is False else results.values
            with reader.names.scope():
                else_body = _else(reader, node, span, taken)
            results.values = values | results.values
        else:
            with reached(reader, taken is not False):
                then_body = block(reader, node.body, span)
            else_body = _else(reader, node, span, taken)
    finally:
        reader.results = outer
    emit(reader, ir.IfStmt(condition, then_body, else_body, define_results(reader, results, span), span))


def _check_yields(reader: Reader, node: ast.If) -> None:
    """Raise where one branch yields under names, and the other goes on without them."""
    for body, other in ((node.body, node.orelse), (node.orelse, node.body)):
        made = yield_target(body)
        is_left = bool(other) and isinstance(other[-1], ast.Return | ast.Break | ast.Continue)
        if isinstance(made, ast.Assign | ast.AnnAssign) and yield_target(other) is None and not is_left:
            target = made.target if isinstance(made, ast.AnnAssign) else made.targets[0]
            names = ast.unparse(target).strip("()")
            where = "the other branch" if other else "an else"
            message = f"one branch yields {names}, and the other does not"
            hint = f"end {where} with `{names} = pl.yield_(...)`, too"
            raise reader.error(ParserSyntaxError, made, message, hint)


def _else(reader: Reader, node: ast.If, span: ir.Span, taken: bool | None) -> ir.Stmt | None:
    with reached(reader, taken is not True):
        return block(reader, node.orelse, span) if node.orelse else None
