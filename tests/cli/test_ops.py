"""``pypto-tmpl ops``: its texts, its exit codes, and what it imports."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from pypto_tmpl.cli import main
from pypto_tmpl.cli.ops_evidence import Evidence
from pypto_tmpl.codegen.environment import OpMacros, create_environment
from pypto_tmpl.codegen.samples import emit_sample
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.ops import load_table
from pypto_tmpl.ops.schema import schema_text

ROOT = Path(__file__).resolve().parent.parent.parent

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
    # What the macros of a user's ops are tried with is the project's.
    shutil.copytree(ROOT / "templates" / "script", tmp_path / "empty" / "script")
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


def test_status_without_the_repository(templates: Path) -> None:
    assert output(templates, "status") == (
        "namespace    ops  executable       no-op     refused\n"
        "tensor         1           0           1           0\n"
        "tile           2           1           0           1\n"
        "total          3           1           1           1\n"
        "\n"
        "op                samples  references  oracle  reason of a zero\n"
        "tensor.nothing          0           -       -  no-op: it has no value\n"
        "tile.device_only        0           -       -  refused\n"
        "tile.total              2           -       -\n"
        "total                   2           0       0\n"
        "\n"
        "0 ops have .pto text; these have none, and are lowered, of orchestrations, or refused:\n"
        "  tile.device_only\n"
        "  tile.total\n"
    )


def test_status_of_a_namespace(templates: Path) -> None:
    assert "tile" not in output(templates, "status", "--namespace", "tensor")


def test_status_with_tests(templates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = Evidence(frozenset({"tile.total"}), {"tile.total": 3})
    monkeypatch.setattr("pypto_tmpl.cli.ops.find_evidence", lambda root: evidence)
    assert output(templates, "status").partition("\n\n")[2].splitlines()[-6:-4] == [
        "tile.total              2           1       3",
        "total                   2           1       3",
    ]


@pytest.mark.parametrize(
    ("evidence", "reasons"),
    [
        (Evidence(frozenset(), {}), ["reference: MISSING", "oracle: not in the record"]),
        (Evidence(frozenset(), {"tile.total": 1}), ["reference: MISSING"]),
        (Evidence(), []),
    ],
)
def test_reasons_of_a_zero(templates: Path, evidence: Evidence, reasons: list[str]) -> None:
    table = load_table([templates])
    assert [*evidence.reasons(table["tile.total"])] == reasons


def test_every_zero_of_the_project_has_a_reason() -> None:
    result = CliRunner().invoke(main, ["ops", "status"])
    assert result.exit_code == 0
    assert "MISSING" not in result.stdout
    assert re.search(r"^total +316 ", result.stdout, re.MULTILINE)


@pytest.mark.skipif("PYPTO_TMPL_ORACLE" not in os.environ, reason="needs the whole record")
def test_the_committed_counts_are_those_of_the_record() -> None:
    from oracle_records import load_records

    records = load_records(Path(os.environ["PYPTO_TMPL_ORACLE"]))
    counts = Counter(record.op for record in records if record.standing is not None)
    assert yaml.safe_load((ROOT / "tests/oracle/counts.yaml").read_text()) == counts


def test_new_begins_a_family(templates: Path) -> None:
    result = run(templates, "new", "tile.clamp01", "--family", "limits")
    assert (result.exit_code, result.stdout) == (0, "")
    table = load_table([templates])
    assert (table["tile.clamp01"].emit, table.family_of("tile.clamp01")) == ("clamp01", "limits")
    assert "# pto: pto.clamp01 " in (templates / "ops/limits.yaml").read_text()


def test_new_adds_to_a_family_and_keeps_what_it_holds(templates: Path) -> None:
    for name in ("tensor.total", "system.stop", "tile.total2"):
        assert run(templates, "new", name, "--family", "sums").exit_code == 0
    assert (templates / "ops/sums.yaml").read_text().startswith(TABLE)
    assert (templates / "ops/sums.py.jinja").read_text().startswith(MACRO)
    table = load_table([templates])
    assert [table[name].emit for name in ("tensor.total", "system.stop")] == ["tensor_total", "stop"]


def test_a_stub_stops_generation_until_it_is_written(templates: Path) -> None:
    run(templates, "new", "tile.clamp01", "--family", "limits")
    table = load_table([templates])
    macros = OpMacros(table, create_environment([templates]))
    with pytest.raises(PyptoTmplError, match="to_be_written"):
        emit_sample(macros, table["tile.clamp01"], {"tile": "FP32[4, 8]"})


@pytest.mark.parametrize(
    ("name", "family", "text"),
    [
        ("tile.total", "limits", "error[new-op]: the op table has 'tile.total' already\n"),
        ("tile.old_total", "limits", "error[new-op]: the op table has 'tile.old_total' already\n"),
        ("clamp01", "limits", "error[new-op]: 'clamp01' is no op name\n"),
        ("tile.clamp01", "../limits", "error[new-op]: '../limits' is no family name\n"),
    ],
)
def test_new_refuses(templates: Path, name: str, family: str, text: str) -> None:
    before = sorted(path.read_bytes() for path in (templates / "ops").iterdir())
    result = run(templates, "new", name, "--family", family)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(text)
    assert sorted(path.read_bytes() for path in (templates / "ops").iterdir()) == before


def test_new_does_not_hide_a_family_of_another_folder(templates: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    folders = ["--template-dir", str(tmp_path / "mine"), "--template-dir", str(templates)]
    result = CliRunner().invoke(main, [*folders, "ops", "new", "tile.clamp01", "--family", "sums"])
    assert result.exit_code == 2
    assert result.stderr.startswith("error[new-op]: the family 'sums' lies in another folder\n")
    assert not list((tmp_path / "mine").iterdir())


def test_docs(templates: Path) -> None:
    page = output(templates, "docs")
    assert "### tile.device_only (refused)" in page
    section = page[page.index("### tile.total") :]
    assert section.splitlines() == [
        "### tile.total",
        "",
        "`tile.total(tile: tile, work: tile, start: scalar = None, *, axis: int = -1, mode: str, "
        "out_dtype: DataType = None)`",
        "",
        "Sum of a tile and a start value.",
        "",
        "- Dtypes: FP32, BF16",
        "- Region: that of operand tile",
        "- Writes: work",
        "- Workspace: work",
        "- Written: `pl.tile.total`, `pl.total`",
        "- Formerly: `tile.old_total`",
        "",
        "```python",
        "# tile=FP32[16, 32] valid [8, 20], work=FP32[16, 32], mode=fast",
        '_add(torch.sum(tile, -1), 0, [8, 20], torch.float32, "fast")',
        "# tile=BF16[4, 4], work=BF16[4, 4], start=1.0, mode=slow, axis=0, out_dtype=FP32",
        '_add(torch.sum(tile, 0), 1.0, None, torch.float32, "slow")',
        "```",
    ]


def test_docs_are_checked_and_written(templates: Path) -> None:
    path = templates.parent / "docs/ops.md"
    stale = run(templates, "docs", "--check")
    assert (stale.exit_code, stale.stdout) == (1, "")
    assert stale.stderr == f"{path} is out of date; run: pypto-tmpl ops docs --write\n"
    assert run(templates, "docs", "--write").exit_code == 0
    assert path.read_text() == run(templates, "docs").stdout
    assert run(templates, "docs", "--check").exit_code == 0
    assert run(templates, "docs", "--check", "--write").exit_code == 2


def test_the_page_of_all_ops_is_up_to_date() -> None:
    result = CliRunner().invoke(main, ["ops", "docs", "--check"])
    assert (result.exit_code, result.stderr) == (0, "")


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


@pytest.mark.parametrize(
    "command", [(), ("list",), ("show",), ("status",), ("new",), ("docs",), ("schema",)], ids=" ".join
)
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


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (("new", "tile.mine", "--family", "mine"), "pypto-tmpl --template-dir DIR ops new"),
        (("docs", "--check"), "pypto-tmpl ops docs prints the page"),
        (("docs", "--write"), "pypto-tmpl ops docs prints the page"),
        (("stubs", "--write"), "those of an installed package are up to date"),
        (("schema", "--write"), "pypto-tmpl ops schema prints it"),
    ],
)
def test_an_installed_package_is_not_written_into(monkeypatch, arguments, instead):
    monkeypatch.setattr("pypto_tmpl.resources.is_installed", lambda: True)
    result = CliRunner().invoke(main, ["ops", *arguments])
    assert result.exit_code == 2
    assert "this is an installed package, not a checkout of the project" in result.output
    assert instead in result.output


def test_a_folder_of_ones_own_gets_new_ops_from_an_installed_package(monkeypatch, tmp_path):
    monkeypatch.setattr("pypto_tmpl.resources.is_installed", lambda: True)
    line = ["--template-dir", str(tmp_path), "ops", "new", "tile.mine", "--family", "mine"]
    assert CliRunner().invoke(main, line).exit_code == 0
    assert (tmp_path / "ops/mine.yaml").is_file()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_new_keeps_every_byte_of_a_file(tmp_path, end):
    line = ["--template-dir", str(tmp_path), "ops", "new"]
    assert CliRunner().invoke(main, [*line, "tile.first", "--family", "mine"]).exit_code == 0
    entry = tmp_path / "ops/mine.yaml"
    old = ("\ufeff" + entry.read_text().replace("\n", end)).encode()
    entry.write_bytes(old)
    assert CliRunner().invoke(main, [*line, "tile.second", "--family", "mine"]).exit_code == 0
    new = entry.read_bytes()
    assert new.startswith(old)
    assert b"tile.second" in new
    assert (b"\n" in new.replace(b"\r\n", b"")) == (end == "\n")
