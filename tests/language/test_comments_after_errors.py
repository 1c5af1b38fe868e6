"""Comments of a statement that has an error: it would have carried them, so that nothing is told of them."""

import warnings

import pytest
import torch

import pypto_tmpl.language as pl
from pypto_tmpl.language.diagnostics import ParserError

HEAD = (
    "import pypto.language as pl\n@pl.function(type=pl.FunctionType.Orchestration)\n"
    "def f(x: pl.Tensor[[16, 64], pl.FP32]):\n"
)
INSIDE = "        # inside\n        y = pl.exp(x)\n"
BODIES = {
    "the header of a scope": f"    with pl.at(levl=1):\n{INSIDE}        # last\n    return x\n",
    "the header of a loop": f"    for i in pl.rnge(4):\n{INSIDE}    return x\n",
    "a condition": f"    if z > 1:\n{INSIDE}    # else\n    return x\n",
    "a statement of a scope": (
        "    with pl.at(level=pl.Level.CORE_GROUP):\n        # first\n        y = pl.nothing(x)\n"
        "        # second\n        z = pl.exp(y)\n        # last\n    return x\n    # behind\n"
    ),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_an_error_brings_no_warning(body: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParserError):
            pl.parse(HEAD + body)


@pl.jit
def kernel(x: pl.Tensor, out: pl.Out[pl.Tensor]) -> pl.Tensor:
    with pl.at(levl=pl.Level.CORE_GROUP):
        # inside
        out[:, :] = pl.exp(x)
        # last
    return out


def test_an_error_of_a_jit_kernel_brings_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParserError):
            kernel.specialize(torch.zeros(16, 64), torch.zeros(16, 64))


def test_a_comment_that_closes_a_block_is_still_told_of() -> None:
    body = "    with pl.at(level=pl.Level.CORE_GROUP):\n        y = pl.exp(x)\n        # last\n    return x\n"
    with pytest.warns(UserWarning, match="no statement follows the comment 'last'"):
        pl.parse(HEAD + body)
