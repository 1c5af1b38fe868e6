"""``IRBuilder``: blocks of IR as blocks of Python, ``with builder.function("f") as f:``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.upstream.ir_frames import ForFrame, IfFrame, WhileFrame
from pypto_tmpl.upstream.ir_handles import FunctionHandle, IfHandle, LoopHandle, ProgramHandle
from pypto_tmpl.upstream.ir_steps import Steps, Value


class IRBuilder(Steps):
    """Builds programs, functions and statements; a block that ends by an error is forgotten."""

    @contextmanager
    def function(
        self,
        name: str,
        span: ir.Span | None = None,
        type: ir.FunctionType = ir.FunctionType.Opaque,
        level: ir.Level | None = None,
        role: ir.Role | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> Iterator[FunctionHandle]:
        """A function; the handle takes its parameters and return types, and has it as its result behind."""
        self.begin_function(name, span, type, level, role, attrs)
        handle = FunctionHandle(self)
        with self._undone_by_errors():
            yield handle
        handle.result = self.end_function()

    @contextmanager
    def for_loop(
        self,
        loop_var: ir.Var,
        start: Value,
        stop: Value,
        step: Value = 1,
        span: ir.Span | None = None,
        kind: ir.ForKind = ir.ForKind.Sequential,
        attrs: Mapping[str, Any] | None = None,
    ) -> Iterator[LoopHandle]:
        """A counted loop; the handle takes carried values, and has their results behind."""
        self.begin_for_loop(loop_var, start, stop, step, span, kind, attrs)
        handle = LoopHandle(self, self.top(ForFrame))
        with self._undone_by_errors():
            yield handle
        handle.result = self.end_for_loop()

    @contextmanager
    def while_loop(
        self, condition: ir.Expr | None = None, span: ir.Span | None = None
    ) -> Iterator[LoopHandle]:
        """A loop with a condition, which the handle can set once the carried values are there."""
        self.begin_while_loop(condition, span)
        handle = LoopHandle(self, self.top(WhileFrame))
        with self._undone_by_errors():
            yield handle
        handle.result = self.end_while_loop()

    @contextmanager
    def if_stmt(self, condition: ir.Expr, span: ir.Span | None = None) -> Iterator[IfHandle]:
        """A branch; the handle begins the other one and has the results behind."""
        self.begin_if(condition, span)
        handle = IfHandle(self, self.top(IfFrame))
        with self._undone_by_errors():
            yield handle
        handle.result = self.end_if()

    @contextmanager
    def scope(self, kind: ir.ScopeKind, span: ir.Span | None = None, **options: Any) -> Iterator[None]:
        """A scope; options are keywords of the class of its kind."""
        self.begin_scope(kind, span, **options)
        with self._undone_by_errors():
            yield
        self.end_scope()

    @contextmanager
    def program(self, name: str, span: ir.Span | None = None) -> Iterator[ProgramHandle]:
        """A program; the handle takes functions, and has it as its result behind."""
        self.begin_program(name, span)
        handle = ProgramHandle(self)
        with self._undone_by_errors():
            yield handle
        handle.result = self.end_program()

    @contextmanager
    def _undone_by_errors(self) -> Iterator[None]:
        depth = len(self._frames)
        try:
            yield
        except BaseException:
            del self._frames[depth - 1 :]
            raise
