"""Types of a body's values, as far as they can be told before the generated text is parsed."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.ir.arithmetic import constant_difference
from pypto_tmpl.language.annotations import DynVar
from pypto_tmpl.language.jit.bindings import Bindings, Constant, Local
from pypto_tmpl.language.jit.metadata import Extent, Info, OtherInfo, ScalarInfo, TensorInfo, TupleInfo
from pypto_tmpl.ops.calls import CallContext, build_call

_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)
_INDEX_OPERATIONS: Mapping[type[ast.operator], type[ir.BinaryExpr]] = MappingProxyType(
    {ast.Add: ir.Add, ast.Sub: ir.Sub, ast.Mult: ir.Mul, ast.FloorDiv: ir.FloorDiv, ast.Mod: ir.FloorMod}
)
_INDEX = ir.ScalarType(ir.DataType.INDEX)
_TASKS = frozenset({"task_dummy", "task_invalid"})
_NOWHERE = ir.Span.unknown()


class Names(Protocol):
    """What the inference asks the rewriter for."""

    bindings: Bindings

    def outside(self, node: ast.expr) -> Any:
        """The Python value of a name or attribute chain; MISSING where it has none."""

    def language_call(self, node: ast.Call) -> tuple[str, ...] | None:
        """``("pl", "tensor", "slice")`` for a call of ``pl.tensor.slice``; None for any other call."""

    def callee_result(self, node: ast.Call) -> Info:
        """What a call of a JIT function gives; None for a call of anything else."""


class _UnknownError(Exception):
    """The type of an operand is not known."""


class LocalInfo:
    """Answers for expressions of one body, in the names as they stand."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._dimensions: dict[str, ir.Var] = {}

    def extent(self, node: ast.expr | None) -> Extent:
        """The value of an integer expression: a number, a dynamic dimension, or None."""
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.Name() | ast.Attribute():
                known = self._value(node)
                if isinstance(known, DynVar):
                    return known.name
                return known if isinstance(known, int) and not isinstance(known, bool) else None
            case ast.UnaryOp() | ast.BinOp():
                computed = self._number(node)
                return computed if isinstance(computed, int) else None
            case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape"), slice=index):
                return self._dimension(tensor, index)
            case ast.Call(args=[tensor, axis]) if self._names.language_call(node) == ("pl", "tensor", "dim"):
                return self._dimension(tensor, axis)
        return None

    def _number(self, node: ast.expr) -> int | float | None:
        """The number that an expression comes to; None where it is not known."""
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                negated = self._number(operand)
                return None if negated is None else -negated
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                one, other = self._number(left), self._number(right)
                if one is None or other is None:
                    return None
                try:
                    found: int | float = _ARITHMETIC[type(op)](one, other)
                except ArithmeticError:
                    return None
                return found
            case ast.Name() | ast.Attribute():
                known = self._value(node)
                return known if isinstance(known, int | float) and not isinstance(known, bool) else None
        extent = self.extent(node) if isinstance(node, ast.Subscript | ast.Call) else None
        return extent if isinstance(extent, int) else None

    def _value(self, node: ast.Name | ast.Attribute) -> Any:
        """The Python value that a name or attribute chain stands for, or what is known of a variable's."""
        found = self._names.bindings.find(node.id) if isinstance(node, ast.Name) else None
        match found:
            case Local(extent=str() as name):
                return DynVar(name)
            case Local(extent=extent):
                return extent
            case Constant(value=value):
                return value
        return self._names.outside(node)

    def _dimension(self, tensor: ast.expr, index: ast.expr) -> Extent:
        info, position = self.info(tensor), self.extent(index)
        if not isinstance(info, TensorInfo) or not isinstance(position, int):
            return None
        return info.shape[position] if -len(info.shape) <= position < len(info.shape) else None

    def info(self, node: ast.expr | None) -> Info:
        """What is known of the value of an expression."""
        match node:
            case ast.Name(id=name):
                found = self._names.bindings.find(name)
                return found.info if isinstance(found, Local) else None
            case ast.Tuple(elts=elements):
                return TupleInfo(tuple(self.info(element) for element in elements))
            case ast.Subscript(value=base, slice=index):
                return self._subscript(self.info(base), index)
            case ast.Call():
                result = self._names.callee_result(node)
                return result if result is not None else self._call(node)
            case ast.UnaryOp(operand=operand):
                return self._scalar(self.info(operand))
            case ast.BinOp(left=left, right=right):
                return self._scalar(self.info(left)) or self._scalar(self.info(right))
        return None

    @staticmethod
    def _scalar(info: Info) -> ScalarInfo | None:
        return info if isinstance(info, ScalarInfo) else None

    def _subscript(self, base: Info, index: ast.expr) -> Info:
        if isinstance(base, TupleInfo):
            position = self.extent(index)
            if isinstance(position, int) and -len(base.items) <= position < len(base.items):
                return base.items[position]
        if not isinstance(base, TensorInfo):
            return None
        parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
        if len(parts) > len(base.shape):
            return None
        parts += [ast.Slice()] * (len(base.shape) - len(parts))
        pairs = zip(parts, base.shape, strict=True)
        kept = tuple(self._width(part, whole) for part, whole in pairs if isinstance(part, ast.Slice))
        return TensorInfo(kept, base.dtype) if kept else ScalarInfo(base.dtype)

    def _width(self, part: ast.Slice, whole: Extent) -> Extent:
        """The extent that a slice leaves of an axis."""
        match part.lower, part.upper:
            case lower, ast.BinOp(left=left, op=ast.Add(), right=right) if lower is not None:
                if ast.dump(left) == ast.dump(lower):  # [r : r + width]
                    return self.extent(right)
                if ast.dump(right) == ast.dump(lower):
                    return self.extent(left)
        begin = 0 if part.lower is None else self.extent(part.lower)
        end = whole if part.upper is None else self.extent(part.upper)
        if isinstance(begin, int) and isinstance(end, int):
            return end - begin
        if begin == 0 or part.lower is None or part.upper is None:
            return end if begin == 0 else None
        atoms: dict[str, ir.Var] = {}
        return constant_difference(self._symbolic(part.upper, atoms), self._symbolic(part.lower, atoms))

    def _symbolic(self, node: ast.expr, atoms: dict[str, ir.Var]) -> ir.Expr:
        """An index as arithmetic on what is not known; parts of equal text are one of the ``atoms``."""
        value = self.extent(node)
        if isinstance(value, int):
            return _expression(value)
        if isinstance(node, ast.BinOp) and (operation := _INDEX_OPERATIONS.get(type(node.op))):
            left, right = self._symbolic(node.left, atoms), self._symbolic(node.right, atoms)
            return operation(left, right, ir.DataType.INDEX, _NOWHERE)
        return atoms.setdefault(ast.dump(node), ir.Var("part", _INDEX, _NOWHERE))

    def _call(self, node: ast.Call) -> Info:
        """The type of an op call, as the op itself gives it for operands of these types."""
        path = self._names.language_call(node)
        if path is None:
            return None
        if path[-1] == "no_dep" and len(node.args) == 1:
            return self.info(node.args[0])
        if path[-1] in _TASKS:
            return ScalarInfo(ir.DataType.TASK_ID)
        try:
            args = [self._operand(arg) for arg in node.args]
            kwargs = {keyword.arg or "": self._operand(keyword.value) for keyword in node.keywords}
            made = build_call(path, args, kwargs, CallContext(_NOWHERE, target="local"))
        except (_UnknownError, TypeError, ValueError):
            return None  # where the call is wrong, parsing the text tells
        return self._info_of(made.type)

    def _operand(self, node: ast.expr, in_list: bool = False) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self._operand(element, in_list=True) for element in elements]
            case ast.Attribute(value=tensor, attr="dtype" | "shape" as name):
                info = self.info(tensor)
                if isinstance(info, TensorInfo):
                    return info.dtype if name == "dtype" else [self._index(e) for e in info.shape]
        extent = self.extent(node)
        if extent is not None:
            return self._index(extent)
        if (info := self.info(node)) is not None:
            return ir.Var("operand", self._type_of(info), _NOWHERE)
        if isinstance(node, ast.Name | ast.Attribute):
            value = self._value(node)
            if isinstance(value, bool | float | ir.DataType | Enum | str | list | tuple):
                return value
        if (number := self._number(node)) is not None:
            return number
        if in_list:
            return ir.Var("index", _INDEX, _NOWHERE)  # an offset or extent of which only the kind is known
        raise _UnknownError

    def _index(self, extent: Extent) -> int | ir.Expr:
        if isinstance(extent, int):
            return extent
        if extent is None:
            return ir.Var("index", _INDEX, _NOWHERE)
        return self._dimensions.setdefault(extent, ir.Var(extent, _INDEX, _NOWHERE))

    def _type_of(self, info: Info) -> ir.Type:
        match info:
            case TensorInfo(shape=shape, dtype=dtype, is_distributed=is_distributed):
                build = ir.DistributedTensorType if is_distributed else ir.TensorType
                return build([_expression(self._index(extent)) for extent in shape], dtype)
            case ScalarInfo(dtype=dtype):
                return ir.ScalarType(dtype)
            case OtherInfo(type=type_):
                return type_
        raise _UnknownError

    def _info_of(self, type_: ir.Type) -> Info:
        match type_:
            case ir.TensorType():
                is_distributed = isinstance(type_, ir.DistributedTensorType)
                shape = tuple(self._extent_of(dim) for dim in type_.shape)
                return TensorInfo(shape, type_.dtype, None, is_distributed)
            case ir.ScalarType():
                return ScalarInfo(type_.dtype)
            case ir.TupleType(types=types):
                return TupleInfo(tuple(self._info_of(item) for item in types))
            case ir.UnknownType():
                return None
        return OtherInfo(type_)

    def _extent_of(self, dim: ir.Expr) -> Extent:
        if isinstance(dim, ir.ConstInt):
            return dim.value
        if isinstance(dim, ir.Var) and self._dimensions.get(dim.name_hint) is dim:
            return dim.name_hint
        return None


def _expression(value: int | ir.Expr) -> ir.Expr:
    return ir.ConstInt(value, ir.DataType.INDEX, _NOWHERE) if isinstance(value, int) else value
