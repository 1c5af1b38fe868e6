"""What Python sees of an op: a callable with a signature and a docstring that refuses to run.

Kernels are read, not run, so a call that Python makes is a mistake: it says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NoReturn

from pypto_tmpl.errors import closest
from pypto_tmpl.ops import OpTable, load_table
from pypto_tmpl.ops.calls.overloads import Form, Path, forms_of, spellings
from pypto_tmpl.ops.calls.scalars import SCALAR_PARAMETERS
from pypto_tmpl.ops.signatures import Parameter, SameAs

OpFunction = Callable[..., NoReturn]
_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD


def members_of(*namespace: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of the module that stands for a namespace: ``pl.tensor``."""

    def find(name: str) -> Any:
        is_special = name.startswith("__")  # the import system asks for many of these
        if not is_special and name in names_in(namespace):
            return op_function((*namespace, name))
        shown = ".".join(namespace)
        guess = None if is_special else closest(name, names_in(namespace))
        hint = f"; did you mean {shown}.{guess}?" if guess else ""
        raise AttributeError(f"{shown} has no {name!r}{hint}")

    def listed() -> list[str]:
        return sorted(names_in(namespace))

    return find, listed


def names_in(namespace: Path) -> frozenset[str]:
    """The ops that a namespace spells; the unified ones for ``("pl",)``."""
    return _names_in(namespace, load_table())


@lru_cache(maxsize=64)
def _names_in(namespace: Path, table: OpTable) -> frozenset[str]:
    depth = len(namespace)
    found = {path[depth] for path in spellings() if len(path) == depth + 1 and path[:depth] == namespace}
    return frozenset(found | SCALAR_PARAMETERS.keys()) if namespace == ("pl",) else frozenset(found)


def op_function(path: Path) -> OpFunction:
    """The callable that stands for a spelling."""
    return _op_function(path, load_table())


@lru_cache(maxsize=4096)
def _op_function(path: Path, table: OpTable) -> OpFunction:
    shown = ".".join(path)

    def call(*args: Any, **keywords: Any) -> NoReturn:
        message = f"{shown} is an op of kernels: they are translated, not executed, and Python cannot call it"
        raise RuntimeError(message)

    forms = user_forms(path)
    call.__name__ = path[-1]
    call.__qualname__ = shown
    call.__module__ = "pypto_tmpl.language" if path[0] == "pl" else "pypto_tmpl.language.distributed"
    call.__doc__ = "\n".join(_documentation(path, forms))
    setattr(call, "__signature__", _signature(path, forms))  # noqa: B010
    return call


def user_forms(path: Path) -> list[Form]:
    """The forms in which users call a spelling, without the operand lists of the IR."""
    return [form for form in forms_of(path) if form.is_user_form]


def _documentation(path: Path, forms: list[Form]) -> Iterator[str]:
    """Signature, meaning and element dtypes of every op that the spelling may mean."""
    if path[0] == "pl" and path[-1] in SCALAR_PARAMETERS and len(path) == 2:
        names = SCALAR_PARAMETERS[path[-1]]
        yield f"{'.'.join(path)}({', '.join(names)}), on scalars: a scalar expression."
        yield ""
    for form in forms:
        parameters = ", ".join(_parameter_text(form, parameter) for parameter in form.signature.parameters)
        yield f"{'.'.join(path)}({parameters}): {form.entry.name}"
        yield f"    {form.entry.summary}"
        if form.entry.is_executable:
            yield f"    Element dtypes: {', '.join(form.entry.dtypes)}."
        yield ""


def _parameter_text(form: Form, parameter: Parameter) -> str:
    spec = form.operand_spec(parameter.name)
    kind = f": {' | '.join(spec.kinds)}" if spec is not None else ""
    default = "" if parameter.required else f"={default_text(parameter)}"
    return f"{parameter.name}{kind}{default}"


def default_text(parameter: Parameter) -> str:
    """A default as the signature of the op table writes it."""
    value = parameter.default
    if isinstance(value, SameAs):
        return value.name
    return value if isinstance(value, str) else repr(value)


def _signature(path: Path, forms: list[Form]) -> inspect.Signature:
    """The parameters of all forms by position, then by keyword; those that some form lacks are optional."""
    if not forms:
        names = SCALAR_PARAMETERS[path[-1]]
        return inspect.Signature([inspect.Parameter(name, _POSITIONAL) for name in names])
    found: dict[str, inspect.Parameter] = {}
    for place in range(max(len(form.positional) for form in forms)):
        given = [form.positional[place] for form in forms if place < len(form.positional)]
        is_required = len(given) == len(forms) and all(parameter.required for parameter in given)
        name = next((p.name for p in given if p.name not in found), None)
        if name is not None:
            found[name] = _inspected(name, given[0], is_required, _POSITIONAL)
    for form in forms:
        for parameter in form.signature.parameters:
            if parameter.keyword_only and parameter.name not in found:
                is_required = parameter.required and len(forms) == 1
                found[parameter.name] = _inspected(
                    parameter.name, parameter, is_required, inspect.Parameter.KEYWORD_ONLY
                )
    has_default, parameters = False, []
    for shown in found.values():  # what follows an optional parameter is optional too
        has_default |= shown.default is not inspect.Parameter.empty
        is_late = has_default and shown.kind is _POSITIONAL and shown.default is inspect.Parameter.empty
        parameters.append(shown.replace(default=None) if is_late else shown)
    return inspect.Signature(parameters)


def _inspected(name: str, parameter: Parameter, is_required: bool, kind: Any) -> inspect.Parameter:
    default = parameter.default
    if is_required:
        default = inspect.Parameter.empty
    elif parameter.required or isinstance(default, SameAs):
        default = None
    return inspect.Parameter(name, kind, default=default)
