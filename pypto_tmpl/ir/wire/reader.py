"""Bytes to IR."""

from __future__ import annotations

from typing import Any

from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import IRNode, Type
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ArgDirection, MemorySpace, PadValue, TensorLayout, TileLayout
from pypto_tmpl.ir.expr import GlobalVar, Op, Var
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.types import ArrayType, PtrType
from pypto_tmpl.ir.wire import construct
from pypto_tmpl.ir.wire.errors import Fault, WireError
from pypto_tmpl.ir.wire.layout import (
    EMBEDDED_MEMREF,
    NODE_CLASSES,
    REQUIRED,
    TYPE_CLASSES,
    Kind,
    Layout,
    WireField,
    layout_of,
)
from pypto_tmpl.ir.wire.unpack import WireMap, unpack


def deserialize(data: bytes) -> IRNode:
    root, nodes = unpack(data)
    return _Reader(root, nodes).read()


class _Reader:
    def __init__(self, root, nodes):
        self.root = root
        self.nodes = {n["id"]: n for n in nodes}
        self.built: dict[int, IRNode] = {}
        self.types: dict[int, Type] = {}
        self.spans: dict[tuple[Any, ...], Span] = {}
        self.bases: dict[str, Var] = {}

    def read(self) -> IRNode:
        stack = [self.root]
        expanded = {}
        while stack:
            m = stack[-1]
            number = m["id"]
            if number in self.built:
                stack.pop()
                continue
            if number not in expanded:
                deps, types = self.scan(m)
                expanded[number] = types
                pending = [d for d in deps if d["id"] not in self.built]
                if pending:
                    stack += pending
                    continue
            stack.pop()
            for t in reversed(expanded[number]):
                self.types[id(t)] = self.build_type(t)
            cls = NODE_CLASSES[m["type"]]
            self.built[number] = construct.construct(cls, self.values(m["fields"], layout_of(cls)))
        return self.built[self.root["id"]]

    def scan(self, m):
        deps, types = [], []
        todo = [m["fields"]]
        while todo:
            x = todo.pop()
            if type(x) is dict:
                if "ref" in x:
                    deps.append(self.nodes[x["ref"]])
                elif "fields" in x:
                    deps.append(x)
                else:
                    if "type_kind" in x:
                        types.append(x)
                    todo += [v for k, v in x.items() if k != "span" and type(v) in (dict, list)]
            else:
                todo += [v for v in x if type(v) in (dict, list)]
        return deps, types

    def build_type(self, m):
        cls = TYPE_CLASSES[m["type_kind"]]
        v = self.values(m, layout_of(cls))
        if cls is ArrayType:
            return ArrayType(v["dtype"], v["shape"][0])
        return cls(**v)

    def values(self, m: WireMap, layout: Layout):
        out = {}
        for f in layout.fields:
            raw = m.get(f.key, REQUIRED)
            if raw is REQUIRED:
                if f.missing is REQUIRED:
                    raise Fault("missing", f.key)
                out[f.attr] = f.missing
                continue
            if raw is None and f.nil is not REQUIRED:
                out[f.attr] = f.nil
                continue
            out[f.attr] = self.many(raw, f) if f.many else self.one(raw, f)
        return out

    def many(self, raw, f):
        return tuple(self.one(x, f) for x in raw)

    def one(self, raw, f):
        return getattr(self, "k_" + f.kind.name.lower())(raw, f)

    def k_node(self, raw, f):
        return self.built[raw["ref"] if "ref" in raw else raw["id"]]

    def k_type(self, raw, f):
        return self.types[id(raw)]

    def k_view(self, raw, f):
        return f.base(**self.values(raw, layout_of(f.base)))

    def k_memref(self, raw, f):
        v = self.values({k: x for k, x in raw.items() if k != "base"}, Layout(EMBEDDED_MEMREF.fields[1:]))
        if v["base_"] is None:
            v["base_"] = self.bases.setdefault(raw["base"], Var(raw["base"], PtrType(), Span.unknown()))
        return construct.memref(v)

    def k_attrs(self, raw, f):
        out = []
        for e in raw:
            k, v = e["key"], e["value"]
            if type(v) is not dict:
                kind = {bool: AttrKind.BOOL, int: AttrKind.INT, float: AttrKind.FLOAT, str: AttrKind.STR}[
                    type(v)
                ]
                out.append((k, kind, v))
                continue
            kind = AttrKind(v["type"])
            if kind is AttrKind.DATA_TYPE:
                val = DataType(v["code"])
            elif kind in (AttrKind.VAR, AttrKind.EXPR):
                val = v["value"] and self.k_node(v["value"], f)
            elif kind is AttrKind.VARS:
                val = tuple(x and self.k_node(x, f) for x in v["value"])
            elif kind is AttrKind.INT32S:
                val = tuple(v["value"])
            elif kind is AttrKind.ARG_DIRECTIONS:
                val = tuple(ArgDirection(x) for x in v["value"])
            elif kind is AttrKind.ARG_DIRECTION:
                val = ArgDirection(v["value"])
            else:
                val = {
                    "MemorySpace": MemorySpace,
                    "PadValue": PadValue,
                    "TensorLayout": TensorLayout,
                    "TileLayout": TileLayout,
                }[v["type"]][v["value"]]
            out.append((k, kind, val))
        return AttrMap.of_stored(out)

    def k_functions(self, raw, f):
        return [self.k_node(e["value"], f) for e in raw]

    def k_span(self, raw, f):
        return Span(
            raw["filename"], raw["begin_line"], raw["begin_column"], raw["end_line"], raw["end_column"]
        )

    def k_op(self, raw, f):
        return (GlobalVar if raw["is_global_var"] else Op)(raw["name"])

    def k_dtype(self, raw, f):
        return DataType(raw)

    def k_code(self, raw, f):
        return f.base(raw)

    def k_name(self, raw, f):
        return f.base[raw]

    def k_bool(self, raw, f):
        return raw

    k_int = k_str = k_bool

    def k_float(self, raw, f):
        return float(raw)
