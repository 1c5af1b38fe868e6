"""Reading the dumps that commands take."""

from __future__ import annotations

from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError


class DumpError(PyptoTmplError, ValueError):
    """A file is no dump that can be read."""

    slug = "dump"


def read_dump(path: Path) -> ir.Program | ir.Function:
    """The program or function of a dump, by the ending of its name."""
    if path.suffix != ".msgpack":
        raise DumpError(f"{path.name!r} is no dump that can be read", notes=["dumps: *.msgpack"])
    node = ir.deserialize_from_file(str(path))
    if not isinstance(node, ir.Program | ir.Function):
        raise DumpError(f"{path.name!r} holds a {type(node).__name__}, not a program or function")
    return node
