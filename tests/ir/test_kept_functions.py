"""Printing and writing one program after the other gives what each of them gives alone."""

from pathlib import Path

import pytest

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir
from pypto_tmpl.ir.printer import ProgramPrinter
from pypto_tmpl.ir.wire import Serializer, WireError
from pypto_tmpl.passes import MemoryPlanner, make_pass
from pypto_tmpl.passes.strategies import OptimizationStrategy, pass_names

DUMPS = Path(__file__).resolve().parents[1] / "corpus/dumps"
PROGRAMS = ["swiglu_scope", "mixed_c2v_up_down", "softmax_rows"]
FUNCTION = """
    @pl.function
    def {name}(self, x: pl.Tensor[[N, 16], pl.FP32], out: pl.Out[pl.Tensor[[{rows}, 16], pl.FP32]]):
        for i in pl.range({count}):
            out = pl.assemble(out, pl.mul(x, 2.0), [i, 0])
        return out
"""


def program(*functions):
    """Functions of one text, so that they share their dynamic dimension."""
    text = 'import pypto.language as pl\nN = pl.dynamic("N")\n@pl.program\nclass Many:'
    return pl.parse(text + "".join(FUNCTION.format(**function) for function in functions))


def stages(name):
    """A recorded program and what each pass makes of it."""
    found = [ir.deserialize_from_file(str(DUMPS / name / "Ascend910B/00_frontend.msgpack"))]
    with backend.compiling_for(backend.BackendType.Ascend910B):
        for pass_name in pass_names(OptimizationStrategy.Default, MemoryPlanner.PYPTO):
            found.append(make_pass(pass_name)(found[-1]))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_stage_is_as_it_is_alone(name):
    printer, serializer = ProgramPrinter(), Serializer()
    explicit = ProgramPrinter(explicit_layout=True)
    reused = 0
    before: set[int] = set()
    for stage in stages(name):
        assert printer.text(stage) == ir.python_print(stage, format=False)
        assert explicit.text(stage) == ir.python_print(stage, format=False, explicit_layout=True)
        assert serializer.serialize(stage) == ir.serialize(stage)
        functions = {id(function) for function in stage.functions.values()}
        reused += len(functions & before)
        before = functions
    assert reused > 0


def test_functions_that_share_nodes_may_come_go_and_change_places():
    whole = program(
        {"name": "first", "rows": "N", "count": 3},
        {"name": "second", "rows": "N", "count": 4},
        {"name": "third", "rows": 16, "count": 300},
    )
    first, second, third = whole.functions.values()
    printer, serializer = ProgramPrinter(), Serializer()
    for functions in (
        [first, second, third],
        [second, first, third],
        [third],
        [third, second],
        [first, second, third],
        [first, second, third],
        [second],
    ):
        part = ir.Program(functions, "Part", whole.span)
        assert serializer.serialize(part) == ir.serialize(part)
        assert printer.text(part) == ir.python_print(part, format=False)


def test_a_failure_does_not_spoil_what_is_kept():
    good = program({"name": "first", "rows": "N", "count": 3}, {"name": "second", "rows": 16, "count": 4})
    first, second = good.functions.values()
    bad = ir.Program([first, second], "Bad", good.span)
    object.__setattr__(bad, "functions", {ir.GlobalVar("other"): first})  # a key of another name
    serializer = Serializer()
    serializer.serialize(good)
    with pytest.raises(WireError):
        serializer.serialize(bad)
    assert serializer.serialize(good) == ir.serialize(good)
