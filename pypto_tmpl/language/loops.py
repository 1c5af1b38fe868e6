"""Loops: ``for`` over pl.range and its kin, ``while``, and their carried values (spec, 5.5 and 5.6)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.attributes import attribute_dict, stored
from pypto_tmpl.language.constants import shown
from pypto_tmpl.language.diagnostics import ParserSyntaxError, ParserTypeError
from pypto_tmpl.language.expressions import expression, scalar
from pypto_tmpl.language.folding import integer
from pypto_tmpl.language.reached import has_rounds, reached, settled, truth
from pypto_tmpl.language.reader import FREE_SUFFIX, Reader, Results
from pypto_tmpl.language.scopes import split_loop, spmd_loop
from pypto_tmpl.language.statements import block, emit, reads
from pypto_tmpl.language.types import annotation
from pypto_tmpl.language.yield_calls import yield_target
from pypto_tmpl.language.yields import define_results

_KINDS = {
    "range": ir.ForKind.Sequential,
    "parallel": ir.ForKind.Parallel,
    "unroll": ir.ForKind.Unroll,
    "pipeline": ir.ForKind.Pipeline,
}
_GONE = {
    "chunk": "leave it out: loops are not cut into chunks",  # of other versions
    "stage": "pl.pipeline has stages",
    "step": "write the bounds as pl.range(start, stop, step)",
}
_KEYWORDS = ("init_values", "attrs")


@dataclass(slots=True)
class _Header:
    """What stands in the parentheses of a loop."""

    bounds: list[ir.Expr]
    init_nodes: list[ast.expr] = field(default_factory=list)
    has_init: bool = False
    attrs: list[tuple[str, Any]] = field(default_factory=list)


@reads(ast.For)
def _for(reader: Reader, node: ast.For) -> None:
    match node.iter:
        case ast.Call(func=ast.Attribute(attr="range" | "parallel" | "unroll" | "pipeline" as kind)) as call:
            _counted(reader, node, call, kind)
        case ast.Call(func=ast.Attribute(attr="while_")) as call:
            _carried_while(reader, node, call)
        case ast.Call(func=ast.Attribute(attr="spmd")) as call:
            spmd_loop(reader, node, call)
        case ast.Call(func=ast.Attribute(attr="split_aiv")) as call:
            split_loop(reader, node, call)
        case call:
            message = f"a loop runs over pl.range and its kin, not over {shown(call)}"
            hint = allowed_note("loops", ["pl.range", "pl.parallel", "pl.unroll", "pl.pipeline", "pl.while_"])
            raise reader.error(ParserSyntaxError, node.iter, message, hint)


def _counted(reader: Reader, node: ast.For, call: ast.Call, kind: str) -> None:
    span = reader.span(node)
    header = _header(reader, call, kind)
    if kind == "unroll" and not reader.module.printed:
        _check_unrolled(reader, call, header)
    start, stop, step = _bounds(reader, call, header.bounds)
    if isinstance(step, ir.ConstInt) and step.value == 0 and not reader.module.printed:
        message = f"the step of pl.{kind} is 0"
        raise reader.error(ParserSyntaxError, call.args[2], message, concerns_values=True)
    loop_name, carried = _targets(reader, node.target, header)
    variable_type = ir.ScalarType(_loop_dtype(header.bounds))
    initial = [_initial(reader, value, node.body, index) for index, value in enumerate(header.init_nodes)]
    scope: AbstractContextManager[None] = reader.names.scope() if header.has_init else nullcontext()
    carried_types = tuple(value.type for value in initial) if header.has_init else None
    results = Results(needs_names=header.has_init, carried=carried_types)
    with scope:
        loop_var = reader.names.define(loop_name, variable_type, reader.span(node.target))
        iter_args = _carry(reader, carried, initial)
        bounds = (settled(reader, bound) for bound in (start, stop, step))
        with _loop(reader, kind, results), reached(reader, has_rounds(*bounds)):
            body = block(reader, node.body, span)
    return_vars = _return_vars(reader, results, iter_args, span)
    attrs = stored(reader, call, header.attrs)
    loop = ir.ForStmt(loop_var, start, stop, step, iter_args, body, return_vars, span, _KINDS[kind], attrs)
    emit(reader, loop)


def _check_unrolled(reader: Reader, call: ast.Call, header: _Header) -> None:
    values = [bound.value for bound in header.bounds if isinstance(bound, ir.ConstInt)]
    if len(values) != len(header.bounds):
        raise reader.error(ParserSyntaxError, call, "the bounds of pl.unroll are constants")
    if header.has_init:
        raise reader.error(ParserSyntaxError, call, "pl.unroll carries no values", "use pl.range")


@contextmanager
def _loop(reader: Reader, kind: str, results: Results) -> Iterator[None]:
    """Inside the loop: its yields, and where break and continue lead."""
    outer, reader.results = reader.results, results
    reader.loops.append(kind)
    try:
        yield
    finally:
        reader.loops.pop()
        reader.results = outer


def _header(reader: Reader, call: ast.Call, kind: str) -> _Header:
    header = _Header([_bound(reader, bound) for bound in call.args])
    stage: list[tuple[str, Any]] = []
    for keyword in call.keywords:
        value = keyword.value
        match keyword.arg:
            case "init_values" if isinstance(value, (ast.Tuple, ast.List)):
                header.init_nodes, header.has_init = value.elts, True
            case "init_values":
                raise reader.error(ParserSyntaxError, value, "init_values is a list or tuple literal")
            case "attrs":
                header.attrs = attribute_dict(reader, value, "attrs")
            case "stage" if kind == "pipeline":
                stage = [("pipeline_stages", integer(reader, value, "stage"))]
            case _:
                known = [*_KEYWORDS, "stage"] if kind == "pipeline" else _KEYWORDS
                hint = _GONE.get(keyword.arg or "") or allowed_note("keywords", known, keyword.arg or "")
                message = f"pl.{kind} takes no keyword {keyword.arg!r}"
                raise reader.error(ParserSyntaxError, value, message, hint)
    if kind == "pipeline":
        if not stage or stage[0][1] < 1:
            message = "pl.pipeline needs stage=N, an integer of at least 1"
            raise reader.error(ParserSyntaxError, call, message, concerns_values=True)
        header.attrs = stage + [entry for entry in header.attrs if entry[0] != "pipeline_stages"]
    return header


def _bound(reader: Reader, node: ast.expr) -> ir.Expr:
    found = scalar(reader, node, "the bound of a loop")
    assert isinstance(found.type, ir.ScalarType)
    if not (found.type.dtype.is_int() or reader.module.printed):
        message = f"the bound of a loop is an integer, and {shown(node)} is {found.type.dtype.name}"
        raise reader.error(ParserTypeError, node, message)
    return found


def _bounds(reader: Reader, call: ast.Call, bounds: list[ir.Expr]) -> tuple[ir.Expr, ir.Expr, ir.Expr]:
    span = reader.span(call)
    zero, one = (ir.ConstInt(value, ir.DataType.INDEX, span) for value in (0, 1))
    match bounds:
        case [stop]:
            return zero, stop, one
        case [start, stop]:
            return start, stop, one
        case [start, stop, step]:
            return start, stop, step
    raise reader.error(ParserSyntaxError, call, f"a loop has one to three bounds, not {len(bounds)}")


def _loop_dtype(bounds: Sequence[ir.Expr]) -> ir.DataType:
    """INDEX, unless constant bounds agree on another dtype."""
    dtypes = [bound.dtype for bound in bounds if isinstance(bound, ir.ConstInt)]
    if not dtypes or ir.DataType.INDEX in dtypes:
        return ir.DataType.INDEX
    return dtypes[0]


def _targets(reader: Reader, target: ast.expr, header: _Header) -> tuple[str, list[ast.Name]]:
    """The loop variable, and the names of the carried values."""
    match target:
        case ast.Name(id=name):
            if header.has_init:
                message = "init_values need names for the carried values"
                raise reader.error(ParserSyntaxError, target, message, "write `for i, (a,) in ...`")
            return name, []
        case ast.Tuple(elts=[ast.Name(id=name), ast.Tuple(elts=carried)]):
            return name, _carried_names(reader, target, carried, header)
    message = f"the target of a loop is `i` or `i, (a, b)`, not {shown(target)}"
    raise reader.error(ParserSyntaxError, target, message)


def _carried_names(
    reader: Reader, target: ast.expr, carried: list[ast.expr], header: _Header
) -> list[ast.Name]:
    names = [node for node in carried if isinstance(node, ast.Name)]
    if len(names) != len(carried):
        raise reader.error(ParserSyntaxError, target, "carried values are names")
    if len(names) != len(header.init_nodes):
        message = f"Mismatch: {len(names)} carried names for {len(header.init_nodes)} init_values"
        raise reader.error(ParserSyntaxError, target, message)
    return names


def _carry(reader: Reader, names: list[ast.Name], initial: list[ir.Expr]) -> list[ir.IterArg]:
    return [
        reader.names.carry(node.id, value, reader.span(node))
        for node, value in zip(names, initial, strict=True)
    ]


def _initial(reader: Reader, node: ast.expr, body: list[ast.stmt], index: int) -> ir.Expr:
    """An initial value; a placeholder that nothing defines has the type of what the loop yields for it."""
    if isinstance(node, ast.Name) and node.id.endswith(FREE_SUFFIX) and not reader.names.find(node.id):
        return reader.names.free(node.id, _yielded_type(reader, body, index))
    return expression(reader, node)


def _yielded_type(reader: Reader, body: list[ast.stmt], index: int) -> ir.Type | None:
    """The annotated type of the value that a body yields at a position, before the body is read."""
    match yield_target(body):
        case ast.AnnAssign(annotation=spelled):
            return annotation(reader, spelled)
        case ast.Assign(value=ast.Call(args=args)) | ast.Expr(value=ast.Call(args=args)) if index < len(args):
            value = args[index]
            return _annotated_type(reader, body, value.id) if isinstance(value, ast.Name) else None
    return None


def _annotated_type(reader: Reader, body: list[ast.stmt], name: str) -> ir.Type | None:
    """The type that the definition of a name in a body spells."""
    known = reader.names.find(name)
    if known is not None:
        return known.type
    for root in body:
        for node in ast.walk(root):
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id == name
            ):
                return annotation(reader, node.annotation)
            if isinstance(node, ast.For) and (target := yield_target(node.body)) is not None:
                match target:
                    case ast.Assign(targets=[ast.Tuple(elts=elements)]):
                        position = [getattr(element, "id", "") for element in elements]
                        if name in position:
                            return _yielded_type(reader, node.body, position.index(name))
    return None


def _return_vars(
    reader: Reader, results: Results, iter_args: Sequence[ir.IterArg], span: ir.Span
) -> list[ir.Var]:
    """What the loop defines; carried values that nothing yields still have results."""
    if not results.types and not results.has_bare_yield:
        results.types = {f"{arg.name_hint}_out": arg.type for arg in iter_args}
        if iter_args:
            reader.without_yield.append((span.begin_line, [arg.name_hint for arg in iter_args]))
    return define_results(reader, results, span, [arg.type for arg in iter_args])


@reads(ast.While)
def _while(reader: Reader, node: ast.While) -> None:
    span = reader.span(node)
    condition = scalar(reader, node.test, "the condition of a while", ir.DataType.BOOL)
    results = Results()
    with _loop(reader, "while", results), reached(reader, truth(settled(reader, condition)) is not False):
        body = block(reader, node.body, span)
    emit(reader, ir.WhileStmt(condition, (), body, _return_vars(reader, results, (), span), span))


def _carried_while(reader: Reader, node: ast.For, call: ast.Call) -> None:
    """``for (a, b) in pl.while_(init_values=(x, y)):`` with its condition first in the body."""
    span = reader.span(node)
    header = _header(reader, call, "while_")
    if header.bounds or header.attrs or not header.has_init:
        raise reader.error(ParserSyntaxError, call, "pl.while_ takes init_values and nothing else")
    if not isinstance(node.target, ast.Tuple):
        raise reader.error(ParserSyntaxError, node.target, "pl.while_ needs names for the carried values")
    names = _carried_names(reader, node.target, node.target.elts, header)
    initial = [_initial(reader, value, node.body, index) for index, value in enumerate(header.init_nodes)]
    results = Results(needs_names=True, carried=tuple(value.type for value in initial))
    with reader.names.scope():
        iter_args = _carry(reader, names, initial)
        condition = _condition(reader, node)
        with _loop(reader, "while", results), reached(reader, truth(settled(reader, condition)) is not False):
            body = block(reader, node.body[1:], span)
    return_vars = _return_vars(reader, results, iter_args, span)
    emit(reader, ir.WhileStmt(condition, iter_args, body, return_vars, span))


def _condition(reader: Reader, node: ast.For) -> ir.Expr:
    match node.body[0]:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="cond"), args=[test], keywords=[])):
            return scalar(reader, test, "the condition of pl.while_", ir.DataType.BOOL)
    message = "the first statement of a pl.while_ loop is pl.cond(<condition>)"
    raise reader.error(ParserSyntaxError, node.body[0], message)
