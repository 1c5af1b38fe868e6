"""Reading and writing files."""

from __future__ import annotations

import os
from pathlib import Path

from pypto_tmpl.ir.base import IRNode
from pypto_tmpl.ir.wire.reader import deserialize
from pypto_tmpl.ir.wire.writer import serialize


def serialize_to_file(node: IRNode, path: str | os.PathLike[str]) -> None:
    Path(path).write_bytes(serialize(node))


def deserialize_from_file(path: str | os.PathLike[str]) -> IRNode:
    return deserialize(Path(path).read_bytes())
