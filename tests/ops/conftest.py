"""Small tables to load, written file by file."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import fields

from pypto_tmpl.ops import OpTableError, load_table, model
from pypto_tmpl.ops.typing import words

ENTRY = """\
family: reduce
ops:
  - name: tile.row_sum
    summary: Sum over the last axis.
    operands:
      - {name: tile, kind: tile, memory: [Vec]}
      - {name: tmp_tile, kind: tile, scratch: true, optional: true}
    result: {dtype: tile, shape: reduce_last, valid: reduce_last, memory: Vec}
    emit: reduce_last
    with: {function: torch.sum}
    uses: [_reduce_valid]
"""
MACRO = """\
{#- Reductions over the valid region; _other_helper is only talked about here. -#}
{% macro reduce_last(a, attr, emit) -%}
_reduce_valid({{ emit.function }}, {{ a.tile }}, {{ a.tile.valid }})
{%- endmacro %}
"""
PREAMBLE = """\
{# helper: _reduce_valid  imports: torch #}
def _reduce_valid(function, tile, valid): ...


{# helper: _other_helper #}
def _other_helper(): ...
"""
# Long lists of what is allowed, abbreviated in the expected texts.
ABBREVIATIONS = {
    ", ".join(field.encode_name for field in fields(model.OpEntry)): "<all keys>",
    ", ".join(get_args(model.DTypeName)): "<all dtypes>",
    ", ".join(get_args(model.MemorySpace)): "<all spaces>",
    ", ".join(get_args(model.ResultKind)): "<result kinds>",
    ", ".join(words.SHAPE_RULES): "<shape rules>",
    ", ".join(words.VALID_RULES): "<valid rules>",
    ", ".join(words.REQUIREMENTS): "<requirements>",
}
FILES = {
    "ops/reduce.yaml": ENTRY,
    "ops/reduce.py.jinja": MACRO,
    "preamble/ORDER": "regions\n",
    "preamble/regions.py.jinja": PREAMBLE,
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def table_dir(tmp_path: Path) -> Callable[..., Path]:
    """Write the working table, with the given files in place of its own, and return its folder."""
    return lambda files=None: write(tmp_path / "T", {**FILES, **(files or {})})


@pytest.fixture
def load_errors(table_dir: Callable[..., Path]) -> Callable[..., str]:
    """Load the working table with one text replaced by another; return the error's text."""

    def errors(old: str = "", new: str = "", file: str = "ops/reduce.yaml", **more: str) -> str:
        assert old in FILES[file]
        files = {file: FILES[file].replace(old, new, 1) if old else FILES[file] + new}
        folder = table_dir({**files, **more})
        with pytest.raises(OpTableError) as caught:
            load_table([folder])
        text = str(caught.value).replace(str(folder), "T")
        for long, short in ABBREVIATIONS.items():
            text = text.replace(long, short)
        return text

    return errors
