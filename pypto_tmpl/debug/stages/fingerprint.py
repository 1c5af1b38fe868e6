"""A digest of IR that tells, across processes, that two programs are structurally equal."""

from __future__ import annotations

import hashlib
from enum import Enum
from functools import cache
from typing import Any

from pypto_tmpl.ir import AttrMap, ConstInt, DataType, ForStmt, IRNode, Op, Program, Type, Var, fields_of
from pypto_tmpl.ir.base import FieldRole
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.types import ShapedType, TensorView, TileView

_WALKED = (IRNode, Type, TensorView, TileView)


def fingerprint(node: IRNode) -> bytes:
    """Equal only for nodes that are structurally equal once their free variables pair up.

    A part that is shared on one side and repeated on the other makes fingerprints differ, so unequal
    ones say nothing. The value does not depend on the process or its hash seed.
    """
    walk = _Walk()
    walk.run(node)
    return hashlib.sha256("\n".join(walk.tokens).encode("utf-8", "surrogatepass")).digest()


class _Walk:
    """Writes one token for each part, in order of the fields; what was met before is its number.

    It keeps its own stack, since programs nest deeper than Python recurses.
    """

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.numbers: dict[int, int] = {}

    def run(self, root: IRNode) -> None:
        """Write the tokens of a node and of all below it."""
        stack: list[Any] = [root]
        tokens = self.tokens
        while stack:
            part = stack.pop()
            kind = type(part)
            if kind is ConstInt:
                tokens.append(f"{part.value} {_scalar(part.type, True)}")
            elif kind is tuple:
                tokens.append(f"{len(part)} items")
                stack.extend(reversed(part))
            elif kind is ScalarType:
                tokens.append(_scalar(part, False))
            elif issubclass(kind, _WALKED):
                stack.extend(self._node_parts(part, kind))
            elif kind is AttrMap:
                keys = sorted(part)
                tokens.append(f"attributes {[(key, part.kinds[key].value) for key in keys]!r}")
                stack.extend([part[key] for key in reversed(keys)])
            else:
                tokens.append(f"{kind.__name__} {part.name if isinstance(part, Op | Enum) else repr(part)}")

    def _node_parts(self, node: Any, kind: type) -> list[Any]:
        """Add the token of a node, type or view; return its parts, the first one last."""
        if issubclass(kind, IRNode):
            if id(node) in self.numbers:
                self.tokens.append(f"node {self.numbers[id(node)]}")
                return []
            self.numbers[id(node)] = len(self.numbers)
        self.tokens.append(kind.__name__)
        if kind is Program:
            self.tokens += [name.name for name in node.functions]
            return list(reversed(node.functions.values()))
        names = _compared_fields(kind)
        if kind is ForStmt:
            self._loop_var(node.loop_var)
            names = tuple(name for name in names if name != "loop_var")
        return [getattr(node, name) for name in names]

    def _loop_var(self, var: Var) -> None:
        """A loop variable of INT64 is one of INDEX; its uses only tell its number."""
        self.numbers[id(var)] = len(self.numbers)
        self.tokens.append(f"loop variable {_scalar(var.type, True)}")


def _scalar(type_: Type, int64_is_index: bool) -> str:
    """The token of a scalar type; INDEX and INT64 are one type for constants and loop variables."""
    if isinstance(type_, ScalarType):
        dtype = DataType.INDEX if int64_is_index and type_.dtype == DataType.INT64 else type_.dtype
        return f"{dtype.name} {dtype.code()}"
    return repr(type_)


@cache
def _compared_fields(kind: type) -> tuple[str, ...]:
    """The fields that structural comparison looks at, the first one last."""
    skipped = "memref" if issubclass(kind, ShapedType) else ""
    specs = reversed(fields_of(kind))
    return tuple(s.name for s in specs if s.role is not FieldRole.IGNORED and s.name != skipped)
