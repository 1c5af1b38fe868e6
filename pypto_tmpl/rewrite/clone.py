"""Copies of statements and functions that bind variables of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from pypto_tmpl import ir
from pypto_tmpl.rewrite.build import build
from pypto_tmpl.rewrite.rewriter import Rewriter

N = TypeVar("N", bound=ir.Stmt | ir.Function)


def clone(
    node: N,
    rename: Callable[[ir.Var], str] = lambda var: var.name_hint,
    *,
    keep: Iterable[ir.Var] = (),
    substitution: Mapping[ir.Var, ir.Expr] | None = None,
    place: Callable[[ir.Var], ir.Span] = lambda var: var.span,
) -> N:
    """A copy of a statement or function in which every variable that it binds is a fresh one.

    ``rename`` gives the name of the fresh variable for an old one, ``place`` where it stands. Variables of
    ``keep`` stay themselves, those of ``substitution``, which ``node`` does not bind, read as what they are
    mapped to. A variable that is bound several times becomes one fresh variable; what is read before it is
    bound stays what it was.
    """
    cloning = _Cloning(rename, place, keep)
    for var, value in (substitution or {}).items():
        cloning.bind(var, value)
    return cloning.rewrite(node)


class _Cloning(Rewriter):
    opens_sequences = False

    def __init__(
        self,
        rename: Callable[[ir.Var], str],
        place: Callable[[ir.Var], ir.Span],
        keep: Iterable[ir.Var],
    ) -> None:
        super().__init__()
        self._rename = rename
        self._place = place
        self._kept = {id(var): var for var in keep}
        self._fresh: dict[int, ir.Var] = {}

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        if id(old) in self._kept:
            return typed
        if id(old) not in self._fresh or isinstance(old, ir.IterArg):
            self._fresh[id(old)] = self._fresh_variable(old, typed)
        return self._fresh[id(old)]

    def _fresh_variable(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        name = self._rename(old)
        if isinstance(typed, ir.IterArg):
            return ir.IterArg(name, typed.type, typed.initValue, typed.span)
        if type(typed) is ir.Var:
            return ir.Var(name, typed.type, self._place(old))
        return build(typed, name_hint=name)
