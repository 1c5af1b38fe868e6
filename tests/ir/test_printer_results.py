"""Numbers of results that share a name, and Spmd scopes with a task id whose body is kernel code."""

from typing import Any

import pytest
from ir.printer_samples import (
    NOWHERE,
    assign,
    body_text,
    boolean,
    branch,
    call,
    carry,
    evaluate,
    function,
    integer,
    loop,
    program,
    scalar,
    sequence,
    text,
    while_loop,
    yields,
)

import pypto_tmpl.language as pl
from pypto_tmpl import ir

T0 = scalar("t0", ir.DataType.TASK_ID)
WORK = evaluate(call("tile.other", type=ir.UnknownType()))
INDEX_LINE = "    i: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()\n"


def nested(kind: str, inner: ir.Stmt | None) -> ir.Stmt:
    """A statement of one result ``r`` around another one of the same name."""
    result = scalar("r")
    body = [inner] if inner is not None else []
    if kind == "if":
        return branch(
            boolean(True), sequence(*body, yields(integer(1))), sequence(yields(integer(2))), [result]
        )
    carried = carry(f"{kind}_carry_{len(body)}", integer(0))
    block = sequence(*body, yields(carried))
    if kind == "for":
        return loop(scalar(f"i{len(body)}"), integer(0), integer(4), integer(1), block, [carried], [result])
    return while_loop(ir.Lt(carried, integer(4), ir.DataType.BOOL, NOWHERE), block, [carried], [result])


@pytest.mark.parametrize("outer", ["while", "for", "if"])
@pytest.mark.parametrize("inner", ["while", "for", "if"])
def test_results_of_one_name_are_numbered_from_the_outside_in(outer: str, inner: str) -> None:
    """As recorded of a `while` in a `while` that a `break` was lowered in."""
    lines = [
        line.strip()
        for line in body_text(nested(outer, nested(inner, None))).splitlines()
        if "yield_" in line
    ]
    assert {line.partition(":")[0] for line in lines if line.startswith("r_1")} == {"r_1"}
    assert lines[0].startswith("r_1: ") and lines[-1].startswith("r: ")


def in_core(*body: ir.Stmt, **options: Any) -> ir.InCoreScopeStmt:
    inner = body[0] if len(body) == 1 else sequence(*body)
    return ir.InCoreScopeStmt(body=inner, span=NOWHERE, **options)


def spmd(body: ir.Stmt, name_hint: str = "", task: ir.Var | None = T0) -> list[ir.Stmt]:
    """The placeholder of a task id, and the scope that takes it."""
    attrs = {} if task is None else {"task_id_var": task}
    scope = ir.SpmdScopeStmt(4, False, name_hint, body, NOWHERE, attrs=attrs)
    return [assign(T0, call("system.task_invalid", type=T0.type)), scope] if task is not None else [scope]


def index() -> ir.Stmt:
    return assign(scalar("i"), call("tile.get_block_idx", type=ir.ScalarType(ir.DataType.INDEX)))


INLINE = [
    (spmd(in_core(index(), WORK)), "with pl.spmd(4) as t0:\n" + INDEX_LINE + "    pl.tile.other()\n"),
    (spmd(in_core(WORK, index())), "with pl.spmd(4) as t0:\n    pl.tile.other()\n" + INDEX_LINE),
    (
        spmd(in_core(index(), name_hint="rows"), "rows_spmd"),
        'with pl.spmd(4, name_hint="rows_spmd") as t0:\n' + INDEX_LINE,
    ),
    (
        spmd(in_core(WORK, split=ir.SplitMode.UP_DOWN, attrs={"slot_num": 2})),
        "with pl.spmd(4, optimizations=[pl.split(pl.SplitMode.UP_DOWN), "
        "pl.cross_core_slot(slot_num=2)]) as t0:\n"
        "    pl.tile.other()\n",
    ),
]
NESTED = [
    spmd(in_core(WORK)),  # nothing tells the reader that this is kernel code
    spmd(in_core(index(), name_hint="rows"), "blocks"),
    spmd(in_core(index(), name_hint="rows")),
    spmd(in_core(index(), attrs={"windowize": True})),
    spmd(in_core(in_core(index()))),
    spmd(in_core(*spmd(in_core(index()), task=None), WORK)),  # a loop, which does not spell the op
]


def reads_back(found: list[ir.Stmt]) -> bool:
    whole = program(function("f", [], sequence(*found)))
    return ir.structural_equal(pl.parse(text(whole)), whole)


@pytest.mark.parametrize(("found", "expected"), INLINE)
def test_the_scope_that_the_reader_makes_is_not_printed(found: list[ir.Stmt], expected: str) -> None:
    assert body_text(*found) == expected
    assert reads_back(found)


@pytest.mark.parametrize("found", NESTED)
def test_a_scope_that_says_more_is_printed(found: list[ir.Stmt]) -> None:
    assert "    with pl.at(level=pl.Level.CORE_GROUP" in body_text(*found)
    assert reads_back(found)


def test_comments_of_the_scope_that_is_not_printed_stand_in_front() -> None:
    body = in_core(index())
    ir.attach_leading_comments(body, ["core"])
    found = spmd(body)
    ir.attach_leading_comments(found[-1], ["scope"])
    assert body_text(*found) == "# scope\n# core\nwith pl.spmd(4) as t0:\n" + INDEX_LINE
