"""What a quick run of the tests has."""

from sampling import drawn

pytest_plugins = ["pytester"]

CONFTEST = """
import sys
sys.path.insert(0, {folder!r})
from sampling import deselect


def pytest_configure(config):
    for name in ("slow", "packaging", "whole"):
        config.addinivalue_line("markers", name)


def pytest_collection_modifyitems(config, items):
    deselect(config, items, 2)
"""
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(9))
def test_numbers(number): pass

@pytest.mark.whole
@pytest.mark.parametrize("number", range(9))
def test_all(number): pass

@pytest.mark.slow
def test_long(): pass

def test_short(): pass
"""


def test_each_test_has_its_own_draw():
    names = [f"a::test[{number}]" for number in range(50)] + ["a::other[x]", "a::plain", "b::test[1]"]
    found = drawn(names, 3)
    assert len([name for name in found if name.startswith("a::test[")]) == 3
    assert {"a::other[x]", "a::plain", "b::test[1]"} <= found


def test_a_draw_does_not_depend_on_the_order_and_keeps_what_it_had():
    names = [f"test[{number}]" for number in range(50)]
    assert drawn(names[::-1], 8) == drawn(names, 8)
    assert drawn(names, 8) < drawn(names, 9)


def test_slow_tests_are_left_out_and_whole_ones_are_not(pytester, request):
    pytester.makeconftest(CONFTEST.format(folder=str(request.path.parent)))
    pytester.makepyfile(TESTS)
    pytester.runpytest_inprocess("-p", "no:cacheprovider").assert_outcomes(passed=2 + 9 + 1, deselected=7 + 1)
