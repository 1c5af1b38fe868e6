"""The texts of the host and the configurations of a program by their paths in a build."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.domains.host import REQUIRED, is_callback
from pypto_tmpl.streams.driver import driver_of
from pypto_tmpl.streams.driver.sub_workers import (
    required_text,
    sub_worker_path,
    sub_worker_text,
    sub_workers_of,
)
from pypto_tmpl.streams.orchestration.config import RUN_TIME, config_text, core_of
from pypto_tmpl.streams.orchestration.functions import orchestration_of
from pypto_tmpl.streams.orchestration.wrappers import defines, wrapper_text
from pypto_tmpl.streams.problems import CollectiveError, StreamError
from pypto_tmpl.streams.templates import CppTemplates, cpp_templates
from pypto_tmpl.streams.units import drivers_of, folders_of, paths_of

DRIVER = "orchestration/host_orch.py"


@dataclass(slots=True)
class HostTexts:
    """Texts by path; ``errors`` are what has none, by the name of the function.

    ``undefined`` are kernels that the C++ of the assembler has no function of.
    """

    texts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, StreamError] = field(default_factory=dict)
    undefined: list[str] = field(default_factory=list)


def host_texts(
    program: ir.Program, backend: BackendType, *, skip_ptoas: bool = False, run_time: str = RUN_TIME
) -> HostTexts:
    """``orchestration/<name>.cpp`` of every orchestration of a chip, and the ``kernel_config.py`` beside.

    Where the host drives several chips, ``orchestration/host_orch.py`` says how, and ``sub_workers/`` has the
    Python that runs beside them.
    A build that stops at the ``.pto`` texts has no configuration. One function that has no text does not keep
    the others from having theirs.
    """
    found = HostTexts()
    templates = cpp_templates()
    for function, folder in folders_of(program).items():
        try:
            made = orchestration_of(program, function, backend, templates)
        except StreamError as error:
            found.errors[function.name] = error
            continue
        found.texts[f"{folder}orchestration/{function.name}.cpp"] = made.code
        if not skip_ptoas:
            found.texts[f"{folder}kernel_config.py"] = config_text(made, templates, run_time)
    for function in drivers_of(program):
        _add_driver(found, program, function, templates)
        _add_sub_workers(found, program, templates)
    return found


def _add_driver(
    found: HostTexts, program: ir.Program, function: ir.Function, templates: CppTemplates
) -> None:
    """The driver of several chips. The collectives that it runs would have builds of their own."""
    try:
        made = driver_of(program, function, templates)
    except StreamError as error:
        found.errors[function.name] = error
        return
    found.texts[DRIVER] = made.code
    for name, span in made.collectives.items():
        what = f"{name} is a build of its own, and nothing makes it: collectives within kernels have text"
        found.errors[name] = CollectiveError((Unsupported(what, function.name, "", span),))


def _add_sub_workers(found: HostTexts, program: ir.Program, templates: CppTemplates) -> None:
    """The Python of sub-workers, and the names of those that are given theirs by who runs the program."""
    for function in sub_workers_of(program):
        if is_callback(function):
            continue
        try:
            found.texts[sub_worker_path(function.name)] = sub_worker_text(function, templates)
        except StreamError as error:
            found.errors[function.name] = error
    required = required_text(program)
    if required:
        found.texts[REQUIRED] = required


def wrapper_texts(
    program: ir.Program, backend: BackendType, assembled: Mapping[str, str | None]
) -> HostTexts:
    """``kernels/<core>/<name>.cpp`` of every kernel whose unit has a ``.pto`` text.

    ``assembled`` is what the assembler made of the texts, by their paths: None where it made nothing, which
    an ``#error`` in the wrapper says.
    """
    found = HostTexts()
    templates = cpp_templates()
    for path, unit in paths_of(program).items():
        if path not in assembled:
            continue
        folder = path.removesuffix(f"ptoas/{unit.name}.pto")
        made = assembled[path]
        for kernel in unit.functions:
            try:
                text = wrapper_text(kernel, made, backend, templates)
            except StreamError as error:
                found.errors[kernel.name] = error
            else:
                found.texts[f"{folder}kernels/{core_of(kernel)}/{kernel.name}.cpp"] = text
                if made is not None and not defines(made, kernel):
                    found.undefined.append(kernel.name)
    return found
