"""What the emitter wants to know about a function's body, from one walk over it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.ir.fields import node_fields_of

_CODE_FIELDS: dict[type, tuple[tuple[str, bool], ...]] = {}


class Code(NamedTuple):
    """What stands below a node: statements and expressions once each, in program order, and names.

    A node comes before its parts. ``names`` has the identity of a variable once a mention.
    """

    nodes: list[ir.IRNode]
    names: list[int]


def code_of(root: ir.IRNode) -> Code:
    """The code below ``root`` (itself included).

    Types are not entered: what stands in them is no code of its own. Nor is listed as a node what has no
    parts, but for text of a user's, which may do anything. What several nodes share is found once.
    """
    nodes: list[ir.IRNode] = []
    names: list[int] = []
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        kind = type(node)
        key = id(node)
        if kind is ir.Var:
            names.append(key)
            continue
        fields = _CODE_FIELDS.get(kind)
        if fields is None:
            fields = _CODE_FIELDS[kind] = _code_fields(kind)
        if not fields and kind is not ir.InlineStmt:
            continue
        if kind is ir.IterArg:
            names.append(key)
        if key in seen:
            continue
        seen.add(key)
        nodes.append(node)
        for name, many in fields:
            value = getattr(node, name)
            if many:
                stack += value[::-1]
            elif name == "attrs":
                if value:
                    stack += [*value.expressions()][::-1]
            elif value is not None:
                stack.append(value)
    return Code(nodes, names)


def code_nodes(root: ir.IRNode) -> list[ir.IRNode]:
    """The statements and expressions below ``root``, itself included."""
    return code_of(root).nodes


def _code_fields(cls: type) -> tuple[tuple[str, bool], ...]:
    """Fields that hold code, the last first: (name, whether there are many); `attrs` may hold some."""
    found = [(spec.name, spec.many) for spec in node_fields_of(cls) if spec.is_node or spec.name == "attrs"]
    return tuple(reversed(found))


Launch: TypeAlias = ir.Call | ir.Submit
LAUNCHES = (ir.Call, ir.Submit)  # the same for checks that are made again and again
Flow: TypeAlias = tuple[ir.Var, ir.Expr]


def launches_of(root: ir.IRNode) -> list[Launch]:
    """Calls and submits below ``root``, operator calls included, in program order."""
    return [node for node in code_nodes(root) if isinstance(node, Launch)]


class BodyFacts:
    """The nodes of one function's body by kind, each list in program order."""

    def __init__(self, body: ir.Stmt) -> None:
        self.body = body
        self.code = code_of(body)
        self._below: dict[int, Code] = {id(body): self.code}
        by_class: dict[type, list[Any]] = {}
        for node in self.code.nodes:
            by_class.setdefault(type(node), []).append(node)
        self.calls: list[ir.Call] = by_class.get(ir.Call, [])
        self.launches: Sequence[Launch] = self.calls  # operator calls included
        if ir.Submit in by_class:
            self.launches = [node for node in self.code.nodes if isinstance(node, Launch)]
        self.function_calls = [node for node in self.launches if isinstance(node.op, ir.GlobalVar)]
        self.assignments: list[ir.AssignStmt] = by_class.get(ir.AssignStmt, [])
        self.loops: list[ir.ForStmt] = by_class.get(ir.ForStmt, [])
        self.sequences: list[ir.SeqStmts] = by_class.get(ir.SeqStmts, [])
        self.branches: list[ir.IfStmt] = by_class.get(ir.IfStmt, [])
        self.returns: list[ir.ReturnStmt] = by_class.get(ir.ReturnStmt, [])
        self.scopes: list[ir.ScopeStmt] = []
        if any(issubclass(kind, ir.ScopeStmt) for kind in by_class):
            self.scopes = [node for node in self.code.nodes if isinstance(node, ir.ScopeStmt)]
        self.has_inline = ir.InlineStmt in by_class
        self.takes_items = ir.TupleGetItemExpr in by_class
        self.op_names = frozenset(call.op.name for call in self.calls)

    def below(self, stmt: ir.Stmt) -> Code:
        """The code below a statement of the body, as ``code_of`` has it."""
        found = self._below.get(id(stmt))
        if found is None:
            found = self._below[id(stmt)] = code_of(stmt)
        return found

    @lazy
    def assigned(self) -> list[ir.Var]:
        """The variables that some statement assigns, each once, in program order."""
        return list(_assigned_among(self.code.nodes))

    @lazy
    def flows(self) -> list[Flow]:
        """Every (variable, value that it may take) pair of the body."""
        return value_flows(self.body)

    @lazy
    def values(self) -> dict[int, list[ir.Expr]]:
        """The values that each variable may take, by its identity."""
        found: dict[int, list[ir.Expr]] = {}
        for target, value in self.flows:
            found.setdefault(id(target), []).append(value)
        return found

    @lazy
    def mentions(self) -> Counter[int]:
        """How often the body names each variable, by its identity; what blocks share counts once."""
        return Counter(self.code.names)


def callers_by_name(bodies: Mapping[str, BodyFacts]) -> dict[str, list[tuple[str, Launch]]]:
    """The launches of each function that a program launches, with the function that each stands in."""
    found: dict[str, list[tuple[str, Launch]]] = {}
    for name, facts in bodies.items():
        for launch in facts.function_calls:
            found.setdefault(launch.op.name, []).append((name, launch))
    return found


def assigned_variables(body: ir.Stmt) -> Iterator[ir.Var]:
    """Variables that some statement of ``body`` assigns, each once, in program order."""
    return _assigned_among(code_nodes(body))


def _assigned_among(nodes: Iterable[ir.IRNode]) -> Iterator[ir.Var]:
    seen: set[int] = set()
    for node in nodes:
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


def value_flows(body: ir.Stmt) -> list[Flow]:
    """Every (variable, value that it may take) pair below ``body``, nearly in program order."""
    flows: list[Flow] = []
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
