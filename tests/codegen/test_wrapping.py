"""Texts whose long statements alone are formatted read as black writes the whole of them."""

import warnings

import black
import pytest
from codegen.builders import InCore, function, program, ret, scalar
from corpus_check import default_corpus, find_dumps

from pypto_tmpl import ir
from pypto_tmpl.codegen import wrapping
from pypto_tmpl.codegen.formatting import FormatError
from pypto_tmpl.codegen.wrapping import wrapped
from pypto_tmpl.debug import emit_script, torch_codegen

U = ir.Span.unknown()
LONG = ", ".join(f"argument_number_{number}" for number in range(8))
DUMPS = find_dumps(default_corpus(), ".msgpack")


def by_black(text: str) -> str:
    mode = black.Mode(target_versions={black.TargetVersion.PY311}, line_length=100)
    return black.format_str(text, mode=mode)


def in_function(*lines: str) -> str:
    body = "".join(f"    {line}\n" for line in lines)
    return f'"""A script."""\n\nimport torch\n\n\ndef f(x):\n    """Kernel. In: x."""\n{body}'


STATEMENTS = {
    "an assignment": [f"x = call({LONG})"],
    "several": [f"x = call({LONG})", "y = 1", f"z = call({LONG}, {LONG})"],
    "the same one twice": [f"x = call({LONG})", f"x = call({LONG})"],
    "at 100 columns": [f"x = {'y' * 92}"],
    "at 101 columns": [f"x = call({'y' * 88})"],
    "with nothing to break": [f"x = {'y' * 120}"],
    "several targets": [f"first_of_them, second_of_them = {LONG}, {LONG}"],
    "a sum": [f"x = {' + '.join(f'(number_{n} * {n})' for n in range(12))}"],
    "a condition": [f"x = call({LONG}) if _writes_land() else target_of_the_store"],
    "a lambda": [f"x = _store_once(lambda: _tile_store(tile, [0, 0], call({LONG})))"],
    "brackets that are not needed": [f"x = (call({LONG}) if _writes_land() else target_of_the_store)"],
    "a slice": [f"x = tensor[{'a' * 40} * 64 : {'b' * 40} * 64 + 64, 0:64].clone()"],
    "a return": [f"return call({LONG})"],
    "a return of several": [f"return {LONG}, {LONG}"],
    "a loop": [f"for i in range(call({LONG}), stop):", "    y = 1", "z = 2"],
    "a while": [f"while call({LONG}) < 3:", "    y = 1"],
    "a branch": [f"if call({LONG}):", f"    y = call({LONG})", "else:", f"    y = other({LONG})"],
    "a branch of a condition": [f"if {' and '.join(f'number_{n} < {n}' for n in range(12))}:", "    pass"],
    "a head with a comment under it": [f"if call({LONG}):", "    # Why.", "    y = 1"],
    "a loop in a loop": [
        "for i in range(4):",
        "    for j in range(4):",
        f"        x = call({LONG})",
        f"    y = call({LONG})",
    ],
    "the same one at several depths": [
        f"x = call({LONG[:60]}, {LONG[:20]}, 0)",
        "for i in range(4):",
        f"    x = call({LONG[:60]}, {LONG[:20]}, 0)",
        "    for j in range(4):",
        f"        x = call({LONG[:60]}, {LONG[:20]}, 0)",
    ],
    "a comment behind it": [f"x = call({LONG})  # a matrix"],
    "a long comment": ["# " + "word " * 30 + "end", "y = 1", "# ünïcode", "y = 2"],
    "powers": ["x = y ** 2 + call(y) ** z", "x = -y ** 2"],
    "a text with an apostrophe": ['x = check("it\'s")'],
    "a text that is better off in the other quotes": ["x = check('it\\'s')", "x = check('say \"it\"')"],
    "letters that are twice as wide": [f"x = call('{'字' * 45}', y, z)"],
    "a function in it": ["def inner(y):", "    return y", "", "x = inner(y)"],
    "a function in a loop": [
        "for i in range(2):",
        "    def inner(y):",
        f"        return call({LONG})",
        "",
        "    x = inner(i)",
    ],
    "a comment that orders": [
        "y = 1",
        "# fmt: off",
        f"x = call({LONG})",
        "y = [1,2]",
        "# fmt: on",
        f"x = call({LONG})",
    ],
    "a comment that skips": [f"x = call({LONG})  # fmt: skip"],
}


@pytest.mark.parametrize("lines", STATEMENTS.values(), ids=STATEMENTS)
def test_it_is_what_black_makes_of_the_whole(lines):
    text = in_function(*lines)
    assert wrapped(text) == by_black(text)


@pytest.mark.parametrize(
    "text",
    [
        f"def f({LONG}, {LONG}):\n    return 1\n",
        f'def f({LONG}, {LONG}):\n    """Kernel."""\n    return 1\n\n\ndef g(x):\n    return x ** 2\n',
        f'def f(x):\n    """{"word " * 25}end."""\n    return 1\n',
        f'def f(x):\n    """Kernel.\n\n    {"word " * 25}end."""\n    return 1\n',
        'def f(x):\n    """It\'s \\n a kernel."""\n    return 1\n',
        f'"""{"word " * 25}end."""\n\nimport torch\n',
        f"from pypto_tmpl.preamble import {LONG}\n\n\ndef f(x):\n    return x\n",
        f"_SITES.extend(\n    [\n        ({LONG}),\n        (1, 2),\n    ]\n)\n",
        "",
    ],
)
def test_modules_are_what_black_makes_of_them(text):
    assert wrapped(text) == by_black(text)


def test_only_statements_that_need_it_are_formatted(monkeypatch):
    asked = []
    original = wrapping.format_script
    monkeypatch.setattr(
        wrapping, "format_script", lambda text, *rest: asked.append(text) or original(text, *rest)
    )
    wrapped(in_function("y = 1", f"x = call({LONG})", "for i in range(4):", f"    z = call({LONG})"))
    assert asked == [f"x = call({LONG})", f"z = call({LONG})"]


def test_a_text_that_is_no_python():
    with pytest.raises(FormatError, match="the emitted text is no Python"):
        wrapped("x = = 1\n")


def test_what_a_user_wrote_is_formatted_as_a_whole():
    inline = ir.InlineStmt("a=[1,2]\nb =  a [0]", ir.InlineLanguage.Python, U)
    node = program(function("f", [scalar("x")], inline, ret(), type=InCore))
    script = emit_script(node)
    assert not script.is_own
    assert "    a = [1, 2]\n    b = a[0]\n" in torch_codegen(node, format=True)


@pytest.mark.corpus
@pytest.mark.parametrize("dump", DUMPS[:: max(1, len(DUMPS) // 12)], ids=str)
def test_scripts_of_recorded_dumps(dump):
    node = ir.deserialize_from_file(str(dump.path))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = emit_script(node, check_shapes=True)
        assert script.is_own
        assert torch_codegen(node, check_shapes=True, format=True) == by_black(script.text)
