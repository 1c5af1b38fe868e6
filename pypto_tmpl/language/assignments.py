"""Assignments: to names, with annotations, to several names and to parts of a name (spec, 5.1 to 5.4)."""

from __future__ import annotations

import ast

from pypto_tmpl import ir
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.language.annotated import annotated_type, check_annotation, retyped
from pypto_tmpl.language.annotations import DynVar
from pypto_tmpl.language.calls import call
from pypto_tmpl.language.constants import SUBMITS, attribute_name, shown
from pypto_tmpl.language.diagnostics import ParserSyntaxError, ParserTypeError, SSAViolationError
from pypto_tmpl.language.expressions import as_constant, int_constant, operand
from pypto_tmpl.language.kernels import callee
from pypto_tmpl.language.reached import note_constant
from pypto_tmpl.language.reader import FREE_SUFFIX, Reader, ReassignedError, SecondDefinitionError
from pypto_tmpl.language.statements import emit, reads
from pypto_tmpl.language.subscripts import written
from pypto_tmpl.language.type_agreement import may_agree
from pypto_tmpl.language.yield_calls import is_yield
from pypto_tmpl.language.yields import read_yield, spelled_type
from pypto_tmpl.ops import facts, load_table


def assign(reader: Reader, node: ast.expr, name: str, type_: ir.Type, value: ir.Expr, span: ir.Span) -> None:
    """Bind ``name`` to a value."""
    try:
        variable = reader.names.assign(name, type_, span)
        reader.failed.discard(name)
        if not reader.unreached:
            reader.left_out.discard(name)
    except SecondDefinitionError as error:
        message = f"{name!r} is assigned twice, which strict_ssa forbids"
        lines = reader.module.source.lines_of(span)
        raise SSAViolationError(message, span, error.before, source_lines=lines) from None
    except ReassignedError as error:
        if _is_written(error.before, type_, value, reader.names.find(name)):
            variable = reader.names.define(name, type_, span)
            reader.dump_tags.pop(variable, None)
            emit(reader, ir.AssignStmt(variable, value, span))
            return
        note = f"it is {type_text(error.before)} and would become {type_text(error.after)}"
        message = f"Cannot reassign {name!r} with another type"
        raise reader.error(ParserTypeError, node, message, "use another name", note) from None
    note_lane(reader, name, value)
    reader.dump_tags.pop(variable, None)
    reader.names.note_value(variable, value)
    note_constant(reader, name, variable, value)
    emit(reader, ir.AssignStmt(variable, value, span))


def _is_written(before: ir.Type, after: ir.Type, value: ir.Expr, old: ir.Expr | None) -> bool:
    """Whether a value is what its name stood for, with a part of it written: more of it may be valid then."""
    is_tensor = isinstance(before, ir.TensorType) and isinstance(after, ir.TensorType)
    if not is_tensor or not isinstance(value, ir.Call) or not isinstance(value.op, ir.Op):
        return False
    entry = load_table().get(value.op.name)
    if entry is None or entry.returns is None or not may_agree(before, after):
        return False
    return value.args[entry.operand_names.index(entry.returns)] is old


def note_lane(reader: Reader, name: str, value: ir.Expr) -> None:
    """Remember a lane index of the name of a dimension in printed text.

    Vector splitting leaves types that name the lane index of another function. The printer writes such a
    symbol at the top of the text and gives the local index the same name, so extents mean the symbol.
    """
    is_lane = facts.of_value(value).has("lane_index")
    if is_lane and reader.module.printed and isinstance(reader.module.closure.get(name), DynVar):
        reader.lane_symbols.add(name)


@reads(ast.AnnAssign)
def _annotated(reader: Reader, node: ast.AnnAssign) -> None:
    target, value_node = node.target, node.value
    if not isinstance(target, ast.Name):
        raise reader.error(ParserSyntaxError, target, f"{shown(target)} is no name to assign to")
    if value_node is None:
        raise reader.error(ParserSyntaxError, node, f"{target.id!r} is declared without a value")
    if is_yield(value_node):
        read_yield(reader, value_node, [(target, node.annotation)])
        return
    type_ = spelled_type(reader, node.annotation)
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
    if not (isinstance(value, ir.Var) and isinstance(node, ast.Call) and attribute_name(node.func) == "dim"):
        return False
    reader.names.stand_for(name, value)
    return True


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
                read_yield(reader, node.value, [(target, None)])
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
    is_submit = isinstance(node.value, ast.Call) and attribute_name(node.value.func) in SUBMITS
    if is_submit and not reader.module.printed:
        elements = _submit_targets(reader, target, elements, node.value)
    names: list[ast.Name] = []
    for element in elements:
        if not isinstance(element, ast.Name):
            raise reader.error(ParserSyntaxError, element, f"{shown(element)} is no name to assign to")
        names.append(element)
    if is_yield(node.value):
        read_yield(reader, node.value, [(name, None) for name in names])
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


def _submit_targets(
    reader: Reader, target: ast.expr, elements: list[ast.expr], submitted: ast.expr
) -> list[ast.expr]:
    """``out, tid`` or ``(a, b), tid``: the results, and the task id last."""
    if len(elements) != 2:
        message = f"a submit gives its results and a task id, and {shown(target)} has {len(elements)} targets"
        hint = "write `out, tid = ...` or `(a, b), tid = ...`"
        raise reader.error(ParserSyntaxError, target, message, hint)
    results, task = elements
    if not isinstance(results, (ast.Tuple, ast.List)):
        return [results, task]
    if isinstance(submitted, ast.Call) and submitted.args:
        name, signature = callee(reader, submitted.args[0])
        if signature is not None and not signature.is_annotated:
            message = f"{name!r} has no return annotation, and {shown(results)} takes its results apart"
            raise reader.error(ParserTypeError, results, message, "annotate what the kernel returns")
    return [*results.elts, task]
