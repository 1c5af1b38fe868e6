"""What the keys `pto`, `orchestration` and `driver` may have wrong: names that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pypto_tmpl.errors import Diagnostic, allowed_note
from pypto_tmpl.ir.enums import BackendType
from pypto_tmpl.ops.macros import MacroFile, reachable_macros, scan_macros, syntax_problem
from pypto_tmpl.ops.model import OpEntry
from pypto_tmpl.ops.pto_model import PtoSpec
from pypto_tmpl.ops.sources import read_text, template_files
from pypto_tmpl.ops.table import Declaration

STEM = "ops"  # of the file in templates/pto and templates/orchestration that holds the macros of ops
_HOST_KEYS = {"orchestration": ".cpp.jinja", "driver": ".py.jinja"}
_OPERATION = re.compile(r"pto(\.[a-z_][a-z0-9_]*)+")
_COMMON_FORM = "compute"
Problem = tuple[str, tuple[str | int, ...], str]


def pto_macros(template_dirs: Sequence[Path]) -> MacroFile | None:
    """The macros of ops in ``templates/pto``; None where the folders have no such file."""
    path = template_files(template_dirs, "pto", ".pto.jinja").get(STEM)
    return None if path is None else scan_macros(path)


def pto_problems(declarations: Iterable[Declaration], file: MacroFile | None) -> Iterator[Diagnostic]:
    """Everything that is wrong with the keys ``pto``, and macros that no entry names."""
    macros = tuple(file.macros) if file is not None else ()
    named: set[str] = set()
    for declaration in declarations:
        spec = declaration.entry.pto_spec
        if spec is None:
            continue
        named.add(spec.macro)
        for what, path, note in _entry_problems(declaration.entry, spec, macros):
            where = str(declaration.locate("pto", *path))
            yield Diagnostic("pto", f"{declaration.entry.name}: {what}", where, (note,) if note else ())
    if file is not None:
        yield from file_problems(file, named)


def host_problems(declarations: Iterable[Declaration], template_dirs: Sequence[Path]) -> Iterator[Diagnostic]:
    """Keys of host code that name no macro of ``templates/orchestration``, and macros that no entry names."""
    declarations = tuple(declarations)
    for key, ending in _HOST_KEYS.items():
        path = template_files(template_dirs, "orchestration", ending).get(STEM)
        file = None if path is None else scan_macros(path)
        yield from _key_problems(declarations, key, ending, file)


def _key_problems(
    declarations: Iterable[Declaration], key: str, ending: str, file: MacroFile | None
) -> Iterator[Diagnostic]:
    macros = tuple(file.macros) if file is not None else ()
    named: set[str] = set()
    for declaration in declarations:
        macro = getattr(declaration.entry, key)
        if macro is None:
            continue
        named.add(macro)
        if macro not in macros:
            what = f"{declaration.entry.name}: orchestration/{STEM}{ending} has no macro {macro!r}"
            where = str(declaration.locate(key))
            yield Diagnostic(key, what, where, (allowed_note("macros", macros, macro),))
    if file is not None:
        yield from file_problems(file, named)


def file_problems(file: MacroFile, named: set[str]) -> Iterator[Diagnostic]:
    """What is wrong with a file of macros of which entries name some."""
    syntax = syntax_problem(file.path, read_text(file.path)) if named - set(file.macros) else None
    if syntax is not None:
        yield syntax
        return
    reached = {macro for name in named for _, macro in reachable_macros({STEM: file}, STEM, name)}
    for macro in file.repeated:
        yield Diagnostic("duplicate-macro", f"macro {macro.name!r} is defined twice", str(macro.location))
    for macro in file.macros.values():
        if macro.name not in reached:
            what = f"no op and no used macro names the macro {macro.name!r}"
            yield Diagnostic("unused-macro", what, str(macro.location))


def _entry_problems(entry: OpEntry, spec: PtoSpec, macros: Sequence[str]) -> Iterator[Problem]:
    if spec.macro not in macros:
        what = f"pto/{STEM}.pto.jinja has no macro {spec.macro!r}"
        yield what, ("macro",), allowed_note("macros", macros, spec.macro)
    if spec.op and not _OPERATION.fullmatch(spec.op):
        yield f"{spec.op!r} is no operation of the pto dialect", ("op",), "an operation begins with `pto.`"
    if not spec.op and spec.macro == _COMMON_FORM:
        yield "the common form needs the operation", ("op",), ""
    names = entry.operand_names
    for index, name in enumerate(spec.ins or ()):
        if name not in names:
            yield f"`ins` names {name!r}, no operand", ("ins", index), allowed_note("operands", names, name)
    if spec.into is not None and spec.into not in names:
        yield f"`into` names {spec.into!r}, no operand", ("into",), allowed_note("operands", names, spec.into)
    keyword = spec.constants.get("keyword")
    if keyword is not None and keyword not in entry.kwarg_names:
        note = allowed_note("keywords", entry.kwarg_names, str(keyword))
        yield f"`keyword` is {keyword!r}, no keyword", ("with", "keyword"), note
    known = tuple(BackendType.__members__)
    for index, backend in enumerate(spec.backends):
        if backend not in known:
            yield f"{backend!r} is no backend", ("backends", index), allowed_note("backends", known, backend)
