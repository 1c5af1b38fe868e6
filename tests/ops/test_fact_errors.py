"""Facts that mean nothing or contradict each other: load errors with file, line and op."""

from collections.abc import Callable

import pytest

# What a line of facts in the working entry of conftest.py is refused with.
CASES = {
    "traits: [cellwize]": "traits[0] cannot be 'cellwize'",
    "traits: [quiet, quiet]": "`traits` has 'quiet' twice",
    "traits: [allocates, moves]": "the traits 'allocates' and 'moves' exclude each other",
    "traits: [dummy_task, product]": "the traits 'dummy_task' and 'product' exclude each other",
    "traits: [no_arithmetic, product]": "the traits 'no_arithmetic' and 'product' exclude each other",
    "traits: [cellwise]": "the trait 'cellwise' does not go with a result of shape 'reduce_last'",
    "view_of: tile\n    traits: [makes_value]": "has the trait 'makes_value' and `view_of`",
    "traits: [loads]": "what loads reads a window",
    "traits: [accumulates]": "the trait 'accumulates' needs `writes`",
    "core: cub": "core cannot be 'cub'",
    "core: move": "`core: move` needs an operand and the keyword 'target_memory'",
    "core: core_type": "`core: core_type` needs the keyword 'core_type'",
    "pipe: {end: push}": "the key 'to' is missing in pipe",
    "pipe: {end: put, to: aic}": "pipe.end cannot be 'put'",
    "pipe: {end: pop, to: aic}": "the pop of a pipe takes no operand",
    "core: cube\n    pipe: {end: push, to: aic}": "the push of a pipe to aic runs on the vector core",
    "core: vector\n    pipe: {end: free, to: aic}": "the free of a pipe to aic runs on the cube core",
    "pipe: {end: push, to: aiv}": "the push of a pipe to aiv runs on the cube core",
    "writes: [tile, tile]": "`writes` has 'tile' twice",
    "disjoint_from: {Ascend950: [all, all]}": "`Ascend950` has 'all' twice",
    "dtypes: [FP32, FP32]": "`dtypes` has 'FP32' twice",
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
    "lowers_to: [tile.row_sum]": "has `lowers_to` and is no tensor op",
}

# The same of a tensor op beside it.
TENSOR_OP = """\
  - name: tensor.row_sum
    summary: Sum over the last axis.
    operands: [{name: tile, kind: tensor}]
    result: {dtype: tile, shape: reduce_last, valid: reduce_last}
    %s
    emit: reduce_last
    with: {function: torch.sum}
    uses: [_reduce_valid]
"""
LOWERINGS = {
    "lowers_to: [tile.row_sum, tile.row_sum]": "a way to lower is never taken: 'tile.row_sum' always counts",
    "lowers_to: [tile.none]": "`lowers_to` names 'tile.none', and there is no such op",
    "lowers_to: [tensor.row_sum]": "`lowers_to` names 'tensor.row_sum', which is no tile op",
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


@pytest.mark.parametrize(("line", "what"), LOWERINGS.items(), ids=range(len(LOWERINGS)))
def test_a_lowering_that_cannot_be(load_errors: Callable[..., str], line: str, what: str) -> None:
    first, place = load_errors(new=TENSOR_OP % line).splitlines()[:2]
    assert f"tensor.row_sum: {what}" in first
    assert place == "  --> T/ops/reduce.yaml:16"


def test_a_space_that_is_named_twice(load_errors: Callable[..., str]) -> None:
    text = load_errors("memory: [Vec]", "memory: [Vec, Vec]")
    assert text.startswith("error[fact]: tile.row_sum: `memory` has 'Vec' twice\n  --> T/ops/reduce.yaml:6")


def test_traits_of_a_family(load_errors: Callable[..., str]) -> None:
    text = load_errors("family: reduce", "family: reduce\ntraits: [quick]")
    assert text.startswith(
        "error[unknown-value]: reduce: traits[0] cannot be 'quick'\n  --> T/ops/reduce.yaml:2\n"
    )
