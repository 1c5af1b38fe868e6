"""An op with another macro of its family fails on one of its samples, or means the same."""

import functools

import pytest
from ops.aliasing import aliasing_problem
from ops.sample_calls import SampleCall, contexts, disagreement, same
from ops.sampled import TABLE
from ops.without_effect import is_of_ranks

# (op, op whose macro and constants it gets): why every call that the op takes gives the same.
_ONE_DTYPE = "both operands of a tile.div have one dtype, so there is nothing to convert"
_TILES_ONLY = "given two tiles, the macro that also takes a scalar is the macro for two tiles"
_SCALARS_ONLY = "given a scalar, the macro that also takes a tile is the macro for a scalar"
SAME_MEANING = {
    ("tile.div", "tensor.div"): _ONE_DTYPE,
    ("tile.div", "tensor.divs"): _ONE_DTYPE,
    ("tile.maximum", "tensor.maximum"): _TILES_ONLY,
    ("tile.minimum", "tensor.minimum"): _TILES_ONLY,
    ("tile.maximums", "tensor.maximum"): _SCALARS_ONLY,
    ("tile.minimums", "tensor.minimum"): _SCALARS_ONLY,
    ("tile.transpose", "tensor.transpose"): "in a kernel the tensor op is the tile op",
    ("tensor.reshape", "tile.reshape"): "only packed FP4 has another shape, see codegen/test_fp4.py",
    (
        "tile.lrelu",
        "tile.prelu",
    ): "one slope is the case of slopes that are equal; lrelu is cheaper",
}


def meaning(op):
    """What a swap exchanges: the macro and its constants."""
    return TABLE.family_of(op), TABLE[op].emit, repr(TABLE[op].constants)


def neighbours(op):
    """One op of the family for each other macro, or other constants of the same one."""
    others = {
        meaning(entry.name): entry.name
        for entry in reversed(TABLE.families[TABLE.family_of(op)])
        if entry.is_executable and meaning(entry.name) != meaning(op)
    }
    return sorted(others.values())


@functools.cache
def judged_samples(op):
    """The calls of an op's samples, where each may stand, and what the reference says."""
    calls = [SampleCall(op, sample) for sample in TABLE[op].samples or [{}]]
    return [(call, in_kernel, call.expected()) for call in calls for in_kernel in contexts(call)]


def is_rejected(call, in_kernel, expected, macro_of):
    """Whether the test of samples would fail on the call with another op's macro."""
    arguments = call.arguments()
    try:
        text = call.text(macro_of=macro_of, in_kernel=in_kernel)
        got = call.value(text, arguments)
    except Exception:
        return True
    changed = [
        name
        for name, before in call.arguments().items()
        if name not in call.entry.writes and not same(arguments[name], before)
    ]
    problem = aliasing_problem(call, got, arguments, in_kernel=in_kernel)
    return bool(changed or problem or disagreement(call, got, expected))


@pytest.mark.parametrize(
    "op", [name for name, entry in TABLE.items() if entry.is_executable and not is_of_ranks(name)]
)
def test_the_macro_of_another_op_is_noticed(op):
    assert not any(is_rejected(*sample, macro_of=op) for sample in judged_samples(op))
    survivors = {
        other
        for other in neighbours(op)
        if not any(is_rejected(*sample, macro_of=other) for sample in judged_samples(op))
    }
    assert survivors == {other for name, other in SAME_MEANING if name == op}
