"""What a well-formed entry may still have wrong: names that nothing declares, contradictory keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pypto_tmpl.errors import Diagnostic, allowed_note
from pypto_tmpl.ops import model, signatures
from pypto_tmpl.ops.fact_checks import fact_problems, lowering_problems
from pypto_tmpl.ops.macros import Macro, MacroFile, reachable_macros
from pypto_tmpl.ops.sample_checks import sample_problems
from pypto_tmpl.ops.sources import identifiers
from pypto_tmpl.ops.table import Declaration
from pypto_tmpl.ops.typing import words
from pypto_tmpl.ops.vocabulary import ENUMERATIONS

KeyPath = tuple[str | int, ...]

_SAMPLE_KEYS = {"samples": (), "error_samples": ("raises", "match")}
_PYTHON_TYPES = {"int": (int,), "float": (int, float), "bool": (bool,)}
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "DataType": get_args(model.DTypeName),
    **{name: tuple(members.__members__) for name, members in ENUMERATIONS.items()},
}
_NEEDED_PARTS = {
    "tile": ("dtype", "shape", "valid"),
    "tensor": ("dtype", "shape", "valid"),
    "scalar": ("dtype",),
    "tuple": ("items",),
}


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an entry may refer to outside of itself."""

    macro_files: Mapping[str, MacroFile]
    helpers: frozenset[str]


def entry_problems(declaration: Declaration, around: Surroundings) -> Iterator[Diagnostic]:
    """Everything that is wrong with one entry."""
    yield from _emission(declaration, around)
    yield from _helpers(declaration, around)
    yield from _operands(declaration)
    yield from _kwargs(declaration)
    yield from _result(declaration)
    yield from _call(declaration)
    yield from _samples(declaration)
    for what, path, note in fact_problems(declaration.entry):
        yield _problem(declaration, "fact", what, path, *filter(None, [note]))


def wrong_lowerings(declarations: Sequence[Declaration]) -> Iterator[Diagnostic]:
    """Ways to lower an op that do not fit the tile ops of any file."""
    entries = {declaration.entry.name: declaration.entry for declaration in declarations}
    for declaration in declarations:
        for what, path, note in lowering_problems(declaration.entry, entries):
            yield _problem(declaration, "lowering", what, path, *filter(None, [note]))


def duplicate_ops(declarations: Iterable[Declaration]) -> Iterator[Diagnostic]:
    """Names and legacy names that two entries claim."""
    taken: dict[str, Declaration] = {}
    for declaration in declarations:
        entry = declaration.entry
        claims: list[tuple[str, KeyPath]] = [(entry.name, ("name",))]
        claims += [(alias, ("aliases", index)) for index, alias in enumerate(entry.aliases)]
        for name, path in claims:
            if name in taken:
                first = taken[name]
                note = f"first: {first.locate('name')} ({first.entry.name})"
                yield _problem(declaration, "duplicate-op", f"the name {name!r} is taken", path, note)
            taken.setdefault(name, declaration)


def unused_macros(
    declarations: Iterable[Declaration], macro_files: Mapping[str, MacroFile]
) -> Iterator[Diagnostic]:
    """Macros that no entry emits, directly or through another macro, or that stand twice in a file."""
    used = {
        key
        for declaration in declarations
        for name in declaration.entry.macros.values()
        for key in reachable_macros(macro_files, declaration.family, name)
    }
    for stem, file in macro_files.items():
        for macro in file.repeated:
            what = f"{stem}: macro {macro.name!r} is defined twice"
            yield Diagnostic("duplicate-macro", what, str(macro.location))
        for macro in file.macros.values():
            if (stem, macro.name) not in used:
                what = f"{stem}: no op and no used macro names the macro {macro.name!r}"
                notes = (f"give an entry of ops/{stem}.yaml `emit: {macro.name}`, or delete the macro",)
                yield Diagnostic("unused-macro", what, str(macro.location), notes)


def _problem(declaration: Declaration, slug: str, what: str, path: KeyPath, *notes: str) -> Diagnostic:
    where = str(declaration.locate(*path))
    return Diagnostic(slug, f"{declaration.entry.name}: {what}", where, notes)


