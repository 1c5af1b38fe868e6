"""``@pl.jit.extern``: functions whose bodies are kernel sources of their own."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pypto_tmpl.ir import ParamDirection
from pypto_tmpl.language.jit.declared import Declared
from pypto_tmpl.language.jit.kinds import Options
from pypto_tmpl.language.jit.metadata import Info
from pypto_tmpl.language.jit.spelling import annotation_node, definition, parameter_text, type_text
from pypto_tmpl.language.jit.text import Method

_CORE_TYPES = {"aiv": ("AIV",), "aic": ("AIC",), "mixed": ("AIC", "AIV")}


def checked_external(options: Options) -> Options:
    """The options, if they name a core type and its sources. Raises TypeError otherwise."""
    keywords = options.keywords
    core_type = keywords.get("core_type", "aiv")
    if core_type not in _CORE_TYPES:
        raise TypeError(f"@pl.jit.extern: core_type is one of {', '.join(_CORE_TYPES)}, got {core_type!r}")
    wanted = ("aic_source", "aiv_source") if core_type == "mixed" else ("source",)
    given = tuple(name for name in ("source", "aic_source", "aiv_source") if keywords.get(name) is not None)
    if sorted(given) != sorted(wanted):
        raise TypeError(
            f"@pl.jit.extern with core_type={core_type!r} takes {' and '.join(wanted)}, "
            f"given: {', '.join(given) or 'none'}"
        )
    return options


def external_functions(function: Declared, name: str, infos: Sequence[Info]) -> list[Method]:
    """The functions of an external kernel: one, or for "mixed" one a core and their group.

    Raises ValueError where a source does not exist.
    """
    keywords = function.options.keywords
    cores = _CORE_TYPES[keywords.get("core_type", "aiv")]
    is_mixed = len(cores) == 2
    attrs = _attributes(keywords)
    found = []
    for core in cores:
        path = _source(function, keywords[f"{core.lower()}_source" if is_mixed else "source"])
        decorator = f"pl.function(type=pl.FunctionType.{core}, external_source={str(path)!r})"
        own = [attrs[core]] if attrs.get(core) else []
        member = f"{name}_{core.lower()}" if is_mixed else name
        found.append(_method(function, member, decorator, infos, [*own, "..."]))
    if is_mixed:
        names = ", ".join(parameter.name for parameter in function.parameters())
        body = [f"self.{name}_aic({names})", f"self.{name}_aiv({names})"]
        found.append(_method(function, name, "pl.function(type=pl.FunctionType.Group)", infos, body))
    return found


def _attributes(keywords: Mapping[str, Any]) -> dict[str, str]:
    """The prologues that carry the options of the sources."""
    attrs: dict[str, Any] = {}
    if keywords.get("include_dirs"):
        attrs["external_include_dirs"] = os.pathsep.join(map(str, keywords["include_dirs"]))
    dual = {"dual_aiv_dispatch": True} if keywords.get("dual_aiv_dispatch") else {}
    return {
        core: f"pl.func_attr({found!r})"
        for core, found in (("AIC", attrs), ("AIV", {**attrs, **dual}))
        if found
    }


def _source(function: Declared, given: Any) -> Path:
    path = Path(function.source.filename).resolve().parent / Path(given)
    if not path.is_file():
        raise ValueError(f"the kernel source of {function.__name__!r} does not exist: {path}")
    return path


def _method(
    function: Declared, name: str, decorator: str, infos: Sequence[Info], body: Sequence[str]
) -> Method:
    tree = function.source.tree
    params = []
    returned: Info = None
    for parameter, info in zip(function.parameters(), infos, strict=True):
        params.append((parameter.node, parameter_text(parameter, info, with_direction=True)))
        if returned is None and parameter.direction is ParamDirection.Out:
            returned = info
    statements: list[ast.stmt] = [
        ast.copy_location(ast.Expr(annotation_node(text, tree)), tree) for text in body
    ]
    made = definition(name, decorator, params, type_text(returned), statements, tree)
    return Method(made, function.source)
