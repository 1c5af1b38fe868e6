"""The run-time helpers a script may carry, cut from ``preamble/*.py.jinja``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType

from pypto_tmpl.errors import Diagnostic, Location, PyptoTmplError, allowed_note
from pypto_tmpl.ops.sources import HELPER_MARKER, identifiers, read_text, template_files
from pypto_tmpl.overlays import State, all_folders, state_of

_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)
_PRIVATE = re.compile(r"(?<![\w.])_\w*")  # names as all helpers of the project have them: few in a script
_KEY = re.compile(r"(\w+):")
_MODULE = re.compile(r"[A-Za-z_][\w.]*(?: as \w+)?")


class PreambleError(PyptoTmplError, ValueError):
    """The preamble is broken; ``problems`` holds everything that is wrong with it."""

    slug = "preamble"

    def __init__(self, problems: Sequence[Diagnostic] = ()) -> None:
        super().__init__(f"the preamble has {len(problems)} problem(s)")
        self.problems = tuple(problems)

    def __str__(self) -> str:
        return "\n".join(map(str, self.problems))


@dataclass(frozen=True, slots=True)
class Helper:
    """One helper: its text, the helpers it needs and the modules it imports."""

    name: str
    text: str
    needs: tuple[str, ...]
    imports: tuple[str, ...]
    location: Location


@dataclass(frozen=True, slots=True)
class PreambleSelection:
    """What a script carries: modules to import, sorted, and helper texts in their fixed order."""

    imports: tuple[str, ...]
    segments: tuple[str, ...]
    names: tuple[str, ...]


class Preamble:
    """All helpers, in the order in which scripts carry them."""

    def __init__(self, helpers: Iterable[Helper]) -> None:
        self.helpers: Mapping[str, Helper] = MappingProxyType({helper.name: helper for helper in helpers})
        self.names = frozenset(self.helpers)
        self._are_private = all(name.startswith("_") for name in self.names)
        self._closures: dict[frozenset[str], PreambleSelection] = {}

    def names_in(self, text: str) -> set[str]:
        """The helpers that ``text`` names."""
        found = _PRIVATE.findall(text) if self._are_private else identifiers(text)
        return set(self.names.intersection(found))

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
                pending += self.helpers[name].needs
        return reached

    def full(self) -> PreambleSelection:
        """Every helper."""
        return self._select(self.names)

    def _select(self, names: Iterable[str]) -> PreambleSelection:
        chosen = [helper for helper in self.helpers.values() if helper.name in names]
        imports = sorted({module for helper in chosen for module in helper.imports})
        segments = tuple(helper.text for helper in chosen)
        return PreambleSelection(tuple(imports), segments, tuple(helper.name for helper in chosen))


def load_preamble(template_dirs: Sequence[Path] | None = None) -> Preamble:
    """Read the helpers of the template folders; of files of one name the earliest folder's wins.

    Without folders: those in use, read once unless they change.
    Raises: PreambleError with every problem of all files.
    """
    folders = all_folders() if template_dirs is None else tuple(template_dirs)
    return _load_once(folders, state_of(folders))


@lru_cache(maxsize=4)
def _load_once(folders: tuple[Path, ...], state: State) -> Preamble:
    return _load(folders)


def _load(template_dirs: Sequence[Path]) -> Preamble:
    problems: list[Diagnostic] = []
    files = template_files(template_dirs, "preamble", ".py.jinja")
    helpers: list[Helper] = []
    for topic in _ordered_topics(template_dirs, files, problems):
        helpers += _read_topic(files[topic], problems)
    problems += _reference_problems(helpers)
    if problems:
        raise PreambleError(problems)
    return Preamble(helpers)


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


def _read_topic(path: Path, problems: list[Diagnostic]) -> Iterator[Helper]:
    text = read_text(path)
    markers = list(HELPER_MARKER.finditer(text))
    head = text[: markers[0].start()] if markers else text
    if _COMMENT.sub("", head).strip() or not markers:
        what = "text stands before the first helper marker" if markers else "the file has no helper marker"
        note = "a marker reads {# helper: NAME  needs: ...  imports: ... #}"
        problems.append(Diagnostic("preamble-text", what, str(Location(path, 1)), (note,)))
    for marker, following in zip_longest(markers, markers[1:]):
        end = len(text) if following is None else following.start()
        where = Location(path, text.count("\n", 0, marker.start()) + 1)
        body = _COMMENT.sub("", text[marker.end() : end]).strip("\n").rstrip() + "\n"
        name = marker["name"]
        if not re.search(rf"^(?:(?:async )?def|class) {name}\b|^{name}\b[^=\n]*=", body, re.MULTILINE):
            what = f"the helper {name!r} is not defined below its marker"
            problems.append(Diagnostic("preamble-text", what, str(where)))
        needs, imports = _marker_keys(name, marker["rest"], where, problems)
        yield Helper(name, body, needs, imports, where)


def _marker_keys(
    name: str, rest: str, where: Location, problems: list[Diagnostic]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    parts = _KEY.split(rest)
    values: dict[str, tuple[str, ...]] = {"needs": (), "imports": ()}
    for key, value in zip(parts[1::2], parts[2::2], strict=True):
        if key in values:
            values[key] = tuple(item for item in (text.strip() for text in value.split(",")) if item)
        else:
            note = allowed_note("keys", tuple(values), key)
            problems.append(
                Diagnostic("preamble-marker", f"helper {name!r}: unknown key {key!r}", str(where), (note,))
            )
    for module in values["imports"]:
        if not _MODULE.fullmatch(module):
            what = f"helper {name!r}: {module!r} is no module"
            note = "imports: modules, comma-separated, as in `torch, threading`"
            problems.append(Diagnostic("preamble-marker", what, str(where), (note,)))
    return values["needs"], values["imports"]


def _reference_problems(helpers: Sequence[Helper]) -> Iterator[Diagnostic]:
    first: dict[str, Helper] = {}
    for helper in helpers:
        if helper.name in first:
            note = f"first: {first[helper.name].location}"
            what = f"two helpers are named {helper.name!r}"
            yield Diagnostic("duplicate-helper", what, str(helper.location), (note,))
        first.setdefault(helper.name, helper)
    for helper in helpers:
        for need in helper.needs:
            if need not in first:
                note = allowed_note("helpers", sorted(first), need)
                what = f"helper {helper.name!r} needs {need!r}, which is no helper"
                yield Diagnostic("unknown-helper", what, str(helper.location), (note,))
