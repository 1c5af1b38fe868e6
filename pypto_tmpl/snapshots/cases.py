"""The cases of a configuration: which script is made from what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pypto_tmpl.backend import BackendType
from pypto_tmpl.debug.torch_codegen import torch_codegen
from pypto_tmpl.errors import allowed_note
from pypto_tmpl.snapshots.code import Reference, definitions
from pypto_tmpl.snapshots.config import (
    CaseTable,
    Config,
    DumpTable,
    Form,
    KernelTable,
    ProgramTable,
    StreamTable,
)
from pypto_tmpl.snapshots.dumps import DumpFile, find_dumps
from pypto_tmpl.snapshots.sources import DumpSource, KernelSource, PreambleSource, ProgramSource, Source
from pypto_tmpl.snapshots.streams import STREAMS, StreamSource
from pypto_tmpl.snapshots.toml_file import Key

INIT = "init"  # a word of the command line, no case
_NAME = re.compile(r"[\w.+-]+(/[\w.+-]+)*", re.ASCII)
_FILE_NAME = re.compile(r"(?P<path>[^:]+\.py):(?P<name>\w+)")
_MODULE_NAME = re.compile(r"(?P<module>\w+(\.\w+)*):(?P<name>\w+)")


@dataclass(frozen=True, slots=True)
class Emission:
    """How the scripts of a case are emitted."""

    check_shapes: bool = False
    preamble: Form = "script"


@dataclass(frozen=True, slots=True)
class SnapshotCase:
    """One script: its name, what it is made from, the file it is kept in, and where that is configured."""

    name: str
    source: Source | PreambleSource | StreamSource
    script: Path
    emission: Emission
    place: str

    def text(self) -> str:
        """The script as it is emitted now, formatted. Raises PyptoTmplError."""
        if isinstance(self.source, PreambleSource | StreamSource):
            return self.source.text()
        return emitted(self.source, self.emission)


def emitted(source: Source, emission: Emission) -> str:
    """The script of a program as snapshots hold it."""
    program = source.program()
    return torch_codegen(
        program,
        emission.check_shapes,
        format=True,
        preamble=emission.preamble,
        options={},
        comments=True,
    )


def find_cases(config: Config) -> list[SnapshotCase]:
    """All cases, in the order of the configuration; nothing of a user's code is run.

    Raises ConfigError for one that matches nothing, for names that are none, and where two are the same.
    """
    cases: dict[str, SnapshotCase] = {}
    for case, keys in _all_cases(config):
        if not _NAME.fullmatch(case.name) or {".", ".."} & {*case.name.split("/")}:
            notes = ("names: letters, digits, '_', '-', '+' and '.', with '/' between folders",)
            raise config.error(f"{case.name!r} is no name of a case", *keys, notes=notes)
        if case.name == INIT:
            raise config.error(f"no case can be named {INIT!r}: that is a command", *keys)
        if case.name in cases:
            what = f"two cases are named {case.name!r}: {cases[case.name].place} has one too"
            raise config.error(what, *keys, notes=("name = '...' tells them apart",))
        cases[case.name] = case
    for index, name in enumerate(config.table.self_contained):
        if name not in cases:
            notes = (allowed_note("cases", list(cases), name),)
            raise config.error(f"no case is named {name!r}", "self_contained", index, notes=notes)
        own = cases[name]
        cases[name] = replace(own, emission=replace(own.emission, preamble="script"))
    return list(cases.values())


def _all_cases(config: Config) -> Iterator[tuple[SnapshotCase, tuple[Key, ...]]]:
    table = config.table
    for index, dumps in enumerate(table.dumps):
        for found in find_dumps(config, dumps, index):
            name = _name(config, dumps, _dump_name(dumps, found), found.words, "dumps", index)
            yield _case(config, dumps, name, DumpSource(found.path), "dumps", index), ("dumps", index)
    for index, kernel in enumerate(table.kernels):
        yield from _code_cases(config, kernel, "kernels", index)
    for index, program in enumerate(table.programs):
        yield from _code_cases(config, program, "programs", index)
    for index, stream in enumerate(table.streams):
        for case in _stream_cases(config, stream, index):
            yield case, ("streams", index)
    if table.preamble_case is not None:
        script, place = config.golden / f"{table.preamble_case}.py", config.place("preamble_case")
        helpers = SnapshotCase(table.preamble_case, PreambleSource(), script, Emission(), place)
        yield helpers, ("preamble_case",)


def _stream_cases(config: Config, entry: StreamTable, index: int) -> Iterator[SnapshotCase]:
    """The texts of each stream, in one file for each program."""
    keys: tuple[Key, ...] = ("streams", index)
    for number, stream in enumerate(entry.streams):
        if stream not in STREAMS:
            notes = (allowed_note("streams", list(STREAMS), stream),)
            raise config.error(f"there is no stream {stream!r}", *keys, "streams", number, notes=notes)
    found = find_dumps(config, entry, index, "streams")
    programs = {dump.words["program"] for dump in found}
    for number, name in enumerate(entry.programs or ()):
        if name not in programs:
            notes = (allowed_note("programs", sorted(programs), name),)
            raise config.error(f"no dumps are of {name!r}", *keys, "programs", number, notes=notes)
    several = entry.backends is None or len(entry.backends) > 1
    default = "{program}/{backend}/{stream}" if several else "{program}/{stream}"
    for dump in found:
        if entry.programs is not None and dump.words["program"] not in entry.programs:
            continue
        backend = BackendType.__members__.get(dump.words.get("backend", ""))
        if backend is None:
            notes = (f"backends: {', '.join(BackendType.__members__)}",)
            what = f"{entry.dumps!r} does not tell by {{backend}} what its dumps are compiled for"
            raise config.error(what, *keys, "dumps", notes=notes)
        for stream in entry.streams:
            words = dump.words | {"stream": STREAMS[stream].file}
            name = _name(config, entry, default, words, "streams", index)
            source = StreamSource(dump.path, backend, stream)
            yield SnapshotCase(name, source, config.golden / name, Emission(), config.place(*keys))


def _code_cases(
    config: Config, entry: KernelTable | ProgramTable, kind: str, index: int
) -> Iterator[tuple[SnapshotCase, tuple[Key, ...]]]:
    key = kind.removesuffix("s")
    text: str = getattr(entry, key)
    references = _references(config, text, (kind, index, key))
    default = "{file}/{name}" if "*" in text else "{name}"
    for reference in references:
        home = reference.home
        file = home.stem if isinstance(home, Path) else home.rpartition(".")[2]
        name = _name(config, entry, default, {"file": file, "name": reference.name}, kind, index)
        source: Source = ProgramSource(reference)
        if isinstance(entry, KernelTable):
            source = _kernel_source(config, entry, reference, index)
        yield _case(config, entry, name, source, kind, index), (kind, index)


def _kernel_source(config: Config, entry: KernelTable, reference: Reference, index: int) -> KernelSource:
    given = entry.arguments
    if not isinstance(given, str):
        return KernelSource(reference, given)
    if given.isidentifier():
        return KernelSource(reference, maker=Reference(config.folder, reference.home, given))
    (maker,) = _references(config, given, ("kernels", index, "arguments"))
    return KernelSource(reference, maker=maker)


def _references(config: Config, text: str, keys: tuple[Key, ...]) -> list[Reference]:
    """What ``file.py:name`` or ``module:name`` means; of files that ``*`` matches, those with that name."""
    module = _MODULE_NAME.fullmatch(text)
    if module and not module["module"].endswith(".py"):
        return [Reference(config.folder, module["module"], module["name"])]
    found = _FILE_NAME.fullmatch(text)
    if found is None:
        what = f"{text!r} is neither 'file.py:name' nor 'module:name'"
        raise config.error(what, *keys)
    path, name = found["path"], found["name"]
    if Path(path).is_absolute():
        raise config.error(f"{path!r} is not relative to the folder of this file", *keys)
    if "*" not in path:
        file = config.folder / path
        if not file.is_file():
            raise config.error(f"there is no file {path!r}", *keys)
        return [Reference(config.folder, file, name)]
    files = sorted(file for file in config.folder.glob(path) if name in definitions(file))
    if not files:
        raise config.error(f"no file {path!r} defines {name!r} at its top level", *keys)
    return [Reference(config.folder, file, name) for file in files]


def _dump_name(entry: DumpTable, found: DumpFile) -> str:
    if "stage" not in found.words:
        return "{file}"
    several = "backend" in found.words and (entry.backends is None or len(entry.backends) > 1)
    return "{program}/{backend}/{stage}" if several else "{program}/{stage}"


def _name(
    config: Config,
    entry: CaseTable | StreamTable,
    default: str,
    words: dict[str, str],
    kind: str,
    index: int,
) -> str:
    template = entry.name or default
    try:
        return template.format_map(words)
    except (KeyError, ValueError, IndexError, AttributeError):
        notes = (f"placeholders: {', '.join(f'{{{word}}}' for word in words)}",)
        raise config.error(f"{template!r} is no name of a case", kind, index, "name", notes=notes) from None


def _case(config: Config, entry: CaseTable, name: str, source: Source, kind: str, index: int) -> SnapshotCase:
    own = entry.check_shapes
    emission = Emission(
        config.table.check_shapes if own is None else own, entry.preamble or config.table.preamble
    )
    script = config.golden / f"{name}.py"
    return SnapshotCase(name, source, script, emission, config.place(kind, index))
