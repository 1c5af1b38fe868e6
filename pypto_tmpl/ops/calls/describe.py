"""Signatures and docstrings of ops, from the forms in which they are called."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from types import MappingProxyType
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ops.calls.overloads import Form
from pypto_tmpl.ops.signatures import Parameter, SameAs

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def documentation(shown: str, forms: Sequence[Form]) -> Iterator[str]:
    """Signature, meaning and element dtypes of every op that a name may mean."""
    for form in forms:
        if not form.is_user_form:
            continue
        parameters = ", ".join(_parameter_text(form, parameter) for parameter in form.signature.parameters)
        yield f"{shown}({parameters}): {form.entry.name}"
        yield f"    {form.entry.summary}"
        if form.entry.is_executable:
            yield f"    Element dtypes: {', '.join(form.entry.dtypes)}."
        yield ""


def _parameter_text(form: Form, parameter: Parameter) -> str:
    spec = form.operand_spec(parameter.name)
    kind = f": {' | '.join(spec.kinds)}" if spec is not None else ""
    default = "" if parameter.required else f"={default_text(parameter)}"
    return f"{form.shown.get(parameter.name, parameter.name)}{kind}{default}"


def default_text(parameter: Parameter) -> str:
    """A default as the signature of the op table writes it."""
    value = parameter.default
    if isinstance(value, SameAs):
        return value.name
    return value if isinstance(value, str) else repr(value)


def signature_of(all_forms: Sequence[Form], has_span: bool = False) -> inspect.Signature:
    """The parameters of all forms by position, then by keyword; those that some form lacks are optional."""
    forms = [form for form in all_forms if form.is_user_form]
    found: dict[str, inspect.Parameter] = {}
    for place in range(max(len(form.positional) for form in forms)):
        pairs = [(form, form.positional[place]) for form in forms if place < len(form.positional)]
        is_required = len(pairs) == len(forms) and all(parameter.required for _, parameter in pairs)
        names = (form.shown.get(p.name, p.name) for form, p in pairs)
        name = next((name for name in names if name not in found), None)
        if name is not None:
            found[name] = _inspected(name, *pairs[0], is_required, _POSITIONAL)
    for form in forms:
        for parameter in form.signature.parameters:
            if parameter.keyword_only and parameter.name not in found:
                is_required = parameter.required and len(forms) == 1
                found[parameter.name] = _inspected(
                    parameter.name, form, parameter, is_required, inspect.Parameter.KEYWORD_ONLY
                )
    has_default, parameters = False, []
    for shown in found.values():  # what follows an optional parameter is optional too
        has_default |= shown.default is not inspect.Parameter.empty
        is_late = has_default and shown.kind is _POSITIONAL and shown.default is inspect.Parameter.empty
        parameters.append(shown.replace(default=None) if is_late else shown)
    if has_span:
        parameters.append(inspect.Parameter("span", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


def _inspected(
    name: str, form: Form, parameter: Parameter, is_required: bool, kind: Any
) -> inspect.Parameter:
    default = _default(form, parameter)
    if is_required:
        default = inspect.Parameter.empty
    elif parameter.required or isinstance(default, SameAs):
        default = None
    return inspect.Parameter(name, kind, default=default)


def _default(form: Form, parameter: Parameter) -> Any:
    """A default as a value: members of enumerations and dtypes stand by their names in the table."""
    spec, default = form.specs.get(parameter.name), parameter.default
    if not isinstance(default, str):
        return default
    if spec is None:
        return ir.DataType.__dict__.get(default, default)
    if spec.type in _TYPES:
        return getattr(_TYPES[spec.type], default)
    codes = next((cls for cls in _CODED if spec.values == {m.name: m.value for m in cls}), None)
    return default if codes is None else codes[default]


_TYPES: Mapping[str, Any] = MappingProxyType(
    {cls.__name__: cls for cls in (ir.DataType, ir.MemorySpace, ir.PadValue, ir.TensorLayout, ir.TileLayout)}
)
_CODED: tuple[type[IntEnum], ...] = (ir.AtomicType, ir.NotifyOp, ir.ReduceOp, ir.WaitCmp)
