"""Values keep the region they were made with, also when a scalar that it names has changed.

``x`` is all ones, ``out`` starts at 9; ``n`` is 1. Expected columns are written out.
"""

import pytest
import torch
from codegen.builders import (
    assign,
    for_loop,
    function,
    load,
    ret,
    run,
    scalar,
    script,
    store,
    tensor,
    tile,
)

from pypto_tmpl import ir
from pypto_tmpl import language as pl
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen

FULL = "x: pl.Tensor[[8, 16], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[8, 16], pl.FP32]]"


def script_of(body, params=FULL):
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    source = f"@pl.function\ndef main({params}) -> pl.Tensor[[8, 16], pl.FP32]:\n{lines}\n    return out\n"
    return torch_codegen(pl.parse(source))


def first_column(body, n=1):
    """Column 0 of what a kernel with this body stores."""
    x, out = torch.ones(8, 16), torch.full((8, 16), 9.0)
    result = run(script_of(body))["main"](x, n, out)
    return [int(value) for value in result[:, 0]]


def rows(count, value=1):
    return [value] * count + [9] * (8 - count)


LOAD = """
m = n + 1
t = pl.load(x, [0, 0], [8, 16], valid_shape=[m, 16])
m = m + 3
"""


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("out = pl.store(t, [0, 0], out)", rows(2)),
        ("u = pl.add(t, 1.0)\nout = pl.store(u, [0, 0], out)", rows(2, 2)),
        ("u = pl.add(pl.neg(t), pl.exp(pl.sub(t, t)))\nm = m + 1\n"
         "out = pl.store(u, [0, 0], out)", rows(2, 0)),
        ("u = pl.load(x, [0, 0], [8, 16], valid_shape=[m, 16])\nout = pl.store(u, [0, 0], out)", rows(5)),
        ("u = pl.load(x, [0, 0], [8, 16], valid_shape=[m, 16])\nout = pl.store(u, [0, 0], out)\n"
         "out = pl.store(pl.add(t, 4.0), [0, 0], out)", [5, 5, 1, 1, 1, 9, 9, 9]),
        ("if n > 0:\n    m = m + 1\nelse:\n    m = m + 2\nout = pl.store(t, [0, 0], out)", rows(2)),
        ("u = pl.tile.slice(t, [8, 16], [0, 0], valid_shape=[m - 4, 16])\n"
         "out = pl.store(u, [0, 0], out)", rows(1)),
    ],
)  # fmt: skip
def test_a_scalar_that_is_assigned_again(rest, expected):
    assert first_column(LOAD + rest) == expected


def test_a_scalar_that_one_branch_assigns_again():
    body = """
m = n + 1
t = pl.load(x, [0, 0], [8, 16], valid_shape=[m, 16])
if n > 1:
    m = m + 3
out = pl.store(t, [0, 0], out)
"""
    assert (first_column(body, 1), first_column(body, 2)) == (rows(2), rows(3))


def test_a_tile_of_the_round_before():
    """Round i stores what round i - 1 loaded, i rows of it: the last round stores 3 rows."""
    body = """
m = n
t = pl.load(x, [0, 0], [8, 16], valid_shape=[m, 16])
for i in pl.range(3):
    m = m + 1
    out = pl.store(t, [0, 0], out)
    t = pl.load(x, [0, 0], [8, 16], valid_shape=[m, 16])
"""
    assert first_column(body) == rows(3)


def test_a_counter_that_another_loop_has_for_its_own():
    x, out, i = tensor("x", [8, 16]), tensor("out", [8, 16]), scalar("i")
    t = tile("t", [8, 16], valid=[i, 16])
    loads = for_loop(i, 3, assign(t, load(x, [0, 0], [8, 16], [i, 16])), start=1)
    stores = for_loop(i, 6, assign(out, store(t, [0, 0], out)))
    main = function(
        "main", [x, out], loads, stores, ret(out), type=ir.FunctionType.InCore, returns=[out.type]
    )
    result = script(main)["main"](torch.ones(8, 16), torch.full((8, 16), 9.0))
    assert [int(value) for value in result[:, 0]] == rows(2)


def test_a_parameter_that_is_assigned_again():
    body = """
t = pl.load(x, [0, 0], [8, 16], valid_shape=[n, 16])
n = n + 5
out = pl.store(t, [0, 0], out)
"""
    assert first_column(body, 3) == rows(3)


def test_a_region_that_follows_in_another_way_is_refused():
    with pytest.raises(UnsupportedProgramError, match=r"valid region of tile\.row_sum .*has changed since"):
        script_of(LOAD + "s = pl.row_sum(t, t)\nu = pl.row_expand_mul(t, s)\nout = pl.store(u, [0, 0], out)")


def test_nothing_is_kept_where_the_scalar_has_not_changed():
    assert "t_valid" not in script_of(
        LOAD.replace("m = m + 3", "k = m + 3") + "out = pl.store(t, [0, 0], out)"
    )
