"""What the blocks of an ``IRBuilder`` are spoken to with, and what they leave."""

from __future__ import annotations

from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.ir.build import as_expr
from pypto_tmpl.upstream.ir_frames import IfFrame, LoopFrame, WhileFrame
from pypto_tmpl.upstream.ir_steps import Steps


class Handle:
    """Base: ``get_result`` is the node once the block has ended, ValueError before."""

    result: Any = None

    def __init__(self, builder: Steps) -> None:
        self._builder = builder

    def get_result(self) -> Any:
        if self.result is None:
            raise ValueError("the block has not ended yet")
        return self.result


class FunctionHandle(Handle):
    """A function that is being built."""

    def param(
        self,
        name: str,
        type: ir.Type,
        span: ir.Span | None = None,
        direction: ir.ParamDirection = ir.ParamDirection.In,
    ) -> ir.Var:
        """One more parameter."""
        return self._builder.func_arg(name, type, span, direction)

    def return_type(self, type: ir.Type) -> None:
        """One more type that it returns."""
        self._builder.return_type(type)


class ProgramHandle(Handle):
    """A program that is being built."""

    def declare_function(self, name: str) -> ir.GlobalVar:
        """A name that calls can use before the function is added."""
        return self._builder.declare_function(name)

    def get_global_var(self, name: str) -> ir.GlobalVar:
        return self._builder.get_global_var(name)

    def add_function(self, func: ir.Function) -> ir.GlobalVar:
        return self._builder.add_function(func)


class _WithResults(Handle):
    """A statement that leaves variables behind."""

    _frame: LoopFrame | IfFrame

    def output(self, index: int = 0) -> ir.Var:
        """One of the variables."""
        return self._frame.return_vars[index]

    def outputs(self) -> list[ir.Var]:
        """All of the variables."""
        return list(self._frame.return_vars)


class LoopHandle(_WithResults):
    """A loop that is being built."""

    def __init__(self, builder: Steps, frame: LoopFrame) -> None:
        super().__init__(builder)
        self._frame: LoopFrame = frame

    def iter_arg(
        self,
        name: str,
        init_value: ir.Expr | int | float,
        type: ir.Type | None = None,
        span: ir.Span | None = None,
    ) -> ir.IterArg:
        """A carried value, of the type of its first one."""
        first = as_expr(init_value)
        at = ir.Span.unknown() if span is None else span
        found = ir.IterArg(name, first.type if type is None else type, first, at)
        self._frame.iter_args.append(found)
        return found

    def return_var(self, name: str, type: ir.Type | None = None, span: ir.Span | None = None) -> ir.Var:
        """What the next carried value ends as. Raises ValueError where each has one already."""
        place = len(self._frame.return_vars)
        if place >= len(self._frame.iter_args):
            raise ValueError(f"return_var {name!r} has no iter_arg before it")
        at = ir.Span.unknown() if span is None else span
        found = ir.Var(name, self._frame.iter_args[place].type if type is None else type, at)
        self._frame.return_vars.append(found)
        return found

    def set_condition(self, condition: ir.Expr) -> None:
        """The condition of a while loop, which may read the carried values. ValueError for another loop."""
        if not isinstance(self._frame, WhileFrame):
            raise ValueError("a for loop has bounds and no condition")
        self._frame.condition = condition


class IfHandle(_WithResults):
    """A branch that is being built."""

    def __init__(self, builder: Steps, frame: IfFrame) -> None:
        super().__init__(builder)
        self._frame: IfFrame = frame

    def else_(self, span: ir.Span | None = None) -> None:
        """Go on with the other branch."""
        self._builder.begin_else(span)

    def return_var(self, name: str, type: ir.Type, span: ir.Span | None = None) -> ir.Var:
        """A variable that both branches yield a value of."""
        found = ir.Var(name, type, ir.Span.unknown() if span is None else span)
        self._frame.return_vars.append(found)
        return found
