"""Gives PyPTO tile IR an executable meaning: templates turn it into self-contained PyTorch scripts.

The public import paths mirror PyPTO's: ``pypto_tmpl.ir``, ``pypto_tmpl.language`` (as ``pl``),
``pypto_tmpl.debug``, ``pypto_tmpl.backend``, ``pypto_tmpl.runtime``, ``pypto_tmpl.golden``.
"""

from typing import Any

from pypto_tmpl.faces import find_face

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    return find_face(__name__, name)
