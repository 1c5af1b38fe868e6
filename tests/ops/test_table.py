"""The loaded table: what it holds, which folder wins, how fast it is there."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pypto_tmpl.ops import OpEntry, OpTable, UnknownOpError, load_table

TableDir = Callable[..., Path]


@pytest.fixture
def table(table_dir: TableDir) -> OpTable:
    more = """\
family: more
ops:
  - {name: tile.z_refused, summary: Not here., operands: [], result: none, refused: Needs the device.}
  - {name: tile.a_noop, summary: Nothing., operands: [], result: none, emit: noop, aliases: [tile.old]}
"""
    return load_table([table_dir({"ops/more.yaml": more})])


def test_ops_come_in_the_order_of_their_names(table: OpTable) -> None:
    assert list(table) == ["tile.a_noop", "tile.row_sum", "tile.z_refused"]
    assert {family: [entry.name for entry in entries] for family, entries in table.families.items()} == {
        "more": ["tile.a_noop", "tile.z_refused"],
        "reduce": ["tile.row_sum"],
    }


def test_ops_are_found_by_a_test_under_legacy_names_too(table: OpTable) -> None:
    assert table.matching(_is_noop) == {"tile.a_noop", "tile.old"}


def _is_noop(entry: OpEntry) -> bool:
    return entry.is_noop


def test_a_legacy_name_finds_its_op(table: OpTable) -> None:
    assert table["tile.old"].name == "tile.a_noop"
    assert table.get("tile.old") is table["tile.a_noop"]
    assert "tile.old" in table
    assert len(table) == 3


def test_an_entry_knows_its_place_and_its_macro(table: OpTable) -> None:
    assert table.family_of("tile.row_sum") == "reduce"
    assert str(table.location("tile.row_sum")).endswith("T/ops/reduce.yaml:3")
    assert str(table.macro("tile.row_sum").location).endswith("T/ops/reduce.py.jinja:2")
    assert table.macro_source("tile.row_sum") == (
        "{% macro reduce_last(a, attr, emit) -%}\n"
        "_reduce_valid({{ emit.function }}, {{ a.tile }}, {{ a.tile.valid }})\n"
        "{%- endmacro %}"
    )
    assert table.macro_source("tile.a_noop") is None
    assert table.macro_source("tile.z_refused") is None


def test_states_of_an_op(table: OpTable) -> None:
    states = {name: (entry.is_executable, entry.is_noop, entry.refused) for name, entry in table.items()}
    assert states == {
        "tile.a_noop": (False, True, None),
        "tile.row_sum": (True, False, None),
        "tile.z_refused": (False, False, "Needs the device."),
    }


def test_an_unknown_op_is_told_with_a_guess(table: OpTable) -> None:
    assert table.get("tile.row_sun") is None
    with pytest.raises(KeyError) as caught:
        table["tile.row_sun"]
    assert isinstance(caught.value, UnknownOpError)
    assert str(caught.value) == (
        "error[unknown-op]: the op table has no op 'tile.row_sun'\n   = did you mean 'tile.row_sum'?"
    )


def test_entries_are_immutable(table: OpTable) -> None:
    with pytest.raises(AttributeError):
        table["tile.row_sum"].summary = "Something else."


def test_an_earlier_folder_wins_one_file_at_a_time(table_dir: TableDir, tmp_path: Path) -> None:
    folder = table_dir()
    user = tmp_path / "user"
    (user / "ops").mkdir(parents=True)
    macro = (folder / "ops/reduce.py.jinja").read_text().replace("a.tile.valid", "none")
    (user / "ops/reduce.py.jinja").write_text(macro)
    table = load_table([user, folder])
    assert "none" in table.macro_source("tile.row_sum")
    assert table["tile.row_sum"].summary == "Sum over the last axis."
    assert "none" not in load_table([folder, user]).macro_source("tile.row_sum")


def test_line_ends_do_not_matter(table_dir: TableDir) -> None:
    folder = table_dir()
    before = load_table([folder])
    for path in folder.rglob("*.*"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    after = load_table([folder])
    assert dict(after) == dict(before)
    assert after.macro_source("tile.row_sum") == before.macro_source("tile.row_sum")


def test_a_large_table_loads_quickly(table_dir: TableDir) -> None:
    entry = (table_dir() / "ops/reduce.yaml").read_text().partition("ops:\n")[2]
    more = "family: more\nops:\n" + "".join(entry.replace("row_sum", f"op{n}") for n in range(400))
    macros = (table_dir() / "ops/reduce.py.jinja").read_text()
    folder = table_dir({"ops/more.yaml": more, "ops/more.py.jinja": macros})
    seconds = []
    for _ in range(3):
        start = time.process_time()
        assert len(load_table([folder])) == 401
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.5  # measured: 0.05 s of processor time


def test_the_projects_own_table_loads_once() -> None:
    assert load_table() is load_table()
