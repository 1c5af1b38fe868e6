"""Statements (spec: IR, section 8). Field order is wire order, constructor order upstream's."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pypto_tmpl.ir.attrs import AttrMap, AttrSource, attrs_of
from pypto_tmpl.ir.base import (
    DEFINITION,
    Expr,
    InternalError,
    Stmt,
    check_kind,
    node_tuple,
    set_fields,
    set_stmt_fields,
)
from pypto_tmpl.ir.buffers import WindowBuffer
from pypto_tmpl.ir.enums import ForKind, InlineLanguage, Level, Role, ScopeKind, SplitMode
from pypto_tmpl.ir.extents import extent_of
from pypto_tmpl.ir.leaves import IterArg, Var
from pypto_tmpl.ir.span import Span


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class AssignStmt(Stmt):
    var: Annotated[Var, DEFINITION]
    value: Expr

    def __init__(self, var: Var, value: Expr, span: Span) -> None:
        check_kind(var, Var, "var", self)
        check_kind(value, Expr, "value", self)
        set_stmt_fields(self, span, var=var, value=value)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class EvalStmt(Stmt):
    """An expression evaluated for its effects."""

    expr: Expr

    def __init__(self, expr: Expr, span: Span) -> None:
        check_kind(expr, Expr, "expr", self)
        set_stmt_fields(self, span, expr=expr)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class SeqStmts(Stmt):
    """Statements in order; carries no leading comments of its own."""

    stmts: tuple[Stmt, ...]

    def __init__(self, stmts: Iterable[Stmt], span: Span) -> None:
        set_stmt_fields(self, span, stmts=node_tuple(stmts, Stmt, "stmts", self))

    def __getitem__(self, index: int) -> Stmt:
        return self.stmts[index]

    def __len__(self) -> int:
        return len(self.stmts)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class IfStmt(Stmt):
    """A branch; with ``return_vars`` both branches end in a yield of one value per variable."""

    condition: Expr
    then_body: Stmt
    else_body: Stmt | None
    return_vars: Annotated[tuple[Var, ...], DEFINITION]

    def __init__(
        self, condition: Expr, then_body: Stmt, else_body: Stmt | None, return_vars: Iterable[Var], span: Span
    ) -> None:
        check_kind(condition, Expr, "condition", self)
        check_kind(then_body, Stmt, "then_body", self)
        check_kind(else_body, (Stmt, type(None)), "else_body", self)
        set_stmt_fields(
            self,
            span,
            condition=condition,
            then_body=then_body,
            else_body=else_body,
            return_vars=node_tuple(return_vars, Var, "return_vars", self),
        )


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ForStmt(Stmt):
    """Counted loop; ``loop_var`` takes the values of range(start, stop, step).

    The i-th value that ``body`` yields becomes iter_arg i of the next round and, after the last
    round, ``return_vars[i]``. All yields of a round are computed before any iter_arg changes.
    """

    loop_var: Annotated[Var, DEFINITION]
    start: Expr
    stop: Expr
    step: Expr
    iter_args: Annotated[tuple[IterArg, ...], DEFINITION]
    body: Stmt
    return_vars: Annotated[tuple[Var, ...], DEFINITION]
    kind: ForKind
    attrs: AttrMap

    def __init__(
        self,
        loop_var: Var,
        start: Expr,
        stop: Expr,
        step: Expr,
        iter_args: Iterable[IterArg],
        body: Stmt,
        return_vars: Iterable[Var],
        span: Span,
        kind: ForKind = ForKind.Sequential,
        attrs: AttrSource = None,
    ) -> None:
        check_kind(loop_var, Var, "loop_var", self)
        for value, what in ((start, "start"), (stop, "stop"), (step, "step")):
            check_kind(value, Expr, what, self)
        check_kind(body, Stmt, "body", self)
        check_kind(kind, ForKind, "kind", self)
        set_stmt_fields(
            self,
            span,
            loop_var=loop_var,
            start=start,
            stop=stop,
            step=step,
            iter_args=node_tuple(iter_args, IterArg, "iter_args", self),
            body=body,
            return_vars=node_tuple(return_vars, Var, "return_vars", self),
            kind=kind,
            attrs=attrs_of(attrs, "attrs", self),
        )


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class WhileStmt(Stmt):
    """Loop with the carry scheme of ForStmt; ``condition`` reads the iter_args."""

    iter_args: Annotated[tuple[IterArg, ...], DEFINITION]
    condition: Expr
    body: Stmt
    return_vars: Annotated[tuple[Var, ...], DEFINITION]

    def __init__(
        self,
        condition: Expr,
        iter_args: Iterable[IterArg],
        body: Stmt,
        return_vars: Iterable[Var],
        span: Span,
    ) -> None:
        check_kind(condition, Expr, "condition", self)
        check_kind(body, Stmt, "body", self)
        set_stmt_fields(
            self,
            span,
            iter_args=node_tuple(iter_args, IterArg, "iter_args", self),
            condition=condition,
            body=body,
            return_vars=node_tuple(return_vars, Var, "return_vars", self),
        )


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class _ValuesStmt(Stmt):
    value: tuple[Expr, ...]

    def __init__(self, value: Iterable[Expr] | Span, span: Span | None = None) -> None:
        values, at = ((), value) if isinstance(value, Span) else (value, span)
        set_stmt_fields(self, at, value=node_tuple(values, Expr, "value", self))


class YieldStmt(_ValuesStmt):
    """Hands values to the enclosing loop or branch; built from ``(value, span)`` or ``(span)``."""

    __slots__ = ()


class ReturnStmt(_ValuesStmt):
    """Returns from the function; built from ``(value, span)`` or ``(span)``."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class _JumpStmt(Stmt):
    def __init__(self, span: Span) -> None:
        set_stmt_fields(self, span)