def _emission(declaration: Declaration, around: Surroundings) -> Iterator[Diagnostic]:
    entry = declaration.entry
    if (entry.emit is None) == (entry.refused is None):
        what = "has neither `emit` nor `refused`" if entry.emit is None else "has both `emit` and `refused`"
        note = "an executable op names its macro in `emit`; any other says in `refused` why it is not"
        yield _problem(declaration, "emit-or-refused", what, ("refused",), note)
    if entry.into is not None and not entry.is_executable:
        what = "has `into`, but no macro in `emit`"
        note = "calls whose result is written into no tile are those of `emit`"
        yield _problem(declaration, "emit-or-refused", what, ("into",), note)
    file = around.macro_files.get(declaration.family)
    if file is not None and file.syntax is not None:
        return  # reported once, with the line of the file
    macros = tuple(file.macros) if file is not None else ()
    for key, name in entry.macros.items():
        if name not in macros:
            what = f"ops/{declaration.family}.py.jinja has no macro {name!r}"
            yield _problem(declaration, "missing-macro", what, (key,), allowed_note("macros", macros, name))


def _helpers(declaration: Declaration, around: Surroundings) -> Iterator[Diagnostic]:
    entry = declaration.entry
    for index, helper in enumerate(entry.uses):
        if helper not in around.helpers:
            note = allowed_note("helpers", sorted(around.helpers), helper)
            what = f"no preamble helper is named {helper!r}"
            yield _problem(declaration, "unknown-helper", what, ("uses", index), note)
    if not entry.is_executable:
        return
    macros: dict[tuple[str, str], Macro] = {}
    for name in entry.macros.values():
        macros |= reachable_macros(around.macro_files, declaration.family, name)
    yield from _unknown_helpers(declaration, around, macros)
    for macro in macros.values():
        for helper in sorted((macro.names & around.helpers).difference(entry.uses)):
            yield _undeclared(declaration, helper, f"macro {macro.name!r}", macro)
    for helper in sorted((_names_in(entry.constants) & around.helpers).difference(entry.uses)):
        yield _undeclared(declaration, helper, "`with`", None)


def _unknown_helpers(
    declaration: Declaration, around: Surroundings, macros: Mapping[tuple[str, str], Macro]
) -> Iterator[Diagnostic]:
    """Names with the underscore of helpers that are none."""
    entry = declaration.entry
    for (stem, _), macro in macros.items():
        file = around.macro_files[stem]
        known = around.helpers | file.macros.keys() | file.imports.keys() | _set_names(macro)
        for name in sorted(macro.names - known):
            if name.startswith("_") and not name.startswith("__"):
                note = allowed_note("helpers", sorted(around.helpers), name)
                what = f"{entry.name}: macro {macro.name!r} names {name!r}, which is no preamble helper"
                where = f"{macro.line_of(name)}      op table: {declaration.locate('emit')}"
                yield Diagnostic("unknown-helper", what, where, (note,))


def _set_names(macro: Macro) -> set[str]:
    """What a macro defines itself."""
    found = re.findall(r"\bset\s+(\w+)|\bfor\s+(\w+)|\b(_\w+)\s*(?==[^=])", macro.source)
    return {name for names in found for name in names if name}


def _undeclared(declaration: Declaration, helper: str, by: str, macro: Macro | None) -> Diagnostic:
    entry = declaration.entry
    what = f"{entry.name}: {by} names the helper {helper!r}, `uses` does not"
    where = str(declaration.locate("uses"))
    if macro is not None:
        where = f"{where}      macro: {macro.location}"
    return Diagnostic("undeclared-helper", what, where, (f"uses: [{', '.join((*entry.uses, helper))}]",))


def _names_in(value: Any) -> set[str]:
    if isinstance(value, str):
        return identifiers(value)
    if isinstance(value, dict):
        value = list(value.values())
    return set().union(*map(_names_in, value)) if isinstance(value, list) else set()


def _operands(declaration: Declaration) -> Iterator[Diagnostic]:
    entry = declaration.entry
    names = entry.operand_names
    for part, title in (("operands", "operand"), ("kwargs", "keyword")):
        seen: set[str] = set()
        for index, item in enumerate(getattr(entry, part)):
            if item.name in seen:
                what = f"two {title}s are named {item.name!r}"
                yield _problem(declaration, "duplicate-name", what, (part, index))
            seen.add(item.name)
    for earlier, later in zip(entry.operands, entry.operands[1:], strict=False):
        if earlier.optional and not later.optional:
            what = f"operand {later.name!r} is not optional, but {earlier.name!r} before it is"
            yield _problem(declaration, "optional-order", what, ("operands", names.index(later.name)))
    references: list[tuple[KeyPath, str]] = [
        (("writes", index), name) for index, name in enumerate(entry.writes)
    ]
    if entry.returns is not None:
        references.append((("returns",), entry.returns))
    for path, name in references:
        if name not in names:
            what = f"`{path[0]}` names {name!r}, which is no operand"
            yield _problem(declaration, "unknown-operand", what, path, allowed_note("operands", names, name))


