"""Ops that write a buffer of which they read: as if the source had been read whole before."""

import re

import pytest
import torch
from codegen.builders import (
    INT32,
    InCore,
    assign,
    body_text,
    call,
    evaluate_body,
    function,
    load,
    numbers,
    op,
    program_part,
    ret,
    script,
    store,
    tensor,
    tensor_type,
    tile,
    tile_type,
)

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ops import load_table

SHIFTS = [[0, 0], [1, 0], [0, 1], [1, 1], [2, 3], [4, 0], [0, 4]]


def shifted(x, start, shape, offset):
    """A window of a matrix written elsewhere in it."""
    expected = x.clone()
    part = x[start[0] : start[0] + shape[0], start[1] : start[1] + shape[1]].clone()
    expected[offset[0] : offset[0] + shape[0], offset[1] : offset[1] + shape[1]] = part
    return expected


@pytest.mark.parametrize("offset", SHIFTS)
def test_a_window_of_a_tile_assembled_in_the_tile(offset):
    x, out = tensor("x", [8, 8]), tensor("out", [8, 8])
    t, part, joined = tile("t", [8, 8]), tile("part", [4, 4]), tile("joined", [8, 8])
    body = [
        assign(t, load(x, [0, 0], [8, 8])),
        assign(part, op("tile.slice", [t, [4, 4], [0, 0]], part.type)),
        assign(joined, op("tile.assemble", [t, part, offset], joined.type)),
        ret(store(joined, [0, 0], out)),
    ]
    data = numbers(8, 8)
    got = evaluate_body(*body, args=[(x, data.clone()), (out, torch.zeros(8, 8))])
    assert torch.equal(got, shifted(data, [0, 0], [4, 4], offset))


def test_a_transposed_view_written_back():
    x, out = tensor("x", [8, 8]), tensor("out", [8, 8])
    t, turned, joined = (tile(name, [8, 8]) for name in ("t", "turned", "joined"))
    body = [
        assign(t, load(x, [0, 0], [8, 8])),
        assign(turned, op("tile.transpose_view", [t], turned.type)),
        assign(joined, op("tile.assemble", [t, turned, [0, 0]], joined.type)),
        ret(store(joined, [0, 0], out)),
    ]
    data = numbers(8, 8)
    got = evaluate_body(*body, args=[(x, data.clone()), (out, torch.zeros(8, 8))])
    assert torch.equal(got, data.T)


@pytest.mark.parametrize("atomic", [ir.AtomicType.None_, ir.AtomicType.Add])
@pytest.mark.parametrize("offset", SHIFTS)
def test_a_window_of_a_tensor_assembled_in_the_tensor(offset, atomic):
    x, part = tensor("x", [8, 8]), tensor("part", [4, 4])
    body = [
        assign(part, op("tensor.slice", [x, [4, 4], [0, 0]], part.type)),
        ret(op("tensor.assemble", [x, part, offset], x.type, atomic=atomic)),
    ]
    data = numbers(8, 8)
    rows, columns = (slice(start, start + 4) for start in offset)
    expected = shifted(data, [0, 0], [4, 4], offset)
    if atomic is ir.AtomicType.Add:
        expected = data.clone()
        expected[rows, columns] = data[rows, columns] + data[:4, :4]
    assert torch.equal(evaluate_body(*body, args=[(x, data.clone())]), expected)


def test_rows_of_a_tile_written_at_other_rows_of_it():
    x, index, out = tensor("x", [6, 4]), tensor("index", [1, 6], INT32), tensor("out", [6, 4])
    t, rows, where = tile("t", [6, 4]), tile("rows", [6, 4]), tile("where", [1, 6], INT32)
    body = [
        assign(t, load(x, [0, 0], [6, 4])),
        assign(where, load(index, [0, 0], [1, 6])),
        assign(rows, op("tile.reshape", [t, [6, 4]], rows.type)),
        ret(store(op("tile.scatter_update", [t, where, rows], t.type), [0, 0], out)),
    ]
    data, order = numbers(6, 4), torch.tensor([[1, 2, 3, 4, 5, 0]], dtype=torch.int32)
    got = evaluate_body(*body, args=[(x, data.clone()), (index, order), (out, torch.zeros(6, 4))])
    assert torch.equal(got, data[[5, 0, 1, 2, 3, 4]])


