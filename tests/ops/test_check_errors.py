"""Well-formed entries that name what nothing declares, or contradict themselves."""

from collections.abc import Callable

import pytest


def case(title: str, old: str, new: str, text: str) -> object:
    return pytest.param(old, new, text, id=title.replace(" ", "-"))


# What replaces what in the working entry of conftest.py, and the whole text of the error it gives.
CASES = [
    case(
        "missing macro",
        "emit: reduce_last",
        "emit: reduce_lst",
        """\
error[missing-macro]: tile.row_sum: ops/reduce.py.jinja has no macro 'reduce_lst'
  --> T/ops/reduce.yaml:9
   = macros: reduce_last; did you mean 'reduce_last'?
error[unused-macro]: reduce: no op and no used macro names the macro 'reduce_last'
  --> T/ops/reduce.py.jinja:2
   = give an entry of ops/reduce.yaml `emit: reduce_last`, or delete the macro""",
    ),
    case(
        "unknown helper",
        "uses: [_reduce_valid]",
        "uses: [_reduce_valid, _other_helpr]",
        """\
error[unknown-helper]: tile.row_sum: no preamble helper is named '_other_helpr'
  --> T/ops/reduce.yaml:11
   = helpers: _other_helper, _reduce_valid; did you mean '_other_helper'?""",
    ),
    case(
        "undeclared helper",
        "    uses: [_reduce_valid]\n",
        "",
        """\
error[undeclared-helper]: tile.row_sum: macro 'reduce_last' names the helper '_reduce_valid', `uses` does not
  --> T/ops/reduce.yaml:3      macro: T/ops/reduce.py.jinja:2
   = uses: [_reduce_valid]""",
    ),
    case(
        "undeclared helper in with",
        "function: torch.sum",
        "function: _other_helper",
        """\
error[undeclared-helper]: tile.row_sum: `with` names the helper '_other_helper', `uses` does not
  --> T/ops/reduce.yaml:11
   = uses: [_reduce_valid, _other_helper]""",
    ),
    case(
        "emit and refused",
        "    emit: reduce_last",
        "    emit: reduce_last\n    refused: No meaning.",
        """\
error[emit-or-refused]: tile.row_sum: has both `emit` and `refused`
  --> T/ops/reduce.yaml:10
   = an executable op names its macro in `emit`; any other says in `refused` why it is not""",
    ),
    case(
        "missing macro for destinations",
        "emit: reduce_last",
        "emit: reduce_last\n    into: reduce_first",
        """\
error[missing-macro]: tile.row_sum: ops/reduce.py.jinja has no macro 'reduce_first'
  --> T/ops/reduce.yaml:10
   = macros: reduce_last; did you mean 'reduce_last'?""",
    ),
    case(
        "destinations of an op without a macro",
        "emit: reduce_last\n    with: {function: torch.sum}\n    uses: [_reduce_valid]",
        "emit: noop\n    into: reduce_last",
        """\
error[emit-or-refused]: tile.row_sum: has `into`, but no macro in `emit`
  --> T/ops/reduce.yaml:10
   = calls whose result is written into no tile are those of `emit`
error[unused-macro]: reduce: no op and no used macro names the macro 'reduce_last'
  --> T/ops/reduce.py.jinja:2
   = give an entry of ops/reduce.yaml `emit: reduce_last`, or delete the macro""",
    ),
    case(
        "neither emit nor refused",
        "    emit: reduce_last\n",
        "",
        """\
error[emit-or-refused]: tile.row_sum: has neither `emit` nor `refused`
  --> T/ops/reduce.yaml:3
   = an executable op names its macro in `emit`; any other says in `refused` why it is not
error[unused-macro]: reduce: no op and no used macro names the macro 'reduce_last'
  --> T/ops/reduce.py.jinja:2
   = give an entry of ops/reduce.yaml `emit: reduce_last`, or delete the macro""",
    ),
    case(
        "writes no operand",
        "    emit: reduce_last",
        "    writes: [tile, tmp]\n    emit: reduce_last",
        """\
error[unknown-operand]: tile.row_sum: `writes` names 'tmp', which is no operand
  --> T/ops/reduce.yaml:9
   = operands: tile, tmp_tile""",
    ),
    case(
        "returns no operand",
        "    emit: reduce_last",
        "    returns: til\n    emit: reduce_last",
        """\
error[unknown-operand]: tile.row_sum: `returns` names 'til', which is no operand
  --> T/ops/reduce.yaml:9
   = operands: tile, tmp_tile; did you mean 'tile'?""",
    ),
    case(
        "unknown valid rule",
        "valid: reduce_last",
        "valid: reduce_lst",
        """\
error[unknown-result]: tile.row_sum: 'reduce_lst' is no rule for the result's valid
  --> T/ops/reduce.yaml:8
   = rules: tile, tmp_tile, <valid rules>; did you mean 'reduce_last'?""",
    ),
    case(
        "unknown dtype rule",
        "dtype: tile,",
        "dtype: fp32 or promote,",
        """\
error[unknown-result]: tile.row_sum: 'fp32' is no rule for the result's dtype
  --> T/ops/reduce.yaml:8
   = rules: tile, tmp_tile, promote, accumulate, float_or_fp32, moved, declared, <all dtypes>""",
    ),
    case(
        "shape formula",
        "shape: reduce_last",
        "shape: '[M, N]'",
        """\
error[unknown-result]: tile.row_sum: '[M, N]' is no rule for the result's shape
  --> T/ops/reduce.yaml:8
   = rules: tile, tmp_tile, <shape rules>""",
    ),
    case(
        "unknown memory space",
        "memory: Vec}",
        "memory: Vek}",
        """\
error[unknown-result]: tile.row_sum: 'Vek' is no rule for the result's memory
  --> T/ops/reduce.yaml:8
   = rules: tile, tmp_tile, first_tile, unresolved, declared, <all spaces>; did you mean 'Vec'?""",
    ),
    case(
        "unknown named result",
        "result: {dtype: tile, shape: reduce_last, valid: reduce_last, memory: Vec}",
        "result: matmull",
        """\
error[unknown-result]: tile.row_sum: no result is named 'matmull'
  --> T/ops/reduce.yaml:8
   = named results: none, matmul, matmul_acc; did you mean 'matmul'?""",
    ),
    case(
        "incomplete result",
        "valid: reduce_last, ",
        "",
        """\
error[missing-key]: tile.row_sum: the result has no 'valid'
  --> T/ops/reduce.yaml:8
   = a tile result has the keys dtype, shape, valid""",
    ),
    case(
        "unknown parameter of the call",
        "    emit:",
        '    call: {signature: ["tile, tmp_tile, axis=-1"]}\n    emit:',
        """\
error[call]: tile.row_sum: the parameter 'axis' becomes no operand and no keyword
  --> T/ops/reduce.yaml:9
   = names: tile, tmp_tile""",
    ),
    case(
        "signature that is none",
        "    emit:",
        '    call: {signature: ["tile, tmp_tile=f(1)"]}\n    emit:',
        """\
error[call]: tile.row_sum: the default f(1) is no constant
  --> T/ops/reduce.yaml:9""",
    ),
    case(
        "call with an unknown name",
        "    emit:",
        "    call: {wraps: [indices]}\n    emit:",
        """\
error[call]: tile.row_sum: 'indices' is no parameter of the call
  --> T/ops/reduce.yaml:9
   = names: tile, tmp_tile""",
    ),
    case(
        "unknown key of the call",
        "    emit:",
        "    call: {literal: {tile: tmp_tile}}\n    emit:",
        """\
error[unknown-key]: tile.row_sum: unknown key 'literal' in call
  --> T/ops/reduce.yaml:9
   = keys: signature, builder, operands, keywords, drops, literals, signed, together, fills, wraps, counted, \
states, either, region, target, requires; did you mean 'literals'?""",
    ),
    case(
        "unknown requirement",
        "    emit:",
        '    call: {requires: ["same_dtypes(tile, tmp_tile)"]}\n    emit:',
        """\
error[call]: tile.row_sum: no requirement is named 'same_dtypes'
  --> T/ops/reduce.yaml:9
   = names: <requirements>; did you mean 'same_dtype'?""",
    ),
    case(
        "requirement of an unknown operand",
        "    emit:",
        '    call: {requires: ["same_dtype(tile, tmp)"]}\n    emit:',
        """\
error[call]: tile.row_sum: 'same_dtype(tile, tmp)' names 'tmp', which is no operand or keyword
  --> T/ops/reduce.yaml:9
   = names: tile, tmp_tile""",
    ),
    case(
        "required after optional",
        "memory: [Vec]}",
        "optional: true}\n      - {name: z, kind: tile}",
        """\
error[optional-order]: tile.row_sum: operand 'z' is not optional, but 'tile' before it is
  --> T/ops/reduce.yaml:7""",
    ),
    case(
        "operand twice",
        "name: tmp_tile",
        "name: tile",
        """\
error[duplicate-name]: tile.row_sum: two operands are named 'tile'
  --> T/ops/reduce.yaml:7""",
    ),
    case(
        "reserved keyword",
        "    emit:",
        "    kwargs: [{name: result, type: int}]\n    emit:",
        """\
error[reserved-name]: tile.row_sum: a keyword cannot be named 'result', `attr.result` is something else
  --> T/ops/reduce.yaml:9""",
    ),
    case(
        "default null",
        "    emit:",
        "    kwargs: [{name: pad, type: PadValue, default: null}]\n    emit:",
        """\
error[kwarg-default]: tile.row_sum: keyword 'pad' has the default null
  --> T/ops/reduce.yaml:9
   = leave `default` out for "none when absent"; quote the word null""",
    ),
    case(
        "default no member",
        "    emit:",
        "    kwargs: [{name: pad, type: PadValue, default: zeros}]\n    emit:",
        """\
error[kwarg-default]: tile.row_sum: keyword 'pad' cannot have the default 'zeros'
  --> T/ops/reduce.yaml:9
   = PadValue: null, zero, max, min; did you mean 'zero'?""",
    ),
    case(
        "default of another type",
        "    emit:",
        "    kwargs: [{name: pad, type: int, default: true}]\n    emit:",
        """\
error[kwarg-default]: tile.row_sum: keyword 'pad' cannot have the default True
  --> T/ops/reduce.yaml:9
   = expected: a value of type int""",
    ),
    case(
        "default and required",
        "    emit:",
        "    kwargs: [{name: pad, type: int, default: 1, required: true}]\n    emit:",
        """\
error[kwarg-default]: tile.row_sum: keyword 'pad' is required and has a default
  --> T/ops/reduce.yaml:9
   = drop one of the two""",
    ),
    case(
        "default no code",
        "    emit:",
        "    kwargs: [{name: mode, type: int, default: 3, values: {rint: 1, floor: 2}}]\n    emit:",
        """\
error[kwarg-default]: tile.row_sum: keyword 'mode' cannot have the default 3
  --> T/ops/reduce.yaml:9
   = codes: 1 (rint), 2 (floor)""",
    ),
    case(
        "keyword twice",
        "    emit:",
        "    kwargs: [{name: m, type: int}, {name: m, type: int}]\n    emit:",
        """\
error[duplicate-name]: tile.row_sum: two keywords are named 'm'
  --> T/ops/reduce.yaml:9""",
    ),
    case(
        "unknown name in sample",
        "    emit:",
        "    samples: [{tile: 'FP32[1, 2]', tmp: x}]\n    emit:",
        """\
error[unknown-operand]: tile.row_sum: samples[0] gives 'tmp', which is no operand or keyword
  --> T/ops/reduce.yaml:9
   = names: tile, tmp_tile""",
    ),
]


