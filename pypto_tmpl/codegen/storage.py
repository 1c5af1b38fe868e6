"""Which names of tiles may stand for one storage that some op writes."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts, value_flows
from pypto_tmpl.ops import OpEntry, OpTable
from pypto_tmpl.ops.rules import resolve_result

_SAME_STORAGE = "first_tile"  # the memory rule of ops whose result is, or may be a view of, an operand


def written_operand(entry: OpEntry, call: ir.Call) -> ir.Expr | None:
    """The first operand that an op writes, which is its result as well; None for an op that writes none."""
    for name in entry.writes:
        position = entry.operand_names.index(name)
        if position < len(call.args):
            return call.args[position]
    return None


def written_tiles(function: ir.Function, facts: BodyFacts, table: OpTable) -> set[int]:
    """Identities of the tiles that an op of ``function`` may write in place, under whatever name."""
    written: set[int] = set()
    for call in facts.calls:
        entry = table.get(call.op.name)
        target = written_operand(entry, call) if entry is not None and entry.writes else None
        if target is not None and isinstance(target.type, ir.TileType):
            written.add(id(target))
    if not written:
        return written
    sources: dict[int, list[ir.Expr]] = {}
    for target, value in value_flows(function.body):
        if isinstance(value, ir.Call):
            sources.setdefault(id(target), []).extend(_shared_operand(value, table))
        else:
            sources.setdefault(id(target), []).append(value)
    pending = list(written)
    while pending:
        for source in sources.get(pending.pop(), ()):
            if id(source) not in written:
                written.add(id(source))
                pending.append(id(source))
    return written


def _shared_operand(call: ir.Call, table: OpTable) -> list[ir.Expr]:
    """The operand that may share its storage with the result, if there is one."""
    entry = table.get(call.op.name)
    if entry is None:
        return []
    if entry.returns is not None:
        return [
            arg for name, arg in zip(entry.operand_names, call.args, strict=False) if name == entry.returns
        ]
    if resolve_result(entry).memory != _SAME_STORAGE:
        return []
    return [arg for arg in call.args if isinstance(arg.type, ir.TileType)][:1]
