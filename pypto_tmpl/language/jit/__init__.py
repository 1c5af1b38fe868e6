"""``@pl.jit``: kernels that are specialised for the arguments they are called with."""

from typing import Any

from pypto_tmpl.faces import find_face
from pypto_tmpl.language.jit.decorators import jit
from pypto_tmpl.language.jit.function import JITFunction

__all__ = ["JITFunction", "jit"]


def __getattr__(name: str) -> Any:
    return find_face(__name__, name)


JITFunction.maker = __getattr__
