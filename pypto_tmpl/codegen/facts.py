"""What the emitter wants to know about a function's body, from one walk over it."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from pypto_tmpl import ir
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.domains.host import SUBMITS
from pypto_tmpl.ir.fields import node_fields_of


class _Kind(NamedTuple):
    """What there is to know of a class of nodes for a walk over code."""

    parts: Callable[[Any], tuple[Any, ...]]  # the values of the fields that hold code, the last first
    is_leaf: bool
    is_name: bool
    is_marked: bool

    @classmethod
    def of(cls, kind: type) -> _Kind:
        specs = [spec for spec in node_fields_of(kind) if spec.is_node or spec.name == "attrs"]
        fields = [spec.name for spec in reversed(specs)]
        is_leaf = kind is ir.Var or (not fields and kind is not ir.InlineStmt)
        is_name = kind in (ir.Var, ir.IterArg)
        is_marked = issubclass(kind, ir.Stmt) and kind is not ir.SeqStmts
        return cls(_getter(fields), is_leaf, is_name, is_marked)


def _getter(fields: Sequence[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(fields) > 1:
        return attrgetter(*fields)  # gives a tuple, but of one field its value
    if not fields:
        return lambda node: ()
    value = attrgetter(*fields)
    return lambda node: (value(node),)


_KINDS: dict[type, _Kind] = {}


_Span: TypeAlias = tuple[int, int, int, int]  # begin and end of a statement among nodes, and among names


class Code(NamedTuple):
    """What stands below a node: statements and expressions once each, in program order, and names.

    A node comes before its parts. ``names`` has the identity of a variable once a mention.
    """

    nodes: list[ir.IRNode]
    names: list[int]
    has_repetitions: bool  # whether something, loops' carries aside, stands in several places
    shares_statements: bool  # whether a statement does


def code_of(root: ir.IRNode, below: dict[int, _Span] | None = None) -> Code:
    """The code below ``root`` (itself included).

    Types are not entered: what stands in them is no code of its own. Nor are tuples listed as nodes, whose
    elements are, and what has no parts, but for text of a user's, which may do anything. What several nodes
    share is found once, but for the names in a tuple.
    ``below`` takes the parts of the code that stand below a statement, by its identity, of those statements
    that share none with others.
    """
    nodes: list[ir.IRNode] = []
    names: list[int] = []
    seen: set[int] = set()
    begun: list[tuple[int, int, int, int]] = []  # statements: identity, nodes, names and repetitions before
    repetitions, shares_statements = 0, False
    stack: list[Any] = [root]
    pop, push, name = stack.pop, stack.append, names.append
    while stack:
        node = pop()
        kind = type(node)
        key = id(node)
        known = _KINDS.get(kind)
        if known is None:
            if node is None and below is not None:  # the end of a statement
                key, first, first_name, before = begun.pop()
                if repetitions == before:
                    below[key] = first, len(nodes), first_name, len(names)
                continue
            known = _KINDS[kind] = _Kind.of(kind)
        if known.is_name:
            name(key)
        if known.is_leaf:
            continue
        if key in seen:
            if kind is not ir.IterArg:  # whose value belongs to the loop alone
                repetitions += 1
                shares_statements = shares_statements or isinstance(node, ir.Stmt)
            continue
        seen.add(key)
        if kind is ir.AssignStmt and type(node.value) is ir.Call and id(node.value) not in seen:
            # The most of a body. Where all that the call takes is noted at once, the statement ends here.
            call, outside = node.value, len(stack)
            first, first_name = len(nodes), len(names)
            seen.add(id(call))
            nodes += (node, call)
            name(id(node.var))
            _take(call.args, push, name)
            if call.attrs:
                stack[outside:outside] = [*call.attrs.expressions()][::-1]
            if below is None:
                continue
            if len(stack) == outside:
                below[key] = first, len(nodes), first_name, len(names)
            else:
                begun.append((key, first, first_name, repetitions))
                stack.insert(outside, None)
            continue
        if known.is_marked and below is not None:
            begun.append((key, len(nodes), len(names), repetitions))
            push(None)
        if kind is not ir.MakeTuple:
            nodes.append(node)
        for value in known.parts(node):
            kind = type(value)
            if kind is ir.Var:
                name(id(value))
            elif kind is tuple:
                _take(value, push, name)
            elif kind is ir.AttrMap:
                if value:
                    stack += [*value.expressions()][::-1]
            elif value is not None:
                push(value)
    return Code(nodes, names, repetitions > 0, shares_statements)


def _take(parts: Sequence[Any], push: Callable[[Any], None], name: Callable[[int], None]) -> None:
    """Note the variables among parts, those in tuples too, and have looked into what else there is."""
    for part in parts[::-1]:
        kind = type(part)
        if kind is ir.Var:
            name(id(part))
        elif kind is ir.MakeTuple:
            for element in part.elements[::-1]:
                kind = type(element)
                if kind is ir.Var:
                    name(id(element))
                elif kind is not ir.ConstInt:
                    push(element)
        elif kind is not ir.ConstInt:
            push(part)


def code_nodes(root: ir.IRNode) -> list[ir.IRNode]:
    """The statements and expressions below ``root``, itself included."""
    return code_of(root).nodes


Launch: TypeAlias = ir.Call | ir.Submit
LAUNCHES = (ir.Call, ir.Submit)  # the same for checks that are made again and again
BOXES = (ir.TensorType, ir.TileType)
_SUBMITTED_OPERANDS = 2  # the runtime, and a tuple of arguments
_LOOPS = (ir.ForStmt, ir.WhileStmt)
Flow: TypeAlias = tuple[ir.Var, ir.Expr]


def launches_of(root: ir.IRNode) -> list[Launch]:
    """Calls and submits below ``root``, operator calls included, in program order."""
    return [node for node in code_nodes(root) if isinstance(node, Launch)]


class BlockNames:
    """The names that the statements of one block mention, and where those of each end."""

    def __init__(self, names: list[int], ends: list[int]) -> None:
        self._names, self._ends = names, ends

    @classmethod
    def joined(cls, names_by_statement: Iterable[list[int]]) -> BlockNames:
        """Those of statements whose names stand apart."""
        joined: list[int] = []
        ends: list[int] = []
        for names in names_by_statement:
            joined += names
            ends.append(len(joined))
        return cls(joined, ends)

    def naming(self, name: int, behind: int) -> list[int]:
        """The statements behind one of them that name a variable, each once a mention."""
        found: list[int] = []
        at = self._ends[behind]
        try:
            while True:
                at = self._names.index(name, at) + 1
                found.append(bisect_right(self._ends, at - 1))
        except ValueError:  # there is no other
            return found


def submitted_call(call: ir.Call) -> ir.Call | None:
    """The call of a function that a call of an op submits, None for all other ops."""
    callee = call.kwargs.get("callee") if call.op.name in SUBMITS else None
    if not isinstance(callee, str) or len(call.args) < _SUBMITTED_OPERANDS:
        return None
    args = call.args[1].elements if isinstance(call.args[1], ir.MakeTuple) else ()
    return ir.Call(ir.GlobalVar(callee), list(args), {}, ir.UnknownType(), call.span)


class BodyFacts:
    """The nodes of one function's body by kind, each list in program order."""

    def __init__(self, body: ir.Stmt) -> None:
        self.body = body
        self._spans: dict[int, _Span] = {}
        self.code = code_of(body, self._spans)
        self._shared: dict[int, Code] = {}  # by statement
        self._blocks: dict[int, BlockNames] = {}
        by_class: defaultdict[type, list[Any]] = defaultdict(list)
        for node in self.code.nodes:
            by_class[type(node)].append(node)
        self.calls: list[ir.Call] = by_class.get(ir.Call, [])
        self.launches: Sequence[Launch] = self.calls  # operator calls included
        if ir.Submit in by_class:
            self.launches = [node for node in self.code.nodes if isinstance(node, Launch)]
        self.submitted = {id(call): made for call in self.calls if (made := submitted_call(call)) is not None}
        self.function_calls = [
            self.submitted.get(id(node), node)
            for node in self.launches
            if type(node.op) is ir.GlobalVar or id(node) in self.submitted
        ]
        self.assignments: list[ir.AssignStmt] = by_class.get(ir.AssignStmt, [])
        self.loops: list[ir.ForStmt] = by_class.get(ir.ForStmt, [])
        self.other_loops: list[ir.WhileStmt] = by_class.get(ir.WhileStmt, [])
        self.sequences: list[ir.SeqStmts] = by_class.get(ir.SeqStmts, [])
        self.branches: list[ir.IfStmt] = by_class.get(ir.IfStmt, [])
        self.returns: list[ir.ReturnStmt] = by_class.get(ir.ReturnStmt, [])
        self.scopes: list[ir.ScopeStmt] = []
        if any(issubclass(kind, ir.ScopeStmt) for kind in by_class):
            self.scopes = [node for node in self.code.nodes if isinstance(node, ir.ScopeStmt)]
        self.has_inline = ir.InlineStmt in by_class
        self.takes_items = ir.TupleGetItemExpr in by_class
        self.op_names = frozenset([call.op.name for call in self.calls])

    def any_below(self, stmts: Sequence[ir.Stmt], nodes: set[int]) -> bool:
        """Whether some of these nodes, by identity, stand below statements in a row of a block."""
        if stmts and not self.code.has_repetitions:  # then their code stands in a row, too
            first, last = self._spans.get(id(stmts[0])), self._spans.get(id(stmts[-1]))
            if first is not None and last is not None:
                return not nodes.isdisjoint(map(id, self.code.nodes[first[0] : last[1]]))
        return not all(nodes.isdisjoint(map(id, self.nodes_below(stmt))) for stmt in stmts)

    def nodes_below(self, stmt: ir.Stmt) -> list[ir.IRNode]:
        """The nodes below a statement of the body, as ``code_of`` has them."""
        span = self._spans.get(id(stmt))
        return self._apart(stmt).nodes if span is None else self.code.nodes[span[0] : span[1]]

    def block(self, stmts: Sequence[ir.Stmt]) -> BlockNames:
        """The names in a block of the body, statement by statement."""
        found = self._blocks.get(id(stmts))
        if found is None:
            found = self._blocks[id(stmts)] = self._block_names(stmts)
        return found

    def _block_names(self, stmts: Sequence[ir.Stmt]) -> BlockNames:
        spans = [span for stmt in stmts if (span := self._spans.get(id(stmt)))]
        if self.code.has_repetitions or len(spans) < len(stmts):
            return BlockNames.joined(map(self._names_below, stmts))
        begin, end = spans[0][2], spans[-1][3]  # their names stand in a row, too
        return BlockNames(self.code.names[begin:end], [span[3] - begin for span in spans])

    def _names_below(self, stmt: ir.Stmt) -> list[int]:
        span = self._spans.get(id(stmt))
        return self._apart(stmt).names if span is None else self.code.names[span[2] : span[3]]

    def _apart(self, stmt: ir.Stmt) -> Code:
        """The code below a statement that shares some with others."""
        found = self._shared.get(id(stmt))
        if found is None:
            found = self._shared[id(stmt)] = code_of(stmt)
        return found

    @lazy
    def bound(self) -> list[ir.Var]:
        """The variables that statements of the body bind, but for task ids; in no order."""
        found = [stmt.var for stmt in self.assignments]
        for loop in self.loops:
            found += (*loop.iter_args, loop.loop_var, *loop.return_vars)
        for other in self.other_loops:
            found += (*other.iter_args, *other.return_vars)
        for branch in self.branches:
            found += branch.return_vars
        return found

    @lazy
    def flows(self) -> list[Flow]:
        """Every (variable, value that it may take) pair of the body."""
        return value_flows(self.body, is_tree=not self.code.shares_statements)

    @lazy
    def values(self) -> dict[int, list[ir.Expr]]:
        """The values that each variable may take, by its identity."""
        found: defaultdict[int, list[ir.Expr]] = defaultdict(list)
        for target, value in self.flows:
            found[id(target)].append(value)
        return dict(found)

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


