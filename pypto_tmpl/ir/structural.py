"""Structural equality and hashing (spec: IR, section 12).

One walk finds the first difference; equality is its absence. Source positions, comments, name hints,
function and program names, the memrefs of types and the order of attributes do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import FieldRole, IRNode, Type
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.expr import ConstFloat, ConstInt, MemRef, Op, Var, WindowBuffer
from pypto_tmpl.ir.fields import FieldSpec, fields_of
from pypto_tmpl.ir.program import Program
from pypto_tmpl.ir.stmt import ForStmt
from pypto_tmpl.ir.types import ScalarType, ShapedType, TensorView, TileView


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two structures first differ, e.g. ``['main'].body[1].value.left``, and both values there."""

    path: str
    reason: str
    left: object
    right: object

    def __str__(self) -> str:
        return f"{self.path or 'root'}: {self.reason}"


def structural_diff(a: object, b: object, enable_auto_mapping: bool = False) -> Difference | None:
    """First difference between two nodes or types, None when they are structurally equal.

    With ``enable_auto_mapping`` free variables pair up on first sight; without it they must be one object.
    """
    return _Comparison(enable_auto_mapping).compare(a, b, "")


def structural_equal(a: object, b: object, enable_auto_mapping: bool = False) -> bool:
    """True when two nodes or types are structurally equal."""
    return structural_diff(a, b, enable_auto_mapping) is None


def assert_structural_equal(a: object, b: object, enable_auto_mapping: bool = False) -> None:
    """Raise ValueError with the path and the reason of the first difference."""
    difference = structural_diff(a, b, enable_auto_mapping)
    if difference is not None:
        raise ValueError(f"not structurally equal: {difference}")


class _Comparison:
    def __init__(self, auto_mapping: bool) -> None:
        self.auto_mapping = auto_mapping
        self.pairing = auto_mapping
        self.left_to_right: dict[int, object] = {}
        self.right_to_left: dict[int, object] = {}
        self.kept: list[object] = []  # keeps ids of temporaries from being reused

    def compare(self, a: object, b: object, path: str) -> Difference | None:
        if isinstance(a, Var) or isinstance(b, Var):
            return self._compare_vars(a, b, path)
        if a is b and not isinstance(a, (IRNode, Type)):
            return None
        if type(a) is not type(b):
            return self._differ(a, b, path, f"kinds differ: {type(a).__name__} and {type(b).__name__}")
        if isinstance(a, AttrMap) and isinstance(b, AttrMap):
            return self._compare_attrs(a, b, path)
        if isinstance(a, Program) and isinstance(b, Program):
            return self._compare_programs(a, b, path)
        if isinstance(a, (IRNode, Type, TensorView, TileView)):
            return self._compare_fields(a, b, path)
        if isinstance(a, tuple) and isinstance(b, tuple):
            return self._compare_sequences(a, b, path)
        return None if a == b else self._differ(a, b, path, f"{a!r} and {b!r} differ")

    def _differ(self, a: object, b: object, path: str, reason: str) -> Difference:
        return Difference(path.lstrip("."), reason, a, b)

    def _compare_fields(self, a: Any, b: Any, path: str) -> Difference | None:
        if isinstance(a, ConstFloat) and a is b:
            return None  # a NaN constant equals itself
        for spec in fields_of(type(a)):
            if _is_skipped(a, spec):
                continue
            if found := self._compare_field(a, b, spec, f"{path}.{spec.name}"):
                return found
        return None

    def _compare_field(self, a: Any, b: Any, spec: FieldSpec, path: str) -> Difference | None:
        left, right = getattr(a, spec.name), getattr(b, spec.name)
        if spec.name == "type" and isinstance(a, ConstInt) and _both_index(left, right):
            return None
        outer, self.pairing = self.pairing, self.pairing or spec.role is FieldRole.DEFINITION
        try:
            if isinstance(a, ForStmt) and spec.name == "loop_var":
                return self._compare_vars(left, right, path, index_is_int64=True)
            return self.compare(left, right, path)
        finally:
            self.pairing = outer

    def _compare_sequences(
        self, a: tuple[object, ...], b: tuple[object, ...], path: str
    ) -> Difference | None:
        if len(a) != len(b):
            return self._differ(a, b, path, f"lengths differ: {len(a)} and {len(b)}")
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            if found := self.compare(left, right, f"{path}[{i}]"):
                return found
        return None

    def _compare_attrs(self, a: AttrMap, b: AttrMap, path: str) -> Difference | None:
        for key in {**a, **b}:
            at = f"{path}[{key!r}]"
            if key not in a or key not in b:
                return self._differ(a.get(key), b.get(key), at, "present on one side only")
            if a.kinds[key] is not b.kinds[key]:
                reason = f"stored as {a.kinds[key].value} and as {b.kinds[key].value}"
                return self._differ(a[key], b[key], at, reason)
            if found := self.compare(a[key], b[key], at):
                return found
        return None

    def _compare_programs(self, a: Program, b: Program, path: str) -> Difference | None:
        for key in sorted({k.name for k in (*a.functions, *b.functions)}):
            left, right = a.get_function(key), b.get_function(key)
            at = f"{path}[{key!r}]"
            if left is None or right is None:
                return self._differ(left, right, at, "the function exists on one side only")
            if found := self.compare(left, right, at):
                return found
        return None

    def _compare_vars(self, a: Any, b: Any, path: str, index_is_int64: bool = False) -> Difference | None:
        if type(a) is not type(b):
            return self._differ(a, b, path, f"kinds differ: {type(a).__name__} and {type(b).__name__}")
        known_left, known_right = self.left_to_right.get(id(a)), self.right_to_left.get(id(b))
        if known_left is not None or known_right is not None:
            if known_left is b and known_right is a:
                return None
            return self._differ(a, b, path, "the variables stand for different definitions")
        if not self.pairing and not isinstance(a, (MemRef, WindowBuffer)):
            return None if a is b else self._differ(a, b, path, "free variables are different objects")
        self.left_to_right[id(a)], self.right_to_left[id(b)] = b, a
        self.kept += (a, b)
        for spec in fields_of(type(a)):
            if spec.role is FieldRole.IGNORED:
                continue
            left, right = getattr(a, spec.name), getattr(b, spec.name)
            if spec.name == "type" and index_is_int64 and _both_index(left, right):
                continue
            if found := self.compare(left, right, f"{path}.{spec.name}"):
                return found
        return None


