"""What one core has of a mixed kernel: statements, carries, results of branches, versions of tensors."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import statements
from pypto_tmpl.ir.verifier.walking import definitions, used_variables
from pypto_tmpl.ops.cores import CoreSide
from pypto_tmpl.passes.base import PassError
from pypto_tmpl.passes.cores.kernel import OTHER, Flows, Kernel, TensorParams, controls, is_free
from pypto_tmpl.passes.cores.transfers import Transfer
from pypto_tmpl.passes.outline.dataflow import own_reads
from pypto_tmpl.passes.structure.yields import results

_JUMPS = (ir.BreakStmt, ir.ContinueStmt)


class Reach:
    """Which values one core knows: those that the other computes, and all that is made of them, it does not.

    What a core cannot know, and either could do, only the other one does.
    """

    def __init__(
        self,
        kernel: Kernel,
        flows: Flows,
        params: TensorParams,
        transfers: dict[int, Transfer],
        side: CoreSide,
    ) -> None:
        self._kernel, self._flows, self._params = kernel, flows, params
        self.foreign: set[int] = set()  # statements that only the other core runs
        self.missing: set[int] = set()  # variables that only the other core knows
        self._todo: list[ir.Var] = []
        for stmt in kernel.statements:
            transfer = transfers.get(id(stmt))
            if transfer is not None and transfer.consumer is not side:
                self._lose(transfer.var)
            elif kernel.side(stmt) is OTHER[side]:
                self._leave(stmt)
        while self._todo:
            self._follow(self._todo.pop())

    def _lose(self, var: ir.Var) -> None:
        if id(var) not in self.missing and self._params.of(var) is None:
            self.missing.add(id(var))
            self._todo.append(var)

    def _leave(self, root: ir.Stmt) -> None:
        if id(root) in self.foreign:
            return
        for stmt in statements(root):
            self.foreign.add(id(stmt))
            for var in definitions(stmt):
                self._lose(var)

    def _follow(self, var: ir.Var) -> None:
        for made in self._flows.into[id(var)]:
            self._lose(made)
        for stmt in self._flows.controlled[id(var)]:
            if self._kernel.side(stmt) is CoreSide.SHARED:
                self._leave(stmt)
        for stmt in self._flows.readers[id(var)]:
            has_effect = isinstance(stmt, ir.AssignStmt | ir.EvalStmt) and not is_free(stmt)
            if has_effect and self._kernel.side(stmt) is CoreSide.SHARED:
                self._leave(stmt)


class Share:
    """What a core keeps of a kernel: what has effects, what is handed over, and what these need."""

    def __init__(
        self,
        kernel: Kernel,
        params: TensorParams,
        transfers: dict[int, Transfer],
        reaches: dict[CoreSide, Reach],
        side: CoreSide,
    ) -> None:
        self.side = side
        self.kept: set[int] = set()
        self.positions: set[tuple[int, int]] = set()  # of carries and results: the statement, and which
        self.versions: dict[ir.Var, ir.Var] = {}  # versions that the other core makes: the parameter
        self._kernel, self._params, self._transfers = kernel, params, transfers
        self._reach = reaches[side]
        self._places = {
            id(var): (stmt, place)
            for stmt in kernel.statements
            for place, (variables, _) in enumerate(results(stmt))
            for var in variables
        }
        self._needed: set[int] = set()
        self._todo: list[tuple[ir.Var, ir.Stmt]] = []
        for stmt in kernel.statements:
            self._check_known_somewhere(stmt, reaches[OTHER[side]])
            if id(stmt) not in self._reach.foreign:
                self._keep_if_effect(stmt)
        while self._todo:
            self._meet(*self._todo.pop())

    def _check_known_somewhere(self, stmt: ir.Stmt, other: Reach) -> None:
        is_lost = id(stmt) in self._reach.foreign and id(stmt) in other.foreign
        if is_lost and self._kernel.side(stmt) is CoreSide.SHARED:
            outer = self._kernel.parent.get(id(stmt))
            if outer is None or self._kernel.side(outer) is not CoreSide.SHARED:
                what = "a statement needs values of both cores, and no move hands them over"
                known = (var for var in own_reads(stmt) if id(var) in self._reach.missing | other.missing)
                raise PassError(what, self._kernel.function, stmt, next(known, stmt))

    def _keep_if_effect(self, stmt: ir.Stmt) -> None:
        transfer = self._transfers.get(id(stmt))
        if transfer is not None:
            self._keep(stmt)
            if transfer.consumer is not self.side:
                self._need([transfer.source], stmt)
        elif isinstance(stmt, ir.ReturnStmt):
            if self.side is CoreSide.VECTOR:
                self._keep(stmt)
                self._need(stmt.value, stmt)
        elif isinstance(stmt, _JUMPS) or (
            isinstance(stmt, ir.AssignStmt | ir.EvalStmt) and not is_free(stmt)
        ):
            self._keep_with_operands(stmt)

    def _keep_with_operands(self, stmt: ir.Stmt) -> None:
        self._keep(stmt)
        self._todo += [(var, stmt) for var in own_reads(stmt)]
        for var in definitions(stmt):
            self._need_type(var, stmt)

    def _keep(self, stmt: ir.Stmt) -> None:
        """Keep a statement and those around it, with what says whether and how often they run."""
        found: ir.Stmt | None = stmt
        while found is not None and id(found) not in self.kept:
            self.kept.add(id(found))
            self._todo += [(var, found) for var in controls(found)]
            found = self._kernel.parent.get(id(found))

    def _need(self, values: tuple[ir.Expr, ...] | list[ir.Expr], by: ir.Stmt) -> None:
        self._todo += [(var, by) for var in used_variables(*values)]

    def _need_type(self, var: ir.Var, by: ir.Stmt) -> None:
        """The extents in the type of a variable may name others."""
        self._todo += [(node, by) for node in ir.walk(var.type) if type(node) is ir.Var]

    def _meet(self, var: ir.Var, by: ir.Stmt) -> None:
        if id(var) in self._needed:
            return
        self._needed.add(id(var))
        stmt = self._kernel.defined_by.get(id(var))
        if stmt is None:
            return
        if id(var) in self._reach.missing:
            raise self._unknown(var, by)
        param = self._params.of(var)
        if id(stmt) in self._reach.foreign and param is not None:
            self.versions[var] = param
            return
        if id(stmt) in self._transfers:
            return
        if isinstance(stmt, ir.AssignStmt):
            self._keep_with_operands(stmt)
            return
        self._keep(stmt)
        if id(var) in self._places:
            owner, place = self._places[id(var)]
            self.positions.add((id(owner), place))
            variables, values = list(results(owner))[place]
            self._need(values, by)
            for one in variables:
                self._need_type(one, by)

    def _first_unknown(self, var: ir.Var, by: ir.Stmt) -> tuple[ir.Var, ir.Stmt]:
        """Of what a value is made of, that which the other core computes, and where this one reads it."""
        seen: set[int] = set()
        while id(var) not in seen:
            seen.add(id(var))
            stmt = self._kernel.defined_by[id(var)]
            if id(stmt) in self._reach.foreign or not isinstance(stmt, ir.AssignStmt):
                break
            made_of = [one for one in own_reads(stmt) if id(one) in self._reach.missing]
            var, by = (made_of[0], stmt) if made_of else (var, by)
        return var, by

    def _unknown(self, var: ir.Var, by: ir.Stmt) -> PassError:
        var, by = self._first_unknown(var, by)
        mine, theirs = self.side.value, OTHER[self.side].value
        what = f"the {mine} core needs {var.name_hint!r}, which only the {theirs} core computes"
        error = PassError(what, self._kernel.function, by, var)
        error.add_note(
            "no move hands it over: values reach the other core as tiles, or through global memory"
        )
        return error
