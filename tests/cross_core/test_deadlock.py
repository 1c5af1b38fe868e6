"""What is said when no lane can go on: at once, by lane, with the lines of script and source."""

import threading

import pytest
import torch
from codegen.builders import Acc, U, assign, load, numbers, program, ret, store, tile
from codegen.kernels import (
    aic,
    aiv,
    group,
    lane_index,
    main,
    out,
    pop_from_aic,
    pop_from_aiv,
    push_to_aic,
    push_to_aiv,
    x,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import load_script, source_lines, torch_codegen

NAME = "<kernel>"


def at(line, stmt):
    """The statement, made from a line of the source."""
    place = ir.Span("kernel.py", line, 5)
    if isinstance(stmt, ir.AssignStmt):
        return ir.AssignStmt(stmt.var, stmt.value, place)
    return ir.EvalStmt(stmt.expr, place)


def a_lane_that_pushes_to_the_wrong_pipe():
    """The cube pops pipe 4, to which only lane 0 pushes; lane 0 waits for the cube, lane 1 has ended."""
    t, whole, half = tile("t", [2, 8]), tile("whole", [4, 8], memory=Acc), tile("half", [2, 8])
    is_first = ir.Eq(lane_index(), ZERO, ir.DataType.BOOL, U)
    cube = aic(
        at(11, assign(whole, pop_from_aiv([4, 8], split=1))),
        at(12, assign(whole, pop_from_aiv([4, 8], split=1, id=4))),
        at(13, push_to_aiv(whole, split=1)),
    )
    vector = aiv(
        at(21, assign(t, load(x, [0, 0], [2, 8]))),
        at(22, push_to_aic(t, split=1)),
        ir.IfStmt(
            is_first,
            ir.SeqStmts(
                [
                    at(24, push_to_aic(t, split=1, id=4)),
                    at(25, assign(half, pop_from_aic([2, 8], split=1))),
                ],
                U,
            ),
            None,
            [],
            U,
        ),
        ret(out),
    )
    return program(cube, vector, group(), main())


ZERO = ir.ConstInt(0, ir.DataType.INDEX, U)


def line(script, text):
    (number,) = [n for n, found in enumerate(script.splitlines(), 1) if found.strip() == text]
    return f"{NAME}:{number}: {text}"


def report(namespace):
    """The error of the entry, which is not that of a timeout."""
    namespace["_PIPE_WAIT_TIMEOUT_SEC"] = namespace["_MIXED_KERNEL_TIMEOUT_SEC"] = 3600
    with pytest.raises(RuntimeError) as caught:
        namespace["main"](numbers(4, 8), torch.zeros(4, 8))
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("group ")]
    return str(caught.value)


def expected(script, cube_origin="", vector_origin=""):
    cube = line(script, "whole = _cross_core_rt.pop_from_aiv(1, id=4)")
    vector = line(script, "half = _cross_core_rt.pop_from_aic(1)")
    return "\n".join(
        [
            "deadlock in group 'k': every live lane waits and none can be woken",
            f"  aic: tpop_from_aiv(split=1, id=4) at {cube}{cube_origin};"
            " missing: tpush_to_aic(split=1, id=4) by aiv1",
            f"  aiv0: tpop_from_aic(split=1, id=0) at {vector}{vector_origin};"
            " missing: tpush_to_aiv(split=1, id=0) by aic",
            "  aiv1: finished",
            "  queue depths: {'no_split_dual_aiv_dispatch': False,"
            " 'to_aic': {0: [0, 0], 4: [1, 0]}, 'to_aiv': {0: [0, 0]}}",
        ]
    )


@pytest.mark.parametrize("seed", [None, 1])
def test_a_deadlock_is_reported_in_full(seed):
    script = torch_codegen(a_lane_that_pushes_to_the_wrong_pipe(), options={"schedule_seed": seed})
    namespace = load_script(script, NAME)
    assert report(namespace) == expected(script)


def test_source_lines_are_named_where_they_are_known():
    node = a_lane_that_pushes_to_the_wrong_pipe()
    script = torch_codegen(node)
    text = report(load_script(script, NAME, source=node))
    assert text == expected(script, " (from kernel.py:12)", " (from kernel.py:25)")
    assert report(load_script(script, NAME, source=source_lines(node, script))) == text
    assert report(load_script(script, NAME, source={})) == expected(script)


def test_source_lines_of_formatted_scripts_with_checks():
    node = a_lane_that_pushes_to_the_wrong_pipe()
    script = torch_codegen(node, check_shapes=True, format=True)
    text = report(load_script(script, NAME, source=node))
    assert text == expected(script, " (from kernel.py:12)", " (from kernel.py:25)")


def test_after_a_deadlock_the_next_call_starts_clean():
    """The cube pops once more than the lanes push, if the first cell of x says so."""
    u, back = tile("u", [4, 8]), tile("back", [4, 8], memory=Acc)
    t = tile("t", [4, 8], memory=Acc)
    first = ir.Call(
        ir.Op("tensor.read"), [x, ir.MakeTuple([ZERO, ZERO], U)], {}, ir.ScalarType(x.type.dtype), U
    )
    cube = aic(
        assign(t, load(x, [0, 0], [4, 8], memory=Acc)),
        push_to_aiv(t),
        ir.IfStmt(
            ir.Gt(first, ir.ConstFloat(5.0, x.type.dtype, U), ir.DataType.BOOL, U),
            assign(back, pop_from_aiv([4, 8])),
            None,
            [],
            U,
        ),
    )
    vector = aiv(assign(u, pop_from_aic([4, 8])), ret(store(u, [0, 0], out)))
    namespace = load_script(torch_codegen(program(cube, vector, group(), main())), NAME)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="missing: tpush_to_aic.split=0, id=0. by aiv0"):
            namespace["main"](numbers(4, 8) + 10, torch.zeros(4, 8))
        target = torch.zeros(4, 8)
        namespace["main"](numbers(4, 8), target)
        assert torch.equal(target, numbers(4, 8))
        assert namespace["_cross_core_rt"].snapshot()["to_aiv"] == {0: [0, 0]}
