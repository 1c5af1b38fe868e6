"""Facts that mean nothing or contradict each other: load errors with file, line and op."""

from collections.abc import Callable

import pytest

# What a line of facts in the working entry of conftest.py is refused with.
CASES = {
    "traits: [cellwize]": "traits[0] cannot be 'cellwize'",
    "traits: [quiet, quiet]": "the trait 'quiet' is given twice",
    "traits: [loads]": "what loads reads a window",
    "traits: [accumulates]": "the trait 'accumulates' needs `writes`",
    "core: cub": "core cannot be 'cub'",
    "core: move": "`core: move` needs an operand and the keyword 'target_memory'",
    "core: core_type": "`core: core_type` needs the keyword 'core_type'",
    "pipe: {end: push}": "the key 'to' is missing in pipe",
    "pipe: {end: put, to: aic}": "pipe.end cannot be 'put'",
    "pipe: {end: pop, to: aic}": "the pop of a pipe takes no operand",
    "effects: {tle: Write}": "`effects` names 'tle', which is no operand",
    "effects: {tile: Writes}": "'Writes' is no effect",
    "effects: {tile: Write}": "`effects` has 'tile' written, `writes` does not",
    "effects: {tile: Write if atomic=Add else Read}": "the effect asks for 'atomic', which is no keyword",
    "writes: [tile]\n    effects: {tile: Read}": "`writes` has 'tile', `effects` says 'Read'",
    "view_of: tle": "`view_of` names 'tle', which is no operand",
    "returns: tile\n    view_of: tile": "has both `view_of` and `returns`",
    "view_of: tile\n    disjoint_from: [all]": "the result lies on 'tile', and `disjoint_from` forbids it",
    "disjoint_from: [tle]": "`disjoint_from` names 'tle', which is no operand",
    "disjoint_from: {Ascend9: [tile]}": "no backend is named 'Ascend9'",
    "lowers_to: [tile.none]": "`lowers_to` names 'tile.none', and there is no such op",
    "lowers_to: [{rule: windw}]": "no way to lower is named 'windw'",
    "lowers_to: [{when: []}]": "a way to lower has one of `to` and `rule`",
    "lowers_to: [{to: tile.row_sum, when: [scalar(tle)]}]": "'scalar(tle)' names what the op does not take",
    "lowers_to: [{to: tile.row_sum, when: [small(tile)]}]": "'small(tile)' is no condition",
    "lowers_to: [{to: tile.row_sum, operands: [tle]}]": "'tle' is neither operand nor workspace",
    "lowers_to: [{to: tile.row_sum, scratch: {tmp: {name: t}}}]": "tile.row_sum has no operand 'tmp'",
    "lowers_to: [{to: tile.row_sum, scratch: {tmp_tile: {nam: t}}}]": "unknown key 'nam' in lowers_to",
    "lowers_to: [{to: tile.row_sum, drops: [axis]}]": "`drops` names 'axis', which is no keyword",
    "lowers_to: [{to: tile.row_sum, adds: {axis: 1}}]": "tile.row_sum has no keyword 'axis'",
}


@pytest.mark.parametrize(("line", "what"), CASES.items(), ids=range(len(CASES)))
def test_a_fact_that_cannot_be(load_errors: Callable[..., str], line: str, what: str) -> None:
    text = load_errors("    emit: reduce_last", f"    {line}\n    emit: reduce_last")
    first, place = text.splitlines()[:2]
    assert f"tile.row_sum: {what}" in first
    assert place == f"  --> T/ops/reduce.yaml:{9 + line.count(chr(10))}"


def test_traits_of_a_family(load_errors: Callable[..., str]) -> None:
    text = load_errors("family: reduce", "family: reduce\ntraits: [quick]")
    assert text.startswith(
        "error[unknown-value]: reduce: traits[0] cannot be 'quick'\n  --> T/ops/reduce.yaml:2\n"
    )
