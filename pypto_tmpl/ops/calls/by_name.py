"""Calls by the registered name of an op, with the operands and keywords that the IR stores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ops.calls.build import literal_operand, operator, stored_keywords
from pypto_tmpl.ops.calls.context import Argument, OpCallError
from pypto_tmpl.ops.calls.overloads import Form, Misfit, stored_form
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.typing import InferenceError, MissingRuleError, built_type, resolve_result


def call(
    op: str,
    /,
    *operands: Argument,
    span: ir.Span | None = None,
    result_type: ir.Type | None = None,
    **keywords: Any,
) -> ir.Call:
    """The call of the op ``op`` in the form that the IR has.

    An expression is taken as it is; a Python number becomes a constant of the dtype that the op gives it, a
    list a tuple of integers; None stands for an absent operand. ``result_type`` is for ops whose operands do
    not tell the type of the result; else it follows from the rules of the op table.

    Raises: UnknownOpError for a name that the table does not have; OpCallError, a TypeError, where the op
    does not take the call: it names the operand, what it is and what it should be.
    """
    if not isinstance(op, str):
        raise OpCallError(f"an op is called by its registered name, a str, got {type(op).__name__} {op!r}")
    form = stored_form(op)
    where = ir.Span.unknown() if span is None else span
    name = form.entry.name
    bound = form.bind(operands, keywords)
    if isinstance(bound, Misfit):
        raise OpCallError(f"{name}: {bound.message()}")
    try:
        args = _operands(form, bound, where)
        stored = ir.AttrMap(stored_keywords(form, bound), of_op=True)
        type_ = _ruled_type(form.entry, args, stored) if result_type is None else result_type
    except MissingRuleError as error:
        raise OpCallError(f"{name}: {error}", "give result_type") from None
    except (OpCallError, InferenceError, TypeError, ValueError) as error:
        raise OpCallError(f"{name}: {error}", getattr(error, "hint", None)) from None
    return ir.Call(operator(name), args, stored, None, type_, where)


def _ruled_type(entry: OpEntry, args: list[ir.Expr], keywords: ir.AttrMap) -> ir.Type:
    if resolve_result(entry).shape == "declared":
        raise MissingRuleError("its operands do not tell the type of the result")
    return built_type(entry, args, keywords, {})


def _operands(form: Form, bound: Mapping[str, Argument], span: ir.Span) -> list[ir.Expr]:
    """The operands in order; of those that others follow only such as cannot be mistaken are left out.

    That is tuples, which may be empty, and operands of a kind that the next one does not have.
    """
    kinds = {operand.name: {*operand.kinds} for operand in form.entry.operands}
    found: list[ir.Expr] = []
    absent: list[str] = []
    for name in form.operands:
        value = bound.get(name)
        if value is None:
            absent.append(name)
            continue
        for missing in absent:
            if missing in form.call.fills:
                found.append(ir.MakeTuple((), span))
            elif kinds[missing] & kinds[name]:
                raise OpCallError(f"the operand {missing!r} is missing, and {name!r} after it is given")
        absent.clear()
        found.append(value if isinstance(value, ir.Expr) else literal_operand(form, name, value, bound, span))
    return found
