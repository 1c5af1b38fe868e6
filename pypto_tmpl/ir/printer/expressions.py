"""Text of scalar expressions, tuples and variables."""

from __future__ import annotations

from typing import Any, NamedTuple

from pypto_tmpl.ir import scalar_ops as ops
from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.buffers import MemRef, WindowBuffer
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.expr import Call, MakeTuple, Submit, TupleGetItemExpr
from pypto_tmpl.ir.leaves import ConstBool, ConstFloat, ConstInt, IterArg, Var
from pypto_tmpl.ir.printer.pieces import (
    Mention,
    Piece,
    Pieces,
    PrintError,
    Role,
    bracketed,
    float_text,
    joined,
)
from pypto_tmpl.ir.printer.spellings import (
    ATOM,
    CALL,
    COMPARISON,
    INFIX,
    MIN_MAX,
    POWER,
    PRECEDENCE,
    PREFIX,
    UNARY,
)

_METHODS: dict[type, str] = {
    Var: "_var",
    IterArg: "_var",
    MemRef: "memref",
    WindowBuffer: "_window_buffer",
    ConstInt: "_const_int",
    ConstFloat: "_const_float",
    ConstBool: "_const_bool",
    Call: "call",
    Submit: "submit",
    MakeTuple: "_make_tuple",
    TupleGetItemExpr: "_tuple_item",
    ops.Abs: "_abs",
    ops.Cast: "_cast",
    **dict.fromkeys(INFIX, "_infix"),
    **dict.fromkeys(PREFIX, "_prefix_operator"),
    **dict.fromkeys(MIN_MAX, "_min_max"),
}


class Place(NamedTuple):
    """Where an expression stands: ``typed`` constants say their dtype; ``extent`` is inside a type."""

    typed: bool = False
    extent: bool = False


BODY = Place()
VIEW = Place(extent=True)
SHAPE = Place(typed=True, extent=True)
TYPED = Place(typed=True)


