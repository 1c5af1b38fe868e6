"""Structural equality and hashing (spec: IR, section 12).

One walk finds the first difference; equality is its absence. Source positions, comments, name hints,
function and program names, the memrefs of types and the order of attributes do not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, NamedTuple, TypeAlias

from pypto_tmpl.ir.attrs import AttrMap
from pypto_tmpl.ir.base import FieldRole, IRNode, Stmt, Type, provide_equality
from pypto_tmpl.ir.buffers import MemRef, WindowBuffer
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.fields import fields_of
from pypto_tmpl.ir.leaves import ConstFloat, ConstInt, Var
from pypto_tmpl.ir.program import Program
from pypto_tmpl.ir.scalar_types import ScalarType, TupleType
from pypto_tmpl.ir.stmt import ForStmt, SeqStmts
from pypto_tmpl.ir.structural_hashing import Hasher, is_skipped
from pypto_tmpl.ir.types import TensorView, TileView


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two structures differ, e.g. ``['main'].body[1].value.left``, and both values there.

    ``right_path`` is the place in the second one, another one behind statements that one of them lacks.
    """

    path: str
    reason: str
    left: object
    right: object
    right_path: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.path or 'root'}: {self.reason}"


def structural_diff(a: object, b: object, enable_auto_mapping: bool = False) -> Difference | None:
    """First difference between two nodes or types, None when they are structurally equal.

    With ``enable_auto_mapping`` free variables pair up on first sight; without it they must be one object.
    """
    return _Comparison(enable_auto_mapping).compare(a, b)


def structural_differences(a: object, b: object, enable_auto_mapping: bool = False) -> Iterator[Difference]:
    """All differences between two nodes or types, the first one as ``structural_diff`` has it.

    Of two sequences of statements of different length those that only one of them has are told, and the
    others are compared. That two variables stand for different definitions is told once.
    """
    return _Comparison(enable_auto_mapping).differences(a, b)


def structural_equal(lhs: object, rhs: object, enable_auto_mapping: bool = False) -> bool:
    """True when two nodes or types are structurally equal."""
    return structural_diff(lhs, rhs, enable_auto_mapping) is None


def assert_structural_equal(lhs: object, rhs: object, enable_auto_mapping: bool = False) -> None:
    """Raise ValueError with the path and the reason of the first difference."""
    difference = structural_diff(lhs, rhs, enable_auto_mapping)
    if difference is not None:
        raise ValueError(f"not structurally equal: {difference}")


_ONE_SIDED = "only the {} one has this statement"
_Step: TypeAlias = str | tuple[str, str]  # of both sides, or of each
_Path: TypeAlias = "tuple[_Path, _Step] | None"


class _Pair(NamedTuple):
    """Two values to compare; ``pairing`` tells whether free variables below pair up."""

    a: Any
    b: Any
    path: _Path
    pairing: bool
    index_is_int64: bool = False  # a variable whose type may be INDEX on one side and INT64 on the other
    reason: str = ""  # why they differ, when that is known already


