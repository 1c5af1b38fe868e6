"""A file or entry that is not well formed: keys, types and values of the table."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from pypto_tmpl.ops import OpTableError, load_table


def case(title: str, old: str, new: str, text: str) -> object:
    return pytest.param(old, new, text, id=title.replace(" ", "-"))


# What replaces what in the working entry of conftest.py, and the whole text of the error it gives.
CASES = [
    case(
        "unknown key",
        "    emit:",
        "    emitt: x\n    emit:",
        """\
error[unknown-key]: tile.row_sum: unknown key 'emitt'
  --> T/ops/reduce.yaml:9
   = keys: <all keys>; did you mean 'emit'?""",
    ),
    case(
        "unknown key in operand",
        "memory: [Vec]}",
        "memroy: [Vec]}",
        """\
error[unknown-key]: tile.row_sum: unknown key 'memroy' in operands[0]
  --> T/ops/reduce.yaml:6
   = keys: name, kind, optional, scratch, memory, dtype; did you mean 'memory'?""",
    ),
    case(
        "two unknown keys",
        "    emit: reduce_last",
        "    emit: reduce_last\n    foo: 1\n    bar: 2",
        """\
error[unknown-key]: tile.row_sum: unknown key 'foo'
  --> T/ops/reduce.yaml:10
   = keys: <all keys>
error[unknown-key]: tile.row_sum: unknown key 'bar'
  --> T/ops/reduce.yaml:11
   = keys: <all keys>""",
    ),
    case(
        "missing key",
        "    summary: Sum over the last axis.\n",
        "",
        """\
error[missing-key]: tile.row_sum: the key 'summary' is missing
  --> T/ops/reduce.yaml:3
   = needed: name, summary, operands, result""",
    ),
    case(
        "missing key in operand",
        "{name: tile, kind: tile, memory",
        "{name: tile, memory",
        """\
error[missing-key]: tile.row_sum: the key 'kind' is missing in operands[0]
  --> T/ops/reduce.yaml:6
   = needed: name, kind""",
    ),
    case(
        "number for a flag",
        "optional: true",
        "optional: 1",
        """\
error[wrong-type]: tile.row_sum: operands[1].optional is an integer
  --> T/ops/reduce.yaml:7
   = expected: true or false""",
    ),
    case(
        "text for a list",
        "uses: [_reduce_valid]",
        "uses: _reduce_valid",
        """\
error[wrong-type]: tile.row_sum: uses is text
  --> T/ops/reduce.yaml:11
   = expected: a list""",
    ),
    case(
        "entry not a mapping",
        "    uses: [_reduce_valid]\n",
        "    uses: [_reduce_valid]\n  - just text\n",
        """\
error[wrong-type]: entry 2: the entry is text
  --> T/ops/reduce.yaml:12
   = expected: a mapping""",
    ),
    case(
        "unknown operand kind",
        "kind: tile, scratch",
        "kind: tyle, scratch",
        """\
error[unknown-value]: tile.row_sum: operands[1].kind cannot be 'tyle'
  --> T/ops/reduce.yaml:7
   = values: tile, tensor, scalar, tuple, ptr, array, handle, any; did you mean 'tile'?""",
    ),
    case(
        "name without namespace",
        "name: tile.row_sum",
        "name: row_sum",
        """\
error[wrong-value]: row_sum: name is not right
  --> T/ops/reduce.yaml:3
   = expected: a registered name with its namespace, such as tile.row_sum""",
    ),
    case(
        "empty summary",
        "summary: Sum over the last axis.",
        "summary: ''",
        """\
error[wrong-value]: tile.row_sum: summary is not right
  --> T/ops/reduce.yaml:4
   = expected: something that is not empty""",
    ),
    case(
        "duplicate key",
        "    emit: reduce_last",
        "    emit: reduce_last\n    emit: reduce_last",
        """\
error[duplicate-key]: tile.row_sum: the key 'emit' is given twice
  --> T/ops/reduce.yaml:10
   = first: line 9""",
    ),
    case(
        "yes for true",
        "optional: true",
        "optional: yes",
        """\
error[ambiguous-value]: tile.row_sum: 'yes' is read as true
  --> T/ops/reduce.yaml:7
   = write true, or quote it""",
    ),
    case(
        "on as a key",
        "with: {function",
        "with: {on: 1, function",
        """\
error[ambiguous-value]: tile.row_sum: the key 'on' is read as bool, not as text
  --> T/ops/reduce.yaml:10
   = quote it""",
    ),
    case(
        "octal number",
        "with: {function",
        "with: {mode: 0777, function",
        """\
