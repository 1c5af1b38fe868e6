"""Gives PyPTO tile IR an executable meaning: templates turn it into self-contained PyTorch scripts.

The public import paths mirror PyPTO's: ``pypto_tmpl.ir``, ``pypto_tmpl.language`` (as ``pl``),
``pypto_tmpl.debug``, ``pypto_tmpl.backend``, ``pypto_tmpl.runtime``, ``pypto_tmpl.golden``.
"""

from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """``DataType``, which upstream has here too; imported when it is asked for."""
    if name == "DataType":
        from pypto_tmpl.ir import DataType

        return DataType
    raise AttributeError(f"module 'pypto_tmpl' has no attribute {name!r}")
