"""Calls of functions of the program, direct and as submitted tasks (spec, 7)."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import allowed_note, closest
from pypto_tmpl.ir.arithmetic import constant_value
from pypto_tmpl.ir.printer import type_text
from pypto_tmpl.language.attributes import attribute_dict, keyword_value, listed, stored, variables
from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.dependencies import dependencies, predicate
from pypto_tmpl.language.diagnostics import (
    InvalidOperationError,
    ParserSyntaxError,
    ParserTypeError,
    PassedOverError,
    UndefinedVariableError,
)
from pypto_tmpl.language.expressions import expression
from pypto_tmpl.language.folding import boolean
from pypto_tmpl.language.reader import Reader, Signature
from pypto_tmpl.language.type_agreement import may_be_given
from pypto_tmpl.ops.typing import extents_by_dimension, returned_type

_DISPATCH = frozenset({"deps", "dumps", "core_num", "sync_start", "allow_early_resolve", "predicate"})
_TASK = ir.ScalarType(ir.DataType.TASK_ID)


def build_call(
    reader: Reader,
    node: ast.expr,
    op: ir.Op,
    args: Iterable[ir.Expr],
    kwargs: ir.AttrMap,
    attrs: ir.AttrMap,
    type_: ir.Type,
) -> ir.Call:
    try:
        return ir.Call(op, args, kwargs, attrs, type_, reader.span(node))
    except (TypeError, ValueError) as error:
        raise reader.error(InvalidOperationError, node, f"operation {op.name!r}: {error}") from None


def signature_of(function: ir.Function) -> Signature:
    """What a call needs to know of a function that stands outside of the text."""
    directions = list(function.param_directions)
    return Signature(function.name, list(function.params), directions, function.return_types, function.role)


def function_call(reader: Reader, node: ast.Call, type_: ir.Type | None) -> ir.Expr:
    """``self.f(...)`` in a program, ``f(...)`` elsewhere."""
    name, signature = callee(reader, node.func)
    is_source = not reader.module.printed
    args, unordered = _arguments(reader, node.args)
    attrs: list[tuple[str, Any]] = [("arg_direction_overrides", unordered)] if unordered else []
    kwargs: list[tuple[str, Any]] = []
    for keyword in node.keywords:
        if keyword.arg == "attrs":
            attrs += _call_attributes(reader, keyword.value, args)
        elif keyword.arg == "device":
            if signature is not None and signature.role is not ir.Role.Orchestrator and is_source:
                message = f"{name!r} is no orchestrator, and device= is for calls of those"
                raise reader.error(ParserTypeError, keyword.value, message)
            attrs.append(("device", expression(reader, keyword.value)))
        elif keyword.arg in _DISPATCH:
            message = f"a call takes no keyword {keyword.arg!r}"
            raise reader.error(ParserTypeError, keyword.value, message, "launch the kernel with pl.submit")
        elif is_source:
            message = f"the call of {name!r} takes no keyword {keyword.arg!r}"
            raise reader.error(ParserTypeError, keyword.value, message, "its arguments are positional")
        else:
            kwargs.append((keyword.arg or "", keyword_value(reader, name, keyword)))
    if signature is not None and len(args) != len(signature.params):
        message = f"{name!r} takes {len(signature.params)} argument(s), and {len(args)} are given"
        raise reader.error(ParserTypeError, node, message)
    if signature is not None and signature.failed:
        raise reader.error(PassedOverError, node, f"the function {name!r} has an error")
    if is_source and signature is not None:
        _check_arguments(reader, node.args, signature, args)
    if is_source and signature is not None and signature.is_inline:
        _warn_of_lost_regions(reader, node, signature, args)
    _tag(reader, args, attrs)
    if type_ is None or (is_source and signature is not None and signature.return_types):
        type_ = (
            ir.UnknownType()
            if signature is None
            else returned_type(signature.params, args, signature.result_type)
        )
    options = stored(reader, node, kwargs), stored(reader, node, attrs)
    return build_call(reader, node, ir.GlobalVar(name), args, *options, type_)


def _check_arguments(
    reader: Reader, nodes: list[ast.expr], signature: Signature, args: list[ir.Expr]
) -> None:
    """Refuse an argument whose type contradicts that of its parameter."""
    for param, arg, node in zip(signature.params, args, nodes, strict=False):
        fits = may_be_given(param.type, arg)
        if signature.role is ir.Role.Orchestrator and not fits:
            fits = _is_window_of_one_dtype(param.type, arg.type)
        if not fits:
            message = f"{shown(node)} is {type_text(arg.type)}"
            wanted = f"the parameter {param.name_hint!r} of {signature.name!r} is {type_text(param.type)}"
            raise reader.error(ParserTypeError, node, f"{message}, and {wanted}")
    _check_dimensions(reader, nodes, signature, args)


def _is_window_of_one_dtype(param: ir.Type, given: ir.Type) -> bool:
    """Whether both are windows of one dtype: a rank lays the shape of its parameter over the bytes."""
    if not isinstance(param, ir.DistributedTensorType) or not isinstance(given, ir.DistributedTensorType):
        return False
    return param.dtype == given.dtype


def _check_dimensions(
    reader: Reader, nodes: list[ast.expr], signature: Signature, args: list[ir.Expr]
) -> None:
    """Refuse two arguments that make one dimension of the parameters two different numbers."""
    known: dict[ir.Var, tuple[int, ast.expr, str]] = {}
    for param, arg, node in zip(signature.params, args, nodes, strict=False):
        for variable, value in extents_by_dimension(param, arg):
            number = constant_value(value)
            if number is None:
                continue
            told = f"for the parameter {param.name_hint!r}"
            before, first, of_first = known.setdefault(variable, (number, node, told))
            if before != number:
                message = (
                    f"the dimension {variable.name_hint!r} of {signature.name!r} is {before} in"
                    f" {shown(first)}, {of_first}, and {number} in {shown(node)}, {told}"
                )
                raise reader.error(ParserTypeError, node, message)


def _warn_of_lost_regions(reader: Reader, node: ast.Call, signature: Signature, args: list[ir.Expr]) -> None:
    """Say which arguments have a valid region that the parameter's type does not tell of."""
    for param, arg, place in zip(signature.params, args, node.args, strict=False):
        if _is_partly_valid(arg.type) and not _is_partly_valid(param.type):
            reader.warn(
                place,
                f"{shown(place)} is valid in part, and the parameter {param.name_hint!r} of"
                f" {signature.name!r} takes all of it for valid: its padding is computed and stored too",
            )


