"""Programs that are drawn: the same every time, valid, of what their kind says; their arguments."""

from dataclasses import replace

import pytest
import torch

from pypto_tmpl import ir
from pypto_tmpl.execution.entry import select_entry
from pypto_tmpl.hunt.compilers import OurPasses
from pypto_tmpl.hunt.examine import examine
from pypto_tmpl.hunt.options import HuntError, Options
from pypto_tmpl.hunt.programs.drawing import HEAD, HuntedProgram, Settings
from pypto_tmpl.hunt.programs.inputs import InputError, inputs_of
from pypto_tmpl.hunt.programs.kinds import KINDS, draw_program
from pypto_tmpl.hunt.programs.ops import sampled_ops
from pypto_tmpl.hunt.programs.patterns import PATTERNS

WORDS = {
    "tensors": ("pl.range(", "pl.unroll(", "self.pair(", "pl.create_tensor(", "pl.cluster(", "init_values="),
    "tiles": ("pl.matmul_acc(", "pl.yield_(", "row_expand_mul", "pl.tile.assemble(", "pl.Mem.Mat"),
    "mixed": ("pl.pipeline(", "pl.matmul(", "UP_DOWN", "LEFT_RIGHT", "if "),
    "tasks": ("pl.submit(", "deps=[", "pl.array.create(", "pl.parallel(", "while ", "pl.assemble("),
    "aliasing": (
        "valid_shape=[16, 20]", "break", "continue", "pl.pipeline(", "    pl.store(", "pl.tile.write(",
        "pl.tile.gather(", "_m = pl.tile.add(",
    ),
    "launches": (
        "pl.spmd(", "get_block_idx()", "pl.split_aiv(", "pl.aic_gather(", "valid_shape=[", "pl.prefetch.",
        "pl.system.sync_src(",
    ),
    "ranks": (
        "pld.tile.remote_store(", "pld.system.wait(", "pld.tensor.all", "defer_wait(", "pld.system.notify(",
        "device=r)",
    ),
    "ops": ("pl.load(", "pl.store(", "pl.assemble(", "valid_shape="),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_program_is_valid(kind):
    for seed in range(25):
        node = draw_program(kind, seed).parsed()
        ir.verify_or_throw(node, ir.STRUCTURAL_PROPERTIES)


@pytest.mark.parametrize("kind", KINDS)
def test_programs_of_a_kind_have_what_it_is_about(kind):
    texts = [draw_program(kind, 11 * seed).text for seed in range(40)]
    for words in WORDS[kind]:
        assert sum(words in text for text in texts) >= 2, words


def test_a_number_draws_the_same_program_again():
    assert [draw_program(kind, 7) for kind in KINDS] == [draw_program(kind, 7) for kind in KINDS]
    assert len({draw_program("tensors", seed).text for seed in range(20)}) == 20


def test_kinds_take_turns_and_backends_too():
    options = Options(seed=3, kinds=("tiles", "ops"))
    drawn = [options.program(number) for number in range(4)]
    assert [(one.kind, one.seed) for one in drawn] == [
        ("tiles", 3_000_000),
        ("ops", 3_000_000),
        ("tiles", 3_000_001),
        ("ops", 3_000_001),
    ]
    assert {one.backend for one in drawn} == {"Ascend910B", "Ascend950"}


def test_ops_in_a_row_begin_with_each_op_once():
    every = sampled_ops()
    names = [group[0].entry for group in every]
    assert 200 < len(names) + 2 * len(PATTERNS) <= 2000 // len(KINDS)
    period = len(names) + 2 * len(PATTERNS)
    for number in range(0, len(every), 29):
        drawn = [draw_program("ops", number + round_ * period) for round_ in range(2)]
        assert all(names[number].dsl[0] + "(" in one.text for one in drawn)
        assert {one.backend for one in drawn} == {"Ascend910B", "Ascend950"}


def test_operands_are_promoted_by_steps_that_the_hardware_has():
    place = [group[0].entry.name for group in sampled_ops()].index("tensor.div")
    period = len(sampled_ops()) + 2 * len(PATTERNS)
    for number in range(place + place % 2 * period, 24 * period, 2 * period):
        drawn = draw_program("ops", number)
        assert drawn.backend == "Ascend910B"
        found = examine(drawn, OurPasses())  # INT16 to INT32 would be refused
        assert found.finding is None, found.finding


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.__name__)
def test_patterns_are_compiled_rightly(pattern):
    """Ops of which samples make no program: nothing is wrong with them at any stage."""
    every = len(sampled_ops())
    for number in range(3):
        place = next(
            k for k in range(every, every + 2 * len(PATTERNS)) if PATTERNS[k % len(PATTERNS)] is pattern
        )
        drawn = draw_program("ops", place + number * (every + 2 * len(PATTERNS)))
        found = examine(drawn, OurPasses())
        assert found.finding is None, found.finding


