"""The warning at emission that a group hands a tensor over through memory, and nothing orders it."""

import warnings

import pytest
import torch
from codegen.builders import (
    AIC,
    AIV,
    Acc,
    Group,
    Inline,
    Mat,
    U,
    assign,
    call,
    evaluate,
    for_loop,
    function,
    if_,
    load,
    program,
    ret,
    scalar,
    seq,
    store,
    tensor,
    tile,
)
from codegen.kernels import pop_from_aic, pop_from_aiv, push_to_aic, push_to_aiv
from corpus_check import default_corpus, find_dumps

from pypto_tmpl import ir
from pypto_tmpl.codegen.handovers import HandoverWarning
from pypto_tmpl.debug import torch_codegen

x, mid, out = (tensor(name, [4, 8]) for name in ("x", "mid", "out"))
both = (x, mid, out)
i = scalar("i")


def at(line, stmt):
    """The statement with a place in a source."""
    span = ir.Span("kernel.py", line, 5)
    if isinstance(stmt, ir.EvalStmt):
        return ir.EvalStmt(stmt.expr, span)
    return ir.AssignStmt(stmt.var, stmt.value, span)


t, u, p, q = (
    tile("t", [4, 8], memory=Acc),
    tile("u", [4, 8]),
    tile("p", [4, 8]),
    tile("q", [4, 8], memory=Mat),
)
TAKE = assign(t, load(x, [0, 0], [4, 8], memory=Acc))
WRITE = at(12, evaluate(store(t, [0, 0], mid)))
READ = at(20, assign(u, load(mid, [0, 0], [4, 8])))
KEEP = evaluate(store(u, [0, 0], out))
SENT = assign(p, load(x, [0, 0], [4, 8]))
SEND, RECEIVE = push_to_aiv(t), assign(p, pop_from_aic([4, 8]))


def pair(cube, vector, params=both):
    return [
        function("k_aic", params, *cube, type=AIC),
        function("k_aiv", params, *vector, type=AIV),
        function("k", params, evaluate(call("k_aic", params)), evaluate(call("k_aiv", params)), type=Group),
        function("main", params, evaluate(call("k", params))),
    ]


def told(*functions):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch_codegen(program(*functions))
    assert all(one.category is HandoverWarning for one in caught)
    return [str(one.message) for one in caught]


def test_a_tensor_that_goes_through_memory():
    assert told(*pair([TAKE, WRITE], [READ, KEEP])) == [
        "group 'k' hands 'mid' over through memory, and no push and pop orders the two accesses, so that a"
        " script reads it before or after:\n"
        "  k_aic writes it at kernel.py:12:5: pl.tile.store(t, [0, 0], mid)\n"
        "  k_aiv reads it at kernel.py:20:5: u: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec] = pl.tile.load(mid,"
        " [0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)\n"
        "  run the script with race_check to see whether they touch the same cells"
    ]


def test_the_run_says_the_same():
    """What the warning names is what ``race_check`` stops at; the script itself holds no word of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        node = program(*pair([TAKE, WRITE, SEND], [READ, RECEIVE, KEEP]))
        text = torch_codegen(node, options={"race_check": True})
    namespace = {"__name__": "handover"}
    exec(text, namespace)
    with pytest.raises(RuntimeError, match="race: no pipe transfer orders two accesses"):
        namespace["main"](*(torch.zeros(4, 8) for _ in both))
    assert "hands" not in text


@pytest.mark.parametrize(
    ("cube", "vector"),
    [
        ([TAKE, WRITE, SEND], [RECEIVE, READ, KEEP]),  # as ExpandMixedKernel orders it
        ([TAKE, SEND, WRITE, SEND], [RECEIVE, RECEIVE, READ, KEEP]),
        ([TAKE, WRITE, for_loop(i, 1, SEND)], [for_loop(i, 1, RECEIVE, READ, KEEP)]),
        (
            [TAKE, for_loop(i, 2, SEND, WRITE)],
            [for_loop(i, 2, RECEIVE, READ, KEEP)],
        ),  # may be the round before
        # The vector core has read it when it sends, and the cube core writes what it got behind that.
        ([TAKE, assign(q, pop_from_aiv([4, 8])), WRITE], [READ, push_to_aic(u), KEEP]),
    ],
)
def test_a_transfer_that_may_order_them(cube, vector):
    assert told(*pair(cube, vector)) == []


@pytest.mark.parametrize(
    ("cube", "vector"),
    [
        ([TAKE, SEND, WRITE], [RECEIVE, READ, KEEP]),  # pushed too early
        ([TAKE, WRITE, SEND], [READ, RECEIVE, KEEP]),  # popped too late
        ([TAKE, WRITE, push_to_aiv(t, id=1)], [RECEIVE, READ, KEEP]),  # another pipe
        ([TAKE, WRITE, assign(q, pop_from_aiv([4, 8]))], [SENT, push_to_aic(p), READ, KEEP]),  # back
        ([TAKE, for_loop(i, 2, WRITE)], [for_loop(i, 2, READ, KEEP)]),
        ([TAKE, if_(True, WRITE)], [if_(True, seq(READ, KEEP))]),
    ],
)
def test_a_transfer_that_orders_nothing(cube, vector):
    assert len(told(*pair(cube, vector))) == 1


def test_the_vector_core_as_the_writer():
    """That way round no pass puts a transfer in."""
    w = tile("w", [4, 8], memory=Mat)
    made = at(30, evaluate(store(u, [0, 0], mid)))
    found = told(
        *pair(
            [at(40, assign(w, load(mid, [0, 0], [4, 8], memory=Mat))), evaluate(store(w, [0, 0], out))],
            [assign(u, load(x, [0, 0], [4, 8])), made],
        )
    )
    assert len(found) == 1
    assert "k_aiv writes it at kernel.py:30:5" in found[0]
    assert "k_aic reads it at kernel.py:40:5" in found[0]


def test_one_warning_a_tensor():
    more = tensor("more", [4, 8])
    write_more = evaluate(store(t, [0, 0], more))
    v = tile("v", [4, 8])
    read_more = assign(v, load(more, [0, 0], [4, 8]))
    functions = pair([TAKE, WRITE, WRITE, write_more], [READ, READ, read_more, KEEP], params=(*both, more))
    assert [message.split("'")[3] for message in told(*functions)] == ["mid", "more"]


@pytest.mark.parametrize(("row", "warns"), [(2, False), (1, True), (0, True), (i, True)])
def test_windows(row, warns):
    """Rows 0 and 1 are written; a window that may have one of them counts."""
    half, part = tile("half", [2, 8], memory=Acc), tile("part", [2, 8])
    cube = [assign(half, load(x, [0, 0], [2, 8], memory=Acc)), evaluate(store(half, [0, 0], mid))]
    vector = [assign(part, load(mid, [row, 0], [2, 8])), evaluate(store(part, [0, 0], out))]
    vector = [for_loop(i, 2, *vector)] if row is i else vector
    assert bool(told(*pair(cube, vector))) is warns


def test_other_names_of_a_tensor():
    """The store's value, a name for it, and a call of a helper that reads it."""
    first, second, given = (tensor(name, [4, 8]) for name in ("first", "second", "given"))
    v = tile("v", [4, 8])
    helper = function(
        "helper",
        [given, out],
        assign(v, load(given, [0, 0], [4, 8])),
        evaluate(store(v, [0, 0], out)),
        type=Inline,
    )
    cube = [TAKE, assign(first, store(t, [0, 0], mid)), evaluate(store(t, [0, 0], first))]
    vector = [assign(second, mid), evaluate(call("helper", [second, out]))]
    found = told(helper, *pair(cube, vector))
    assert len(found) == 1
    assert "k_aic writes it" in found[0]
    assert "helper reads it" in found[0]


