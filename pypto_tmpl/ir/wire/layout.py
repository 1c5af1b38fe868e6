"""Wire layout of every class: which keys its map has, how each value is encoded, what may be absent.

Keys and their order follow from the field declarations (``fields_of``); the tables here add what the
declarations do not say. Reader and writer both walk the result.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from types import ModuleType

from pypto_tmpl.ir import expr, program, scalar_ops, stmt
from pypto_tmpl.ir import types as ir_types
from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import Expr, IRNode, Stmt, Type
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ForKind, FunctionType, SplitMode
from pypto_tmpl.ir.expr import MemRef, Op
from pypto_tmpl.ir.fields import FieldSpec, fields_of
from pypto_tmpl.ir.scalar_ops import BinaryExpr, UnaryExpr
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.stmt import ScopeStmt
from pypto_tmpl.ir.types import ShapedType, TensorView, TileView


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
    INT = auto()
    FLOAT = auto()
    STR = auto()
    TYPE_KIND = auto()
    BASE_NAME = auto()  # the name hint of a variable


class _Required:
    """Marks a key that must be present, or a value that must not be nil."""


REQUIRED = _Required()


@dataclass(frozen=True, slots=True)
class WireField:
    """One key of a map. ``omitted`` is the value for which a writer leaves the key out.

    ``missing`` and ``nil`` are what a reader takes for an absent key and for nil.
    """

    key: str
    attr: str
    kind: Kind
    base: type
    many: bool = False
    unsigned: bool = False
    omitted: object = REQUIRED
    missing: object = REQUIRED
    nil: object = REQUIRED


@dataclass(frozen=True, slots=True)
class Layout:
    """The map of one class; ``fields`` in visit order, ``ignored`` keys a reader skips."""

    fields: tuple[WireField, ...]
    ignored: frozenset[str] = frozenset()


_EMPTY_ATTRS = AttrMap()

# (class, wire key): (value for a missing key, value for nil); wire format, section 9.
_TOLERATED: dict[tuple[type, str], tuple[object, object]] = {
    (Stmt, "leading_comments"): ((), REQUIRED),
    (expr.Call, "attrs"): (_EMPTY_ATTRS, _EMPTY_ATTRS),
    (expr.Submit, "attrs"): (_EMPTY_ATTRS, REQUIRED),
    (expr.Submit, "core_num"): (None, None),
    (expr.Submit, "predicate"): (None, None),
    (expr.Submit, "sync_start"): (False, False),
    (expr.Submit, "allow_early_resolve"): (False, False),
    (MemRef, "is_pinned"): (False, REQUIRED),
    (MemRef, "slot_count"): (1, REQUIRED),
    (MemRef, "slot_index"): (None, None),
    (stmt.IfStmt, "else_body"): (None, None),
    (stmt.ForStmt, "kind"): (ForKind.Sequential, ForKind.Sequential),
    (stmt.ForStmt, "attrs"): (_EMPTY_ATTRS, REQUIRED),
    (ScopeStmt, "name_hint"): ("", REQUIRED),
    (ScopeStmt, "attrs"): (_EMPTY_ATTRS, REQUIRED),
    (stmt.InCoreScopeStmt, "split"): (SplitMode.NONE, SplitMode.NONE),
    (stmt.SpmdScopeStmt, "sync_start"): (False, False),
    (stmt.RuntimeScopeStmt, "manual"): (False, False),
    (stmt.CommDomainScopeStmt, "devices"): ((), REQUIRED),
    (stmt.CommDomainScopeStmt, "slots"): ((), REQUIRED),
    (program.Function, "func_type"): (FunctionType.Opaque, FunctionType.Opaque),
    (program.Function, "param_directions"): (None, None),
    (program.Function, "attrs"): (_EMPTY_ATTRS, _EMPTY_ATTRS),
    (program.Function, "requires_runtime_binding"): (False, False),
    (Type, "dtype"): (DataType.BOOL, REQUIRED),
    (Type, "shape"): ((), ()),
    (TensorView, "valid_shape"): ((), ()),
    # recomputed by the constructors
    (expr.ConstBool, "type"): (None, REQUIRED),
    (expr.MakeTuple, "type"): (None, REQUIRED),
    (expr.TupleGetItemExpr, "type"): (None, REQUIRED),
    (expr.WindowBuffer, "type"): (None, REQUIRED),
    (expr.WindowBuffer, "name_hint"): (None, REQUIRED),
}

# Lists for which upstream takes nil as empty (section 9, last row).
_NIL_IS_EMPTY = frozenset(
    "args deps shape types stmts iter_args return_vars params return_types value stride valid_shape "
    "functions".split()
)

# Keys of removed features that upstream skips (section 9).
_IGNORED: dict[type, frozenset[str]] = {
    program.Program: frozenset({"comm_groups"}),
    stmt.ForStmt: frozenset({"loop_origin"}),
}

_UNSIGNED = {(MemRef, "size"), (MemRef, "slot_count"), (TileView, "fractal")}

_TYPE_KINDS = {ir_types.PtrType: "Ptr"}

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


NODE_CLASSES: dict[str, type[IRNode]] = {
    c.__name__: c for c in _concrete(IRNode, expr, scalar_ops, stmt, program)
}
TYPE_CLASSES: dict[str, type[Type]] = {_TYPE_KINDS.get(c, c.__name__): c for c in _concrete(Type, ir_types)}
TYPE_KINDS: dict[type, str] = {c: kind for kind, c in TYPE_CLASSES.items()}


@cache
def layout_of(cls: type) -> Layout:
    """Layout of the map that holds the fields of a node, type or view class."""
    fields = tuple(_wire_field(cls, spec) for spec in fields_of(cls))
    return Layout(fields, _IGNORED.get(cls, frozenset()))


def _wire_field(cls: type, spec: FieldSpec) -> WireField:
    key = spec.name.rstrip("_")
    kind = next(kind for base, kind in _KINDS if issubclass(spec.base, base))
    in_type, in_view = issubclass(cls, Type), cls in (TensorView, TileView)
    if in_type and spec.base is MemRef:
        kind = Kind.MEMREF
    if in_view and kind is Kind.CODE:
        kind = Kind.NAME
    omitted = None if in_type and spec.optional else REQUIRED
    missing, nil = _tolerance(cls, key, spec, in_view)
    unsigned = (cls, key) in _UNSIGNED
    return WireField(key, spec.name, kind, spec.base, spec.many, unsigned, omitted, missing, nil)


def _tolerance(cls: type, key: str, spec: FieldSpec, in_view: bool) -> tuple[object, object]:
    for owner in cls.__mro__:
        if (owner, key) in _TOLERATED:
            return _TOLERATED[owner, key]
    nil: object = REQUIRED
    if spec.optional:
        nil = REQUIRED if key in ("memory_space", "window_buffer") else None
    elif spec.many and key in _NIL_IS_EMPTY:
        nil = ()
    if cls is TileView or (cls is TensorView and key == "pad"):
        return getattr(cls(), spec.name), nil
    missing = None if issubclass(cls, Type) and spec.optional else REQUIRED
    return missing, nil


# A memref inside a shaped type: a map without id, its base variable twice (by name and as a node).
EMBEDDED_MEMREF = Layout(
    (
        WireField("base", "base_", Kind.BASE_NAME, str),
        WireField("base_node", "base_", Kind.NODE, expr.Var, missing=None, nil=None),
        WireField("byte_offset", "byte_offset_", Kind.NODE, Expr),
        WireField("size", "size_", Kind.INT, int, unsigned=True),
        WireField("is_pinned", "is_pinned_", Kind.BOOL, bool, omitted=False, missing=False),
        WireField("slot_count", "slot_count_", Kind.INT, int, unsigned=True, omitted=1, missing=1),
        WireField("slot_index", "slot_index_", Kind.NODE, Expr, omitted=None, missing=None, nil=None),
    )
)
