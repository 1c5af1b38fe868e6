"""Programs of tensors at random compute the same before and after every pass, by an interpreter of the IR."""

import os

import numpy as np
import pytest
from passes.tensor_interpreter import output_of

from pypto_tmpl import ir, passes
from pypto_tmpl.hunt.programs.kinds import draw_program
from pypto_tmpl.passes.properties import verify_or_throw, with_checks

COUNT = int(os.environ.get("PYPTO_TMPL_RANDOM_PROGRAMS", "25"))
FIRST = int(os.environ.get("PYPTO_TMPL_RANDOM_FIRST", "0"))  # the seed of the first, to go on from
P = ir.IRProperty
# What does not hold behind a pass, as in recorded programs: the rounds of a loop are sequences in a sequence
# until variables are assigned once; the function of a level returns a parameter that a kernel wrote.
EXPECTED = {"UnrollLoops": {P.NoRedundantBlocks}, "OutlineIncoreScopes": {P.InOutUseValid}}
# The interpreter computes with tensors; what a pass makes of tiles is run as a script, in tests of that pass.
ON_TENSORS = [name for name in passes.PASSES if name != "ConvertTensorToTileOps"]
MENDS = {"ConvertToSSA": {P.NoRedundantBlocks}}


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_every_pass_keeps_what_a_program_computes(seed):
    node = draw_program("tensors", seed).parsed()
    wanted = [output_of(node, n) for n in (0, 3)]
    known = set(ir.STRUCTURAL_PROPERTIES)
    for name in ON_TENSORS:
        pass_ = passes.make_pass(name)
        after = pass_(node)
        known -= EXPECTED.get(name, set())
        known |= MENDS.get(name, set()) | set(with_checks(pass_.get_produced_properties()))
        if after is not node:
            verify_or_throw(known, after)
            for n, expected in zip((0, 3), wanted, strict=True):
                np.testing.assert_array_equal(output_of(after, n), expected, err_msg=name)
        node = after
