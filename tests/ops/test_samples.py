"""Every op is run on the samples of its entry and compared with its reference."""

import pytest
from ops.references import REFERENCES, RuntimeCall
from ops.sample_calls import SampleCall, disagreement, same
from ops.sampled import TABLE, run

SAMPLES = [
    pytest.param(op, sample, id=f"{op}-{number}")
    for op, entry in TABLE.items()
    for number, sample in enumerate(entry.samples)
]


def test_every_op_with_a_text_has_samples_and_a_reference():
    for op, entry in TABLE.items():
        assert entry.is_executable == (op in REFERENCES), op
        takes_something = entry.operands or entry.kwargs
        assert entry.samples or not (entry.is_executable and takes_something), op


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_a_sample_agrees_with_the_reference(op, sample):
    call = SampleCall(op, sample)
    text, arguments = call.text(), call.arguments()
    got = call.value(text, arguments)
    assert disagreement(call, got, call.expected()) == "", text
    for name, before in call.arguments().items():
        if name not in call.entry.writes:
            assert same(arguments[name], before), f"{text} changed {name}"
    if call.entry.returns is not None:
        assert got is arguments[call.entry.returns], f"{text} returns another value"
    if not isinstance(got, RuntimeCall) and "_aic_gather" not in text:
        run(text, call.arguments())  # with the helpers alone that it names
