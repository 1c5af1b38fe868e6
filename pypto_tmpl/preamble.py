"""The run-time helpers of scripts as one module, for those emitted with ``preamble="import"``.

It is made from the project's own templates, without options and in the order in which scripts carry them,
when it is first imported. A script names each helper that it takes; ``__version__`` is that of the package
whose helpers these are. What belongs to one script, such as the names of its groups, stays there.
"""

from __future__ import annotations

import linecache
from typing import Any

from pypto_tmpl import __version__
from pypto_tmpl.codegen.preamble import Variant, load_preamble
from pypto_tmpl.resources import template_root

__all__ = ["__version__", "preamble_text"]
_NAME = "<pypto_tmpl.preamble>"  # what stands for a file in tracebacks


def preamble_text() -> str:
    """The helpers as Python text, with their imports."""
    chosen = load_preamble([template_root()], Variant(is_module=True)).full()
    imports = "\n".join(f"import {module}" for module in chosen.imports)
    return "\n\n\n".join([imports, *(text.rstrip() for text in chosen.segments)]) + "\n"


def _execute() -> None:
    text = preamble_text()
    linecache.cache[_NAME] = (len(text), None, text.splitlines(keepends=True), _NAME)
    exec(compile(text, _NAME, "exec"), globals())


def __getattr__(name: str) -> Any:
    """Reached for names that no helper has; also tells type checkers that there are more than stand here."""
    raise AttributeError(f"no run-time helper is named {name!r}")


_execute()
