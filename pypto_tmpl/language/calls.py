"""Calls: ops by their IR names and operands; other calls are handed on to where they belong."""

from __future__ import annotations

import ast
import keyword as python_keywords
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import with_float_keywords
from pypto_tmpl.language.attributes import attribute_dict, keyword_value, stored, variables
from pypto_tmpl.language.constants import shown, unsupported
from pypto_tmpl.language.diagnostics import InvalidOperationError, ParserSyntaxError
from pypto_tmpl.language.expressions import (
    Operand,
    as_constant,
    closure_operand,
    expression,
    operand,
    reads,
    typed_constant,
)
from pypto_tmpl.language.folding import BUILTINS as PYTHON_BUILTINS
from pypto_tmpl.language.folding import compile_time
from pypto_tmpl.language.inlining import expand
from pypto_tmpl.language.kernels import build_call, function_call, submit
from pypto_tmpl.language.memrefs import memory_reference
from pypto_tmpl.language.op_calls import is_misspelt, source_call, unknown_op
from pypto_tmpl.language.reader import InlineFunction, Reader
from pypto_tmpl.language.scalars import BUILTINS, SCALAR_CALLS
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.call_model import CallSpec
from pypto_tmpl.ops.calls import NoRuleOpCallError, UnknownOpCallError
from pypto_tmpl.ops.signatures import call_of
from pypto_tmpl.ops.typing import InferenceError, infer_type
from pypto_tmpl.rewrite.names import GeneratedName

_DISTRIBUTED = {
    "alloc_window_buffer": "pld.tensor.alloc_window_buffer",
    "window": "pld.tensor.window",
    "world_size": "pld.system.world_size",
    "get_comm_ctx": "pld.system.get_comm_ctx",
    "rank": "pld.system.rank",
    "nranks": "pld.system.nranks",
}
_SPECIAL = frozenset({"const", "MemRef", "submit", "spmd_submit", "yield_", "no_dep"})
_IN_KERNELS = {  # how kernels compute what a builtin of Python computes
    "min": "write pl.min(...)",
    "max": "write pl.max(...)",
    "abs": "write pl.max(x, -x) of a scalar, pl.abs(x) of a tensor or tile",
}
_PADDED_LOAD = "pld.tile._remote_load_with_physical_tail_padding"

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
            if function.attr in ("get_byte", "get_bit"):
                return closure_operand(reader, node, compile_time(reader, node))
            root, names = owner.value.id, (owner.attr, function.attr)
            if not reader.module.printed:
                return _source_op(reader, node, root, names, type_, is_statement)
            name = _op_name(reader, node, root, *names)
            return op_call(reader, node, name, type_, is_statement)
        builtin = _builtin_name(reader, function) if reader.module.printed else None
        if builtin is not None:
            return op_call(reader, node, builtin, type_, is_statement)
        if isinstance(owner, ast.Name):
            if owner.id == "self":
                return function_call(reader, node, type_)
            return _short_call(reader, node, owner.id, function.attr, type_, is_statement)
    if isinstance(function, ast.Name):
        return _named_call(reader, node, function, type_)
    raise unsupported(reader, node, f"a call of {shown(function)}")


def _named_call(reader: Reader, node: ast.Call, function: ast.Name, type_: ir.Type | None) -> Operand:
    """``f(...)``: an inline function, a function, or a builtin of Python on compile-time values."""
    name, module = function.id, reader.module
    target = module.closure.get(name)
    if isinstance(target, InlineFunction):
        return expand(reader, node, target)
    if name not in module.functions and name not in module.closure:
        if (value := compile_time(reader, node)) is not NotImplemented:
            return closure_operand(reader, node, value)
        if name in BUILTINS and (module.printed or name == "float") and not module.executed:
            return BUILTINS[name](reader, node)
        if name in PYTHON_BUILTINS:
            hint = _IN_KERNELS.get(name)
            raise unsupported(reader, function, f"the builtin {name!r} on run-time values", hint)
    return function_call(reader, node, type_)


