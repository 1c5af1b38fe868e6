"""What a script's record says of its text, formatted or not, by what one sees there."""

import gc

import pytest
from codegen.builders import (
    AIV,
    binary,
    call,
    evaluate,
    for_loop,
    function,
    load,
    program,
    ret,
    store,
    tensor,
    tile,
)

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import formatted, laid_out, outline, program_part
from pypto_tmpl.debug import TraceSelection, emit_script, torch_codegen

x, out = tensor("x", [64, 64]), tensor("out", [64, 64])


def at(line: int) -> ir.Span:
    return ir.Span("kernel.py", line, 1, line, 9)


def made() -> ir.Program:
    """A kernel with a loop, and what launches it."""
    t, i = tile("t", [64, 64]), ir.Var("i", ir.ScalarType(ir.DataType.INDEX), at(2))
    body = [
        ir.AssignStmt(t, load(x, [0, 0], [64, 64]), at(1)),
        for_loop(i, 4, ir.AssignStmt(t, binary("tile.add", t, t), at(3))),
        ir.EvalStmt(store(t, [0, 0], out), at(4)),
    ]
    main = function("main", [x, out], evaluate(call("kernel", [x, out])))
    return program(function("kernel", [x, out], *body, type=AIV), main)


def line_of(script, text: str) -> int:
    (found,) = [number for number, line in enumerate(script.text.split("\n"), 1) if text in line]
    return found


@pytest.mark.parametrize("wanted", [{}, {"check_shapes": True}, {"comments": True}, {"trace": True}], ids=str)
def test_the_text_is_the_same_without_a_record(wanted):
    assert torch_codegen(made(), **wanted) == emit_script(made(), **wanted).text


def test_what_makes_a_script_is_gone_with_it():
    given = made()
    torch_codegen(given)
    gc.collect()
    gc.disable()
    try:
        torch_codegen(given)
        assert gc.collect() == 0
    finally:
        gc.enable()


@pytest.mark.parametrize("form", [lambda script: script, formatted], ids=["as emitted", "formatted"])
def test_the_record_is_that_of_the_text(form):
    script = form(emit_script(made(), check_shapes=True))
    assert [(f.name, f.made_from, f.kind) for f in script.functions] == [
        ("main", "main", "Opaque"),
        ("kernel", "kernel", "AIV"),
    ]
    assert [f.first for f in script.functions] == [
        line_of(script, "def main("),
        line_of(script, "def kernel("),
    ]
    main, kernel = script.functions
    assert script.lines[kernel.last - 1].lstrip().startswith(("_tile_store(", ")"))
    assert kernel.first > main.last
    assert script.lines[script.program_line - 1] == "def main(x, out):"
    sources = {script.lines[int(n) - 1].strip()[:7]: place for n, place in script.sources.items()}
    assert sources["t = t +"] == "kernel.py:3" and sources["_tile_s"] == "kernel.py:4"
    heads = {script.lines[line - 1].strip()[:7] for line in script.heads.values()}
    assert heads >= {"for i i", "t = t +", "_tile_s", "kernel("} and not any(
        "_check" in head for head in heads
    )
    assert "_tile_store" in script.helpers and "_run_lanes" not in script.helpers


def test_the_text_is_that_of_torch_codegen():
    for options in ({}, {"check_shapes": True}, {"trace": True}, {"preamble": "full"}, {"format": True}):
        script = emit_script(made(), **options)
        assert script.text == torch_codegen(made(), **options) and "\0" not in script.text


def test_the_program_is_what_stands_before_the_helpers():
    script = emit_script(made(), format=True)
    expected = script.text[script.text.index("def main(") : script.text.index("# Run-time helpers follow")]
    assert script.program == expected.rstrip() + "\n" == program_part(script.text)


def test_sites_are_those_that_the_script_keeps():
    script = emit_script(made(), trace=TraceSelection(names=("t",)))
    assert {site.variable for site in script.sites} == {"t"} and emit_script(made()).sites == ()


def test_places_stand_for_nodes():
    node = made()
    script = emit_script(node)
    found = script.without_ir(node.functions.values())
    assert found.places["kernel", "body/1"] == (line_of(script, "for i in range(4)"),)
    assert (found.statements, found.heads, found.sources) == ({}, {}, script.sources)


def test_another_program_is_not_laid_out():
    script = emit_script(made())
    assert laid_out(script, script.text.replace("range(4)", "range(5)")) is None
    assert laid_out(script, "no Python") is None
    assert laid_out(script, script.text) is script


def test_of_an_edited_script_its_functions_are_known():
    found = outline("import torch\n\n\ndef _helper():\n    pass\n\n\ndef main(x):\n    y = x\n    return y\n")
    assert [(f.name, f.first, f.last) for f in found.functions] == [("main", 8, 10)]
    assert found.program_line == 8 and outline("no Python").functions == ()


def test_a_return_and_comments_are_told_apart():
    n = ir.Var("n", ir.ScalarType(ir.DataType.INDEX), at(0))
    stmt = ir.AssignStmt(n, n + 1, at(7))
    ir.attach_leading_comments(stmt, ["first", "second"])
    script = emit_script(program(function("main", [n], stmt, ret(n))))
    assert script.lines[script.heads[stmt] - 1].strip() == "n = n + 1"
    assert [script.lines[line - 1].strip() for line in script.statements] == ["n = n + 1", "return n"]
