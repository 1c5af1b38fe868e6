"""The facts of ops by name, from the table in use; whoever holds a table asks that (``OpTable.facts``)."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.ops.fact_model import Trait
from pypto_tmpl.ops.loader import load_table
from pypto_tmpl.ops.op_facts import NO_FACTS, OpFacts


def of(op: str | ir.Op) -> OpFacts:
    """The facts of an op; none of a function, or where the table has no op of that name."""
    if isinstance(op, ir.GlobalVar):
        return NO_FACTS
    return load_table().facts(op if isinstance(op, str) else op.name)


def of_value(value: ir.Expr | None) -> OpFacts:
    """The facts of the op that a value is a call of; none where it is no such call."""
    if not isinstance(value, ir.Call) or isinstance(value.op, ir.GlobalVar):
        return NO_FACTS
    return load_table().facts(value.op.name)


def short_names(*traits: Trait) -> frozenset[str]:
    """The names without namespace of the ops that have one of the traits."""
    return frozenset(name.rpartition(".")[2] for trait in traits for name in named(trait))


def named(trait: Trait) -> frozenset[str]:
    """The names of the ops that have a trait."""
    return load_table().with_trait(trait)
