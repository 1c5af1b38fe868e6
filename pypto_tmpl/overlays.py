"""The template folders in use: a user's come before the project's own, for all that reads, emits and runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

from pypto_tmpl import resources
from pypto_tmpl.errors import PyptoTmplError

Folder = str | os.PathLike[str]
State = tuple[tuple[str, int, int], ...]
PARTS = ("ops", "preamble", "script", "pto", "orchestration")
_process: list[tuple[Path, ...]] = [()]  # of the whole process, threads that scripts start among it
_here: ContextVar[tuple[Path, ...] | None] = ContextVar("template folders", default=None)


class TemplateFolderError(PyptoTmplError, FileNotFoundError):
    """A template folder that is named does not exist."""

    slug = "template-folder"


def checked_folders(template_dirs: Folder | Sequence[Folder] | None) -> tuple[Path, ...]:
    """Template folders of a user as paths; one may be given alone. Raises TemplateFolderError."""
    alone = isinstance(template_dirs, str | os.PathLike)
    given: Sequence[Folder] = [template_dirs] if alone else template_dirs or ()  # type: ignore[list-item,assignment]
    folders = tuple(Path(folder) for folder in given)
    for folder in folders:
        if not folder.is_dir():
            what = "is no folder" if folder.exists() else "does not exist"
            raise TemplateFolderError(f"the template folder {str(folder)!r} {what}")
    return folders


def all_folders(template_dirs: Folder | Sequence[Folder] | None = None) -> tuple[Path, ...]:
    """The given template folders, else those in use, before the project's own."""
    if template_dirs:
        return (*checked_folders(template_dirs), resources.template_root())
    here = _here.get()
    users = _process[-1] if here is None else here
    return (*users, resources.template_root()) if users else _own_folders()


@cache
def _own_folders() -> tuple[Path, ...]:
    """The project's templates alone."""
    return (resources.template_root(),)


@contextmanager
def using_templates(template_dirs: Folder | Sequence[Folder], *, everywhere: bool = False) -> Iterator[None]:
    """Use template folders inside the block, in this thread or, for a command, in all of them.

    Without folders those in use stay. Raises TemplateFolderError.
    """
    folders = checked_folders(template_dirs)
    if not folders:
        yield
    elif everywhere:
        _process.append(folders)
        try:
            yield
        finally:
            _process.remove(folders)
    else:
        token = _here.set(folders)
        try:
            yield
        finally:
            _here.reset(token)


def shared_folders() -> tuple[str, ...]:
    """The template folders that all threads of the process use, to be used by a child process too."""
    return tuple(os.path.abspath(folder) for folder in _process[-1])


def share_folders(folders: Sequence[Folder]) -> None:
    """Use template folders in all of this process, for good."""
    _process.append(checked_folders(folders))


def state_of(folders: Sequence[Path]) -> State:
    """What tells whether a template has changed: names, times and sizes of the files of all users' folders.

    The project's own are read once a process: to look at them takes as long as to emit a small program.
    """
    own = resources.template_root()
    found: list[tuple[str, int, int]] = []
    for folder in folders:
        for part in PARTS if folder != own else ():
            place = os.path.abspath(folder / part)
            try:
                entries = list(os.scandir(place))
            except OSError:
                continue
            for entry in entries:
                try:
                    known = entry.stat()
                except OSError:  # a link to nothing, or a file that has just gone
                    continue
                found.append((entry.path, known.st_mtime_ns, known.st_size))
    return tuple(sorted(found))
