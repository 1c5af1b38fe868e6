"""The run-time helpers a script may carry, cut from ``preamble/*.py.jinja``."""

from __future__ import annotations

import builtins
import re
import symtable
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import jinja2

from pypto_tmpl.codegen.environment import create_environment, render
from pypto_tmpl.codegen.options import EVERYTHING_OFF, ScriptOptions
from pypto_tmpl.codegen.pipe_use import EVERY_USE, PipeUse
from pypto_tmpl.codegen.script_code import code_in
from pypto_tmpl.errors import Diagnostic, Location, PyptoTmplError, allowed_note
from pypto_tmpl.ops.sources import HELPER_MARKER, identifiers, read_text, template_files
from pypto_tmpl.overlays import State, all_folders, state_of
from pypto_tmpl.resources import template_root

_MAX_CODES = 512  # kept at a time, as `code_in` does
_PRIVATE = re.compile(r"_(?<![\w.]_)\w*")  # names as all helpers of the project have them: few in a script
_KEY = re.compile(r"(\w+):")
_MODULE = re.compile(r"[A-Za-z_][\w.]*(?: as \w+)?")
_CUT = "\0"  # stands around the number of a marker in the text of a topic
_BUILTINS = frozenset(vars(builtins)) | {"__name__"}


class PreambleError(PyptoTmplError, ValueError):
    """The preamble is broken; ``problems`` holds everything that is wrong with it."""

    slug = "preamble"

    def __init__(self, problems: Sequence[Diagnostic] = ()) -> None:
        super().__init__(f"the preamble has {len(problems)} problem(s)")
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


@dataclass(frozen=True, slots=True)
class Variant:
    """What the text of helpers depends on: the options of the script, whether tiles that a load has cut at an
    edge of their tensor may be stored, whether parameters have extents that are no numbers, whether helpers
    stand in a module of their own, what the program does with pipes, and whether it may run on ranks."""

    options: ScriptOptions = EVERYTHING_OFF
    has_edges: bool = True
    has_free_extents: bool = True
    is_module: bool = False
    pipes: PipeUse = EVERY_USE
    has_ranks: bool = True


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper: its text, the modules that it may name, and where its marker stands."""

    name: str
    text: str
    imports: tuple[str, ...]
    location: Location

    @property
    def is_own(self) -> bool:
        """Whether it comes with the project, not from a user's folder."""
        return _is_own(self.location.file)


@lru_cache(maxsize=256)
def _is_own(file: Path) -> bool:
    return template_root() in file.parents


@dataclass(frozen=True, slots=True)
class PreambleSelection:
    """What a script carries: modules to import, sorted, and helper texts in their fixed order.

    ``is_own`` says whether all come with the project, none from a user's folder.
    """

    imports: tuple[str, ...]
    segments: tuple[str, ...]
    names: tuple[str, ...]
    is_own: bool


class Preamble:
    """All helpers of one variant, in the order in which scripts carry them."""

    def __init__(self, helpers: Iterable[Helper]) -> None:
        self.helpers: Mapping[str, Helper] = MappingProxyType({helper.name: helper for helper in helpers})
        self.names = frozenset(self.helpers)
        self._in_code: dict[str, frozenset[str]] = {}
        self._are_private = all(name.startswith("_") for name in self.names)
        self._closures: dict[frozenset[str], PreambleSelection] = {}

    def names_in(self, text: str) -> frozenset[str]:
        """The helpers that the code in ``text`` names; what comments and strings say is no use of one."""
        return self.names_in_code(code_in(text))

    def names_in_code(self, code: str) -> frozenset[str]:
        """The helpers that a text without comments and strings names."""
        found = self._in_code.get(code)
        if found is None:
            if len(self._in_code) >= _MAX_CODES:
                self._in_code.clear()
            names = _PRIVATE.findall(code) if self._are_private else identifiers(code)
            found = self._in_code[code] = self.names.intersection(names)
        return found

    def needs(self, name: str) -> frozenset[str]:
        """The other helpers that a helper names."""
        return (global_names(self.helpers[name].text) & self.names) - {name}

    def imports(self, name: str) -> set[str]:
        """The modules that a helper names, of those that its marker lists."""
        found = global_names(self.helpers[name].text)
        return {module for module in self.helpers[name].imports if bound_name(module) in found}

    def unknown_names(self, name: str) -> list[str]:
        """What a helper names that no script has."""
        helper = self.helpers[name]
        known = self.names | _BUILTINS | {bound_name(module) for module in helper.imports}
        return sorted(global_names(helper.text) - known - defined_names(helper.text))

    def closure(self, names: Iterable[str]) -> PreambleSelection:
        """The named helpers and all they need.

        Raises: PreambleError for a name that is no helper.
        """
        wanted = frozenset(names)
        found = self._closures.get(wanted)
        if found is None:
            found = self._closures[wanted] = self._select(self._reached(wanted))
        return found

    def _reached(self, wanted: Iterable[str]) -> set[str]:
        reached: set[str] = set()
        pending = list(wanted)
        while pending:
            name = pending.pop()
            if name not in self.helpers:
                note = allowed_note("helpers", sorted(self.helpers), name)
                what = f"no helper is named {name!r}"
                raise PreambleError([Diagnostic("unknown-helper", what, "", (note,))])
            if name not in reached:
                reached.add(name)
                pending += self.needs(name)
        return reached

    def full(self) -> PreambleSelection:
        """Every helper."""
        return self._select(self.names)

    def _select(self, names: Iterable[str]) -> PreambleSelection:
        chosen = [helper for helper in self.helpers.values() if helper.name in names]
        imports = sorted({module for helper in chosen for module in self.imports(helper.name)})
        segments = tuple(helper.text for helper in chosen)
        names, is_own = tuple(helper.name for helper in chosen), all(helper.is_own for helper in chosen)
        return PreambleSelection(tuple(imports), segments, names, is_own)


