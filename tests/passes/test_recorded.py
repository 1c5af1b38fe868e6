"""Our passes make of real programs what PyPTO's made of them."""

import pytest
from passes.recorded_pairs import Pair, recorded_pairs

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.passes.properties import verify_or_throw, with_checks


@pytest.fixture(autouse=True)
def no_backend():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def test_every_pass_has_recorded_programs():
    # PyPTO's changed nothing in any program on record; the pass to buffers is ours
    without_change = {"NormalizeStmtStructure", "LowerToBuffers"}
    assert {pair.pass_name for pair in recorded_pairs()} == passes.PASSES.keys() - without_change


@pytest.mark.parametrize("pair", recorded_pairs(), ids=str)
def test_a_pass_makes_what_was_recorded(pair: Pair):
    backend.set_backend_type(backend.BackendType[pair.backend])
    before = pair.before()
    data = ir.serialize(before)
    pass_ = passes.make_pass(pair.pass_name)
    got = pass_(before)
    ir.assert_structural_equal(got, pair.after())
    assert ir.serialize(before) == data
    verify_or_throw(with_checks(pass_.get_produced_properties()), got)


@pytest.mark.parametrize("pair", recorded_pairs(), ids=str)
def test_a_pass_makes_nothing_else_of_its_own_result(pair: Pair):
    backend.set_backend_type(backend.BackendType[pair.backend])
    after = passes.make_pass(pair.pass_name)(pair.before())
    again = passes.make_pass(pair.pass_name)(after)
    ir.assert_structural_equal(again, after)
