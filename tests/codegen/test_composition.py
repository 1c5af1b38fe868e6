"""The emitter is put together from small parts: no class of many members, none that inherits from another."""

import ast
from pathlib import Path

import pytest

import pypto_tmpl.codegen

FILES = sorted(Path(pypto_tmpl.codegen.__file__).parent.glob("*.py"))
MOST_MEMBERS = 32


def classes(source: str) -> list[ast.ClassDef]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)]


def members(node: ast.ClassDef) -> set[str]:
    """Methods and attributes that the class has or gives itself."""
    own = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    own |= {item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}
    for part in ast.walk(node):
        is_set = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        if is_set and isinstance(part.value, ast.Name) and part.value.id == "self":
            own.add(part.attr)
    return own


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_classes_are_small(path):
    sizes = {node.name: len(members(node)) for node in classes(path.read_text(encoding="utf-8"))}
    assert {name: size for name, size in sizes.items() if size > MOST_MEMBERS} == {}


def test_no_part_of_the_emitter_inherits_from_another():
    found = {node.name: node for path in FILES for node in classes(path.read_text(encoding="utf-8"))}
    parts = {name for name, node in found.items() if "_context" in members(node)}
    assert {"FunctionEmitter", "Statements", "Launches", "Scopes", "Recording"} <= parts
    bases = {base.id for name in parts for base in found[name].bases if isinstance(base, ast.Name)}
    assert bases == set()


def test_members_are_counted():
    (node,) = classes("class A:\n    x: int\n    def f(self):\n        self.y, self.z = self.x, 1\n")
    assert members(node) == {"x", "f", "y", "z"}
