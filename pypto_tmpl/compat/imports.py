"""Answering imports of PyPTO's modules with this project's, for one process."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import MappingProxyType, ModuleType

# Every module that is answered, and by which. A name outside of this table is never made up.
ANSWERED: Mapping[str, str] = MappingProxyType(
    {
        "pypto": "pypto_tmpl",
        "pypto.ir": "pypto_tmpl.ir",
        "pypto.language": "pypto_tmpl.language",
        "pypto.language.distributed": "pypto_tmpl.language.distributed",
        "golden": "pypto_tmpl.golden",
        "golden.runner": "pypto_tmpl.golden.runner",
        "golden.spec": "pypto_tmpl.golden.spec",
        "golden.validation": "pypto_tmpl.golden.validation",
    }
)
_ROOTS = frozenset(name.partition(".")[0] for name in ANSWERED)


class _Answer(Loader):
    """Gives the answering module itself, so that both names are one module with the same classes."""

    def __init__(self, target: str) -> None:
        self._target = target

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        sys.modules[module.__spec__.name] = import_module(self._target)


class _Finder(MetaPathFinder):
    """Stands before all other finders, for the answered packages only."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in _ROOTS:
            return None
        if fullname not in ANSWERED:
            names = ", ".join(ANSWERED)
            what = f"pypto_tmpl does not answer the import of {fullname!r}; it answers: {names}"
            raise ModuleNotFoundError(what, name=fullname)
        is_package = any(name.startswith(f"{fullname}.") for name in ANSWERED)
        return ModuleSpec(fullname, _Answer(ANSWERED[fullname]), is_package=is_package)


_FINDER = _Finder()


def install() -> None:
    """Answer the imports of this process from now on; a package that is already imported stays as it is."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Undo ``install``; modules that were answered are forgotten under PyPTO's names."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    for name, target in ANSWERED.items():
        if name in sys.modules and sys.modules[name] is sys.modules.get(target):
            del sys.modules[name]


@contextmanager
def answering() -> Iterator[None]:
    """Answer imports inside the block."""
    was_installed = _FINDER in sys.meta_path
    install()
    try:
        yield
    finally:
        if not was_installed:
            uninstall()
