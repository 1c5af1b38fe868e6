"""Writing files so that a failure never leaves half of one."""

from __future__ import annotations

import errno
import os
import secrets
from pathlib import Path

from pypto_tmpl.errors import PyptoTmplError


class FileError(PyptoTmplError, OSError):
    """A file cannot be written."""

    slug = "file"


def write_text(path: str | os.PathLike[str], text: str, *, make_folders: bool = True) -> None:
    """Write UTF-8 text with the line ends it has, as ``write_bytes`` does."""
    write_bytes(path, text.encode(), make_folders=make_folders)


def write_bytes(path: str | os.PathLike[str], data: bytes, *, make_folders: bool = False) -> None:
    """Write a file as a whole or not at all: beside its place first, then in one step.

    A link is written through and stays one; a device or pipe is written to, it cannot be replaced.
    Raises: FileError naming the path, also when its folder does not exist (unless ``make_folders``).
    """
    target = Path(os.path.realpath(path))
    try:
        if make_folders and not target.parent.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            _write_beside(target, data)
        elif target.is_file():
            _refuse_read_only(target)
            _write_beside(target, data, target.stat().st_mode)
        else:
            target.write_bytes(data)
    except OSError as error:
        where = os.fspath(path)
        raise FileError(f"the file cannot be written: {error.strerror or error}", where=where) from None


def make_folder(folder: Path) -> None:
    """Make a folder and those above it. Raises FileError where a file is in its place."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(f"the folder cannot be made: {error.strerror or error}", where=str(folder)) from None


def remove_file(path: Path) -> None:
    """Remove a file, if it is there. Raises FileError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"the file cannot be removed: {error.strerror or error}", where=str(path)) from None


def move_into_place(beside: Path, path: Path) -> None:
    """Let a file that was written elsewhere in the file system take a place; a link stays one.

    Raises: FileError, also for a read-only file.
    """
    target = Path(os.path.realpath(path))
    try:
        _refuse_read_only(target)
        os.replace(beside, target)
    except OSError as error:
        raise FileError(f"the file cannot be written: {error.strerror or error}", where=str(path)) from None


def _refuse_read_only(target: Path) -> None:
    """A file that nobody may write would be replaced all the same: that takes a right on its folder only."""
    if target.is_file() and not (target.stat().st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "the file is read-only")


def _write_beside(target: Path, data: bytes, mode: int | None = None) -> None:
    """Write a file beside its place, with that mode if there is one, and move it there."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        beside.write_bytes(data)
        if mode is not None:
            beside.chmod(mode)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
