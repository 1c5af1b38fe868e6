"""MessagePack bytes to plain maps and lists, within bounds."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import msgpack

from pypto_tmpl.ir.wire.errors import WireError
from pypto_tmpl.ir.wire.limits import MAX_BYTES, MAX_DEPTH

WireMap: TypeAlias = "dict[str, Any]"


def unpack(data: bytes) -> tuple[object, list[WireMap]]:
    """The one value in ``data``, and the maps in it that have a key ``fields``.

    Raises WireError with the byte offset for anything but one well-formed MessagePack value.
    """
    nodes: list[WireMap] = []

    def make_map(pairs: list[tuple[str, Any]]) -> WireMap:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key is given twice")
        if "fields" in found:
            nodes.append(found)
        return found

    unpacker = msgpack.Unpacker(
        raw=False, strict_map_key=True, object_pairs_hook=make_map, max_buffer_size=MAX_BYTES
    )
    unpacker.feed(data)
    return unpacker.unpack(), nodes
