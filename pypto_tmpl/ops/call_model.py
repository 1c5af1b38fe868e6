"""The part of the op table's file format that says how users call an op."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, field

from pypto_tmpl.ops.model_base import Model, NonEmpty


class CallSpec(Model, frozen=True):
    """How users call the op, where that is more than its operands followed by its keywords."""

    signature: Annotated[
        tuple[NonEmpty, ...],
        Meta(
            description="Parameters of each form, tried in order: `shape, dtype, *, layout=ND`. A default "
            "is a constant, a member's name, or another parameter, whose value is then taken."
        ),
    ] = ()
    builder: Annotated[
        tuple[NonEmpty, ...],
        Meta(description="Parameters of the function of `ir.op`, where they are not those of `signature`."),
    ] = ()
    operands: Annotated[
        tuple[str, ...],
        Meta(description="Parameters that become operands, in operand order, where the names differ."),
    ] = ()
    keywords: Annotated[
        tuple[str, ...], Meta(description="Keywords in stored order, where it is not the signature's.")
    ] = ()
    drops: Annotated[
        dict[str, Any], Meta(description="Parameter → value at which the call stores nothing of it.")
    ] = field(default_factory=dict)
    literals: Annotated[
        dict[str, str],
        Meta(description="Scalar operand → operand, keyword or dtype whose dtype a bare number takes."),
    ] = field(default_factory=dict)
    signed: Annotated[
        tuple[str, ...],
        Meta(description="Scalar operands of the dtype of their literals, or the signed one of its width."),
    ] = ()
    together: Annotated[tuple[str, ...], Meta(description="Parameters of which all or none are given.")] = ()
    fills: Annotated[
        tuple[str, ...], Meta(description="Tuple operands that are empty where only later ones are given.")
    ] = ()
    wraps: Annotated[
        tuple[str, ...], Meta(description="Tuple operands for which one scalar stands for a tuple of it.")
    ] = ()
    counted: Annotated[
        str | None,
        Meta(
            description="Scalar operand that may be given as extents, and in elements of the `dtype` stated."
        ),
    ] = None
    states: Annotated[
        tuple[str, ...],
        Meta(description="Parameters that only state a part of the result type: `shape`, `dtype`."),
    ] = ()
    either: Annotated[
        dict[str, str],
        Meta(description="Parameter → operand that it becomes unless it is a constant, which is a keyword."),
    ] = field(default_factory=dict)
    region: Annotated[
        str | None, Meta(description="Keyword that the enclosing split region gives where it is absent.")
    ] = None
    target: Annotated[
        str | None, Meta(description="Keyword that the name gives to which the call is assigned.")
    ] = None
    requires: Annotated[
        tuple[str, ...],
        Meta(
            description="What must hold of the operands when the op is built, in the words of requirements."
        ),
    ] = ()
