"""The hash that structurally equal nodes and types share (spec: IR, 12.5)."""

from __future__ import annotations

from collections.abc import Generator
from enum import Enum
from typing import Any, TypeAlias

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import FieldRole, IRNode, Type
from pypto_tmpl.ir.buffers import MemRef, WindowBuffer
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.expr import Op
from pypto_tmpl.ir.fields import FieldSpec, fields_of
from pypto_tmpl.ir.leaves import ConstInt, Var
from pypto_tmpl.ir.program import Program
from pypto_tmpl.ir.scalar_types import ScalarType, TupleType
from pypto_tmpl.ir.stmt import ForStmt
from pypto_tmpl.ir.types import ShapedType, TensorView, TileView

_Steps: TypeAlias = "Generator[tuple[object, bool], int, int]"
"""Asks for the hashes of parts, each as (part, whether INT64 counts as INDEX), and returns a hash."""


class Hasher:
    """One hash; like a comparison it keeps its own stack and visits shared nodes once."""

    def __init__(self, auto_mapping: bool) -> None:
        self.auto_mapping = auto_mapping
        self.numbers: dict[int, int] = {}
        self.pairing = auto_mapping
        # Hashes of nodes and tuple types below which no variable got its number, with how many had one
        # then. With pairing all variables below have numbers, so the hash stays; without, others may get one.
        self.known: dict[tuple[int, bool, bool], tuple[int, int]] = {}

    def hash(self, x: object) -> int:
        stack = [self._steps(x, False)]
        found: int | None = None
        while True:
            try:
                part, int64_index = stack[-1].send(found)  # type: ignore[arg-type]
            except StopIteration as done:
                stack.pop()
                found = done.value
                if not stack:
                    return int(done.value)
            else:
                stack.append(self._steps(part, int64_index))
                found = None

    def _steps(self, x: object, int64_index: bool) -> _Steps:
        if not isinstance(x, (IRNode, TupleType)):
            return (yield from self._parts(x, int64_index))
        key = (id(x), self.pairing, int64_index)
        numbered = len(self.numbers)
        if key in self.known:
            found, then = self.known[key]
            if self.pairing or then == numbered:
                return found
        found = yield from self._parts(x, int64_index)
        if len(self.numbers) == numbered:
            self.known[key] = found, numbered
        return found

    def _parts(self, x: Any, int64_index: bool) -> _Steps:
        if isinstance(x, Var):
            return (yield from self._var(x, int64_index))
        if isinstance(x, AttrMap):
            entries = []
            for key in sorted(x):
                entries.append((key, x.kinds[key].value, (yield x[key], False)))
            return hash(("attrs", *entries))
        if isinstance(x, Program):
            functions = []
            for name, function in x.functions.items():
                functions.append((name.name, (yield function, False)))
            return hash(("Program", *functions))
        if isinstance(x, ScalarType) and int64_index and x.dtype == DataType.INT64:
            return (yield ScalarType(DataType.INDEX), False)
        if isinstance(x, (IRNode, Type, TensorView, TileView)):
            return (yield from self._fields(x))
        if isinstance(x, tuple):
            items = []
            for item in x:
                items.append((yield item, False))
            return hash(("tuple", *items))
        if isinstance(x, Op):
            return hash((type(x).__name__, x.name))
        if isinstance(x, Enum):
            return hash((type(x).__name__, x.value))
        return hash((type(x).__name__, x))

    def _fields(self, x: Any) -> _Steps:
        parts: list[object] = [type(x).__name__]
        for spec in fields_of(type(x)):
            if is_skipped(x, spec):
                continue
            outer, self.pairing = self.pairing, self.pairing or spec.role is FieldRole.DEFINITION
            is_index = isinstance(x, ConstInt) or (isinstance(x, ForStmt) and spec.name == "loop_var")
            parts.append((yield getattr(x, spec.name), is_index))
            self.pairing = outer
        return hash(tuple(parts))

    def _var(self, x: Var, int64_index: bool) -> _Steps:
        if id(x) in self.numbers:
            return hash(("var", self.numbers[id(x)]))
        if not self.pairing and not isinstance(x, (MemRef, WindowBuffer)):
            return hash(("free", x.unique_id))
        self.numbers[id(x)] = len(self.numbers)
        parts: list[object] = [type(x).__name__, self.numbers[id(x)]]
        for spec in fields_of(type(x)):
            if spec.role is not FieldRole.IGNORED:
                parts.append((yield getattr(x, spec.name), int64_index))
        return hash(tuple(parts))


def is_skipped(owner: object, spec: FieldSpec) -> bool:
    """True for a field that structural comparison and hashing leave out."""
    return spec.role is FieldRole.IGNORED or (spec.name == "memref" and isinstance(owner, ShapedType))
