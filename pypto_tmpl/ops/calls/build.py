"""Builds the call that a spelling and its arguments mean."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import closest
from pypto_tmpl.ops.calls import scalars, special
from pypto_tmpl.ops.calls.arguments import keyword_of, kind_of, operand_of
from pypto_tmpl.ops.calls.context import (
    Argument,
    CallContext,
    NoRuleOpCallError,
    OpCallError,
    UnknownOpCallError,
    shown_argument,
)
from pypto_tmpl.ops.calls.literals import signed_operand
from pypto_tmpl.ops.calls.overloads import Form, Misfit, Path, forms_of, spellings
from pypto_tmpl.ops.model import KwargSpec, OpEntry
from pypto_tmpl.ops.typing import InferenceError, MissingRuleError, built_type, resolve_result


def build_call(
    path: Path, args: Sequence[Argument], kwargs: Mapping[str, Argument], context: CallContext
) -> ir.Expr:
    """The expression that ``path``, such as ``("pl", "add")``, means when called with these arguments.

    Raises: UnknownOpCallError where nothing is spelled so, OpCallError where the op does not take the
    arguments (the message names the operand and what it is), NoRuleOpCallError where the table does not
    tell the type of the result. All are TypeErrors.
    """
    if path in scalars.SCALAR_PATHS and scalars.applies(args, kwargs):
        return scalars.build(path[-1], args, kwargs, context.span)
    forms = forms_of(path)
    if not forms and path in scalars.SCALAR_PATHS:
        hint = f"tensors and tiles have pl.{path[-1]}imum" if path[-1] in ("min", "max") else None
        raise OpCallError(f"{'.'.join(path)}: its operands are scalars", hint)
    if not forms:
        raise _unknown(path)
    return first_that_fits(".".join(path), forms, args, kwargs, context)


def first_that_fits(
    shown: str,
    forms: Sequence[Form],
    args: Sequence[Argument],
    kwargs: Mapping[str, Argument],
    context: CallContext,
) -> ir.Call:
    """The call in the first form that takes the arguments; OpCallError where none does."""
    best: Misfit | None = None
    for form in forms:
        bound = form.bind(args, kwargs)
        if not isinstance(bound, Misfit):
            return _build(form, bound, context)
        if form.is_user_form and (best is None or bound.rank > best.rank):
            best = bound
    assert best is not None
    raise OpCallError(f"{shown}: {best.message()}", _hint(args))


def _build(form: Form, bound: dict[str, Argument], context: CallContext) -> ir.Call:
    entry, call = form.entry, form.call
    try:
        _check_together(call.together, bound)
        stated = {name: bound.pop(name, None) for name in call.states}
        if call.region is not None and bound.get(call.region) is None:
            bound[call.region] = special.region_split(context)
        if call.counted is not None:
            bound[call.counted] = special.byte_count(bound[call.counted], stated.get("dtype"))
        operands = _operands(form, bound, context.span)
        attrs = special.attributes(entry.name, stated)
        stored = stored_keywords(form, bound)
        if call.target is not None and bound.get(call.target) is None:
            stored.insert(0, (call.target, special.target_name(context)))
        kwarg_map = ir.AttrMap(stored, of_op=True)
        type_ = _type(entry, operands, kwarg_map, stated, context)
    except NoRuleOpCallError:
        raise
    except (OpCallError, InferenceError, TypeError, ValueError) as error:
        hint = getattr(error, "hint", None)
        order = _order_of_lists(form) if isinstance(error, InferenceError) else None
        raise OpCallError(f"{entry.name}: {error}", hint, order) from None
    return ir.Call(operator(entry.name), operands, kwarg_map, attrs, type_, context.span)


def _type(
    entry: OpEntry,
    operands: list[ir.Expr],
    kwargs: ir.AttrMap,
    stated: Mapping[str, Any],
    context: CallContext,
) -> ir.Type:
    """The type of the call; a statement, whose value nothing reads, needs none."""
    try:
        return built_type(entry, operands, kwargs, stated, context.is_judged)
    except MissingRuleError as error:
        if context.is_statement:
            return ir.UnknownType()
        raise NoRuleOpCallError(f"{entry.name}: {error}") from None


_SWAPPABLE = 2  # lists among the parameters
_NEAR = 4  # names that are shown in place of one that is not close to any
_SHAPED = frozenset({"tensor", "tile"})
_OPS: dict[str, ir.Op] = {}


def operator(name: str) -> ir.Op:
    """The one Op of that name."""
    return _OPS.setdefault(name, ir.Op(name))


def _operands(form: Form, bound: Mapping[str, Argument], span: ir.Span) -> list[ir.Expr]:
    """The operands in order; those that are absent are left out."""
    call, found = form.call, list[ir.Expr]()
    names = [*call.either, *form.operands] if call.either else form.operands
    pending: list[str] = []  # absent tuples that are written as empty ones if a later operand is given
    for name in names:
        value = bound.get(name)
        if value is None or _is_dropped(form, name, value):
            if name in call.fills:
                pending.append(name)
            continue
        if name in call.either and _is_constant(value):
            continue
        found += [ir.MakeTuple((), span) for _ in pending]
        pending.clear()
        if name in call.wraps and kind_of(value) == "scalar":
            value = [value]
        found.append(literal_operand(form, name, value, bound, span))
    return found


def literal_operand(
    form: Form, name: str, value: Argument, bound: Mapping[str, Argument], span: ir.Span
) -> ir.Expr:
    """The operand that an argument is; a number is of the dtype that the op gives it."""
    source = form.call.literals.get(name)
    if source is None:
        return operand_of(value, span)
    dtype = _literal_dtype(form, source, bound)
    if name in form.call.signed and dtype is not None:
        return signed_operand(name, value, dtype, span)
    stays_fp32 = isinstance(value, float) and _float_is_fp32(form, source)
    operand = operand_of(value, span, ir.DataType.FP32 if stays_fp32 else dtype)
    if dtype != ir.DataType.INDEX and _is_index_variable(operand) and _computes_with(form, source):
        message = f"the operand {name!r} is an INDEX scalar, and the elements of {source!r} are not"
        raise OpCallError(message, "pl.cast gives it the dtype of the elements")
    return operand


def _float_is_fp32(form: Form, source: str) -> bool:
    """Whether a float next to the elements of an operand is FP32 whatever these are, as upstream has it.

    A tensor of 16-bit floats then gives FP32. A tile keeps its dtype: where the op would promote it, the
    float takes that dtype instead.
    """
    promotes_tile = form.entry.namespace == "tile" and resolve_result(form.entry).dtype == "promote"
    return _computes_with(form, source) and not promotes_tile


def _computes_with(form: Form, source: str) -> bool:
    """Whether the op computes with the elements of an operand; a write only converts to their dtype."""
    spec = form.operand_spec(source)
    return spec is not None and source not in form.entry.writes and not _SHAPED.isdisjoint(spec.kinds)


def _is_index_variable(value: ir.Expr) -> bool:
    is_index = isinstance(value.type, ir.ScalarType) and value.type.dtype == ir.DataType.INDEX
    return is_index and not isinstance(value, ir.ConstInt)


def _literal_dtype(form: Form, source: str, bound: Mapping[str, Argument]) -> ir.DataType | None:
    """Dtype of the operand or keyword ``source``, or the dtype of that name."""
    if source in form.specs:
        value = bound.get(source)
        return None if value is None else keyword_of(form.specs[source], value)
    if form.operand_spec(source) is not None:
        value = bound.get(source)
        type_ = value.type if isinstance(value, ir.Expr) else None
        return type_.dtype if isinstance(type_, (ir.ShapedType, ir.ScalarType)) else None
    dtype: ir.DataType = getattr(ir.DataType, source)
    return dtype


def _is_constant(value: Argument) -> bool:
    return not isinstance(value, ir.Expr) or isinstance(value, ir.ConstInt)


def stored_keywords(form: Form, bound: Mapping[str, Argument]) -> list[tuple[str, Any]]:
    """The keywords that the call stores, in order; what is left over must be what the op drops."""
    call, found = form.call, list[tuple[str, Any]]()
    for name in form.keywords:
        value = bound.get(name)
        if value is None or (name in call.either and not _is_constant(value)):
            continue
        if not _is_dropped(form, name, value):
            found.append((name, keyword_of(form.specs[name], value)))
    for name, value in bound.items():
        if value is None or name in form.specs or form.operand_spec(name) is not None:
            continue
        if not _is_dropped(form, name, value):
            raise OpCallError(f"it takes no {name}={shown_argument(value)}")
    return found


def _is_dropped(form: Form, name: str, value: Argument) -> bool:
    drops = form.call.drops
    if name not in drops:
        return False
    spec: KwargSpec | None = form.specs.get(name)
    if spec is not None:
        return bool(keyword_of(spec, value) == keyword_of(spec, drops[name]))
    plain = value.value if isinstance(value, (ir.ConstInt, ir.ConstBool)) else value
    return not isinstance(plain, ir.Expr) and bool(plain == drops[name])


def _check_together(names: Sequence[str], bound: Mapping[str, Argument]) -> None:
    given = [name for name in names if bound.get(name) is not None]
    if given and len(given) != len(names):
        missing = next(name for name in names if name not in given)
        raise OpCallError(f"{', '.join(names)} are given together or not at all, and {missing!r} is missing")


def _order_of_lists(form: Form) -> str | None:
    """The order of the parameters where several of them are lists, which are easily swapped."""
    kinds = [form.operand_spec(parameter.name) for parameter in form.positional]
    if sum(spec is not None and "tuple" in spec.kinds and not spec.optional for spec in kinds) < _SWAPPABLE:
        return None
    return f"the parameters are {', '.join(parameter.name for parameter in form.positional)}, in that order"


def _hint(args: Sequence[Argument]) -> str | None:
    kinds = [kind_of(value) for value in args[:2]]
    if kinds == ["scalar", "tensor"] or kinds == ["scalar", "tile"]:
        return f"the {kinds[1]} comes first, the scalar after it"
    if set(kinds) == {"tensor", "tile"}:
        return "tensors and tiles do not mix: load the tensor into a tile, or store the tile"
    return None


def _unknown(path: Path) -> UnknownOpCallError:
    text = ".".join(path)
    guess = next((".".join(known) for known in spellings() if known[-1] == path[-1]), None)
    beside = [known[-1] for known in spellings() if known[:-1] == path[:-1]]
    if guess is None:
        name = closest(path[-1], beside)
        guess = name and ".".join((*path[:-1], name))
    if guess is None and beside:
        near = difflib.get_close_matches(path[-1], beside, n=_NEAR, cutoff=0.0)
        hint = f"names like it are {', '.join('.'.join((*path[:-1], name)) for name in near)}"
        return UnknownOpCallError(f"unknown op {text!r}", f"{hint}; `pypto-tmpl ops list` shows all")
    return UnknownOpCallError(f"unknown op {text!r}", f"did you mean {guess!r}?" if guess else None)
