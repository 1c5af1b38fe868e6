"""Operands that no script could compute with are refused where the op is built, by name."""

import pytest

import pypto_tmpl.language as pl

TEXT = """
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.{kind})
    def main(self, x: pl.Tensor[[8, 8], pl.INT32], w: pl.Tensor[[8, 8], pl.INT8],
             i: pl.Tensor[[8, 8], pl.INT32], out: pl.Out[pl.Tensor[[8, 8], pl.INT8]]):
{lines}
        return out
"""


def built(*lines, kind="InCore"):
    return pl.parse(TEXT.format(kind=kind, lines="\n".join(f"        {line}" for line in lines)))


WIDE, NARROW = "t = pl.load(x, [0, 0], [8, 8])", "s = pl.load(w, [0, 0], [8, 8])"
INDEX = "j = pl.load(i, [0, 0], [8, 8])"
SHORT = "k = pl.load(i, [0, 0], [8, 4])"


@pytest.mark.parametrize(
    "lines",
    [
        (WIDE, INDEX, "out = pl.tile.mscatter(t, j, out)"),
        (WIDE, NARROW, INDEX, "u = pl.tile.scatter(s, t, j)"),
        (WIDE, NARROW, "k = pl.load(i, [0, 0], [1, 8])", "u = pl.tile.scatter_update(s, -2, k, t)"),
        ("k = i[0:1, :]", "u = pl.tensor.scatter_update(w, -2, k, x)"),
        ("u = pl.tensor.scatter(w, 1, i, x)",),
    ],
)
def test_a_scatter_does_not_convert(lines):
    with pytest.raises(pl.InvalidOperationError, match="INT32.*INT8.* and their dtypes must be equal"):
        built(*lines)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            (WIDE, SHORT, "u = pl.tile.scatter(t, t, k)"),
            "'src' is .* and 'indexes' is .*shapes must be equal",
        ),
        ((WIDE, SHORT, "u = pl.tile.scatter_update(t, -2, k, t)"), "names 32 rows, of which 'src' has 8"),
        (("u = pl.tensor.scatter(x, 1, i[:, 0:4], x)",), "'src' is .* and 'index' is .*shapes must be equal"),
        (("u = pl.tensor.view(x, [7, 8])",), "'shape' spans 56 elements, and .* has 64"),
        ((NARROW, "out = pl.store(s, [0, 0], out, shapes=[8])"), "'shapes' has 1 elements, and 'tile' has 2"),
        ((NARROW, "out = pl.store(s, [0, 0], out, shapes=[0, 8])"), r"are positive, and \[0, 8\] are given"),
        ((NARROW, "out = pl.store(s, [0, 0], out, shapes=[1, 8, 8])"), "'shapes' has 3 elements"),
        (
            ("b = pl.reserve_buffer(name='q', size=64, base=-2)",),
            "'base' is -2, and an address is not negative",
        ),
    ],
)
def test_what_is_refused(lines, message):
    with pytest.raises(pl.InvalidOperationError, match=message):
        built(*lines, kind="AIV")


def test_what_is_accepted():
    built(NARROW, "out = pl.store(s, [0, 0], out, shapes=[4, 8])")
    built("u = pl.tensor.view(x, [4, 16])", "v = pl.tensor.view(x, [8, 8], [7, 8])", kind="Orchestration")
    built("k = i[0:1, :]", "u = pl.tensor.scatter_update(x, -2, k, x)")
    for base in (-1, 0, 64):
        built(f"b = pl.reserve_buffer(name='q', size=64, base={base})", kind="AIV")
