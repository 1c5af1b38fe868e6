"""The functions of ``ir.op``: each builds the call of an op, with upstream's parameters and a span."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.errors import closest
from pypto_tmpl.ops.calls.build import first_that_fits
from pypto_tmpl.ops.calls.context import CallContext, OpCallError
from pypto_tmpl.ops.calls.describe import documentation, signature_of
from pypto_tmpl.ops.calls.overloads import Form, Path, builder_forms, spellings
from pypto_tmpl.ops.loader import load_table
from pypto_tmpl.ops.table import OpTable

OpFunction = Callable[..., ir.Call]


def members_of(
    module: str, *namespaces: Path, others: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a module of ``ir.op`` that has the ops of some namespaces.

    An op that several of them have is the first one's; ``others`` are further names of these functions.
    """

    def names() -> dict[str, Path]:
        table = load_table()
        found = {name: path for namespace in reversed(namespaces) for name, path in _paths(namespace, table)}
        return found | {other: found[name] for other, name in others.items() if name in found}

    def find(name: str) -> Any:
        known = {} if name.startswith("__") else names()  # the import system asks for many of these
        if name in known:
            return _function(module, name, known[name], load_table())
        guess = closest(name, known) if known else None
        hint = f"; did you mean {guess!r}?" if guess else ""
        raise AttributeError(f"{module} has no op {name!r}{hint}")

    return find, lambda: sorted(names())


@lru_cache(maxsize=64)
def _paths(namespace: Path, table: OpTable) -> tuple[tuple[str, Path], ...]:
    return tuple((path[-1], path) for path in spellings() if path[:-1] == namespace)


@lru_cache(maxsize=2048)
def _function(module: str, name: str, path: Path, table: OpTable) -> OpFunction:
    forms, shown = builder_forms(path), f"{module.partition('.')[2]}.{name}"

    def function(*args: Any, span: ir.Span | None = None, **keywords: Any) -> ir.Call:
        if args and isinstance(args[-1], ir.Span):  # upstream has it as the last positional parameter
            if span is not None:
                raise OpCallError(f"{shown}: the span is given twice")
            args, span = args[:-1], args[-1]
        while args and args[-1] is None:  # also in place of the span
            args = args[:-1]
        given = {key: value for key, value in keywords.items() if not _is_left_out(forms, key, value)}
        context = CallContext(ir.Span.unknown() if span is None else span)
        return first_that_fits(shown, forms, args, given, context)

    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    function.__doc__ = "\n".join(documentation(shown, forms))
    setattr(function, "__signature__", signature_of(forms, has_span=True))  # noqa: B010
    return function


def _is_left_out(forms: Sequence[Form], keyword: str, value: Any) -> bool:
    """Whether a keyword says no more than its absence: None, or the default of the forms that have it.

    One function stands for several forms, and each takes the defaults of the others.
    """
    if value is None or isinstance(value, ir.Expr):
        return value is None
    having = [spec for form in forms for spec in form.signature.parameters if spec.name == keyword]
    return 0 < len(having) < len(forms) and all(spec.default == value for spec in having)
