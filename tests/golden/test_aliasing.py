"""Expected and actual never share memory, whatever kernel and golden function do."""

import pytest
import torch
from runtime import kernels

from pypto_tmpl.golden import TensorSpec, run
from pypto_tmpl.golden.values import generate


def accumulate_specs(total=0.0):
    return [
        TensorSpec("x", [4], torch.float32, 1.0),
        TensorSpec("total", [4], torch.float32, total, is_output=True),
    ]


def test_an_inout_that_the_kernel_changes_is_compared_with_its_golden():
    def golden(values):
        values["total"] += values["x"]

    assert run(kernels.accumulate(), accumulate_specs(5.0), golden).passed


def test_a_golden_that_gives_back_what_it_was_given_fails():
    """The kernel writes 6 where 5 was: the golden keeps the 5 it was given."""

    def golden(values):
        values["total"] = values["total"]

    result = run(kernels.accumulate(), accumulate_specs(5.0), golden)
    assert "[0] actual=6.0, expected=5.0" in result.error


@pytest.mark.parametrize("rebind", [False, True])
def test_a_golden_that_gives_back_the_initial_tensor_fails(rebind):
    """The kernel works on the very tensor that init_value is; the golden took it for its result."""
    initial = torch.full((4,), 5.0)

    def golden(values):
        values["total"] = initial.view(2, 2).flatten() if rebind else initial

    result = run(kernels.accumulate(), accumulate_specs(initial), golden)
    assert "[0] actual=6.0, expected=5.0" in result.error


def test_a_golden_that_shares_memory_through_numpy_fails():
    initial = torch.full((4,), 5.0)

    def golden(values):
        values["total"] = torch.from_numpy(initial.numpy())

    result = run(kernels.accumulate(), accumulate_specs(initial), golden)
    assert "[0] actual=6.0, expected=5.0" in result.error


def test_a_golden_that_changes_what_the_kernel_reads_is_refused():
    """It would change the kernel's inputs: the run would compare what both made of them."""
    initial = torch.full((4,), 5.0)

    def golden(values):
        initial.add_(1)
        values["total"] += values["x"]

    result = run(kernels.accumulate(), accumulate_specs(initial), golden)
    assert (result.phase, result.error) == (
        "compute golden",
        "golden_fn changed the tensor that init_value gave for 'total', which the kernel reads\n"
        "   = work on values['total'], which is a copy",
    )


def test_a_golden_may_change_the_copies_it_is_given():
    def golden(values):
        values["x"] += 1
        values["total"] += values["x"] - 1

    assert run(kernels.accumulate(), accumulate_specs(5.0), golden).passed


def test_the_golden_sees_the_values_from_before_the_kernel():
    seen = {}

    def golden(values):
        seen.update({name: value.clone() for name, value in values.items()})

    run(kernels.accumulate(), accumulate_specs(5.0), golden)
    assert seen["total"].tolist() == [5.0] * 4


def test_an_initial_tensor_is_written_by_the_kernel():
    """As on a device, where results land in the tensors that were passed."""
    initial = torch.full((4,), 5.0)
    run(kernels.accumulate(), accumulate_specs(initial))
    assert initial.tolist() == [6.0] * 4


def test_inputs_that_share_a_fixture_with_an_output():
    """a = x + 1 and b = x + 2 where a starts as the tensor that x is."""
    fixture = torch.zeros(4)
    specs = [
        TensorSpec("x", [4], torch.float32, fixture),
        TensorSpec("a", [4], torch.float32, fixture, is_output=True),
        TensorSpec("b", [4], torch.float32, is_output=True),
    ]

    def golden(values):
        values["a"][:] = values["x"] + 1
        values["b"][:] = values["x"] + 2

    result = run(kernels.twice(), specs, golden)
    assert result.passed, result.error


def test_shared_memory_is_asserted_before_anything_is_compared():
    values = generate(accumulate_specs())
    values.expected = {"total": values.values["total"][:2]}
    with pytest.raises(AssertionError) as caught:
        values.assert_apart()
    assert str(caught.value) == "the golden of 'total' shares memory with what the kernel works on"
    values.expect({"total": values.values["total"]})
    values.assert_apart()


def test_inputs_are_not_copied_for_the_kernel():
    given = torch.zeros(4)
    assert generate([TensorSpec("x", [4], torch.float32, given)]).values["x"] is given
