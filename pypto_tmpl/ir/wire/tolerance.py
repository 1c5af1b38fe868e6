"""What readers accept beyond what writers produce (spec: wire format, section 9)."""

from __future__ import annotations

from pypto_tmpl.ir import buffers, expr, leaves, program, stmt
from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import Stmt, Type
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import ArgDirection, ForKind, FunctionType, SplitMode
from pypto_tmpl.ir.fields import FieldSpec
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.types import TensorView, TileView


class _Required:
    """Marks a key that must be there, or a value that must not be nil."""


REQUIRED = _Required()

_NO_ATTRS = AttrMap()

# (class or base, key): (value for a missing key, value for nil)
_TOLERATED: dict[tuple[type, str], tuple[object, object]] = {
    (Span, "filename"): ("", REQUIRED),
    (Span, "begin_line"): (-1, REQUIRED),
    (Span, "begin_column"): (-1, REQUIRED),
    (Span, "end_line"): (-1, REQUIRED),
    (Span, "end_column"): (-1, REQUIRED),
    (Stmt, "leading_comments"): ((), REQUIRED),
    (Type, "dtype"): (DataType.BOOL, REQUIRED),
    (Type, "shape"): ((), ()),
    (TensorView, "valid_shape"): ((), ()),
    (expr.Call, "attrs"): (_NO_ATTRS, _NO_ATTRS),
    (expr.Submit, "attrs"): (_NO_ATTRS, REQUIRED),
    (expr.Submit, "core_num"): (None, None),
    (expr.Submit, "predicate"): (None, None),
    (expr.Submit, "sync_start"): (False, False),
    (expr.Submit, "allow_early_resolve"): (False, False),
    (buffers.MemRef, "is_pinned"): (False, REQUIRED),
    (buffers.MemRef, "slot_count"): (1, REQUIRED),
    (buffers.MemRef, "slot_index"): (None, None),
    (stmt.IfStmt, "else_body"): (None, None),
    (stmt.ForStmt, "kind"): (ForKind.Sequential, ForKind.Sequential),
    (stmt.ForStmt, "attrs"): (_NO_ATTRS, REQUIRED),
    (stmt.ScopeStmt, "name_hint"): ("", REQUIRED),
    (stmt.ScopeStmt, "attrs"): (_NO_ATTRS, REQUIRED),
    (stmt.InCoreScopeStmt, "split"): (SplitMode.NONE, SplitMode.NONE),
    (stmt.SpmdScopeStmt, "sync_start"): (False, False),
    (stmt.RuntimeScopeStmt, "manual"): (False, False),
    (stmt.CommDomainScopeStmt, "devices"): ((), REQUIRED),
    (stmt.CommDomainScopeStmt, "slots"): ((), REQUIRED),
    (program.Program, "functions"): (REQUIRED, ()),
    (program.Function, "func_type"): (FunctionType.Opaque, FunctionType.Opaque),
    (program.Function, "param_directions"): (None, None),
    (program.Function, "attrs"): (_NO_ATTRS, _NO_ATTRS),
    (program.Function, "requires_runtime_binding"): (False, False),
    # upstream does not read these: they follow from other fields
    (leaves.ConstBool, "type"): (None, REQUIRED),
    (expr.MakeTuple, "type"): (None, REQUIRED),
    (expr.TupleGetItemExpr, "type"): (None, REQUIRED),
    (buffers.MemRef, "type"): (None, REQUIRED),
    (buffers.WindowBuffer, "type"): (None, REQUIRED),
    (buffers.WindowBuffer, "name_hint"): (None, REQUIRED),
}

# Lists that upstream takes as empty when the value is no list. Only nil is taken so here: any other
# value would be dropped.
_NIL_IS_EMPTY = frozenset(
    ("args", "deps", "shape", "types", "stmts", "iter_args", "return_vars", "params")
    + ("return_types", "value", "stride", "valid_shape")
)

_NIL_IS_REFUSED = frozenset({"memory_space", "window_buffer"})

# Keys of removed features: skipped, or refused unless nil.
IGNORED: dict[type, frozenset[str]] = {
    program.Program: frozenset({"comm_groups"}),
    stmt.ForStmt: frozenset({"loop_origin"}),
}
REMOVED: dict[type, frozenset[str]] = {stmt.ForStmt: frozenset({"chunk_config"})}

# Keys that now stand among the attributes: element class, and whether a list.
LEGACY: dict[type, dict[str, tuple[type, bool]]] = {
    expr.Call: {"arg_directions": (ArgDirection, True)},
    program.Function: {"split": (SplitMode, False)},
}


def tolerance(cls: type, key: str, spec: FieldSpec) -> tuple[object, object]:
    """What a reader takes for a missing ``key`` of ``cls`` and for nil; REQUIRED if neither will do."""
    for owner in cls.__mro__:
        if (owner, key) in _TOLERATED:
            return _TOLERATED[owner, key]
    missing: object = REQUIRED
    nil: object = REQUIRED
    if spec.optional and key not in _NIL_IS_REFUSED:
        nil = None
    elif spec.many and key in _NIL_IS_EMPTY:
        nil = ()
    if cls is TileView or (cls is TensorView and key == "pad"):
        missing = getattr(cls(), spec.name)
    elif spec.optional and issubclass(cls, Type):
        missing = None
    return missing, nil
