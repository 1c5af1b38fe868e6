"""Reading the dumps that commands take."""

from __future__ import annotations

from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError


class DumpError(PyptoTmplError, ValueError):
    """A file is no dump that can be read."""

    slug = "dump"


def read_dump(path: Path) -> ir.Program | ir.Function:
    """The program or function of a text dump (``.py``) or a binary one (``.msgpack``).

    Raises: DumpError for another kind of file; what the readers raise for a broken one.
    """
    if not path.is_file():
        what = f"{str(path)!r} is no file" if path.exists() else f"there is no file {str(path)!r}"
        raise DumpError(what)
    if path.suffix == ".msgpack":
        node = ir.deserialize_from_file(str(path))
    elif path.suffix == ".py":
        from pypto_tmpl import language

        node = language.loads(str(path))
    else:
        raise DumpError(f"{path.name!r} is no dump that can be read", notes=["dumps: *.py, *.msgpack"])
    if not isinstance(node, ir.Program | ir.Function):
        raise DumpError(f"{path.name!r} holds a {type(node).__name__}, not a program or function")
    return node
