"""Where padding, or what nobody has written, may reach valid cells: the ops that poison has to look at.

Most ops cannot let it: their operands are wholly valid, or an elementwise op's operands have its own region,
or the op's macro asks for the operand's region and heeds it. The others get a check behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pypto_tmpl import ir
from pypto_tmpl.codegen.facts import BodyFacts
from pypto_tmpl.codegen.operands import Operand
from pypto_tmpl.ops import OpEntry, OpTable


@dataclass(frozen=True, slots=True)
class Suspect:
    """An operand from which poison may reach valid cells of a result."""

    text: str
    region: str | None  # text of its valid extents, None for a buffer that nobody has written
    mixes: bool  # whether a cell of the result may come from cells at other places


def fresh_variables(facts: BodyFacts, table: OpTable) -> set[int]:
    """Identities of the variables that hold, in a loop's first round at least, what nobody has written.

    A buffer that is written or handed on may be written in part; what is read of it is nobody's guess.
    """
    fresh: set[int] = set()
    creates = table.with_trait("allocates") - table.with_trait("staging")
    if creates.isdisjoint(facts.op_names):
        return fresh
    for target, value in facts.flows:
        is_new = isinstance(value, ir.Call) and value.op.name in creates and "init_value" not in value.kwargs
        if is_new or (isinstance(target, ir.IterArg) and value is target.initValue and id(value) in fresh):
            fresh.add(id(target))
        elif not isinstance(target, ir.IterArg):
            fresh.discard(id(target))  # a variable of several values
    for launch in facts.launches if fresh else ():
        if isinstance(launch.op, ir.GlobalVar):
            fresh -= set(map(id, launch.args))
        elif (entry := table.get(launch.op.name)) is not None and "accumulates" not in entry.traits:
            written = zip(entry.operand_names, launch.args, strict=False)
            fresh -= {id(arg) for name, arg in written if name in entry.writes}
    return fresh


def suspects(
    entry: OpEntry,
    args: Sequence[ir.Expr],
    operands: Sequence[Operand],
    result: Operand,
    is_fresh: Callable[[ir.Expr], bool],
    is_partial: Callable[[ir.Expr], bool],
) -> Iterator[Suspect]:
    """The operands of a call, as its macro has left them, that need a check."""
    is_cell_by_cell = "cellwise" in entry.traits
    overwrites = len(args) == len(entry.operands) and entry.operand_names[-1:] == ("init_cond",)
    for spec, arg, operand in zip(entry.operands, args, operands, strict=False):
        is_read = not spec.scratch and (spec.name not in entry.writes or "accumulates" in entry.traits)
        if not is_read or operand.dtype_class not in ("fp32", "narrow_float"):
            continue
        is_empty = is_fresh(arg) and not overwrites
        is_padded = not is_fresh(arg) and is_partial(arg) and not operand.region_was_read()
        if not (is_empty or is_padded) or "0" in _extents(result):
            continue
        if is_empty or not (is_cell_by_cell and _covers(operand, result)):
            yield Suspect(operand.name, None if is_empty else operand.valid, not is_cell_by_cell)


def _extents(operand: Operand) -> list[str]:
    """Texts of the valid extents, those of the box where all of it is valid."""
    return operand.valid_items or operand.shape or []


def _covers(operand: Operand, result: Operand) -> bool:
    """Whether the operand is valid wherever the result is, extents of 1 being repeated."""
    shape, extents, wanted = operand.shape or [], _extents(operand), _extents(result)
    if len(shape) > len(wanted):
        return False
    pairs = zip(shape, extents, wanted[len(wanted) - len(shape) :], strict=True)
    return all(box == "1" or have == want for box, have, want in pairs)
