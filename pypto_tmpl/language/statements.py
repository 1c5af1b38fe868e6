"""Statements: assignments, yields, returns and branches; loops and scopes register themselves."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.language.annotated import annotated_type, check_annotation, retyped
from pypto_tmpl.language.calls import call
from pypto_tmpl.language.constants import shown, type_text, unsupported
from pypto_tmpl.language.diagnostics import (
    InvalidOperationError,
    ParserError,
    ParserSyntaxError,
    ParserTypeError,
    PassedOverError,
    SSAViolationError,
)
from pypto_tmpl.language.expressions import as_constant, expression, int_constant, operand, scalar
from pypto_tmpl.language.inlining import reads_statements
from pypto_tmpl.language.limits import as_parser_error
from pypto_tmpl.language.scopes import FREE_SUFFIX, Reader, ReassignedError, Results, SecondDefinitionError
from pypto_tmpl.language.static_statements import STATIC_STATEMENTS
from pypto_tmpl.language.subscripts import written
from pypto_tmpl.language.types import annotation

_STATEMENTS: dict[type[ast.stmt], Callable[[Reader, Any], None]] = {}
_UNSUPPORTED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.AugAssign: ("an augmented assignment", "write x = x + y"),
    ast.Try: ("try", None),
    ast.Raise: ("raise", None),
    ast.Assert: ("assert", None),
    ast.FunctionDef: ("a nested function", None),
    ast.AsyncFunctionDef: ("an async function", None),
    ast.ClassDef: ("a nested class", None),
    ast.Import: ("an import inside a function", None),
    ast.ImportFrom: ("an import inside a function", None),
    ast.Delete: ("del", None),
    ast.Global: ("global", None),
    ast.Nonlocal: ("nonlocal", None),
    ast.Match: ("match", None),
    ast.AsyncFor: ("async for", None),
    ast.AsyncWith: ("async with", None),
}
_SUBMITS = frozenset({"submit", "spmd_submit"})
_MOST_ERRORS = 20  # of one function
_NO_JUMPS = frozenset({"parallel", "unroll", "split_aiv", "spmd"})


def reads(
    kind: type[ast.stmt],
) -> Callable[[Callable[[Reader, Any], None]], Callable[[Reader, Any], None]]:
    """Register a function as the reader of a kind of statement."""

    def register(function: Callable[[Reader, Any], None]) -> Callable[[Reader, Any], None]:
        _STATEMENTS[kind] = function
        return function

    return register


def block(reader: Reader, body: Sequence[ast.stmt], span: ir.Span, first: ir.Stmt | None = None) -> ir.Stmt:
    """The statements of a body: one is itself, none or several are a sequence at ``span``."""
    outer, reader.statements = reader.statements, [] if first is None else [first]
    is_whole = True
    try:
        for node in body:
            try:
                statement(reader, node)
            except ParserError as error:
                is_whole = False
                _pass_over(reader, node, error)
        found = reader.statements
    finally:
        reader.statements = outer
    if not is_whole:
        raise PassedOverError("a statement of the block has an error", span)
    return found[0] if len(found) == 1 else ir.SeqStmts(found, span)


def _pass_over(reader: Reader, node: ast.stmt, error: ParserError) -> None:
    """Keep an error for later, and go on without the names that the statement would have bound."""
    reader.pending_comments = []
    if not isinstance(error, PassedOverError) and len(reader.errors) < _MOST_ERRORS:
        reader.errors.append(error)
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                reader.failed.add(name)


@reads_statements
def statement(reader: Reader, node: ast.stmt) -> None:
    """Read one statement into the current block, with the comments in front of it and beside it."""
    read = _STATEMENTS.get(type(node))
    if read is None:
        what, hint = _UNSUPPORTED.get(type(node), (f"a {type(node).__name__}", None))
        raise unsupported(reader, node, what, hint)
    source, count = reader.module.source, len(reader.statements)
    comments = (
        [*reader.pending_comments, *_comments(reader, node)]
        if reader.comments.remain
        else reader.pending_comments
    )
    reader.pending_comments = []
    try:
        read(reader, node)
    except ParserError:
        raise
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise as_parser_error(source, node, error) from error
    if comments:
        _attach(reader, comments, count)


def _comments(reader: Reader, node: ast.stmt) -> list[str]:
    """Comments above a statement, on the header of a compound one, on the lines of a simple one."""
    match node:
        case ast.For(iter=header) | ast.If(test=header) | ast.While(test=header):
            last = header.end_lineno
        case ast.With(items=items):
            last = items[-1].context_expr.end_lineno
        case _:
            last = node.end_lineno
    above = reader.comments.take(node.lineno, node.col_offset)
    return above + reader.comments.take((last or node.lineno) + 1)


def _attach(reader: Reader, comments: list[str], count: int) -> None:
    """Give comments to the statement they stand at; one that emits nothing hands them on."""
    emitted = reader.statements[count:]
    scopes = [found for found in emitted if isinstance(found, ir.ScopeStmt)]
    if emitted:
        owner = scopes[0] if scopes else emitted[0]  # not the hidden placeholder of a scope's task id
        ir.attach_leading_comments(owner, [*comments, *owner.leading_comments])
    else:
        reader.pending_comments = [*comments, *reader.pending_comments]


def emit(reader: Reader, found: ir.Stmt) -> None:
    """Append a statement to the current block."""
    reader.statements.append(found)


def assign(reader: Reader, node: ast.expr, name: str, type_: ir.Type, value: ir.Expr, span: ir.Span) -> None:
    """Bind ``name`` to a value."""
    try:
        variable = reader.names.assign(name, type_, span)
        reader.failed.discard(name)
    except SecondDefinitionError as error:
        message = f"{name!r} is assigned twice, which strict_ssa forbids"
        lines = reader.module.source.lines_of(span)
        raise SSAViolationError(message, span, error.before, source_lines=lines) from None
    except ReassignedError as error:
        note = f"it is {type_text(error.before)} and would become {type_text(error.after)}"
        message = f"Cannot reassign {name!r} with another type"
        raise reader.error(ParserTypeError, node, message, "use another name", note) from None
    reader.dump_tags.discard(variable)
    emit(reader, ir.AssignStmt(variable, value, span))


@reads(ast.AnnAssign)
def _annotated(reader: Reader, node: ast.AnnAssign) -> None:
    target, value_node = node.target, node.value
    if not isinstance(target, ast.Name):
        raise reader.error(ParserSyntaxError, target, f"{shown(target)} is no name to assign to")
    if value_node is None:
        raise reader.error(ParserSyntaxError, node, f"{target.id!r} is declared without a value")
    if is_yield(value_node):
        _yield(reader, value_node, [(target, node.annotation)])
        return
    type_ = _annotation(reader, node.annotation)
    value = _value(reader, target.id, value_node, type_)
    is_call = isinstance(value_node, ast.Call) and isinstance(value, (ir.Call, ir.Submit))
    if _is_alias(reader, target.id, value_node, value):
        return
    if type_ is None:
        type_ = value.type
    elif not reader.module.printed:
        type_ = annotated_type(reader, node.annotation, type_, value)
        value = retyped(value, type_)
    elif not is_call:
        check_annotation(reader, node.annotation, type_, value.type)
    assign(reader, target, target.id, type_, value, reader.span(node))


def _is_alias(reader: Reader, name: str, node: ast.expr, value: ir.Expr) -> bool:
    """Whether ``name = pl.tensor.dim(x, 0)`` names a dimension, which needs no statement."""
    if not (isinstance(value, ir.Var) and isinstance(node, ast.Call) and _attribute_name(node.func) == "dim"):
        return False
    reader.names.stand_for(name, value)
    return True


def _annotation(reader: Reader, node: ast.expr) -> ir.Type | None:
    """The type of an annotation, None for a string; types without names of variables are read once."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return None
    return annotation(reader, node)


