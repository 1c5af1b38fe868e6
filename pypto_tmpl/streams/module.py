"""The ``.pto`` texts of a program, a module for each unit."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, get_backend_type
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.streams.functions import function_text
from pypto_tmpl.streams.problems import PtoError
from pypto_tmpl.streams.templates import PtoTemplates, pto_templates
from pypto_tmpl.streams.units import Unit, paths_of

_TARGETS = {BackendType.Ascend910B: "a2a3", BackendType.Ascend950: "a5"}


def pto_text(
    unit: Unit,
    backend: BackendType | None = None,
    *,
    with_places: bool = True,
    templates: PtoTemplates | None = None,
) -> str:
    """The module of one unit, by default for the chosen backend. Raises PtoError with what is in the way."""
    chosen = get_backend_type() if backend is None else backend
    loaded = pto_templates() if templates is None else templates
    texts: list[str] = []
    found: list[Unsupported] = []
    for function in unit.functions:
        try:
            texts.append(function_text(function, chosen, loaded, with_places))
        except PtoError as error:
            found += error.found
    if found:
        raise PtoError(tuple(found))
    module: str = loaded.control.module(_TARGETS[chosen], "\n".join(texts), [])
    return module


def pto_texts(
    program: ir.Program,
    backend: BackendType | None = None,
    *,
    with_places: bool = True,
    skip_ptoas: bool = False,
) -> dict[str, str]:
    """The modules of a program by their paths in a build. Raises PtoError with all that is in the way."""
    templates = pto_templates()
    texts: dict[str, str] = {}
    errors: dict[str, PtoError] = {}
    for path, unit in paths_of(program, skip_ptoas=skip_ptoas).items():
        try:
            texts[path] = pto_text(unit, backend, with_places=with_places, templates=templates)
        except PtoError as error:
            errors[unit.name] = error
    if errors:
        raise PtoError(tuple(item for error in errors.values() for item in error.found))
    return texts
