"""Real programs compute what their golden functions say after every pass, also where PyPTO breaks them."""

from pathlib import Path

import pytest
from corpus_check import Dump, find_dumps, run_script

import pypto_tmpl.language as pl
from pypto_tmpl import backend, ir, passes
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug import torch_codegen
from pypto_tmpl.ir.destinations import has_destinations

TESTS = Path(__file__).resolve().parents[1]
SAMPLED = (
    "carried_swap",
    "dynamic_rows",
    "inline_helpers",
    "jit_gelu_spmd",
    "layer_norm_pipeline",
    "scalar_control_flow",
    "submit_chain",
    "swiglu_scope",
)
SAMPLED_PASSES = ("fir_unrolled", "assembled_blocks", "launches_in_loops_and_clusters", "stop_at_limit")
# Carries keep their declared types where tiles are halved, and text does not tell those.
UNTOLD = {"swiglu_scope": "LowerAutoVectorSplit"}
# The programs that a pass of PyPTO breaks, and that pass.
BROKEN = {
    "pair_read_later": "InlineFunctions",
    "work_before_escape": "CtrlFlowTransform",
    "escape_after_update": "CtrlFlowTransform",
    "signed_offset": "Simplify",
    "carry_overwrites_input": "OptimizeOrchTensors",
    "batched_product_added_atomically": "FlattenTileNdTo2D",
    "read_between": "FuseCreateAssembleToSlice",
    "loop_result_stored_by_lanes": "LowerAutoVectorSplit",
    "row_scale_in_column_lanes": "LowerAutoVectorSplit",
    "scalar_written_by_unsplit_kernel": "ExpandMixedKernel",
}


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def first_dump(corpus: str, program: str) -> Dump:
    return find_dumps(TESTS / corpus, ".py", f"{program}/")[0]


def check_values(node: ir.Program, dump: Dump) -> None:
    assert run_script(torch_codegen(node, check_shapes=True, format=False), dump) is None


@pytest.mark.parametrize(
    ("corpus", "program"),
    [("corpus", name) for name in SAMPLED] + [("pass_corpus", name) for name in SAMPLED_PASSES],
    ids=lambda given: given,
)
def test_a_program_keeps_its_values_and_its_text_through_all_passes(corpus, program):
    dump = first_dump(corpus, program)
    backend.set_backend_type(backend.BackendType[dump.path.parent.name])
    node = pl.loads(str(dump.path))
    made: set[ir.IRProperty] = set()
    told = True
    for name in passes.PASSES:
        pass_ = passes.make_pass(name)
        if not pass_.requires <= made:  # what it needs no pass makes yet
            continue
        made |= pass_.produces
        told &= name != UNTOLD.get(program)
        after = pass_(node)
        if has_destinations(after):  # text of buffers is not read
            check_values(after, dump)
        elif after is not node:
            again = pl.parse(ir.python_print(after, format=False))
            if told and name != "UnrollLoops":  # its rounds are sequences in a sequence: text does not tell
                ir.assert_structural_equal(again, after)
            check_values(after, dump)
        node = after


def is_wrong(dump: Dump) -> bool:
    """Whether a stage computes something else than it should, or cannot be run."""
    try:
        return run_script(torch_codegen(pl.loads(str(dump.path)), format=False), dump) is not None
    except (RuntimeError, UnsupportedProgramError):
        return True


@pytest.mark.parametrize(
    ("program", "broken_by"),
    [pair for pair in BROKEN.items() if pair[1] in passes.PASSES],
    ids=lambda given: given,
)
def test_a_pass_keeps_the_values_that_the_pass_of_the_same_name_loses(program, broken_by):
    stages = find_dumps(TESTS / "corpus/faulty", ".py", f"{program}/")
    *_, before, broken = stages
    assert broken.path.stem.endswith(f"_after_{broken_by}")
    assert is_wrong(broken)
    backend.set_backend_type(backend.BackendType[before.path.parent.name])
    check_values(passes.make_pass(broken_by)(pl.loads(str(before.path))), before)
