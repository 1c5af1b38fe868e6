"""The dumps that a configuration means: files, or chosen stages of folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl.debug.stages.dumps import BINARY, TEXT, Stage, StageNotFoundError, find_stages
from pypto_tmpl.snapshots.config import FRONTEND, LAST, Config, DumpTable, StreamTable

PLACEHOLDERS = ("program", "backend")
DEFAULT_STAGES = (FRONTEND, LAST)
EVERY = "*"
_PART = re.compile(r"\{(?P<word>\w*)\}|(?P<star>\*+)")
_PASS_NAME = re.compile(r"\d+_(after_)?(?P<name>.+)")


@dataclass(frozen=True, slots=True)
class DumpFile:
    """A dump, with the words that the names of cases are made of."""

    path: Path
    words: dict[str, str]


def find_dumps(
    config: Config, entry: DumpTable | StreamTable, index: int, kind: str = "dumps"
) -> list[DumpFile]:
    """The dumps of an entry of a kind, by path and in the order of its stages.

    Raises ConfigError where a pattern, a backend or a stage matches nothing.
    """
    matched = [
        (path, words)
        for path, words in _matched(config, entry, kind, index)
        if entry.backends is None or words.get("backend") in entry.backends
    ]
    found_backends = {words.get("backend") for _, words in matched}
    for backend in entry.backends or ():
        if backend not in found_backends:
            raise config.error(f"no dumps of the backend {backend!r}", kind, index, "backends")
    named = entry.stages if isinstance(entry, DumpTable) else [LAST]
    stages = tuple(named or DEFAULT_STAGES)
    dumps: list[DumpFile] = []
    used = set()
    for path, words in matched:
        if path.is_file():
            dumps.append(DumpFile(path, words | {"file": path.stem}))
            continue
        for wanted, stage in _chosen(_read_stages(path), stages):
            used.add(wanted)
            label = stage.name if wanted == EVERY else wanted
            dumps.append(DumpFile(_file(stage), words | {"stage": label}))
    for name in named or ():
        if name not in used:
            raise config.error(f"no dump is of the stage {name!r}", kind, index, "stages")
    if not dumps:
        raise config.error(f"no dumps match {entry.dumps!r}", kind, index, "dumps")
    return dumps


def _matched(
    config: Config, entry: DumpTable | StreamTable, kind: str, index: int
) -> list[tuple[Path, dict[str, str]]]:
    """Files and folders that the pattern matches, with what its placeholders stand for."""
    pattern, last = entry.dumps, 0
    globbed, regex = "", ""
    for part in _PART.finditer(pattern):
        word = part["word"]
        if part["star"] is None and word not in PLACEHOLDERS or part["star"] not in (None, "*"):
            notes = (f"allowed: '*', {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}",)
            raise config.error(f"{part[0]!r} in {pattern!r}", kind, index, "dumps", notes=notes)
        plain = pattern[last : part.start()]
        globbed += plain + "*"
        regex += re.escape(plain) + (f"(?P<{word}>[^/]*)" if word else "[^/]*")
        last = part.end()
    globbed, regex = globbed + pattern[last:], regex + re.escape(pattern[last:])
    if Path(pattern).is_absolute():
        raise config.error(f"{pattern!r} is not relative to the folder of this file", kind, index, "dumps")
    paths = sorted(config.folder.glob(globbed.rstrip("/"))) if last else [config.folder / pattern]
    found: list[tuple[Path, dict[str, str]]] = []
    for path in paths:
        is_dump = path.is_dir() or (path.is_file() and path.suffix in (TEXT, BINARY))
        hidden = path.name.startswith(".")
        match = re.fullmatch(regex.rstrip("/"), _relative(path, config.folder))
        if is_dump and match and not hidden:
            found.append((path, {"program": path.name} | match.groupdict()))
    if not found:
        raise config.error(f"nothing matches {pattern!r}", kind, index, "dumps")
    return found


def _relative(path: Path, folder: Path) -> str:
    return path.as_posix().removeprefix(f"{folder.as_posix()}/")


def _read_stages(folder: Path) -> list[Stage]:
    try:
        return find_stages(folder)
    except StageNotFoundError:
        return []


def _chosen(stages: list[Stage], wanted: tuple[str, ...]) -> Iterator[tuple[str, Stage]]:
    """The wanted stages that there are; the last one only where it is not the first as well."""
    numbered = [stage for stage in stages if _PASS_NAME.fullmatch(stage.name)]
    for want in wanted:
        if want == EVERY:
            found = stages
        elif want == FRONTEND:
            found = [stage for stage in numbered if _is_frontend(stage)]
        elif want == LAST:
            found = [stage for stage in numbered[-1:] if not _is_frontend(stage)]
        else:
            found = [stage for stage in stages if want in (stage.name, _stage_name(stage))][-1:]
        yield from ((want, stage) for stage in found)


def _is_frontend(stage: Stage) -> bool:
    return _stage_name(stage) == FRONTEND


def _file(stage: Stage) -> Path:
    """The binary dump where there is one: it is read faster, and holds the same."""
    file = stage.binary or stage.text
    assert file is not None
    return file


def _stage_name(stage: Stage) -> str:
    found = _PASS_NAME.fullmatch(stage.name)
    return found["name"] if found else stage.name
