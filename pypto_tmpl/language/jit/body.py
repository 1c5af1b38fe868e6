"""Rewriting the body of a JIT function into the body of a function of a program."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import repeat

from pypto_tmpl.ir import DataType
from pypto_tmpl.language.annotations import DynVar, dynamic
from pypto_tmpl.language.diagnostics import ParserTypeError
from pypto_tmpl.language.jit.bindings import Bindings, Local
from pypto_tmpl.language.jit.expressions import ExpressionRewriter, Program
from pypto_tmpl.language.jit.literals import literal, placed
from pypto_tmpl.language.jit.liveness import targets
from pypto_tmpl.language.jit.metadata import Extent, Info, ScalarInfo, TensorInfo, TupleInfo
from pypto_tmpl.language.jit.reached import Reached
from pypto_tmpl.language.jit.user_source import MISSING, Reads, Surroundings, UserSource
from pypto_tmpl.language.reached import assigned_once

_BIND_DYNAMIC = ("dim", "var")
_MAKES_DYNAMIC = (ast.Assign, ast.Call)  # where dimensions are named, and bound to axes


class BodyRewriter:
    """Works through one body from top to bottom; ``returned`` is what the last return gives."""

    def __init__(
        self,
        program: Program,
        source: UserSource,
        around: Surroundings,
        bindings: Bindings,
        reads: Reads,
    ) -> None:
        self._program = program
        self._reached = Reached(program.closure)
        self._assigned_once = assigned_once(source.tree)
        self._left_out: set[str] = set()  # names that statements would bind which no run reaches
        self._source = source
        self._bindings = bindings
        self._expressions = ExpressionRewriter(program, source, around, bindings, reads)
        self.returned: Info = None
        self.returns_value = False

    def body(self) -> list[ast.stmt]:
        """The rewritten statements of the function."""
        statements = self._source.tree.body
        with self._bindings.function(statements):
            return self._block(statements) or [placed(ast.Pass(), statements[0])]

    def _block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        found: list[ast.stmt] = []
        is_left = False
        for position, statement in enumerate(statements):
            self._bindings.at(position)
            with self._program.reached(not is_left):
                made = self._made(statement)
            is_left |= any(map(self._reached.leaves, made))
            found += made
        return found

    def _made(self, statement: ast.stmt) -> list[ast.stmt]:
        """What a statement becomes: nothing, where no run reaches it and its values do not fit."""
        if self._program.is_reached and not self._left_out:
            return self._statement(statement)
        names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
        if self._program.is_reached:
            self._left_out -= bound
            return self._statement(statement)
        if self._left_out.isdisjoint(name.id for name in names if isinstance(name.ctx, ast.Load)):
            with suppress(ParserTypeError):
                return self._statement(statement)
        self._left_out |= bound
        return []

    def _nested(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements of a compound statement, which needs at least one."""
        return self._block(statements) or [placed(ast.Pass(), statements[0])]

    def _statement(self, statement: ast.stmt) -> list[ast.stmt]:
        match statement:
            case ast.Assign(targets=[target], value=value):
                return self._assign(statement, target, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return self._annotated(statement, name, value)
            case ast.Expr(value=value):
                if _bind_dynamic(value) is not None:
                    return []
                return [placed(ast.Expr(self._expressions.rewrite(value)), statement)]
            case ast.Return(value=value):
                return [self._return(statement, value)]
            case ast.For():
                return self._for(statement)
            case ast.While():
                return self._while(statement)
            case ast.If():
                return self._if(statement)
            case ast.With():
                return [self._with(statement)]
        return [copy.deepcopy(statement)]  # what the language lacks is reported by its reader

    # Assignments

    def _assign(self, statement: ast.Assign, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        if self._is_dynamic(value) and isinstance(target, ast.Name):
            name = self._dynamic_name(value)
            self._bindings.forget_assignment(target.id, dynamic(name))
            return []
        match target:
            case ast.Name(id=name):
                element = self._expressions.shape_element(value)
                if element is not None:
                    return self._extent(statement, name, *element)
                info, extent = self._expressions.infos.info(value), self._expressions.infos.extent(value)
                written = self._expressions.rewrite(value)
                variable = placed(ast.Name(self._assigned(name, info, extent, written), ast.Store()), target)
                return [placed(ast.Assign([variable], written), statement)]
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                shape = self._shape_of(value)
                if shape is not None and all(isinstance(element, ast.Name) for element in elements):
                    return self._unpacked_shape(statement, elements, shape)
                info = self._expressions.infos.info(value)
                written = self._expressions.rewrite(value)
                bound = self._bound(target, info)
                return [placed(ast.Assign([bound], written), statement)]
        written = self._expressions.rewrite(value)
        return [placed(ast.Assign([self._written_target(target)], written), statement)]

    def _assigned(self, name: str, info: Info, extent: Extent, value: ast.expr) -> str:
        """The variable that an assignment of a rewritten value writes."""
        chosen = self._bindings.assign(name, info, extent)
        if name in self._assigned_once:
            self._reached.note(chosen, value)
        return chosen

    def _written_target(self, target: ast.expr) -> ast.expr:
        """``y[a:b]`` with the names as they stand."""
        if not isinstance(target, ast.Subscript):
            return copy.deepcopy(target)
        base = self._expressions.rewrite(_loaded(target.value))
        index = self._expressions.rewrite(target.slice)
        return placed(ast.Subscript(base, index, ast.Store()), target)

    def _bound(self, target: ast.expr, info: Info) -> ast.expr:
        """An assignment target with the names that its variables get."""
        match target:
            case ast.Name(id=name):
                return placed(ast.Name(self._bindings.assign(name, info, None), ast.Store()), target)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                items = info.items if isinstance(info, TupleInfo) else ()
                known = [items[i] if i < len(items) else None for i in range(len(elements))]
                parts = [self._bound(element, item) for element, item in zip(elements, known, strict=True)]
                return placed(ast.Tuple(parts, ast.Store()), target)
        return copy.deepcopy(target)

    def _annotated(self, statement: ast.AnnAssign, name: str, value: ast.expr) -> list[ast.stmt]:
        info, extent = self._expressions.infos.info(value), self._expressions.infos.extent(value)
        written = self._expressions.rewrite(value)
        annotation = self._expressions.annotation(statement.annotation)
        variable = self._assigned(name, info, extent, written)
        bound = placed(ast.Name(variable, ast.Store()), statement.target)
        return [placed(ast.AnnAssign(bound, annotation, written, 1), statement)]

    def _shape_of(self, node: ast.expr) -> Local | None:
        """The tensor of ``x.shape``."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                found = self._bindings.find(name)
                if isinstance(found, Local) and isinstance(found.info, TensorInfo):
                    return found
        return None

    def _unpacked_shape(
        self, statement: ast.Assign, elements: Sequence[ast.expr], tensor: Local
    ) -> list[ast.stmt]:
        assert isinstance(tensor.info, TensorInfo)
        rank = len(tensor.info.shape)
        if rank != len(elements):
            message = f"{ast.unparse(statement.value)} has {rank} extents, {len(elements)} names are given"
            raise self._source.error(ParserTypeError, statement.targets[0], message)
        found: list[ast.stmt] = []
        for axis, element in enumerate(elements):
            assert isinstance(element, ast.Name)
            found += self._extent(statement, element.id, tensor, axis)
        return found

    def _extent(self, statement: ast.stmt, name: str, tensor: Local, axis: int) -> list[ast.stmt]:
        """A name for an extent: a number takes the name's place, another one is read at run time."""
        assert isinstance(tensor.info, TensorInfo)
        extent = tensor.info.shape[axis]
        if isinstance(extent, int) and not self._bindings.is_carried(name):
            self._bindings.forget_assignment(name, extent)
            return []
        node = placed(ast.Constant(0), statement)
        value = self._expressions.extent_node(tensor, axis, node)
        bound = placed(ast.Name(self._bindings.assign(name, None, extent), ast.Store()), statement)
        return [placed(ast.Assign([bound], value), statement)]

    def _is_dynamic(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Call) and self._expressions.language_call(node) == ("pl", "dynamic")

    def _dynamic_name(self, node: ast.expr) -> str:
        match node:
            case ast.Call(args=[ast.Constant(value=str() as name)], keywords=[]) if name.isidentifier():
                return name
        message = "pl.dynamic takes the name of a dimension"
        raise self._source.error(ParserTypeError, node, message)

    # Compound statements

    def _for(self, statement: ast.For) -> list[ast.stmt]:
        iterator = self._expressions.rewrite(statement.iter)
        names, before = self._entering([statement.body], is_loop=True)
        known = self._bindings.snapshot()
        for name, info in zip(targets(statement.target), self._loop_infos(statement.iter), strict=False):
            self._bindings.hold(name, Local(name, info))
        target = copy.deepcopy(statement.target)
        is_reached = self._reached.has_rounds(iterator)
        with self._bindings.branch(statement.body, names, is_loop=True), self._program.reached(is_reached):
            body = self._nested(statement.body)
        self._bindings.join([self._bindings.restore(known)], names)
        made = ast.For(target, iterator, body, [copy.deepcopy(s) for s in statement.orelse])
        return [*before, placed(made, statement)]

    def _loop_infos(self, iterator: ast.expr) -> Iterator[Info]:
        """What is known of the names that a loop binds: its variable, then the values that it carries."""
        yield ScalarInfo(DataType.INDEX)
        for keyword in iterator.keywords if isinstance(iterator, ast.Call) else ():
            if keyword.arg == "init_values" and isinstance(keyword.value, ast.Tuple | ast.List):
                yield from map(self._expressions.infos.info, keyword.value.elts)
        yield from repeat(None)

    def _while(self, statement: ast.While) -> list[ast.stmt]:
        names, before = self._entering([statement.body, [_as_statement(statement.test)]], is_loop=True)
        test = self._expressions.rewrite(statement.test)
        known = self._bindings.snapshot()
        is_reached = self._program.reached(self._reached.truth(test) is not False)
        branch = self._bindings.branch(statement.body, names, is_loop=True, condition=statement.test)
        with branch, is_reached:
            body = self._nested(statement.body)
        self._bindings.join([self._bindings.restore(known)], names)
        made = ast.While(test, body, [copy.deepcopy(s) for s in statement.orelse])
        return [*before, placed(made, statement)]

    def _if(self, statement: ast.If) -> list[ast.stmt]:
        test = self._expressions.rewrite(statement.test)
        names, before = self._entering([statement.body, statement.orelse], is_loop=False)
        known, taken = self._bindings.snapshot(), self._reached.truth(test)
        branches, bodies = [], []
        for block, dead in ((statement.body, False), (statement.orelse, True)):
            is_reached = self._program.reached(taken is not dead)
            with self._bindings.branch(block, names, is_loop=False), is_reached:
                bodies.append(self._nested(block) if block else [])
            branches.append(self._bindings.restore(known))
        self._bindings.join(branches[::-1] if taken is False else branches, names)
        return [*before, placed(ast.If(test, bodies[0], bodies[1]), statement)]

    def _entering(
        self, blocks: Sequence[Sequence[ast.stmt]], is_loop: bool
    ) -> tuple[list[str], list[ast.stmt]]:
        """The names that a loop or branch carries; those that stood for values get variables before it."""
        names = self._bindings.carried(blocks, is_loop)
        if is_loop:
            self._bindings.forget_extents(names)
        place = next(statement for block in blocks for statement in block)
        bridges: list[ast.stmt] = []
        for name, value in self._bindings.constants(names):
            written = literal(value)
            assert written is not None
            bridge = ast.Assign([ast.Name(name, ast.Store())], written)
            bridges.append(placed(bridge, place))
        return names, bridges

    def _with(self, statement: ast.With) -> ast.stmt:
        items = []
        for item in statement.items:
            context = self._expressions.rewrite(item.context_expr)
            bound = None if item.optional_vars is None else self._bound(item.optional_vars, None)
            items.append(ast.withitem(context, bound))
        with self._bindings.block(statement.body):
            body = self._nested(statement.body)
        return placed(ast.With(items, body), statement)

    def _return(self, statement: ast.Return, value: ast.expr | None) -> ast.stmt:
        if value is None:
            return copy.deepcopy(statement)
        self.returns_value = True
        self.returned = self._expressions.infos.info(value)
        return placed(ast.Return(self._expressions.rewrite(value)), statement)


def bound_dynamics(
    body: Sequence[ast.stmt], source: UserSource, around: Surroundings
) -> Iterator[tuple[str, int, str]]:
    """``(tensor, axis, dimension)`` of every ``x.bind_dynamic(axis, M)`` in a body."""
    local: dict[str, str] = {}
    nodes = [node for statement in body for node in ast.walk(statement) if isinstance(node, _MAKES_DYNAMIC)]
    for node in nodes:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Attribute(attr="dynamic"), args=[ast.Constant(value=str() as text)]),
            ):
                local[name] = text
    for node in nodes:
        found = _bind_dynamic(node)
        if found is None:
            continue
        tensor, axis, dimension = found
        value = around.lookup(dimension.id) if isinstance(dimension, ast.Name) else MISSING
        if isinstance(dimension, ast.Name) and dimension.id in local:
            value = DynVar(local[dimension.id])
        match axis, value:
            case ast.Constant(value=int() as number), DynVar(name=name):
                yield tensor, number, name
            case _:
                message = "bind_dynamic takes an axis number and a pl.dynamic(...)"
                raise source.error(ParserTypeError, node, message)


def _bind_dynamic(node: ast.AST) -> tuple[str, ast.expr, ast.expr] | None:
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=tensor), attr="bind_dynamic"), args=args, keywords=keywords
        ):
            given = dict(zip(_BIND_DYNAMIC, args, strict=False))
            given |= {keyword.arg or "": keyword.value for keyword in keywords}
            if len(given) == len(args) + len(keywords) and given.keys() == set(_BIND_DYNAMIC):
                return tensor, given["dim"], given["var"]
    return None


def _as_statement(node: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Expr(node), node)


def _loaded(node: ast.expr) -> ast.expr:
    found = copy.deepcopy(node)
    if isinstance(found, ast.Name):
        found.ctx = ast.Load()
    return found
