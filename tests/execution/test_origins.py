"""Source lines of the lines of emitted scripts."""

import json
import re

import pytest
from codegen.builders import (
    AIV,
    U,
    assign,
    binary,
    carry,
    function,
    load,
    program,
    program_part,
    ret,
    scalar,
    store,
    tensor,
    tile,
    yields,
)
from corpus_check import default_corpus, find_dumps

from pypto_tmpl import ir
from pypto_tmpl.debug import source_lines, torch_codegen
from pypto_tmpl.execution.origins import LazySourceLines, write_source_map

x, out = tensor("x", [4, 8]), tensor("out", [4, 8])
t, u, total, i = tile("t", [4, 8]), tile("u", [4, 8]), tile("total", [4, 8]), scalar("i")


def at(line, node):
    """The node, made from a line of the source."""
    span = ir.Span("dir/kernel.py", line, 5)
    if isinstance(node, ir.AssignStmt):
        return ir.AssignStmt(node.var, node.value, span)
    if isinstance(node, ir.ReturnStmt):
        return ir.ReturnStmt(list(node.value), span)
    return ir.YieldStmt(list(node.value), span)


def kernel():
    acc = carry("acc", t, t.type)
    loop = ir.ForStmt(
        i,
        *(ir.ConstInt(n, ir.DataType.INDEX, U) for n in (0, 3, 1)),
        [acc],
        ir.SeqStmts([at(22, assign(u, binary("tile.add", acc, t))), at(23, yields(u))], U),
        [total],
        ir.Span("dir/kernel.py", 21, 5),
    )
    last = ir.ReturnStmt([store(total, [0, 0], out)], U)
    first = at(20, assign(t, load(x, [0, 0], [4, 8])))
    return program(function("kernel", [x, out], first, loop, last, type=AIV))


EXPECTED = {
    "t = _tile_load(x, [0, 0], [4, 8])": "dir/kernel.py:20",
    "acc = t": "dir/kernel.py:21",
    "for i in range(3):": "dir/kernel.py:21",
    "u = acc + t": "dir/kernel.py:22",
    "acc = u": "dir/kernel.py:23",
    "total = acc": "dir/kernel.py:21",
}


@pytest.mark.parametrize("check_shapes", [False, True])
@pytest.mark.parametrize("formatted", [False, True])
@pytest.mark.parametrize("preamble", ["script", "import", "full"])
def test_lines_of_a_script(check_shapes, formatted, preamble):
    script = torch_codegen(kernel(), check_shapes, format=formatted, preamble=preamble)
    lines = {
        script.splitlines()[int(n) - 1].strip(): place for n, place in source_lines(kernel(), script).items()
    }
    checks = {text: place for text, place in lines.items() if text.startswith("_check")}
    assert {text: lines[text] for text in lines if text not in checks} == EXPECTED
    assert bool(checks) is check_shapes
    for text, place in checks.items():
        assert place == EXPECTED["u = acc + t" if '"u"' in text else "t = _tile_load(x, [0, 0], [4, 8])"]


def test_a_statement_of_several_lines():
    """black wraps the load; each of its lines has the source line."""
    names = ["a_rather_long_name_of_a_tensor_" * 2, "another_long_name_of_a_tile_" * 3]
    source, wide = tensor(names[0], [4, 8]), tile(names[1], [4, 8])
    node = function(
        "kernel", [source], at(7, assign(wide, load(source, [0, 0], [4, 8]))), at(8, ret(wide)), type=AIV
    )
    script = torch_codegen(node, format=True)
    numbers = [int(n) for n, place in source_lines(node, script).items() if place == "dir/kernel.py:7"]
    assert len(numbers) > 1
    assert numbers == list(range(numbers[0], numbers[-1] + 1))
    assert script.splitlines()[numbers[0] - 1].strip().startswith(f"{names[1]} = ")


def test_comments_that_look_like_marks():
    commented = at(5, assign(t, load(x, [0, 0], [4, 8])))
    ir.attach_leading_comments(commented, ["old  #@7"])
    node = function("kernel", [x], commented, ret(t), type=AIV)
    script = torch_codegen(node)
    assert "old  #@7" in script
    assert list(source_lines(node, script).values()) == ["dir/kernel.py:5"]


def test_another_script_has_no_lines():
    script = torch_codegen(kernel())
    other = function("kernel", [x, out], assign(t, load(x, [0, 0], [4, 8])), ret(out), type=AIV)
    assert source_lines(other, script) == {}
    assert source_lines(kernel(), script.replace("range(3)", "range(4)")) == {}


@pytest.mark.corpus
def test_scripts_of_real_dumps_keep_their_lines():
    """Every dump's script is found again, and most of its lines have a source line."""
    named = total = 0
    for dump in find_dumps(default_corpus(), ".msgpack")[::5]:
        node = ir.deserialize_from_file(str(dump.path))
        script = torch_codegen(node)
        lines = source_lines(node, script)
        program_text = program_part(script)
        named += len(lines)
        total += sum(bool(re.match(r"    +[^ \"]", line)) for line in program_text.splitlines())
        assert lines, dump
        assert {place.partition(":")[0] for place in lines.values()} == {f"programs/{dump.program}.py"}
    assert named > 0.5 * total


def test_the_file_beside_a_script(tmp_path):
    write_source_map(tmp_path / "kernel.py", {"12": "dir/kernel.py:3"})
    assert json.loads((tmp_path / "kernel.map.json").read_text()) == {"12": "dir/kernel.py:3"}


def test_lazy_lines_are_found_once():
    calls = []

    def find():
        calls.append(1)
        return {"1": "a:1"}

    lines = LazySourceLines(find)
    assert not calls
    assert (lines["1"], lines.get("2"), list(lines), len(lines)) == ("a:1", None, ["1"], 1)
    assert calls == [1]