def _value(reader: Reader, name: str, node: ast.expr, type_: ir.Type | None) -> ir.Expr:
    """The value of an assignment; a bare integer takes the dtype of the annotation."""
    reader.target, reader.root = name, node
    if isinstance(node, ast.Name) and node.id.endswith(FREE_SUFFIX) and not reader.names.find(node.id):
        return reader.names.free(node.id, type_)
    found = call(reader, node, type_) if isinstance(node, ast.Call) else operand(reader, node)
    if isinstance(found, ir.Expr):
        return found
    if type(found) is int and isinstance(type_, ir.ScalarType) and type_.dtype.is_int():
        return int_constant(reader, node, found, type_.dtype)
    return as_constant(reader, node, found)


@reads(ast.Assign)
def _assigned(reader: Reader, node: ast.Assign) -> None:
    if len(node.targets) != 1:
        raise reader.error(
            ParserSyntaxError, node, "a chained assignment binds several names", "write one each"
        )
    match node.targets[0]:
        case ast.Name(id=name) as target:
            if is_yield(node.value):
                _yield(reader, node.value, [(target, None)])
                return
            value = _value(reader, name, node.value, None)
            if not _is_alias(reader, name, node.value, value):
                assign(reader, target, name, value.type, value, reader.span(node))
        case ast.Tuple(elts=elements) | ast.List(elts=elements) as target:
            _unpacked(reader, node, target, elements)
        case ast.Subscript() as target:
            name_node, value = written(reader, target, node.value)
            assign(reader, name_node, name_node.id, value.type, value, reader.span(node))
        case target:
            raise reader.error(ParserSyntaxError, target, f"{shown(target)} is no name to assign to")


