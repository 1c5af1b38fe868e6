"""The op table's file format as classes; the JSON schema for editors is made from them.

A key documented here is shown by editors on hover, so the descriptions speak to whoever adds an op.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType, field

from pypto_tmpl.ir.dtypes import DATA_TYPES
from pypto_tmpl.ops.call_model import CallSpec
from pypto_tmpl.ops.fact_model import (
    CORE_RULES,
    TRAITS,
    CoreRule,
    LoweringSpec,
    PipeSpec,
    Trait,
)
from pypto_tmpl.ops.model_base import Model, NonEmpty
from pypto_tmpl.ops.pto_model import PtoSpec
from pypto_tmpl.ops.vocabulary import ENUMERATIONS, HANDLES

OperandKind = Literal["tile", "tensor", "scalar", "tuple", "ptr", "array", "handle", "any"]
ResultKind = Literal[
    "tile", "tensor", "distributed_tensor", "scalar", "tuple", "array", "ptr", "handle", "same", "none"
]
MacroKey = Literal["emit", "into"]
if TYPE_CHECKING:  # names of the IR, which type checkers take for any text
    MemorySpace: TypeAlias = str
    DTypeName: TypeAlias = str
    KwargType: TypeAlias = str
    HandleType: TypeAlias = str
else:
    MemorySpace = Literal[tuple(ENUMERATIONS["MemorySpace"].__members__)]
    DTypeName = Literal[tuple(DATA_TYPES)]
    KwargType = Literal[("int", "float", "bool", "str", "DataType", *ENUMERATIONS)]
    HandleType = Literal[tuple(HANDLES)]

TORCH_DTYPES: tuple[DTypeName, ...] = (
    "BOOL", "INT8", "INT16", "INT32", "INT64", "INDEX", "UINT8", "FP16", "BF16", "FP32",
)  # fmt: skip

# What macros read as `attr.<name>` besides keywords.
CALL_FACTS = (
    "result",
    "in_kernel",
    "device",
    "source_is_written",
    "may_be_negative",
    "is_inside",
    "has_poison",
    "may_be_view",
    "destination",
    "on_host",
    "devices",
    "dispatched_to",
    "on_ranks",
    "awaited_tasks",
    "submitted",
)


def _told(words: Mapping[Any, str]) -> str:
    """A vocabulary as part of a description."""
    return "; ".join(f"`{word}`: {meaning}" for word, meaning in words.items())


class OperandSpec(Model, frozen=True):
    """One positional operand, in upstream's order and under upstream's name."""

    name: Annotated[NonEmpty, Meta(description="Upstream's name; the macro reads it as `a.<name>`.")]
    kind: Annotated[
        OperandKind | Annotated[tuple[OperandKind, ...], Meta(min_length=1)],
        Meta(description="What the operand is, or a list when several kinds are taken."),
    ]
    optional: Annotated[
        bool, Meta(description="May be absent; the macro then reads `none`. Only trailing operands.")
    ] = False
    scratch: Annotated[bool, Meta(description="Workspace: contributes no value and may be clobbered.")] = (
        False
    )
    memory: Annotated[
        tuple[MemorySpace, ...], Meta(description="On-chip spaces it may live in; none given: any.")
    ] = ()
    dtype: Annotated[
        DTypeName | None, Meta(description="The only element dtype it may have; none given: any.")
    ] = None

    @property
    def kinds(self) -> tuple[OperandKind, ...]:
        """The kinds taken, as a tuple also where the table gives one."""
        return self.kind if isinstance(self.kind, tuple) else (self.kind,)


class KwargSpec(Model, frozen=True):
    """One keyword attribute of the call."""

    name: Annotated[NonEmpty, Meta(description="Upstream's name; the macro reads it as `attr.<name>`.")]
    type: Annotated[KwargType, Meta(description="Type of the value. Enumerations are given by member name.")]
    default: Annotated[
        Any, Meta(description="Value when absent. Without a default an absent keyword reads as `none`.")
    ] = UNSET
    required: Annotated[bool, Meta(description="The call must have it; excludes `default`.")] = False
    values: Annotated[
        dict[str, int], Meta(description="Name of each code, for integers that are coded options.")
    ] = field(default_factory=dict)

    @property
    def has_default(self) -> bool:
        """Whether the table gives a value for the absent keyword."""
        return not isinstance(self.default, UnsetType)


class ResultSpec(Model, frozen=True):
    """What the op yields, in the closed vocabulary of `pypto_tmpl/ops/typing/words.py`."""

    kind: Annotated[
        ResultKind | None, Meta(description="Kind of value; by default the op's namespace (tile, tensor).")
    ] = None
    dtype: Annotated[
        str | None,
        Meta(description="An operand (its dtype), a keyword, an upper-case dtype, or a dtype rule."),
    ] = None
    shape: Annotated[str | None, Meta(description="An operand (its shape) or a shape rule.")] = None
    valid: Annotated[
        str | None, Meta(description="An operand (its valid region) or a rule for the valid region.")
    ] = None
    memory: Annotated[
        str | None, Meta(description="A memory space, an operand (its space), a keyword, or a memory rule.")
    ] = None
    layout: Annotated[
        str | None,
        Meta(
            description="A layout, an operand or keyword that gives it, or a layout rule; by default implied."
        ),
    ] = None
    pad: Annotated[
        str | None, Meta(description="A keyword or an operand that gives the pad that the view records.")
    ] = None
    handle: Annotated[HandleType | None, Meta(description="Type of a handle.")] = None
    items: Annotated[tuple[ResultSpec, ...], Meta(description="The parts of a tuple result, in order.")] = ()


Sample = dict[str, Any]


class OpEntry(Model, frozen=True, rename={"constants": "with"}):
    """One registered op: what it takes and yields, and the macro that turns a call into Python."""

    name: Annotated[
        str,
        Meta(
            pattern=r"^[a-z_][a-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)+$",
            description="Registered name, upstream's, with its namespace: `tile.row_sum`.",
        ),
    ]
    summary: Annotated[NonEmpty, Meta(description="One sentence that is true on its own.")]
    operands: Annotated[
        tuple[OperandSpec, ...], Meta(description="Positional operands, upstream's names and order.")
    ]
    result: Annotated[
        str | ResultSpec, Meta(description="A named rule, or the rule of each part of the result type.")
    ]
    kwargs: Annotated[tuple[KwargSpec, ...], Meta(description="Keyword attributes of the call.")] = ()
    writes: Annotated[tuple[str, ...], Meta(description="Operands whose storage the op changes.")] = ()
    returns: Annotated[str | None, Meta(description="The operand that the result is, after the change.")] = (
        None
    )
    effects: Annotated[
        dict[str, str] | None,
        Meta(
            description="Operand → `Read`, `Write`, `ReadWrite`, or `Write if key=value else Read`; by "
            "default `Write` for those in `writes`. An empty mapping declares that there are none."
        ),
    ] = None
    view_of: Annotated[
        str | None, Meta(description="The operand whose storage the result shows, as passes see it.")
    ] = None
    disjoint_from: Annotated[
        tuple[str, ...] | dict[str, tuple[str, ...]],
        Meta(
            description="Operands on whose storage the result may not lie, by backend where that differs; "
            "`all`, and `narrower` for those of a narrower dtype than the result."
        ),
    ] = ()
    row_major: Annotated[
        bool, Meta(description="Backends need its tiles row by row; ResolveBackendOpLayouts sees to that.")
    ] = False
    core: Annotated[CoreRule, Meta(description=f"Where it runs: {_told(CORE_RULES)}.")] = "spaces"
    pipe: Annotated[PipeSpec | None, Meta(description="The end of a pipe between cores that it is.")] = None
    traits: Annotated[tuple[Trait, ...], Meta(description=f"What else it is: {_told(TRAITS)}.")] = ()
    dsl: Annotated[tuple[str, ...], Meta(description="User-level spellings, e.g. `pl.row_sum`.")] = ()
    call: Annotated[
        CallSpec | None, Meta(description="How users call it; by default operands, then keywords.")
    ] = None
    lowers_to: Annotated[
        tuple[str | LoweringSpec, ...],
        Meta(description="Ways to turn a tensor op into tile ops, tried in order; a name is `{to: name}`."),
    ] = ()
    aliases: Annotated[tuple[str, ...], Meta(description="Legacy names of the same op.")] = ()
    pto: Annotated[
        NonEmpty | PtoSpec | None,
        Meta(description="How it becomes `.pto` text; a name is `{op: name}`. None given: it does not."),
    ] = None
    orchestration: Annotated[
        NonEmpty | None,
        Meta(
            description="How it becomes C++ in orchestration code: a macro of "
            "`templates/orchestration/ops.cpp.jinja`. None given: it does not."
        ),
    ] = None
    driver: Annotated[
        NonEmpty | None,
        Meta(
            description="How it becomes Python in the driver of several chips: a macro of "
            "`templates/orchestration/ops.py.jinja`. None given: it does not."
        ),
    ] = None
    emit: Annotated[
        NonEmpty | None,
        Meta(description="Macro in the sibling .py.jinja, or `noop` for ops without effect here."),
    ] = None
    into: Annotated[
        NonEmpty | None,
        Meta(
            description="Macro for a call that writes its result into a tile, `attr.destination`, as by "
            "torch's `out=`, of operands that are this tile or have no byte in common with it. It yields "
            "nothing where a call has no such form. None given: the result is copied there."
        ),
    ] = None
    constants: Annotated[
        dict[str, Any], Meta(description="Constants for the macro, which reads them as `emit.<name>`.")
    ] = field(default_factory=dict)
    uses: Annotated[tuple[str, ...], Meta(description="Every preamble helper that the macro may name.")] = ()
    dtypes: Annotated[
        tuple[DTypeName, ...],
        Meta(description="Element dtypes for which the emitted text is right; others are refused."),
    ] = TORCH_DTYPES
    exact: Annotated[
        bool,
        Meta(
            description="False where FP32 results are right up to roundings only, as of functions and sums."
        ),
    ] = True
    samples: Annotated[
        tuple[Sample, ...],
        Meta(
            description="Calls on which tests run the op against its reference, values by name: "
            "`FP32[16, 32]`, or `FP32[16, 32] valid [8, 20]`; a list for a tuple; Python text for a scalar."
        ),
    ] = ()
    error_samples: Annotated[
        tuple[Sample, ...],
        Meta(description="Calls that must fail; `raises` names the exception, `match` its text."),
    ] = ()
    notes: Annotated[str | None, Meta(description="What a reader of the entry should know.")] = None
    unverified: Annotated[
        str | None, Meta(description="What about this entry has no reference to check it against.")
    ] = None
    refused: Annotated[
        NonEmpty | None, Meta(description="Instead of `emit`: why the op is not executable.")
    ] = None

    @property
    def namespace(self) -> str:
        """The part of the name before the last dot."""
        return self.name.rpartition(".")[0]

    @property
    def is_noop(self) -> bool:
        """Whether the op has no effect in an emitted script."""
        return self.emit == "noop"

    @property
    def is_executable(self) -> bool:
        """Whether a macro gives the op a meaning."""
        return self.emit is not None and self.emit != "noop"

    @cached_property
    def macros(self) -> Mapping[MacroKey, str]:
        """The macros that give the op a meaning, by the keys that name them."""
        named: Mapping[MacroKey, str | None] = {"emit": self.emit, "into": self.into}
        return {key: macro for key, macro in named.items() if macro is not None} if self.is_executable else {}

    @cached_property
    def pto_spec(self) -> PtoSpec | None:
        """``pto`` with the operation written out; None for an op without ``.pto`` text."""
        return PtoSpec(op=self.pto) if isinstance(self.pto, str) else self.pto

    @cached_property
    def lowerings(self) -> tuple[LoweringSpec, ...]:
        """``lowers_to`` with all names written out."""
        return tuple(LoweringSpec(to=way) if isinstance(way, str) else way for way in self.lowers_to)

    @property
    def lowered_names(self) -> tuple[str, ...]:
        """The tile ops that a tensor op may become, each once."""
        return tuple(dict.fromkeys(name for way in self.lowerings for name in way.names))

    @cached_property
    def operand_names(self) -> tuple[str, ...]:
        """Names of the operands in order."""
        return tuple(operand.name for operand in self.operands)

    @property
    def kwarg_names(self) -> tuple[str, ...]:
        """Names of the keywords in order."""
        return tuple(kwarg.name for kwarg in self.kwargs)


class FamilyFile(Model, frozen=True):
    """One file of the op table: the ops of a family, whose macros stand in the sibling .py.jinja."""

    family: Annotated[NonEmpty, Meta(description="The file's name without its ending.")]
    ops: Annotated[tuple[OpEntry, ...], Meta(description="The ops of the family.")]
    traits: Annotated[tuple[Trait, ...], Meta(description="Traits that all ops of the family have.")] = ()
