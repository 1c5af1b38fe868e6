"""On which operands the result of an op may not lie."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.op_facts import ALL, NARROWER


def operands_apart(call: ir.Call, backend: str) -> Sequence[ir.Expr]:
    """The operands whose memory the result may not have, on a backend; for "" on any."""
    entry = None if isinstance(call.op, ir.GlobalVar) else load_table().get(call.op.name)
    if entry is None:
        return ()
    by_backend = load_table().facts(call.op.name).disjoint
    words = {
        word for name, said in by_backend.items() if name in ("", backend) or not backend for word in said
    }
    if ALL in words:
        return call.args
    found = [arg for name, arg in zip(entry.operand_names, call.args, strict=False) if name in words]
    if NARROWER in words:
        found += [arg for arg in call.args if _is_narrower(arg.type, call.type)]
    return found


def _is_narrower(one: ir.Type, two: ir.Type) -> bool:
    return (
        isinstance(one, ir.TileType)
        and isinstance(two, ir.TileType)
        and one.dtype.get_bit() < two.dtype.get_bit()
    )
