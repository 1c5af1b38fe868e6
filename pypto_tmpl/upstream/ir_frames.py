"""What an ``IRBuilder`` has begun and not ended: programs, functions, loops, branches, scopes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from pypto_tmpl import ir


@dataclass(slots=True)
class Frame:
    """A node that was begun, with the statements of its body so far."""

    span: ir.Span
    stmts: list[ir.Stmt] = field(default_factory=list)
    comments: tuple[str, ...] = ()  # of the statement that comes next
    what: ClassVar[str] = "a body"

    def body(self) -> ir.Stmt:
        """The statements as one."""
        return self.stmts[0] if len(self.stmts) == 1 else ir.SeqStmts(self.stmts, self.span)


@dataclass(slots=True)
class FunctionFrame(Frame):
    """A function."""

    name: str = ""
    type: ir.FunctionType = ir.FunctionType.Opaque
    level: ir.Level | None = None
    role: ir.Role | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    params: list[tuple[ir.Var, ir.ParamDirection]] = field(default_factory=list)
    return_types: list[ir.Type] = field(default_factory=list)
    what: ClassVar[str] = "a function"

    def end(self) -> ir.Function:
        """The function."""
        return ir.Function(
            self.name,
            list(self.params),
            self.return_types,
            self.body(),
            self.span,
            self.type,
            self.level,
            self.role,
            self.attrs,
        )


@dataclass(slots=True)
class LoopFrame(Frame):
    """A loop, with what it carries."""

    iter_args: list[ir.IterArg] = field(default_factory=list)
    return_vars: list[ir.Var] = field(default_factory=list)

    def check(self) -> None:
        """Raise ValueError unless there is a result for each carried value."""
        if len(self.iter_args) != len(self.return_vars):
            counts = f"{len(self.iter_args)} iter_args and {len(self.return_vars)} return_vars"
            raise ValueError(f"{self.what} has {counts}; each carried value has one of both")


@dataclass(slots=True)
class ForFrame(LoopFrame):
    """A counted loop."""

    loop_var: ir.Var | None = None
    bounds: tuple[ir.Expr, ir.Expr, ir.Expr] | None = None
    kind: ir.ForKind = ir.ForKind.Sequential
    attrs: dict[str, Any] = field(default_factory=dict)
    what: ClassVar[str] = "a for loop"

    def end(self) -> ir.ForStmt:
        """The loop."""
        self.check()
        assert self.loop_var is not None and self.bounds is not None
        return ir.ForStmt(
            self.loop_var,
            *self.bounds,
            self.iter_args,
            self.body(),
            self.return_vars,
            self.span,
            self.kind,
            self.attrs,
        )


@dataclass(slots=True)
class WhileFrame(LoopFrame):
    """A loop with a condition."""

    condition: ir.Expr | None = None
    what: ClassVar[str] = "a while loop"

    def end(self) -> ir.WhileStmt:
        """The loop. Raises ValueError where it has no condition."""
        self.check()
        if self.condition is None:
            raise ValueError("a while loop has no condition; set_while_loop_condition gives it one")
        return ir.WhileStmt(self.condition, self.iter_args, self.body(), self.return_vars, self.span)


@dataclass(slots=True)
class IfFrame(Frame):
    """A branch; ``then_body`` is there once the else-branch has begun."""

    condition: ir.Expr | None = None
    then_body: ir.Stmt | None = None
    return_vars: list[ir.Var] = field(default_factory=list)
    what: ClassVar[str] = "an if"

    def begin_else(self) -> None:
        """Go on with the other branch. Raises ValueError where that has begun already."""
        if self.then_body is not None:
            raise ValueError("an if has one else-branch")
        self.then_body, self.stmts = self.body(), []

    def end(self) -> ir.IfStmt:
        """The branch."""
        assert self.condition is not None
        if self.then_body is None:
            return ir.IfStmt(self.condition, self.body(), None, self.return_vars, self.span)
        return ir.IfStmt(self.condition, self.then_body, self.body(), self.return_vars, self.span)


@dataclass(slots=True)
class ScopeFrame(Frame):
    """A scope; ``options`` are keywords of its class."""

    kind: ir.ScopeKind = ir.ScopeKind.InCore
    options: dict[str, Any] = field(default_factory=dict)
    what: ClassVar[str] = "a scope"

    def end(self) -> ir.ScopeStmt:
        """The scope. Raises TypeError for options that its kind does not have."""
        made: ir.ScopeStmt = _SCOPES[self.kind](body=self.body(), span=self.span, **self.options)
        return made


@dataclass(slots=True)
class ProgramFrame(Frame):
    """A program."""

    name: str = ""
    functions: dict[str, ir.Function | None] = field(default_factory=dict)
    what: ClassVar[str] = "a program"

    def end(self) -> ir.Program:
        """The program. Raises ValueError for a function that was declared only."""
        missing = [name for name, function in self.functions.items() if function is None]
        if missing:
            raise ValueError(f"declared and never added: {', '.join(missing)}")
        return ir.Program([f for f in self.functions.values() if f is not None], self.name, self.span)


_SCOPES: dict[ir.ScopeKind, Any] = {
    ir.ScopeKind.InCore: ir.InCoreScopeStmt,
    ir.ScopeKind.Cluster: ir.ClusterScopeStmt,
    ir.ScopeKind.Hierarchy: ir.HierarchyScopeStmt,
    ir.ScopeKind.Spmd: ir.SpmdScopeStmt,
    ir.ScopeKind.Runtime: ir.RuntimeScopeStmt,
    ir.ScopeKind.CommDomain: ir.CommDomainScopeStmt,
    ir.ScopeKind.SplitAiv: ir.SplitAivScopeStmt,
}
