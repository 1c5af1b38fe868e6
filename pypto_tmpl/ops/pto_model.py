"""The part of the op table's file format that says how an op becomes ``.pto`` text."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, field

from pypto_tmpl.ops.model_base import Model, NonEmpty

SharedStorage = Literal["always", "base", "buffer"]
HiddenParameter = Literal["sdma_workspace", "block_idx", "block_num", "subblock_idx"]
HIDDEN_PARAMETERS: tuple[HiddenParameter, ...] = get_args(HiddenParameter)  # in the order in which they stand


class PtoSpec(Model, frozen=True, rename={"constants": "with"}):
    """How a call becomes ``.pto`` text: the operation and the macro of ``templates/pto/ops.pto.jinja``."""

    op: Annotated[str, Meta(description="The operation, `pto.tadd`; the macro reads it as `c.op`.")] = ""
    macro: Annotated[NonEmpty, Meta(description="The macro; by default that of the common form.")] = "compute"
    ins: Annotated[
        tuple[str, ...] | None,
        Meta(description="Operands of the common form in their order; by default all that are given."),
    ] = None
    into: Annotated[
        str | None, Meta(description="The operand whose buffer or tensor the result is, under `shares`.")
    ] = None
    shares: Annotated[
        SharedStorage,
        Meta(
            description="When the result is that operand: `always`, `base` if both lie in one allocation, "
            "`buffer` if they are one buffer of one layout."
        ),
    ] = "always"
    silent: Annotated[
        bool, Meta(description="Leaves no text and no value; allocations, which addresses stand for.")
    ] = False
    names_result: Annotated[
        bool, Meta(description="The macro names a tile that has no buffer; by default the variable does.")
    ] = False
    hidden: Annotated[
        tuple[HiddenParameter, ...],
        Meta(description="Parameters that the run time passes to a kernel which calls it."),
    ] = ()
    backends: Annotated[tuple[str, ...], Meta(description="The only backends that have it.")] = ()
    constants: Annotated[
        dict[str, Any], Meta(description="Constants for the macro, which reads them as `c.emit.<name>`.")
    ] = field(default_factory=dict)