def test_programs_of_several_ranks_and_blocks_are_compiled_rightly():
    for kind in ("ranks", "launches"):
        for seed in range(6):
            found = examine(draw_program(kind, seed), OurPasses())
            assert found.finding is None, found.finding


def test_settings_are_drawn_with_the_program():
    drawn = [draw_program("tasks", seed) for seed in range(120)]
    assert {one.settings.memory_planner for one in drawn} == {None, "PTOAS", "DSA_RP"}
    assert sum(one.settings == Settings() for one in drawn) > 60
    assert any(one.settings.buffers for one in drawn)
    assert any(one.settings.analyze_auto_scopes_for_deps for one in drawn)
    one = replace(drawn[0], backend="Ascend950", settings=Settings("PTOAS", buffers=True))
    assert one.compiled_for == "Ascend950, memory_planner=PTOAS, buffers=True"


def test_a_kind_that_there_is_not():
    with pytest.raises(HuntError, match="no programs of the kind 'tile'") as caught:
        Options(kinds=("tile",))
    assert "did you mean 'tiles'?" in str(caught.value)


def program(parameters):
    return HuntedProgram(
        "given",
        5,
        f"{HEAD}    @pl.function\n    def main(self, {parameters}):\n        return\n",
        ranges={"n": (3, 4)},
    )


def arguments(parameters):
    drawn = program(parameters)
    return inputs_of(drawn, select_entry(drawn.parsed()))


def test_arguments():
    got = arguments(
        "x: pl.Tensor[[4, 8], pl.FP32], i: pl.Tensor[[64], pl.INT32], n: pl.Scalar[pl.INDEX], "
        "o: pl.Out[pl.Tensor[[2, 2], pl.BF16]]"
    )
    assert got["x"].shape == (4, 8) and -0.5 <= got["x"].min() < got["x"].max() < 0.5
    assert got["i"].dtype is torch.int32 and set(got["i"].tolist()) <= set(range(8))
    assert got["n"].item() == 3
    assert got["o"].dtype is torch.bfloat16 and bool((got["o"] == 9).all())


def test_an_argument_does_not_depend_on_the_others():
    alone, beside = (
        arguments("x: pl.Tensor[[4, 8], pl.FP32]"),
        arguments("y: pl.Tensor[[4, 8], pl.FP32], x: pl.Tensor[[4, 8], pl.FP32]"),
    )
    assert torch.equal(alone["x"], beside["x"]) and not torch.equal(beside["x"], beside["y"])


def test_a_parameter_without_an_argument():
    drawn = program("t: pl.Tensor[[M, 8], pl.FP32]")
    text = drawn.text.replace("\n\n@pl.program", 'M = pl.dynamic("M")\n\n@pl.program')
    drawn = replace(drawn, text=text)
    with pytest.raises(InputError, match="'t' has an extent that is no number"):
        inputs_of(drawn, select_entry(drawn.parsed()))
