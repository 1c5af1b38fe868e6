"""Bytes to IR.

A reference may stand before the node it names, and chains of references may be longer than any stack,
so nodes are built one by one, each after those it refers to.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NoReturn

from pypto_tmpl.ir.base import IRNode, Type
from pypto_tmpl.ir.collector import collector_paused
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.wire.construct import REFUSALS, construct, construct_type
from pypto_tmpl.ir.wire.decode import Decoder
from pypto_tmpl.ir.wire.errors import Fault, WireError, allowed, wrong_kind
from pypto_tmpl.ir.wire.layout import NODE_CLASSES, TYPE_CLASSES, layout_of
from pypto_tmpl.ir.wire.paths import path_of
from pypto_tmpl.ir.wire.unpack import WireMap, unpack


def deserialize(data: bytes | bytearray | memoryview) -> IRNode:
    """The node that ``data`` encodes; ``limits`` says how long and how deep it may be.

    Raises TypeError for anything but bytes, WireError for bytes that are no IR.
    """
    given: object = data
    if not isinstance(given, (bytes, bytearray, memoryview)):
        form = "; a text is read with pl.parse" if isinstance(given, str) else ""
        raise TypeError(f"deserialize takes bytes, got {type(data).__name__}{form}")
    with collector_paused():
        root, nodes = unpack(bytes(data))
        return _Reader(root, nodes).read()


class _Reader:
    """Builds the nodes of one blob; ``nodes`` are its maps with a key ``fields``."""

    def __init__(self, root: object, nodes: list[WireMap]) -> None:
        self.root = root
        self.decoder = Decoder()
        self.scalars: dict[int, Type] = {}
        self.by_number: dict[int, WireMap] = {}
        for node in nodes:
            number = node.get("id")
            if type(number) is int and self.by_number.setdefault(number, node) is not node:
                first = path_of(root, self.by_number[number])
                self.fail(node, Fault("wire-duplicate-id", f"the id {number} is taken already, by {first}"))

    def read(self) -> IRNode:
        root = self.root
        if type(root) is not dict:
            self.fail(root, wrong_kind("a node", root))
        self.check_node(root)
        built = self.decoder.built
        waiting: dict[int, list[WireMap]] = {}  # nodes that are begun, each with the types in it
        stack = [root]
        while stack:
            node = stack[-1]
            number = node["id"]
            if number in built:
                stack.pop()
            elif number in waiting:
                stack.pop()
                built[number] = self.build(node, waiting.pop(number))
            else:
                self.check_node(node)
                needed, waiting[number] = _parts(node)
                stack += reversed(self.missing(needed, waiting))
        return built[root["id"]]

    def missing(self, needed: list[WireMap], waiting: dict[int, list[WireMap]]) -> list[WireMap]:
        """The nodes that references and nodes stand for, as far as they are not built."""
        found: list[WireMap] = []
        for part in needed:
            node = self.target(part)
            if node["id"] in self.decoder.built:
                continue
            if node["id"] in waiting:
                self.fail(part, Fault("wire-cycle", f"the node {node['id']} is part of itself"))
            found.append(node)
        return found

    def target(self, part: WireMap) -> WireMap:
        """The node that a reference or a node stands for."""
        if "ref" not in part:
            self.check_number(part, "id")
            return part
        self.check_number(part, "ref")
        if len(part) > 1:
            other = next(key for key in part if key != "ref")
            self.fail(part, Fault("wire-unknown-field", f"unknown field {other!r} in a reference"))
        number = part["ref"]
        if number not in self.by_number:
            self.fail(part, Fault("wire-dangling-reference", f"there is no node with the id {number}"))
        return self.by_number[number]

    def check_number(self, part: WireMap, key: str) -> None:
        if key not in part:
            self.fail(part, Fault("wire-missing-field", f"the field {key!r} of a node is missing"))
        if type(part[key]) is not int:
            self.fail(part, wrong_kind("a node id (an integer)", part[key], f".{key}"))

    def check_node(self, node: WireMap) -> None:
        """Fail unless ``node`` has a number, a known type and fields, and nothing else."""
        self.check_number(node, "id")
        for key in ("type", "fields"):
            if key not in node:
                self.fail(node, Fault("wire-missing-field", f"the field {key!r} of a node is missing"))
        tag, fields = node["type"], node["fields"]
        if type(tag) is not str:
            self.fail(node, wrong_kind("the name of a node type", tag))
        if tag not in NODE_CLASSES:
            note = allowed("types", NODE_CLASSES, tag)
            self.fail(node, Fault("wire-unknown-node", f"there is no node type {tag!r}", notes=[note]))
        if type(fields) is not dict:
            self.fail(node, wrong_kind("the fields of a node (a map)", fields))
        if len(node) > 3:
            other = next(key for key in node if key not in ("id", "type", "fields"))
            self.fail(
                node, Fault("wire-unknown-field", f"unknown field {other!r} beside id, type and fields")
            )

    def build(self, node: WireMap, types: list[WireMap]) -> IRNode:
        """The node of a map whose parts are built."""
        owner = node
        try:
            for owner in reversed(types):
                self.decoder.types[id(owner)] = self.build_type(owner)
            owner = node
            cls: type = NODE_CLASSES[node["type"]]
            built: IRNode = construct(cls, self.decoder.fields(node["fields"], cls))
        except Fault as fault:
            self.fail(owner, fault)
        except REFUSALS as refusal:
            self.fail(owner, Fault("wire-invalid", str(refusal)))
        return built

    def build_type(self, raw: WireMap) -> Type:
        kind = raw["type_kind"]
        if type(kind) is not str:
            raise wrong_kind("the name of a type", kind, ".type_kind")
        if kind not in TYPE_CLASSES:
            note = allowed("types", TYPE_CLASSES, kind)
            raise Fault("wire-unknown-type", f"there is no type {kind!r}", ".type_kind", notes=[note])
        cls = TYPE_CLASSES[kind]
        code = raw.get("dtype")
        if cls is not ScalarType or type(code) is not int or len(raw) > 2:
            return construct_type(cls, self.decoder.fields(raw, cls))
        if code not in self.scalars:  # most types are scalar; one object of each is enough
            self.scalars[code] = construct_type(cls, self.decoder.fields(raw, cls))
        return self.scalars[code]

    def fail(self, owner: object, fault: Fault) -> NoReturn:
        where = path_of(self.root, owner) + "".join(reversed(fault.steps))
        raise WireError.of(fault.slug, fault.what, where.lstrip(".") or "root", fault.notes) from None


def _parts(node: WireMap) -> tuple[list[WireMap], list[WireMap]]:
    """References and nodes directly in ``node``, and the types in it, outer ones before inner ones."""
    needed: list[WireMap] = []
    types: list[WireMap] = []
    skipped = _skipped(node["type"])
    todo: list[Any] = [value for key, value in node["fields"].items() if key not in skipped]
    for item in todo:  # which grows meanwhile
        if type(item) is list:
            todo += item
        elif type(item) is dict:
            if "ref" in item or "fields" in item:
                needed.append(item)
                continue
            if "type_kind" in item:
                types.append(item)
            todo += item.values()
    return needed, types


@cache
def _skipped(tag: str) -> frozenset[str]:
    """Fields of a node type that hold no nodes or are ignored."""
    return layout_of(NODE_CLASSES[tag]).ignored | {"span"}
