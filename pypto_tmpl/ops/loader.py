"""Reads the op table and refuses it as a whole when anything in it is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pypto_tmpl.errors import Diagnostic, PyptoTmplError
from pypto_tmpl.ops.checks import Surroundings, duplicate_ops, entry_problems, unused_macros, wrong_lowerings
from pypto_tmpl.ops.macros import MacroFile, scan_macros, syntax_problem
from pypto_tmpl.ops.pto_checks import (
    host_problems,
    pto_macros,
    pto_problems,
)
from pypto_tmpl.ops.sources import helper_names, read_text, template_files
from pypto_tmpl.ops.spellings import colliding_spellings
from pypto_tmpl.ops.structure import read_family
from pypto_tmpl.ops.table import Declaration, OpTable
from pypto_tmpl.overlays import State, all_folders, state_of
from pypto_tmpl.resources import template_root

_tables: dict[tuple[Path, ...], OpTable] = {}
_states: dict[tuple[Path, ...], State] = {}
_own: list[tuple[tuple[Path, ...], OpTable]] = []  # folders without a user's, which are one object, and table


class OpTableError(PyptoTmplError, ValueError):
    """The op table is broken; ``problems`` holds everything that is wrong with it."""

    slug = "op-table"

    def __init__(self, problems: Sequence[Diagnostic] = ()) -> None:
        super().__init__(f"the op table has {len(problems)} problem(s)")
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


def load_table(template_dirs: Sequence[Path] | None = None) -> OpTable:
    """Load ``ops/*.yaml`` of the template folders; of files of one name the earliest folder's wins.

    Without folders: those in use (``overlays``), as they were when a program was last read or emitted.
    Raises: OpTableError with every problem of all files.
    """
    folders = all_folders() if template_dirs is None else tuple(template_dirs)
    if _own and _own[0][0] is folders:  # to hash a path takes longer than all else
        return _own[0][1]
    if template_dirs is not None:
        forget_changed(folders)
    found = _tables.get(folders)
    if found is None:
        _states.setdefault(folders, state_of(folders))
        found = _tables[folders] = _load(folders)
    if folders is all_folders():
        _own[:] = [(folders, found)]
    return found


def forget_changed(folders: tuple[Path, ...] | None = None) -> State:
    """Drop the table of template folders, by default those in use, if a file changed; give their state."""
    folders = all_folders() if folders is None else folders
    state = state_of(folders)
    if _states.get(folders) != state:
        _tables.pop(folders, None)
        _own.clear()
        _states[folders] = state
    return state


def _load(template_dirs: Sequence[Path]) -> OpTable:
    problems: list[Diagnostic] = []
    declarations: list[Declaration] = []
    files = template_files(template_dirs, "ops", ".yaml").values()
    # The project's own first, so that of two claims to a name the user's is the later one.
    for path in sorted(files, key=lambda path: -template_dirs.index(path.parent.parent)):
        entries, wrong = read_family(path)
        declarations += entries
        problems += wrong
    macro_files = {
        stem: scan_macros(path) for stem, path in template_files(template_dirs, "ops", ".py.jinja").items()
    }
    problems += _syntax_problems(macro_files, declarations)
    unreadable = bool(problems)
    around = Surroundings(macro_files, helper_names(template_dirs))
    for declaration in declarations:
        problems += entry_problems(declaration, around)
    problems += duplicate_ops(declarations)
    problems += colliding_spellings(declarations)
    unreadable = unreadable or any(file.syntax for file in macro_files.values())
    if not unreadable:  # a macro or a tile op may be that of an entry among the unreadable ones
        problems += pto_problems(declarations, pto_macros(template_dirs))
        problems += host_problems(declarations, template_dirs)
        problems += unused_macros(declarations, macro_files)
        problems += wrong_lowerings(declarations)
    if problems:
        raise OpTableError(problems)
    return OpTable(declarations, macro_files)


def _syntax_problems(
    macro_files: Mapping[str, MacroFile], declarations: Sequence[Declaration]
) -> Iterator[Diagnostic]:
    """Macro files that are not Jinja. Parsing all takes long: only users' and those in doubt are parsed."""
    emitted: dict[str, set[str]] = {}
    for declaration in declarations:
        if declaration.entry.macros:
            emitted.setdefault(declaration.family, set()).update(declaration.entry.macros.values())
    for stem, file in macro_files.items():
        is_own = file.path.parent.parent == template_root()
        if is_own and emitted.get(stem, set()) <= file.macros.keys():
            continue
        file.syntax = syntax_problem(file.path, read_text(file.path))
        if file.syntax is not None:
            yield file.syntax
