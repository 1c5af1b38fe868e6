"""Every op is run on its samples: the value is as its reference says, the storage as the tables of views."""

import pytest
import torch
from ops.aliasing import VIEWS, VIEWS_OUTSIDE_KERNELS, aliasing_problem
from ops.references import REFERENCES, RuntimeCall, reference_of
from ops.sample_calls import SampleCall, contexts, disagreement, same
from ops.sampled import TABLE, run
from ops.without_effect import is_of_ranks

SAMPLES = [
    pytest.param(op, sample, in_kernel, id=f"{op}-{number}{'' if in_kernel else '-orchestration'}")
    for op, entry in TABLE.items()
    for number, sample in enumerate(entry.samples)
    for in_kernel in contexts(SampleCall(op, sample))
]


def test_every_op_with_a_text_has_samples_and_a_reference():
    for op, entry in TABLE.items():
        if is_of_ranks(op):
            continue
        if entry.is_executable:
            reference_of(op)
        else:
            assert op not in REFERENCES, f"{op} has a reference, but no text"
        takes_something = entry.operands or entry.kwargs
        assert entry.samples or not (entry.is_executable and takes_something), f"{op} has no samples"


@pytest.mark.parametrize(("op", "sample", "in_kernel"), SAMPLES)
def test_a_sample_agrees_with_the_reference(op, sample, in_kernel):
    call = SampleCall(op, sample)
    text, arguments = call.text(in_kernel=in_kernel), call.arguments()
    got = call.value(text, arguments)
    assert disagreement(call, got, call.expected()) == "", text
    assert aliasing_problem(call, got, arguments, in_kernel=in_kernel) == "", text
    for name, before in call.arguments().items():
        if name not in call.entry.writes:
            assert same(arguments[name], before), f"{text} changed {name}"
    if not isinstance(got, RuntimeCall) and "_aic_gather" not in text:
        run(text, call.arguments())  # with the helpers alone that it names


@pytest.mark.parametrize("op", sorted(VIEWS | VIEWS_OUTSIDE_KERNELS))
def test_a_write_into_a_view_is_seen_in_what_it_shows(op):
    source = (VIEWS | VIEWS_OUTSIDE_KERNELS)[op]
    call = SampleCall(op, TABLE[op].samples[0])
    arguments = call.arguments()
    view = call.value(call.text(in_kernel=op in VIEWS), arguments)
    before = arguments[source].clone()
    view.fill_(0)
    assert not torch.equal(arguments[source], before)
    arguments[source].fill_(1)
    assert view.count_nonzero() > 0