def _is_partly_valid(type_: ir.Type) -> bool:
    view = type_.tensor_view if isinstance(type_, ir.TensorType) else None
    return view is not None and bool(view.valid_shape)


def _call_attributes(reader: Reader, node: ast.expr, args: list[ir.Expr]) -> list[tuple[str, Any]]:
    found = attribute_dict(reader, node, "attrs")
    for entry, (key, value) in zip(node.values if isinstance(node, ast.Dict) else (), found, strict=True):
        if key == "dump_vars" and isinstance(entry, (ast.List, ast.Tuple)):
            _check_dumped(reader, entry, value, args)
    if not reader.module.printed and any(key == "manual_dep_edges" for key, _ in found):
        message = "a call has no manual_dep_edges"
        raise reader.error(ParserTypeError, node, message, "launch the kernel with pl.submit(..., deps=[])")
    return found


def _tag(reader: Reader, args: list[ir.Expr], attrs: list[tuple[str, Any]]) -> None:
    """Name the arguments that pl.dump_tag has marked."""
    tagged = [arg for arg in args if isinstance(arg, ir.Var) and arg in reader.dump_tags]
    marks = [reader.dump_tags[arg] for arg in tagged]
    reader.idle_tags = [mark for mark in reader.idle_tags if mark not in marks]
    known = next((place for place, (key, _) in enumerate(attrs) if key == "dump_vars"), None)
    if known is not None:
        given = attrs[known][1]
        attrs[known] = ("dump_vars", tuple(dict.fromkeys((*given, *tagged))))
    elif tagged:
        attrs.append(("dump_vars", tuple(dict.fromkeys(tagged))))


def callee(reader: Reader, function: ast.expr) -> tuple[str, Signature | None]:
    """The function that is called; its signature is None where the text does not hold it."""
    match function:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            if name in reader.methods:
                return name, reader.methods[name]
        case ast.Name(id=name):
            if name in reader.module.functions:
                return name, reader.module.functions[name]
            if isinstance(external := reader.module.closure.get(name), ir.Function):
                reader.module.called[external.name] = external
                return external.name, signature_of(external)
            if not (reader.methods or reader.module.executed):
                return name, None  # a function that is printed alone calls functions of its program
        case _:
            raise unsupported(reader, function, f"a call of {shown(function)}")
    if name in reader.module.unread:
        raise reader.error(PassedOverError, function, f"the signature of {name!r} has an error")
    guess = closest(name, [*reader.methods, *reader.module.functions])
    hint = f"did you mean 'self.{guess}'?" if guess in reader.methods else None
    raise reader.error(UndefinedVariableError, function, f"undefined function {name!r}", hint)


def _arguments(reader: Reader, nodes: list[ast.expr]) -> tuple[list[ir.Expr], tuple[int, ...]]:
    """The arguments, and the positions of those in ``pl.no_dep(...)``."""
    args, unordered = [], []
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "no_dep":
            unordered.append(index)
            if len(node.args) != 1 or node.keywords:
                raise reader.error(ParserTypeError, node, "pl.no_dep takes one argument")
            node = node.args[0]
        args.append(expression(reader, node))
    return args, tuple(unordered)


