"""Wire layout of every class: which keys its map has, how each value is encoded, what may be absent.

Keys and their order follow from the field declarations (``fields_of``); ``tolerance.py`` says what
readers accept beyond them. Reader and writer both walk the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from types import ModuleType

from pypto_tmpl.ir import buffers, expr, leaves, program, scalar_ops, scalar_types, stmt
from pypto_tmpl.ir import types as ir_types
from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import Expr, IRNode, Stmt, Type
from pypto_tmpl.ir.buffers import MemRef
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.expr import GlobalVar, Op
from pypto_tmpl.ir.fields import FieldSpec, fields_of
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.stmt import ScopeStmt
from pypto_tmpl.ir.types import ShapedType, TensorView, TileView
from pypto_tmpl.ir.wire.tolerance import IGNORED, LEGACY, REMOVED, REQUIRED, tolerance


class Kind(Enum):
    """How one value stands on the wire."""

    NODE = auto()
    TYPE = auto()
    VIEW = auto()
    MEMREF = auto()  # embedded in a type: a map without id
    ATTRS = auto()
    FUNCTIONS = auto()
    SPAN = auto()
    OP = auto()
    DTYPE = auto()
    CODE = auto()  # an enum by its number
    NAME = auto()  # an enum by its member name
    BOOL = auto()
    INT = auto()  # int64
    UINT = auto()  # uint64
    FLOAT = auto()
    STR = auto()
    TYPE_KIND = auto()


@dataclass(frozen=True, slots=True)
class WireField:
    """One key of a map and the attribute (dotted for one further in) that holds its value.

    An ``optional`` value may be
    None. ``omitted`` is the value for which a writer leaves the key out; ``missing`` and ``nil`` are what a
    reader takes for an absent key and for nil. Writers skip ``legacy`` keys.
    """

    key: str
    attr: str
    kind: Kind
    base: type
    many: bool = False
    optional: bool = False
    omitted: object = REQUIRED
    missing: object = REQUIRED
    nil: object = REQUIRED
    legacy: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The map of one class, fields in visit order.

    Readers skip the keys in ``ignored`` and refuse those in ``removed`` unless they are nil.
    """

    fields: tuple[WireField, ...]
    ignored: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()


_TYPE_KINDS: dict[type, str] = {scalar_types.PtrType: "Ptr"}

_UNSIGNED = {(MemRef, "size"), (MemRef, "slot_count"), (TileView, "fractal")}

_ABSTRACT: tuple[type, ...] = (IRNode, Expr, Stmt, BinaryExpr, UnaryExpr, ScopeStmt, ShapedType, Type)

_KINDS: tuple[tuple[type, Kind], ...] = (
    (IRNode, Kind.NODE),
    (Type, Kind.TYPE),
    (TensorView, Kind.VIEW),
    (TileView, Kind.VIEW),
    (AttrMap, Kind.ATTRS),
    (dict, Kind.FUNCTIONS),
    (Span, Kind.SPAN),
    (Op, Kind.OP),
    (DataType, Kind.DTYPE),
    (Enum, Kind.CODE),
    (bool, Kind.BOOL),
    (int, Kind.INT),
    (float, Kind.FLOAT),
    (str, Kind.STR),
)


def _concrete(base: type, *modules: ModuleType) -> list[type]:
    """The classes below ``base`` that are public and not abstract."""
    found = [c for module in modules for c in vars(module).values() if isinstance(c, type)]
    public = [c for c in dict.fromkeys(found) if issubclass(c, base) and not c.__name__.startswith("_")]
    return [c for c in public if c not in _ABSTRACT]


_NODE_MODULES = (leaves, buffers, expr, scalar_ops, stmt, program)

NODE_CLASSES: dict[str, type] = {c.__name__: c for c in _concrete(IRNode, *_NODE_MODULES)}
TYPE_CLASSES: dict[str, type] = {
    _TYPE_KINDS.get(c, c.__name__): c for c in _concrete(Type, scalar_types, ir_types)
}
TYPE_KINDS: dict[type, str] = {c: kind for kind, c in TYPE_CLASSES.items()}


@cache
def layout_of(cls: type) -> Layout:
    """Layout of the map that holds the fields of a node, type or view class, or of a Span."""
    fields = [_wire_field(cls, spec) for spec in fields_of(cls)]
    if issubclass(cls, Type):
        fields.append(WireField("type_kind", "__class__", Kind.TYPE_KIND, type))
    for key, (base, many) in LEGACY.get(cls, {}).items():
        kind = next(kind for owner, kind in _KINDS if issubclass(base, owner))
        attr = f"legacy_{key}"
        fields.append(WireField(key, attr, kind, base, many, missing=None, nil=None, legacy=True))
    return Layout(tuple(fields), IGNORED.get(cls, frozenset()), REMOVED.get(cls, frozenset()))


def _wire_field(cls: type, spec: FieldSpec) -> WireField:
    key = spec.name.rstrip("_")
    kind = next(kind for base, kind in _KINDS if issubclass(spec.base, base))
    in_type = issubclass(cls, Type)
    if in_type and kind is Kind.NODE and spec.base is MemRef:
        kind = Kind.MEMREF
    elif kind is Kind.CODE and cls in (TensorView, TileView):
        kind = Kind.NAME
    elif (cls, key) in _UNSIGNED:
        kind = Kind.UINT
    omitted = None if in_type and spec.optional else REQUIRED
    missing, nil = tolerance(cls, key, spec)
    return WireField(key, spec.name, kind, spec.base, spec.many, spec.optional, omitted, missing, nil)


# A memref inside a shaped type: a map without id, its base variable twice (by name and as a node).
EMBEDDED_MEMREF = Layout(
    (
        WireField("base", "base_.name_hint", Kind.STR, str),
        WireField("base_node", "base_", Kind.NODE, leaves.Var, missing=None, nil=None),
        WireField("byte_offset", "byte_offset_", Kind.NODE, Expr),
        WireField("size", "size_", Kind.UINT, int),
        WireField("is_pinned", "is_pinned_", Kind.BOOL, bool, omitted=False, missing=False),
        WireField("slot_count", "slot_count_", Kind.UINT, int, omitted=1, missing=1),
        WireField("slot_index", "slot_index_", Kind.NODE, Expr, omitted=None, missing=None, nil=None),
    )
)

FUNCTION_ENTRY = Layout(
    (
        WireField("key", "key", Kind.OP, GlobalVar),
        WireField("value", "value", Kind.NODE, Function),
    )
)

OP = Layout(
    (
        WireField("is_global_var", "is_global_var", Kind.BOOL, bool, missing=False),
        WireField("name", "name", Kind.STR, str, missing=""),
    )
)
