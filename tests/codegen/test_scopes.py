"""Scopes and launches: every kind of scope, calls with blocks and conditions, submits."""

import pytest
import torch
from codegen.builders import (
    AIV,
    FP32,
    INDEX,
    TASK,
    Acc,
    InCore,
    Inline,
    Mat,
    Orchestration,
    Out,
    U,
    as_expr,
    assign,
    binary,
    body_text,
    call,
    carry,
    evaluate,
    evaluate_body,
    for_loop,
    function,
    if_,
    load,
    numbers,
    op,
    program,
    ret,
    scalar,
    script,
    seq,
    store,
    tensor,
    tile,
    unary,
    yields,
)
from codegen.kernels import note_block

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

i, n = scalar("i"), scalar("n")
x, out = tensor("x", [4, 8]), tensor("out", [4, 8])


def problems(*functions: ir.Function) -> list[str]:
    with pytest.raises(UnsupportedProgramError) as caught:
        torch_codegen(program(*functions))
    return [item.what for item in caught.value.found]


# Scopes that run their body in place

IN_PLACE = {
    "runtime": lambda body: ir.RuntimeScopeStmt(body=body, span=U),
    "manual": lambda body: ir.RuntimeScopeStmt(True, "tasks", body, U),
    "hierarchy": lambda body: ir.HierarchyScopeStmt(ir.Level.CHIP, ir.Role.SubWorker, "", body, U),
    "cluster of other code": lambda body: ir.ClusterScopeStmt("", body, U),
    "incore": lambda body: ir.InCoreScopeStmt(body=body, span=U),
    "incore, split": lambda body: ir.InCoreScopeStmt(ir.SplitMode.UP_DOWN, "k", body, U),
    "communication": lambda body: ir.CommDomainScopeStmt(
        [0, 1], [ir.WindowBuffer(ir.Var("base", ir.PtrType(), U), 64)], "", body, U
    ),
}


@pytest.mark.parametrize("scope", IN_PLACE.values(), ids=IN_PLACE.keys())
def test_a_scope_runs_its_body_once_and_hides_no_name(scope):
    a, b = scalar("a"), scalar("b")
    body = seq(assign(a, n + 1), assign(b, a * 10))
    assert evaluate_body(scope(body), ret(a, b), args=[(n, 4)]) == (5, 50)
    assert body_text(scope(body), ret(b), params=[n]) == "a = n + 1\nb = a * 10\nreturn b"


def test_scopes_in_scopes():
    a = scalar("a")
    body = assign(a, a * 2)
    for scope in IN_PLACE.values():
        body = seq(scope(body), assign(a, a + 1))
    assert evaluate_body(assign(a, 1), body, ret(a)) == 2 + len(IN_PLACE)


def test_a_yield_in_a_scope_is_the_loop_s():
    a, r = carry("a", 1), scalar("r")
    loop = for_loop(i, 4, ir.RuntimeScopeStmt(body=yields(a * 2), span=U), carries=[a], results=[r])
    assert evaluate_body(loop, ret(r)) == 16


def test_a_return_in_a_runtime_scope():
    assert evaluate_body(ir.RuntimeScopeStmt(body=ret(n), span=U), args=[(n, 3)]) == 3


def test_slices_copy_in_kernel_code_and_alias_in_orchestration():
    part = tensor("part", [2, 8])
    cut = assign(part, op("tensor.slice", [x, [2, 8], [1, 0]], part.type))
    source = numbers(4, 8)
    alias = evaluate_body(cut, ret(part), args=[(x, source)])
    copy = evaluate_body(ir.InCoreScopeStmt(body=cut, span=U), ret(part), args=[(x, source)])
    assert alias.data_ptr() == source[1].data_ptr()
    assert copy.untyped_storage().data_ptr() != source.untyped_storage().data_ptr()
    assert torch.equal(alias, copy)
    # After the scope the code is orchestration again.
    after = tensor("after", [2, 8])
    both = [
        ir.InCoreScopeStmt(body=cut, span=U),
        assign(after, op("tensor.slice", [x, [2, 8], [1, 0]], part.type)),
    ]
    assert evaluate_body(*both, ret(after), args=[(x, source)]).data_ptr() == source[1].data_ptr()


