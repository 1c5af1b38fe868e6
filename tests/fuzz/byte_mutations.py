"""Changes to the bytes of a dump: single bytes, declared lengths, and the maps that they decode to."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator
from typing import Any

import msgpack

INTEGERS = [0, 1, 2, 3, 7, 8, 15, 127, 128, 255, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1]
INTEGERS += [-1, -2, -128, -(2**31), -(2**31) - 1, -(2**63)]
VALUES: list[Any] = [
    *INTEGERS, None, True, False, 0.0, -0.0, 1.5, 5e-324, 1e300, float("inf"), float("-inf"), float("nan"),
    "", "x", "\0", "漢", "x" * 300, b"", b"x", b"\xff" * 40, [], {}, [[]], [{}], {"": 0}, [0, 0], [None],
    {"ref": 0}, {"ref": 1}, {"id": 0}, {"type": "ConstInt"}, {"type_kind": "ScalarType", "dtype": 52},
    {"type_kind": "UnknownType"}, {"type_kind": "TupleType", "types": []}, {"type": "bool", "value": 1},
    {"type": "DataType", "code": 300}, {"type": "VarList", "value": [None]}, msgpack.ExtType(1, b"x"),
    msgpack.Timestamp(0, 0),
]  # fmt: skip
DEPTHS = [1, 2, 10, 100, 400]  # the packer stops at 511
RAW_DEPTHS = [500, 600, 1023, 1100, 100_000]

FRESH_ID = 10**6

Mutation = Callable[[random.Random, bytes, bytes], bytes]


def mutated_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """``data`` after one to four changes; some take pieces from ``other``."""
    changes = _RAW if rng.random() < 0.3 else [change_tree]
    for _ in range(rng.choice([1, 1, 1, 2, 3, 4])):
        data = rng.choice(changes)(rng, data, other)
    return data


def flip_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Flip bits or replace bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        if changed:
            at = rng.randrange(len(changed))
            changed[at] = rng.choice(
                [changed[at] ^ (1 << rng.randrange(8)), rng.randrange(256), 0xC0, 0xFF, 0xDF]
            )
    return bytes(changed)


def cut_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Truncate, remove, repeat or splice."""
    at, size = rng.randint(0, len(data)), rng.choice([1, 1, 2, 4, 100, 10_000])
    choice = rng.randrange(5)
    if choice == 0:
        return data[:at]
    if choice == 1:
        return data[:at] + data[at + size :]
    if choice == 2:
        return data[:at] + data[at : at + size] * rng.choice([2, 3, 500]) + data[at + size :]
    if choice == 3:
        start = rng.randint(0, len(other))
        return data[:at] + other[start : start + size] + data[at + size :]
    return data + other[:size]


_FIXED_SIZES = {0xC0: 0, 0xC2: 0, 0xC3: 0, 0xCA: 4, 0xCB: 8}
_FIXED_SIZES |= {0xCC + i: 2**i for i in range(4)} | {0xD0 + i: 2**i for i in range(4)}
_FIXED_SIZES |= {0xD4 + i: 1 + 2**i for i in range(5)}
_LENGTHS = {0xC4: "B", 0xC5: ">H", 0xC6: ">I", 0xC7: "B", 0xC8: ">H", 0xC9: ">I"}
_LENGTHS |= {0xD9: "B", 0xDA: ">H", 0xDB: ">I", 0xDC: ">H", 0xDD: ">I", 0xDE: ">H", 0xDF: ">I"}


def length_fields(data: bytes) -> Iterator[tuple[int, str]]:
    """Offset and form of every length that the headers of well-formed data declare, up to where it is not."""
    at = 0
    while at < len(data):
        head = data[at]
        if head in _LENGTHS:
            form = _LENGTHS[head]
            if at + 1 + struct.calcsize(form) > len(data):
                return
            yield at + 1, form
            (length,) = struct.unpack_from(form, data, at + 1)
            is_container = head >= 0xDC
            at += 1 + struct.calcsize(form) + (0 if is_container else length + (0xC7 <= head <= 0xC9))
        elif 0x80 <= head < 0xC0:  # a short map, list or text, whose length is part of the header
            yield at, "short"
            at += 1 + (head & 0x1F if head >= 0xA0 else 0)
        else:
            at += 1 + _FIXED_SIZES.get(head, 0)


