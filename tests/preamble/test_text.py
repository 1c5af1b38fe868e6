"""The text of all helpers: formatted, and honest about what it needs."""

import ast

import black
import pytest
from preamble.rendered import read_helpers, render

HELPERS = read_helpers()


def test_the_helpers_read_as_black_would_write_them():
    text = render(HELPERS, *HELPERS)
    assert black.format_str(text, mode=black.Mode(line_length=100)) == text


def test_what_black_leaves_alone_is_no_wider():
    helpers = read_helpers("options", "poison", "race", "lanes", "split_lanes", "cross_core", "mixed_kernel")
    wide = [line for _, _, text in helpers.values() for line in text.splitlines() if len(line) > 100]
    assert wide == []


@pytest.mark.parametrize("name", HELPERS)
def test_a_helper_needs_what_it_names(name):
    needs, imports, text = HELPERS[name]
    names = set(names_in(compile(text, name, "exec")))
    assert sorted(names & HELPERS.keys() - {name}) == sorted(needs)
    assert sorted(names & {module.partition(".")[0] for module in imports}) == sorted(
        {module.partition(".")[0] for module in imports}
    )


def test_helpers_are_told_from_the_program_by_their_names():
    assert all(name.startswith("_") for name in HELPERS)
    text = render(HELPERS, "_refuse_poison") + "\n\ndef kernel():\n    pass\n"
    namespace = {}
    for _ in range(2):  # executed again into what it left
        exec(text, namespace)
        assert "_refuse_poison" in namespace["_HELPERS"]
        assert "kernel" not in namespace["_HELPERS"]


@pytest.mark.parametrize("name", HELPERS)
def test_a_function_is_no_longer_than_a_screen(name):
    for node in ast.walk(ast.parse(HELPERS[name][2])):
        if isinstance(node, ast.FunctionDef):
            assert node.end_lineno - node.lineno < 40, node.name


def names_in(code):
    yield from code.co_names
    for const in code.co_consts:
        if isinstance(const, type(code)):
            yield from names_in(const)
