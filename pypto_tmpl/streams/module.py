"""The ``.pto`` texts of a program, a module for each unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    """The module of one unit, by default for the chosen backend. Raises PtoError."""
    chosen = get_backend_type() if backend is None else backend
    loaded = pto_templates() if templates is None else templates
    texts = [function_text(function, chosen, loaded, with_places) for function in unit.functions]
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


class PtoStream:
    """The stream of a build that holds the ``.pto`` text of its kernels."""

    name = "ptoas"

    def emit(self, program: ir.Program, knobs: Mapping[str, Any]) -> Mapping[str, str]:
        """Texts by their paths in the build directory. Raises PtoError."""
        planner, backend = knobs.get("memory_planner"), knobs.get("backend_type")
        if getattr(planner, "name", planner) == "PTOAS":
            what = "the memory planner PTOAS leaves addresses to the assembler, the text has them all"
            raise PtoError((Unsupported(what, "", "", program.span),))
        with_places = knobs.get("emit_source_loc") is not False
        return pto_texts(
            program,
            BackendType[backend] if isinstance(backend, str) else backend,
            with_places=with_places,
            skip_ptoas=bool(knobs.get("skip_ptoas")),
        )