def test_an_inline_function_is_kernel_code_if_only_kernels_call_it():
    part = tensor("part", [2, 8])
    helper = function(
        "helper",
        [x],
        assign(part, op("tensor.slice", [x, [2, 8], [1, 0]], part.type)),
        ret(part),
        type=Inline,
    )
    kernel = function("kernel", [x], ret(call("helper", [x], part.type)), type=InCore)
    assert "_tensor_slice" in torch_codegen(program(helper, kernel))
    scope = ir.InCoreScopeStmt(body=evaluate(call("helper", [x], part.type)), span=U)
    assert "_tensor_slice" in torch_codegen(program(helper, kernel, function("main", [x], scope)))
    main = function("main", [x], ret(call("helper", [x], part.type)), type=Orchestration)
    assert "_tensor_window" in torch_codegen(program(helper, kernel, main))


# Attributes of scopes


def test_a_scope_s_task_id():
    task = ir.Var("task", TASK, U)
    a = scalar("a")
    scope = ir.InCoreScopeStmt(body=assign(a, n), span=U, attrs={"task_id_var": task})
    assert evaluate_body(scope, ret(a, task), args=[(n, 7)]) == (7, 0)


@pytest.mark.parametrize(("value", "expected"), [(1, 99), (0, 5)])
def test_a_predicated_scope(value, expected):
    a, task = scalar("a"), ir.Var("task", TASK, U)
    scope = ir.SpmdScopeStmt(
        1, body=assign(a, 99), span=U, attrs={"predicate": ir.gt(n, 0), "task_id_var": task}
    )
    assert evaluate_body(assign(a, 5), scope, ret(a, task), args=[(n, value)]) == (expected, 0)


def test_a_predicated_scope_in_ssa_form_leaves_its_outputs_as_they_were():
    """What is written gets a new name in the scope: the same storage, written or not."""
    o1, o2, o3 = (tensor(f"o{k}", [4, 8]) for k in (1, 2, 3))
    t = tile("t", [4, 8])
    kernel = function(
        "kernel",
        [x, (out, Out)],
        assign(t, load(x, [0, 0], [4, 8])),
        ret(store(t, [0, 0], out)),
        type=AIV,
        returns=[out.type],
    )
    u = tile("u", [4, 8])
    a = carry("a", o1)
    body = seq(
        assign(o1, call("kernel", [x, out], out.type)),
        for_loop(i, 2, yields(a), carries=[a], results=[o2]),
        assign(u, load(x, [0, 0], [4, 8])),
        assign(o3, store(binary("tile.add", u, u), [0, 0], o2)),
    )
    scope = ir.InCoreScopeStmt(body=body, span=U, attrs={"predicate": ir.gt(n, 0)})
    main = function("main", [x, out, n], scope, ret(o3))
    namespace = script(kernel, main)
    target = torch.full((4, 8), -1.0)
    assert namespace["main"](numbers(4, 8), target, 0) is target
    assert torch.equal(target, torch.full((4, 8), -1.0))
    assert namespace["main"](numbers(4, 8), target, 1) is target
    assert torch.equal(target, 2 * numbers(4, 8))


def test_a_value_of_a_predicated_scope_that_has_none_before_it():
    a = scalar("a")
    scope = ir.InCoreScopeStmt(body=assign(a, n + 1), span=U, attrs={"predicate": ir.gt(n, 0)})
    assert problems(function("f", [n], scope, ret(a))) == [
        "a value of a predicated scope that is used after it"
    ]
    assert evaluate_body(scope, ret(n), args=[(n, 0)]) == 0


# SPMD


def test_an_spmd_scope_runs_its_body_for_every_block():
    target = torch.zeros(4, 8)
    scope = ir.SpmdScopeStmt(n, body=seq(*note_block(out)), span=U)
    evaluate_body(scope, args=[(out, target), (n, 3)])
    assert target[:, 0].tolist() == [1.0, 11.0, 21.0, 0.0]


def test_spmd_scopes_in_each_other_restore_the_block():
    target = torch.zeros(4, 8)
    inner = ir.SpmdScopeStmt(1, body=evaluate(op("tile.get_block_idx", [], ir.ScalarType(INDEX))), span=U)
    evaluate_body(ir.SpmdScopeStmt(4, True, "", seq(inner, *note_block(out)), U), args=[(out, target)])
    assert target[:, 0].tolist() == [1.0, 11.0, 21.0, 31.0]


