"""What a repository says of its snapshots, in ``pyproject.toml`` or ``pypto-tmpl.toml``.

::

    [tool.pypto-tmpl.snapshots]                  # in pypto-tmpl.toml: [snapshots]
    golden = "golden"                            # the folder of the committed scripts

    [[tool.pypto-tmpl.snapshots.kernels]]
    kernel = "kernels/softmax.py:softmax"        # file.py:name or module:name
    arguments = ["FP32[128, 200]", "FP32[128, 200]"]

Everything is read strictly: what is unknown is an error with file and line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec

from pypto_tmpl.errors import allowed_note
from pypto_tmpl.snapshots.toml_file import ConfigError, Key, TomlFile, read_toml

OWN_FILE, PROJECT_FILE = "pypto-tmpl.toml", "pyproject.toml"
TOOL = ("tool", "pypto-tmpl")
SNAPSHOTS = "snapshots"
FRONTEND, LAST = "frontend", "last"

_UNKNOWN_KEY = re.compile(r"Object contains unknown field `(?P<name>.*)`")
_MISSING_KEY = re.compile(r"Object missing required field `(?P<name>.*)`")
_WRONG_TYPE = re.compile(r"Expected `(?P<wanted>.*?)(?: \| null)?`, got `(?P<given>.*)`")
_WRONG_WORD = re.compile(r"Invalid enum value '(?P<word>.*)'")
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+)\]")

Form = Literal["script", "import"]  # where the helpers of a script are
Argument = str | int | float | bool
Arguments = str | list[Argument] | dict[str, Argument]


class CaseTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every kind of case may say: its name, with placeholders, and how its scripts are emitted."""

    name: str | None = None
    check_shapes: bool | None = None
    preamble: Form | None = None


