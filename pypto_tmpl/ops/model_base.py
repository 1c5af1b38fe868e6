"""What all classes of the op table's file format have in common."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

NonEmpty = Annotated[str, Meta(min_length=1)]


class Model(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """Immutable, keys by name, no unknown keys."""
