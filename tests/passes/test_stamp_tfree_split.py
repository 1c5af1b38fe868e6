"""StampTfreeSplit: what a tfree takes over from the tpop, and tfrees that free nothing of it."""

import pytest
from passes.kernels import after, program

from pypto_tmpl import passes

PASS = "StampTfreeSplit"
VECTOR = """
    @pl.function(type=pl.FunctionType.AIV)
    def kernel(self, out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
"""
POP = "v: pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec] = pl.tpop_from_aic(shape=[16, 16], dtype=pl.FP32, {})"


def stamped(*lines: str) -> list[str]:
    """The tfrees of a vector kernel behind the pass."""
    node = program(VECTOR + "".join(f"        {line}\n" for line in lines))
    return [line.strip() for line in after(PASS, node) if "tfree" in line]


@pytest.mark.parametrize(
    ("pop", "free", "wanted"),
    [
        ("split=1", "", "split=1"),
        ("split=3", "split=1", "split=3"),
        ("split=0, id=2", "", "split=0, id=2"),
        ("split=0, id=2", "id=2", "split=0, id=2"),
        ("split=2", "id=0", "split=2"),
    ],
)
def test_split_and_channel_are_those_of_the_tpop(pop, free, wanted):
    arguments = f"v, {free}" if free else "v"
    assert stamped(POP.format(pop), f"pl.tfree_to_aic({arguments})") == [
        f"pl.system.tfree_to_aic(v, {wanted})"
    ]


def test_a_tile_by_another_name_is_freed_and_so_is_one_in_a_branch():
    lines = (POP.format("split=1"), "w = v", "if pl.tile.get_subblock_idx() == 0:", "    pl.tfree_to_aic(w)")
    assert stamped(*lines) == ["pl.system.tfree_to_aic(w, split=1)"]


REFUSED = {
    "no tpop gave 'v', so that there is no slot to free": (
        "v = pl.tile.full([16, 16], dtype=pl.FP32, value=0.0)",
        "pl.tfree_to_aic(v)",
    ),
    "'v' came from tile.tpop_from_aic": (POP.format("split=0"), "pl.tfree_to_aiv(v)"),
    "'v' came from channel 1, and is freed on channel 2": (
        POP.format("split=0, id=1"),
        "pl.tfree_to_aic(v, id=2)",
    ),
    "'v' came from channel 0, and is freed on channel 2": (POP.format("split=0"), "pl.tfree_to_aic(v, id=2)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_tfree_that_is_not_that_of_its_tpop_is_refused(what):
    with pytest.raises(passes.PassError) as raised:
        stamped(*REFUSED[what])
    op = "system.tfree_to_aiv" if "from tile" in what else "system.tfree_to_aic"
    where = "  --> <string>:10:9\n   = in function 'kernel', variable 'v'"
    assert str(raised.value) == f"error[pass]: {op}: {what}\n{where}"
