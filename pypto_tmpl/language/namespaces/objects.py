"""What Python sees of an op: a callable with a signature and a docstring that refuses to run.

Kernels are read, not run, so a call that Python makes is a mistake: it says so.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NoReturn

from pypto_tmpl.errors import closest
from pypto_tmpl.ops import OpTable, load_table
from pypto_tmpl.ops.calls.describe import documentation, signature_of
from pypto_tmpl.ops.calls.overloads import Form, Path, forms_of, spellings
from pypto_tmpl.ops.calls.scalars import SCALAR_PARAMETERS

OpFunction = Callable[..., NoReturn]


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
    on_scalars = SCALAR_PARAMETERS.get(path[-1], ()) if path[:-1] == ("pl",) else ()
    call.__name__ = path[-1]
    call.__qualname__ = shown
    call.__module__ = "pypto_tmpl.language" if path[0] == "pl" else "pypto_tmpl.language.distributed"
    scalars = (
        [f"{shown}({', '.join(on_scalars)}), on scalars: a scalar expression.", ""] if on_scalars else []
    )
    call.__doc__ = "\n".join([*scalars, *documentation(shown, forms)])
    setattr(call, "__signature__", signature_of(forms) if forms else _of_scalars(on_scalars))  # noqa: B010
    return call


def user_forms(path: Path) -> list[Form]:
    """The forms in which users call a spelling, without the operand lists of the IR."""
    return [form for form in forms_of(path) if form.is_user_form]


def _of_scalars(names: Sequence[str]) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])
