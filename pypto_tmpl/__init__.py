"""Gives PyPTO tile IR an executable meaning: templates turn it into self-contained PyTorch scripts.

The public import paths mirror PyPTO's: ``pypto_tmpl.ir``, ``pypto_tmpl.language`` (as ``pl``),
``pypto_tmpl.debug``, ``pypto_tmpl.backend``, ``pypto_tmpl.runtime``, ``pypto_tmpl.golden``.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"


_PACKAGES = frozenset({"backend", "debug", "ir", "language", "runtime"})


def __getattr__(name: str) -> Any:
    """The public packages and ``DataType``, as upstream has them here; imported when they are asked for."""
    if name in _PACKAGES:
        return import_module(f"pypto_tmpl.{name}")
    if name == "DataType":
        return import_module("pypto_tmpl.ir").DataType
    raise AttributeError(f"module 'pypto_tmpl' has no attribute {name!r}")
