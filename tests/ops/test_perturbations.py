"""Nothing is ignored: each operand and keyword of each op changes the text or the value of a call."""

import pytest
from ops.perturbations import minds, perturbed
from ops.sample_calls import SampleCall
from ops.sampled import TABLE
from ops.without_effect import WITHOUT_EFFECT, is_of_ranks

NAMES = [
    (op, name)
    for op, entry in TABLE.items()
    if entry.is_executable and not is_of_ranks(op)
    for name in (*entry.operand_names, *entry.kwarg_names)
]
SCRATCH = {(op, operand.name) for op, entry in TABLE.items() for operand in entry.operands if operand.scratch}
# A workspace whose extents say how wide the result is; its numbers do not count either.
SCRATCH.add(("tile.mrgsort_format2", "tmp"))


def pairs_of(op, name):
    """Calls beside the same calls with another value for the operand or keyword."""
    for sample in TABLE[op].samples:
        call = SampleCall(op, sample)
        for changed in perturbed(call, name):
            yield call, changed


@pytest.mark.parametrize(("op", "name"), sorted(set(NAMES) - WITHOUT_EFFECT.keys() - SCRATCH))
def test_another_value_changes_the_text_or_the_result(op, name):
    assert any(minds(*pair) for pair in pairs_of(op, name)), f"{op} ignores {name}, or no sample gives it"


@pytest.mark.parametrize(("op", "name"), sorted(WITHOUT_EFFECT.keys() | SCRATCH & set(NAMES)))
def test_what_is_said_to_have_no_effect_has_none(op, name):
    assert (op, name) in NAMES
    pairs = [*pairs_of(op, name)]
    assert pairs or is_a_handle(op, name), f"no sample of {op} gives {name}"
    assert not any(minds(*pair) for pair in pairs)


def is_a_handle(op, name):
    """Whether an operand is a handle, of which there are no two values."""
    return any(spec.name == name and spec.kinds == ("handle",) for spec in TABLE[op].operands)


def test_every_exemption_has_a_reason():
    assert all(len(reason) > 10 for reason in WITHOUT_EFFECT.values())
    assert not WITHOUT_EFFECT.keys() & SCRATCH
