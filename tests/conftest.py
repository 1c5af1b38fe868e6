"""Settings that hold for every test."""

import os

# Before torch is imported: the test workers are the parallelism.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from drawn_examples import examples
from hypothesis import HealthCheck, settings
from sampling import deselect

from pypto_tmpl.snapshots.patch import FilePatch
from pypto_tmpl.snapshots.places import in_ci
from pypto_tmpl.snapshots.results import SnapshotState, compare, update

# No deadline, and no look at how long data take to draw: a first example may import or compile, and the
# machine may have other work. In CI all examples, and no randomness: a change is judged on itself.
settings.register_profile(
    "project",
    max_examples=examples(100),
    deadline=None,
    derandomize=in_ci(),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("project")


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite golden scripts that differ (not where CI is set)",
    )
    parser.addoption(
        "--sample",
        type=int,
        metavar="N",
        help="of tests with parameters run N sets each, of those marked slow or packaging none",
    )


def pytest_configure(config):
    if config.getoption("--update-golden") and in_ci():
        raise pytest.UsageError("golden scripts are not updated where CI is set")


def pytest_collection_modifyitems(config, items):
    count = config.getoption("--sample")
    if count is not None:
        deselect(config, items, count)


@pytest.fixture
def golden_script(request):
    """Compares a snapshot case with its committed script, or updates it under --update-golden."""

    def check(case):
        result = compare(case)
        if result.state is SnapshotState.SAME:
            return
        if request.config.getoption("--update-golden"):
            update([result])
            return
        old = None if result.committed is None else result.committed.decode()
        pytest.fail(
            f"golden script {case.name} is {result.state.value}; accept what is emitted now by\n"
            f"    pypto-tmpl snapshot --update {case.name}\n{FilePatch(case.name, old, result.text).text()}",
            pytrace=False,
        )

    return check
