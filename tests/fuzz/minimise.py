"""Smaller inputs that fail in the same way."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import msgpack

Fails = Callable[[bytes], bool]


def minimised(kind: str, data: bytes, fails: Fails, seconds: float) -> bytes:
    """The smallest part of ``data`` found within ``seconds`` for which ``fails`` still holds."""
    deadline = time.monotonic() + seconds

    def holds(candidate: bytes) -> bool:
        return len(candidate) < len(data) and time.monotonic() < deadline and fails(candidate)

    before = None
    while before != data and time.monotonic() < deadline:
        before = data
        if kind == "bytes":
            data = _smaller_tree(data, fails, deadline)
        else:
            data = _without_pieces(data.split(b"\n"), b"\n".join, holds)
        data = _without_pieces([data[i : i + 1] for i in range(len(data))], b"".join, holds)
    return data


def _without_pieces(pieces: list[bytes], join: Callable[[list[bytes]], bytes], fails: Fails) -> bytes:
    """Leave out runs of pieces, long ones first."""
    size = len(pieces) // 2
    while size:
        at = 0
        while at < len(pieces):
            candidate = pieces[:at] + pieces[at + size :]
            if fails(join(candidate)):
                pieces = candidate
            else:
                at += size
        size //= 2
    return join(pieces)


def _smaller_tree(data: bytes, fails: Fails, deadline: float) -> bytes:
    """Leave out elements of lists and entries of maps, outer ones first."""
    try:
        root = [msgpack.unpackb(data, strict_map_key=False)]
        if msgpack.packb(root[0]) != data and not fails(msgpack.packb(root[0])):
            return data
    except Exception:  # no matter why: such data is made smaller byte by byte only
        return data
    for owner, key in _removable(root):
        if time.monotonic() > deadline:
            break
        value = owner.pop(key)
        if fails(msgpack.packb(root[0])):
            continue
        if isinstance(owner, list):
            owner.insert(key, value)
        else:
            owner[key] = value
    return bytes(msgpack.packb(root[0]))


def _removable(root: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Elements from the last to the first, so that those before keep their places; then what is inside."""
    todo: list[Any] = [root]
    while todo:
        owner = todo.pop(0)
        if owner is not root:
            for key in list(owner) if isinstance(owner, dict) else range(len(owner) - 1, -1, -1):
                yield owner, key
        values = owner.values() if isinstance(owner, dict) else owner
        todo += [value for value in values if isinstance(value, (dict, list))]