error[ambiguous-value]: tile.row_sum: '0777' is read as the integer 511
  --> T/ops/reduce.yaml:10
   = write it in decimal, or quote it""",
    ),
    case(
        "exponent without point",
        "with: {function",
        "with: {eps: 1e-3, function",
        """\
error[ambiguous-value]: tile.row_sum: '1e-3' is read as text, not as a number
  --> T/ops/reduce.yaml:10
   = write 1.0e-3, or quote it""",
    ),
    case(
        "sexagesimal number",
        "with: {function",
        "with: {eps: 1:30.5, function",
        """\
error[ambiguous-value]: tile.row_sum: '1:30.5' is read as the number 90.5
  --> T/ops/reduce.yaml:10
   = quote it""",
    ),
    case(
        "date",
        "with: {function",
        "with: {eps: 2020-01-01, function",
        """\
error[ambiguous-value]: tile.row_sum: '2020-01-01' is read as timestamp
  --> T/ops/reduce.yaml:10
   = quote it""",
    ),
    case(
        "tag",
        "with: {function",
        "with: {eps: !!python/name:os.system x, function",
        """\
error[ambiguous-value]: tile.row_sum: 'x' is read as python/name:os.system
  --> T/ops/reduce.yaml:10
   = quote it""",
    ),
    case(
        "YAML syntax",
        "with: {function",
        "with: {function: {",
        """\
error[yaml-syntax]: tile.row_sum: not valid YAML: did not find expected node content
  --> T/ops/reduce.yaml:10
   = while parsing a flow node""",
    ),
    case(
        "wrong family",
        "family: reduce",
        "family: reduction",
        """\
error[family-name]: family 'reduction' stands in the file of 'reduce'
  --> T/ops/reduce.yaml:1
   = write `family: reduce`""",
    ),
    case(
        "unknown key of the file",
        "family: reduce",
        "family: reduce\nopps: []",
        """\
error[unknown-key]: reduce: unknown key 'opps'
  --> T/ops/reduce.yaml:2
   = keys: family, traits, ops; did you mean 'ops'?""",
    ),
    case(
        "no ops",
        "ops:\n",
        "oops:\n",
        """\
error[family-file]: reduce: a family file holds the keys `family` and `ops`, a list of entries
  --> T/ops/reduce.yaml:1""",
    ),
    case(
        "unknown result kind",
        "result: {",
        "result: {kind: tyle, ",
        """\
error[unknown-value]: tile.row_sum: result.kind cannot be 'tyle'
  --> T/ops/reduce.yaml:8
   = values: <result kinds>; did you mean 'tile'?""",
    ),
    case(
        "code not a number",
        "    emit:",
        "    kwargs: [{name: mode, type: int, values: {rint: one}}]\n    emit:",
        """\
error[wrong-type]: tile.row_sum: kwargs[0].values (one of its values) is text
  --> T/ops/reduce.yaml:9
   = expected: an integer""",
    ),
]


@pytest.mark.parametrize(("old", "new", "text"), CASES)
def test_broken_structure(load_errors: Callable[..., str], old: str, new: str, text: str) -> None:
    assert load_errors(old, new) == text


OTHER = """\
family: more
ops:
  - name: tile.other
    summary: Another op.
    operands: []
    result: none
    emit: noop
"""


def test_errors_of_all_files_come_together(table_dir: Callable[..., Path]) -> None:
    first = OTHER.replace("emit: noop", "emit: noop\n    foo: 1\n    foo: 2")
    second = OTHER.replace("family: more", "family: most").replace("operands: []", "operands: 3")
    with pytest.raises(OpTableError) as caught:
        load_table([table_dir({"ops/more.yaml": first, "ops/most.yaml": second, "ops/empty.yaml": ""})])
    problems = [(problem.slug, re.sub(r".*/", "", problem.where)) for problem in caught.value.problems]
    assert problems == [
        ("family-file", "empty.yaml:1"),
        ("duplicate-key", "more.yaml:9"),
        ("unknown-key", "more.yaml:8"),
        ("wrong-type", "most.yaml:5"),
    ]
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).count("error[") == 4


def test_a_typo_has_its_correction(load_errors: Callable[..., str]) -> None:
    assert load_errors("emit: reduce_last", "emit: reduce_lats").splitlines()[2] == (
        "   = macros: reduce_last; did you mean 'reduce_last'?"
    )
