"""The text of all helpers: formatted, and honest about what it needs."""

import ast
import builtins
from dataclasses import replace

import black
import pytest
from preamble.rendered import preamble, render

from pypto_tmpl.codegen.options import EVERYTHING_OFF, EVERYTHING_ON
from pypto_tmpl.codegen.pipe_use import EVERY_USE, PipeUse

ONE_WAY = frozenset({"initialize_pipe", "push_to_aiv", "pop_from_aic", "tfree_to_aic"})
NO_USE = PipeUse(frozenset(), cuts=False, mixes_splits=False, regions=False, nests=False)
VARIANTS = {
    "lean": preamble(has_edges=False, has_free_extents=False, pipes=NO_USE),
    "one way": preamble(pipes=replace(NO_USE, methods=ONE_WAY)),
    "even splits": preamble(pipes=replace(EVERY_USE, regions=False, nests=False)),
    "one split": preamble(pipes=replace(EVERY_USE, regions=False, mixes_splits=False)),
    "plain": preamble(EVERYTHING_OFF),
    "all": preamble(EVERYTHING_ON),
    "module": preamble(is_module=True),
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_helpers_read_as_black_would_write_them(variant):
    chosen = VARIANTS[variant].full()
    text = "\n\n\n".join(segment.rstrip() for segment in chosen.segments) + "\n"
    assert black.format_str(text, mode=black.Mode(line_length=100)) == text
    # Black leaves comments and strings alone.
    assert [line for line in text.splitlines() if len(line) > 110] == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_helpers_name_what_scripts_have(variant):
    """The names that a syntax tree reads and does not bind are found by other means than the closure's."""
    helpers = VARIANTS[variant]
    for name, helper in helpers.helpers.items():
        known = helpers.names | {module.partition(".")[0] for module in helpers.imports(name)}
        assert free_names(helper.text) <= known, name


@pytest.mark.parametrize("variant", VARIANTS)
def test_helpers_bring_what_they_name(variant):
    helpers = VARIANTS[variant]
    for name, helper in helpers.helpers.items():
        named = free_names(helper.text) & helpers.names - {name}
        assert helpers.needs(name) == named
        assert named <= {*helpers.closure([name]).names}


def test_helpers_are_told_from_the_program_by_where_they_stand():
    body = """
        def _kernel(x):
            return _program_frame(__import__("sys")._getframe())
    """
    text = render("_program_frame", body=body)
    namespace = {"__name__": "script"}
    for _ in range(2):  # executed again into what it left
        exec(text, namespace)
        assert namespace["_kernel"](0).f_code.co_name == "_kernel"
    assert all(name.startswith("_") for variant in VARIANTS.values() for name in variant.names)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_function_is_no_longer_than_a_screen(variant):
    for segment in VARIANTS[variant].full().segments:
        for node in ast.walk(ast.parse(segment)):
            if isinstance(node, ast.FunctionDef):
                assert node.end_lineno - node.lineno < 40, node.name


def free_names(text: str) -> set[str]:
    """The names that the text reads and does not define itself."""
    tree = ast.parse(text)
    read, defined = set(), set(vars(builtins)) | {"__name__"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    return read - defined
