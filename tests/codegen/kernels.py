"""Cube and vector kernels that pass a tile through a pipe, and the group that runs them."""

import torch
from codegen.builders import (
    AIC,
    AIV,
    FP32,
    INDEX,
    Acc,
    Group,
    Mat,
    assign,
    call,
    evaluate,
    function,
    load,
    numbers,
    op,
    ret,
    scalar,
    script,
    tensor,
    tensor_type,
    tile,
    tile_type,
)

from pypto_tmpl import ir

ROWS = 4
x, out = tensor("x", [4, 8]), tensor("out", [4, 8])


def lane_index():
    return op("tile.get_subblock_idx", [], ir.ScalarType(INDEX))


def block_index():
    return op("tile.get_block_idx", [], ir.ScalarType(INDEX))


def push_to_aiv(value, **kwargs):
    return evaluate(op("tile.tpush_to_aiv", [value], **{"split": 0, **kwargs}))


def push_to_aic(value, **kwargs):
    return evaluate(op("tile.tpush_to_aic", [value], **{"split": 0, **kwargs}))


def pop_from_aic(shape, **kwargs):
    return op("tile.tpop_from_aic", [], tile_type(shape), **{"split": 0, **kwargs})


def pop_from_aiv(shape, **kwargs):
    return op("tile.tpop_from_aiv", [], tile_type(shape, memory=Mat), **{"split": 0, **kwargs})


def aic(*body, name="k_aic", params=(x, out), returns=(), **attrs):
    return function(name, params, *body, type=AIC, returns=returns, **attrs)


def aiv(*body, name="k_aiv", params=(x, out), returns=(out.type,), **attrs):
    return function(name, params, *body, type=AIV, returns=returns, **attrs)


def group_of(*body, name="k", params=(x, out), returns=(out.type,), **attrs):
    return function(name, params, *body, type=Group, returns=returns, **attrs)


def cube(name="k_aic", *, params=(x, out), split=0, body=(), **attrs):
    """Load all of x and send it to the vector core."""
    t = tile("t", [ROWS, 8], memory=Acc)
    return function(
        name,
        params,
        assign(t, load(x, [0, 0], [ROWS, 8], memory=Acc)),
        push_to_aiv(t, split=split),
        *body,
        type=AIC,
        **attrs,
    )


def vector(name="k_aiv", *, params=(x, out), split=0, atomic=0, returns=True, attrs=None, **more):
    """Take a tile and store it, with a split at the lane's own rows; lanes without a split at the same."""
    lane, t = scalar("lane"), tile("t", [ROWS // (2 if split else 1), 8])
    where = [assign(lane, lane_index())] if split else []
    offset = lane * (ROWS // 2) if split else 0
    body = [
        *where,
        assign(t, pop_from_aic([ROWS // (2 if split else 1), 8], split=split)),
        assign(out, op("tile.store", [t, [offset, 0], out], out.type, atomic=atomic)),
        *([ret(out)] if returns else []),
    ]
    return function(
        name, params, *body, type=AIV, returns=[out.type] if returns else [], **(attrs or {}), **more
    )


def group(name="k", aic="k_aic", aiv="k_aiv", *, params=(x, out), **attrs):
    """As ExpandMixedKernel makes it: both calls on the parameters, the value a parameter."""
    return function(
        name,
        params,
        evaluate(call(aic, params)),
        evaluate(call(aiv, params)),
        ret(out),
        type=Group,
        returns=[out.type],
        **attrs,
    )


def main(*, callee="k", **attrs):
    return function("main", [x, out], ret(call(callee, [x, out], out.type, **attrs)))


def meta_of(*functions, name="k"):
    return script(*functions)["_GROUP_META"][name]


def outcome(*functions, rows=ROWS):
    target = torch.full((rows, 8), -1.0)
    found = script(*functions)["main"](numbers(ROWS, 8), target)
    assert found is target
    return target


def note_block(target):
    """Write 10 * block + number of blocks into the block's row of ``target``."""
    block, value = scalar("block"), scalar("value", FP32)
    return [
        assign(block, block_index()),
        assign(value, ir.cast(block * 10 + 1, FP32)),
        evaluate(
            op(
                "tensor.assemble",
                [target, op("tensor.full", [[1, 8], value], tensor_type([1, 8]), dtype=FP32), [block, 0]],
                target.type,
            )
        ),
    ]
