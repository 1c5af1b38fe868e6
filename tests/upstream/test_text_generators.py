"""The generators of texts under PyPTO's names for them."""

from pathlib import Path

import pytest
from streams import host_builds as h

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, reset_for_testing, set_backend_type
from pypto_tmpl.runtime.refusals import RefusedError
from pypto_tmpl.streams import PtoError
from pypto_tmpl.upstream.codegen import DistributedCodegen, PTOCodegen

STREAMS = Path(__file__).parents[1] / "streams"


@pytest.fixture(autouse=True)
def chosen_backend():
    reset_for_testing()
    set_backend_type(BackendType.Ascend910B)
    yield
    reset_for_testing()


def kernels(name: str) -> ir.Program:
    """The kernels of a recorded program as a program of their own."""
    program = h.last_stage(name)
    found = [
        f for f in program.functions.values() if f.func_type in (ir.FunctionType.AIC, ir.FunctionType.AIV)
    ]
    return ir.Program(found, program.name, program.span)


def test_kernels_become_one_module() -> None:
    build = STREAMS / "recorded/few_rows_in_a_lane_region/Ascend910B/ptoas/few_rows.pto"
    program = kernels("few_rows_in_a_lane_region")
    assert PTOCodegen().generate(program).splitlines() == build.read_text().splitlines()
    assert " loc(" not in PTOCodegen().generate(program, emit_source_loc=False)


def test_what_is_no_kernel_is_none_of_the_module() -> None:
    with pytest.raises(ir.InternalError, match="'main' is a function of type Orchestration, and no kernel"):
        PTOCodegen().generate(h.last_stage("softmax_rows"))


def test_addresses_are_not_left_out() -> None:
    with pytest.raises(RefusedError, match="PTOCodegen.generate has every tile at its address"):
        PTOCodegen().generate(kernels("softmax_rows"), emit_tile_addr=False)


def test_a_backend_is_chosen_before() -> None:
    reset_for_testing()
    with pytest.raises(ValueError, match="[Bb]ackend"):
        PTOCodegen().generate(kernels("softmax_rows"))


def test_what_has_no_text_is_listed() -> None:
    span = ir.Span("k.py", 7, 5, 7, 30)
    call = ir.Call(ir.Op("system.sync_src"), [], {}, ir.UnknownType(), span)
    body = ir.SeqStmts([ir.EvalStmt(call, span)], span)
    kernel = ir.Function("kernel", [], [], body, span, ir.FunctionType.AIV)
    with pytest.raises(PtoError, match=r"system.sync_src on Ascend910B \(function 'kernel', k.py:7:5\)"):
        PTOCodegen().generate(ir.Program([kernel], "p", span))


def test_a_host_function_becomes_a_driver() -> None:
    found = DistributedCodegen().generate(h.last_stage("ring_shift_put"))
    assert found == (STREAMS / "drivers/ring_shift_put.py.txt").read_text()
    with pytest.raises(ValueError, match="has no function of the host that drives chips"):
        DistributedCodegen().generate(h.last_stage("softmax_rows"))
