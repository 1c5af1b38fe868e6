"""The stages of a pass dump: which files belong to each, and in which order they come."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl.errors import PyptoTmplError

TEXT, BINARY = ".py", ".msgpack"
_NUMBERED = re.compile(r"(\d+)_")


class StageNotFoundError(PyptoTmplError, FileNotFoundError):
    """There is no dump where one was said to be."""

    slug = "no-dumps"


class StageFileError(PyptoTmplError, OSError):
    """A dump that is there cannot be read from the disk."""

    slug = "dump-file"


@dataclass(frozen=True, slots=True)
class StageContent:
    """What the files of a stage hold; plain bytes, so that it can go to another machine."""

    name: str
    text_name: str
    text: bytes | None
    binary_name: str
    binary: bytes | None


@dataclass(frozen=True, slots=True)
class Stage:
    """The program after one pass: its text, its binary companion, or both."""

    name: str
    text: Path | None
    binary: Path | None

    @property
    def path(self) -> Path:
        """The file to name when the stage is meant: the text, unless there is only the companion."""
        path = self.text or self.binary
        assert path is not None
        return path

    def read(self) -> StageContent:
        """The bytes of its files. Raises StageFileError."""
        text, binary = (None if path is None else _read(path) for path in (self.text, self.binary))
        return StageContent(self.name, str(self.text or ""), text, str(self.binary or ""), binary)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StageFileError(f"the dump cannot be read: {error.strerror or error}", where=str(path)) from None


def find_stages(source: Path) -> list[Stage]:
    """The stages of a dump directory in pass order, or the single one of a dump file.

    A text is accompanied by the ``.msgpack`` of the same stem. The order is that of the numbers that the
    names start with; files without a number come last, by name.
    Raises StageNotFoundError when there is none.
    """
    if source.is_dir():
        files = [path for path in source.iterdir() if path.is_file() and not path.name.startswith((".", "_"))]
        stages = _stages(path for path in files if path.suffix in (TEXT, BINARY))
        if not stages:
            raise StageNotFoundError(f"no pass dumps in {str(source)!r}", notes=_where_else(source))
        return stages
    if not source.exists():
        raise StageNotFoundError(f"there is no {str(source)!r}")
    if source.suffix not in (TEXT, BINARY):
        raise StageNotFoundError(f"{source.name!r} is no pass dump", notes=[f"dumps: *{TEXT}, *{BINARY}"])
    companion = source.with_suffix(BINARY)
    return _stages({source, companion} if companion.is_file() else {source})


def _stages(files: Iterable[Path]) -> list[Stage]:
    by_stem: dict[str, dict[str, Path]] = {}
    for path in files:
        by_stem.setdefault(path.stem, {})[path.suffix] = path
    stages = [Stage(stem, found.get(TEXT), found.get(BINARY)) for stem, found in by_stem.items()]
    return sorted(stages, key=_pass_order)


def _pass_order(stage: Stage) -> tuple[float, str]:
    match = _NUMBERED.match(stage.name)
    return (int(match[1]) if match else float("inf"), stage.name)


def _where_else(folder: Path) -> list[str]:
    """Folders one level below that hold dumps."""
    holding = sorted(
        path.name
        for path in folder.iterdir()
        if path.is_dir() and any(_NUMBERED.match(file.name) for file in path.glob(f"*{TEXT}"))
    )
    return [f"dumps: NN_after_<Pass>{TEXT}, NN_after_<Pass>{BINARY}"] + (
        [f"folders in it that hold dumps: {', '.join(holding)}"] if holding else []
    )
