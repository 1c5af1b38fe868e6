"""Rewriting of IR: parts first, each node built again only where a part of it changed.

The walk keeps its own stack (tasks are generators that ask for the parts of a node): nothing nests too deep.
"""

from __future__ import annotations

import operator
from collections.abc import Generator, Iterable
from functools import cache
from types import GeneratorType
from typing import Any, ClassVar, TypeAlias, TypeVar, cast

from pypto_tmpl import ir
from pypto_tmpl.ir.bodies import as_body, direct, flat
from pypto_tmpl.ir.fields import FieldSpec, node_fields_of
from pypto_tmpl.rewrite.bindings import Bindings
from pypto_tmpl.rewrite.build import build

N = TypeVar("N")

Replacement: TypeAlias = "ir.Stmt | Iterable[ir.Stmt] | None"
"""What a statement becomes: one, several, or none."""

Task: TypeAlias = "Generator[object, Any, Any]"

_PLACES: dict[type, tuple[str, ...]] = {
    # Fields in the order in which they are evaluated; the others of a class come where they stand.
    ir.AssignStmt: ("value", "var"),
    ir.ForStmt: ("start", "stop", "step", "attrs", "iter_args", "loop_var", "body", "return_vars"),
    ir.WhileStmt: ("iter_args", "condition", "body", "return_vars"),
    ir.IfStmt: ("condition", "then_body", "else_body", "return_vars"),
    ir.ScopeStmt: ("attrs", "core_num", "slots", "body"),
}
_DEFINED = {"var", "loop_var", "iter_args", "return_vars", "params"}
_BUFFERS = (ir.MemRef, ir.WindowBuffer)
_CONSTANTS = frozenset({ir.ConstInt, ir.ConstFloat, ir.ConstBool})
_VARIABLES = frozenset({ir.Var, ir.IterArg})
_SHAPED = frozenset({ir.TensorType, ir.TileType})
_VIEWS = frozenset({ir.TensorView, ir.TileView})
_LATER = object()
_REWRITTEN = (ir.IRNode, ir.Type, ir.TensorView, ir.TileView, ir.AttrMap)


