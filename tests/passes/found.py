"""What the checks of properties find in programs that are written as text."""

from passes.kernels import HEAD

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.passes import checks

PRINTED = f"# pypto.program: p{HEAD}"  # above printed text, in which a kernel may have regions


def found(text: str, wanted: ir.IRProperty, chosen: BackendType | None = None, head: str = HEAD) -> list[str]:
    """What is found in functions: which of them, the line in ``text``, and the message."""
    facts = None if chosen is None else facts_of(chosen)
    return [
        f"{item.function}:{item.span.begin_line - head.count(chr(10))}: {item.message}"
        for item in checks.verify(pl.parse(head + text), [wanted], facts)
    ]
