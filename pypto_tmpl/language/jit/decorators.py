"""``pl.jit`` and its variants: decorators that only note the function; it is read when it is used."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from pypto_tmpl.language.jit.external import checked_external
from pypto_tmpl.language.jit.function import JITFunction
from pypto_tmpl.language.jit.kinds import Kind, Options, checked_options


def _decorate(options: Options, function: object) -> JITFunction:
    if isinstance(function, JITFunction):
        raise TypeError(f"{function.__name__!r} has two JIT decorators")
    if not isinstance(function, FunctionType):
        raise TypeError(f"@{options.kind.value} decorates a function, got {type(function).__name__}")
    return JITFunction(function, options)


class _Variant:
    """A decorator that is written with or without a call."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self.__doc__ = f"Decorator of functions of the kind {kind.name.lower()}."

    def __call__(self, function: object = None, /, **keywords: Any) -> Any:
        options = checked_options(self._kind, keywords)
        if function is None:
            return lambda decorated: _decorate(options, decorated)
        return _decorate(options, function)

    def __repr__(self) -> str:
        return self._kind.value


class Jit(_Variant):
    """``@pl.jit``: an entry that is specialised for the arguments it is called with.

    ``incore``, ``inline``, ``opaque`` and ``extern`` decorate the functions that entries call, ``host`` an
    entry that drives entries. Decorating reads nothing and compiles nothing.
    """

    def __init__(self) -> None:
        super().__init__(Kind.ENTRY)
        self.host = _Variant(Kind.HOST)
        self.incore = _Variant(Kind.INCORE)
        self.inline = _Variant(Kind.INLINE)
        self.opaque = _Variant(Kind.OPAQUE)

    def __call__(self, func: object = None, *, auto_scope: bool = True, **keywords: Any) -> Any:
        return super().__call__(func, auto_scope=auto_scope, **keywords)

    def extern(self, **keywords: Any) -> Callable[[object], JITFunction]:
        """Decorator of a function whose body is a kernel source of its own: it cannot be run here.

        ``core_type`` is "aiv" (the default), "aic" or "mixed"; ``source`` names the file, for "mixed"
        ``aic_source`` and ``aiv_source`` do. Raises TypeError for another keyword or combination.
        """
        options = checked_external(checked_options(Kind.EXTERN, keywords))
        return lambda function: _decorate(options, function)


jit = Jit()
