"""The pytest plugin: snapshots of kernels, and kernels run against their golden functions.

It is loaded in every pytest run of an environment that has the package: it imports next to nothing, and
everything else waits until a test asks for a fixture.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pypto_tmpl.snapshots.places import TEST_FOLDER, in_ci
from pypto_tmpl.snapshots.record import SnapshotRecord

if TYPE_CHECKING:
    from pypto_tmpl.golden.result import RunResult
    from pypto_tmpl.snapshots.fixture import PyptoSnapshot

UPDATE, DETAILS, IMPORTS = "--snapshot-update", "--snapshot-details", "pypto_imports"
WORKER_KEY = "pypto_snapshots"
RECORD = pytest.StashKey[SnapshotRecord]()
_ABSENT = object()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini option that lets tests import kernels written for PyPTO."""
    parser.addini(IMPORTS, "answer imports of pypto and golden by pypto_tmpl", type="bool", default=False)


@pytest.hookimpl(trylast=True)
def pytest_load_initial_conftests(early_config: pytest.Config, parser: pytest.Parser) -> None:
    """Add the options, but for those that another plugin or a conftest.py has: then theirs count.

    Only now all of them are loaded. syrupy has both options, under the same names.
    """
    group = parser.getgroup("pypto_tmpl")
    for option, text in (
        (UPDATE, "write the snapshots of pypto_snapshot that differ, remove those that are unused"),
        (DETAILS, "list the snapshots of pypto_snapshot that are written, removed or unused"),
    ):
        if early_config.getoption(option, _ABSENT) is _ABSENT:
            group.addoption(option, action="store_true", default=False, help=text)


def pytest_configure(config: pytest.Config) -> None:
    """Begin a record, and answer imports of PyPTO if the project wants that."""
    config.stash[RECORD] = SnapshotRecord()
    if config.getini(IMPORTS):
        from pypto_tmpl.compat.imports import answering

        stack = ExitStack()
        stack.enter_context(answering())
        config.add_cleanup(stack.close)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Snapshots are no tests, whatever their names."""
    return True if TEST_FOLDER in collection_path.parts else None


def pytest_deselected(items: list[pytest.Item]) -> None:
    """Of a file that is not run as a whole, nobody knows which snapshots are unused."""
    for item in items:
        item.config.stash[RECORD].skip(item.path)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note the tests that there are."""
    record = session.config.stash[RECORD]
    for item in session.items:
        record.collect(item.path, name_of_test(item))
    config = session.config
    if config.getoption("lf", False):
        record.skip_all()
    for argument in config.args:
        file, _, part = argument.partition("::")
        if part:
            record.skip((config.invocation_params.dir / file).resolve())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note the tests that came to their end: what these have not used is unused."""
    report = yield
    if report.when == "call" and report.passed:
        item.config.stash[RECORD].passed(item.path, name_of_test(item))
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove unused snapshots when updating; a worker of pytest-xdist hands on its record instead."""
    record = session.config.stash[RECORD]
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[WORKER_KEY] = record.as_data()
    elif _is_updating(session.config):
        record.remove_unused()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the record of a worker; one that crashed leaves none, and then nothing counts as unused."""
    record: SnapshotRecord = node.config.stash[RECORD]
    data = getattr(node, "workeroutput", {}).get(WORKER_KEY)
    record.skip_all() if data is None else record.merge(data)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """How many snapshots there were, and, if that was asked for, which are unused."""
    record = config.stash[RECORD]
    is_detailed = bool(config.getoption(DETAILS, False))
    if not hasattr(config, "workeroutput") and (record.used or record.removed or is_detailed):
        terminalreporter.section("pypto snapshots")
        for line in record.summary(config.invocation_params.dir, is_detailed=is_detailed):
            terminalreporter.line(line)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """What is said of an assertion with a snapshot that does not hold."""
    module = sys.modules.get("pypto_tmpl.snapshots.fixture")
    if module is None or op != "==":
        return None
    for side in (left, right):
        if isinstance(side, module.PyptoSnapshot):
            found: list[str] = side.explanation
            return found
    return None


@pytest.fixture
def pypto_snapshot(request: pytest.FixtureRequest) -> PyptoSnapshot:
    """Equals a kernel, program or function whose script is the one that is committed for this test.

    ``assert pypto_snapshot == kernel``. Several in one test are numbered, or named:
    ``assert pypto_snapshot(name="small") == kernel.specialize(...)``.
    """
    from pypto_tmpl.snapshots.fixture import PyptoSnapshot, configured_emission

    item = request.node
    return PyptoSnapshot(
        folder=item.path.parent / TEST_FOLDER / item.path.stem,
        test=name_of_test(item),
        node_id=item.nodeid,
        show=lambda title, text: item.add_report_section("call", title, text),
        record=request.config.stash[RECORD],
        emission=configured_emission(request.config.rootpath),
        is_updating=_is_updating(request.config),
    )


@pytest.fixture
def pypto_run(tmp_path: Path) -> Callable[..., RunResult]:
    """Run a kernel or program against its golden function; the test fails where they disagree.

    ``pypto_run(kernel, specs, golden_fn, rtol=1e-5)``: the parameters of ``pypto_tmpl.golden.run_jit``, or of
    ``run`` for a program. It is built in the test's ``tmp_path``, and the result returned.
    """
    builds = 0

    def run(kernel: Any, specs: Any, golden_fn: Any = None, **knobs: Any) -> RunResult:
        from pypto_tmpl.golden.call_arguments import check_arguments
        from pypto_tmpl.golden.errors import HarnessError
        from pypto_tmpl.golden.runner import run as run_program
        from pypto_tmpl.golden.runner import run_jit
        from pypto_tmpl.golden.sources import Lowers, Specializes

        nonlocal builds
        try:
            check_arguments(kernel, specs, golden_fn)
        except HarnessError as error:
            pytest.fail(f"arguments: {error}", pytrace=False)
        builds += 1
        place = {"output_dir": str(tmp_path / f"pypto_build_{builds}")}
        knobs["compile_cfg"] = place | dict(knobs.get("compile_cfg") or {})
        call = run_jit if isinstance(kernel, Specializes | Lowers) else run_program
        result = call(kernel, specs, golden_fn, **{"save_data": False} | knobs)
        if not result.passed:
            pytest.fail(f"{result.phase}: {result.error}", pytrace=False)
        return result

    return run


def name_of_test(item: pytest.Item) -> str:
    """The name of a test in its file, with its classes: ``TestSoftmax.test_rows[64]``."""
    return item.nodeid.partition("::")[2].replace("::", ".")


def _is_updating(config: pytest.Config) -> bool:
    """Whether snapshots are to be written: never where CI is set."""
    return bool(config.getoption(UPDATE, False)) and not in_ci()
