"""The unified names on scalars: there they are scalar expressions, not ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pypto_tmpl import ir
from pypto_tmpl.ir.printer.spellings import CAST_MODES
from pypto_tmpl.ops.calls.arguments import kind_of, operand_of
from pypto_tmpl.ops.calls.context import Argument, OpCallError

_BINARY: Mapping[str, Callable[..., ir.Expr]] = MappingProxyType(
    {"add": ir.add, "sub": ir.sub, "mul": ir.mul, "div": ir.truediv, "min": ir.min_, "max": ir.max_}
)
SCALAR_PARAMETERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {**dict.fromkeys(_BINARY, ("lhs", "rhs")), "cast": ("input", "target_type", "mode")}
)
SCALAR_PATHS = frozenset(("pl", name) for name in SCALAR_PARAMETERS)


def applies(args: Sequence[Argument], kwargs: Mapping[str, Argument]) -> bool:
    """Whether every operand of a call is a scalar."""
    operands = [*args, *(value for name, value in kwargs.items() if name in ("lhs", "rhs", "input"))]
    return bool(operands) and all(kind_of(value) in ("scalar", "other") for value in operands)


def build(name: str, args: Sequence[Argument], kwargs: Mapping[str, Argument], span: ir.Span) -> ir.Expr:
    """The scalar expression of ``pl.<name>``; OpCallError where the arguments are not its operands."""
    names = SCALAR_PARAMETERS[name]
    if len(args) > len(names):
        raise OpCallError(f"pl.{name}: {len(args)} arguments, and on scalars it takes {len(names)}")
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key not in names or key in given:
            raise OpCallError(f"pl.{name}: on scalars it takes {', '.join(names)}, and {key!r} does not fit")
        given[key] = value
    missing = [key for key in names[:2] if key not in given]
    if missing:
        raise OpCallError(f"pl.{name}: the operand {missing[0]!r} is missing")
    try:
        if name == "cast":
            return _cast(given, span)
        return _BINARY[name](operand_of(given["lhs"], span), operand_of(given["rhs"], span), span)
    except TypeError as error:
        raise OpCallError(f"pl.{name}: {error}") from None


def _cast(given: Mapping[str, Argument], span: ir.Span) -> ir.Expr:
    dtype, mode = given["target_type"], given.get("mode", "round")
    if not isinstance(dtype, ir.DataType):
        raise OpCallError("the keyword 'target_type' is a data type")
    if mode not in ("round", CAST_MODES.index("round")):
        raise OpCallError("a scalar is cast in the default mode", "casts of tensors and tiles have modes")
    return ir.cast(operand_of(given["input"], span), dtype, span)
