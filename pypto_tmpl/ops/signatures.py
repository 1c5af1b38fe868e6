"""How users call an op: the parameters of its DSL spelling, and what becomes of each of them.

An entry whose call is not its operands followed by its keywords says so under ``call``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pypto_tmpl.ops.call_model import CallSpec
from pypto_tmpl.ops.model import OpEntry

_PLAIN: Final = CallSpec()


class SignatureError(ValueError):
    """The text of a signature is no parameter list."""


class _Required:
    """The default of a parameter that has none."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()


@dataclass(frozen=True, slots=True)
class SameAs:
    """The default of a parameter that otherwise has the value of another one."""

    name: str


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter; its default is ``REQUIRED``, a SameAs, a Python value, or the name of a member."""

    name: str
    default: Any
    keyword_only: bool

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of one form of a call."""

    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)


def call_of(entry: OpEntry) -> CallSpec:
    """What the table says of the op's call, nothing in particular where it says nothing."""
    return _PLAIN if entry.call is None else entry.call


def signatures_of(entry: OpEntry) -> tuple[Signature, ...]:
    """The forms in which users call the op; by default its operands, then its keywords."""
    texts = call_of(entry).signature
    return tuple(map(parse_signature, texts)) if texts else (_derived(entry),)


def builder_signatures(entry: OpEntry) -> tuple[Signature, ...]:
    """The forms of the op's function in ``ir.op``; by default those in which users call it."""
    texts = call_of(entry).builder
    return tuple(map(parse_signature, texts)) if texts else signatures_of(entry)


def ir_signature(entry: OpEntry) -> Signature:
    """The form in which the IR has the call: all operands by position, then the keywords that it stores."""
    found = [Parameter(o.name, None if o.optional else REQUIRED, False) for o in entry.operands]
    found += [Parameter(k.name, REQUIRED if k.required else None, True) for k in entry.kwargs]
    return Signature(tuple(found))


def operand_order(entry: OpEntry) -> tuple[str, ...]:
    """The parameters that become operands, in the order of the operands."""
    return call_of(entry).operands or entry.operand_names


def keyword_order(entry: OpEntry, signature: Signature) -> tuple[str, ...]:
    """The parameters that become keywords, in the order in which a call stores them."""
    keywords = set(entry.kwarg_names)
    listed = call_of(entry).keywords
    return (*listed, *(name for name in signature.names if name in keywords and name not in listed))


def parse_signature(text: str) -> Signature:
    """The parameters that ``text`` lists, such as ``shape, dtype, *, layout=ND``."""
    try:
        tree = ast.parse(f"lambda {text}: 0", mode="eval").body
    except SyntaxError as error:
        raise SignatureError(f"{text!r} is no list of parameters: {error.msg}") from None
    assert isinstance(tree, ast.Lambda)
    given = tree.args
    if given.vararg or given.kwarg or given.posonlyargs:
        raise SignatureError(f"{text!r}: parameters have names, and * only marks those given by keyword")
    names = {argument.arg for argument in (*given.args, *given.kwonlyargs)}
    gap = len(given.args) - len(given.defaults)
    defaults = [None] * gap + list(given.defaults)
    found = [
        Parameter(argument.arg, _default(value, names), False)
        for argument, value in zip(given.args, defaults, strict=True)
    ]
    found += [
        Parameter(argument.arg, _default(value, names), True)
        for argument, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return Signature(tuple(found))


def _default(node: ast.expr | None, names: set[str]) -> Any:
    if node is None:
        return REQUIRED
    if isinstance(node, ast.Name):
        return SameAs(node.id) if node.id in names else node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise SignatureError(f"the default {ast.unparse(node)} is no constant") from None


def _derived(entry: OpEntry) -> Signature:
    found = [Parameter(o.name, None if o.optional else REQUIRED, False) for o in entry.operands]
    has_default = any(not parameter.required for parameter in found)
    for keyword in entry.kwargs:
        default = keyword.default if keyword.has_default else REQUIRED if keyword.required else None
        found.append(Parameter(keyword.name, default, has_default and default is REQUIRED))
        has_default |= default is not REQUIRED
    found.sort(key=lambda parameter: parameter.keyword_only)  # stable: the others keep their order
    return Signature(tuple(found))


def call_problems(entry: OpEntry) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What the entry's ``call`` has wrong: the key, the complaint, and the names that would be right."""
    call = entry.call
    if call is None:
        return
    forms: list[tuple[str, Signature]] = []
    for key, read in (("signature", signatures_of), ("builder", builder_signatures)):
        try:
            forms += ((key, form) for form in read(entry))
        except SignatureError as error:
            yield key, str(error), ()
            return
    own = {*entry.operand_names, *entry.kwarg_names}
    parameters = {name: key for key, form in reversed(forms) for name in form.names}
    known = {*own, *call.operands, *call.states, *call.drops, *call.either}
    for name in sorted(parameters.keys() - known):
        what = f"the parameter {name!r} becomes no operand and no keyword"
        yield parameters[name], what, tuple(sorted(own))
    references: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("operands", call.operands),
        ("keywords", call.keywords),
        ("drops", tuple(call.drops)),
        ("literals", tuple(call.literals)),
        ("signed", call.signed),
        ("together", call.together),
        ("fills", call.fills),
        ("wraps", call.wraps),
        ("states", call.states),
    )
    for key, names in references:
        for name in names:
            if name not in parameters and name not in own:
                yield key, f"{name!r} is no parameter of the call", tuple(sorted(parameters))
