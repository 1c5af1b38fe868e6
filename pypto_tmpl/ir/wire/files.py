"""The binary form in files."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

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
    target = Path(os.path.realpath(path))  # through a link, so that the link stays one
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or pipe cannot be replaced
        else:
            _replace(target, data)
    except OSError as error:
        raise _file_error("written", path, error) from None


def _replace(target: Path, data: bytes) -> None:
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        beside.write_bytes(data)
        if target.exists():
            beside.chmod(target.stat().st_mode)
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)


def deserialize_from_file(path: str | os.PathLike[str]) -> IRNode:
    """The node that a file holds.

    Raises WireError for a file that cannot be read or holds no IR.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(limits.MAX_BYTES + 1)
    except OSError as error:
        raise _file_error("read", path, error) from None
    try:
        return deserialize(data)
    except WireError as error:
        where = f"{os.fspath(path)}: {error.where}"
        raise WireError(error.what, slug=error.error_slug, where=where, notes=error.notes) from None


def _file_error(done: str, path: str | os.PathLike[str], error: OSError) -> WireError:
    what = f"the file cannot be {done}: {error.strerror or error}"
    return WireError(what, slug="wire-file", where=os.fspath(path))
