"""The binary form in files."""

from __future__ import annotations

import os

from pypto_tmpl.files import FileError, write_bytes
from pypto_tmpl.ir.base import IRNode
from pypto_tmpl.ir.wire import limits
from pypto_tmpl.ir.wire.errors import WireError
from pypto_tmpl.ir.wire.reader import deserialize
from pypto_tmpl.ir.wire.writer import serialize


def serialize_to_file(node: IRNode, path: str | os.PathLike[str]) -> None:
    """Write the bytes of ``node`` to a file, as a whole or not at all.

    Raises TypeError for anything but a node, WireError for a program that the format cannot hold and
    for a file that cannot be written.
    """
    data = serialize(node)
    try:
        write_bytes(path, data)
    except FileError as error:
        raise WireError(error.what, slug="wire-file", where=error.where) from None


def deserialize_from_file(path: str | os.PathLike[str]) -> IRNode:
    """The node that a file holds.

    Raises WireError for a file that cannot be read or holds no IR.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(limits.MAX_BYTES + 1)
    except OSError as error:
        what = f"the file cannot be read: {error.strerror or error}"
        raise WireError(what, slug="wire-file", where=os.fspath(path)) from None
    try:
        return deserialize(data)
    except WireError as error:
        where = f"{os.fspath(path)}: {error.where}"
        raise WireError(error.what, slug=error.error_slug, where=where, notes=error.notes) from None