def bound_name(module: str) -> str:
    """The name that importing a module binds."""
    return module.rpartition(" as ")[2].partition(".")[0]


@lru_cache(maxsize=1024)
def global_names(text: str) -> frozenset[str]:
    """The global names that a helper reads.   Raises: SyntaxError."""
    return frozenset(
        symbol.get_name()
        for table in _tables(symtable.symtable(text, "<helper>", "exec"))
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module")
    )


@lru_cache(maxsize=1024)
def defined_names(text: str) -> frozenset[str]:
    """The names that a helper defines at module level, its own among them.   Raises: SyntaxError."""
    table = symtable.symtable(text, "<helper>", "exec")
    return frozenset(symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned())


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for child in table.get_children():
        yield from _tables(child)


def load_preamble(template_dirs: Sequence[Path] | None = None, variant: Variant = Variant()) -> Preamble:
    """Read the helpers of the template folders; of files of one name the earliest folder's wins.

    Without folders: those in use, read once for each variant unless they change.
    Raises: PreambleError with every problem of all files; TemplateError.
    """
    folders = all_folders() if template_dirs is None else tuple(template_dirs)
    return _load_once(folders, state_of(folders), variant)


@lru_cache(maxsize=16)
def _load_once(folders: tuple[Path, ...], state: State, variant: Variant) -> Preamble:
    topics = _topics(folders, state)
    problems = [*topics.problems]
    context = {field.name: getattr(variant, field.name) for field in fields(variant)}
    helpers: list[Helper] = []
    for topic in topics.ordered:
        text = render(topics.environment, topic, context)
        helpers += _cut_topic(topics.files[topic], text, topics.markers[topic], problems)
    problems += _reference_problems(helpers)
    if problems:
        raise PreambleError(problems)
    return Preamble(helpers)


class _Topics:
    """The topics of template folders: read once, and rendered for each variant."""

    def __init__(self, template_dirs: Sequence[Path]) -> None:
        self.problems: list[Diagnostic] = []
        self.files = template_files(template_dirs, "preamble", ".py.jinja")
        loader = _TopicLoader(self.files)
        self.environment = create_environment(template_dirs).overlay(loader=loader)
        self.markers = loader.markers
        self.ordered = _ordered_topics(template_dirs, self.files, self.problems)


@lru_cache(maxsize=8)
def _topics(folders: tuple[Path, ...], state: State) -> _Topics:
    return _Topics(folders)


