"""What is wrong with ops of a user's folder: one message each, with the file, the line and the op."""

# ruff: noqa: E501

import pytest
from click.testing import CliRunner
from ops.references.registry import REFERENCES, reference_of
from ops.sampled import ENVIRONMENT, MACROS, TABLE

from pypto_tmpl.cli import main
from pypto_tmpl.codegen.op_checks import op_problems
from pypto_tmpl.codegen.options import EVERYTHING_ON
from pypto_tmpl.codegen.preamble import Variant, load_preamble

ENTRY = """\
family: mine
ops:
  - name: tile.clamp01
    summary: Limit every element to the range from 0 to 1.
    operands:
      - {name: tile, kind: tile}
      - {name: scale, kind: scalar, optional: true}
    kwargs:
      - {name: mode, type: str, default: "rint"}
      - {name: pad, type: PadValue}
    result: {dtype: tile, shape: tile, valid: tile, memory: Vec}
    dsl: [pl.tile.clamp01]
    emit: clamp01
    samples:
      - {tile: "FP32[16, 32]"}
"""
MACRO = """\
{# A comment. #}
{% macro clamp01(a, attr, emit) -%}
torch.clamp({{ a.tile }}, 0.0, 1.0)
{%- endmacro %}
"""
SAMPLE = '{tile: "FP32[16, 32]"}'
TEXT = "torch.clamp({{ a.tile }}, 0.0, 1.0)"

