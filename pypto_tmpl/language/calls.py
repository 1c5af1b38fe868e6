"""Calls: ops by their IR names and operands, functions of the program, and the scalar helpers of ``pl``."""

from __future__ import annotations

import ast
import keyword as python_keywords
from collections.abc import Callable, Iterable
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import closest
from pypto_tmpl.language import inference
from pypto_tmpl.language.attributes import attribute_dict, keyword_value, stored
from pypto_tmpl.language.constants import boolean, data_type, python_value, shown, unsupported
from pypto_tmpl.language.diagnostics import (
    InvalidOperationError,
    ParserSyntaxError,
    ParserTypeError,
    UndefinedVariableError,
)
from pypto_tmpl.language.expressions import (
    Operand,
    as_constant,
    expression,
    int_constant,
    operand,
    reads,
    scalar,
)
from pypto_tmpl.language.scopes import Reader, Signature

_NAMESPACES = frozenset({"tensor", "tile", "system", "array", "prefetch"})
_DISTRIBUTED_NAMESPACES = frozenset({"tensor", "tile", "system"})
_DISTRIBUTED = {
    "alloc_window_buffer": "pld.tensor.alloc_window_buffer",
    "window": "pld.tensor.window",
    "world_size": "pld.system.world_size",
    "get_comm_ctx": "pld.system.get_comm_ctx",
    "rank": "pld.system.rank",
    "nranks": "pld.system.nranks",
}
_MOVED = {
    f"system.{name}": f"tile.{name}"
    for name in ("tpush_to_aiv", "tpush_to_aic", "tpop_from_aic", "tpop_from_aiv")
}
_PADDED_LOAD = "pld.tile._remote_load_with_physical_tail_padding"
_TASK = ir.ScalarType(ir.DataType.TASK_ID)

# Keywords that the printer uses for operands, in the order in which they follow the positional ones.
OPERAND_KEYWORDS: dict[str, tuple[str, ...]] = {
    "tensor.full": ("value",),
    "tile.full": ("value",),
    "tensor.reinterpret_view": ("shape",),
    "tile.reinterpret_view": ("shape",),
    "tensor.gather_row": ("valid_shape",),
    "tile.gather_row": ("valid_shape",),
    "tile.mgather": ("scratch", "valid_shape"),
    "system.syncall": ("gm_workspace", "used_cores"),
}


@reads(ast.Call)
def _call(reader: Reader, node: ast.Call) -> Operand:
    return call(reader, node)


def call(reader: Reader, node: ast.Call, type_: ir.Type | None = None, is_statement: bool = False) -> Operand:
    """The value of a call, of type ``type_`` where an annotation gives one; bare numbers may fold."""
    function = node.func
    if isinstance(function, ast.Attribute):
        owner = function.value
        if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
            name = _op_name(reader, node, owner.value.id, owner.attr, function.attr)
            return op_call(reader, node, name, type_, is_statement)
        if isinstance(owner, ast.Name):
            if owner.id == "self":
                return function_call(reader, node, type_)
            return _short_call(reader, node, owner.id, function.attr, type_, is_statement)
    if isinstance(function, ast.Name):
        if function.id == "abs" and len(node.args) == 1 and not node.keywords:
            value = scalar(reader, node.args[0], "the operand of abs")
            assert isinstance(value.type, ir.ScalarType)
            return ir.Abs(value, value.type.dtype, reader.span(node))
        if function.id == "float" and len(node.args) == 1:
            return _float(reader, node)
        return function_call(reader, node, type_)
    raise unsupported(reader, node, f"a call of {shown(function)}")


def _op_name(reader: Reader, node: ast.Call, root: str, namespace: str, name: str) -> str:
    """The registered name of the op that ``root.namespace.name`` spells."""
    if name.endswith("_") and python_keywords.iskeyword(name[:-1]):
        name = name[:-1]
    if root in reader.module.language and namespace in _NAMESPACES:
        op = f"{namespace}.{name}"
        return _MOVED.get(op, op)
    if root in reader.module.distributed and namespace in _DISTRIBUTED_NAMESPACES:
        return f"pld.{namespace}.{name}"
    known = [f"pl.{name}" for name in sorted(_NAMESPACES)]
    known += [f"pld.{name}" for name in sorted(_DISTRIBUTED_NAMESPACES)]
    hint = f"ops stand in {', '.join(known)}"
    raise reader.error(InvalidOperationError, node, f"unknown op {shown(node.func)}", hint)


