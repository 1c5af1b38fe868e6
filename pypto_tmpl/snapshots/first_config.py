"""Writing a first configuration, with the kernels that a repository has."""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jinja2

from pypto_tmpl.files import write_text
from pypto_tmpl.resources import template_root
from pypto_tmpl.snapshots.config import OWN_FILE, PROJECT_FILE, TOOL, is_configured
from pypto_tmpl.snapshots.toml_file import ConfigError, read_toml

TEMPLATE = "snapshots/first_config.toml.jinja"
_OTHERS = {"build", "dist", "node_modules", "site-packages", "__pycache__", "golden_scripts"}
_ENTRIES = ("jit", "host")


@dataclass(frozen=True, slots=True)
class FoundKernel:
    """A JIT function of a file.

    ``arguments`` are the parameters, where annotations do not say it all, each with whether it is a scalar.
    """

    reference: str
    name: str | None
    arguments: dict[str, bool]


@dataclass(frozen=True, slots=True)
class FirstConfig:
    """What was written: the file, whether it was there before, and the kernels in it."""

    file: Path
    is_added: bool
    kernels: list[FoundKernel]


def write_first_config(folder: Path) -> FirstConfig:
    """Add a configuration to ``pyproject.toml``, or write ``pypto-tmpl.toml`` where there is none.

    The files of the folder are read, none is run. Raises ConfigError where there is one already.
    """
    for name in (OWN_FILE, PROJECT_FILE):
        if is_configured(folder / name):
            raise ConfigError("snapshots are configured already", where=name, notes=["it stays as it is"])
    project = folder / PROJECT_FILE
    is_added = project.is_file()
    kernels = list(_named(list(_kernels(folder))))
    prefix = f"{'.'.join(TOOL)}." if is_added else ""
    text = _rendered(prefix, kernels)
    file = project if is_added else folder / OWN_FILE
    if is_added:
        before = read_toml(project).text
        end = "\r\n" if "\r\n" in before else "\n"
        gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
        text = before + (gap + text).replace("\n", end)
    write_text(file, text)
    return FirstConfig(file, is_added, kernels)


def _rendered(prefix: str, kernels: list[FoundKernel]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template_root()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(TEMPLATE).render(prefix=prefix, kernels=kernels)


def _named(kernels: list[tuple[Path, str, dict[str, bool]]]) -> Iterator[FoundKernel]:
    """The kernels, with names of their own where several files have one of the same name."""
    counts = Counter(name for _, name, _ in kernels)
    for path, name, arguments in kernels:
        own = path.with_suffix("").joinpath(name).as_posix() if counts[name] > 1 else None
        yield FoundKernel(f"{path.as_posix()}:{name}", own, arguments)


def _kernels(folder: Path) -> Iterator[tuple[Path, str, dict[str, bool]]]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if _is_users(Path(place, name)))
        for file in sorted(Path(place, name) for name in files if name.endswith(".py")):
            try:
                tree = ast.parse(file.read_bytes())
            except (SyntaxError, ValueError, OSError):
                continue  # no file that defines a kernel
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and any(map(_is_entry, node.decorator_list)):
                    yield file.relative_to(folder), node.name, _open_parameters(node)


def _is_users(folder: Path) -> bool:
    name = folder.name
    return not (name.startswith(".") or name in _OTHERS or (folder / "pyvenv.cfg").is_file())


def _is_entry(decorator: ast.expr) -> bool:
    """Whether it is ``pl.jit`` or ``pl.jit.host``, called or not; others are for kernels to call."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    words = ast.unparse(called).split(".")
    return words[-1] in _ENTRIES and "jit" in words[-2:]


def _open_parameters(node: ast.FunctionDef) -> dict[str, bool]:
    """All parameters, if the annotation of one leaves its shape or dtype open, else none."""
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    is_open = any(p.annotation is None or _leaves_open(p.annotation) for p in parameters)
    return {p.arg: "Scalar" in _words(p.annotation) for p in parameters} if is_open else {}


def _words(annotation: ast.expr | None) -> set[str]:
    """The last words of the names in an annotation: ``Scalar`` and ``FP32`` of ``pl.Scalar[pl.FP32]``."""
    names = ast.walk(annotation) if annotation is not None else ()
    return {ast.unparse(node).split(".")[-1] for node in names if isinstance(node, ast.Name | ast.Attribute)}


def _leaves_open(annotation: ast.expr) -> bool:
    if isinstance(annotation, ast.Constant):
        return False
    filled = {id(node.value) for node in ast.walk(annotation) if isinstance(node, ast.Subscript)}
    return any(
        ast.unparse(node).split(".")[-1] == "Tensor" and id(node) not in filled
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name | ast.Attribute)
    )