def test_two_parameters_for_one_tensor():
    """The caller gives one tensor twice: the members write and read it by two names."""
    again = tensor("again", [4, 8])
    params = (x, mid, again, out)
    w = tile("w", [4, 8])
    members = [
        function("k_aic", params, TAKE, WRITE, type=AIC),
        function(
            "k_aiv",
            params,
            assign(w, load(again, [0, 0], [4, 8])),
            evaluate(store(w, [0, 0], out)),
            type=AIV,
        ),
    ]
    for given, warns in [((x, mid, mid, out), True), ((x, mid, x, out), False)]:
        scope = ir.ClusterScopeStmt("", seq(*(evaluate(call(name, given)) for name in ("k_aic", "k_aiv"))), U)
        assert bool(told(*members, function("main", both, scope))) is warns


def test_a_group_that_is_paired_by_its_name():
    functions = pair([TAKE, WRITE], [READ, KEEP])
    functions[2] = function("k", both, ret(out), type=Group, returns=[out.type])
    assert len(told(*functions)) == 1


def test_tensors_that_both_only_read_or_only_write():
    v = tile("v", [4, 8])
    assert told(*pair([TAKE, WRITE], [assign(v, load(x, [0, 0], [4, 8]))])) == []
    assert (
        told(*pair([TAKE, WRITE], [assign(u, load(x, [0, 0], [4, 8])), evaluate(store(u, [0, 0], mid))]))
        == []
    )


def last_stages():
    last = {dump.program: dump for dump in find_dumps(default_corpus(), ".msgpack")}
    return list(last.values())


@pytest.mark.parametrize("dump", last_stages(), ids=lambda dump: dump.program)
def test_no_word_on_recorded_programs(dump):
    with warnings.catch_warnings():
        warnings.simplefilter("error", HandoverWarning)
        torch_codegen(ir.deserialize_from_file(str(dump.path)))


OTHER = at(20, assign(u, load(out, [0, 0], [4, 8])))


def called(*statements, params=both, extra=()):
    """A group whose cube core writes ``mid`` and whose vector core reads ``out``, and its callers."""
    cube, vector, group, _ = pair([TAKE, WRITE], [OTHER])
    return told(cube, vector, group, *extra, function("main", params, *statements))


def test_one_tensor_for_two_parameters_of_the_group():
    (warning,) = called(evaluate(call("k", [x, out, out])), params=[x, out])
    assert warning.startswith(
        "group 'k' hands 'mid', to which a call gives the tensor of 'out' too, over through"
    )
    assert "k_aic writes it at kernel.py:12:5" in warning and "k_aiv reads it at kernel.py:20:5" in warning


def test_one_tensor_by_another_name_or_through_a_caller():
    other = tensor("other", [4, 8])
    renamed = [assign(other, out), evaluate(call("k", [x, out, other]))]
    assert len(called(*renamed, params=[x, out])) == 1
    y, z = tensor("y", [4, 8]), tensor("z", [4, 8])
    step = function("step", [x, y, z], evaluate(call("k", [x, y, z])))
    assert len(called(evaluate(call("step", [x, out, out])), params=[x, out], extra=[step])) == 1
    assert called(evaluate(call("step", both)), extra=[step]) == []


def test_two_calls_of_the_group_of_which_one_gives_a_tensor_twice():
    calls = [
        evaluate(call("k", both)),
        evaluate(call("k", [x, out, out])),
        evaluate(call("k", [x, mid, mid])),
    ]
    assert len(called(*calls)) == 1


def test_different_tensors_for_the_parameters():
    assert called(evaluate(call("k", both))) == []
    assert called(evaluate(call("k", [x, x, out])), params=[x, out]) == []