def _short_call(
    reader: Reader, node: ast.Call, root: str, name: str, type_: ir.Type | None, is_statement: bool
) -> Operand:
    """``pl.x(...)`` or ``pld.x(...)``."""
    if root in reader.module.language and name in _SCALAR_CALLS:
        return _SCALAR_CALLS[name](reader, node)
    if root in reader.module.language and name in ("submit", "spmd_submit"):
        if type_ is None:
            message = f"pl.{name} stands alone on the right of an assignment"
            raise reader.error(ParserSyntaxError, node, message, "bind its result to a name first")
        return submit(reader, node, type_)
    if root in reader.module.distributed and name in _DISTRIBUTED:
        return op_call(reader, node, _DISTRIBUTED[name], type_, is_statement)
    if root in reader.module.language and name == "yield_":
        raise reader.error(ParserSyntaxError, node, "pl.yield_ is a statement, not a value")
    hint = None
    if root in reader.module.language:
        hint = f"text dumps name the op itself, such as pl.tensor.{name} or pl.tile.{name}"
    raise reader.error(InvalidOperationError, node, f"unknown op {shown(node.func)}", hint)


def op_call(
    reader: Reader, node: ast.Call, name: str, type_: ir.Type | None, is_statement: bool = False
) -> ir.Expr:
    """The call of an op from its IR name, operands and keywords."""
    args = [expression(reader, argument) for argument in node.args]
    kwargs: list[tuple[str, Any]] = []
    attrs: list[tuple[str, Any]] = []
    operands = OPERAND_KEYWORDS.get(name, ())
    late: dict[str, ast.expr] = {}
    for keyword in node.keywords:
        if keyword.arg == "attrs":
            attrs = attribute_dict(reader, keyword.value, "attrs")
        elif keyword.arg in operands:
            late[keyword.arg or ""] = keyword.value
        elif keyword.arg == "deps" and name == "system.task_dummy":
            attrs += [("dummy_task", True), ("manual_dep_edges", variables(reader, keyword.value, "deps"))]
        else:
            kwargs.append((keyword.arg or "", keyword_value(reader, name, keyword)))
    if late:
        args += _late_operands(reader, name, late, kwargs)
    if name == _PADDED_LOAD:
        name, kwargs = "pld.tile.remote_load", [*kwargs, ("allow_physical_tail_padding", True)]
    if (
        reader.splits
        and name.endswith((".aiv_shard", ".aic_gather"))
        and not any(k == "split" for k, _ in kwargs)
    ):
        kwargs.append(("split", reader.splits[-1]))
    if name == "pld.tensor.alloc_window_buffer":
        args, kwargs = _window_buffer(reader, node, args, kwargs)
    stored_kwargs = stored(reader, node, kwargs)
    if type_ is None:
        type_ = inference.op_type(reader, node, name, args, stored_kwargs, required=not is_statement)
    return _build(reader, node, ir.Op(name), args, stored_kwargs, stored(reader, node, attrs), type_)


