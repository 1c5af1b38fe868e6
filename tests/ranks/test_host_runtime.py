"""The runtime of a host program (`dist.*`): its tensors, sums by pairs, and calls whose values come later."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from ranks.ranked import HEAD, call, counted, each_stage, function, script, stages, tensor, window

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.execution.entry import describe_entry
from pypto_tmpl.execution.named import MissingTensorError, bind_named
from pypto_tmpl.ir import DataType

ROW, OUT, SPAN = tensor(1, 8), tensor(1, 8, way="Out"), ir.Span("host.py", 7, 5, 7, 30)
UNKNOWN, TYPE = ir.UnknownType(), ir.TensorType([1, 8], DataType.FP32)
WORKER = f"""
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def scale(self, y: pl.InOut[{ROW}]):
        y.mul_(10.0)
"""
DOUBLE = "y = pl.store(pl.mul(pl.load(x, [0, 0], [1, 8]), 2.0), [0, 0], y)\nreturn y"
FUNCTIONS = [
    function("InCore", "kernel", f"x: {ROW}, y: {OUT}", DOUBLE, ROW),
    function("Orchestration", "chip", f"x: {ROW}, y: {OUT}", "y = self.kernel(x, y)\nreturn y", ROW),
    function("Orchestration", "windowed", f"w: {window(1, 8)}", "return w", window(1, 8)),
    WORKER,
]


class Host:
    """Builds a host orchestrator of ops of the runtime: its first parameter is that, the second a row."""

    def __init__(self) -> None:
        self.rt, self.x = ir.Var("rt", UNKNOWN, SPAN), ir.Var("x", TYPE, SPAN)
        self.body: list[ir.Stmt] = []

    def op(self, name: str, *args: ir.Expr, **keywords: Any) -> ir.Var:
        """The variable that a call of an op is bound to."""
        made = ir.Var(f"v{len(self.body)}", UNKNOWN, SPAN)
        value = ir.Call(ir.Op(f"dist.{name}"), list(args), keywords, UNKNOWN, SPAN)
        self.body.append(ir.AssignStmt(made, value, SPAN))
        return made

    def make(self, count: int, **keywords: Any) -> ir.Var:
        return self.op("make_tensor", self.rt, number(count), **keywords)

    def submit(self, callee: str, *args: ir.Expr, op: str = "submit_orchestrator", **keywords: Any) -> ir.Var:
        return self.op(op, self.rt, parts(*args), callee=callee, **keywords)

    def get(self, future: ir.Expr) -> ir.Var:
        return self.op("future_get", future)

    def reduce(self, *leaves: ir.Expr) -> ir.Var:
        return self.op("tree_reduce", self.rt, parts(*leaves))

    def returning(self, value: ir.Expr, type_: ir.Type = TYPE, **how: Any) -> ir.Program:
        """The program of this host and the functions that it may submit."""
        host = ir.Function(
            "host",
            [(self.rt, ir.ParamDirection.In), (self.x, ir.ParamDirection.In)],
            [type_],
            ir.SeqStmts([*self.body, ir.ReturnStmt([value], SPAN)], SPAN),
            SPAN,
            how.get("func_type", ir.FunctionType.Opaque),
            how.get("level", ir.Level.HOST),
            how.get("role", ir.Role.Orchestrator),
        )
        others = pl.parse(HEAD + "\n".join(FUNCTIONS)).functions.values()
        return ir.Program([*others, host], "Ranked", SPAN)


def parts(*values: ir.Expr) -> ir.MakeTuple:
    return ir.MakeTuple(list(values), SPAN)


def number(value: int) -> ir.ConstInt:
    return ir.ConstInt(value, DataType.INDEX, SPAN)


def chained() -> ir.Program:
    """Twice a row on one rank, four times on another, which takes the result of the first; the sum of all."""
    host = Host()
    once, twice = host.make(8), host.make(8, dtype=DataType.FP32)
    first, second = host.submit("chip", host.x, once), host.submit("chip", once, twice, rank=1)
    return host.returning(host.reduce(host.get(first), host.get(second), host.x))


def test_calls_run_on_ranks_and_their_values_come_when_they_are_asked_for() -> None:
    x = counted(1, 8)
    for stage, names in each_stage(chained()):
        assert torch.equal(call(names, 2, None, x), 7 * x), stage
    for seed in range(5):
        names = script(chained(), schedule_seed=seed, race_check=True)
        assert torch.equal(call(names, 2, None, x), 7 * x), seed


def test_text_and_wire_format_have_the_runtime() -> None:
    for stage, node in stages(chained()):
        assert ir.structural_equal(node, pl.parse(node.as_python())), stage
        assert ir.structural_equal(node, ir.deserialize(ir.serialize(node))), stage


def test_the_runtime_needs_no_input() -> None:
    """Runs by name, as those of a validation, leave out what has no value."""
    host = chained().get_function("host")
    assert host is not None
    entry = describe_entry(host, "host")
    binding = bind_named(entry, {"x": counted(1, 8)}, {})
    assert binding.arguments[0] is None and torch.equal(binding.arguments[1], counted(1, 8))
    with pytest.raises(MissingTensorError, match="parameter 'x' of the entry 'host' is not among the inputs"):
        bind_named(entry, {}, {})


def test_ranks_take_turns_where_none_is_named() -> None:
    host = Host()
    made = [host.make(8) for _ in range(3)]
    futures = [host.submit("chip", host.x, one) for one in made]
    names = script(host.returning(host.reduce(*map(host.get, futures))))
    ran: list[tuple[int, str]] = []
    submit = names["_submit"]

    def noted(world: Any, dispatch: Any, function: Any) -> None:
        ran.append((dispatch.device, dispatch.name))
        submit(world, dispatch, function)

    names["_submit"] = noted
    assert torch.equal(call(names, 2, None, counted(1, 8)), 6 * counted(1, 8))
    assert ran == [(0, "chip"), (1, "chip"), (0, "chip")]


def test_a_call_that_nobody_asks_for_runs_all_the_same() -> None:
    host = Host()
    made = host.make(8)
    host.submit("chip", host.x, made)
    x = counted(1, 8)
    assert torch.equal(call(script(host.returning(made)), 1, None, x), 2 * x.reshape(8))


def test_a_worker_is_python_beside_the_ranks() -> None:
    host = Host()
    made = host.make(8)
    host.submit("chip", host.x, made)
    host.get(host.submit("scale", made, op="submit_worker"))
    node = host.returning(host.reduce(made))
    for stage, names in each_stage(node):
        assert torch.equal(call(names, 1, None, counted(1, 8)), 20 * counted(8)), stage


@pytest.mark.parametrize(
    ("leaves", "expected"),
    [
        # 2048 + 1 is 2048 in half floats, 1 + 1 first is 2.
        ([2048.0, 1.0, 1.0, 0.0], 2048.0),  # (2048 + 1) + (1 + 0)
        ([1.0, 1.0, 2048.0], 2050.0),  # (1 + 1) + 2048
        ([2048.0, 1.0, 1.0], 2048.0),  # (2048 + 1) + 1
        ([0.0, 2048.0, 1.0, 1.0, 1.0], 2052.0),  # ((0 + 2048) + (1 + 1)) + 1: 2051 is rounded to even
        ([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2048.0], 2054.0),  # ((1 + 1) + (1 + 1)) + ((1 + 1) + 2048)
        ([3.0], 3.0),
    ],
)
def test_neighbours_are_added_and_the_last_of_an_odd_number_waits_a_round(
    leaves: list[float], expected: float
) -> None:
    names = script(chained(), preamble="full")
    given = [torch.full((4,), value).half() for value in leaves]
    names["host"] = lambda: names["_run_host"](lambda: names["_tree_reduce"](given), ranks=1)
    found = call(names, 1)
    assert found.dtype == torch.float16 and found.tolist() == [expected] * 4
    assert found.data_ptr() not in [one.data_ptr() for one in given]


def test_tensors_of_the_runtime_are_zeros_of_a_dtype() -> None:
    for keywords, dtype in (({}, torch.float32), ({"dtype": DataType.BF16}, torch.bfloat16)):
        host = Host()
        found = call(script(host.returning(host.make(5, **keywords))), 1, None, counted(1, 8))
        assert found.dtype == dtype and found.tolist() == [0.0] * 5


def submitting(callee: str, *places: str, **how: Any) -> Callable[[], ir.Program]:
    def made() -> ir.Program:
        host = Host()
        args = [host.x if place == "x" else host.make(int(place)) for place in places]
        return host.returning(host.get(host.submit(callee, *args, **how)))

    return made


def elsewhere() -> ir.Program:
    host = Host()
    how = {"func_type": ir.FunctionType.Orchestration, "level": ir.Level.CHIP}
    return host.returning(host.make(8), **how)


def unnamed() -> ir.Program:
    host = Host()
    return host.returning(host.op("submit_worker", host.rt, parts(host.x)))


def with_keyword() -> ir.Program:
    host = Host()
    return host.returning(host.op("tree_reduce", host.rt, parts(host.x), order="up"))


def with_operand() -> ir.Program:
    host = Host()
    return host.returning(host.op("make_tensor", host.rt, number(8), number(8)))


REFUSED = {
    "no function": (submitting("chop", "x"), "of 'chop', which is no function of this program"),
    "a kernel": (submitting("kernel", "x", "8"), "of 'kernel', which is not an orchestrator of a chip"),
    "a worker": (submitting("scale", "x"), "of 'scale', which is not an orchestrator of a chip"),
    "no worker": (
        submitting("chip", "x", "8", op="submit_worker"),
        "of 'chip', which is not a sub-worker of the host",
    ),
    "too few": (submitting("chip", "x"), "of 'chip' with 1 arguments for 2"),
    "windows": (submitting("windowed", "x"), "of 'windowed', which takes windows"),
    "no callee": (unnamed, "dist.submit_worker needs the keyword 'callee'"),
    "a keyword": (with_keyword, "operator 'dist.tree_reduce' has no keyword 'order'"),
    "an operand": (with_operand, "dist.make_tensor takes 2 operands, the call has 3"),
    "elsewhere": (
        elsewhere,
        "operator 'dist.make_tensor', of which only host orchestrators have the runtime",
    ),
}


@pytest.mark.parametrize(("made", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(made: Callable[[], ir.Program], message: str) -> None:
    with pytest.raises(UnsupportedProgramError) as caught:
        script(made())
    assert message in str(caught.value)
    assert "host.py:7:5" in str(caught.value) and "'host'" in str(caught.value)


def leaves_of(*given: Callable[[Host], ir.Expr]) -> ir.Program:
    host = Host()
    return host.returning(host.reduce(*(one(host) for one in given)))


def failing(node: ir.Program, kind: type[Exception]) -> str:
    with pytest.raises(kind) as caught:
        call(script(node), 2, None, counted(1, 8))
    return str(caught.value)


def test_what_fails_when_it_runs() -> None:
    x, eight = (lambda host: host.x), (lambda host: host.make(8))
    assert "tree_reduce: there are no leaves" in failing(leaves_of(), ValueError)
    text = failing(leaves_of(x, eight), ValueError)
    assert text == ("tree_reduce: leaf 1 is (torch.float32, [8]), leaf 0 is (torch.float32, [1, 8])")
    future = leaves_of(lambda host: host.submit("chip", host.x, host.make(8)))
    assert "leaf 0 is a future of chip, no tensor and no number" in failing(future, TypeError)
    host = Host()
    assert "make_tensor: the count must not be negative, got -1" in failing(
        host.returning(host.make(-1)), ValueError
    )
    host = Host()
    text = failing(host.returning(host.get(host.x)), TypeError)
    assert text.startswith("future_get takes what a submit has given, got tensor(")
    text = failing(submitting("chip", "x", "9")(), ValueError)
    assert text == "a parameter of shape [1, 8] and torch.float32 does not take 9 elements of torch.float32"
    text = failing(submitting("chip", "x", "8", rank=2)(), ValueError)
    assert "rank 2" in text and "2 ranks" in text
