"""The templates of ``.pto`` and C++ text, loaded once for each set of template folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pypto_tmpl.codegen.environment import TemplateMacros, create_environment
from pypto_tmpl.ops import OpTable, forget_changed, load_table
from pypto_tmpl.overlays import Folder, State, all_folders

_pto: dict[tuple[Path, ...], tuple[State, PtoTemplates]] = {}
_cpp: dict[tuple[Path, ...], tuple[State, CppTemplates]] = {}


class PtoTemplates:
    """The op table and the macros of ``templates/pto``."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        environment = create_environment(folders)
        self.table: OpTable = load_table(folders)
        self.values: Any = TemplateMacros(environment, "pto/values.pto.jinja")
        self.tiles: Any = TemplateMacros(environment, "pto/tiles.pto.jinja")
        self.control: Any = TemplateMacros(environment, "pto/control.pto.jinja")
        self.forms: Any = TemplateMacros(environment, "pto/forms.pto.jinja")
        self.ops: Any = TemplateMacros(environment, "pto/ops.pto.jinja")


class CppTemplates:
    """The op table and the macros of ``templates/orchestration``."""

    def __init__(self, folders: tuple[Path, ...]) -> None:
        environment = create_environment(folders)
        self.table: OpTable = load_table(folders)
        self.values: Any = TemplateMacros(environment, "orchestration/values.cpp.jinja")
        self.statements: Any = TemplateMacros(environment, "orchestration/statements.cpp.jinja")
        self.tasks: Any = TemplateMacros(environment, "orchestration/tasks.cpp.jinja")
        self.ops: Any = TemplateMacros(environment, "orchestration/ops.cpp.jinja")
        self.file: Any = TemplateMacros(environment, "orchestration/file.cpp.jinja")
        self.wrapper: Any = TemplateMacros(environment, "orchestration/wrapper.cpp.jinja")
        self.driver: Any = TemplateMacros(environment, "orchestration/driver.py.jinja")
        self.sub_worker: Any = TemplateMacros(environment, "orchestration/sub_worker.py.jinja")
        self.driver_ops: Any = TemplateMacros(environment, "orchestration/ops.py.jinja")
        self.config: Any = TemplateMacros(environment, "orchestration/kernel_config.py.jinja")


_Templates = TypeVar("_Templates", PtoTemplates, CppTemplates)


def pto_templates(template_dirs: Folder | list[Folder] | None = None) -> PtoTemplates:
    """The templates of the given folders, else of those in use, before the project's own."""
    return _current(PtoTemplates, _pto, template_dirs)


def cpp_templates(template_dirs: Folder | list[Folder] | None = None) -> CppTemplates:
    """The templates of the given folders, else of those in use, before the project's own."""
    return _current(CppTemplates, _cpp, template_dirs)


def _current(
    kind: type[_Templates],
    loaded: dict[tuple[Path, ...], tuple[State, _Templates]],
    template_dirs: Folder | list[Folder] | None,
) -> _Templates:
    folders = all_folders(template_dirs)
    state = forget_changed(folders)
    found = loaded.get(folders)
    if found is None or found[0] != state:
        found = loaded[folders] = state, kind(folders)
    return found[1]
