"""Statements of a kernel: calls, loops and branches."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from pypto_tmpl import ir
from pypto_tmpl.ir.enums import ForKind
from pypto_tmpl.streams.calls import Calls
from pypto_tmpl.streams.kernel import Kernel
from pypto_tmpl.streams.problems import Obstacle
from pypto_tmpl.streams.scalars import Scalars
from pypto_tmpl.streams.tensors import Tensors
from pypto_tmpl.streams.tiles import Tiles
from pypto_tmpl.streams.values import Meaning, Value


class Statements:
    """Emits the statements of one kernel."""

    def __init__(
        self, kernel: Kernel, scalars: Scalars, tensors: Tensors, tiles: Tiles, calls: Calls
    ) -> None:
        self._kernel = kernel
        self._scalars = scalars
        self._tensors = tensors
        self._tiles = tiles
        self._calls = calls
        self._macros = kernel.templates.control

    def emit(self, stmt: ir.Stmt) -> tuple[ir.Expr, ...]:
        """The lines of a statement; what its last yield hands over. Raises Obstacle."""
        if isinstance(stmt, ir.SeqStmts):
            yielded: tuple[ir.Expr, ...] = ()
            for part in stmt.stmts:
                yielded = self.emit(part)
            return yielded
        if isinstance(stmt, ir.YieldStmt):
            return stmt.value
        if isinstance(stmt, ir.ScopeStmt):
            return self.emit(stmt.body)
        with self._kernel.writer.at(stmt.span) if stmt.span.is_valid() else nullcontext():
            self._one(stmt)
        return ()

    def _one(self, stmt: ir.Stmt) -> None:
        try:
            if isinstance(stmt, ir.AssignStmt):
                self._assign(stmt)
            elif isinstance(stmt, ir.EvalStmt):
                self._evaluate(stmt.expr)
            elif isinstance(stmt, ir.ForStmt):
                self._for(stmt)
            elif isinstance(stmt, ir.WhileStmt):
                self._while(stmt)
            elif isinstance(stmt, ir.IfStmt):
                self._if(stmt)
            elif not isinstance(stmt, ir.ReturnStmt):
                raise Obstacle(f"a {type(stmt).__name__} has no .pto text")
        except Obstacle as obstacle:
            if obstacle.span is None or not obstacle.span.is_valid():
                obstacle.span = stmt.span
            if isinstance(stmt, ir.AssignStmt):
                obstacle.variable = stmt.var.name_hint
            raise

    def _evaluate(self, expr: ir.Expr) -> None:
        if not isinstance(expr, ir.Call):
            raise Obstacle(f"a {type(expr).__name__} as a statement has no .pto text")
        self._calls.evaluate(expr)

    def _assign(self, stmt: ir.AssignStmt) -> None:
        if isinstance(stmt.value, ir.Call):
            self._calls.assign(stmt.var, stmt.value)
        elif isinstance(stmt.value, ir.TupleGetItemExpr) and self._kernel.is_bound(stmt.var):
            return  # a tile that the operation has written
        elif isinstance(stmt.var.type, ir.TileType) and stmt.var.type.memref is not None:
            self._kernel.bind(stmt.var, self._tiles.allocate(stmt.var))  # another name of the same address
        else:
            self._kernel.bind(stmt.var, self._meaning(stmt.value))

    def _meaning(self, expr: ir.Expr) -> Meaning:
        """What an expression stands for: a scalar computed, anything else as the variable it is."""
        if isinstance(expr.type, ir.ScalarType):
            return self._scalars.value(expr)
        return self._kernel.meaning(expr)

    def _for(self, stmt: ir.ForStmt) -> None:
        kernel = self._kernel
        if stmt.kind in (ForKind.Unroll, ForKind.Pipeline):
            raise Obstacle(f"a loop of kind {stmt.kind.name} is left over: a pass should have lowered it")
        if isinstance(stmt.step, ir.ConstInt) and stmt.step.value <= 0:
            raise Obstacle(
                "loops in device functions must have a positive step, but this loop steps by "
                f"{stmt.step.value}"
            )
        start = self._scalars.index(stmt.start)
        stop = self._scalars.index(stmt.stop)
        step = self._scalars.index(stmt.step)
        positions = _scalar_positions(stmt.iter_args)
        initial = [self._scalars.value(stmt.iter_args[i].initValue) for i in positions]
        variable = kernel.named(stmt.loop_var.name_hint, ir.DataType.INDEX)
        kernel.bind(stmt.loop_var, variable)
        carries = [self._named(stmt.iter_args[i]) for i in positions]
        results = [self._named(stmt.return_vars[i]) for i in positions]
        for index, arg in enumerate(stmt.iter_args):
            if index not in positions:
                kernel.bind(arg, self._meaning(arg.initValue))
        kernel.writer.structure(self._macros.for_open(results, variable, start, stop, step, carries, initial))
        self._region(stmt.body, positions, is_silent=not positions)
        kernel.writer.structure("}")
        for index, var in enumerate(stmt.return_vars):
            if index not in positions:
                kernel.bind(var, kernel.meaning(stmt.iter_args[index]))

    def _named(self, var: ir.Var) -> Value:
        assert isinstance(var.type, ir.ScalarType)
        value = self._kernel.named(var.name_hint, var.type.dtype)
        self._kernel.bind(var, value)
        return value

    def _region(self, body: ir.Stmt, positions: Sequence[int], is_silent: bool) -> tuple[ir.Expr, ...]:
        """The lines of a nested region with its yield of scalars; what it yields in all."""
        kernel = self._kernel
        with kernel.writer.region():
            yielded = self.emit(body)
            values = [self._scalars.value(yielded[i]) for i in positions]
            if not is_silent:
                kernel.line(self._macros.yields(values))
        return yielded

    def _if(self, stmt: ir.IfStmt) -> None:
        kernel = self._kernel
        if stmt.return_vars and stmt.else_body is None:
            raise Obstacle("a branch with results needs an else")
        condition = self._scalars.condition(stmt.condition)
        positions = _scalar_positions(stmt.return_vars)
        results = [self._named(stmt.return_vars[i]) for i in positions]
        for var in stmt.return_vars:
            if isinstance(var.type, ir.TileType):
                self._branch_tile(var)
        kernel.writer.structure(self._macros.if_open(results, condition))
        yielded = self._region(stmt.then_body, positions, is_silent=not positions)
        if stmt.else_body is not None:
            kernel.writer.structure("} else {")
            others = self._region(stmt.else_body, positions, is_silent=not positions)
            self._bind_objects(stmt, yielded, others)
        kernel.writer.structure("}")

    def _branch_tile(self, var: ir.Var) -> None:
        """The hoisted buffer of a branch's result; a region that is known late is set before the branch."""
        value = self._tiles.hoist(var, var.name_hint)
        self._kernel.bind(var, value)
        assert isinstance(var.type, ir.TileType)
        valid = var.type.get_effective_tile_view().valid_shape
        if not all(isinstance(extent, ir.ConstInt) for extent in valid):
            rows, cols = self._tiles.extents(valid)
            self._kernel.line(self._kernel.templates.tiles.set_validshape(value, rows, cols))

    def _bind_objects(self, stmt: ir.IfStmt, yielded: Sequence[ir.Expr], others: Sequence[ir.Expr]) -> None:
        """Tensors and arrays that branches hand over are one object, whichever branch ran."""
        kernel = self._kernel
        for index, var in enumerate(stmt.return_vars):
            if isinstance(var.type, ir.ScalarType | ir.TileType):
                continue
            first, second = kernel.meaning(yielded[index]), kernel.meaning(others[index])
            if getattr(first, "param", first) is not getattr(second, "param", second):
                raise Obstacle(f"the branches hand over different objects as {var.name_hint!r}", var.span)
            kernel.bind(var, first)

    def _while(self, stmt: ir.WhileStmt) -> None:
        kernel = self._kernel
        positions = _scalar_positions(stmt.iter_args)
        initial = [self._scalars.value(stmt.iter_args[i].initValue) for i in positions]
        before: list[Value] = []
        after: list[Value] = []
        for value in initial:
            assert value.dtype is not None
            before.append(kernel.temp(value.dtype))
            after.append(kernel.temp(value.dtype))
        results = [kernel.temp(value.dtype) for value in before if value.dtype is not None]
        for index, arg in enumerate(stmt.iter_args):
            if index not in positions:
                kernel.bind(arg, self._meaning(arg.initValue))
        kernel.writer.structure(self._macros.while_open(results, before, initial))
        self._bind_carries(stmt, positions, before)
        with kernel.writer.region():
            condition = self._scalars.condition(stmt.condition)
            kernel.line(self._macros.condition(condition, before))
        kernel.writer.structure("} do {")
        if after:
            kernel.writer.structure(self._macros.block_arguments(after))
        self._bind_carries(stmt, positions, after)
        self._region(stmt.body, positions, is_silent=False)
        kernel.writer.structure("}")
        for position, result in zip(positions, results, strict=True):
            kernel.bind(stmt.return_vars[position], result)
        for index, var in enumerate(stmt.return_vars):
            if index not in positions:
                kernel.bind(var, kernel.meaning(stmt.iter_args[index]))

    def _bind_carries(self, stmt: ir.WhileStmt, positions: Sequence[int], values: Sequence[Value]) -> None:
        for position, value in zip(positions, values, strict=True):
            self._kernel.bind(stmt.iter_args[position], value)


def _scalar_positions(variables: Sequence[ir.Var]) -> list[int]:
    """Where scalars stand among the variables; all else is an object that regions change in place."""
    return [i for i, var in enumerate(variables) if isinstance(var.type, ir.ScalarType)]
