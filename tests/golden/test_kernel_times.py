"""The benchmark of the examples: its sizes are constants of theirs, and what it runs is compared."""

import importlib.util
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks/kernels.py"


@pytest.fixture(scope="module")
def benchmark():
    spec = importlib.util.spec_from_file_location("kernel_times", BENCHMARK)
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernel_times"] = module  # its dataclass looks there
    spec.loader.exec_module(module)
    yield module
    del sys.modules["kernel_times"]


@pytest.fixture(autouse=True)
def own_harness(monkeypatch):
    """Examples are loaded with a harness of their own, which must not stay."""
    monkeypatch.setitem(sys.modules, "harness", None)


def test_every_size_is_a_constant_of_its_example(benchmark):
    names = list(benchmark.examples())
    assert "projections" in names
    assert {*benchmark.SIZES} <= {*names}
    for name, sizes in benchmark.SIZES.items():
        assert benchmark.load(name, sizes).specs is not None
    with pytest.raises(SystemExit, match="example gemm has no constant 'ROWS'"):
        benchmark.load("gemm", {"M": 8, "ROWS": 8})


def test_sizes_change_what_is_run(benchmark):
    x, *_, value = benchmark.load("projections", {"HIDDEN": 1024}).specs()
    assert (list(x.shape), list(value.shape)) == ([16, 1024], [16, 1024])


def test_an_example_is_run_and_compared(benchmark, monkeypatch):
    found = benchmark.measure("softmax", 1, True)
    assert found["ratio"] == found["kernel"] / found["golden"]
    right = benchmark.load("softmax", {})
    wrong = benchmark.Example(
        right.kernel, right.specs, lambda t: t[right.specs()[-1].name].fill_(7), right.knobs
    )
    monkeypatch.setattr(benchmark, "load", lambda name, sizes: wrong)
    with pytest.raises(AssertionError, match="does not match golden"):
        benchmark.measure("softmax", 1, True)
