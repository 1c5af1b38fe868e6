"""Rewriting in which statements are replaced by others that are not looked at again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pypto_tmpl import ir
from pypto_tmpl.rewrite import Rewriter


class Replacing(Rewriter):
    """A rewriter that asks ``replaced`` about statements of the program, not about those that it makes."""

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[int, ir.Stmt] = {}  # alive, so that ids are not given again

    def before(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        if id(stmt) in self._given:
            return [stmt]
        found = list(self.replaced(stmt))
        self._given |= {id(one): one for one in found if one is not stmt}
        return found

    def replaced(self, stmt: ir.Stmt) -> Iterable[ir.Stmt]:
        """What stands in the place of a statement whose parts were not looked at yet."""
        return [stmt]


class Retyping(Replacing):
    """Puts statements in the place of others, and gives variables other types where they are bound."""

    def __init__(self, replacements: Mapping[int, list[ir.Stmt]], types: Mapping[int, ir.Type]) -> None:
        super().__init__()
        self._replacements, self._types = replacements, types

    def replaced(self, stmt: ir.Stmt) -> Iterable[ir.Stmt]:
        return self._replacements.get(id(stmt), [stmt])

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        type_ = self._types.get(id(old))
        if type_ is None:
            return typed
        if isinstance(typed, ir.IterArg):
            return ir.IterArg(typed.name_hint, type_, typed.initValue, typed.span)
        return ir.Var(typed.name_hint, type_, typed.span)
