"""Rules on types: what meets in loops and branches has one type, conditions are booleans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pypto_tmpl.ir.base import Expr, Stmt, Type
from pypto_tmpl.ir.bodies import parts, statements, trailing_yield
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import PadValue
from pypto_tmpl.ir.extents import constant_extent, same_extent, same_extents
from pypto_tmpl.ir.program import Function
from pypto_tmpl.ir.scalar_types import ScalarType, TupleType
from pypto_tmpl.ir.stmt import ForStmt, IfStmt, WhileStmt
from pypto_tmpl.ir.types import (
    ArrayType,
    DistributedTensorType,
    ShapedType,
    TensorType,
    TileType,
    TileView,
    canonical_tile_view,
    layout_of,
)
from pypto_tmpl.ir.verifier.diagnostics import Findings
from pypto_tmpl.ir.verifier.walking import all_definitions


def type_checked(function: Function, findings: Findings) -> None:
    """Carries, yields and return variables have one type; ranges are scalars, conditions BOOL."""
    for stmt in statements(function.body):
        if isinstance(stmt, ForStmt):
            for bound, name in ((stmt.start, "start"), (stmt.stop, "stop"), (stmt.step, "step")):
                if not isinstance(bound.type, ScalarType):
                    what = f"the {name} of a loop is a {type(bound.type).__name__}, not a scalar"
                    findings.add(107, what, stmt.span)
        if isinstance(stmt, ForStmt | WhileStmt):
            _check_carries(stmt, findings)
        if isinstance(stmt, IfStmt | WhileStmt):
            _check_condition(stmt, findings)
        if isinstance(stmt, IfStmt):
            for branch in parts(stmt):
                last = trailing_yield(branch)
                _check_pairs(last.value if last else (), stmt.return_vars, "the yield of a branch", findings)
    for var, stmt in all_definitions(function):
        _check_valid_shapes(var.type, var.name_hint, findings, stmt)


def _check_carries(stmt: ForStmt | WhileStmt, findings: Findings) -> None:
    last = trailing_yield(stmt.body)
    _check_pairs([arg.initValue for arg in stmt.iter_args], stmt.iter_args, "the initial value", findings)
    _check_pairs(last.value if last else (), stmt.iter_args, "the yield of a loop", findings)
    _check_pairs(stmt.iter_args, stmt.return_vars, "the iter_arg", findings)


def _check_condition(stmt: IfStmt | WhileStmt, findings: Findings) -> None:
    what, type_ = "an if" if isinstance(stmt, IfStmt) else "a while", stmt.condition.type
    if not isinstance(type_, ScalarType):
        findings.add(106, f"the condition of {what} is a {type(type_).__name__}, not a scalar", stmt.span)
    elif type_.dtype != DataType.BOOL:
        findings.add(108, f"the condition of {what} is {type_.dtype.name}, not BOOL", stmt.span)


def _check_pairs(values: Sequence[Expr], targets: Sequence[Expr], what: str, findings: Findings) -> None:
    for value, target in zip(values, targets, strict=False):
        problem = type_mismatch(value.type, target.type)
        if problem is not None:
            code, text = problem
            name = getattr(target, "name_hint", "")
            findings.add(code, f"{what} of {name!r} has another type: {text}", value.span)


def type_mismatch(a: Type, b: Type) -> tuple[int, str] | None:
    """Why two types are not equal for the checker (code and text); None when they are."""
    stack = [(a, b)]
    seen: set[tuple[int, int]] = set()  # tuples of tuples may hold one type very often
    while stack:
        x, y = stack.pop()
        if (id(x), id(y)) in seen:
            continue
        seen.add((id(x), id(y)))
        if type(x) is not type(y):
            return 101, f"{type(x).__name__} and {type(y).__name__}"
        if isinstance(x, TupleType) and isinstance(y, TupleType):
            if len(x.types) != len(y.types):
                return 105, f"tuples of {len(x.types)} and {len(y.types)}"
            stack += reversed(list(zip(x.types, y.types, strict=True)))
        elif (problem := _plain_mismatch(x, y)) is not None:
            return problem
    return None


def _plain_mismatch(a: Type, b: Type) -> tuple[int, str] | None:
    if isinstance(a, ScalarType) and isinstance(b, ScalarType) and a.dtype != b.dtype:
        return 102, f"{a.dtype.name} and {b.dtype.name}"
    return _shaped_mismatch(a, b) if isinstance(a, ShapedType) and isinstance(b, ShapedType) else None


def _shaped_mismatch(a: ShapedType, b: ShapedType) -> tuple[int, str] | None:
    if a.dtype != b.dtype:
        return 102, f"{a.dtype.name} and {b.dtype.name}"
    if len(a.shape) != len(b.shape):
        return 103, f"{len(a.shape)} axes and {len(b.shape)} axes"
    if not same_extents(a.shape, b.shape):
        return 104, "the extents are not the same"
    if not same_extents(_valid_shape(a), _valid_shape(b)):
        return 104, "the valid extents are not the same"
    if isinstance(a, TensorType) and isinstance(b, TensorType) and _pad(a) is not _pad(b):
        return 109, f"pads {_pad(a).name} and {_pad(b).name}"
    windows = [t.window_buffer if isinstance(t, DistributedTensorType) else None for t in (a, b)]
    if windows[0] is not windows[1]:
        return 110, "the communication windows are not the same"
    views = [t.tile_view for t in (a, b) if isinstance(t, TileType) and t.tile_view is not None]
    if len(views) == 2 and not _same_layout(*views):
        return 111, "the tile views are not the same"
    return None


def _valid_shape(type_: ShapedType) -> tuple[Expr, ...]:
    view = getattr(type_, "tile_view", None) or getattr(type_, "tensor_view", None)
    return view.valid_shape if view is not None and view.valid_shape else type_.shape


def _pad(type_: TensorType) -> PadValue:
    return type_.tensor_view.pad if type_.tensor_view is not None else PadValue.null


def _same_layout(a: TileView, b: TileView) -> bool:
    """Equality of all that a tile view says beyond the valid shape."""
    if layout_of(a) != layout_of(b):
        return False
    if a.start_offset is None or b.start_offset is None:
        return a.start_offset is b.start_offset and same_extents(a.stride, b.stride)
    return same_extent(a.start_offset, b.start_offset) and same_extents(a.stride, b.stride)


def _check_valid_shapes(type_: Type, name: str, findings: Findings, stmt: Stmt) -> None:
    """The valid region of a type, or of those in a tuple, lies within its shape."""
    for part in _types_in(type_):
        if not isinstance(part, TensorType | TileType):
            continue
        valid = _valid_shape(part)
        if len(valid) != len(part.shape):
            what = f"the valid_shape of {name!r} has {len(valid)} axes, its shape {len(part.shape)}"
            findings.add(103, what, stmt.span)
            continue
        for extent, box in zip(valid, part.shape, strict=True):
            have, limit = constant_extent(extent), constant_extent(box)
            if have is not None and limit is not None and have > limit:
                findings.add(
                    104, f"the valid_shape of {name!r} exceeds its shape: {have} of {limit}", stmt.span
                )


def _types_in(type_: Type) -> Iterator[Type]:
    """A type, or what a tuple type holds at any depth, each object once."""
    stack = [type_]
    seen: set[int] = set()
    while stack:
        found = stack.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        if isinstance(found, TupleType):
            stack.extend(reversed(found.types))
        else:
            yield found


def tile_type_coherence(function: Function, findings: Findings) -> None:
    """Stored tile views are canonical: they say nothing that the shape and the memory space imply."""
    for var, stmt in all_definitions(function):
        for part in _types_in(var.type):
            if isinstance(part, TileType) and not _is_canonical(part):
                findings.add(0, f"the tile view of {var.name_hint!r} says what is implied anyway", stmt.span)


def _is_canonical(type_: TileType) -> bool:
    return canonical_tile_view(type_.tile_view, type_.shape, type_.memory_space) is type_.tile_view


def array_not_escaped(function: Function, findings: Findings) -> None:
    """Arrays stay inside a function: none among the parameters or return values."""
    for var in function.params:
        if any(isinstance(part, ArrayType) for part in _types_in(var.type)):
            findings.add(
                0, f"the parameter {var.name_hint!r} is an array, or a tuple with one", function.span
            )
    for index, type_ in enumerate(function.return_types):
        if any(isinstance(part, ArrayType) for part in _types_in(type_)):
            findings.add(0, f"the return value {index} is an array, or a tuple with one", function.span)
