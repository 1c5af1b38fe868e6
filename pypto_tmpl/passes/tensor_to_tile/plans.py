"""What the op table says a call of a tensor op becomes, and which of its operands have to be tiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.extents import constant_extent
from pypto_tmpl.ops import facts, load_table
from pypto_tmpl.ops.fact_model import LoweringSpec, ScratchSpec

_TILE_OPERANDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    dict.fromkeys(("divide", "select_ones", "subtract_turned"), ("lhs", "rhs"))
    | {"matches": ("input",), "merge": ("src0", "src1", "src2", "src3")}
)
"""The operands that rules take as tiles; other rules load what they need where they need it."""


@dataclass(frozen=True, slots=True)
class Slot:
    """An operand of the tile op: an operand of the tensor op, or a workspace."""

    name: str
    takes_tile: bool
    source: int | ScratchSpec


@dataclass(frozen=True, slots=True)
class Plan:
    """The lowering of a call that counts, with the operands of its tile op; a rule has none of these."""

    spec: LoweringSpec
    slots: tuple[Slot, ...] = ()

    def keywords(self, call: ir.Call) -> dict[str, object]:
        """The keywords of the tile op."""
        kept = {key: value for key, value in call.kwargs.items() if key not in self.spec.drops}
        return kept | self.spec.adds


def plan_of(value: ir.Expr | None) -> Plan | None:
    """What a value becomes; None where it is no call of an op on tensors that has a tile op."""
    if not isinstance(value, ir.Call) or isinstance(value.op, ir.GlobalVar):
        return None
    spec = next((spec for spec in facts.of(value.op).lowerings if _holds(spec, value)), None)
    if spec is None:
        return None
    return Plan(spec) if spec.to is None else Plan(spec, tuple(_slots(spec, value)))


def operand_names(call: ir.Call) -> tuple[str, ...]:
    """What the table calls the operands of an op."""
    return tuple(load_table()[call.op.name].operand_names)


def operand_index(call: ir.Call, name: str) -> int:
    """The place of the operand that the table calls ``name``."""
    return operand_names(call).index(name)


def tile_operands(call: ir.Call) -> list[ir.Expr]:
    """The operands of a tensor op that its tile op takes as tiles."""
    plan = plan_of(call)
    if plan is None:
        return []
    places = [slot.source for slot in plan.slots if slot.takes_tile and isinstance(slot.source, int)]
    if plan.spec.rule is not None:
        named = [operand_index(call, name) for name in _TILE_OPERANDS.get(plan.spec.rule, ())]
        places = [place for place in named if place < len(call.args)]
    return [call.args[place] for place in places if isinstance(call.args[place].type, ir.ShapedType)]


def _slots(spec: LoweringSpec, call: ir.Call) -> list[Slot]:
    assert spec.to is not None
    entry = load_table()[spec.to]
    own = load_table()[call.op.name].operand_names
    order = [name for name in spec.operands or own if name not in spec.scratch]
    sources: list[int] = [place for place in map(own.index, order) if place < len(call.args)]
    found: list[Slot] = []
    for operand in entry.operands:
        takes_tile = "tile" in operand.kinds and "tensor" not in operand.kinds
        if operand.name in spec.scratch:
            found.append(Slot(operand.name, takes_tile, spec.scratch[operand.name]))
        elif sources:
            found.append(Slot(operand.name, takes_tile, sources.pop(0)))
    return found


def _holds(spec: LoweringSpec, call: ir.Call) -> bool:
    return all(_condition(text, call) for text in spec.when)


def _condition(text: str, call: ir.Call) -> bool:
    word, _, rest = text.rstrip(")").partition("(")
    names = [name.strip() for name in rest.split(",")]
    if word == "given":
        spec = next(spec for spec in load_table()[call.op.name].kwargs if spec.name == names[0])
        return bool(call.kwargs.get(names[0], spec.default) != spec.default)
    operands = [call.args[operand_index(call, name)] for name in names]
    if word == "scalar":
        return not isinstance(operands[0].type, ir.ShapedType)
    return is_column_of(*operands)


def is_column_of(narrow: ir.Expr, wide: ir.Expr) -> bool:
    """Whether one is [M, 1] and the other [M, N]."""
    if not isinstance(narrow.type, ir.ShapedType) or not isinstance(wide.type, ir.ShapedType):
        return False
    shapes = narrow.type.shape, wide.type.shape
    if not len(shapes[0]) == len(shapes[1]) > 1:
        return False
    return constant_extent(shapes[0][-1]) == 1 and constant_extent(shapes[1][-1]) != 1