def change_lengths(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Make a header declare another length."""
    fields = list(length_fields(data))
    if not fields:
        return data
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2])):
        at, form = rng.choice(fields)
        if form == "short":
            kind = 0xE0 if changed[at] >= 0xA0 else 0xF0
            changed[at] = (changed[at] & kind) | (rng.randrange(256) & ~kind & 0xFF)
            continue
        (length,) = struct.unpack_from(form, data, at)
        top = 256 ** struct.calcsize(form) - 1
        struct.pack_into(
            form, changed, at, rng.choice([0, max(length - 1, 0), min(length + 1, top), top // 2, top])
        )
    return bytes(changed)


def nest_bytes(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Put a value into many lists or maps."""
    at = rng.choice([0, *(at - (form != "short") for at, form in length_fields(data))])
    return (
        data[:at]
        + rng.choice([b"\x91", b"\x81\xa1x", b"\x82\xa1x\xc0\xa1y"]) * rng.choice(RAW_DEPTHS)
        + data[at:]
    )


def change_tree(rng: random.Random, data: bytes, other: bytes) -> bytes:
    """Decode, change some values of the maps and lists, and encode again."""
    try:
        root = [msgpack.unpackb(data, strict_map_key=False)]
    except Exception:  # no matter why: what does not decode is left to the other changes
        return data
    places = list(_places(root))
    leaves = [(owner, key) for owner, key in places if not isinstance(owner[key], (dict, list))]
    by_key: dict[Any, list[Any]] = {}
    for owner, key in places:
        by_key.setdefault(key if isinstance(owner, dict) else "", []).append(owner[key])
    kinds = rng.choice([7, 7, 12])  # the first seven kinds of change leave most fields what they should be
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        owner, key = rng.choice(rng.choice([places, leaves or places]))
        try:
            _change(rng, owner, key, by_key, rng.randrange(kinds))
        except (KeyError, IndexError):
            continue  # an earlier change removed the place
    if rng.random() < 0.8:
        _mend(rng, root)
    try:
        return bytes(msgpack.packb(root[0] if root else None))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return data


def _places(root: list[Any]) -> Iterator[tuple[Any, Any]]:
    todo: list[Any] = [root]
    while todo:
        owner = todo.pop()
        items = owner.items() if isinstance(owner, dict) else enumerate(owner)
        for key, value in items:
            yield owner, key
            if isinstance(value, list) or (isinstance(value, dict) and key != "span"):
                todo.append(value)


def _change(rng: random.Random, owner: Any, key: Any, by_key: dict[Any, list[Any]], choice: int) -> None:
    value = owner[key]
    if choice < 5:  # another value of the same field
        owner[key] = _copied(rng.choice(by_key[key if isinstance(owner, dict) else ""]))
    elif choice < 7:
        owner[key] = _near(rng, value)
    elif choice < 9:
        owner[key] = _copied(rng.choice(VALUES))
    elif choice == 9:
        del owner[key]
    elif choice == 10:
        for _ in range(rng.choice(DEPTHS)):
            value = [value] if rng.random() < 0.5 else {"x": value}
        owner[key] = value
    elif isinstance(owner, dict):
        owner[rng.choice([*by_key, "x", "ref", "fields"])] = value


def _copied(value: Any) -> Any:
    """A copy of a part of a blob, or the part itself where it cannot be copied."""
    try:
        return msgpack.unpackb(msgpack.packb(value), strict_map_key=False)
    except (ValueError, TypeError, OverflowError):
        return value


def _mend(rng: random.Random, root: Any) -> None:
    """Give each node an id of its own, and let each reference name a node."""
    variables: list[int] = []
    ids: set[int] = set()
    references: list[dict[Any, Any]] = []
    for found in _maps(root):
        number = found.get("id")
        if type(number) is int:
            found["id"] = number if number not in ids else FRESH_ID + len(ids)
            ids.add(found["id"])
            if found.get("type") in ("Var", "IterArg"):
                variables.append(found["id"])
        elif type(found.get("ref")) is int:
            references.append(found)
    for found in references:
        if found["ref"] not in ids and variables:
            found["ref"] = rng.choice(variables)


def _maps(value: Any) -> Iterator[dict[Any, Any]]:
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, dict):
            yield item
            todo += item.values()
        elif isinstance(item, list):
            todo += item


def _near(rng: random.Random, value: Any) -> Any:
    """A value of the same kind that is a little different."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, -value, value * 2, rng.choice(INTEGERS)])
    if isinstance(value, float):
        return rng.choice([-value, value * 2, int(value) if abs(value) < 1e18 else 0, float("nan")])
    if isinstance(value, list):
        items = [
            value + value,
            value[::-1],
            value[:1] * 300,
            value[1:],
            [*value, _copied(rng.choice(VALUES))],
        ]
        return _copied(rng.choice(items))
    if isinstance(value, str):
        return rng.choice([value[1:], value + "x", value.upper(), "", value.encode(), value * 50])
    return _copied(rng.choice(VALUES))


_RAW: list[Mutation] = [flip_bytes, flip_bytes, cut_bytes, change_lengths, nest_bytes]
