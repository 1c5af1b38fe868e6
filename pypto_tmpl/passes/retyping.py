"""Calls of ops on other operands, which may give another type."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir, ops
from pypto_tmpl.ops.typing import InferenceError, MissingRuleError, infer_type
from pypto_tmpl.passes.base import PassError


def with_operands(
    call: ir.Call, operands: Sequence[ir.Expr], function: ir.Function, stmt: ir.Stmt
) -> ir.Call:
    """The call of a statement on these operands, of the type that the op gives for them.

    The type stays as it is where the op's rules do not tell it. Raises PassError where the op does not take
    the operands.
    """
    entry = ops.load_table().get(call.op.name)
    type_ = call.type
    if entry is not None:
        try:
            type_ = infer_type(entry, operands, call.kwargs)
        except MissingRuleError:
            pass
        except InferenceError as error:
            raise PassError(f"{call.op.name}: {error}", function, call, stmt) from None
    return ir.Call(call.op, operands, call.kwargs, call.attrs, type_, call.span)
