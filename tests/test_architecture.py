"""The folders: who may import whom, no circles, and nothing taken from a face."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from pypto_tmpl.faces import FACES, find_face

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "pypto_tmpl"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / PACKAGE).rglob("*.py"))
}
# These are what users see of the whole: everything may ask for the version.
PUBLIC = {PACKAGE, f"{PACKAGE}.__main__"}
# Upstream's paths to what another folder makes: modules of their own, which only users import.
FACE = (f"{PACKAGE}.ir.op.", f"{PACKAGE}.ir.pass_manager.")


def imported(module: str) -> set[str]:
    """The modules of the package that a module imports, at any depth of its code, be it for types alone."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
            found.add(node.module)
    return {name for name in found if name in MODULES} - {module} - PUBLIC


def is_face(module: str) -> bool:
    return f"{module}.".startswith(FACE)


OWN = [module for module in MODULES if module not in PUBLIC and not is_face(module)]


@cache
def graph() -> dict[str, set[str]]:
    """What each module imports; worked out by the tests that ask, since every worker collects this file."""
    return {module: imported(module) for module in OWN}


def folder(module: str) -> str:
    return module.split(".")[1]


def rows(name: str) -> dict[str, set[str]]:
    """The rows of docs/architecture.md whose first cell is like ``name``, with what their last cell names."""
    found = re.findall(
        rf"^\| `({name})` \| [^|]+ \| ([^|]*)\|$",
        (ROOT / "docs/architecture.md").read_text(encoding="utf-8"),
        re.M,
    )
    return {row: set(re.findall(r"`(\w+)`", arrows)) for row, arrows in found}


def table() -> dict[str, set[str]]:
    """The folders of docs/architecture.md with what they may import."""
    return {name: arrows for name, arrows in rows(r"\w+").items() if name in FOLDERS}


def folders_in(parent: str, modules: Iterable[str]) -> set[str]:
    """The folders right inside of a folder that some modules are from."""
    inside = f"{PACKAGE}.{parent}."
    parts = (module.removeprefix(inside).split(".")[0] for module in modules if module.startswith(inside))
    return {part for part in parts if (ROOT / PACKAGE / parent / part).is_dir()}


FOLDERS = {folder(module) for module in OWN}
INNER = rows(r"\w+/\w+")


def test_every_folder_stands_in_the_table_and_imports_what_its_row_names() -> None:
    arrows: dict[str, set[str]] = defaultdict(set)
    for module, others in graph().items():
        arrows[folder(module)] |= {folder(other) for other in others} - {folder(module)}
    assert table() == {name: arrows[name] for name in FOLDERS}


def test_no_modules_import_each_other_in_a_circle() -> None:
    arrows = {
        module: {other for other in others if not module.startswith(f"{other}.")}
        for module, others in graph().items()
    }
    try:
        TopologicalSorter(arrows).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_folders_import_each_other_in_a_circle() -> None:
    TopologicalSorter(table()).prepare()


@pytest.mark.parametrize("parent", sorted({name.split("/")[0] for name in INNER}))
def test_folders_in_a_folder_import_what_their_rows_name(parent: str) -> None:
    arrows: dict[str, set[str]] = defaultdict(set)
    for module, others in graph().items():
        for name in folders_in(parent, [module]):
            arrows[f"{parent}/{name}"] |= folders_in(parent, others) - {name}
    assert {name: row for name, row in INNER.items() if name.startswith(f"{parent}/")} == arrows
    TopologicalSorter(
        {f"{name}": {f"{parent}/{other}" for other in row} for name, row in arrows.items()}
    ).prepare()


def test_nothing_imports_the_paths_that_are_for_users() -> None:
    assert not any(is_face(other) for others in graph().values() for other in others)


def test_nothing_is_taken_from_a_face() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in FACES and node.module != PACKAGE:
                taken = {alias.name for alias in node.names} & FACES[node.module].keys()
                assert not taken, f"{module} takes {taken} from {node.module}"


def test_only_packages_follow_a_face() -> None:
    """A module that called ``find_face`` would import what is built on it."""
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = [
            n for n in ast.walk(tree) if isinstance(n, ast.Name | ast.alias) and "find_face" in ast.unparse(n)
        ]
        allowed = {
            id(inner)
            for stmt in tree.body
            if path.name == "__init__.py"
            and (isinstance(stmt, ast.ImportFrom) or getattr(stmt, "name", "") == "__getattr__")
            for inner in ast.walk(stmt)
        }
        assert all(id(node) in allowed for node in named), f"{module} calls find_face"


@pytest.mark.parametrize(("package", "name"), [(p, name) for p, names in FACES.items() for name in names])
def test_faces_show_what_they_say(package: str, name: str) -> None:
    assert find_face(package, name) is not None


def test_a_name_that_is_no_face() -> None:
    with pytest.raises(AttributeError, match="module 'pypto_tmpl.ir' has no attribute 'nothing'"):
        find_face("pypto_tmpl.ir", "nothing")


def calls_of(name: str) -> set[str]:
    """The modules that call a function by its name."""
    return {
        module
        for module, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    }


def test_scripts_are_called_in_one_place() -> None:
    assert calls_of("script_threads") == calls_of("call_apart") == {f"{PACKAGE}.execution.loaded"}


def test_arguments_are_named_and_not_taken_from_locals() -> None:
    assert not calls_of("locals")