class KernelTable(CaseTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A JIT function with the arguments that it is specialised for, or what makes them."""

    kernel: str
    arguments: Arguments | None = None


class ProgramTable(CaseTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program or function that Python code defines."""

    program: str


class DumpTable(CaseTable, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Files, or folders with the stages of a program, that the compiler dumped."""

    dumps: str
    stages: list[str] | None = None
    backends: list[str] | None = None


class StreamTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Streams of a device build, of folders with the stages of a program: of the last one."""

    streams: list[str]
    dumps: str
    programs: list[str] | None = None
    backends: list[str] | None = None
    name: str | None = None


class SnapshotTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The whole: where the scripts are kept, how they are emitted, and the cases."""

    golden: str
    check_shapes: bool = False
    preamble: Form = "script"
    self_contained: list[str] = []  # names of cases that carry their helpers, whatever the others do
    preamble_case: str | None = None  # name of a case that is all helpers of ``pypto_tmpl.preamble``
    kernels: list[KernelTable] = []
    programs: list[ProgramTable] = []
    dumps: list[DumpTable] = []
    streams: list[StreamTable] = []


@dataclass(frozen=True, slots=True)
class Config:
    """The table of a repository with the file that it stands in."""

    file: TomlFile
    prefix: tuple[str, ...]
    table: SnapshotTable

    @property
    def folder(self) -> Path:
        """The folder that all paths of the configuration are relative to."""
        return self.file.path.parent

    @property
    def golden(self) -> Path:
        """The folder of the committed scripts."""
        return self.folder / self.table.golden

    def place(self, *keys: Key) -> str:
        """``file:line`` of something in the table."""
        return self.file.place((*self.prefix, *keys))

    def error(self, what: str, *keys: Key, notes: tuple[str, ...] = ()) -> ConfigError:
        """An error of something in the table, to be raised."""
        return ConfigError(what, where=self.place(*keys), notes=notes)


def find_config(folder: Path) -> Config:
    """What ``nearest_config`` gives. Raises ConfigError where there is none, and for one that is broken."""
    found = nearest_config(folder)
    if found is not None:
        return found
    notes = [
        f"looked for [{'.'.join((*TOOL, SNAPSHOTS))}] in {PROJECT_FILE} and for {OWN_FILE}",
        "a first one is written by: pypto-tmpl snapshot init",
    ]
    raise ConfigError("no snapshots are configured here", where=str(folder), notes=notes)


def nearest_config(folder: Path) -> Config | None:
    """The configuration of a folder, or of the nearest one above it up to that of the repository.

    Raises ConfigError for one that is broken.
    """
    for place in (folder, *folder.parents):
        found = [path for path in (place / OWN_FILE, place / PROJECT_FILE) if is_configured(path)]
        if len(found) > 1:
            what = f"snapshots are configured twice: in {OWN_FILE} and in {PROJECT_FILE}"
            raise ConfigError(what, where=str(place), notes=["keep one of them"])
        if found:
            return read_config(found[0])
        if (place / ".git").exists():
            break
    return None


def is_configured(path: Path) -> bool:
    """Whether a file is there and is about snapshots. Raises ConfigError where it is no TOML."""
    if not path.is_file():
        return False
    return path.name == OWN_FILE or bool(_tool_table(read_toml(path).data))


def _tool_table(data: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Any = data
    for key in TOOL:
        found = found.get(key, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def read_config(path: Path) -> Config:
    """The configuration of a file; any name but ``pyproject.toml`` is that of a file of its own.

    Raises ConfigError.
    """
    file = read_toml(path.absolute())
    is_project = path.name == PROJECT_FILE
    above = TOOL if is_project else ()
    tables = _tool_table(file.data) if is_project else file.data
    for name in tables:
        if name != SNAPSHOTS:
            notes = [allowed_note("tables", [SNAPSHOTS], name)]
            raise ConfigError(f"unknown table {name!r}", where=file.place((*above, name)), notes=notes)
    if SNAPSHOTS not in tables:
        what = f"there is no table [{'.'.join((*above, SNAPSHOTS))}]"
        raise ConfigError(what, where=file.place(()))
    config = Config(file, (*above, SNAPSHOTS), _converted(file, (*above, SNAPSHOTS), tables[SNAPSHOTS]))
    _check(config)
    return config


def _converted(file: TomlFile, prefix: tuple[str, ...], table: object) -> SnapshotTable:
    try:
        return msgspec.convert(table, SnapshotTable)
    except msgspec.ValidationError as error:
        message, _, at = str(error).partition(" - at ")
        keys: list[Key] = [
            step["key"] if step["key"] is not None else int(step["index"])
            for step in _STEP.finditer(at.strip("`"))
        ]
        notes = []
        if unknown := _UNKNOWN_KEY.fullmatch(message):
            kind = {
                "kernels": KernelTable,
                "programs": ProgramTable,
                "dumps": DumpTable,
                "streams": StreamTable,
            }
            fields = (kind[str(keys[0])] if keys else SnapshotTable).__struct_fields__
            notes = [allowed_note("keys", fields, unknown["name"])]
            message, keys = f"unknown key {unknown['name']!r}", [*keys, unknown["name"]]
        elif missing := _MISSING_KEY.fullmatch(message):
            message = f"the key {missing['name']!r} is missing"
        elif wrong := _WRONG_TYPE.fullmatch(message):
            message = f"{_shown(keys)} is of type {wrong['given']}, where {wrong['wanted']} is expected"
        elif word := _WRONG_WORD.fullmatch(message):
            message = f"{_shown(keys)} is {word['word']!r}"
            notes = [allowed_note("values", get_args(Form), word["word"])]
        raise ConfigError(message, where=file.place((*prefix, *keys)), notes=notes) from None


def _shown(keys: Sequence[Key]) -> str:
    """How a message names a value: by the last key, with the place in a list behind it."""
    name = max((at for at, key in enumerate(keys) if isinstance(key, str)), default=0)
    return "".join(str(key) if at == name else f"[{key}]" for at, key in enumerate(keys) if at >= name)


def _check(config: Config) -> None:
    """What types cannot say. Raises ConfigError."""
    table = config.table
    if config.golden.resolve() == config.folder.resolve() or Path(table.golden).is_absolute():
        what = f"golden is {table.golden!r}, not a folder below that of this file"
        raise config.error(what, "golden")
    if ".." in Path(table.golden).parts:
        raise config.error(f"golden is {table.golden!r}, which leaves the folder of this file", "golden")
    if not (table.kernels or table.programs or table.dumps or table.streams):
        notes = ("cases: [[...kernels]], [[...programs]], [[...dumps]], [[...streams]]",)
        raise config.error("there are no cases", notes=notes)
