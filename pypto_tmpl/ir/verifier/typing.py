"""Rules on types: what meets in loops and branches has one type, conditions are booleans."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl.ir.base import Expr, Type
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import AtomicType
from pypto_tmpl.ir.expr import Call, GlobalVar, Submit
from pypto_tmpl.ir.extents import constant_extent, same_extents
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.stmt import AssignStmt, ForStmt, IfStmt, WhileStmt
from pypto_tmpl.ir.types import (
    ArrayType,
    DistributedTensorType,
    ScalarType,
    ShapedType,
    TensorType,
    TileType,
    TileView,
    TupleType,
    canonical_tile_view,
)
from pypto_tmpl.ir.verifier.control_flow import parts, statements
from pypto_tmpl.ir.verifier.definitions import trailing_yield
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.visitor import walk

ATOMIC_ADD_DTYPES = frozenset({"FP32", "BF16", "FP16", "INT32", "INT16", "INT8"})


def type_checked(function: Function, findings: Findings) -> None:
    """Carries, yields and return variables have one type; ranges are scalars, conditions BOOL."""
    for stmt in statements(function.body):
        if isinstance(stmt, ForStmt):
            for bound, name in ((stmt.start, "start"), (stmt.stop, "stop"), (stmt.step, "step")):
                if not isinstance(bound.type, ScalarType):
                    findings.add(107, f"the {name} of a loop is no scalar", stmt.span)
        if isinstance(stmt, ForStmt | WhileStmt):
            _check_carries(stmt, findings)
        if isinstance(stmt, IfStmt | WhileStmt):
            _check_condition(stmt.condition, findings, stmt.span)
        if isinstance(stmt, IfStmt) and stmt.return_vars:
            for branch in parts(stmt):
                last = trailing_yield(branch)
                _check_pairs(last.value if last else (), stmt.return_vars, "a branch's yield", findings)
        if isinstance(stmt, AssignStmt):
            _check_valid_shape(stmt.var.type, stmt.var.name_hint, findings, stmt.span)


def _check_carries(stmt: ForStmt | WhileStmt, findings: Findings) -> None:
    last = trailing_yield(stmt.body)
    _check_pairs([arg.initValue for arg in stmt.iter_args], stmt.iter_args, "an initial value", findings)
    _check_pairs(last.value if last else (), stmt.iter_args, "a loop's yield", findings)
    _check_pairs(stmt.iter_args, stmt.return_vars, "a carry", findings)


def _check_condition(condition: Expr, findings: Findings, span: Span) -> None:
    if not isinstance(condition.type, ScalarType):
        findings.add(106, "a condition is no scalar", span)
    elif condition.type.dtype != DataType.BOOL:
        findings.add(108, f"a condition is {condition.type.dtype.name}, not BOOL", span)


def _check_pairs(values: Sequence[Expr], targets: Sequence[Expr], what: str, findings: Findings) -> None:
    for value, target in zip(values, targets, strict=False):
        problem = type_mismatch(value.type, target.type)
        if problem is not None:
            code, text = problem
            name = getattr(target, "name_hint", "")
            findings.add(code, f"{what} does not have the type of {name!r}: {text}", value.span)


def type_mismatch(a: Type, b: Type) -> tuple[int, str] | None:
    """Why two types are not equal for the checker (code and text); None when they are."""
    if type(a) is not type(b):
        return 101, f"{type(a).__name__} and {type(b).__name__}"
    if isinstance(a, TupleType) and isinstance(b, TupleType):
        if len(a.types) != len(b.types):
            return 105, f"tuples of {len(a.types)} and {len(b.types)}"
        found = (type_mismatch(x, y) for x, y in zip(a.types, b.types, strict=True))
        return next((problem for problem in found if problem is not None), None)
    if isinstance(a, ScalarType) and isinstance(b, ScalarType):
        return None if a.dtype == b.dtype else (102, f"{a.dtype.name} and {b.dtype.name}")
    if isinstance(a, ShapedType) and isinstance(b, ShapedType):
        return _shaped_mismatch(a, b)
    return None


def _shaped_mismatch(a: ShapedType, b: ShapedType) -> tuple[int, str] | None:
    if a.dtype != b.dtype:
        return 102, f"{a.dtype.name} and {b.dtype.name}"
    if len(a.shape) != len(b.shape):
        return 103, f"{len(a.shape)} axes and {len(b.shape)} axes"
    if not same_extents(a.shape, b.shape):
        return 104, "different extents"
    if not same_extents(_valid_shape(a), _valid_shape(b)):
        return 104, "different valid regions"
    if isinstance(a, TensorType) and isinstance(b, TensorType):
        pads = [t.tensor_view.pad if t.tensor_view is not None else None for t in (a, b)]
        if pads[0] is not pads[1] and not {None} & set(pads):
            return 109, "different pads"
    windows = [t.window_buffer if isinstance(t, DistributedTensorType) else None for t in (a, b)]
    if windows[0] is not windows[1]:
        return 110, "different communication windows"
    views = [t.tile_view for t in (a, b) if isinstance(t, TileType) and t.tile_view is not None]
    if len(views) == 2 and _layout(views[0]) != _layout(views[1]):
        return 111, "different tile views"
    return None


def _valid_shape(type_: ShapedType) -> tuple[Expr, ...]:
    view = getattr(type_, "tile_view", None) or getattr(type_, "tensor_view", None)
    return view.valid_shape if view is not None and view.valid_shape else type_.shape


def _layout(view: TileView) -> tuple[object, ...]:
    return (view.blayout, view.slayout, view.fractal, view.pad, view.compact)


def _check_valid_shape(type_: Type, name: str, findings: Findings, span: Span) -> None:
    if not isinstance(type_, TensorType | TileType):
        return
    valid = _valid_shape(type_)
    if len(valid) != len(type_.shape):
        findings.add(103, f"{name!r} has a valid_shape of another rank than its shape", span)
        return
    for extent, box in zip(valid, type_.shape, strict=True):
        have, limit = constant_extent(extent), constant_extent(box)
        if have is not None and limit is not None and have > limit:
            findings.add(104, f"{name!r} is valid to {have} of {limit}", span)


def tile_type_coherence(function: Function, findings: Findings) -> None:
    """Stored tile views are canonical: they say nothing that the shape and the memory space imply."""
    for stmt in statements(function.body):
        if isinstance(stmt, AssignStmt) and isinstance(stmt.var.type, TileType):
            type_ = stmt.var.type
            if canonical_tile_view(type_.tile_view, type_.shape, type_.memory_space) is not type_.tile_view:
                findings.add(0, f"the tile view of {stmt.var.name_hint!r} is not canonical", stmt.span)


def array_not_escaped(function: Function, findings: Findings) -> None:
    """Arrays stay inside a function: none among the parameters or return values."""
    for var in function.params:
        if _holds_array(var.type):
            findings.add(0, f"parameter {var.name_hint!r} is an array", var.span)
    for type_ in function.return_types:
        if _holds_array(type_):
            findings.add(0, "an array is returned", function.span)


def _holds_array(type_: Type) -> bool:
    if isinstance(type_, TupleType):
        return any(_holds_array(part) for part in type_.types)
    return isinstance(type_, ArrayType)


def manual_deps_on_submit_only(function: Function, findings: Findings) -> None:
    """Function calls and submits state their dependencies by operands, never by manual_dep_edges."""
    for node in walk(function.body):
        if isinstance(node, Call | Submit) and "manual_dep_edges" in node.attrs:
            if isinstance(node, Submit):
                findings.add(1, f"a submit of {node.op.name!r} has manual_dep_edges", node.span)
            elif isinstance(node.op, GlobalVar):
                findings.add(0, f"a call of {node.op.name!r} has manual_dep_edges", node.span)


def atomic_add_dtype_valid(function: Function, findings: Findings) -> None:
    """The destination of an atomic addition has a dtype that the hardware adds."""
    for node in walk(function.body):
        if not isinstance(node, Call) or node.kwargs.get("atomic", 0) != AtomicType.Add:
            continue
        target = node.type
        if isinstance(target, ShapedType) and target.dtype.name not in ATOMIC_ADD_DTYPES:
            findings.add(0, f"{node.op.name} adds atomically to {target.dtype.name}", node.span)
