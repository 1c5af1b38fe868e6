"""Two traces of neighbouring stages: values are paired by what statements do, not by names of passes."""

from scaled_dumps import HEAD, inputs, tensor, write_dump

from pypto_tmpl.compare.tensors import Rules
from pypto_tmpl.compare.tolerance import Tolerance
from pypto_tmpl.debug import diff_traces, trace_dump

EXACT = Rules(Tolerance(0.0, 0.0), equal_nan=True)


def text(*statements):
    """Each statement makes a temporary; the last one is the output."""
    lines = [
        "    @pl.function",
        f"    def main(self, x: {tensor()}, out: pl.Out[{tensor()}]) -> {tensor()}:",
        *(f"        {name}: {tensor()} = {value}" for name, value in statements),
        f"        out: {tensor()} = pl.tensor.assemble(out, {statements[-1][0]}, [0, 0])",
        "        return out",
    ]
    return HEAD + "\n".join(lines) + "\n"


FIRST = [
    ("t__tmp_v0", "pl.tensor.muls(x, 2.0)"),
    ("t__tmp_v1", "pl.tensor.adds(t__tmp_v0, 1.0)"),
    ("t__tmp_v2", "pl.tensor.exp(pl.tensor.muls(t__tmp_v1, 0.001))"),
]


def diff(folder, *stages):
    paths = sorted(write_dump(folder, *stages).iterdir())
    return diff_traces(*(trace_dump(path, inputs()) for path in paths), EXACT)


def test_names_that_a_pass_has_shifted_do_not_differ(tmp_path):
    shifted = [(f"t__tmp_v{n + 4}", value) for n, (_, value) in enumerate(FIRST)]
    renamed = [
        (name, value.replace("t__tmp_v0", "t__tmp_v4").replace("t__tmp_v1", "t__tmp_v5"))
        for name, value in shifted
    ]
    assert diff(tmp_path, text(*FIRST), text(*renamed)).is_same


def test_the_first_value_that_differs_is_that_of_the_wrong_statement(tmp_path):
    """The pass numbers temporaries anew: t__tmp_v1 is the product there, and right."""
    second = [
        ("t__tmp_v1", "pl.tensor.muls(x, 2.0)"),
        ("t__tmp_v2", "pl.tensor.adds(t__tmp_v1, 1.5)"),
        ("t__tmp_v0", "pl.tensor.exp(pl.tensor.muls(t__tmp_v2, 0.001))"),
    ]
    found = diff(tmp_path, text(*FIRST), text(*second))
    assert found.first is not None
    assert (found.first.left.variable, found.first.right.variable) == ("t__tmp_v1", "t__tmp_v2")
    assert "pl.tensor.adds(t__tmp_v1, 1.5)" in found.first.right.text
    assert found.first.verdict.max_abs_diff == 0.5


def test_nan_is_told_as_the_largest_difference(tmp_path):
    wrong = [FIRST[0], ("t__tmp_v1", "pl.tensor.log(pl.tensor.muls(t__tmp_v0, -1.0))"), FIRST[2]]
    right = [FIRST[0], ("t__tmp_v1", "pl.tensor.log(pl.tensor.muls(t__tmp_v0, 1.0))"), FIRST[2]]
    found = diff(tmp_path, text(*right), text(*wrong))
    row = next(row for row in found.rows if row.name == "t" and row.differing)
    assert row.max_abs_diff != row.max_abs_diff  # NaN