def test_jumps_do_not_leave_a_block():
    for jump, what in [(ir.BreakStmt(U), "a break"), (ir.ContinueStmt(U), "a continue")]:
        scope = ir.SpmdScopeStmt(2, body=jump, span=U)
        assert problems(function("f", [], for_loop(i, 2, scope))) == [f"{what} outside any loop"]
    scope = ir.SpmdScopeStmt(2, body=ret(1), span=U)
    assert problems(function("f", [], scope)) == ["a return inside a split-AIV or SPMD scope"]
    inner = for_loop(i, 5, if_(ir.gt(i, 1), ir.BreakStmt(U)))
    assert evaluate_body(ir.SpmdScopeStmt(2, body=inner, span=U), ret(i)) == 2


# Two lanes over one body


def lane_index():
    return op("tile.get_subblock_idx", [], ir.ScalarType(INDEX))


def split_scope(*body, split=ir.SplitMode.NONE, name=""):
    return ir.SplitAivScopeStmt(split, 2, name, seq(*body), U)


def test_a_split_scope_runs_on_both_lanes():
    lane, t = scalar("lane"), tile("t", [2, 8])
    lanes = split_scope(
        assign(lane, lane_index()),
        assign(t, load(x, [lane * 2, 0], [2, 8])),
        assign(t, unary("tile.neg", t)),
        assign(out, store(t, [lane * 2, 0], out)),
        split=ir.SplitMode.UP_DOWN,
    )
    target = torch.zeros(4, 8)
    main = function("main", [x, out], lanes, ret(out), type=InCore)
    assert script(main)["main"](numbers(4, 8), target) is target
    assert torch.equal(target, -numbers(4, 8))


def test_a_scope_that_rebinds_a_parameter_and_ends_the_function():
    """Nothing after the scope reads the parameter, but the scope reads it before it rebinds it."""
    a = scalar("a")
    lanes = split_scope(assign(a, a + 1), assign(a, a * 2))
    assert evaluate_body(lanes, args=[(a, 5)]) is None


def test_names_of_a_scope_live_on():
    a, b, c = scalar("a"), scalar("b"), scalar("c")
    lanes = split_scope(assign(b, a + 1), assign(c, b * 2), assign(a, c))
    assert evaluate_body(lanes, ret(a, c), args=[(a, 5)]) == (12, 12)
    assert evaluate_body(assign(b, 0), for_loop(i, 3, split_scope(assign(b, b + i))), ret(b)) == 3


def test_a_scope_yields_to_the_loop_around_it():
    a, r = carry("a", 1), scalar("r")
    loop = for_loop(i, 5, split_scope(yields(a * 3)), carries=[a], results=[r])
    assert evaluate_body(loop, ret(r)) == 243
    p, q, s, t = carry("p", 1), carry("q", 2), scalar("s"), scalar("t")
    swap = for_loop(i, 3, split_scope(yields(q, p)), carries=[p, q], results=[s, t])
    assert evaluate_body(swap, ret(s, t)) == (2, 1)


def test_loops_and_branches_in_a_scope():
    a, r, v = carry("a", 0), scalar("r"), scalar("v")
    lanes = split_scope(
        for_loop(i, 4, if_(ir.eq(i, 3), ir.BreakStmt(U)), yields(a + i), carries=[a], results=[r]),
        if_(ir.gt(r, 2), yields(r * 10), yields(0), results=[v]),
    )
    # The break comes before the last yield: 0 + 0 + 1 + 2.
    assert evaluate_body(lanes, ret(v)) == 30


def test_jumps_do_not_leave_a_scope():
    assert problems(function("f", [], for_loop(i, 2, split_scope(ir.BreakStmt(U))))) == [
        "a break outside any loop"
    ]
    assert problems(function("f", [], split_scope(ret(1)))) == ["a return inside a split-AIV or SPMD scope"]


def test_shards_and_gathers_meet_between_the_lanes():
    whole, half, doubled, joined = (
        tile("whole", [4, 8], memory=Acc),
        tile("half", [2, 8]),
        tile("doubled", [2, 8]),
        tile("joined", [4, 8], memory=Mat),
    )
    lanes = split_scope(
        assign(whole, load(x, [0, 0], [4, 8], memory=Acc)),
        assign(half, op("tile.aiv_shard", [whole], half.type, split=1)),
        assign(doubled, binary("tile.add", half, half)),
        assign(joined, op("tile.aic_gather", [doubled], joined.type, split=1)),
        assign(out, op("tile.store", [joined, [0, 0], out], out.type, atomic=1)),
        split=ir.SplitMode.UP_DOWN,
    )
    target = torch.ones(4, 8)
    script(function("main", [x, out], lanes, type=InCore))["main"](numbers(4, 8), target)
    assert torch.equal(target, 2 * numbers(4, 8) + 1)  # a cube-side store lands once


