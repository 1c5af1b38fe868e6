"""Python identifiers for IR names."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

# Written out: a newer Python has more of them, and the text must not depend on the Python that emits it.
_BUILTINS = """
    __build_class__
    __builtins__ __debug__ __doc__ __file__ __import__ __loader__ __name__ __package__ __spec__
    abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex
    copyright credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr
    globals hasattr hash help hex id input int isinstance issubclass iter len license list locals map max
    memoryview min next object oct open ord pow print property quit range repr reversed round set setattr
    slice sorted staticmethod str sum super tuple type vars zip
    Ellipsis NotImplemented BaseException Exception ArithmeticError AssertionError AttributeError
    BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError ConnectionAbortedError
    ConnectionError ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning
    EnvironmentError FileExistsError FileNotFoundError FloatingPointError FutureWarning GeneratorExit IOError
    ImportError ImportWarning IndentationError IndexError InterruptedError IsADirectoryError KeyError
    KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotADirectoryError
    NotImplementedError OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError
    RecursionError ReferenceError ResourceWarning RuntimeError RuntimeWarning StopAsyncIteration StopIteration
    SyntaxError SyntaxWarning SystemError SystemExit TabError TimeoutError TypeError UnboundLocalError
    UnicodeDecodeError UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning
    ValueError Warning ZeroDivisionError
"""
# `_` is the variable of a loop that needs none; `match`, `case` and `type` would read as statements.
PYTHON_NAMES = frozenset({*keyword.kwlist, *_BUILTINS.split(), "_", "match", "case", "torch"})
_NOT_IN_IDENTIFIER = re.compile(r"\W")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@lru_cache(maxsize=4096)
def identifier(hint: str) -> str:
    """A Python identifier close to ``hint``, normalised as the Python parser normalises names.

    Characters that cannot stand in one become ``_``; a leading digit gets a ``_`` before it; an empty hint
    gives ``v``.
    """
    if _PLAIN.fullmatch(hint):
        return hint
    name = _NOT_IN_IDENTIFIER.sub("_", unicodedata.normalize("NFKC", hint))
    if not name:
        return "v"
    if not name.isidentifier():
        name = "_" + name
    if not name.isidentifier():
        name = name.encode("ascii", "replace").decode().replace("?", "_")
    return name


class NameTable:
    """Hands out distinct identifiers; a suffix ``_1``, ``_2``, ... appears only on a clash."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._reserved = frozenset(reserved)
        self._taken: set[str] = set()
        self._next_suffix: dict[str, int] = {}

    def unique(self, hint: str) -> str:
        """An identifier like ``hint`` that nothing else in this table has."""
        base = identifier(hint)
        name = base
        while name in self._taken or name in self._reserved or name in PYTHON_NAMES:
            suffix = self._next_suffix.get(base, 1)
            self._next_suffix[base] = suffix + 1
            name = "_".join((base, str(suffix)))
        self._taken.add(name)
        return name
