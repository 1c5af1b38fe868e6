"""Ops that no instruction computes become the statements that do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from types import MappingProxyType
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.domains.kernel_collectives import collective_problem
from pypto_tmpl.passes.base import FunctionPass
from pypto_tmpl.passes.context import PassContext
from pypto_tmpl.passes.tiles.collectives import COLLECTIVES
from pypto_tmpl.passes.tiles.recipe import Recipe
from pypto_tmpl.passes.tiles.trigonometry import cosine, sine
from pypto_tmpl.rewrite import Rewriter, build


class LowerCompositeOps(FunctionPass):
    """Write out sine and cosine in functions of every type, and collectives in kernels.

    Elsewhere collectives stay: they become launches of kernels that exist ready-made.
    """

    __slots__ = ()

    def run(self, function: ir.Function, context: PassContext) -> ir.Function:
        return _Lower(function).rewrite(function)


Lowering: TypeAlias = Callable[[Recipe, ir.Call], "ir.Expr | None"]
"""Makes the statements of a call, and gives its value, if it has one."""


def _of_tile(lower: Callable[[Recipe, ir.Expr], ir.Call]) -> Lowering:
    return lambda recipe, call: lower(recipe, call.args[0])


_EVERYWHERE: Mapping[str, Lowering] = MappingProxyType(
    {"tile.sin": _of_tile(sine), "tile.cos": _of_tile(cosine)}
)
_IN_KERNELS: Mapping[str, Lowering] = MappingProxyType({**_EVERYWHERE, **COLLECTIVES})


class _Lower(Rewriter):
    def __init__(self, function: ir.Function) -> None:
        super().__init__()
        self._owner = function
        self._numbers = count()
        self._lowerings = _IN_KERNELS if ir.is_incore_type(function.func_type) else _EVERYWHERE

    def statement(self, stmt: ir.Stmt) -> ir.Stmt | Iterable[ir.Stmt]:
        match stmt:
            case ir.AssignStmt():
                made, value = self._lowered(stmt, stmt.value, stmt.var.name_hint)
                return [*made, build(stmt, value=value)]
            case ir.EvalStmt():
                made, value = self._lowered(stmt, stmt.expr, "eval")
                return stmt if value is stmt.expr else made
            case ir.ReturnStmt():
                return self._returned(stmt)
        return stmt

    def _returned(self, stmt: ir.ReturnStmt) -> list[ir.Stmt]:
        made: list[ir.Stmt] = []
        values: list[ir.Expr] = []
        for place, before in enumerate(stmt.value):
            before_it, value = self._lowered(stmt, before, f"ret{place}", "result")
            made += before_it
            values.append(value)
        return [*made, build(stmt, value=values)]

    def _lowered(
        self, stmt: ir.Stmt, value: ir.Expr, base: str, name: str = ""
    ) -> tuple[list[ir.Stmt], ir.Expr]:
        """The statements that go before, and what stands for ``value``, in a variable if it has a name."""
        lowering = self._lowerings.get(value.op.name) if isinstance(value, ir.Call) else None
        if lowering is None or not isinstance(value, ir.Call):
            return [], value
        recipe = Recipe(self._owner, stmt, value, base, self._numbers)
        problem = collective_problem(value)
        if problem is not None:
            raise recipe.error(problem)
        found = lowering(recipe, value)
        if found is None:
            found = ir.MakeTuple([], value.span)
        return recipe.made, recipe.let(name, found) if name else found