def _build(
    reader: Reader,
    node: ast.Call,
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


def _late_operands(
    reader: Reader, name: str, given: dict[str, ast.expr], kwargs: list[tuple[str, Any]]
) -> list[ir.Expr]:
    """Operands that the printer wrote as keywords."""
    found = []
    for key in OPERAND_KEYWORDS[name]:
        if key not in given:
            continue
        node = given[key]
        value = operand(reader, node)
        if key == "value":
            dtype = next((v for k, v in kwargs if k == "dtype" and isinstance(v, ir.DataType)), None)
            found.append(_typed(reader, node, value, dtype))
        elif key == "used_cores":
            if isinstance(value, ir.Expr) or value != 0:
                found.append(_typed(reader, node, value, ir.DataType.INT32))
        else:
            found.append(value if isinstance(value, ir.Expr) else as_constant(reader, node, value))
    return found


def _typed(reader: Reader, node: ast.expr, value: Operand, dtype: ir.DataType | None) -> ir.Expr:
    """A bare number as a constant of ``dtype``: int or float as it is written."""
    if isinstance(value, ir.Expr):
        return value
    if dtype is None or value is None or isinstance(value, (bool, str, tuple)):
        return as_constant(reader, node, value)
    if isinstance(value, int):
        return int_constant(reader, node, value, dtype)
    return ir.ConstFloat(value, dtype, reader.span(node))


def _window_buffer(
    reader: Reader, node: ast.Call, args: list[ir.Expr], kwargs: list[tuple[str, Any]]
) -> tuple[list[ir.Expr], list[tuple[str, Any]]]:
    """A window takes its name from the variable it is bound to; its size is an INT64."""
    if not reader.target:
        raise reader.error(ParserSyntaxError, node, "a window buffer is bound to a name of its own")
    first = args[0] if args else None
    if isinstance(first, ir.ConstInt) and first.dtype == ir.DataType.INDEX:
        args = [ir.ConstInt(first.value, ir.DataType.INT64, first.span), *args[1:]]
    return args, [("name", reader.target), *kwargs]


def variables(reader: Reader, node: ast.expr, what: str) -> tuple[ir.Expr, ...]:
    """A list of variables; ``None`` entries are left out."""
    if not isinstance(node, (ast.List, ast.Tuple)):
        raise reader.error(ParserTypeError, node, f"{what} is a list, not {shown(node)}")
    elements = (e for e in node.elts if not (isinstance(e, ast.Constant) and e.value is None))
    found = [(element, expression(reader, element)) for element in elements]
    for element, value in found:
        if not isinstance(value, ir.Var):
            raise reader.error(ParserTypeError, element, f"{what} holds variables, not {shown(element)}")
    return tuple(value for _, value in found)


def function_call(reader: Reader, node: ast.Call, type_: ir.Type | None) -> ir.Expr:
    """``self.f(...)`` in a program, ``f(...)`` elsewhere."""
    name, signature = callee(reader, node.func)
    args, unordered = _arguments(reader, node.args)
    attrs: list[tuple[str, Any]] = [("arg_direction_overrides", unordered)] if unordered else []
    for keyword in node.keywords:
        if keyword.arg == "attrs":
            attrs += attribute_dict(reader, keyword.value, "attrs")
        elif keyword.arg == "device":
            attrs.append(("device", expression(reader, keyword.value)))
        else:
            hint = "kernels are launched with dispatch keywords by pl.submit"
            raise reader.error(
                ParserTypeError, keyword.value, f"a call takes no keyword {keyword.arg!r}", hint
            )
    if signature is not None and len(args) != len(signature.params):
        message = f"{name!r} takes {len(signature.params)} arguments, and {len(args)} are given"
        raise reader.error(ParserTypeError, node, message)
    if type_ is None:
        type_ = ir.UnknownType() if signature is None else inference.call_type(signature, args)
    return _build(reader, node, ir.GlobalVar(name), args, ir.AttrMap(), stored(reader, node, attrs), type_)


def callee(reader: Reader, function: ast.expr) -> tuple[str, Signature | None]:
    """The function that is called; its signature is None where the text does not hold it."""
    match function:
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            if name in reader.methods:
                return name, reader.methods[name]
        case ast.Name(id=name):
            if name in reader.module.functions:
                return name, reader.module.functions[name]
            if not reader.methods and name not in ("min", "max"):
                return name, None  # a function that is printed alone calls functions of its program
            if name in ("min", "max"):
                raise unsupported(reader, function, f"the builtin {name!r}", f"write pl.{name}(a, b)")
        case _:
            raise unsupported(reader, function, f"a call of {shown(function)}")
    guess = closest(name, [*reader.methods, *reader.module.functions])
    hint = f"did you mean {guess!r}?" if guess else None
    raise reader.error(UndefinedVariableError, function, f"undefined function {name!r}", hint)


def _arguments(reader: Reader, nodes: list[ast.expr]) -> tuple[list[ir.Expr], tuple[int, ...]]:
    """The arguments, and the positions of those in ``pl.no_dep(...)``."""
    args, unordered = [], []
    for index, node in enumerate(nodes):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "no_dep":
            unordered.append(index)
            node = _exactly(reader, node, 1)[0]
        args.append(expression(reader, node))
    return args, tuple(unordered)


def submit(reader: Reader, node: ast.Call, type_: ir.Type | None) -> ir.Submit:
    """``pl.submit(self.f, ...)`` and ``pl.spmd_submit(...)``."""
    if not node.args:
        raise reader.error(ParserSyntaxError, node, "a submit names the function that it launches")
    name, signature = callee(reader, node.args[0])
    args, unordered = _arguments(reader, node.args[1:])
    attrs: list[tuple[str, Any]] = [("arg_direction_overrides", unordered)] if unordered else []
    deps: tuple[ir.Expr, ...] = ()
    launch: dict[str, Any] = {}
    for keyword in node.keywords:
        match keyword.arg:
            case "deps":
                deps = variables(reader, keyword.value, "deps")
            case "dumps":
                attrs.append(("dump_vars", variables(reader, keyword.value, "dumps")))
            case "attrs":
                attrs += attribute_dict(reader, keyword.value, "attrs")
            case "core_num" | "predicate":
                launch[keyword.arg] = expression(reader, keyword.value)
            case "sync_start" | "allow_early_resolve":
                launch[keyword.arg] = boolean(reader, keyword.value, keyword.arg)
            case _:
                raise reader.error(
                    ParserTypeError, keyword.value, f"a submit takes no keyword {keyword.arg!r}"
                )
    if type_ is None:
        type_ = _submit_type(signature, args)
    try:
        return ir.Submit(
            ir.GlobalVar(name),
            args,
            deps,
            None,
            stored(reader, node, attrs),
            type_,
            reader.span(node),
            **launch,
        )
    except (TypeError, ValueError) as error:
        raise reader.error(ParserTypeError, node, f"submit of {name!r}: {error}") from None


def _submit_type(signature: Signature | None, args: list[ir.Expr]) -> ir.Type:
    """The results of the function and the task id."""
    result = inference.call_type(signature, args) if signature is not None else ir.UnknownType()
    match result:
        case ir.UnknownType():
            return _TASK
        case ir.TupleType(types=types):
            return ir.TupleType([*types, _TASK])
    return ir.TupleType([result, _TASK])


def _exactly(reader: Reader, node: ast.Call, count: int) -> list[ast.expr]:
    if len(node.args) != count or node.keywords:
        raise reader.error(ParserTypeError, node, f"{shown(node.func)} takes {count} arguments")
    return node.args


def _const(reader: Reader, node: ast.Call) -> Operand:
    """``pl.const(v, dtype)``: an int or a float constant, as the literal is written."""
    literal, kind = _exactly(reader, node, 2)
    try:
        value: Operand = python_value(reader, literal)
    except (TypeError, ValueError, ArithmeticError):
        value = operand(reader, literal) if isinstance(literal, (ast.Name, ast.UnaryOp, ast.Call)) else None
    dtype = data_type(reader, kind)
    if isinstance(value, bool):
        return ir.ConstBool(value, reader.span(node))
    if isinstance(value, (int, float)):
        return _typed(reader, node, value, dtype)
    raise reader.error(ParserTypeError, literal, f"pl.const takes a number, not {shown(literal)}")


def _float(reader: Reader, node: ast.Call) -> Operand:
    """``float("inf")`` and its like."""
    match node.args[0]:
        case ast.Constant(value=str() | int() | float() as value) if not node.keywords:
            try:
                return float(value)
            except (ValueError, OverflowError):
                pass
    raise unsupported(reader, node, shown(node))


def _extremum(
    build: Callable[..., ir.Expr], choose: Callable[[Any, Any], Any]
) -> Callable[[Reader, ast.Call], Operand]:
    def read(reader: Reader, node: ast.Call) -> Operand:
        left, right = (operand(reader, argument) for argument in _exactly(reader, node, 2))
        try:
            if not isinstance(left, ir.Expr) and not isinstance(right, ir.Expr):
                found: Operand = choose(left, right)
                return found
            lhs = left if isinstance(left, ir.Expr) else as_constant(reader, node.args[0], left)
            rhs = right if isinstance(right, ir.Expr) else as_constant(reader, node.args[1], right)
            return build(lhs, rhs, reader.span(node))
        except TypeError as error:
            raise reader.error(InvalidOperationError, node, f"{shown(node.func)}: {error}") from None

    return read


def _cast(reader: Reader, node: ast.Call) -> Operand:
    """``pl.cast(scalar, dtype)``; casts of tensors and tiles are ops."""
    value, kind = _exactly(reader, node, 2)
    operand_ = scalar(reader, value, "the operand of pl.cast")
    return ir.cast(operand_, data_type(reader, kind), reader.span(node))


_SCALAR_CALLS: dict[str, Callable[[Reader, ast.Call], Operand]] = {
    "const": _const,
    "min": _extremum(ir.min_, min),
    "max": _extremum(ir.max_, max),
    "cast": _cast,
}
