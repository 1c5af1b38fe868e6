"""The number of torch's threads while a golden function runs."""

import pytest
import torch


@pytest.fixture(autouse=True)
def restore():
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def threads_seen(run_scale):
    seen = []

    def golden(values):
        seen.append(torch.get_num_threads())
        values["y"][:] = values["x"] * values["n"]

    return run_scale(golden_fn=golden), seen


def test_the_variable_caps_them_and_they_are_restored(run_scale, monkeypatch):
    monkeypatch.setenv("PYPTO_GOLDEN_NUM_THREADS", "3")
    torch.set_num_threads(2)
    result, seen = threads_seen(run_scale)
    assert (result.passed, seen, torch.get_num_threads()) == (True, [3], 2)


def test_they_are_restored_after_a_golden_that_raises(run_scale, monkeypatch):
    monkeypatch.setenv("PYPTO_GOLDEN_NUM_THREADS", "3")
    torch.set_num_threads(2)
    assert not run_scale(golden_fn=lambda values: 1 / 0).passed
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(("before", "during"), [(1, 1), (2, 2), (20, 16)])
def test_without_the_variable_there_are_at_most_16(run_scale, before, during):
    torch.set_num_threads(before)
    _, seen = threads_seen(run_scale)
    assert (seen, torch.get_num_threads()) == ([during], before)


@pytest.mark.parametrize("raw", ["0", "-1", "many", "2.5", ""])
def test_another_value_is_an_error(run_scale, monkeypatch, raw):
    monkeypatch.setenv("PYPTO_GOLDEN_NUM_THREADS", raw)
    result, seen = threads_seen(run_scale)
    assert (result.phase, result.error, seen) == (
        "compute golden",
        f"compute golden: ValueError: PYPTO_GOLDEN_NUM_THREADS must be a positive integer, got {raw!r}",
        [],
    )
