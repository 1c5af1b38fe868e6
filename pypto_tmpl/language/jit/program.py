"""Making the program of a JIT entry: its own function and those of its callees, as one text."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.language.diagnostics import ParserError, ParserTypeError
from pypto_tmpl.language.jit.arguments import baked_values, declared_info, dynamic_axes, fits, with_dynamic
from pypto_tmpl.language.jit.bindings import Bindings
from pypto_tmpl.language.jit.body import BodyRewriter
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.jit.expressions import Argument
from pypto_tmpl.language.jit.external import external_functions
from pypto_tmpl.language.jit.kinds import Kind
from pypto_tmpl.language.jit.metadata import (
    Extent,
    Info,
    ScalarInfo,
    TensorInfo,
    TupleInfo,
    dimensions,
    substituted,
)
from pypto_tmpl.language.jit.parameters import Parameter
from pypto_tmpl.language.jit.spelling import definition, parameter_text, tensor_text, type_text
from pypto_tmpl.language.jit.text import Method, ProgramText, program_text
from pypto_tmpl.language.jit.user_source import Reads, UserSource


class MissingMetadataError(ParserTypeError, ValueError):
    """Shape and dtype of a tensor that a callee is given are not known."""


@dataclass(frozen=True, slots=True)
class Callee:
    """A specialised function, as its callers see it."""

    name: str
    function: Declared
    infos: tuple[Info, ...]
    returned: Info
    is_reached: bool = True  # by a call that a run may reach

    def result(self, arguments: Sequence[Info]) -> Info:
        """What a call with these arguments gives: dynamic dimensions are those of the arguments."""
        known: dict[str, Extent] = {}
        for own, given in zip(self.infos, arguments, strict=False):
            if isinstance(own, TensorInfo) and isinstance(given, TensorInfo):
                pairs = zip(own.shape, given.shape, strict=False)
                for name, extent in pairs:
                    if isinstance(name, str):
                        known.setdefault(name, extent)
        return substituted(self.returned, known)


class Specialiser:
    """Specialises one entry and, leaves first, what it calls."""

    def __init__(self, entry: Declared, reads: Reads) -> None:
        self._entry = entry
        self._reads = reads
        self._methods: list[Method] = []
        self._callees: dict[tuple[int, tuple[Info, ...]], Callee] = {}
        self._dynamic: dict[Declared, dict[tuple[str, int], str]] = {}
        self._open: list[Declared] = []
        self._names: set[str] = set()
        self._dimensions: dict[str, None] = {}
        self.closure: dict[str, Any] = {}
        self._unreached = 0  # blocks around that no run reaches

    def text(self, infos: Sequence[Info]) -> ProgramText:
        """The text of the program for these arguments of the entry."""
        self._specialise(self._entry, tuple(infos), baked_values(self._entry, infos))
        unreached = {callee.name for callee in self._callees.values() if not callee.is_reached}
        dimensions = list(self._dimensions)
        return program_text(self._entry.__name__, self._methods, dimensions, self.closure, unreached)

    # What bodies ask for

    def callee(
        self, function: Declared, arguments: list[Argument], node: ast.AST, source: UserSource
    ) -> Callee:
        """The specialisation of a callee for these arguments.

        Calls with equal shapes and dtypes share one.
        """
        self._check_callable(function, node, source)
        infos = tuple(self._callee_infos(function, arguments, node, source))
        key = id(function), infos
        found = self._callees.get(key)
        if found is not None and not found.is_reached and self.is_reached:
            self._forget(found)
            found = None
        if found is None:
            found = self._callees[key] = self._specialise(function, infos, {})
        return found

    def _forget(self, callee: Callee) -> None:
        """Take back what was made for calls that no run reaches, where more is left out than elsewhere."""
        self._methods = [method for method in self._methods if method.definition.name != callee.name]
        self._names.discard(callee.name)

    @property
    def is_reached(self) -> bool:
        """Whether a run may reach what is being rewritten."""
        return not self._unreached

    @contextmanager
    def reached(self, is_reached: bool) -> Iterator[None]:
        """Inside it bodies are rewritten that a run may reach, or not."""
        self._unreached += not is_reached
        try:
            yield
        finally:
            self._unreached -= not is_reached

    def outside_name(self, name: str, value: object) -> str:
        """The name by which the text refers to a Python value."""
        chosen, number = name, 1
        while chosen in self.closure and self.closure[chosen] is not value:
            chosen, number = f"{name}_{number}", number + 1
        self.closure[chosen] = value
        return chosen

    def use_dimension(self, name: str) -> None:
        """Note that the text names a dynamic dimension."""
        self._dimensions[name] = None

    # Functions

    def _check_callable(self, function: Declared, node: ast.AST, source: UserSource) -> None:
        caller = self._open[-1]
        if function in self._open:
            message = f"{function.__name__!r} calls itself, which kernels cannot"
            raise source.error(ParserTypeError, node, message)
        if function.kind is Kind.HOST or (function.kind is Kind.ENTRY and caller.kind is not Kind.HOST):
            message = f"{function.__name__!r} is an entry (@{function.kind.value}), which Python calls"
            hint = "decorate it with @pl.jit.inline or @pl.jit.incore to call it from a kernel"
            raise source.error(ParserTypeError, node, message, hint)

    def _callee_infos(
        self, function: Declared, arguments: list[Argument], node: ast.AST, source: UserSource
    ) -> list[Info]:
        if function not in self._dynamic:
            self._dynamic[function] = dynamic_axes(function)
        dynamic = self._dynamic[function]
        found: list[Info] = []
        for position, parameter in enumerate(function.parameters()):
            given = arguments[position].info if position < len(arguments) else None
            if isinstance(given, TensorInfo) and not fits(parameter, given):
                raise _contradiction(function, parameter, arguments[position], source)
            if parameter.kind == "scalar":
                assert parameter.dtype is not None
                found.append(ScalarInfo(parameter.dtype))
            elif parameter.kind == "array":
                found.append(None)
            elif isinstance(given, TensorInfo) and given.is_complete:
                info = with_dynamic(parameter, given, dynamic)
                found.append(info)
            elif parameter.declared is not None:
                found.append(declared_info(parameter, dynamic, parameter.name))
            elif isinstance(given, TensorInfo) and function.kind is Kind.INLINE:
                # its text becomes part of the caller's, where the tensor itself tells the extents
                found.append(with_dynamic(parameter, _named_extents(function, parameter, given), dynamic))
            else:
                message = (
                    f"missing inferred tensor metadata: shape and dtype of argument {parameter.name!r} "
                    f"of {function.__name__!r} are not known"
                )
                hint = f"declare the parameter: {parameter.name}: pl.Tensor[[...], dtype]"
                raise source.error(MissingMetadataError, node, message, hint)
        return found

    def _specialise(self, function: Declared, infos: tuple[Info, ...], baked: Mapping[str, Any]) -> Callee:
        self._dimensions.update(dict.fromkeys(dimensions(infos)))
        name = self._method_name(function.__name__)
        if function.kind is Kind.EXTERN:
            self._methods += external_functions(function, name, infos)
            return Callee(name, function, infos, _first_output(function, infos))
        source, parameters = function.source, function.parameters()
        bindings = Bindings((parameter.name for parameter in parameters), source.tree.body)
        for parameter, info in zip(parameters, infos, strict=True):
            bindings.hold_parameter(parameter.name, info, baked.get(parameter.name))
        rewriter = BodyRewriter(self, source, function.around, bindings, self._reads)
        self._open.append(function)
        try:
            body = rewriter.body()
        finally:
            self._open.pop()
        returned = rewriter.returned
        if rewriter.returns_value and not isinstance(returned, TupleInfo) and type_text(returned) is None:
            returned = _first_output(function, infos)
        self._dimensions.update(dict.fromkeys(dimensions([returned])))
        definition = self._definition(function, name, infos, body, returned)
        self._methods.append(Method(definition, source))
        return Callee(name, function, infos, returned, self.is_reached)

    def _definition(
        self,
        function: Declared,
        name: str,
        infos: Sequence[Info],
        body: list[ast.stmt],
        returned: Info,
    ) -> ast.FunctionDef:
        is_inline = function.kind is Kind.INLINE
        params = []
        for parameter, info in zip(function.parameters(), infos, strict=True):
            if is_inline and parameter.direction is not ir.ParamDirection.In:
                _warn_direction(function, parameter)
            params.append((parameter.node, parameter_text(parameter, info, with_direction=not is_inline)))
        decorator = function.options.decorator()
        return definition(name, decorator, params, type_text(returned), body, function.source.tree)

    def _method_name(self, name: str) -> str:
        chosen, number = name, 1
        while chosen in self._names:
            chosen, number = f"{name}_{number}", number + 1
        self._names.add(chosen)
        return chosen


def _contradiction(
    function: Declared, parameter: Parameter, argument: Argument, source: UserSource
) -> ParserError:
    """The diagnostic for an argument that is not what the parameter is declared as."""
    assert isinstance(argument.info, TensorInfo)
    declared = ast.unparse(parameter.node.annotation) if parameter.node.annotation is not None else "a tensor"
    message = (
        f"{ast.unparse(argument.node)!r} is {tensor_text(argument.info)}, and the parameter "
        f"{parameter.name!r} of {function.__name__!r} is declared as {declared}"
    )
    return source.error(ParserTypeError, argument.node, message)


def _named_extents(function: Declared, parameter: Parameter, info: TensorInfo) -> TensorInfo:
    """``info`` with a dynamic dimension, such as ``rotate_x_0``, for each extent that is not known."""
    names = (f"{function.__name__}_{parameter.name}_{axis}" for axis in range(len(info.shape)))
    shape = tuple(name if extent is None else extent for name, extent in zip(names, info.shape, strict=True))
    return replace(info, shape=shape)


def _first_output(function: Declared, infos: Sequence[Info]) -> Info:
    """The metadata of the first output parameter."""
    for parameter, info in zip(function.parameters(), infos, strict=True):
        if parameter.direction is ir.ParamDirection.Out:
            return info
    return None


def _warn_direction(function: Declared, parameter: Parameter) -> None:
    message = (
        f"parameter {parameter.name!r} of {function.__name__!r} is pl.{parameter.direction.name}, "
        "which has no meaning in a @pl.jit.inline function and is left out"
    )
    warnings.warn(message, DeprecationWarning, stacklevel=2)