def value_flows(body: ir.Stmt, *, is_tree: bool = False) -> list[Flow]:
    """Every (variable, value that it may take) pair below ``body``, nearly in program order.

    In a tree, no statement stands in several places, so that none has to be known again.
    """
    flows: list[Flow] = []
    # Statements, and the groups of variables that a yield there binds.
    stack: list[tuple[Iterator[ir.Stmt], tuple[tuple[ir.Var, ...], ...]]] = [(iter((body,)), ())]
    seen: set[tuple[int, ...]] = set()
    while stack:
        block, targets = stack[-1]
        for stmt in block:
            if not is_tree:
                key = (id(stmt), *map(id, targets))
                if key in seen:
                    continue
                seen.add(key)
            if isinstance(stmt, ir.AssignStmt):
                flows.append((stmt.var, stmt.value))
            elif isinstance(stmt, ir.YieldStmt):
                flows += [pair for group in targets for pair in zip(group, stmt.value, strict=False)]
            elif isinstance(stmt, ir.SeqStmts):
                stack.append((iter(stmt.stmts), targets))
                break
            elif isinstance(stmt, _LOOPS):
                flows += [(arg, arg.initValue) for arg in stmt.iter_args]
                flows += zip(stmt.return_vars, stmt.iter_args, strict=False)
                stack.append((iter((stmt.body,)), (stmt.iter_args, stmt.return_vars)))
                break
            elif isinstance(stmt, ir.IfStmt):
                inner = (stmt.return_vars,) if stmt.return_vars else targets
                branches = (stmt.then_body,) if stmt.else_body is None else (stmt.then_body, stmt.else_body)
                stack.append((iter(branches), inner))
                break
            elif isinstance(stmt, ir.ScopeStmt):
                stack.append((iter((stmt.body,)), targets))
                break
        else:
            stack.pop()
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
            stack += [
                (part, path if id(part) in attrs else inner)
                for part in ir.children(node)
                if type(part) is not ir.ConstInt
            ]


def _common_start(left: tuple[int, ...], right: tuple[int, ...]) -> tuple[int, ...]:
    length = 0
    while length < min(len(left), len(right)) and left[length] == right[length]:
        length += 1
    return left[:length]
