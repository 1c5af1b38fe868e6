"""What is known of a function with a JIT decorator."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import update_wrapper
from types import FunctionType
from typing import Any

from pypto_tmpl.language.jit.kinds import Kind, Options
from pypto_tmpl.language.jit.parameters import Parameter, read_parameters
from pypto_tmpl.language.jit.user_source import Surroundings, UserSource, read_source


class Declared:
    """What a JIT decorator notes of a function, and what is read of it when it is used."""

    __name__: str
    __qualname__: str

    def __init__(self, function: FunctionType, options: Options) -> None:
        self._function = function
        self.options = options
        self._source: UserSource | None = None
        self._parameters: list[Parameter] | None = None
        self.around = Surroundings(function)
        named: Any = self
        update_wrapper(named, function)

    def __repr__(self) -> str:
        return f"<{self.options.kind.value} {self.__qualname__}>"

    @property
    def kind(self) -> Kind:
        return self.options.kind

    @property
    def source(self) -> UserSource:
        """The text of the function. Raises OSError where it cannot be read."""
        if self._source is None:
            self._source = read_source(self._function)
        return self._source

    def parameters(self) -> list[Parameter]:
        """The parameters as their annotations declare them. Raises ParserTypeError for one that is none."""
        if self._parameters is None:
            self._parameters = read_parameters(self._function, self.source, self.around)
        return self._parameters

    def defaults(self) -> Mapping[str, Any]:
        """The default values of parameters."""
        parameters = inspect.signature(self._function).parameters.values()
        return {p.name: p.default for p in parameters if p.default is not inspect.Parameter.empty}

    def signature(self) -> inspect.Signature:
        """The Python signature of the function."""
        return inspect.signature(self._function)
