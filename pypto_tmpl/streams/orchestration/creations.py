"""Tensors that an orchestration function makes: those of one sequence are requested together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.streams.orchestration.dispatch import PipeBuffer
from pypto_tmpl.streams.orchestration.expressions import variables_of
from pypto_tmpl.streams.orchestration.scalars import Scalars
from pypto_tmpl.streams.orchestration.spelling import cpp_type, float_text, run_time_dtype
from pypto_tmpl.streams.orchestration.state import State
from pypto_tmpl.streams.orchestration.values import Cpp, Created
from pypto_tmpl.streams.problems import Obstacle

CREATION = "create"  # the macro of ops that make tensors
_MOST = 16  # tensors of one request
_EXACT = 2**53
_SINGLE_BITS = 32


class Creations:
    """Emits the requests for tensors of one function."""

    def __init__(self, state: State, scalars: Scalars, buffers: Mapping[ir.Expr, PipeBuffer]) -> None:
        self._state = state
        self._scalars = scalars
        self._buffers = buffers
        self._done: set[ir.Stmt] = set()

    def begin(self, statements: Sequence[ir.Stmt]) -> None:
        """Request what a sequence makes, unless its extents are only known within the sequence."""
        bound = {stmt.var for stmt in statements if isinstance(stmt, ir.AssignStmt)}
        self.request(
            stmt for stmt in statements if self.is_creation(stmt) and not bound & set(self._inputs(stmt))
        )

    def before_scope(self, scope: ir.RuntimeScopeStmt, level: int = 1) -> None:
        """Request what is made in a scope, but has to outlive it."""
        found: list[ir.Stmt] = []
        for stmt in flat(scope.body):
            if self.is_creation(stmt) and isinstance(stmt, ir.AssignStmt):
                is_late = self._state.hoists.get(stmt.var, 0) >= level
                if (is_late or (scope.manual and level == 1)) and not self._is_bound_in(scope, stmt):
                    found.append(stmt)
            elif isinstance(stmt, ir.RuntimeScopeStmt):
                self.before_scope(stmt, level + 1)
        self.request(found)

    def request(self, statements: Iterable[ir.Stmt]) -> None:
        """Request tensors now, as many at a time as one request takes."""
        todo = [stmt for stmt in statements if stmt not in self._done and isinstance(stmt, ir.AssignStmt)]
        for start in range(0, len(todo), _MOST):
            self._batch(todo[start : start + _MOST])

    def is_creation(self, stmt: ir.Stmt) -> bool:
        """Whether a statement makes a tensor."""
        call = stmt.value if isinstance(stmt, ir.AssignStmt) else None
        if not isinstance(call, ir.Call) or isinstance(call.op, ir.GlobalVar):
            return False
        entry = self._state.templates.table.get(call.op.name)
        return entry is not None and entry.orchestration == CREATION

    def is_done(self, stmt: ir.Stmt) -> bool:
        """Whether a tensor has been requested already."""
        return stmt in self._done

    def _batch(self, statements: Sequence[ir.AssignStmt]) -> None:
        created = [self._created(stmt) for stmt in statements]
        self._done.update(statements)
        if created:
            text = self._state.templates.statements.create(created, self._state.next_batch())
            self._state.line(text)

    def _created(self, stmt: ir.AssignStmt) -> Created:
        call, type_ = stmt.value, stmt.var.type
        assert isinstance(call, ir.Call) and isinstance(type_, ir.TensorType)
        try:
            shape, initial = self._shape(stmt), self._initial(call, type_.dtype)
        except Obstacle as obstacle:
            obstacle.variable = stmt.var.name_hint
            obstacle.span = obstacle.span or call.span
            raise
        name = self._state.declare(stmt.var)
        self._state.bind(stmt.var, Cpp(name))
        is_manual = bool(call.kwargs.get("manual_dep"))
        return Created(name, f"{name}_ci", shape, run_time_dtype(type_.dtype), is_manual, initial)

    def _shape(self, stmt: ir.AssignStmt) -> list[str]:
        assert isinstance(stmt.var.type, ir.TensorType)
        buffer = self._buffers.get(stmt.var)
        if buffer is not None:
            blocks = buffer.blocks
            if blocks is None or isinstance(blocks, ir.ConstInt):
                return [str(buffer.floats * (1 if blocks is None else blocks.value))]
            text = self._state.templates.values.binary("*", str(buffer.floats), self._scalars.text(blocks))
            return [self._state.templates.values.cast("uint32_t", text)]
        shape = self._scalars.extents(stmt.var.type.shape)
        if stmt.var.type.dtype == DataType.FP4 and shape:
            last = stmt.var.type.shape[-1]
            if not isinstance(last, ir.ConstInt) or last.value % 2:
                raise Obstacle("a 4-bit tensor needs a known even last extent")
            shape[-1] = str(last.value // 2)
        return shape

    def _inputs(self, stmt: ir.Stmt) -> Iterator[ir.Var]:
        """The variables that the extents of a tensor are made of."""
        if isinstance(stmt, ir.AssignStmt) and isinstance(stmt.var.type, ir.TensorType):
            buffer = self._buffers.get(stmt.var)
            for extent in stmt.var.type.shape:
                yield from variables_of(extent)
            if buffer is not None and buffer.blocks is not None:
                yield from variables_of(buffer.blocks)

    def _is_bound_in(self, scope: ir.RuntimeScopeStmt, stmt: ir.Stmt) -> bool:
        bound = {
            inner.var
            for inner in flat(scope.body, (ir.RuntimeScopeStmt,))
            if isinstance(inner, ir.AssignStmt)
        }
        return bool(bound & set(self._inputs(stmt)))

    def _initial(self, call: ir.Call, dtype: DataType) -> str | None:
        """The value that a tensor is filled with, in a form that the run time takes."""
        value = call.kwargs.get("init_value")
        if value is None:
            return None
        if value == 0:
            return "0"
        if not math.isfinite(value):
            raise Obstacle(f"the run time cannot fill a tensor with {value}")
        if dtype.is_float() and dtype.get_bit() >= _SINGLE_BITS:
            return str(self._state.templates.values.cast(cpp_type(dtype), float_text(value)))
        if not dtype.is_float() and float(value).is_integer() and abs(value) <= _EXACT:
            return str(self._state.templates.values.cast(cpp_type(dtype), str(int(value))))
        raise Obstacle(f"the run time cannot fill a tensor of {dtype.name} with {value}")
