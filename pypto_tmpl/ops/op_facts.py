"""The facts of one op as code asks for them: operands by position, words as sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pypto_tmpl.ir.enums import MemorySpace
from pypto_tmpl.ops.effects import EffectRule, parse_effect
from pypto_tmpl.ops.fact_model import CoreRule, LoweringSpec, PipeEnd, PipeTarget, Trait
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.typing.words import resolve_result

ALL, NARROWER = "all", "narrower"
"""What ``disjoint_from`` may say besides operands."""


@dataclass(frozen=True, slots=True)
class OpFacts:
    """What an op does to memory, on which core, and what else it is; the keys of the op table by position."""

    traits: frozenset[Trait] = frozenset()
    core: CoreRule | None = None  # None: of a name that the table does not have
    pipe_end: PipeEnd | None = None
    pipe_to: PipeTarget | None = None
    written: tuple[int, ...] = ()
    returned: int | None = None  # the operand that the result is
    view_of: int | None = None  # the operand whose storage it shows
    disjoint: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by backend; "" is any
    effects: Mapping[int, EffectRule] = field(default_factory=dict)
    declares_effects: bool = False
    operand_memory: tuple[tuple[MemorySpace, ...], ...] = ()  # the preferred space first; empty: any
    result_memory: str | None = None  # a rule, in the words of the table
    row_major: bool = False
    lowerings: tuple[LoweringSpec, ...] = ()
    copies_window: bool = False  # of its first operand, in kernels at least
    may_show_operand: bool = False  # cells of the first one, be it only in some scripts

    def has(self, trait: Trait) -> bool:
        """Whether the op has the trait."""
        return trait in self.traits

    @property
    def is_transfer(self) -> bool:
        """Whether it pushes to a pipe or pops from one."""
        return self.pipe_end in ("push", "pop")

    def is_push_to(self, core: PipeTarget | None) -> bool:
        """Whether it pushes to the pipe that leads to a core."""
        return self.pipe_end == "push" and self.pipe_to == core

    def shows(self, *, in_kernel: bool) -> bool:
        """Whether the result shows the storage of its first operand, in a kernel or in orchestration."""
        if "copied_in_kernels" in self.traits:
            return not in_kernel
        return self.view_of is not None


NO_FACTS = OpFacts()
"""Of names that the table does not have, functions among them."""


def facts_of_entry(entry: OpEntry) -> OpFacts:
    """The facts that a checked entry states."""
    at = {name: position for position, name in enumerate(entry.operand_names)}
    disjoint = entry.disjoint_from if isinstance(entry.disjoint_from, dict) else {"": entry.disjoint_from}
    effects = dict.fromkeys(entry.writes, "Write") | (entry.effects or {})
    is_copied = "copied_in_kernels" in entry.traits
    copies_window = "window" in entry.traits and (entry.view_of is None or is_copied)
    shows = copies_window or is_copied or entry.view_of is not None or "may_return_operand" in entry.traits
    return OpFacts(
        traits=frozenset(entry.traits),
        core=entry.core,
        pipe_end=None if entry.pipe is None else entry.pipe.end,
        pipe_to=None if entry.pipe is None else entry.pipe.to,
        written=tuple(at[name] for name in entry.writes),
        returned=None if entry.returns is None else at[entry.returns],
        view_of=None if entry.view_of is None else at[entry.view_of],
        disjoint=MappingProxyType(disjoint),
        effects=MappingProxyType({at[name]: parse_effect(text) for name, text in effects.items()}),
        declares_effects=bool(entry.writes) or entry.effects is not None,
        operand_memory=tuple(tuple(MemorySpace[name] for name in o.memory) for o in entry.operands),
        result_memory=resolve_result(entry).memory,
        row_major=entry.row_major,
        lowerings=entry.lowerings,
        copies_window=copies_window,
        may_show_operand=shows,
    )