def test_columns_of_a_tile_spread_over_it():
    x, out = tensor("x", [2, 8]), tensor("out", [2, 8])
    t, half = tile("t", [2, 8]), tile("half", [2, 4])
    body = [
        assign(t, load(x, [0, 0], [2, 8])),
        assign(half, op("tile.slice", [t, [2, 4], [0, 0]], half.type)),
        ret(store(op("tile.scatter_mask", [t, half], t.type, mask_pattern=2), [0, 0], out)),
    ]
    got = evaluate_body(*body, args=[(x, numbers(2, 8)), (out, torch.zeros(2, 8))])
    assert got.tolist() == [[0, 0, 0, 1, 0, 2, 0, 3], [0, 8, 0, 9, 0, 10, 0, 11]]


def test_a_page_repeated_over_its_own_tensor():
    x, page = tensor("x", [3, 2, 4]), tensor("page", [3, 1, 4])
    body = [
        assign(page, op("tensor.slice", [x, [3, 1, 4], [0, 1, 0]], page.type)),
        ret(op("tensor.expand_clone", [page, x], x.type)),
    ]
    data = numbers(3, 2, 4)
    given = data.clone()
    got = evaluate_body(*body, args=[(x, given)])
    assert got is given  # the target is written
    assert torch.equal(got, data[:, 1:].expand(3, 2, 4))


def test_a_caller_may_pass_one_tensor_as_source_and_target():
    x, y = tensor("x", [4, 4]), tensor("y", [8, 4])
    callee = function("callee", [x, y], ret(op("tensor.assemble", [y, x, [1, 0]], y.type)), type=InCore)
    z, part = tensor("z", [8, 4]), tensor("part", [4, 4])
    caller = function(
        "caller",
        [z],
        assign(part, op("tensor.slice", [z, [4, 4], [0, 0]], part.type)),
        ret(call("callee", [part, z], z.type)),
        type=ir.FunctionType.Orchestration,
    )
    data = numbers(8, 4)
    got = script(callee, caller)["caller"](data.clone())
    assert torch.equal(got, shifted(data, [0, 0], [4, 4], [1, 0]))


def test_a_move_that_changed_no_place_is_read_before_another_operand_of_the_caller_is_written():
    a, b, moved = tile("a", [4, 4]), tile("b", [8, 4]), tile("moved", [4, 4])
    body = [
        assign(moved, op("tile.move", [a], moved.type, target_memory=ir.MemorySpace.Vec)),
        ret(op("tile.assemble", [b, moved, [1, 0]], b.type)),
    ]
    data = numbers(8, 4)
    got = evaluate_body(*body, args=[(b, data), (a, data[:4])])
    assert torch.equal(got, shifted(numbers(8, 4), [0, 0], [4, 4], [1, 0]))


MOVED = {
    "columns": ("s = pl.tile.slice(t, [8, 7], [0, 0])", "pl.tile.assemble(t, v, [0, 1])"),
    "rows": ("s = pl.tile.slice(t, [7, 8], [0, 0])", "pl.tile.assemble(t, v, [1, 0])"),
    "turned": ("s = pl.tile.transpose_view(t)", "pl.tile.assemble(t, v, [0, 0])"),
    "reshaped": (
        "s = pl.tile.slice(t, [7, 8], [0, 0])",
        "pl.tile.assemble(t, pl.tile.reshape(v, [7, 8]), [1, 0])",
    ),
    "scattered": (
        "s = pl.tile.slice(t, [4, 8], [0, 0])",
        "pl.tile.scatter_update(t, -2, pl.tile.ci(1, [1, 4], dtype=pl.INT32), v)",
    ),
}
SHIFTED = {
    "columns": lambda x: torch.cat([x[:, :1], x[:, :7]], 1),
    "rows": lambda x: torch.cat([x[:1], x[:7]]),
    "turned": lambda x: x.T,
    "reshaped": lambda x: torch.cat([x[:1], x[:7]]),
    "scattered": lambda x: torch.cat([x[:1], x[:4], x[5:]]),
}
MOVES = {
    "once": "v = pl.move(s, target_memory=pl.MemorySpace.Vec)",
    "twice": """m = pl.move(s, target_memory=pl.MemorySpace.Mat)
        v = pl.move(m, target_memory=pl.MemorySpace.Vec)""",
}
PROGRAM = """\
import pypto.language as pl

@pl.program
class Moved:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]
    ) -> pl.Tensor[[8, 8], pl.FP32]:
        t = pl.load(x, [0, 0], [8, 8])
        {body}
        return out
"""


def ran(*body):
    namespace = {}
    exec(torch_codegen(pl.parse(PROGRAM.format(body="\n        ".join(body)))), namespace)
    return namespace["kernel"](numbers(8, 8), torch.zeros(8, 8))


