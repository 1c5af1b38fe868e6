"""A typo in a template must never render as nothing: every name in every template is one it is given."""

from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest
from jinja2 import meta, nodes

from pypto_tmpl.codegen.environment import create_environment
from pypto_tmpl.codegen.operands import FACTS
from pypto_tmpl.ops import OpEntry, load_table
from pypto_tmpl.ops.macros import reachable_macros, scan_macros
from pypto_tmpl.ops.model import CALL_FACTS
from pypto_tmpl.resources import template_root

ENVIRONMENT = create_environment()
MACRO_FILES = sorted((template_root() / "ops").glob("*.py.jinja"))
SCRIPT_FILES = sorted((template_root() / "script").glob("*.jinja"))


class Anything:
    """Stands for a value that a template is given; ``truth`` is which branch its tests take."""

    def __init__(self, truth: bool) -> None:
        self.truth = truth

    def __bool__(self) -> bool:
        return self.truth

    def __iter__(self) -> Iterator["Anything"]:
        return iter([self, self])

    def __len__(self) -> int:
        return 2

    def __getattr__(self, name: str) -> "Anything":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: object, **kwargs: object) -> "Anything":
        return self

    def __getitem__(self, key: object) -> "Anything":
        return self

    def __str__(self) -> str:
        return "anything"


def parse(path: Path) -> nodes.Template:
    return ENVIRONMENT.parse(path.read_text(), filename=str(path))


@pytest.mark.parametrize("path", MACRO_FILES, ids=lambda path: path.name.split(".")[0])
def test_macros_name_only_what_they_are_given(path: Path) -> None:
    template = parse(path)
    # A name that only one branch sets counts as undeclared, but is a local all the same.
    assigned = {name.name for name in template.find_all(nodes.Name) if name.ctx == "store"}
    assert meta.find_undeclared_variables(template) - assigned == set()


def users(stem: str) -> dict[str, list[OpEntry]]:
    """Macro of the file → the ops that reach it."""
    files = {path.name.removesuffix(".py.jinja"): scan_macros(path) for path in MACRO_FILES}
    table = load_table()
    found: dict[str, list[OpEntry]] = {}
    for name, entry in table.items():
        for named in entry.macros.values():
            for other, macro in reachable_macros(files, table.family_of(name), named):
                if other == stem:
                    found.setdefault(macro, []).append(entry)
    return found


def unknown_names(macro: nodes.Macro, entries: list[OpEntry]) -> set[str]:
    """Names that the macro reads of ``a``, ``attr`` and ``emit`` and no op that uses it has."""
    known = {
        "a": {name for entry in entries for name in entry.operand_names},
        "attr": {name for entry in entries for name in entry.kwarg_names} | set(CALL_FACTS),
        "emit": {name for entry in entries for name in entry.constants},
    }
    unknown = set()
    for access in macro.find_all(nodes.Getattr):
        owner = access.node
        if isinstance(owner, nodes.Name) and owner.name in known and access.attr not in known[owner.name]:
            unknown.add(f"{owner.name}.{access.attr}")
        if is_operand(owner) and access.attr not in FACTS:
            unknown.add(f"{owner.node.name}.{owner.attr}.{access.attr}")
    return unknown


def is_operand(node: nodes.Node) -> bool:
    """Whether the node reads ``a.<operand>`` or ``attr.result``."""
    if not isinstance(node, nodes.Getattr) or not isinstance(node.node, nodes.Name):
        return False
    return node.node.name == "a" or (node.node.name, node.attr) == ("attr", "result")


@pytest.mark.parametrize("path", MACRO_FILES, ids=lambda path: path.name.split(".")[0])
def test_macros_read_only_names_that_their_ops_have(path: Path) -> None:
    reached = users(path.name.removesuffix(".py.jinja"))
    unknown = {
        macro.name: names
        for macro in parse(path).find_all(nodes.Macro)
        if (names := unknown_names(macro, reached.get(macro.name, [])))
    }
    assert unknown == {}


@pytest.mark.parametrize("path", SCRIPT_FILES, ids=lambda path: path.name)
def test_a_script_template_needs_each_of_its_names(path: Path) -> None:
    names = meta.find_undeclared_variables(parse(path))
    template = ENVIRONMENT.get_template(f"script/{path.name}")
    for omitted in names:
        for truth in (True, False):
            context = {name: Anything(truth) for name in names - {omitted}}
            with pytest.raises((jinja2.UndefinedError, ValueError)) as caught:
                template.render(context)
            if isinstance(caught.value, jinja2.UndefinedError):
                break
        assert f"'{omitted}' is undefined" in str(caught.value)