class BreakStmt(_JumpStmt):
    __slots__ = ()


class ContinueStmt(_JumpStmt):
    __slots__ = ()


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class InlineStmt(Stmt):
    """Foreign source text, opaque to the compiler."""

    body: str
    language: InlineLanguage

    def __init__(self, body: str, language: InlineLanguage, span: Span) -> None:
        check_kind(body, str, "body", self)
        check_kind(language, InlineLanguage, "language", self)
        set_stmt_fields(self, span, body=body, language=language)


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ScopeStmt(Stmt):
    """Base of scopes; a scope runs its body once, in order, and hides no names."""

    name_hint: str
    body: Stmt
    attrs: AttrMap

    @property
    def scope_kind(self) -> ScopeKind:
        raise NotImplementedError


def _set_scope_fields(
    scope: ScopeStmt, name_hint: str, body: Stmt | None, attrs: AttrSource, span: Span | None
) -> None:
    check_kind(name_hint, str, "name_hint", scope)
    check_kind(body, Stmt, "body", scope)
    set_stmt_fields(scope, span, name_hint=name_hint, body=body, attrs=attrs_of(attrs, "attrs", scope))


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class InCoreScopeStmt(ScopeStmt):
    """Scope that becomes an InCore function."""

    split: SplitMode

    def __init__(
        self,
        split: SplitMode = SplitMode.NONE,
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        check_kind(split, SplitMode, "split", self)
        _set_scope_fields(self, name_hint, body, attrs, span)
        set_fields(self, split=split)

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.InCore


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class ClusterScopeStmt(ScopeStmt):
    """Scope that becomes a Group function."""

    def __init__(
        self,
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        _set_scope_fields(self, name_hint, body, attrs, span)

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.Cluster


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class HierarchyScopeStmt(ScopeStmt):
    """Scope that becomes a function of a level and role."""

    level: Level
    role: Role | None

    def __init__(
        self,
        level: Level,
        role: Role | None = None,
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        check_kind(level, Level, "level", self)
        check_kind(role, (Role, type(None)), "role", self)
        _set_scope_fields(self, name_hint, body, attrs, span)
        set_fields(self, level=level, role=role)

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.Hierarchy


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class SpmdScopeStmt(ScopeStmt):
    """Scope that ``core_num`` blocks run, each with its own block index."""

    core_num: Expr
    sync_start: bool

    def __init__(
        self,
        core_num: int | Expr,
        sync_start: bool = False,
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        if core_num is None:
            raise InternalError("an SpmdScopeStmt needs a core_num")
        check_kind(sync_start, bool, "sync_start", self)
        _set_scope_fields(self, name_hint, body, attrs, span)
        set_fields(self, core_num=extent_of(core_num, "core_num", self), sync_start=sync_start)

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.Spmd


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class SplitAivScopeStmt(ScopeStmt):
    """Scope that both vector lanes run; NONE runs everything on both, the other modes halve the work."""

    split: SplitMode
    count: int

    def __init__(
        self,
        split: SplitMode,
        count: int = 2,
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        check_kind(split, SplitMode, "split", self)
        if count != 2:
            raise InternalError(f"a SplitAivScopeStmt has 2 lanes, got {count}")
        _set_scope_fields(self, name_hint, body, attrs, span)
        set_fields(self, split=split, count=count)

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.SplitAiv


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class RuntimeScopeStmt(ScopeStmt):
    """Run-time task scope; ``manual`` means that only explicit dependencies order its tasks."""

    manual: bool

    def __init__(
        self,
        manual: bool = False,
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        check_kind(manual, bool, "manual", self)
        _set_scope_fields(self, name_hint, body, attrs, span)
        set_fields(self, manual=manual)

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.Runtime


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class CommDomainScopeStmt(ScopeStmt):
    """Communication domain of ``devices`` (empty: all) over the windows ``slots``."""

    devices: tuple[int, ...]
    slots: tuple[WindowBuffer, ...]

    def __init__(
        self,
        devices: Iterable[int],
        slots: Iterable[WindowBuffer],
        name_hint: str = "",
        body: Stmt | None = None,
        span: Span | None = None,
        *,
        attrs: AttrSource = None,
    ) -> None:
        _set_scope_fields(self, name_hint, body, attrs, span)
        set_fields(
            self,
            devices=node_tuple(devices, int, "devices", self),
            slots=node_tuple(slots, WindowBuffer, "slots", self),
        )

    @property
    def scope_kind(self) -> ScopeKind:
        return ScopeKind.CommDomain