@pytest.mark.parametrize(
    ("split", "uses_index", "expected"),
    [(ir.SplitMode.UP_DOWN, False, 1.0), (ir.SplitMode.UP_DOWN, True, 2.0), (ir.SplitMode.NONE, False, 2.0)],
)
def test_work_that_is_not_lowered_yet_lands_once(split, uses_index, expected):
    """Both lanes compute all of a halving scope that does not tell them apart: its stores count once.

    Every scope takes the lane's index at its start; only one that uses it has code of each lane's own.
    """
    lane, t = scalar("lane"), tile("t", [4, 8])
    row = lane * 0 if uses_index else as_expr(0)
    add = op("tile.store", [t, [row, 0], out], out.type, atomic=1)
    lanes = split_scope(
        assign(lane, lane_index()), assign(t, load(x, [0, 0], [4, 8])), evaluate(add), split=split
    )
    target = torch.zeros(4, 8)
    script(function("main", [x, out], lanes, type=InCore))["main"](torch.ones(4, 8), target)
    assert torch.equal(target, torch.full((4, 8), expected))


def test_a_function_on_two_lanes():
    lane, t = scalar("lane"), tile("t", [2, 8])
    kernel = function(
        "kernel",
        [x, out],
        assign(lane, lane_index()),
        assign(t, load(x, [lane * 2, 0], [2, 8])),
        assign(out, store(binary("tile.add", t, t), [lane * 2, 0], out)),
        ret(out),
        type=InCore,
        returns=[out.type],
        split=1,
        split_aiv=True,
    )
    target = torch.zeros(4, 8)
    main = function("main", [x, out], ret(call("kernel", [x, out], out.type)))
    assert script(kernel, main)["main"](numbers(4, 8), target) is target
    assert torch.equal(target, 2 * numbers(4, 8))


def test_replayed_lanes_return_from_both_branches():
    """Lane 1 only keeps the pipes moving; the function's value is lane 0's."""
    lane, t = scalar("lane"), tile("t", [4, 8])
    kernel = function(
        "kernel",
        [x, out],
        assign(lane, lane_index()),
        if_(
            ir.eq(lane, 0),
            seq(assign(t, load(x, [0, 0], [4, 8])), ret(store(t, [0, 0], out))),
            ret(out),
        ),
        type=AIV,
        returns=[out.type],
        dual_aiv_dispatch=True,
    )
    main = function("main", [x, out], ret(call("kernel", [x, out], out.type)))
    target = torch.zeros(4, 8)
    namespace = script(kernel, main)
    assert namespace["_GROUP_META"]["kernel"] == {
        "aic": None,
        "aiv": "kernel",
        "split": 0,
        "dual_aiv_dispatch": True,
        "lane1_writes": True,
    }
    assert namespace["main"](numbers(4, 8), target) is target
    assert torch.equal(target, numbers(4, 8))


# Other nodes in scripts


def test_memory_references_in_types_change_nothing():
    base = ir.Var("mem_vec_0", ir.PtrType(), U)
    memref = ir.MemRef(base, 0, 128, span=U)
    t = ir.Var("t", ir.TileType([4, 8], FP32, memref, None, ir.MemorySpace.Vec), U)
    allocate = assign(base, op("tile.alloc", [int(ir.MemorySpace.Vec.value), 128], ir.PtrType()))
    target = torch.zeros(4, 8)
    evaluate_body(
        allocate,
        assign(t, load(x, [0, 0], [4, 8])),
        evaluate(store(t, [0, 0], out)),
        args=[(x, numbers(4, 8)), (out, target)],
    )
    assert torch.equal(target, numbers(4, 8))


def test_tensors_in_a_communication_window():
    window = ir.WindowBuffer(ir.Var("base", ir.PtrType(), U), 128)
    remote = ir.Var("remote", ir.DistributedTensorType([4, 8], FP32, window), U)
    t = tile("t", [4, 8])
    body = ir.CommDomainScopeStmt([], [window], "", assign(t, load(remote, [0, 0], [4, 8])), U)
    target = torch.zeros(4, 8)
    evaluate_body(body, evaluate(store(t, [0, 0], out)), args=[(remote, numbers(4, 8)), (out, target)])
    assert torch.equal(target, numbers(4, 8))


def test_a_graph_function():
    graph = function("graph", [n], ret(n + 1), type=ir.FunctionType.Graph)
    main = function("main", [n], ret(call("graph", [n], ir.ScalarType(INDEX)) * 2))
    assert script(graph, main)["main"](4) == 10