def _unpacked(reader: Reader, node: ast.Assign, target: ast.expr, elements: list[ast.expr]) -> None:
    """``a, b = ...``: the yield of a loop or branch, or a tuple that is taken apart."""
    is_submit = isinstance(node.value, ast.Call) and _attribute_name(node.value.func) in _SUBMITS
    if is_submit and not reader.module.printed:
        elements = _submit_targets(reader, target, elements)
    names: list[ast.Name] = []
    for element in elements:
        if not isinstance(element, ast.Name):
            raise reader.error(ParserSyntaxError, element, f"{shown(element)} is no name to assign to")
        names.append(element)
    if is_yield(node.value):
        _yield(reader, node.value, [(name, None) for name in names])
        return
    span = reader.span(node)
    value = _value(reader, "", node.value, None)
    if not isinstance(value.type, ir.TupleType) or len(value.type.types) != len(names):
        message = f"{len(names)} names are assigned from a {type(value.type).__name__}"
        if isinstance(value.type, ir.TupleType):
            message = f"{len(names)} names are assigned from {len(value.type.types)} values"
        raise reader.error(ParserSyntaxError, target, message)
    temporary = ir.Var("_submit_tmp" if is_submit else "_tuple_tmp", value.type, span)
    emit(reader, ir.AssignStmt(temporary, value, span))
    for index, name in enumerate(names):
        part = ir.TupleGetItemExpr(temporary, index, span)
        assign(reader, name, name.id, part.type, part, span)


def _submit_targets(reader: Reader, target: ast.expr, elements: list[ast.expr]) -> list[ast.expr]:
    """``out, tid`` or ``(a, b), tid``: the results, and the task id last."""
    if len(elements) != 2:
        message = f"a submit gives its results and a task id, and {shown(target)} has {len(elements)} targets"
        hint = "write `out, tid = ...` or `(a, b), tid = ...`"
        raise reader.error(ParserSyntaxError, target, message, hint)
    results, task = elements
    return [*(results.elts if isinstance(results, (ast.Tuple, ast.List)) else [results]), task]


def _attribute_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


def is_yield(node: ast.expr) -> bool:
    """Whether an expression is ``pl.yield_(...)``."""
    return isinstance(node, ast.Call) and _attribute_name(node.func) == "yield_"