@pytest.mark.parametrize("moves", sorted(MOVES))
@pytest.mark.parametrize("form", sorted(MOVED))
def test_a_moved_view_of_a_tile_written_in_the_tile(form, moves):
    view, write = MOVED[form]
    got = ran(view, MOVES[moves], f"u = {write}", "out = pl.store(u, [0, 0], out)")
    assert torch.equal(got, SHIFTED[form](numbers(8, 8)))


def test_a_moved_view_within_the_expression_that_writes():
    part = "pl.move(pl.tile.slice(t, [7, 8], [0, 0]), target_memory=pl.MemorySpace.Vec)"
    got = ran(f"u = pl.tile.assemble(t, {part}, [1, 0])", "out = pl.store(u, [0, 0], out)")
    assert torch.equal(got, SHIFTED["rows"](numbers(8, 8)))


@pytest.mark.parametrize("target", ["t", "pl.tile.reshape(t, [8, 8])"])
def test_a_moved_view_keeps_its_cells_when_the_tile_is_written_later(target):
    got = ran(
        "s = pl.tile.slice(t, [8, 8], [0, 0])",
        MOVES["once"],
        "z = pl.tile.full([8, 8], dtype=pl.FP32, value=5.0)",
        f"u = pl.tile.assemble({target}, z, [0, 0])",
        "out = pl.store(pl.add(u, v), [0, 0], out)",
    )
    assert torch.equal(got, numbers(8, 8) + 5)


def test_a_move_of_what_nobody_writes_is_no_copy():
    body = ["s = pl.tile.slice(t, [8, 8], [0, 0])", MOVES["once"]]
    body += ["out = pl.store(pl.add(v, v), [0, 0], out)"]
    script = torch_codegen(pl.parse(PROGRAM.format(body="\n        ".join(body))))
    assert "clone()" not in program_part(script)
    assert torch.equal(ran(*body), numbers(8, 8) * 2)


def test_values_of_their_own_are_not_copied():
    x, out = tensor("x", [8, 8]), tensor("out", [8, 8])
    t, u = tile("t", [8, 8]), tile("u", [8, 8])
    text = body_text(
        assign(t, load(x, [0, 0], [8, 8])),
        assign(u, op("tile.add", [t, t], u.type)),
        ret(store(op("tile.assemble", [t, u, [0, 0]], t.type), [0, 0], out)),
        params=[x, out],
    )
    assert "_apart" not in text


def test_a_copy_is_made_only_where_cells_are_shared():
    x = tensor("x", [8, 8])
    namespace = script(
        function("f", [x], ret(op("tensor.assemble", [x, op("tensor.reshape", [x, [8, 8]], x.type), [0, 0]])))
    )
    data = numbers(8, 8)
    for start, is_copied in (([4, 0], False), ([3, 0], True), ([0, 4], False), ([3, 3], True)):
        part = data[:4, :4]
        assert (namespace["_apart"](part, data, start) is not part) == is_copied
    assert namespace["_apart"](data[::2], data[1::2]) is not None
    assert not namespace["_share_cells"](data[::2], data[1::2])
    assert namespace["_share_cells"](data.T, data[:1])
    assert not namespace["_share_cells"](data[:0], data)


WRITERS = sorted(
    (op_name, spec.name)
    for op_name, entry in load_table().items()
    if entry.is_executable
    and entry.writes
    and not load_table().family_of(op_name).startswith(("matmul", "distributed", "collective"))  # read first
    for spec in entry.operands
    if not spec.scratch
    and spec.name not in entry.writes
    and set(spec.kinds) & {"tile", "tensor"}
    and set(spec.kinds) & set(next(o for o in entry.operands if o.name == entry.writes[0]).kinds)
)


@pytest.mark.parametrize(("name", "operand"), WRITERS)
def test_every_op_that_writes_reads_what_may_be_its_target_before(name, operand):
    entry = load_table()[name]
    target = entry.writes[0]
    is_tile = "tile" in next(o.kinds for o in entry.operands if o.name == target)
    type_ = tile_type([8, 8]) if is_tile else tensor_type([8, 8])
    params = {o.name: ir.Var(o.name, type_, ir.Span.unknown()) for o in entry.operands}
    shared = params[target]
    args = []
    for spec in entry.operands:
        if spec.optional:
            break
        if spec.name in (target, operand):
            args.append(shared)
        elif set(spec.kinds) & {"tile", "tensor"}:
            args.append(params[spec.name])
        else:
            args.append([0, 0])
    keywords = {"mask_pattern": 1} if any(kwarg.required for kwarg in entry.kwargs) else {}
    text = body_text(ret(op(name, args, type_, **keywords)), params=[*params.values()])
    assert re.search(r"_apart\((\w+), \1\b", text)