class _Comparison:
    """One comparison: a walk over pairs, which goes on behind a difference for as long as it is asked to.

    It keeps its own stack, since programs nest deeper than Python recurses, and takes a pair that it met
    before as equal, since the number of ways to a shared node may be exponential.
    """

    def __init__(self, auto_mapping: bool) -> None:
        self.auto_mapping = auto_mapping
        self.left_to_right: dict[int, object] = {}
        self.right_to_left: dict[int, object] = {}
        # The number of paired variables when a pair of nodes or tuple types was met. With pairing all
        # variables below stay paired, so it stays equal; without, free ones may have been paired since.
        self.met: dict[tuple[int, int, bool], int] = {}

    def compare(self, a: object, b: object) -> Difference | None:
        return next(self.differences(a, b), None)

    def differences(self, a: object, b: object) -> Iterator[Difference]:
        todo = [_Pair(a, b, None, self.auto_mapping)]
        told: set[tuple[int, int]] = set()  # pairs of variables
        while todo:
            pair = todo.pop()
            if isinstance(pair.a, (IRNode, TupleType)) and self._is_known(pair):
                continue
            found = self._parts(pair)
            if isinstance(found, Difference):
                if isinstance(pair.a, Var):
                    if (id(pair.a), id(pair.b)) in told:
                        continue
                    told.add((id(pair.a), id(pair.b)))
                yield found
                found = _aligned(pair)
            todo += reversed(found)

    def _is_known(self, pair: _Pair) -> bool:
        key, paired = (id(pair.a), id(pair.b)), len(self.left_to_right)
        if (*key, True) in self.met:
            return True
        if not pair.pairing and self.met.get((*key, False)) == paired:
            return True
        self.met[(*key, pair.pairing)] = paired
        return False

    def _parts(self, pair: _Pair) -> list[_Pair] | Difference:
        """What remains to be compared of a pair, in order; or how it differs."""
        a, b = pair.a, pair.b
        if pair.reason:
            return _differ(pair, pair.reason)
        if isinstance(a, Var) or isinstance(b, Var):
            return self._var_parts(pair)
        if a is b and not isinstance(a, (IRNode, Type)):
            return []
        if type(a) is not type(b):
            return _differ(pair, f"kinds differ: {type(a).__name__} and {type(b).__name__}")
        if isinstance(a, AttrMap):
            return _attr_parts(pair)
        if isinstance(a, Program):
            return _program_parts(pair)
        if isinstance(a, (IRNode, Type, TensorView, TileView)):
            return _field_parts(pair)
        if isinstance(a, tuple):
            return _sequence_parts(pair)
        return [] if a == b else _differ(pair, f"{a!r} and {b!r} differ")

    def _var_parts(self, pair: _Pair) -> list[_Pair] | Difference:
        a, b = pair.a, pair.b
        if type(a) is not type(b):
            return _differ(pair, f"kinds differ: {type(a).__name__} and {type(b).__name__}")
        known_left, known_right = self.left_to_right.get(id(a)), self.right_to_left.get(id(b))
        if known_left is not None or known_right is not None:
            if known_left is b and known_right is a:
                return []
            return _differ(pair, "the variables stand for different definitions")
        if not pair.pairing and not isinstance(a, (MemRef, WindowBuffer)):
            return [] if a is b else _differ(pair, "free variables are different objects")
        self.left_to_right[id(a)], self.right_to_left[id(b)] = b, a
        parts = []
        for spec in fields_of(type(a)):
            left, right = getattr(a, spec.name), getattr(b, spec.name)
            if spec.role is FieldRole.IGNORED:
                continue
            if spec.name == "type" and pair.index_is_int64 and _both_index(left, right):
                continue
            parts.append(_Pair(left, right, (pair.path, f".{spec.name}"), pair.pairing))
        return parts


def _differ(pair: _Pair, reason: str) -> Difference:
    return Difference(_path_text(pair.path, 0), reason, pair.a, pair.b, _path_text(pair.path, 1))


def _path_text(path: _Path, side: int) -> str:
    steps = []
    while path is not None:
        path, step = path
        steps.append(step if isinstance(step, str) else step[side])
    return "".join(reversed(steps)).lstrip(".")


def _field_parts(pair: _Pair) -> list[_Pair]:
    a, b = pair.a, pair.b
    if isinstance(a, ConstFloat) and a is b:
        return []  # a NaN constant equals itself
    parts = []
    for spec in fields_of(type(a)):
        if is_skipped(a, spec):
            continue
        left, right = getattr(a, spec.name), getattr(b, spec.name)
        if spec.name == "type" and isinstance(a, ConstInt) and _both_index(left, right):
            continue
        pairing = pair.pairing or spec.role is FieldRole.DEFINITION
        is_loop_var = isinstance(a, ForStmt) and spec.name == "loop_var"
        step = "" if isinstance(a, SeqStmts) else f".{spec.name}"  # body[1] is its second statement
        reason = ""
        if isinstance(left, float) and left != right:
            reason = f"{left!r} and {right!r} differ"  # also where both are one NaN object
        parts.append(_Pair(left, right, (pair.path, step), pairing, is_loop_var, reason))
    return parts


