"""The C++ of an orchestration under PyPTO's name for it."""

import pytest
from streams import host_builds as h

from pypto_tmpl import ir
from pypto_tmpl.backend import BackendType, reset_for_testing, set_backend_type
from pypto_tmpl.ir.verifier import VerificationError
from pypto_tmpl.streams.orchestration import host_texts
from pypto_tmpl.upstream.codegen import OrchestrationResult, generate_orchestration


@pytest.fixture(autouse=True)
def chosen_backend():
    reset_for_testing()
    set_backend_type(BackendType.Ascend910B)
    yield
    reset_for_testing()


def test_the_result_tells_what_is_launched():
    program = h.last_stage("few_rows_in_a_lane_region")
    found = generate_orchestration(program, program.get_function("main"))
    text = host_texts(program, BackendType.Ascend910B).texts["orchestration/main.cpp"]
    directions = ["IN", "IN", "INOUT", "OUT"]
    assert found == OrchestrationResult(
        text,
        {"few_rows_aic": 0, "few_rows_aiv": 1},
        {"few_rows_aic": ir.CoreType.CUBE, "few_rows_aiv": ir.CoreType.VECTOR},
        {"few_rows_aic": directions, "few_rows_aiv": directions},
        ["IN", "IN", "INOUT"],
    )


def test_the_function_must_be_one_of_the_program():
    program, other = h.last_stage("few_rows_in_a_lane_region"), h.last_stage("few_rows_in_a_lane_region")
    with pytest.raises(VerificationError) as caught:
        generate_orchestration(program, other.get_function("main"))
    assert "has another function 'main', which passes may have made" in str(caught.value)
    stranger = h.host([h.tensor("a")], name="stranger")
    with pytest.raises(ValueError, match="has no function 'stranger'"):
        generate_orchestration(program, stranger)
