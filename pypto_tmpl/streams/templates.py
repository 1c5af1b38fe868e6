"""The templates of ``.pto`` text, loaded once for each set of template folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pypto_tmpl.codegen.environment import TemplateMacros, create_environment
from pypto_tmpl.ops import OpTable, forget_changed, load_table
from pypto_tmpl.overlays import Folder, State, all_folders

_loaded: dict[tuple[Path, ...], tuple[State, PtoTemplates]] = {}


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


def pto_templates(template_dirs: Folder | list[Folder] | None = None) -> PtoTemplates:
    """The templates of the given folders, else of those in use, before the project's own."""
    folders = all_folders(template_dirs)
    state = forget_changed(folders)
    found = _loaded.get(folders)
    if found is None or found[0] != state:
        found = _loaded[folders] = state, PtoTemplates(folders)
    return found[1]