@pytest.mark.parametrize(("old", "new", "text"), CASES)
def test_contradictory_entry(load_errors: Callable[..., str], old: str, new: str, text: str) -> None:
    assert load_errors(old, new) == text


def test_unused_macro(load_errors: Callable[..., str]) -> None:
    macro = "{% macro spare(a, attr, emit) %}{{ a.tile }}{% endmacro %}\n"
    assert load_errors(new=macro, file="ops/reduce.py.jinja") == (
        "error[unused-macro]: reduce: no op and no used macro names the macro 'spare'\n"
        "  --> T/ops/reduce.py.jinja:5\n"
        "   = give an entry of ops/reduce.yaml `emit: spare`, or delete the macro"
    )


def test_macro_defined_twice(load_errors: Callable[..., str]) -> None:
    macro = "{% macro reduce_last(a, attr, emit) %}{{ a.tile }}{% endmacro %}\n"
    assert load_errors(new=macro, file="ops/reduce.py.jinja") == (
        "error[duplicate-macro]: reduce: macro 'reduce_last' is defined twice\n  --> T/ops/reduce.py.jinja:5"
    )


def test_helper_named_by_a_called_macro(load_errors: Callable[..., str]) -> None:
    start = "{% macro reduce_last(a, attr, emit) -%}\n"
    called = "{% macro inner(a) %}_other_helper({{ a.tile }}){% endmacro %}\n"
    assert load_errors(start, f"{called}{start}{{{{ inner(a) }}}} + ", "ops/reduce.py.jinja") == (
        "error[undeclared-helper]: tile.row_sum: "
        "macro 'inner' names the helper '_other_helper', `uses` does not\n"
        "  --> T/ops/reduce.yaml:11      macro: T/ops/reduce.py.jinja:2\n"
        "   = uses: [_reduce_valid, _other_helper]"
    )