class Rewriter:
    """Rewrites a tree; subclasses override the hooks. A node of which nothing changes is the same object.

    Hooks see nodes whose parts are rewritten already, ``before`` excepted. A variable is asked about by
    ``definition`` where it is bound (also once more, where it is bound twice) and by ``use`` elsewhere, types
    included. ``definition`` binds the variable to what it returns, so that uses follow.
    """

    opens_sequences: ClassVar[bool] = True
    """Whether sequences inside of sequences become their statements, or stay as they are."""

    def __init__(self) -> None:
        self._bindings = Bindings()
        self._done: dict[int, tuple[object, object]] = {}  # nodes are kept alive: ids are not reused
        self._made: dict[tuple[int, ...], tuple[object, object]] = {}
        self._read: set[int] = set()
        self._emitted: list[list[ir.Stmt]] = [[]]
        self._emits = False
        cls = type(self)
        self._looks_in = (  # at each part of a constant, or of a type
            cls.part is not Rewriter.part or cls.type is not Rewriter.type or cls._step is not Rewriter._step
        )
        self._is_usual = (  # that statements have no way of their own
            cls.before is Rewriter.before
            and cls.rewriting is Rewriter.rewriting
            and cls._statement is Rewriter._statement
        )

    # What subclasses override

    def before(self, stmt: ir.Stmt) -> Replacement:
        """What to rewrite in the place of a statement that was not looked into yet."""
        return stmt

    def statement(self, stmt: ir.Stmt) -> Replacement:
        """What a statement becomes."""
        return stmt

    def rewriting(self, stmt: ir.Stmt) -> Task | None:
        """A way of its own to rewrite a statement, None for the usual one (definitions after what they read).

        It is a generator that returns what the statement becomes. It yields an expression, type or attribute
        map, or ``self.body(...)`` for a body, and is sent what that becomes.
        """
        return None

    def expression(self, expr: ir.Expr) -> ir.Expr:
        """What an expression other than a variable becomes."""
        return expr

    def part(self, owner: object, value: Any) -> Any:
        """What stands in ``owner``, the node as it was, for a part of it that was rewritten to ``value``.

        Parts come in the order in which they are evaluated, what is inside of one before it.
        """
        return value

    def type(self, type_: ir.Type) -> ir.Type:
        """What a type becomes."""
        return type_

    def definition(self, old: ir.Var, typed: ir.Var) -> ir.Var:
        """The variable that is bound in the place of ``old``; ``typed`` is that with its type rewritten."""
        return typed

    def use(self, var: ir.Var) -> ir.Expr:
        """What stands for a use of ``var``: what it is bound to, or itself."""
        return self.bound(var) or var

    def function(self, function: ir.Function) -> ir.Function | Iterable[ir.Function] | None:
        """What a function of a program becomes; one that is rewritten by itself becomes one function."""
        return function

    # What hooks call

    def bind(self, old: ir.Var, new: ir.Expr | None) -> None:
        """From here on ``old`` reads as ``new``; as itself again for None."""
        if new is old:
            new = None
        if not self._bindings.is_bound_to(old, new):
            self._bindings.bind(old, new)
            if id(old) in self._read:  # what was rewritten with the former meaning is rewritten again
                self.forget()

    def bound(self, var: ir.Var) -> ir.Expr | None:
        """What ``var`` reads as at this place, None for itself.

        Raises ValueError for one that reads differently behind the branches of an if before the place.
        """
        return self._bindings.value(var)

    def emit(self, *statements: ir.Stmt) -> None:
        """Put statements before the one that is being rewritten."""
        self._emitted[-1] += statements
        self._emits = True

    # The way in

    def rewrite(self, node: N) -> N:
        """The node, type, view or attribute map rewritten. A statement that becomes several is a sequence."""
        if isinstance(node, ir.Stmt):
            return cast(N, self._run(self.body(node)))
        if not isinstance(node, _REWRITTEN):
            raise TypeError(
                f"{type(self).__name__} rewrites a node, type, view or attribute map, not {node!r}"
            )
        result = self._run(self._asking(node))
        if isinstance(node, ir.Function) and not isinstance(result, ir.Function):
            raise TypeError(f"function {node.name!r} by itself becomes one function, not {result!r}")
        return cast(N, result)

    def _asking(self, node: object) -> Task:
        return (yield node)

    def _run(self, task: Task) -> Any:
        stack, value = [task], None
        while stack:
            try:
                asked = stack[-1].send(value)
            except StopIteration as done:
                stack.pop()
                value = done.value
                continue
            value = None
            if isinstance(asked, GeneratorType):
                stack.append(asked)
            elif (found := self._at_once(asked)) is not _LATER:
                value = found
            elif isinstance(asked, ir.Var) and not isinstance(asked, _BUFFERS):
                self._read.add(id(asked))
                value = self.use(asked)
            else:
                stack.append(self._step(asked))
        return value

    def _at_once(self, node: object) -> Any:
        """What a node becomes, where that takes no task; ``_LATER`` where it does."""
        if (known := self._done.get(id(node))) is not None:
            return known[1]
        cls = node.__class__
        if cls in _VARIABLES:
            self._read.add(id(node))
            return self.use(cast(ir.Var, node))
        if self._looks_in:
            return _LATER
        if cls in _CONSTANTS:
            found: object = self.expression(cast(ir.Expr, node))
        elif cls is ir.ScalarType or (cls in _SHAPED and self._is_fixed(node)):
            found = node
        else:
            return node if cls is ir.AttrMap and not node else _LATER
        self._done[id(node)] = (node, found)
        return found

    def _is_fixed(self, owner: object) -> bool:
        """Whether a type, or view, is made of constants that stay as they are."""
        for spec in node_fields_of(type(owner)):
            value = getattr(owner, spec.name)
            for part in value if spec.many else () if value is None else (value,):
                if part.__class__ in _CONSTANTS:
                    if self._at_once(part) is not part:
                        return False
                elif part.__class__ not in _VIEWS or not self._is_fixed(part):
                    return False
        return True

    def _step(self, node: object) -> Task:
        match node:
            case ir.MemRef() | ir.WindowBuffer():
                return self.buffer(node)
            case ir.Expr():
                return self._remembered(node, self.expression)
            case ir.Type():
                return self._remembered(node, self.type)
            case ir.Stmt():
                return self.body(node)
            case ir.Function():
                return self._function(node)
            case ir.Program():
                return self._program(node)
            case ir.AttrMap():
                return self._attrs(node)
        return self._parts(node)

    # Expressions, types, views, attributes

    def _remembered(self, node: object, hook: Any) -> Task:
        result = hook((yield from self._parts(node)))
        self._done[id(node)] = (node, result)
        return result

    def buffer(self, var: ir.MemRef | ir.WindowBuffer) -> Task:
        """The task of rewriting a buffer: one object stays one, since types share storage by sharing it."""
        self._read.add(id(var))
        if (stands_for := self.use(var)) is not var:
            return stands_for
        new = yield from self._parts(var)
        key = (id(var), *(id(getattr(new, spec.name)) for spec in node_fields_of(type(var))))
        result = self._made.setdefault(key, (var, new))[1]
        self._done[id(var)] = (var, result)
        return result

    def _parts(self, node: object) -> Task:
        changes: dict[str, object] = {}
        cls: type = type(node)
        for name, many in _fields(cls):
            value = getattr(node, name)
            if value is None:
                continue
            if many:
                new = (yield from self._each(node, value)) if value else value
            else:  # as ``_part`` does it, without a task for each
                if (new := self._at_once(value)) is _LATER:
                    new = yield self._step(value)
                new = self.part(node, new)
            if new is not value:
                changes[name] = new
        return build(node, **changes) if changes else node

    def _part(self, owner: object, value: object) -> Task:
        if (found := self._at_once(value)) is _LATER:
            found = yield self._step(value)
        return self.part(owner, found)

    def _each(self, owner: object, values: tuple[object, ...]) -> Task:
        new = []
        for value in values:
            if (found := self._at_once(value)) is _LATER:
                found = yield self._step(value)
            new.append(self.part(owner, found))
        return values if all(map(operator.is_, values, new)) else tuple(new)

    def _attrs(self, attrs: ir.AttrMap) -> Task:
        new: dict[int, ir.Expr] = {}
        for expr in attrs.expressions():
            new[id(expr)] = yield expr
        return attrs if not new else attrs.map_expressions(lambda expr: new[id(expr)])

    # Variables that are bound

    def _definition(self, var: ir.Var) -> Task:
        bound = self._bindings.before_definition(var)
        if isinstance(var, _BUFFERS):
            typed = yield self.buffer(var)
        elif isinstance(var, ir.IterArg):
            typed = build(var, type=(yield var.type), initValue=(yield var.initValue))
        else:
            if (type_ := self._at_once(var.type)) is _LATER:
                type_ = yield self._step(var.type)
            typed = var if type_ is var.type else build(var, type=type_)
        if typed is not var and isinstance(bound, ir.Var) and _is_copy(bound, typed):
            typed = bound  # bound a second time: one variable stays one
        new = self.definition(var, typed)
        if not isinstance(new, ir.Var):
            raise TypeError(f"{var.name_hint!r} is bound here: it becomes a Var, not {_kind(new)}")
        self._bindings.note_definition(var, new)
        self.bind(var, new)
        return new

    def _definitions(self, variables: Iterable[ir.Var]) -> Task:
        """Scalars first: the types of the others may name them."""
        variables = list(variables)
        new: dict[int, ir.Var] = {}
        for var in sorted(variables, key=lambda var: not isinstance(var.type, ir.ScalarType)):
            new[id(var)] = yield from self._definition(var)
        return [new[id(var)] for var in variables]

    # Statements

    def body(self, body: ir.Stmt) -> Task:
        """The task of rewriting a body."""
        old = list(flat(body) if self.opens_sequences else direct(body))
        new: list[ir.Stmt] = []
        for stmt in old:
            new += yield (self.usual(stmt) if self._is_usual else self._statement(stmt))
        if len(old) == len(new) and all(map(operator.is_, old, new)):
            return body
        if not self.opens_sequences:
            is_one = len(new) == 1 and not isinstance(body, ir.SeqStmts)
            return new[0] if is_one else ir.SeqStmts(new, body.span)
        return as_body(new, body.span)

    def _statement(self, stmt: ir.Stmt) -> Task:
        found = self._listed(self.before(stmt), stmt)
        if len(found) == 1 and found[0] is stmt:
            own = self.rewriting(stmt)
            return self._listed((yield own), stmt) if own is not None else (yield self.usual(stmt))
        result: list[ir.Stmt] = []
        for other in found:
            # A statement that comes back is not asked about again.
            result += yield (self.usual(other) if other is stmt else self._statement(other))
        return result

    def forget(self) -> None:
        """What was rewritten so far is rewritten again where it comes again: more is known from here on."""
        self._done.clear()
        self._read.clear()

    def usual(self, stmt: ir.Stmt) -> Task:
        """The task of rewriting a statement the usual way, for ``rewriting``."""
        self._emitted.append([])
        changes: dict[str, object] = {}
        cls: type = type(stmt)
        for spec in _places(cls):
            name, value = spec.name, getattr(stmt, spec.name)
            if value is None or name == "else_body":
                continue
            if name in _DEFINED:
                new = yield from (self._definitions(value) if spec.many else self._definition(value))
            elif isinstance(stmt, ir.IfStmt) and name == "then_body":
                new, changes["else_body"] = yield from self._branches(stmt)
            elif name == "body":
                new = yield from self._own_body(stmt, value)
            else:
                new = yield from (self._each(stmt, value) if spec.many else self._part(stmt, value))
            if new is not value:
                changes[name] = new
        result = self._listed(self.statement(build(stmt, **changes) if changes else stmt), stmt)
        if self._emits:  # what was emitted is bound here only: the next statement asks again
            self._done.clear()
            self._emits = False
        return [*self._emitted.pop(), *result]

    def _branches(self, stmt: ir.IfStmt) -> Task:
        """Neither branch reads what the other has bound."""
        mark = self._bindings.enter()
        then_body = yield self.body(stmt.then_body)
        if self._bindings.has_bound_since(mark):
            self.forget()
        self._bindings.other_branch(mark)
        else_body = None if stmt.else_body is None else (yield self.body(stmt.else_body))
        self._bindings.join(mark)
        if self._bindings.has_bound_since(mark):
            self.forget()
        return then_body, else_body

    def _own_body(self, stmt: ir.Stmt, body: ir.Stmt) -> Task:
        mark = self._bindings.enter()
        new = yield self.body(body)
        if isinstance(stmt, ir.ForStmt | ir.WhileStmt):
            self._bindings.refuse_versions(mark)
        return new

    def _listed(self, found: Replacement, stmt: ir.Stmt) -> list[ir.Stmt]:
        """What ``stmt`` becomes, as a list."""
        if found is None:
            return []
        if isinstance(found, ir.Stmt):
            is_opened = self.opens_sequences and isinstance(found, ir.SeqStmts)
            return list(flat(found)) if is_opened else [found]
        listed = list(found) if isinstance(found, Iterable) else [found]
        for one in listed:
            if not isinstance(one, ir.Stmt):
                raise TypeError(
                    f"{type(self).__name__}: {type(stmt).__name__} becomes a statement, several, or None,"
                    f" not {_kind(one)}"
                )
        return list(flat(listed)) if self.opens_sequences else listed

    # Functions and programs

    def _function(self, function: ir.Function) -> Task:
        changes: dict[str, object] = {"params": (yield self._definitions(function.params))}
        changes["attrs"] = yield function.attrs
        changes["return_types"] = yield self._each(function, function.return_types)
        changes["body"] = yield self.body(function.body)
        return self.function(build(function, **changes))

    def _program(self, program: ir.Program) -> Task:
        functions: list[ir.Function] = []
        for function in program.functions.values():
            found = yield self._function(function)
            if isinstance(found, ir.Function):
                functions.append(found)
            elif isinstance(found, Iterable):
                functions += found
            elif found is not None:
                raise TypeError(
                    f"{type(self).__name__}: function {function.name!r} becomes a function, several, or None,"
                    f" not {_kind(found)}"
                )
        return build(program, functions=functions)


def _kind(found: object) -> str:
    return f"a node of class {type(found).__name__}" if isinstance(found, ir.IRNode) else repr(found)


def _is_copy(bound: ir.Var, typed: ir.Var) -> bool:
    return type(bound) is type(typed) and bound.type == typed.type and not isinstance(typed, ir.IterArg)


@cache
def _fields(cls: type) -> tuple[tuple[str, bool], ...]:
    """Names of the fields with parts, and whether each holds several."""
    return tuple((spec.name, spec.many) for spec in node_fields_of(cls))


@cache
def _places(cls: type) -> tuple[FieldSpec, ...]:
    specs = {spec.name: spec for spec in node_fields_of(cls)}
    order = next((_PLACES[owner] for owner in cls.__mro__ if owner in _PLACES), ())
    names = [*(name for name in order if name in specs), *(name for name in specs if name not in order)]
    return tuple(specs[name] for name in names)
