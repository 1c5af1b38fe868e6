"""Arrays, task ids, prefetches and synchronisation, whose values are no tensors."""

import pytest
from codegen.builders import (
    U,
    assign,
    body_text,
    carry,
    evaluate,
    evaluate_body,
    for_loop,
    function,
    op,
    ret,
    script,
    yields,
)
from ops.sampled import TABLE

from pypto_tmpl import ir
from pypto_tmpl.errors import PyptoTmplError

NOOPS = sorted(name for name, entry in TABLE.items() if entry.is_noop)
INDEX, TASK_ID = ir.DataType.INDEX, ir.DataType.TASK_ID


def array(name, extent, dtype=ir.DataType.INT32):
    return ir.Var(name, ir.ArrayType(dtype, extent), U)


def test_an_array_in_a_program():
    a, b, x = array("a", 3), array("b", 3), ir.Var("x", ir.ScalarType(ir.DataType.INT32), U)
    n = ir.Var("n", ir.ScalarType(INDEX), U)
    created = op("array.create", [3], a.type, dtype=ir.DataType.INT32)
    updated = op("array.update_element", [a, 1, n], b.type)
    read = op("array.get_element", [b, 1], x.type)
    body = [assign(a, created), assign(b, updated), assign(x, read), ret(x)]
    assert body_text(*body, params=[n]).splitlines() == [
        "a = [0] * 3",
        "b = _array_set(a, 1, _as_cell(n, torch.int32))",
        "x = _array_at(b, 1)",
        "return x",
    ]


def test_an_array_carried_by_a_loop():
    a, b, c = array("a", 4), array("b", 4), array("c", 4)
    x, i = ir.Var("x", ir.ScalarType(ir.DataType.INT32), U), ir.Var("i", ir.ScalarType(INDEX), U)
    carried = carry("carried", a)
    created = op("array.create", [4], a.type, dtype=ir.DataType.INT32)
    updated = op("array.update_element", [carried, i, i * 10], b.type)
    loop = for_loop(i, 4, assign(b, updated), yields(b), carries=[carried], results=[c])
    read = op("array.get_element", [c, 2], x.type)
    assert evaluate_body(assign(a, created), loop, assign(x, read), ret(x)) == 20


def test_an_array_of_task_ids_takes_the_id_of_a_task():
    a, b = array("a", 2, TASK_ID), array("b", 2, TASK_ID)
    task, first, second = (ir.Var(name, ir.ScalarType(TASK_ID), U) for name in ("task", "first", "second"))
    body = [
        assign(a, op("array.create", [2], a.type, dtype=TASK_ID)),
        assign(task, op("system.task_dummy", [], task.type)),
        assign(b, op("array.update_element", [a, 1, task], b.type)),
        assign(first, op("array.get_element", [b, 0], first.type)),
        assign(second, op("array.get_element", [b, 1], second.type)),
    ]
    checks = [op("system.task_is_valid", [var], ir.ScalarType(ir.DataType.BOOL)) for var in (first, second)]
    assert evaluate_body(*body, ret(*checks)) == (False, True)


def test_task_ids():
    task, valid = (ir.Var(name, ir.ScalarType(dtype), U) for name, dtype in
                   [("task", TASK_ID), ("valid", ir.DataType.BOOL)])  # fmt: skip
    is_valid = op("system.task_is_valid", [task], valid.type)
    for name, expected in (("system.task_invalid", False), ("system.task_dummy", True)):
        made = op(name, [], task.type)
        assert evaluate_body(assign(task, made), assign(valid, is_valid), ret(valid)) is expected


@pytest.mark.parametrize("name", NOOPS)
def test_a_noop_leaves_no_text(name):
    assert TABLE[name].emit == "noop"
    call = op(name, [])
    assert body_text(evaluate(call), ret(1)) == "return 1"


@pytest.mark.parametrize("name", sorted(name for name, entry in TABLE.items() if entry.refused))
def test_a_refused_op_is_named_with_the_reason(name):
    with pytest.raises(PyptoTmplError) as caught:
        script(function("f", [], evaluate(op(name, [])), ret(1)))
    assert f"operator {name!r} is refused: {TABLE[name].refused}" in str(caught.value)


def test_barriers_say_that_they_do_not_order_the_cores():
    for name in ("system.syncall", "system.sync_set", "system.sync_wait"):
        assert "global memory" in " ".join(TABLE[name].notes.split()), name


def test_the_table_has_every_namespace():
    assert len(TABLE) == 316  # those of PyPTO, and four over buffers
    refused = ("buffer.", "test.")
    assert {name for name, entry in TABLE.items() if entry.refused} == {
        n for n in TABLE if n.startswith(refused)
    }
