"""Which functions of a program compute on so much at once that several threads pay.

Torch shares out even small operations, and to wake threads for one costs many times what it takes: kernels on
tiles are fastest on one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pypto_tmpl import ir
from pypto_tmpl.codegen.script import generator
from pypto_tmpl.ops.model import OpEntry

ELEMENTS = 1 << 20  # of the largest tensor of an op
MULTIPLICATIONS = 1 << 26  # M * N * K of a matrix product
_LEAVES = (ir.Var, ir.ConstInt, ir.ConstFloat, ir.ConstBool)  # no op stands in the type of one


def has_large_ops(body: ir.Stmt) -> bool:
    """Whether the ops of a function are all large, or its small ones in no loop."""
    sizes = list(_ops(body))
    return any(is_large for is_large, _ in sizes) and all(is_large or not loops for is_large, loops in sizes)


def _ops(body: ir.Stmt) -> Iterator[tuple[bool, bool]]:
    """Whether each op that computes is large, and whether it stands in a loop."""
    table, seen = generator().table, set()
    stack: list[tuple[ir.IRNode, bool]] = [(body, False)]
    while stack:
        node, in_loop = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, ir.Call) and not isinstance(node.op, ir.GlobalVar):
            entry = table.get(node.op.name)
            if entry is not None and "no_arithmetic" not in entry.traits:
                yield _is_large(entry, node), in_loop
        if isinstance(node, _LEAVES):
            continue
        in_loop = in_loop or isinstance(node, ir.ForStmt | ir.WhileStmt | ir.SpmdScopeStmt)
        stack += [(child, in_loop) for child in ir.children(node) if isinstance(child, ir.Stmt | ir.Expr)]


def _is_large(entry: OpEntry, call: ir.Call) -> bool:
    if "product" not in entry.traits:
        return max(_elements(part.type) for part in (call, *call.args)) >= ELEMENTS
    operands = zip(entry.operands, call.args, strict=False)
    factors = [_elements(arg.type) for operand, arg in operands if operand.name in ("lhs", "rhs")]
    # M * N, M * K and K * N: the root of their product is M * N * K.
    return prod([_elements(call.type), *factors]) >= MULTIPLICATIONS**2


def _elements(type_: ir.Type) -> int:
    """Elements of a tensor or tile; extents that are not known count as 1."""
    if not isinstance(type_, ir.ShapedType):
        return 0
    return prod(dim.value if isinstance(dim, ir.ConstInt) else 1 for dim in type_.shape)
