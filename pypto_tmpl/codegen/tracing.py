"""Statements of a script that record what it computes: which values, and where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import flat
from pypto_tmpl.ops import facts

SiteKind = Literal[
    "value",
    "operand",
    "parameter",
    "argument",
    "loop",
    "condition",
    "write",
    "push",
    "inputs",
    "memory",
    "change",
]
_BODIES = (("body", "body"), ("then_body", "then"), ("else_body", "else"))


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSelection:
    """Which values of a run are recorded; what is left empty selects all.

    ``names`` are globs of variables, ``kernels`` of functions. ``statements`` are ``file:line`` of the
    source (the end of the path will do), a line number, or IR paths: ``kernel:body/2``. ``first`` and
    ``last`` keep so many runs of each statement in a call of its function. Values beyond ``limit`` bytes
    are counted, not kept. ``inputs`` records what statements read as well, and of cells in memory which
    statement changed them last.
    """

    names: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    first: int | None = None
    last: int | None = None
    limit: int = 1 << 30
    inputs: bool = False

    def __post_init__(self) -> None:
        for name in ("first", "last"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be 1 or more, got {value}")
        if self.limit < 1:
            raise ValueError(f"limit must be 1 byte or more, got {self.limit}")

    def has_kernel(self, function: str) -> bool:
        """Whether values of a function are recorded."""
        return _matches(self.kernels, function)

    def has_name(self, variable: str) -> bool:
        """Whether values of a variable are recorded."""
        return _matches(self.names, variable)

    def has_statement(self, function: str, path: str, span: ir.Span) -> bool:
        """Whether values of a statement are recorded."""
        if not self.statements:
            return True
        line = str(span.begin_line) if span.is_valid() else ""
        known = {f"{function}:{path}", line} - {""}
        place = f"/{span.filename}:{line}" if line else ""
        return any(text in known or (":" in text and place.endswith(f"/{text}")) for text in self.statements)


def _matches(globs: tuple[str, ...], name: str) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


class TraceSite(NamedTuple):
    """A place in a script where values are recorded.

    ``path`` leads to the statement in the IR of ``function``; it is empty for parameters. ``variable`` is
    the name of what is recorded, ``target`` that of the tensor that a write goes to, or the op of an operand.
    A ``memory`` site records the numbers of the changes that made the cells of a tensor which are read.
    """

    function: str
    path: str
    kind: SiteKind
    variable: str
    source: str
    target: str = ""


class ScriptTrace:
    """The sites of one script, numbered in the order in which they are emitted."""

    def __init__(self, selection: TraceSelection) -> None:
        self.selection = selection
        self.sites: list[TraceSite] = []

    def add(self, site: TraceSite) -> int:
        """The number of a new site."""
        self.sites.append(site)
        return len(self.sites) - 1


class FunctionTrace:
    """The sites of one function: which statement is being emitted, inside which loops."""

    def __init__(self, script: ScriptTrace, function: ir.Function) -> None:
        self._script = script
        self._function = function
        self._is_selected = script.selection.has_kernel(function.name)
        self._paths = dict(statement_paths(function.body))
        self.statement: ir.Stmt | None = None
        self.loops: list[str] = []

    @property
    def records_inputs(self) -> bool:
        """Whether what statements read is recorded."""
        return self._script.selection.inputs

    @property
    def is_selected(self) -> bool:
        """Whether anything of the function may be recorded."""
        return self._is_selected

    def site(self, kind: SiteKind, variable: str, span: ir.Span, target: str = "") -> int | None:
        """The number of a new site at the statement being emitted; None if it is not selected."""
        selection, function = self._script.selection, self._function.name
        path = "" if self.statement is None else self._paths.get(id(self.statement), "")
        if not self._is_selected or not selection.has_name(variable):
            return None
        if not selection.has_statement(function, path, span):
            return None
        source = f"{span.filename}:{span.begin_line}" if span.is_valid() else ""
        return self._script.add(TraceSite(function, path, kind, variable, source, target))

    def is_top(self, value: ir.Expr) -> bool:
        """Whether ``value`` is what the statement being emitted assigns or evaluates."""
        stmt = self.statement
        if isinstance(stmt, ir.AssignStmt):
            return stmt.value is value
        return isinstance(stmt, ir.EvalStmt) and stmt.expr is value


def inputs_of(stmt: ir.Stmt) -> list[ir.Expr | None]:
    """What a statement reads: the names and numbers that it is made from, in order of the text.

    None stands for what is not looked at: the results of calls in it, and tensors of which it reads or writes
    a window only.
    """
    if isinstance(stmt, ir.AssignStmt):
        return _leaves(stmt.value)
    if isinstance(stmt, ir.EvalStmt):
        return _leaves(stmt.expr)
    if isinstance(stmt, ir.ForStmt):
        return [leaf for bound in (stmt.start, stmt.stop, stmt.step) for leaf in _leaves(bound)]
    if isinstance(stmt, ir.IfStmt):
        return _leaves(stmt.condition)
    return []


def _leaves(value: ir.Expr) -> list[ir.Expr | None]:
    if isinstance(value, ir.Submit) or (isinstance(value, ir.Call) and isinstance(value.op, ir.GlobalVar)):
        return []
    if isinstance(value, ir.MakeTuple):
        return [leaf for element in value.elements for leaf in _leaves(element)]
    if isinstance(value, ir.BinaryExpr):
        return [*_leaves(value.left), *_leaves(value.right)]
    if isinstance(value, ir.UnaryExpr):
        return _leaves(value.operand)
    if not isinstance(value, ir.Call):
        return [value if isinstance(value.type, ir.ScalarType | ir.ShapedType) else None]
    found: list[ir.Expr | None] = []
    for position, arg in enumerate(value.args):
        if isinstance(arg, ir.Call) or position == windowed_operand(value):
            found.append(None)
        else:
            found += _leaves(arg)
    return found


def windowed_operand(call: ir.Call) -> int | None:
    """The position of the tensor of which an op reads or writes a window."""
    known = facts.of_value(call)
    if known.has("loads"):
        return 0
    return known.written[0] if known.has("lays") and known.has("writes_tensor") else None


def statement_paths(body: ir.Stmt, path: str = "body") -> Iterator[tuple[int, str]]:
    """Identity and path of every statement: ``body/2/then/0`` is the first one under the third, an if."""
    for place, stmt in located_statements(body, path):
        yield id(stmt), place


def located_statements(body: ir.Stmt, path: str = "body") -> Iterator[tuple[str, ir.Stmt]]:
    """Every statement with its path, parents first; sequences in sequences count as one."""
    pending: list[tuple[str, ir.Stmt]] = [(path, body)]
    while pending:
        place, stmt = pending.pop()
        if isinstance(stmt, ir.SeqStmts):
            inside = list(flat(stmt))
            pending += [(f"{place}/{i}", inside[i]) for i in reversed(range(len(inside)))]
            continue
        yield place, stmt
        inner: list[tuple[str, ir.Stmt]] = []
        for field, name in _BODIES:
            part: Any = getattr(stmt, field, None)
            if isinstance(part, ir.Stmt):
                inner.append((f"{place}/{name}", part))
        pending += reversed(inner)