def test_helper_named_by_an_imported_macro(load_errors: Callable[..., str]) -> None:
    start = "{% macro reduce_last(a, attr, emit) -%}\n"
    imported = '{% from "ops/shared.py.jinja" import inner as other %}\n'
    shared = "{% macro inner(a) %}_other_helper({{ a.tile }}){% endmacro %}\n"
    text = load_errors(
        start,
        f"{imported}{start}{{{{ other(a) }}}} + ",
        "ops/reduce.py.jinja",
        **{"ops/shared.py.jinja": shared},
    )
    assert text == (
        "error[undeclared-helper]: tile.row_sum: "
        "macro 'inner' names the helper '_other_helper', `uses` does not\n"
        "  --> T/ops/reduce.yaml:11      macro: T/ops/shared.py.jinja:1\n"
        "   = uses: [_reduce_valid, _other_helper]"
    )


OTHER = """\
family: more
ops:
  - name: tile.other
    summary: Another op.
    operands: []
    result: none
    emit: noop
"""


def test_two_ops_of_one_name(load_errors: Callable[..., str]) -> None:
    text = load_errors(**{"ops/more.yaml": OTHER.replace("tile.other", "tile.row_sum")})
    assert text == (
        "error[duplicate-op]: tile.row_sum: the name 'tile.row_sum' is taken\n"
        "  --> T/ops/reduce.yaml:3\n"
        "   = first: T/ops/more.yaml:3 (tile.row_sum)"
    )


def test_alias_that_is_another_op(load_errors: Callable[..., str]) -> None:
    text = load_errors(**{"ops/more.yaml": OTHER + "    aliases: [tile.old, tile.row_sum]\n"})
    assert text == (
        "error[duplicate-op]: tile.row_sum: the name 'tile.row_sum' is taken\n"
        "  --> T/ops/reduce.yaml:3\n"
        "   = first: T/ops/more.yaml:3 (tile.other)"
    )
