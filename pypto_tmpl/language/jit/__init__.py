"""``@pl.jit``: kernels that are specialised for the arguments they are called with."""

from pypto_tmpl.language.jit.decorators import jit
from pypto_tmpl.language.jit.function import JITFunction

__all__ = ["JITFunction", "jit"]
