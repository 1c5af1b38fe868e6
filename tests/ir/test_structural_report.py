"""The text that shows a difference: its path and reason, and the printed line on either side."""

from __future__ import annotations

from typing import Any

import pytest
from ir.printer_samples import (
    BOOL,
    FP32,
    INDEX,
    INT64,
    NOWHERE,
    TENSOR,
    assign,
    branch,
    call,
    evaluate,
    function,
    integer,
    loop,
    program,
    returns,
    scalar,
    sequence,
    tensor,
)

from pypto_tmpl import ir

T, N, FLAG = tensor("t"), scalar("n"), scalar("flag", BOOL)
WORK = evaluate(call("system.bar_all"))


def main(*stmts: ir.Stmt, params: list[Any] | None = None, **options: Any) -> ir.Program:
    body = sequence(*stmts) if len(stmts) != 1 else stmts[0]
    return program(function("main", params or [T, N, FLAG], body, **options))


def use(value: int) -> ir.Stmt:
    return assign(tensor("u"), call("tensor.adds", T, integer(value)))


TEXT = "pl.Tensor[[16, 64], pl.FP32]"
CASES: dict[str, tuple[Any, Any, str]] = {
    "a constant in a statement": (
        main(WORK, use(1)),
        main(WORK, use(2)),
        "['main'].body[1].value.args[1].value: 1 and 2 differ\n"
        f"  left:  u: {TEXT} = pl.tensor.adds(t, 1)\n"
        f"  right: u: {TEXT} = pl.tensor.adds(t, 2)",
    ),
    "a statement inside a loop inside a branch": (
        main(branch(FLAG, loop(scalar("i"), integer(0), N, integer(1), sequence(WORK, use(1))))),
        main(branch(FLAG, loop(scalar("i"), integer(0), N, integer(1), sequence(WORK, use(2))))),
        "['main'].body.then_body.body[1].value.args[1].value: 1 and 2 differ\n"
        f"  left:  u: {TEXT} = pl.tensor.adds(t, 1)\n"
        f"  right: u: {TEXT} = pl.tensor.adds(t, 2)",
    ),
    "the range of a loop": (
        main(loop(scalar("i"), integer(0), N, integer(1), sequence(WORK, WORK))),
        main(loop(scalar("i"), integer(0), N, integer(2), sequence(WORK, WORK))),
        "['main'].body.step.value: 1 and 2 differ\n"
        "  left:  for i in pl.range(n):\n"
        "  right: for i in pl.range(0, n, 2):",
    ),
    "the kind of a statement": (
        main(WORK, WORK),
        main(WORK, returns(T)),
        "['main'].body[1]: kinds differ: EvalStmt and ReturnStmt\n"
        "  left:  pl.system.bar_all()\n"
        "  right: return t",
    ),
    "a statement that is missing": (
        main(WORK, use(1), returns(T)),
        main(WORK, use(1)),
        "['main'].body: lengths differ: 3 and 2\n  left:  return t\n  right: (nothing)",
    ),
    "a parameter": (
        main(WORK, params=[T, N]),
        main(WORK, params=[T, tensor("n")]),
        "['main'].params[1].type: kinds differ: ScalarType and TensorType\n"
        f"  left:  def main(t: {TEXT}, n: pl.Scalar[pl.INDEX]):\n"
        f"  right: def main(t: {TEXT}, n: {TEXT}):",
    ),
    "a direction": (
        main(WORK, params=[T]),
        main(WORK, params=[(T, ir.ParamDirection.Out)]),
        "['main'].param_directions[0]: <ParamDirection.In: 0> and <ParamDirection.Out: 1> differ\n"
        f"  left:  def main(t: {TEXT}):\n"
        f"  right: def main(t: pl.Out[{TEXT}]):",
    ),
    "a type of function": (
        main(WORK),
        main(WORK, type=ir.FunctionType.Inline),
        "['main'].func_type: <FunctionType.Opaque: 0> and <FunctionType.Inline: 7> differ\n"
        "  left:  @pl.function\n"
        "  right: @pl.function(type=pl.FunctionType.Inline)",
    ),
    "an attribute of a function": (
        main(WORK, attrs={"slot_num": 2}),
        main(WORK, attrs={"slot_num": 4}),
        "['main'].attrs['slot_num']: 2 and 4 differ\n"
        '  left:  pl.func_attr({"slot_num": 2})\n'
        '  right: pl.func_attr({"slot_num": 4})',
    ),
    "an attribute that one side lacks": (
        main(WORK, attrs={"slot_num": 2}),
        main(WORK),
        "['main'].attrs['slot_num']: present on one side only\n"
        '  left:  pl.func_attr({"slot_num": 2})\n'
        "  right: @pl.function",
    ),
    "a function that one side lacks": (
        program(function("f", [N], WORK), function("main", [T], WORK)),
        main(WORK, params=[T]),
        "['f']: the function exists on one side only\n"
        "  left:  def f(n: pl.Scalar[pl.INDEX]):\n"
        "  right: (nothing)",
    ),
    "a lone function": (
        function("f", [T], returns(T)),
        function("f", [T], returns(tensor("u"))),
        "body.value[0]: the variables stand for different definitions\n  left:  return t\n  right: return u",
    ),
    "an expression": (
        ir.Add(N, integer(1), INDEX, NOWHERE),
        ir.Add(N, integer(2), INDEX, NOWHERE),
        "right.value: 1 and 2 differ\n  left:  n + 1\n  right: n + 2",
    ),
    "a type": (
        ir.TensorType([16, 64], FP32),
        ir.TensorType([16, 32], FP32),
        f"shape[1].value: 64 and 32 differ\n  left:  {TEXT}\n  right: pl.Tensor[[16, 32], pl.FP32]",
    ),
    "other kinds of node": (
        main(WORK),
        function("main", [T], WORK),
        f"kinds differ: Program and Function\n  left:  @pl.program\n  right: def main(t: {TEXT}):",
    ),
    "a difference that the text does not show": (
        main(WORK, assign(scalar("y"), ir.Neg(N, INDEX, NOWHERE))),
        main(WORK, assign(scalar("y"), ir.Neg(N, INT64, NOWHERE))),
        "['main'].body[1].value.type.dtype: index and int64 differ\n"
        "  left:  y: pl.Scalar[pl.INDEX] = -n\n"
        "  right: y: pl.Scalar[pl.INDEX] = -n",
    ),
    "what has no text": (
        returns(call("not a name")),
        returns(call("not a name", T)),
        "value[0].args: lengths differ: 0 and 1\n"
        "  left:  <ReturnStmt at :-1:-1>\n"
        "  right: <ReturnStmt at :-1:-1>",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_reports(name: str) -> None:
    left, right, report = CASES[name]
    if report.startswith(("kinds", "lengths")):
        report = f"root: {report}"
    assert ir.structural_report(left, right) == report


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_reported_of_equal_ones(name: str) -> None:
    left, right, _ = CASES[name]
    assert ir.structural_report(left, left) is None
    assert ir.structural_report(right, right) is None


def test_free_variables_pair_on_request() -> None:
    first, second = returns(scalar("a"), T), returns(scalar("b"), T)
    assert ir.structural_report(first, second) == (
        "value[0]: free variables are different objects\n  left:  return a, t\n  right: return b, t"
    )
    assert ir.structural_report(first, second, enable_auto_mapping=True) is None


def test_names_of_functions_may_hold_anything() -> None:
    """Such programs have no text, and a report all the same."""
    for name in ("a b", "it's", 'say "x"', "a]['b"):
        first, second = (program(function(name, [T], returns(T), [TENSOR] * n)) for n in (0, 1))
        report = ir.structural_report(first, second)
        assert report is not None
        assert report.startswith(f"[{name!r}].return_types: lengths differ: 0 and 1\n  left:  ")
