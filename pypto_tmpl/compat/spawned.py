"""Child processes that start anew: they answer the imports of their script, as their parent does."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from multiprocessing import spawn
from typing import Any

from pypto_tmpl.overlays import share_folders, shared_folders

_KEY = "pypto_tmpl"
Preparation = Callable[[str], dict[str, Any]]
Installer = Callable[[], bool]


class _Prepared:
    """Prepares a child when it is unpickled there, which comes before the script is imported again."""

    def __init__(self, install: Installer) -> None:
        self._install = install

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        return prepare_child, (self._install, shared_folders())


def prepare_child(install: Installer, folders: tuple[str, ...]) -> None:
    """Answer imports in this process, with the template folders of its parent."""
    share_folders(folders)
    install()


def prepare_children(install: Installer) -> None:
    """Let every child that multiprocessing starts from now on call ``install``, a function of a module."""
    if not hasattr(spawn.get_preparation_data, "__wrapped__"):
        prepared = _with_answers(spawn.get_preparation_data, _Prepared(install))
        spawn.get_preparation_data = prepared  # type: ignore[assignment]


def leave_children() -> None:
    """Undo ``prepare_children``."""
    spawn.get_preparation_data = getattr(
        spawn.get_preparation_data, "__wrapped__", spawn.get_preparation_data
    )


def _with_answers(preparation: Preparation, prepared: _Prepared) -> Preparation:
    @wraps(preparation)
    def data(name: str) -> dict[str, Any]:
        return preparation(name) | {_KEY: prepared}

    return data