def submit(reader: Reader, node: ast.Call, type_: ir.Type | None) -> ir.Submit:
    """``pl.submit(self.f, ...)`` and ``pl.spmd_submit(...)``."""
    if not node.args:
        raise reader.error(ParserSyntaxError, node, "a submit names the function that it launches")
    name, signature = callee(reader, node.args[0])
    args, unordered = _arguments(reader, node.args[1:])
    attrs: list[tuple[str, Any]] = [("arg_direction_overrides", unordered)] if unordered else []
    kwargs: list[tuple[str, Any]] = []
    deps: tuple[ir.Expr, ...] = ()
    launch: dict[str, Any] = {}
    for keyword in node.keywords:
        match keyword.arg:
            case "deps":
                deps = dependencies(reader, keyword.value)
            case "dumps":
                dumped = variables(reader, keyword.value, "dumps")
                attrs.append(("dump_vars", dumped))
                _check_dumped(reader, keyword.value, dumped, args)
            case "attrs":
                attrs += attribute_dict(reader, keyword.value, "attrs")
            case "core_num":
                launch["core_num"] = expression(reader, keyword.value)
            case "predicate":
                launch["predicate"] = predicate(reader, keyword.value)
            case "sync_start" | "allow_early_resolve":
                launch[keyword.arg] = boolean(reader, keyword.value, keyword.arg)
            case unknown if reader.module.printed:
                kwargs.append((unknown or "", keyword_value(reader, name, keyword)))
            case unknown:
                message = f"a submit takes no keyword {unknown!r}"
                hint = allowed_note("keywords", [*sorted(_DISPATCH), "attrs"], unknown or "")
                raise reader.error(ParserSyntaxError, keyword.value, message, hint)
    _tag(reader, args, attrs)
    if not reader.module.printed:
        _check_submit(reader, node, name, signature, args, launch)
    type_ = _submit_type(signature, args) if type_ is None else type_
    options = stored(reader, node, kwargs), stored(reader, node, attrs)
    try:
        return ir.Submit(ir.GlobalVar(name), args, deps, *options, type_, reader.span(node), **launch)
    except (TypeError, ValueError) as error:
        raise reader.error(ParserTypeError, node, f"submit of {name!r}: {error}") from None


def _check_dumped(reader: Reader, node: ast.expr, dumped: tuple[ir.Expr, ...], args: list[ir.Expr]) -> None:
    """What is dumped are arguments: of anything else the task would dump nothing."""
    if reader.module.printed:
        return
    for element, value in listed(node, dumped):
        if not any(arg is value for arg in args):
            names = [arg.name_hint for arg in args if isinstance(arg, ir.Var)]
            message = f"{shown(element)} in dumps is no argument of the call"
            raise reader.error(
                ParserTypeError, element, message, allowed_note("arguments", names, shown(element))
            )


def _check_submit(
    reader: Reader,
    node: ast.Call,
    name: str,
    signature: Signature | None,
    args: list[ir.Expr],
    launch: dict[str, Any],
) -> None:
    """Which keywords go with which spelling, and that only outputs at the end are left out."""
    is_spmd = isinstance(node.func, ast.Attribute) and node.func.attr == "spmd_submit"
    if is_spmd and "core_num" not in launch:
        raise reader.error(ParserSyntaxError, node, "pl.spmd_submit needs core_num=")
    if isinstance(blocks := launch.get("core_num"), ir.ConstInt) and blocks.value <= 0:
        message = "the number of blocks is positive"
        raise reader.error(ParserSyntaxError, node, message, concerns_values=True)
    for key in ("core_num", "sync_start"):
        if key in launch and not is_spmd:
            message = f"pl.submit takes no keyword {key!r}"
            raise reader.error(ParserSyntaxError, node, message, "use pl.spmd_submit")
    if "cluster" in reader.scopes and ("allow_early_resolve" in launch or "predicate" in launch):
        raise reader.error(ParserSyntaxError, node, "a submit inside pl.cluster takes deps and dumps only")
    if signature is None:
        return
    required = len(signature.params)
    while required and signature.directions[required - 1] is not ir.ParamDirection.In:
        required -= 1
    if not required <= len(args) <= len(signature.params):
        expected = str(len(signature.params))
        expected = expected if required == len(signature.params) else f"{required} to {expected}"
        message = f"{name!r} takes {expected} argument(s), and {len(args)} are given"
        raise reader.error(ParserTypeError, node, message)
    _check_arguments(reader, node.args[1:], signature, args)


def _submit_type(signature: Signature | None, args: list[ir.Expr]) -> ir.Type:
    """The results of the function and the task id."""
    result = (
        returned_type(signature.params, args, signature.result_type)
        if signature is not None
        else ir.UnknownType()
    )
    match result:
        case ir.UnknownType():
            return _TASK
        case ir.TupleType(types=types):
            return ir.TupleType([*types, _TASK])
    return ir.TupleType([result, _TASK])