def _yield(reader: Reader, node: ast.expr, targets: list[tuple[ast.Name, ast.expr | None]]) -> None:
    """A yield; its targets are what the enclosing loop or branch defines."""
    assert isinstance(node, ast.Call)
    if node.keywords:
        raise reader.error(ParserSyntaxError, node, "pl.yield_ takes values only")
    values = [expression(reader, value) for value in node.args]
    if targets and len(targets) != len(values):
        message = f"Mismatch: {len(targets)} names for {len(values)} yielded values"
        raise reader.error(ParserSyntaxError, node, message)
    results = reader.results
    if results is not None:
        results.yields += 1
        if results.yields > 1:
            raise reader.error(ParserSyntaxError, node, "a body yields once", "yield all values together")
        if results.needs_names and not targets and not reader.module.printed:
            message = "the yield of a loop that carries values names its results"
            raise reader.error(ParserSyntaxError, node, message, "write `out = pl.yield_(...)`")
    if targets and results is None:
        message = "pl.yield_ defines names only in a loop or a branch"
        raise reader.error(ParserSyntaxError, node, message)
    if results is not None:
        results.has_bare_yield |= not targets
        for (target, spelled), value in zip(targets, values, strict=False):
            type_ = None if spelled is None else _annotation(reader, spelled)
            if results.types.get(target.id) is None:
                results.types[target.id] = type_
            results.values.setdefault(target.id, value.type)
    emit(reader, ir.YieldStmt(values, reader.span(node)))


def define_results(
    reader: Reader, results: Results, span: ir.Span, types: Sequence[ir.Type] = ()
) -> list[ir.Var]:
    """The variables that a loop or branch defines; ``types`` are those of the loop's carried values."""
    found = []
    for index, (name, type_) in enumerate(results.types.items()):
        if type_ is None:
            type_ = types[index] if index < len(types) else results.values[name]
        found.append(reader.names.define(name, type_, span))
        reader.failed.discard(name)
    return found


@reads(ast.Expr)
def _expression_statement(reader: Reader, node: ast.Expr) -> None:
    value = node.value
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        lines = [line.strip() for line in value.value.strip().splitlines()]
        reader.pending_comments += lines
        return
    if is_yield(value):
        _yield(reader, value, [])
        return
    if isinstance(value, ast.Call) and (static := STATIC_STATEMENTS.get(_attribute_name(value.func))):
        static(reader, value)
        return
    if isinstance(value, ast.Call) and _attribute_name(value.func) in ("func_attr", "cond"):
        name = _attribute_name(value.func)
        where = "first in a function" if name == "func_attr" else "first in a pl.while_ loop"
        raise reader.error(ParserSyntaxError, node, f"pl.{name} stands {where}")
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
        raise reader.error(InvalidOperationError, node, f"{word} outside a loop")
    if reader.loops[-1] in _NO_JUMPS:
        raise reader.error(InvalidOperationError, node, f"{word} in a pl.{reader.loops[-1]} loop")
    span = reader.span(node)
    emit(reader, ir.BreakStmt(span) if isinstance(node, ast.Break) else ir.ContinueStmt(span))


@reads(ast.If)
def _if(reader: Reader, node: ast.If) -> None:
    span = reader.span(node)
    condition = scalar(reader, node.test, "the condition of an if", ir.DataType.BOOL)
    outer, results = reader.results, Results()
    reader.results = results
    try:
        if yields(node.body) or yields(node.orelse):
            with reader.names.scope():
                then_body = block(reader, node.body, span)
            results.yields = 0
            with reader.names.scope():
                else_body = block(reader, node.orelse, span) if node.orelse else None
        else:
            then_body = block(reader, node.body, span)
            else_body = block(reader, node.orelse, span) if node.orelse else None
    finally:
        reader.results = outer
    emit(reader, ir.IfStmt(condition, then_body, else_body, define_results(reader, results, span), span))


def yields(body: Sequence[ast.stmt]) -> bool:
    """Whether a body yields, itself or in a scope that it opens."""
    return yield_target(body) is not None


def yield_target(body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The statement that yields in a body."""
    for node in reversed(body):
        match node:
            case ast.AnnAssign(value=ast.Call() as value) | ast.Assign(value=ast.Call() as value):
                if is_yield(value):
                    return node
            case ast.Expr(value=ast.Call() as value):
                if is_yield(value):
                    return node
            case (
                ast.With(body=inner)
                | ast.For(iter=ast.Call(func=ast.Attribute(attr="split_aiv")), body=inner)
            ):
                if (found := yield_target(inner)) is not None:
                    return found
    return None
