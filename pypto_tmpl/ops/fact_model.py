"""The part of the op table's file format that says what an op does to memory, on which core, and what it is.

Passes and the emitter ask these facts (``facts.py``) where they would have to know ops by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from msgspec import Meta, field

from pypto_tmpl.ops.model_base import Model, NonEmpty

PipeEnd = Literal["push", "pop", "free"]
PipeTarget = Literal["aic", "aiv"]
ScratchShape = Literal["same", "wide_rows"]
CoreRule = Literal["cube", "vector", "shared", "mixed", "spaces", "move", "core_type"]
CORE_RULES: Mapping[CoreRule, str] = MappingProxyType(
    {
        "cube": "the cube core",
        "vector": "the vector core",
        "shared": "either core, or both",
        "mixed": "it hands over from one core to the other",
        "spaces": "the core of the result's memory space, else of the first tile's, else either",
        "move": "the core of the operand's space; a hand-over where that of `target_memory` is another one",
        "core_type": "the core that the keyword `core_type` names",
    }
)
Trait = Literal[
    "accumulates", "allocates", "block_index", "casts", "cellwise", "checks_poison", "copied_in_kernels",
    "counts", "derives", "dummy_task", "extent", "fills_padding", "flattens", "heeds_start", "host_runtime",
    "lane_index", "lays", "loads", "loads_itself", "makes_value", "may_return_operand", "moves",
    "no_arithmetic", "product", "quiet", "reads_element", "reads_first", "reserves", "shards", "signals",
    "staging", "unpacks", "waits", "window", "writes_tensor",
]  # fmt: skip
TRAITS: Mapping[Trait, str] = MappingProxyType(
    {
        "accumulates": "adds to the operand that it writes, whose cells count as read",
        "allocates": "gives a new buffer whose cells nobody has written",
        "block_index": "gives the index of the block that runs",
        "casts": "converts to another dtype; its `mode` may be given by name in printed text",
        "cellwise": "a cell of the result depends on what stands at its place in the operands, those of "
        "extent 1 being repeated",
        "checks_poison": "refuses, in checked scripts, to read cells that nobody has written",
        "copied_in_kernels": "gives a view of its first operand in orchestration, a copy in kernels",
        "counts": "gives a number that is not negative",
        "derives": "the result has the extents of its type, and no poison, where all operands have",
        "dummy_task": "submits a task that does nothing but depend on others",
        "extent": "gives the extent of its first operand along the axis that the second one is",
        "fills_padding": "writes cells that do not count, and gives a value in which all do",
        "flattens": "may give a tile of two axes for extents of more: all but the last are one",
        "heeds_start": "leaves out, or fills, the cells of a clamped window that lie before its tensor",
        "host_runtime": "is a call of the runtime that a host orchestrator has",
        "lane_index": "gives the index of the vector lane that runs",
        "lays": "writes the cells of a source as they lie, at the offsets of the call",
        "loads": "copies a window of a tensor, which may be clamped",
        "loads_itself": "reads or writes tensors in kernels as it is: no load at the entry, no store at the "
        "exit is made for it",
        "makes_value": "computes a value of its own, which in scripts is no operand or view of one",
        "may_return_operand": "gives its first operand itself where there is nothing to do",
        "moves": "gives the value of its operand in another memory space",
        "no_arithmetic": "moves, counts, reserves or waits, but computes no element",
        "product": "multiplies matrices",
        "quiet": "does nothing that another core, task or the host could notice, but give its result and "
        "write its operands",
        "reads_element": "gives one element of its first operand",
        "reads_first": "has read all operands before it writes",
        "reserves": "names an allocation that types refer to; its value is an address",
        "shards": "gives the part of a value that the current vector lane owns",
        "signals": "reads or writes cells that others may change at any time, one as a whole",
        "staging": "gives a buffer that is filled by parts and handed on with parts unwritten",
        "unpacks": "knows where the elements of packed scales lie in memory, or looks at extents only",
        "waits": "may wait for another rank or block",
        "window": "reads a window of its first operand",
        "writes_tensor": "changes, or stands for a change of, a tensor in global memory",
    }
)
LOWERING_RULES: Mapping[str, str] = MappingProxyType(
    {
        "divide": "operands of another dtype are cast to the promoted one; a column divides row by row",
        "element": "stays on a tensor in global memory; on a tile it is the tile op",
        "expand_clone": "a loop of loads, expansions and stores into the target",
        "filled": "a tile full of the initial value",
        "gather": "by positions in the whole tile, or line by line, for which another axis than the last one "
        "is transposed",
        "matches": "the tile op with a workspace of bytes",
        "merge": "the tile op with a workspace as wide as its sources together",
        "paged": "a buffer in Mat and a loop of loads of rows",
        "product": "operands are loaded into Mat and transposed there; more than two axes make a batch",
        "scatter": "into zeros, and of ones into zeros, which select between the result and the operand",
        "scatter_mask": "as `scatter`, by the pattern",
        "scatter_rows": "as `scatter`, at the positions of whole rows",
        "select_ones": "a comparison that selects between a tile of ones and one of zeros",
        "staged": "the tile op with the tiles that the data passes through",
        "subtract_turned": "the other way round, row by row, with the sign changed",
        "window": "a load where the source is a tensor in global memory, else the tile op",
        "write_window": "a store where the target is a tensor in global memory, else the tile op",
    }
)
CONDITIONS: Mapping[str, int] = MappingProxyType({"column_of": 2, "scalar": 1, "given": 1})
"""Words of ``when`` and how many names they take: ``column_of(rhs, lhs)`` holds where rhs is [M, 1] and lhs
[M, N], ``scalar(rhs)`` where it is no tensor, ``given(key)`` where the keyword has not its default."""


class PipeSpec(Model, frozen=True):
    """The end of a pipe between the cores that an op is."""

    end: Annotated[PipeEnd, Meta(description="What it does with a slot of the pipe.")]
    to: Annotated[PipeTarget, Meta(description="The core that the tiles of the pipe go to.")]


class ScratchSpec(Model, frozen=True):
    """A workspace that a tile op needs and its tensor op does not have."""

    name: Annotated[NonEmpty, Meta(description="Name of the variable that the pass makes.")]
    shape: Annotated[
        ScratchShape,
        Meta(
            description="`same`: that of the first operand; `wide_rows`: with a last extent of 128 at least."
        ),
    ] = "same"


class LoweringSpec(Model, frozen=True):
    """One way in which ConvertTensorToTileOps turns a tensor op into tile ops; the first to hold counts."""

    to: Annotated[str | None, Meta(description="The tile op that the call becomes.")] = None
    rule: Annotated[
        str | None, Meta(description="Instead of `to`: a word for what is more than one call of one op.")
    ] = None
    uses: Annotated[tuple[str, ...], Meta(description="The tile ops that the rule makes.")] = ()
    when: Annotated[
        tuple[str, ...],
        Meta(description="What must hold: `column_of(rhs, lhs)`, `scalar(rhs)`, `given(high_precision)`."),
    ] = ()
    operands: Annotated[
        tuple[str, ...],
        Meta(description="Operands and workspaces in the order of the tile op; by default the op's own."),
    ] = ()
    scratch: Annotated[
        dict[str, ScratchSpec], Meta(description="Operand of the tile op → the workspace made for it.")
    ] = field(default_factory=dict)
    drops: Annotated[tuple[str, ...], Meta(description="Keywords that the tile op does not get.")] = ()
    adds: Annotated[
        dict[str, Any], Meta(description="Keywords of the tile op → value that the pass gives them.")
    ] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All tile ops that it may make."""
        return self.uses if self.to is None else (self.to,)
