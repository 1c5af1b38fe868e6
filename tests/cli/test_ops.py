"""``pypto-tmpl ops``: its texts, its exit codes, and what it imports."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pypto_tmpl.cli import main
from pypto_tmpl.ops.schema import schema_text

TABLE = """\
family: sums
ops:
  - name: tile.total
    summary: Sum of a tile and a start value.
    operands:
      - {name: tile, kind: tile}
      - {name: work, kind: tile, scratch: true}
      - {name: start, kind: scalar, optional: true}
    kwargs:
      - {name: axis, type: int, default: -1}
      - {name: mode, type: str, required: true}
      - {name: out_dtype, type: DataType}
    result: {dtype: out_dtype or tile, shape: tile, valid: tile, memory: Vec}
    writes: [work]
    dsl: [pl.tile.total, pl.total]
    aliases: [tile.old_total]
    emit: total
    with: {function: torch.sum}
    uses: [_add]
    dtypes: [FP32, BF16]
    samples:
      - {tile: "FP32[16, 32] valid [8, 20]", work: "FP32[16, 32]", mode: fast}
      - {tile: "BF16[4, 4]", work: "BF16[4, 4]", start: "1.0", mode: slow, axis: 0, out_dtype: FP32}
  - {name: tensor.nothing, summary: No effect., operands: [], result: none, emit: noop}
  - {name: tile.device_only, summary: Device only., operands: [], result: none, refused: Needs the device.}
"""
MACRO = """\
{% macro total(a, attr, emit) -%}
_add({{ emit.function }}({{ a.tile }}, {{ attr.axis }}), {{ a.start or 0 }}, {{ a.tile.valid }}, \
{{ attr.result.dtype }}, {{ attr.mode | py_literal }})
{%- endmacro %}
"""


@pytest.fixture
def templates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of three ops in place of the project's own."""
    files = {
        "ops/sums.yaml": TABLE,
        "ops/sums.py.jinja": MACRO,
        "preamble/ORDER": "adding\n",
        "preamble/adding.py.jinja": "{# helper: _add #}\ndef _add(*values): ...\n",
    }
    for name, text in files.items():
        (tmp_path / "T" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "T" / name).write_text(text)
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr("pypto_tmpl.resources.template_root", lambda: tmp_path / "empty")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "T"


def run(templates: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["--template-dir", str(templates), "ops", *arguments])


def output(templates: Path, *arguments: str) -> str:
    result = run(templates, *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout.replace(f"{templates.parent}/", "")


def test_list(templates: Path) -> None:
    assert output(templates, "list") == (
        "tensor.nothing    no-op       No effect.\n"
        "tile.device_only  refused     Device only.\n"
        "tile.total        executable  Sum of a tile and a start value.\n"
    )
    assert output(templates, "list", "--namespace", "tensor") == "tensor.nothing  no-op       No effect.\n"
    assert output(templates, "list", "--family", "sums") == output(templates, "list")


def test_list_of_an_unknown_family(templates: Path) -> None:
    result = run(templates, "list", "--family", "sum")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Error: no family 'sum' in the op table; known: sums; did you mean 'sums'?" in result.stderr


def test_show(templates: Path) -> None:
    assert output(templates, "show", "tile.total") == (
        "tile.total(tile: tile, work: tile, start: scalar = None, *, axis: int = -1, mode: str, "
        "out_dtype: DataType = None)\n"
        "  Sum of a tile and a start value.\n"
        "  entry:      T/ops/sums.yaml:3, family sums\n"
        "  emit:       total\n"
        "  with:       function: 'torch.sum'\n"
        "  uses:       _add\n"
        "  dtypes:     FP32, BF16\n"
        "  region:     that of operand tile\n"
        "  writes:     work\n"
        "  scratch:    work\n"
        "  dsl:        pl.tile.total, pl.total\n"
        "  aliases:    tile.old_total\n"
        f"\nmacro (T/ops/sums.py.jinja:1):\n{MACRO}"
        "\nsamples:\n"
        "  tile=FP32[16, 32] valid [8, 20], work=FP32[16, 32], mode=fast\n"
        '      _add(torch.sum(tile, -1), 0, [8, 20], torch.float32, "fast")\n'
        "  tile=BF16[4, 4], work=BF16[4, 4], start=1.0, mode=slow, axis=0, out_dtype=FP32\n"
        '      _add(torch.sum(tile, 0), 1.0, None, torch.float32, "slow")\n'
    )
    assert output(templates, "show", "tile.old_total") == output(templates, "show", "tile.total")


def test_show_of_an_op_without_macro(templates: Path) -> None:
    assert output(templates, "show", "tile.device_only") == (
        "tile.device_only()\n"
        "  Device only.\n"
        "  entry:      T/ops/sums.yaml:25, family sums\n"
        "  refused:    Needs the device.\n"
    )


def test_show_of_an_unknown_op(templates: Path) -> None:
    result = run(templates, "show", "tile.totl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "error[unknown-op]: the op table has no op 'tile.totl'\n   = did you mean 'tile.total'?\n"
    )


def test_status(templates: Path) -> None:
    assert output(templates, "status") == (
        "namespace    ops  executable       no-op     refused\n"
        "tensor         1           0           1           0\n"
        "tile           2           1           0           1\n"
        "total          3           1           1           1\n"
    )


def test_a_broken_table_is_told_without_traceback(templates: Path) -> None:
    (templates / "ops/sums.yaml").write_text(TABLE.replace("emit: total", "emit: totla"))
    result = run(templates, "status")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(
        "error[missing-macro]: tile.total: ops/sums.py.jinja has no macro 'totla'\n"
    )
    assert "Traceback" not in result.stderr


def test_schema(templates: Path) -> None:
    assert output(templates, "schema") == schema_text()
    assert json.loads(schema_text())["$ref"] == "#/$defs/FamilyFile"


def test_schema_is_written(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pypto_tmpl.ops.schema.template_root", lambda: templates)
    result = run(templates, "schema", "--write")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (templates / "op_table.schema.json").read_text() == schema_text()


@pytest.mark.parametrize("command", [(), ("list",), ("show",), ("status",), ("schema",)], ids=" ".join)
def test_help_has_an_example(command: tuple[str, ...]) -> None:
    result = CliRunner().invoke(main, ["ops", *command, "--help"])
    assert result.exit_code == 0
    assert f"pypto-tmpl ops {' '.join(command)}" in result.stdout


def test_unknown_subcommand() -> None:
    result = CliRunner().invoke(main, ["opps"])
    assert result.exit_code == 2
    assert "No such command 'opps'" in result.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["ops", "--help"], ["ops", "schema"]], ids=" ".join)
def test_heavy_modules_wait_until_used(arguments: list[str]) -> None:
    code = (
        "import sys; from pypto_tmpl.cli import main\n"
        "main(sys.argv[1:], standalone_mode=False)\n"
        "print(sorted({'torch', 'black', 'jinja2', 'rich'} & set(sys.modules)), file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
