"""``ir.compile`` under the path of PyPTO's module, loaded when it is asked for: it needs torch."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypto_tmpl.compile.api import compile

__all__ = ["TYPE_CHECKING", "compile"]


def __getattr__(name: str) -> Any:
    if name != "compile":
        raise AttributeError(f"module 'pypto.ir.compile' has no attribute {name!r}")
    from pypto_tmpl.compile import api

    return api.compile