def _source_op(
    reader: Reader,
    node: ast.Call,
    root: str,
    names: tuple[str, ...],
    type_: ir.Type | None,
    is_statement: bool,
) -> ir.Expr:
    """An op as users write it; an op that no namespace has may be called by its registered name."""
    is_language = root in reader.module.language
    if not is_language and root not in reader.module.distributed:
        raise unknown_op(reader, node)
    path = ("pl" if is_language else "pld", *names)
    try:
        found = source_call(reader, node, path, is_statement)
    except NoRuleOpCallError as error:
        if type_ is None or len(names) != 2:
            raise reader.error(InvalidOperationError, node, str(error), error.hint) from None
        return op_call(reader, node, _op_name(reader, node, root, *names), type_, is_statement)
    except UnknownOpCallError as error:
        if len(names) == 2 and (type_ is not None or is_statement):
            registered = _op_name(reader, node, root, *names)
            if not is_misspelt(registered):
                return op_call(reader, node, registered, type_, is_statement)
        raise unknown_op(reader, node, error.hint) from None
    if names[-1] == "dim" and (symbol := _dimension(reader, found)) is not None:
        return symbol
    if isinstance(found.type, ir.UnknownType) and type_ is None and not is_statement:
        hint = "annotate the name that the call is assigned to"
        raise reader.error(InvalidOperationError, node, f"{shown(node.func)} does not tell its type", hint)
    return found


def _dimension(reader: Reader, found: ir.Expr) -> ir.Expr | None:
    """The symbol that the run-time extent of a parameter has; known in Orchestration functions only."""
    if reader.function_type is not ir.FunctionType.Orchestration:
        return None
    match found:
        case ir.Call(args=(ir.Var() as tensor, ir.ConstInt(value=axis))):
            if not any(tensor is param for param in reader.params):
                return None
            shape = tensor.type.shape if isinstance(tensor.type, ir.ShapedType) else ()
            if -len(shape) <= axis < len(shape) and isinstance(shape[axis], ir.Var):
                return shape[axis]
    return None


def _op_name(reader: Reader, node: ast.Call, root: str, namespace: str, name: str) -> str:
    """The registered name of the op that ``root.namespace.name`` spells; it need not be in the op table."""
    if name.endswith("_") and python_keywords.iskeyword(name[:-1]):
        name = name[:-1]
    if root in reader.module.language and not namespace[0].isupper() and namespace != "pld":
        is_moved = namespace == "system" and facts.of(f"tile.{name}").is_transfer
        return f"tile.{name}" if is_moved else f"{namespace}.{name}"
    if root in reader.module.distributed and not namespace[0].isupper():
        return f"pld.{namespace}.{name}"
    hint = "ops stand in namespaces, such as pl.tensor, pl.tile, pl.system and pld.tensor"
    raise unknown_op(reader, node, hint)


def _builtin_name(reader: Reader, node: ast.Attribute) -> str | None:
    """``builtin.tensor.allreduce`` for ``pl.builtin.tensor.allreduce``: ops that passes make, never users."""
    match node:
        case ast.Attribute(
            value=ast.Attribute(value=ast.Attribute(value=ast.Name(id=root), attr="builtin"), attr=namespace),
            attr=name,
        ) if root in reader.module.language:
            return f"builtin.{namespace}.{name}"
    return None