def _is_skipped(owner: object, spec: FieldSpec) -> bool:
    return spec.role is FieldRole.IGNORED or (spec.name == "memref" and isinstance(owner, ShapedType))


def _both_index(a: object, b: object) -> bool:
    """INDEX and INT64 are one type for loop variables and integer constants."""
    index = (DataType.INDEX, DataType.INT64)
    return isinstance(a, ScalarType) and isinstance(b, ScalarType) and a.dtype in index and b.dtype in index


def structural_hash(x: object, enable_auto_mapping: bool = False) -> int:
    """Hash that structurally equal nodes or types share.

    Without ``enable_auto_mapping`` free variables count by identity, so the value holds only within a
    process.
    """
    return _Hasher(enable_auto_mapping).hash(x)


class _Hasher:
    def __init__(self, auto_mapping: bool) -> None:
        self.auto_mapping = auto_mapping
        self.pairing = auto_mapping
        self.numbers: dict[int, int] = {}
        self.kept: list[object] = []

    def hash(self, x: object, int64_index: bool = False) -> int:
        if isinstance(x, Var):
            return self._hash_var(x, int64_index)
        if isinstance(x, AttrMap):
            entries = [(k, x.kinds[k].value, self.hash(x[k])) for k in sorted(x)]
            return hash(("attrs", *entries))
        if isinstance(x, Program):
            return hash(("Program", *((k.name, self.hash(f)) for k, f in x.functions.items())))
        if isinstance(x, ScalarType) and int64_index and x.dtype == DataType.INT64:
            return self.hash(ScalarType(DataType.INDEX))
        if isinstance(x, (IRNode, Type, TensorView, TileView)):
            return self._hash_fields(x)
        if isinstance(x, tuple):
            return hash(("tuple", *(self.hash(item) for item in x)))
        if isinstance(x, Op):
            return hash((type(x).__name__, x.name))
        if isinstance(x, Enum):
            return hash((type(x).__name__, x.value))
        return hash((type(x).__name__, x))

    def _hash_fields(self, x: Any) -> int:
        parts: list[object] = [type(x).__name__]
        for spec in fields_of(type(x)):
            if _is_skipped(x, spec):
                continue
            outer, self.pairing = self.pairing, self.pairing or spec.role is FieldRole.DEFINITION
            is_index = isinstance(x, ConstInt) or (isinstance(x, ForStmt) and spec.name == "loop_var")
            parts.append(self.hash(getattr(x, spec.name), int64_index=is_index))
            self.pairing = outer
        return hash(tuple(parts))

    def _hash_var(self, x: Var, int64_index: bool) -> int:
        if id(x) in self.numbers:
            return hash(("var", self.numbers[id(x)]))
        if not self.pairing and not isinstance(x, (MemRef, WindowBuffer)):
            return hash(("free", x.unique_id))
        self.numbers[id(x)] = len(self.numbers)
        self.kept.append(x)
        parts: list[object] = [type(x).__name__, self.numbers[id(x)]]
        for spec in fields_of(type(x)):
            if spec.role is not FieldRole.IGNORED:
                parts.append(self.hash(getattr(x, spec.name), int64_index=int64_index))
        return hash(tuple(parts))