def _kwargs(declaration: Declaration) -> Iterator[Diagnostic]:
    for index, kwarg in enumerate(declaration.entry.kwargs):
        path = ("kwargs", index)
        if kwarg.name in model.CALL_FACTS:
            what = f"a keyword cannot be named {kwarg.name!r}, `attr.{kwarg.name}` is something else"
            yield _problem(declaration, "reserved-name", what, (*path, "name"))
        if not kwarg.has_default:
            continue
        what, note = _default_problem(kwarg)
        if what:
            yield _problem(
                declaration, "kwarg-default", f"keyword {kwarg.name!r} {what}", (*path, "default"), note
            )


def _default_problem(kwarg: model.KwargSpec) -> tuple[str, str]:
    default = kwarg.default
    if kwarg.required:
        return "is required and has a default", "drop one of the two"
    if default is None:
        return "has the default null", 'leave `default` out for "none when absent"; quote the word null'
    if kwarg.type in _MEMBERS:
        members = _MEMBERS[kwarg.type]
        bad = default not in members
        note = allowed_note(kwarg.type, members, str(default))
    else:
        types = _PYTHON_TYPES.get(kwarg.type, (str,))
        bad = not isinstance(default, types) or (isinstance(default, bool) and bool not in types)
        note = f"expected: a value of type {kwarg.type}"
    if not bad and kwarg.values and default not in kwarg.values.values():
        codes = ", ".join(f"{code} ({name})" for name, code in kwarg.values.items())
        bad, note = True, f"codes: {codes}"
    return (f"cannot have the default {default!r}", note) if bad else ("", "")


def _result(declaration: Declaration) -> Iterator[Diagnostic]:
    entry = declaration.entry
    if isinstance(entry.result, str) and entry.result not in words.NAMED_RESULTS:
        note = allowed_note("named results", tuple(words.NAMED_RESULTS), entry.result)
        what = f"no result is named {entry.result!r}"
        yield _problem(declaration, "unknown-result", what, ("result",), note)
        return
    spec = words.resolve_result(entry)
    yield from _result_part(declaration, spec, ("result",))
    for index, item in enumerate(spec.items):
        yield from _result_part(declaration, item, ("result", "items", index))


def _result_part(declaration: Declaration, spec: model.ResultSpec, path: KeyPath) -> Iterator[Diagnostic]:
    entry = declaration.entry
    kind = spec.kind or entry.namespace
    for part in _NEEDED_PARTS.get(kind, ()):
        if not getattr(spec, part):
            note = f"a {kind} result has the keys {', '.join(_NEEDED_PARTS[kind])}"
            yield _problem(declaration, "missing-key", f"the result has no {part!r}", path, note)
    for part, vocabulary in words.VOCABULARY.items():
        rule = getattr(spec, part)
        for word in words.unknown_terms(entry, part, rule) if rule is not None else ():
            names = (*entry.operand_names, *entry.kwarg_names, *vocabulary, *words.LITERALS.get(part, ()))
            what = f"{word!r} is no rule for the result's {part}"
            note = allowed_note("rules", names, word)
            yield _problem(declaration, "unknown-result", what, (*path, part), note)


def _call(declaration: Declaration) -> Iterator[Diagnostic]:
    for key, what, allowed in signatures.call_problems(declaration.entry):
        notes = [allowed_note("names", allowed)] if allowed else []
        yield _problem(declaration, "call", what, ("call", key), *notes)
    for what, allowed, given in words.requirement_problems(declaration.entry):
        yield _problem(declaration, "call", what, ("call", "requires"), allowed_note("names", allowed, given))


def _samples(declaration: Declaration) -> Iterator[Diagnostic]:
    entry = declaration.entry
    for part, extra in _SAMPLE_KEYS.items():
        allowed = (*entry.operand_names, *entry.kwarg_names, *extra)
        for index, sample in enumerate(getattr(entry, part)):
            for key in sample:
                if key not in allowed:
                    what = f"{part}[{index}] gives {key!r}, which is no operand or keyword"
                    note = allowed_note("names", allowed, key)
                    yield _problem(declaration, "unknown-operand", what, (part, index, key), note)
    for slug, what, path, note in sample_problems(entry, lambda kind: _MEMBERS.get(kind, ())):
        yield _problem(declaration, slug, what, path, note)
