"""MessagePack bytes to plain maps and lists, within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgpack

from pypto_tmpl.ir.wire import limits
from pypto_tmpl.ir.wire.errors import WireError

WireMap: TypeAlias = "dict[str, Any]"


def unpack(data: bytes) -> tuple[Any, list[WireMap]]:
    """The one value in ``data``, and all maps in it that have a key ``fields``.

    Raises WireError with the byte offset for anything but one well-formed MessagePack value whose map
    keys are strings, each given once.
    """
    if len(data) > limits.MAX_BYTES:
        what = f"the data is longer than the {limits.MAX_BYTES} bytes that are read"
        raise WireError.of("wire-too-large", what, f"byte {limits.MAX_BYTES}")
    if _is_text(data):
        note = "pl.loads reads a file of text, pl.parse the text itself"
        raise WireError.of("wire-text", "this is text, and the binary form is expected", "byte 0", [note])
    # A first run that builds nothing: a list of a declared length is allocated before its items are read,
    # so only lengths that the data bears out may reach the second run.
    end = _run(data, lambda unpacker: unpacker.skip())
    if end < len(data):
        what = f"{len(data) - end} bytes follow the value"
        raise WireError.of("wire-trailing-bytes", what, f"byte {end}")
    found = _Containers(len(data))
    hooks: dict[str, Any] = {"object_pairs_hook": found.make_map}
    if len(data) > limits.UNCOUNTED_BYTES:
        hooks["list_hook"] = found.make_list
    values: list[object] = []
    _run(data, lambda unpacker: values.append(unpacker.unpack()), **hooks)
    return values[0], found.nodes


def is_binary_dump(data: bytes) -> bool:
    """Whether ``data`` starts as a node does: with a map of few keys, ``fields`` the first of them."""
    return data[:1] in _SMALL_MAPS and data[1 : 1 + len(_FIELDS)] == _FIELDS


_SMALL_MAPS = frozenset(bytes((0x80 | count,)) for count in range(16))
_FIELDS: bytes = msgpack.packb("fields")
_SAMPLE = 4096
_MARK = b"\xef\xbb\xbf"


def _is_text(data: bytes) -> bool:
    """Whether ``data`` starts as source text does, which no MessagePack map does."""
    start = data[:_SAMPLE].removeprefix(_MARK)
    if len(start) < 2 or start[0] >= 0x80:
        return False
    return all(char.isprintable() or char.isspace() for char in start.decode("utf-8", "ignore"))


class _Containers:
    """Builds the maps and counts the containers of one blob."""

    def __init__(self, size: int) -> None:
        self.nodes: list[WireMap] = []
        self.left = size if size <= limits.UNCOUNTED_BYTES else size // limits.BYTES_PER_CONTAINER

    def make_map(self, pairs: list[tuple[str, Any]]) -> WireMap:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError(f"the key {_repeated(pairs)!r} is given twice in a map")
        if "fields" in found:
            self.nodes.append(found)
        self.count()
        return found

    def make_list(self, items: list[Any]) -> list[Any]:
        self.count()
        return items

    def count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise ValueError("there are more maps and lists than any IR of this size has")


def _repeated(pairs: list[tuple[str, Any]]) -> str:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return key
        seen.add(key)
    raise AssertionError("no key is repeated")


def _run(data: bytes, action: Callable[[Any], None], **hooks: Any) -> int:
    """Let ``action`` read one value of ``data``; the offset of the byte behind it."""
    unpacker = msgpack.Unpacker(
        raw=False,
        strict_map_key=True,
        max_buffer_size=max(len(data), 1),
        **hooks,
    )
    unpacker.feed(data)
    try:
        action(unpacker)
    except msgpack.OutOfData:
        slug, what, at = "wire-truncated", "the data ends before the value does", len(data)
    except msgpack.StackError:
        what = f"the data nests deeper than {limits.MAX_DEPTH} MessagePack levels"
        slug, at = "wire-too-deep", unpacker.tell()
    except UnicodeDecodeError as error:
        slug, what, at = "wire-malformed", f"a str is not UTF-8: {error.reason}", unpacker.tell()
    except ValueError as error:  # msgpack.FormatError among them, which has no text
        slug, what, at = "wire-malformed", str(error) or "no MessagePack value starts so", unpacker.tell()
    else:
        offset: int = unpacker.tell()
        return offset
    raise WireError.of(slug, what, f"byte {at}")
