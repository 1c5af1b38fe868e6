"""Rewriting the expressions of a JIT body: constants in place of names, ``self.f`` in place of callees."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Protocol

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.language.annotations import DynVar
from pypto_tmpl.language.diagnostics import ParserTypeError, UnsupportedFeatureError
from pypto_tmpl.language.jit.bindings import Bindings, Constant, Local
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.jit.literals import literal, placed, prefix_of
from pypto_tmpl.language.jit.local_info import LocalInfo
from pypto_tmpl.language.jit.metadata import Info, TensorInfo
from pypto_tmpl.language.jit.user_source import MISSING, Reads, Step, Surroundings, UserSource, stepped

_SUBMITS = frozenset({("pl", "submit"), ("pl", "spmd_submit")})


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call, and what is known of it."""

    node: ast.expr
    info: Info


class Callee(Protocol):
    """A specialised function of the program, as its callers see it."""

    @property
    def name(self) -> str: ...

    def result(self, arguments: list[Info]) -> Info: ...


class Program(Protocol):
    """The program that a body becomes part of."""

    def callee(
        self, function: Declared, arguments: list[Argument], node: ast.AST, source: UserSource
    ) -> Callee:
        """The specialisation of a callee, made where there is none yet."""

    def outside_name(self, name: str, value: object) -> str:
        """The name by which the program's text refers to a Python value."""

    def use_dimension(self, name: str) -> None:
        """Note that the text names a dynamic dimension."""

    @property
    def closure(self) -> Mapping[str, Any]:
        """The Python values that the program's text names."""

    @property
    def is_reached(self) -> bool:
        """Whether a run may reach what is being rewritten."""

    def reached(self, is_reached: bool) -> AbstractContextManager[None]:
        """Inside it bodies are rewritten that a run may reach, or not."""


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites copies of expressions; statements are the business of ``BodyRewriter``."""

    def __init__(
        self,
        program: Program,
        source: UserSource,
        around: Surroundings,
        bindings: Bindings,
        reads: Reads,
    ) -> None:
        self._reads = reads
        self.bindings = bindings
        self._program = program
        self._source = source
        self._around = around
        self._shadowed: list[str] = []  # variables of comprehensions
        self._in_annotation = False
        self.infos = LocalInfo(self)

    def rewrite(self, node: ast.expr) -> ast.expr:
        """The rewritten copy of an expression."""
        found: ast.expr = self.visit(copy.deepcopy(node))
        return found

    def annotation(self, node: ast.expr) -> ast.expr:
        """The rewritten copy of an annotation, in which dynamic dimensions keep their names."""
        self._in_annotation = True
        try:
            return self.rewrite(node)
        finally:
            self._in_annotation = False

    # What names stand for

    def outside(self, node: ast.expr) -> Any:
        """The Python value of a name or an attribute chain; MISSING where the body binds its root."""
        root, steps = self._chain(node)
        if root is None or root in self._shadowed or self.bindings.find(root) is not None:
            return MISSING
        value = self._around.lookup(root)
        for step in steps:
            if value is MISSING or (step[0] == "item" and not isinstance(value, list | tuple | dict)):
                return MISSING
            value = stepped(value, step)
            if value is MISSING and step[0] == "item":
                message = f"{ast.unparse(node)}: there is no item {step[1]!r}"
                raise self._source.error(ParserTypeError, node, message)
        self._reads.note(self._around, root, steps, value)
        return value

    def _chain(self, node: ast.expr) -> tuple[str | None, tuple[Step, ...]]:
        """The name at the root of ``a.b[0].c`` and the steps from there; no name for anything else."""
        steps: list[Step] = []
        while not isinstance(node, ast.Name):
            match node:
                case ast.Attribute(value=owner, attr=name):
                    steps.insert(0, ("attribute", name))
                case ast.Subscript(value=owner, slice=index) if (place := self._place(index)) is not None:
                    steps.insert(0, ("item", place))
                case _:
                    return None, ()
            node = owner
        return node.id, tuple(steps)

    def _place(self, index: ast.expr) -> int | str | None:
        """A place in a Python container that the text alone tells; None for anything else."""
        place = index.value if isinstance(index, ast.Constant) else self.infos.extent(index)
        return place if isinstance(place, int | str) else None

    def language_call(self, node: ast.Call) -> tuple[str, ...] | None:
        """``("pl", "tensor", "slice")`` for a call of ``pl.tensor.slice``; None for any other call."""
        parts: list[str] = []
        target = node.func
        while isinstance(target, ast.Attribute):
            parts.append(target.attr)
            target = target.value
        prefix = self._prefix(target) if isinstance(target, ast.Name) and parts else None
        return None if prefix is None else (prefix, *reversed(parts))

    def _prefix(self, node: ast.Name) -> str | None:
        return prefix_of(self.outside(node))

    def callee_result(self, node: ast.Call) -> Info:
        """What a call of a JIT function gives; None for a call of anything else."""
        function = self.outside(node.func)
        if not isinstance(function, Declared):
            return None
        arguments = self._arguments(function, node.args, node.keywords, node)[0]
        return self._callee(function, arguments, node).result([self.infos.info(a) for a in arguments])

    def _callee(self, function: Declared, arguments: list[ast.expr], node: ast.Call) -> Callee:
        given = [Argument(argument, self.infos.info(argument)) for argument in arguments]
        return self._program.callee(function, given, node, self._source)

    def value_node(self, value: Any, node: ast.expr) -> ast.expr | None:
        """The literal for a value in place of ``node``; None where there is none."""
        found = literal(value)
        return None if found is None else placed(found, node)

    # Visitors

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._shadowed or not isinstance(node.ctx, ast.Load):
            return node
        match self.bindings.find(node.id):
            case Local(name=name):
                return placed(ast.Name(name, ast.Load()), node)
            case Constant(value=value):
                return self._outside_value(node, node.id, value)
        value = self.outside(node)
        if value is MISSING or self._around.is_builtin(node.id):
            return node
        prefix = prefix_of(value)
        if prefix is not None:
            return placed(ast.Name(prefix, ast.Load()), node)
        return self._outside_value(node, node.id, value)

    def _outside_value(self, node: ast.expr, name: str, value: Any) -> ast.expr:
        if isinstance(value, DynVar):
            return self._dimension(node, value)
        found = self.value_node(value, node)
        if found is not None:
            return found
        return placed(ast.Name(self._program.outside_name(name, value), ast.Load()), node)

    def _dimension(self, node: ast.expr, dimension: DynVar) -> ast.expr:
        """``pl.tensor.dim(x, 0)`` for the first tensor that has the dimension."""
        anchor = self.bindings.anchor(dimension.name)
        if anchor is None or self._in_annotation:
            self._program.use_dimension(dimension.name)
            return placed(ast.Name(dimension.name, ast.Load()), node)
        return extent_read(*anchor, node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr in ("shape", "dtype") and (found := self._metadata(node)) is not None:
            return found
        value = self.outside(node)
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        is_language = isinstance(root, ast.Name) and self._prefix(root) is not None
        if value is not MISSING and not is_language and not isinstance(value, Declared):
            if isinstance(value, DynVar):
                return self._dimension(node, value)
            found = self.value_node(value, node)
            if found is not None:
                return found
        return self.generic_visit(node)  # type: ignore[return-value]

    def _metadata(self, node: ast.Attribute) -> ast.expr | None:
        """``x.shape`` and ``x.dtype`` of a tensor."""
        binding = self.bindings.find(node.value.id) if isinstance(node.value, ast.Name) else None
        if not isinstance(binding, Local) or not isinstance(binding.info, TensorInfo):
            return None
        if node.attr == "dtype":
            return self.value_node(binding.info.dtype, node)
        extents = [self.extent_node(binding, axis, node) for axis in range(len(binding.info.shape))]
        return placed(ast.List(extents, ast.Load()), node)

    def extent_node(self, tensor: Local, axis: int, node: ast.expr) -> ast.expr:
        """An extent of a tensor: its number, or the op that reads it."""
        assert isinstance(tensor.info, TensorInfo)
        extent = tensor.info.shape[axis]
        if isinstance(extent, int):
            return placed(ast.Constant(extent), node)
        return extent_read(tensor.name, axis % len(tensor.info.shape), node)

    def shape_element(self, node: ast.expr) -> tuple[Local, int] | None:
        """The tensor and the axis of ``x.shape[i]``; None for anything else."""
        match node:
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=index):
                found, axis = self.bindings.find(name), self.infos.extent(index)
                if isinstance(found, Local) and isinstance(found.info, TensorInfo) and isinstance(axis, int):
                    rank = len(found.info.shape)
                    if not -rank <= axis < rank:
                        message = f"{name}.shape has {rank} extents, there is no index {axis}"
                        raise self._source.error(ParserTypeError, node, message)
                    return found, axis % rank
        return None

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if (element := self.shape_element(node)) is not None:
            return self.extent_node(*element, node)
        value = self.outside(node)
        found = None if value is MISSING else self.value_node(value, node)
        return found or self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = self.outside(node.func)
        if isinstance(function, Declared):
            return self._kernel_call(node, function)
        if isinstance(function, FunctionType) and self.language_call(node) is None:
            message = f"{ast.unparse(node.func)!r} is a Python function, which a kernel cannot call"
            hint = "call it outside of the kernel, or decorate it with @pl.jit.inline"
            raise self._source.error(UnsupportedFeatureError, node, message, hint)
        if self.language_call(node) in _SUBMITS and node.args:
            submitted = self.outside(node.args[0])
            if isinstance(submitted, Declared):
                return self._submit(node, submitted)
        return self.generic_visit(node)  # type: ignore[return-value]

    def _kernel_call(self, node: ast.Call, function: Declared) -> ast.expr:
        """``self.f(x, y)`` for ``f(x, b=y)``."""
        arguments, others = self._arguments(function, node.args, node.keywords, node)
        callee = self._callee(function, arguments, node)
        args = [self.visit(argument) for argument in arguments]
        keywords = [self.visit(keyword) for keyword in others]
        return placed(ast.Call(_method(callee.name, node.func), args, keywords), node)

    def _submit(self, node: ast.Call, function: Declared) -> ast.expr:
        """``pl.submit(self.f, x, y, deps=...)``; trailing outputs may be left out."""
        arguments, others = self._arguments(function, node.args[1:], node.keywords, node, may_lack=True)
        callee = self._callee(function, arguments, node)
        args = [_method(callee.name, node.args[0]), *(self.visit(argument) for argument in arguments)]
        keywords = [self.visit(keyword) for keyword in others]
        return placed(ast.Call(self.visit(node.func), args, keywords), node)

    def _arguments(
        self,
        function: Declared,
        positional: list[ast.expr],
        keywords: list[ast.keyword],
        node: ast.Call,
        may_lack: bool = False,
    ) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The arguments in the order of the parameters, and the keywords that name none."""
        params = [parameter.name for parameter in function.parameters()]
        if len(positional) > len(params):
            message = (
                f"{function.__name__!r} takes {len(params)} argument(s), and {len(positional)} are given"
            )
            raise self._source.error(ParserTypeError, node, message)
        given: dict[str, ast.expr] = dict(zip(params, positional, strict=False))
        others = []
        for keyword in keywords:
            if keyword.arg in given:
                message = f"{function.__name__!r} is given {keyword.arg!r} twice"
                raise self._source.error(ParserTypeError, keyword.value, message)
            if keyword.arg in params:
                given[keyword.arg] = keyword.value
            else:
                others.append(keyword)
        for name, default in function.defaults().items():
            given.setdefault(name, placed(literal(default) or ast.Constant(default), node))
        missing = [name for name in params if name not in given]
        if missing and not (may_lack and params[-len(missing) :] == missing):
            message = f"{function.__name__!r} is called without {', '.join(missing)}"
            raise self._source.error(ParserTypeError, node, message, allowed_note("parameters", params))
        return [given[name] for name in params if name in given], others

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        return node

    def _comprehension(self, node: Any) -> ast.expr:
        """The first iterable is outside, all else sees the variables."""
        generators: list[ast.comprehension] = node.generators
        depth = len(self._shadowed)
        try:
            for generator in generators:
                generator.iter = self.visit(generator.iter)
                self._shadowed += [n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)]
                generator.ifs = [self.visit(condition) for condition in generator.ifs]
            for name in ("elt", "key", "value"):
                if hasattr(node, name):
                    setattr(node, name, self.visit(getattr(node, name)))
        finally:
            del self._shadowed[depth:]
        found: ast.expr = node
        return found

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension


def extent_read(tensor: str, axis: int, node: ast.expr) -> ast.expr:
    """``pl.tensor.dim(x, axis)``."""
    function = ast.Attribute(
        ast.Attribute(ast.Name("pl", ast.Load()), "tensor", ast.Load()), "dim", ast.Load()
    )
    return placed(ast.Call(function, [ast.Name(tensor, ast.Load()), ast.Constant(axis)], []), node)


def _method(name: str, node: ast.expr) -> ast.expr:
    return placed(ast.Attribute(ast.Name("self", ast.Load()), name, ast.Load()), node)
