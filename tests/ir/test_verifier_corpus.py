"""What holds of real dumps by stage: structural properties always, others once passes made them so."""

import pytest
from corpus_check import Dump, default_corpus, find_dumps

import pypto_tmpl.language as pl
from pypto_tmpl import ir

DUMPS = [*find_dumps(default_corpus(), ".msgpack"), *find_dumps(default_corpus(), ".py")]
CONVERT_TO_SSA, FLATTEN_CALLS = 4, 7  # the stages after which the properties hold
CARRIES_WIDER_THAN_VALUES = ("swiglu_scope", 21)  # from this stage on; text does not tell

pytestmark = pytest.mark.corpus


def holding(dump: Dump) -> list[ir.IRProperty]:
    """The properties that hold at the dump's stage."""
    late = {ir.IRProperty.SSAForm: CONVERT_TO_SSA, ir.IRProperty.NoNestedCalls: FLATTEN_CALLS}
    every = dict.fromkeys((*ir.STRUCTURAL_PROPERTIES, *ir.DEFAULT_PROPERTIES))
    return [wanted for wanted in every if dump.stage_number >= late.get(wanted, 0)]


@pytest.mark.parametrize("dump", DUMPS, ids=str)
def test_properties_hold(dump: Dump) -> None:
    is_text = dump.path.suffix == ".py"
    node = pl.loads(dump.path) if is_text else ir.deserialize_from_file(str(dump.path))
    found = [(item.rule_name, item.error_code) for item in ir.verify(node, holding(dump))]
    program, stage = CARRIES_WIDER_THAN_VALUES
    if dump.program == program and dump.stage_number >= stage and not is_text:
        assert set(found) == {("TypeCheck", 104)}
    else:
        assert found == []


@pytest.mark.parametrize(
    ("wanted", "stage"),
    [(ir.IRProperty.SSAForm, CONVERT_TO_SSA), (ir.IRProperty.NoNestedCalls, FLATTEN_CALLS)],
    ids=["SSAForm", "NoNestedCalls"],
)
def test_properties_that_passes_make_do_not_hold_before(wanted: ir.IRProperty, stage: int) -> None:
    early = [dump for dump in DUMPS if dump.stage_number < stage and dump.path.suffix == ".py"]
    assert any(ir.verify(pl.loads(dump.path), [wanted]) for dump in early)