# title: (file, old, new, what the message says, its place)
WRONG = {
    "a tag that never ends": (
        *("macro", "{%- endmacro %}", ""),
        *("error[template-syntax]: mine: not valid Jinja: Unexpected end of template", "mine.py.jinja:"),
    ),
    "an expression cut short": (
        *("macro", "a.tile }}", "a.tile }"),
        *("error[template-syntax]: mine: not valid Jinja: unexpected '}'", "mine.py.jinja:3"),
    ),
    "an operator that Jinja lacks": (
        *("macro", "{{ a.tile }}", "{{ a.tile ++ }}"),
        *("error[template-syntax]: mine: not valid Jinja:", "mine.py.jinja:3"),
    ),
    "an unknown tag": (
        *("macro", "torch.clamp", "{% iff a.scale %}torch.clamp"),
        *("error[template-syntax]: mine: not valid Jinja: Encountered unknown tag 'iff'.", "mine.py.jinja:3"),
    ),
    "the name of a project's op": (
        *("entry", "name: tile.clamp01", "name: tile.row_sum"),
        *("error[duplicate-op]: tile.row_sum: the name 'tile.row_sum' is taken", "mine.yaml:3"),
    ),
    "a helper that is none": (
        *("macro", "torch.clamp", "_clampd"),
        *("error[unknown-helper]: tile.clamp01: macro 'clamp01' names '_clampd'", "mine.py.jinja:3"),
    ),
    "a name that is none": (
        *("macro", "torch.clamp", "torhc.clamp"),
        *("error[undefined-name]: tile.clamp01: macro 'clamp01' makes a text that names 'torhc'", "mine.py.jinja:2"),
    ),
    "text that is no Python": (
        *("macro", "0.0, 1.0)", "0.0, 1.0"),
        *("error[invalid-python]: tile.clamp01: macro 'clamp01' makes no Python expression", "mine.py.jinja:2"),
    ),
    "two expressions": (
        *("macro", TEXT, "x = " + TEXT),
        *("error[invalid-python]: tile.clamp01: macro 'clamp01' makes no Python expression", "mine.py.jinja:2"),
    ),
    "a macro that raises": (
        *("macro", "a.tile", "a.tlie"),
        *("error[unknown-operand]: macro 'clamp01' reads a.tlie", "mine.py.jinja:3"),
    ),
    "a sample of no form": (
        *("entry", SAMPLE, '{tile: "FP23[8, 32] vaild"}'),
        *("error[sample-value]: tile.clamp01: samples[0].tile: 'FP23[8, 32] vaild' is no tile", "mine.yaml:15"),
    ),
    "a sample of no dtype": (
        *("entry", SAMPLE, '{tile: "FP23[8, 32]"}'),
        *("error[sample-value]: tile.clamp01: samples[0].tile: there is no dtype 'FP23'", "mine.yaml:15"),
    ),
    "a region beyond the shape": (
        *("entry", SAMPLE, '{tile: "FP32[8, 32] valid [9, 1]"}'),
        *("error[sample-value]: tile.clamp01: samples[0].tile: the region [9, 1] does not lie", "mine.yaml:15"),
    ),
    "a region of another rank": (
        *("entry", SAMPLE, '{tile: "FP32[8, 32] valid [8]"}'),
        *("error[sample-value]: tile.clamp01: samples[0].tile: the region [8] does not lie", "mine.yaml:15"),
    ),
    "extents that are none": (
        *("entry", SAMPLE, '{tile: "FP32[8, , 2]"}'),
        *("error[sample-value]: tile.clamp01: samples[0].tile: 'FP32[8, , 2]' has extents", "mine.yaml:15"),
    ),
    "a number for a tile": (
        *("entry", SAMPLE, "{tile: 3}"),
        *("error[sample-value]: tile.clamp01: samples[0].tile: 3 is no tile", "mine.yaml:15"),
    ),
    "a list for a tile": (
        *("entry", SAMPLE, "{tile: [3]}"),
        *("error[sample-value]: tile.clamp01: samples[0].tile: a list, but the operand is a tile", "mine.yaml:15"),
    ),
    "a shape for a scalar": (
        *("entry", SAMPLE, '{tile: "FP32[1, 2]", scale: "FP32[1, 2]"}'),
        *("error[sample-value]: tile.clamp01: samples[0].scale: 'FP32[1, 2]' has a shape", "mine.yaml:15"),
    ),
    "a scalar that is no value": (
        *("entry", SAMPLE, '{tile: "FP32[1, 2]", scale: "1..5"}'),
        *("error[sample-value]: tile.clamp01: samples[0].scale: '1..5' is no Python value", "mine.yaml:15"),
    ),
    "a keyword of another type": (
        *("entry", SAMPLE, '{tile: "FP32[1, 2]", mode: 3}'),
        *("error[sample-value]: tile.clamp01: samples[0].mode: 3 is no value of the keyword", "mine.yaml:15"),
    ),
    "a member that is none": (
        *("entry", SAMPLE, '{tile: "FP32[1, 2]", pad: zeros}'),
        *("error[sample-value]: tile.clamp01: samples[0].pad: 'zeros' is no value of the keyword", "mine.yaml:15"),
    ),
    "a sample without an operand": (
        *("entry", SAMPLE, "{mode: rint}"),
        *("error[sample-value]: tile.clamp01: samples[0] does not give 'tile'", "mine.yaml:15"),
    ),
    "a spelling of another op": (
        *("entry", "dsl: [pl.tile.clamp01]", "dsl: [pl.tile.clamp01, pl.abs]"),
        *("error[colliding-spelling]: tile.clamp01: pl.abs means tile.abs with operands of the same", "mine.yaml:12"),
    ),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops/mine.yaml").write_text(ENTRY)
    (tmp_path / "ops/mine.py.jinja").write_text(MACRO)
    return tmp_path


def ops(folder, *arguments):
    return CliRunner().invoke(main, ["--template-dir", str(folder), "ops", *arguments])


def test_an_op_that_is_right_passes(folder):
    for arguments in (("list",), ("show", "tile.clamp01"), ("status",), ("docs",)):
        result = ops(folder, *arguments)
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("title", WRONG)
def test_each_fault_is_one_message_with_file_line_and_op(folder, title):
    name, old, new, what, place = WRONG[title]
    file = folder / ("ops/mine.yaml" if name == "entry" else "ops/mine.py.jinja")
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    for arguments in (("list",), ("show", "tile.clamp01"), ("status",)):
        result = ops(folder, *arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output
        first, second, *_ = result.output.splitlines()
        assert what in first
        assert second.startswith("  --> ")
        assert place in second
        if title not in ("the name of a project's op",):  # a second op of a name has more against it
            assert result.output.count("error[") == 1, result.output


def test_a_file_that_is_no_text_is_named(folder):
    (folder / "ops/mine.yaml").write_bytes(b"family: mine\nops:\n  - name: \xff\n")
    result = ops(folder, "list")
    assert result.exit_code == 2
    assert "error[template-file]: the file is not UTF-8" in result.output
    assert "mine.yaml:3" in result.output


def test_a_missing_reference_says_where_to_write_one():
    with pytest.raises(
        AssertionError, match=r"tile\.clamp01 has no reference: write one in tests/ops/references/"
    ):
        reference_of("tile.clamp01")
    assert reference_of("tile.abs") is REFERENCES["tile.abs"]


def test_the_projects_own_ops_make_python_of_all_their_samples():
    preamble = load_preamble(variant=Variant(EVERYTHING_ON))
    problems = [
        problem
        for entry in TABLE.values()
        if entry.is_executable
        for problem in op_problems(TABLE, entry, MACROS, preamble)
    ]
    assert problems == []


def test_the_projects_own_macro_files_are_jinja():
    names = [
        name for name in ENVIRONMENT.list_templates() if name.startswith("ops/") and name.endswith(".jinja")
    ]
    assert len(names) > 20
    for name in names:
        ENVIRONMENT.parse(ENVIRONMENT.loader.get_source(ENVIRONMENT, name)[0])