class _TopicLoader(jinja2.BaseLoader):
    """Topics as templates that leave a cut, with its number, where a marker stands."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files = files
        self.markers: dict[str, list[_Marker]] = {}

    def get_source(
        self, environment: jinja2.Environment, template: str
    ) -> tuple[str, str, Callable[[], bool] | None]:
        path = self._files[template]
        text = read_text(path)
        found = [_Marker(m["name"], m["rest"], _line(text, m.start())) for m in HELPER_MARKER.finditer(text)]
        self.markers[template] = found
        numbers = iter(range(len(found)))

        def cut(match: re.Match[str]) -> str:
            lines = "\n" * match[0].count("\n")  # later ones keep their numbers
            return f"{_CUT}{next(numbers)}{_CUT}{lines}"

        return HELPER_MARKER.sub(cut, text), str(path), None


@dataclass(frozen=True, slots=True)
class _Marker:
    name: str
    rest: str
    line: int


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _ordered_topics(
    template_dirs: Sequence[Path], files: Mapping[str, Path], problems: list[Diagnostic]
) -> list[str]:
    """The topics in the order of the earliest ORDER file."""
    orders = [folder / "preamble" / "ORDER" for folder in template_dirs]
    order = next((path for path in orders if path.is_file()), None)
    if order is None:
        if files:
            where = str(Location(next(iter(files.values())).parent / "ORDER", 1))
            problems.append(Diagnostic("preamble-order", "the preamble has no ORDER file", where))
        return []
    topics: list[str] = []
    for line, text in enumerate(read_text(order).splitlines(), start=1):
        topic = text.partition("#")[0].strip()
        if not topic:
            continue
        if topic in topics or topic not in files:
            what = f"{topic!r} stands twice" if topic in topics else f"there is no file {topic}.py.jinja"
            note = allowed_note("topics", tuple(files), topic)
            problems.append(Diagnostic("preamble-order", what, str(Location(order, line)), (note,)))
        else:
            topics.append(topic)
    for topic in sorted(files.keys() - set(topics)):
        where = str(Location(files[topic], 1))
        note = "add the topic, helpers come after what they call at import time"
        problems.append(Diagnostic("preamble-order", f"ORDER does not list {topic!r}", where, (note,)))
    return topics


def _cut_topic(
    path: Path, text: str, markers: Sequence[_Marker], problems: list[Diagnostic]
) -> Iterator[Helper]:
    head, *parts = text.split(_CUT)
    if head.strip() or not markers:
        what = "text stands before the first helper marker" if markers else "the file has no helper marker"
        note = "a marker reads {# helper: NAME  imports: ... #}"
        problems.append(Diagnostic("preamble-text", what, str(Location(path, 1)), (note,)))
    for number, part in zip(parts[::2], parts[1::2], strict=True):
        marker = markers[int(number)]
        where = Location(path, marker.line)
        body = part.strip("\n").rstrip() + "\n"
        try:
            is_defined = marker.name in defined_names(body)
        except SyntaxError as error:
            place = str(Location(path, marker.line + (error.lineno or 1)))
            what = f"the helper {marker.name!r} is no Python: {error.msg}"
            problems.append(Diagnostic("preamble-text", what, place))
            body, is_defined = "", True
        if not is_defined:
            what = f"the helper {marker.name!r} is not defined below its marker"
            problems.append(Diagnostic("preamble-text", what, str(where)))
        yield Helper(marker.name, body, _marker_imports(marker, where, problems), where)


def _marker_imports(marker: _Marker, where: Location, problems: list[Diagnostic]) -> tuple[str, ...]:
    parts = _KEY.split(marker.rest)
    imports: tuple[str, ...] = ()
    for key, value in zip(parts[1::2], parts[2::2], strict=True):
        if key == "imports":
            imports = tuple(item for item in (text.strip() for text in value.split(",")) if item)
            continue
        note = allowed_note("keys", ("imports",), key) + "; the helpers that it needs are found in its text"
        what = f"helper {marker.name!r}: unknown key {key!r}"
        problems.append(Diagnostic("preamble-marker", what, str(where), (note,)))
    for module in imports:
        if not _MODULE.fullmatch(module):
            what = f"helper {marker.name!r}: {module!r} is no module"
            note = "imports: modules, comma-separated, as in `torch, threading`"
            problems.append(Diagnostic("preamble-marker", what, str(where), (note,)))
    return imports


def _reference_problems(helpers: Sequence[Helper]) -> Iterator[Diagnostic]:
    """Names that two helpers have, and, of the helpers of a user's folders, names that no script has."""
    first: dict[str, Helper] = {}
    for helper in helpers:
        if helper.name in first:
            note = f"first: {first[helper.name].location}"
            what = f"two helpers are named {helper.name!r}"
            yield Diagnostic("duplicate-helper", what, str(helper.location), (note,))
        first.setdefault(helper.name, helper)
    preamble = Preamble(helpers)
    for helper in helpers:
        if helper.is_own:
            continue
        for name in preamble.unknown_names(helper.name):
            note = allowed_note("helpers", sorted(first), name)
            what = f"helper {helper.name!r} names {name!r}, which is neither a helper nor among its imports"
            yield Diagnostic("unknown-helper", what, str(helper.location), (note,))