def _short_call(
    reader: Reader, node: ast.Call, root: str, name: str, type_: ir.Type | None, is_statement: bool
) -> Operand:
    """``pl.x(...)`` or ``pld.x(...)``."""
    is_source = not reader.module.printed
    if name not in _SPECIAL and is_source:
        return _source_op(reader, node, root, (name,), type_, is_statement)
    if root in reader.module.distributed and name in _DISTRIBUTED:
        return op_call(reader, node, _DISTRIBUTED[name], type_, is_statement)
    if root not in reader.module.language:
        raise unknown_op(reader, node)
    if name in SCALAR_CALLS:
        return SCALAR_CALLS[name](reader, node)
    if name == "MemRef":
        return memory_reference(reader, node)
    if name in ("submit", "spmd_submit"):
        if node is not reader.root:
            message = f"pl.{name} stands alone on the right of an assignment"
            raise reader.error(ParserSyntaxError, node, message, "bind its result to a name first")
        return submit(reader, node, type_)
    if name == "yield_":
        raise reader.error(ParserSyntaxError, node, "pl.yield_ is a statement, not a value")
    if name == "no_dep":
        raise reader.error(ParserSyntaxError, node, "pl.no_dep stands around an argument of a kernel call")
    hint = f"text dumps name the op itself, such as pl.tensor.{name} or pl.tile.{name}"
    raise unknown_op(reader, node, hint)


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
            attrs += attribute_dict(reader, keyword.value, "attrs")
        elif keyword.arg in operands:
            late[keyword.arg or ""] = keyword.value
        elif keyword.arg == "deps" and facts.of(name).has("dummy_task"):
            attrs += [("dummy_task", True), ("manual_dep_edges", variables(reader, keyword.value, "deps"))]
        else:
            kwargs.append((keyword.arg or "", keyword_value(reader, name, keyword)))
    if late:
        args += _late_operands(reader, name, late, kwargs)
    if name == _PADDED_LOAD:
        name, kwargs = "pld.tile.remote_load", [*kwargs, ("allow_physical_tail_padding", True)]
    entry = load_table().get(name)
    form = CallSpec() if entry is None else call_of(entry)
    if reader.splits and form.region is not None and not any(key == form.region for key, _ in kwargs):
        kwargs.append((form.region, reader.splits[-1]))
    if form.target is not None:
        kwargs = _target_keywords(reader, node, form.target, kwargs)
    stored_kwargs = with_float_keywords(name, stored(reader, node, kwargs, of_op=True))
    stored_attrs = stored(reader, node, attrs, of_op=True)
    if type_ is None:
        type_ = _op_type(reader, node, name, args, stored_kwargs, required=not is_statement)
    return build_call(reader, node, ir.Op(name), args, stored_kwargs, stored_attrs, type_)


def _op_type(
    reader: Reader, node: ast.AST, name: str, args: list[ir.Expr], kwargs: ir.AttrMap, required: bool
) -> ir.Type:
    """Result type of an op call; without a rule an error, or no type where none is ``required``."""
    entry = load_table().get(name)
    try:
        if entry is None:
            raise InferenceError("no rule gives its result type, and the text prints none here")
        return infer_type(entry, args, kwargs)
    except (InferenceError, TypeError, ValueError) as error:
        if not required:
            return ir.UnknownType()
        hint = "the annotation of a name that the call is bound to would give its type"
        raise reader.error(InvalidOperationError, node, f"operation {name!r}: {error}", hint) from None


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
            found.append(typed_constant(reader, node, value, dtype))
        elif key == "used_cores":
            if isinstance(value, ir.Expr) or value != 0:
                found.append(typed_constant(reader, node, value, ir.DataType.INT32))
        else:
            found.append(value if isinstance(value, ir.Expr) else as_constant(reader, node, value))
    return found


def _target_keywords(
    reader: Reader, node: ast.Call, key: str, kwargs: list[tuple[str, Any]]
) -> list[tuple[str, Any]]:
    """A window takes its name from the variable it is bound to, without the version that passes gave that."""
    if node is not reader.root or not reader.target:
        raise reader.error(ParserSyntaxError, node, "a window buffer is bound to a name of its own")
    version = GeneratedName.parse(reader.target)
    name = reader.target if version is None or version.role != "ssa" else version.base
    return [(key, name), *kwargs]
