"""The error of the wire format, and the fault it is made of while a blob is read."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl.errors import PyptoTmplError


class WireError(PyptoTmplError, ValueError):
    """Bytes that are no IR, or IR that has no bytes.

    ``where`` is the byte offset for malformed MessagePack, else the path of the field.
    """

    slug = "wire"


class Fault(Exception):
    """A fault inside one decoded map; the reader turns it into a WireError with the whole path.

    ``steps`` lead from ``owner`` to the faulty value, innermost first.
    """

    def __init__(self, slug: str, what: str, *steps: str, notes: Sequence[str] = ()) -> None:
        super().__init__(what)
        self.slug = slug
        self.what = what
        self.steps = list(steps)
        self.notes = tuple(notes)
        self.owner: object = None

    def inside(self, step: str) -> Fault:
        """The same fault, seen from one level further out."""
        if self.owner is None:
            self.steps.append(step)
        return self
