"""What is wrong with the ranks of a program."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError


class DomainError(PyptoTmplError, ValueError):
    """It is not clear, or cannot be, on which devices a window is; ``node`` is where."""

    slug = "domain"

    def __init__(self, what: str, node: ir.Call | ir.Submit) -> None:
        super().__init__(what, where=str(node.span) if node.span.is_valid() else "")
        self.what, self.node = what, node
