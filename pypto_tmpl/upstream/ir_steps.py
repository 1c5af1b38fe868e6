"""Building IR step by step, each block by a beginning and an end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pypto_tmpl import ir
from pypto_tmpl.ir.build import as_expr
from pypto_tmpl.upstream.ir_frames import (
    ForFrame,
    Frame,
    FunctionFrame,
    IfFrame,
    LoopFrame,
    ProgramFrame,
    ScopeFrame,
    WhileFrame,
)

F = TypeVar("F", bound=Frame)
S = TypeVar("S", bound=ir.Stmt)
Value = ir.Expr | int | float


class Steps:
    """Takes what blocks begin with, statements and ends; what is emitted goes into what was begun last.

    Spans may be left out. Numbers stand for constants: INDEX and FP32. Raises ValueError for what is ended or
    added to and was not begun.
    """

    def __init__(self) -> None:
        self._frames: list[Frame] = []

    # Blocks

    def begin_program(self, name: str, span: ir.Span | None = None) -> None:
        self._frames.append(ProgramFrame(_at(span), name=name))

    def declare_function(self, name: str) -> ir.GlobalVar:
        """A name that calls can use before the function is added."""
        self._nearest(ProgramFrame).functions.setdefault(name, None)
        return ir.GlobalVar(name)

    def get_global_var(self, name: str) -> ir.GlobalVar:
        """The name of a function that was declared or added; ValueError for another one."""
        if name not in self._nearest(ProgramFrame).functions:
            raise ValueError(f"the program has no function {name!r}")
        return ir.GlobalVar(name)

    def get_function_return_types(self, gvar: ir.GlobalVar) -> list[ir.Type]:
        """What a function returns that was added; nothing for one that was only declared."""
        function = self._nearest(ProgramFrame).functions.get(gvar.name)
        return [] if function is None else list(function.return_types)

    def add_function(self, func: ir.Function) -> ir.GlobalVar:
        """Put a function into the program; ValueError where it has one of that name."""
        functions = self._nearest(ProgramFrame).functions
        if functions.get(func.name) is not None:
            raise ValueError(f"two functions are named {func.name!r}")
        functions[func.name] = func
        return ir.GlobalVar(func.name)

    def end_program(self, span: ir.Span | None = None) -> ir.Program:
        return self._end(ProgramFrame).end()

    def begin_function(
        self,
        name: str,
        span: ir.Span | None = None,
        type: ir.FunctionType = ir.FunctionType.Opaque,
        level: ir.Level | None = None,
        role: ir.Role | None = None,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        if self.in_function():
            raise ValueError(f"function {name!r} begins inside of another one")
        frame = FunctionFrame(
            _at(span), name=name, type=type, level=level, role=role, attrs=dict(attrs or {})
        )
        self._frames.append(frame)

    def func_arg(
        self,
        name: str,
        type: ir.Type,
        span: ir.Span | None = None,
        direction: ir.ParamDirection = ir.ParamDirection.In,
    ) -> ir.Var:
        """A parameter of the function."""
        var = ir.Var(name, type, _at(span))
        self._nearest(FunctionFrame).params.append((var, direction))
        return var

    def return_type(self, type: ir.Type) -> None:
        """One more type that the function returns."""
        self._nearest(FunctionFrame).return_types.append(type)

    def add_function_attrs(self, attrs: Mapping[str, Any]) -> None:
        """Attributes of the function, beside those it has."""
        self._nearest(FunctionFrame).attrs.update(attrs)

    def end_function(self, span: ir.Span | None = None) -> ir.Function:
        return self._end(FunctionFrame).end()

    def begin_for_loop(
        self,
        loop_var: ir.Var,
        start: Value,
        stop: Value,
        step: Value = 1,
        span: ir.Span | None = None,
        kind: ir.ForKind = ir.ForKind.Sequential,
        attrs: Mapping[str, Any] | None = None,
    ) -> None:
        bounds = (as_expr(start), as_expr(stop), as_expr(step))
        frame = ForFrame(_at(span), loop_var=loop_var, bounds=bounds, kind=kind, attrs=dict(attrs or {}))
        self._frames.append(frame)

    def add_iter_arg(self, iter_arg: ir.IterArg) -> None:
        self.top(LoopFrame).iter_args.append(iter_arg)

    def add_return_var(self, var: ir.Var) -> None:
        self.top(LoopFrame).return_vars.append(var)

    def end_for_loop(self, span: ir.Span | None = None) -> ir.ForStmt:
        return self._emitted(self._end(ForFrame).end())

    def begin_while_loop(self, condition: ir.Expr | None = None, span: ir.Span | None = None) -> None:
        self._frames.append(WhileFrame(_at(span), condition=condition))

    def add_while_iter_arg(self, iter_arg: ir.IterArg) -> None:
        self.top(WhileFrame).iter_args.append(iter_arg)

    def add_while_return_var(self, var: ir.Var) -> None:
        self.top(WhileFrame).return_vars.append(var)

    def set_while_loop_condition(self, condition: ir.Expr) -> None:
        self.top(WhileFrame).condition = condition

    def end_while_loop(self, span: ir.Span | None = None) -> ir.WhileStmt:
        return self._emitted(self._end(WhileFrame).end())

    def begin_if(self, condition: ir.Expr, span: ir.Span | None = None) -> None:
        self._frames.append(IfFrame(_at(span), condition=condition))

    def begin_else(self, span: ir.Span | None = None) -> None:
        self.top(IfFrame).begin_else()

    def add_if_return_var(self, var: ir.Var) -> None:
        self.top(IfFrame).return_vars.append(var)

    def end_if(self, span: ir.Span | None = None) -> ir.IfStmt:
        return self._emitted(self._end(IfFrame).end())

    def begin_scope(self, kind: ir.ScopeKind, span: ir.Span | None = None, **options: Any) -> None:
        self._frames.append(ScopeFrame(_at(span), kind=kind, options=options))

    def end_scope(self, span: ir.Span | None = None) -> ir.ScopeStmt:
        return self._emitted(self._end(ScopeFrame).end())

    # Statements

    def var(self, name: str, type: ir.Type, span: ir.Span | None = None) -> ir.Var:
        """A variable, which nothing binds yet."""
        return ir.Var(name, type, _at(span))

    def assign(self, var: ir.Var, value: Value, span: ir.Span | None = None) -> ir.AssignStmt:
        return self._emitted(ir.AssignStmt(var, as_expr(value), _at(span)))

    def let(
        self, name: str, value: Value, type: ir.Type | None = None, span: ir.Span | None = None
    ) -> ir.Var:
        """A variable of the type of a value, bound to it."""
        bound = as_expr(value)
        var = ir.Var(name, bound.type if type is None else type, _at(span))
        self.assign(var, bound, span)
        return var

    def make_tuple(self, elements: Sequence[Value], span: ir.Span | None = None) -> ir.MakeTuple:
        return ir.MakeTuple([as_expr(element) for element in elements], _at(span))

    def emit(self, stmt: ir.Stmt) -> None:
        """Put a statement behind the others, with the comments that wait for it."""
        frame = self.top(Frame)
        if isinstance(frame, ProgramFrame):
            raise ValueError("a statement stands in a function, and none was begun")
        if frame.comments:
            stmt, frame.comments = ir.attach_leading_comments(stmt, frame.comments), ()
        frame.stmts.append(stmt)

    def push_pending_leading_comments(self, comments: Sequence[str]) -> None:
        """Comments of the statement that comes next, behind those that wait already."""
        frame = self.top(Frame)
        frame.comments = (*frame.comments, *comments)

    def pop_pending_leading_comments(self) -> list[str]:
        """Take back the comments that wait for a statement."""
        frame = self.top(Frame)
        found, frame.comments = list(frame.comments), ()
        return found

    def return_stmt(
        self, values: Value | Sequence[Value] | None = None, span: ir.Span | None = None
    ) -> ir.ReturnStmt:
        many = [] if values is None else list(values) if isinstance(values, Sequence) else [values]
        return self._emitted(ir.ReturnStmt([as_expr(value) for value in many], _at(span)))

    return_ = return_stmt

    def eval_stmt(self, expr: ir.Expr, span: ir.Span | None = None) -> ir.EvalStmt:
        return self._emitted(ir.EvalStmt(expr, _at(span)))

    def break_stmt(self, span: ir.Span | None = None) -> ir.BreakStmt:
        return self._emitted(ir.BreakStmt(_at(span)))

    def continue_stmt(self, span: ir.Span | None = None) -> ir.ContinueStmt:
        return self._emitted(ir.ContinueStmt(_at(span)))

    def inline_stmt(
        self,
        body: str,
        language: ir.InlineLanguage = ir.InlineLanguage.Python,
        span: ir.Span | None = None,
    ) -> ir.InlineStmt:
        return self._emitted(ir.InlineStmt(body, language, _at(span)))

    # Where it is

    def in_program(self) -> bool:
        return self._has(ProgramFrame)

    def in_function(self) -> bool:
        return self._has(FunctionFrame)

    def in_loop(self) -> bool:
        return self._has(LoopFrame)

    def in_if(self) -> bool:
        return self._has(IfFrame)

    # Types

    def memref(self, memory_space: ir.MemorySpace, addr: Value, size: int, id: int = 0) -> ir.MemRef:
        """Some bytes of a memory."""
        return ir.MemRef(memory_space, as_expr(addr), size, id)

    def tile_view(self, *args: Any, **fields: Any) -> ir.TileView:
        return ir.TileView(*args, **fields)

    def tensor_view(self, *args: Any, **fields: Any) -> ir.TensorView:
        return ir.TensorView(*args, **fields)

    def tensor_type(
        self, shape: Sequence[Any], dtype: ir.DataType, *args: Any, **fields: Any
    ) -> ir.TensorType:
        return ir.TensorType(shape, dtype, *args, **fields)

    def tile_type(self, shape: Sequence[Any], dtype: ir.DataType, *args: Any, **fields: Any) -> ir.TileType:
        return ir.TileType(shape, dtype, *args, **fields)

    # Frames

    def _emitted(self, stmt: S) -> S:
        self.emit(stmt)
        return stmt

    def _has(self, kind: type[Frame]) -> bool:
        return any(isinstance(frame, kind) for frame in self._frames)

    def top(self, kind: type[F]) -> F:
        """What was begun last; ValueError where that is of another kind."""
        if not self._frames or not isinstance(self._frames[-1], kind):
            inside = self._frames[-1].what if self._frames else "nothing"
            raise ValueError(f"this belongs in {kind.what}, and {inside} was begun last")
        return self._frames[-1]

    def _nearest(self, kind: type[F]) -> F:
        for frame in reversed(self._frames):
            if isinstance(frame, kind):
                return frame
        raise ValueError(f"this belongs in {kind.what}, and none was begun")

    def _end(self, kind: type[F]) -> F:
        found = self.top(kind)
        self._frames.pop()
        return found


def _at(span: ir.Span | None) -> ir.Span:
    return ir.Span.unknown() if span is None else span
