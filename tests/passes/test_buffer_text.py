"""Buffer text: its grammar, the example of its page, and what reading it says."""

import re
from pathlib import Path

import pytest
from passes.buffered import TESTS, buffered, lowered, recorded
from passes.grammar import documented

import pypto_tmpl.language as pl
from pypto_tmpl import ir, passes
from pypto_tmpl.language.diagnostics import BufferTextError

PAGE = (TESTS.parent / "docs" / "buffers.md").read_text()
RECORDED = sorted(
    path
    for corpus in ("corpus", "pass_corpus")
    for path in (TESTS / corpus / "dumps").glob("*/*/00_frontend.msgpack")
    if not path.parts[-3].startswith("cross_core_")  # PyPTO's verifier refuses these
)

AT_RUN_TIME = "a: pl.Tile[[16, 64], pl.FP32, pl.MemRef(mem, 256 + s, 4096), pl.Mem.Vec]"


@pytest.fixture(scope="module")
def grammar():
    return documented()


@pytest.mark.parametrize("path", RECORDED[::3], ids=lambda path: "-".join(path.parts[-3:-1]))
def test_printed_programs_follow_the_grammar(grammar, path):
    text = ir.python_print(lowered(path.parents[1], path.parts[-2]))
    assert grammar.problem(text) is None
    compile(text, str(path), "exec")  # it is Python's syntax, too


def test_the_example_of_the_page(grammar):
    example = re.search(r"<!-- kernel -->\n```python\n(.*?)```", PAGE, re.DOTALL)[1]
    kernel = recorded("scatter_gather_rows").get_function("gather_cols")
    assert ir.python_print(kernel) == example
    assert grammar.problem(example) is None


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("[0x0:0x1000], mem]", ", mem]", "',' in 'a: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec, mem]'"),
        ("pl.FP32, pl.Mem", "pl.Mem", "'.' in 'a: pl.Buffer[[16, 64], pl.Mem.Vec[0x0:0x1000], mem]'"),
        ("w: pl.View[[16, 16], ", "w: pl.View[", "[16, 16], [0, 16])'"),
        ("b[...] =", "b[0] =", "'0' in 'b[0] = pl.tile.adds(a, 1.0)'"),
        ("b[...] = pl.tile.adds(a, 1.0)", "b[...] = a + 1.0", "'+' in 'b[...] = a + 1.0'"),
        ("b[...] = pl", "b[...] := pl", "':=' in 'b[...] := pl.tile.adds(a, 1.0)'"),
    ],
)  # fmt: skip
def test_other_text_does_not(grammar, right, wrong, problem):
    text = ir.python_print(
        buffered("""
            a @ 0 FP32[16, 64] = load(x)
            b @ 0 FP32[16, 64] = pl.tile.adds(a, 1.0)
            w @ 0x40 FP32[16, 16] = pl.tile.slice(b, [16, 16], [0, 16])
            store(b)
        """)
    )
    assert grammar.problem(text) is None and right in text
    found = grammar.problem(text.replace(right, wrong, 1))
    assert found is not None and found.endswith(problem)


def test_the_start_that_only_the_run_tells(grammar):
    found = buffered(
        """
        s: pl.Scalar[pl.INDEX] = n * 4096
        a @ s+0 FP32[16, 64] = load(x)
        store(a)
    """.replace("a @ s+0 FP32[16, 64]", AT_RUN_TIME)
    )
    text = ir.python_print(found)
    assert (
        "        a: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[256 + s:+0x1000], mem]\n        a[...] = " in text
    )
    assert text.index("        s: pl.Scalar[pl.INDEX] = ") < text.index("        a: pl.Buffer[")
    assert grammar.problem(text) is None


def test_reading_the_text_points_at_the_companion(tmp_path: Path):
    text = ir.python_print(buffered("a @ 0 FP32[16, 64] = load(x)\nstore(a)"))
    file = tmp_path / "50_after_LowerToBuffers.py"
    file.write_text(text)
    file.with_suffix(".msgpack").touch()
    with pytest.raises(BufferTextError) as caught:
        pl.loads(file)
    assert str(caught.value) == (
        "error[E301]: this is Buffer text, which is no source that can be read\n"
        f"  --> {file}:11:9\n"
        "    |\n"
        " 11 |         a: pl.Buffer[[16, 64], pl.FP32, pl.Mem.Vec[0x0:0x1000], mem]\n"
        "    |         ^\n"
        "   = hint: read 50_after_LowerToBuffers.msgpack, which holds the same program"
    )
    with pytest.raises(BufferTextError, match=r"hint: read the \.msgpack of the same stage, which holds"):
        pl.parse(text)
    assert not passes.PASSES["LowerToBuffers"].requires & {ir.IRProperty.NoNestedCalls}


def test_what_else_is_called_buffer_is_read():
    text = """
import pypto.language as pl

@pl.function
def kernel(x: pl.Tensor[[16], pl.FP32]):
    # a comment about t.Buffer[...]
    return x
"""
    assert isinstance(pl.parse(text), ir.Function)