def _sequence_parts(pair: _Pair) -> list[_Pair] | Difference:
    a, b = pair.a, pair.b
    if len(a) != len(b):
        return _differ(pair, f"lengths differ: {len(a)} and {len(b)}")
    items = enumerate(zip(a, b, strict=True))
    return [_Pair(left, right, (pair.path, f"[{i}]"), pair.pairing) for i, (left, right) in items]


def _aligned(pair: _Pair) -> list[_Pair]:
    """The pairs of two sequences of statements of different length, and the statements without a partner."""
    a, b = pair.a, pair.b
    if not (isinstance(a, tuple) and isinstance(b, tuple) and all(isinstance(s, Stmt) for s in (*a, *b))):
        return []
    parts: list[_Pair] = []
    for left, right in _partners(a, b, (_meaning, _kind)):
        if left is None and right is not None:
            path: _Path = (pair.path, f"[{right}]")
            parts.append(_Pair(None, b[right], path, pair.pairing, reason=_ONE_SIDED.format("right")))
        elif right is None and left is not None:
            path = (pair.path, f"[{left}]")
            parts.append(_Pair(a[left], None, path, pair.pairing, reason=_ONE_SIDED.format("left")))
        elif left is not None and right is not None:
            path = (pair.path, (f"[{left}]", f"[{right}]"))
            parts.append(_Pair(a[left], b[right], path, pair.pairing))
    return parts


def _partners(
    a: Sequence[Stmt], b: Sequence[Stmt], keys: Sequence[Callable[[Stmt], object]]
) -> Iterator[tuple[int | None, int | None]]:
    """Positions that belong together: of statements with one key, those between them by the next key."""
    key, *others = keys
    matcher = SequenceMatcher(None, [*map(key, a)], [*map(key, b)], autojunk=False)
    for tag, start, end, other, other_end in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(range(start, end), range(other, other_end), strict=True)
        elif others and tag == "replace":
            for left, right in _partners(a[start:end], b[other:other_end], others):
                yield None if left is None else start + left, None if right is None else other + right
        else:
            yield from ((at, None) for at in range(start, end))
            yield from ((None, at) for at in range(other, other_end))


def _meaning(stmt: Stmt) -> object:
    return Hasher(True).hash(stmt)


def _kind(stmt: Stmt) -> object:
    """What a statement is and which operation it does."""
    op = getattr(getattr(stmt, "value", None) or getattr(stmt, "expr", None), "op", None)
    return type(stmt), getattr(op, "name", None)


def _attr_parts(pair: _Pair) -> list[_Pair]:
    a, b = pair.a, pair.b
    parts = []
    for key in {**a, **b}:
        reason = ""
        if key not in a or key not in b:
            reason = "present on one side only"
        elif a.kinds[key] is not b.kinds[key]:
            reason = f"stored as {a.kinds[key].value} and as {b.kinds[key].value}"
        path = (pair.path, f"[{key!r}]")
        parts.append(_Pair(a.get(key), b.get(key), path, pair.pairing, reason=reason))
    return parts


def _program_parts(pair: _Pair) -> list[_Pair]:
    parts = []
    for key in sorted({name.name for name in (*pair.a.functions, *pair.b.functions)}):
        a, b = pair.a.get_function(key), pair.b.get_function(key)
        reason = "the function exists on one side only" if a is None or b is None else ""
        parts.append(_Pair(a, b, (pair.path, f"[{key!r}]"), pair.pairing, reason=reason))
    return parts


def _both_index(a: object, b: object) -> bool:
    """INDEX and INT64 are one type for loop variables and integer constants."""
    index = (DataType.INDEX, DataType.INT64)
    return isinstance(a, ScalarType) and isinstance(b, ScalarType) and a.dtype in index and b.dtype in index


def structural_hash(node: object, enable_auto_mapping: bool = False) -> int:
    """Hash that structurally equal nodes or types share.

    Without ``enable_auto_mapping`` free variables count by identity, so the value holds only within a
    process.
    """
    return Hasher(enable_auto_mapping).hash(node)


provide_equality(structural_equal, structural_hash)
