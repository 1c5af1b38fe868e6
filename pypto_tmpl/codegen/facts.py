"""What the emitter wants to know about a function's body, from one walk over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.ir.fields import node_fields_of

_CODE_FIELDS: dict[type, tuple[tuple[str, bool], ...]] = {}


def code_nodes(root: ir.IRNode) -> list[ir.IRNode]:
    """Statements and expressions below ``root`` (itself included) once each, in program order.

    Types are not entered: what stands in them is no code of its own. Nor are names and constants listed,
    which have no parts. A node comes before its parts.
    """
    found: list[ir.IRNode] = []
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        fields = _CODE_FIELDS.get(type(node))
        if fields is None:
            fields = _CODE_FIELDS[type(node)] = _code_fields(type(node))
        if not fields or id(node) in seen:
            continue
        seen.add(id(node))
        found.append(node)
        parts: list[ir.IRNode] = []
        for name, many in fields:
            value = getattr(node, name)
            if many:
                parts += value
            elif name == "attrs":
                parts += value.expressions() if value else ()
            elif value is not None:
                parts.append(value)
        parts.reverse()
        stack += parts
    return found


def _code_fields(cls: type) -> tuple[tuple[str, bool], ...]:
    """Fields that hold code: (name, whether there are many); `attrs` may hold some."""
    return tuple(
        (spec.name, spec.many) for spec in node_fields_of(cls) if spec.is_node or spec.name == "attrs"
    )


Launch: TypeAlias = ir.Call | ir.Submit


@dataclass
class BodyFacts:
    """The nodes of one function's body by kind, each list in program order."""

    body: ir.Stmt
    calls: list[ir.Call] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)  # operator calls included
    assignments: list[ir.AssignStmt] = field(default_factory=list)
    iter_args: list[ir.IterArg] = field(default_factory=list)
    loops: list[ir.ForStmt] = field(default_factory=list)
    branches: list[ir.IfStmt] = field(default_factory=list)
    scopes: list[ir.ScopeStmt] = field(default_factory=list)

    @cached_property
    def flows(self) -> list[tuple[ir.Var, ir.Expr]]:
        """Every (variable, value that it may take) pair of the body."""
        return value_flows(self.body)


def body_facts(function: ir.Function) -> BodyFacts:
    """Facts about the body of ``function``."""
    facts = BodyFacts(function.body)
    for node in code_nodes(function.body):
        if isinstance(node, ir.Call):
            facts.calls.append(node)
            facts.launches.append(node)
        elif isinstance(node, ir.AssignStmt):
            facts.assignments.append(node)
        elif isinstance(node, ir.IterArg):
            facts.iter_args.append(node)
        elif isinstance(node, ir.ForStmt):
            facts.loops.append(node)
        elif isinstance(node, ir.IfStmt):
            facts.branches.append(node)
        elif isinstance(node, ir.Submit):
            facts.launches.append(node)
        elif isinstance(node, ir.ScopeStmt):
            facts.scopes.append(node)
    return facts


def assigned_variables(body: ir.Stmt) -> Iterator[ir.Var]:
    """Variables that some statement of ``body`` assigns, each once, in program order."""
    seen: set[int] = set()
    for node in code_nodes(body):
        targets: tuple[ir.Var, ...] = ()
        if isinstance(node, ir.AssignStmt):
            targets = (node.var,)
        elif isinstance(node, ir.ForStmt):
            targets = (*node.iter_args, node.loop_var, *node.return_vars)
        elif isinstance(node, ir.WhileStmt):
            targets = (*node.iter_args, *node.return_vars)
        elif isinstance(node, ir.IfStmt):
            targets = node.return_vars
        elif isinstance(node, ir.ScopeStmt) and "task_id_var" in node.attrs:
            targets = (node.attrs["task_id_var"],)
        for var in targets:
            if id(var) not in seen:
                seen.add(id(var))
                yield var


def value_flows(body: ir.Stmt) -> list[tuple[ir.Var, ir.Expr]]:
    """Every (variable, value that it may take) pair below ``body``, nearly in program order."""
    flows: list[tuple[ir.Var, ir.Expr]] = []
    # A statement, and the groups of variables that a yield there binds.
    stack: list[tuple[ir.Stmt, tuple[tuple[ir.Var, ...], ...]]] = [(body, ())]
    seen: set[tuple[int, ...]] = set()
    while stack:
        stmt, targets = stack.pop()
        key = (id(stmt), *map(id, targets))
        if key in seen:
            continue
        seen.add(key)
        if isinstance(stmt, ir.AssignStmt):
            flows.append((stmt.var, stmt.value))
        elif isinstance(stmt, ir.SeqStmts):
            stack += [(child, targets) for child in reversed(stmt.stmts)]
        elif isinstance(stmt, ir.YieldStmt):
            flows += [pair for group in targets for pair in zip(group, stmt.value, strict=False)]
        elif isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            flows += [(arg, arg.initValue) for arg in stmt.iter_args]
            flows += zip(stmt.return_vars, stmt.iter_args, strict=False)
            stack.append((stmt.body, (stmt.iter_args, stmt.return_vars)))
        elif isinstance(stmt, ir.IfStmt):
            inner = (stmt.return_vars,) if stmt.return_vars else targets
            stack += [(branch, inner) for branch in (stmt.else_body, stmt.then_body) if branch is not None]
        elif isinstance(stmt, ir.ScopeStmt):
            stack.append((stmt.body, targets))
    return flows


class Mentions:
    """Which variables a function mentions outside of some of its scopes or branches."""

    def __init__(self, function: ir.Function, scopes: Sequence[ir.ScopeStmt | ir.IfStmt]) -> None:
        self._of_interest = {id(scope) for scope in scopes}
        self._common: dict[int, tuple[int, ...]] = {}  # variable -> scopes around all of its mentions
        self._scan(function.body)

    def is_outside(self, var: ir.Var, scope: ir.ScopeStmt | ir.IfStmt) -> bool:
        """Whether ``var`` is mentioned anywhere outside of ``scope``; a type's extents count as well."""
        return id(scope) not in self._common.get(id(var), ())

    def _scan(self, body: ir.Stmt) -> None:
        seen: set[tuple[int, tuple[int, ...]]] = set()
        stack: list[tuple[ir.IRNode, tuple[int, ...]]] = [(body, ())]
        while stack:
            node, path = stack.pop()
            if (id(node), path) in seen:
                continue
            seen.add((id(node), path))
            if isinstance(node, ir.Var):
                known = self._common.get(id(node), path)
                self._common[id(node)] = _common_start(known, path)
            inner = path
            attrs: set[int] = set()
            if id(node) in self._of_interest:
                inner = (*path, id(node))
                attrs = {id(part) for part in node.attrs.expressions()} if hasattr(node, "attrs") else set()
            stack += [(part, path if id(part) in attrs else inner) for part in ir.children(node)]


def _common_start(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    length = 0
    while length < min(len(left), len(right)) and left[length] == right[length]:
        length += 1
    return left[:length]