class ExpressionPrinter:
    """Base of the printer: its settings, and expressions other than calls."""

    def __init__(self, prefix: str, concise: bool, explicit_layout: bool, in_program: bool) -> None:
        self.prefix = prefix
        self.concise = concise
        self.explicit_layout = explicit_layout
        self.in_program = in_program
        self.defined: dict[int, Var] = {}  # variables that the text so far binds
        self.in_signature = False
        self._all_constant: dict[int, bool] = {}

    def expr(self, node: Expr, place: Place = BODY) -> Piece:
        """Text of an expression; PrintError for a class that has none."""
        method = _METHODS.get(type(node))
        if method is None:
            raise PrintError(f"no text for an expression of class {type(node).__name__}")
        if id(node) in self.defined:
            return self._var(node, place)  # also a MemRef or WindowBuffer, once it has a name of its own
        piece: Piece = getattr(self, method)(node, place)
        return piece

    def memref(self, node: MemRef, place: Place) -> Piece:
        raise NotImplementedError

    def call(self, node: Call, place: Place) -> Piece:
        raise NotImplementedError

    def submit(self, node: Submit, place: Place) -> Piece:
        raise NotImplementedError

    def dtype(self, dtype: DataType) -> str:
        """Constant of a dtype; PrintError for a code that no constant names."""
        if not hasattr(DataType, dtype.name):
            raise PrintError(f"no text for the dtype of code {dtype.code():#04x}: no constant names it")
        return f"{self.prefix}.{dtype.name}"

    def _var(self, node: Any, place: Place) -> Piece:
        role = Role.SIGNATURE if self.in_signature else Role.EXTENT
        return Mention(node, role) if place.extent else node

    def _window_buffer(self, node: WindowBuffer, place: Place) -> Piece:
        return self._var(node.base, place)

    def _const_int(self, node: ConstInt, place: Place) -> Piece:
        if node.dtype == DataType.INDEX and not place.typed:
            return str(node.value)
        return f"{self.prefix}.const({node.value}, {self.dtype(node.dtype)})"

    def _const_float(self, node: ConstFloat, place: Place) -> Piece:
        if node.dtype == DataType.FP32 and not place.typed:
            return float_text(node.value)
        return f"{self.prefix}.const({float_text(node.value)}, {self.dtype(node.dtype)})"

    def _const_bool(self, node: ConstBool, place: Place) -> Piece:
        return f"{self.prefix}.const({node.value}, {self.prefix}.BOOL)" if place.typed else str(node.value)

    def _make_tuple(self, node: MakeTuple, place: Place) -> Pieces:
        return bracketed(self.expr(element, place) for element in node.elements)

    def _tuple_item(self, node: TupleGetItemExpr, place: Place) -> Pieces:
        yield self._operand(node.tuple, place, CALL)
        yield f"[{node.index}]"

    def _infix(self, node: ops.BinaryExpr, place: Place) -> Pieces:
        symbol, level = INFIX[type(node)]
        place = self._operand_place(node, place)
        # A comparison on the left of a comparison would read as a chain, `**` groups to the right.
        left_needs = level + 1 if level in (COMPARISON, POWER) else level
        yield self._operand(node.left, place, left_needs)
        yield f" {symbol} "
        yield self._operand(node.right, place, level if level == POWER else level + 1)

    def _prefix_operator(self, node: ops.UnaryExpr, place: Place) -> Pieces:
        symbol, level = PREFIX[type(node)]
        yield symbol
        yield self._operand(node.operand, self._operand_place(node, place), level)

    def _min_max(self, node: ops.BinaryExpr, place: Place) -> Pieces:
        place = self._operand_place(node, place)
        yield f"{self.prefix}.{MIN_MAX[type(node)]}("
        yield joined((self.expr(node.left, place), self.expr(node.right, place)))
        yield ")"

    def _abs(self, node: ops.Abs, place: Place) -> Pieces:
        yield "abs("
        yield self.expr(node.operand, self._operand_place(node, place))
        yield ")"

    def _cast(self, node: ops.Cast, place: Place) -> Pieces:
        yield f"{self.prefix}.cast("
        yield self.expr(node.operand, place)
        yield f", {self.dtype(node.type.dtype)})"  # type: ignore[attr-defined]

    def _operand(self, node: Expr, place: Place, needed: int) -> Piece:
        piece = self.expr(node, place)
        if self._precedence(node, piece) >= needed:
            return piece
        return _parenthesised(piece)

    def _precedence(self, node: Expr, piece: Piece) -> int:
        if isinstance(piece, str):
            return UNARY if piece.startswith("-") else ATOM
        return PRECEDENCE.get(type(node), ATOM)

    def _operand_place(self, node: Expr, place: Place) -> Place:
        """Constants of an operator tree without variables are typed: the reader would fold it otherwise."""
        if place.typed or not self._is_constant_tree(node):
            return place
        return place._replace(typed=True)

    def _is_constant_tree(self, root: Expr) -> bool:
        known = self._all_constant
        stack: list[Any] = [root]
        while stack:
            node = stack[-1]
            if id(node) in known:
                stack.pop()
                continue
            operands = _operands(node)
            pending = [operand for operand in operands if id(operand) not in known]
            if pending:
                stack += pending
                continue
            stack.pop()
            known[id(node)] = is_constant(node) or (
                bool(operands) and all(known[id(operand)] for operand in operands)
            )
        return known[id(root)]


def is_constant(node: Expr) -> bool:
    """True for a constant of any kind."""
    return isinstance(node, (ConstInt, ConstFloat, ConstBool))


def _operands(node: Expr) -> tuple[Expr, ...]:
    if isinstance(node, ops.BinaryExpr):
        return node.left, node.right
    return (node.operand,) if isinstance(node, ops.UnaryExpr) else ()


def _parenthesised(piece: Piece) -> Pieces:
    yield "("
    yield piece
    yield ")"
