"""Real programs under the harness: their golden functions hold after our passes, and after PyPTO's."""

from pathlib import Path

import pytest
import torch
from corpus_check import load_program, tolerance

from pypto_tmpl.golden import TensorSpec, run

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
FOLDERS = sorted((CORPUS / "dumps").glob("*/Ascend910B"))
DUMPS = [dumps[at] for folder in FOLDERS if (dumps := sorted(folder.glob("*.msgpack"))) for at in (0, -1)]

# PyPTO gives the bytes of a value that is read later to another one: right by values, wrong on bytes.
WRONG_PLANS = {"carried_swap": "to which nothing copies `b`"}

pytestmark = pytest.mark.corpus


@pytest.mark.parametrize("dump", dict.fromkeys(DUMPS), ids=lambda path: f"{path.parts[-3]}/{path.stem}")
def test_a_program_agrees_with_its_golden(dump):
    program = load_program(CORPUS / f"programs/{dump.parts[-3]}.py")
    specs, limit = [], 0.0
    for name, value in program.make_inputs().items():
        is_output = name in program.outputs
        start = None if is_output and not value.any() else value
        specs.append(TensorSpec(name, value.shape, value.dtype, start, is_output))
        limit = max(limit, tolerance(value.dtype)["rtol"]) if is_output else limit
    torch.manual_seed(0)
    # Kernels of both cores that are written without a pipe are refused by ExpandMixedKernel.
    stage = "frontend" if dump.parts[-3] in ("cross_core_explicit", "cross_core_odd") else "last"
    cfg = {"stage": stage}
    result = run(dump, specs, program.golden, runtime_cfg=cfg, rtol=limit, atol=limit, save_data=False)
    wrong = WRONG_PLANS.get(dump.parts[-3], "")
    if wrong and int(dump.name[:2]) >= 35:
        assert not result.passed and wrong in result.error
    else:
        assert result.passed, result.error
