"""The pytest plugin, in folders of users."""

import subprocess
import sys

import pytest

pytest_plugins = ["pytester"]

KERNELS = """
import pypto.language as pl

@pl.jit
def doubled(x: pl.Tensor[[16, 32], pl.FP32], out: pl.Out[pl.Tensor[[16, 32], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="double"):
        out[:, :] = pl.add(x[:, :], x[:, :])
    return out

@pl.jit
def bare(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="double"):
        out[:, :] = pl.mul(x[:, :], 3.0)
    return out
"""
TESTS = """
import pytest, torch
from kernels import bare, doubled

def test_doubled(pypto_snapshot):
    assert pypto_snapshot == doubled

@pytest.mark.parametrize("rows", [16, 32])
def test_bare(pypto_snapshot, rows):
    x = torch.empty(rows, 32, device="meta")
    assert pypto_snapshot == bare.specialize(x, x)
    assert bare.specialize(x, x) == pypto_snapshot(name="again", check_shapes=True)

class TestTwice:
    def test_it(self, pypto_snapshot):
        assert pypto_snapshot == doubled
        assert pypto_snapshot == doubled.specialize()
"""
RUNS = """
import torch
from golden import TensorSpec
from kernels import doubled

def specs():
    x, out = TensorSpec("x", [16, 32], torch.float32), TensorSpec("out", [16, 32], torch.float32, None, True)
    return [x, out]

def test_good(pypto_run):
    def golden(t):
        t["out"][:] = t["x"] * 2
    assert pypto_run(doubled, specs(), golden).passed
    assert pypto_run(doubled.specialize(), specs(), golden, rtol=1e-6).passed

def test_bad(pypto_run):
    def golden(t):
        t["out"][:] = t["x"] * 3
    pypto_run(doubled, specs(), golden)
"""
SWAPPED = """
import torch
from golden import ScalarSpec, TensorSpec
from kernels import scaled

x = TensorSpec("x", [16, 64], torch.float32)
y = TensorSpec("y", [16, 1], torch.bfloat16)
out = TensorSpec("out", [16, 64], torch.float32, None, True)

def golden(t):
    t["out"][:] = t["x"]

def test_order(pypto_run):
    pypto_run(scaled, [y, x, out], golden)

def test_order_of_a_program(pypto_run):
    tensors = [torch.empty(s.shape, dtype=s.dtype, device="meta") for s in (x, y, out)]
    pypto_run(scaled.specialize(*tensors), [x, out, y], golden)

def test_kinds(pypto_run):
    pypto_run(scaled, golden, [x, y, out])

def test_kernel(pypto_run):
    pypto_run([x, y, out], scaled, golden)
"""
SCALED = """
@pl.jit
def scaled(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scale"):
        out[:, :] = pl.mul(x[:, :], 2.0)
    return out
"""
SWAPPED_KINDS = [
    "specs is the function 'golden': it would do for 'golden_fn'; "
    "expected a list of TensorSpec and ScalarSpec",
    "golden_fn is a list of 3 (TensorSpec): it would do for 'specs'; "
    "expected a function of the tensors by name, or None",
]
SCRIPTS = [
    "test_kernels/TestTwice.test_it.2.py",
    "test_kernels/TestTwice.test_it.py",
    "test_kernels/test_bare[16].again.py",
    "test_kernels/test_bare[16].py",
    "test_kernels/test_bare[32].again.py",
    "test_kernels/test_bare[32].py",
    "test_kernels/test_doubled.py",
]


@pytest.fixture
def folder(pytester, monkeypatch):
    """A user's folder with kernels that import PyPTO, and their tests."""
    for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
        monkeypatch.delenv(name, raising=False)
    pytester.makefile(".ini", pytest="[pytest]\npypto_imports = true\npythonpath = .\n")
    pytester.makepyfile(kernels=KERNELS, test_kernels=TESTS)
    return pytester


def run(folder, *arguments, inprocess=True):
    call = folder.runpytest_inprocess if inprocess else folder.runpytest_subprocess
    return call("-p", "pypto_tmpl.pytest_plugin", "-p", "no:cacheprovider", *arguments)


def scripts(folder):
    root = folder.path / "__pypto_snapshots__"
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))


def test_snapshots_are_written_and_then_agree(folder):
    missing = run(folder)
    missing.assert_outcomes(failed=4)
    missing.stdout.fnmatch_lines(
        [
            "*there is no snapshot __pypto_snapshots__/test_kernels/test_doubled.py",
            "*accept it by: pytest test_kernels.py::test_doubled --snapshot-update",
        ]
    )
    updated = run(folder, "--snapshot-update")
    updated.assert_outcomes(passed=4)
    updated.stdout.fnmatch_lines(["*pypto snapshots*", "0 passed, 7 written"])
    assert scripts(folder) == SCRIPTS
    again = run(folder)
    again.assert_outcomes(passed=4)
    again.stdout.fnmatch_lines(["7 passed"])
    text = (folder.path / "__pypto_snapshots__" / SCRIPTS[-1]).read_text()
    assert "def " in text and "_check_tensor(" not in text
    assert "_check_tensor(" in (folder.path / "__pypto_snapshots__" / SCRIPTS[2]).read_text()


def test_a_failure_shows_the_program_part_and_the_command(folder):
    run(folder, "--snapshot-update")
    (folder.path / "kernels.py").write_text(KERNELS.replace("pl.mul(x[:, :], 3.0)", "pl.mul(x[:, :], 4.0)"))
    sys.modules.pop("kernels", None)
    result = run(folder)
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*the program of the snapshot __pypto_snapshots__/test_kernels/test_bare[[]16].py differs*",
            "*accept it by: pytest 'test_kernels.py::test_bare[[]16]' --snapshot-update",
            "--- committed",
            "+++ emitted now",
            "-*3.0*",
            "+*4.0*",
        ]
    )
    result.stdout.no_fnmatch_line("*Run-time helpers*")


def test_a_difference_of_helpers_alone_is_told_as_such(folder):
    run(folder, "--snapshot-update")
    script = folder.path / "__pypto_snapshots__/test_kernels/test_doubled.py"
    script.write_text(script.read_text().replace("import torch", "import torch  # by hand"))
    result = run(folder)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*differs outside of the program*"])


def test_nothing_is_written_where_ci_is_set(folder, monkeypatch):
    monkeypatch.setenv("CI", "true")
    run(folder, "--snapshot-update").assert_outcomes(failed=4)
    assert scripts(folder) == []


def test_a_users_file_is_not_replaced(folder):
    place = folder.path / "__pypto_snapshots__/test_kernels/test_doubled.py"
    place.parent.mkdir(parents=True)
    place.write_text("mine\n")
    result = run(folder, "--snapshot-update")
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(["*error?not-generated?*"])
    assert place.read_text() == "mine\n"


def test_unused_snapshots_are_listed_and_removed_by_an_update(folder):
    run(folder, "--snapshot-update")
    root = folder.path / "__pypto_snapshots__"
    old = [
        root / "test_kernels/test_old.py",
        root / "test_kernels/test_doubled.gone.py",
        root / "test_gone/test_x.py",
    ]
    (root / "test_gone").mkdir()
    for path in old:
        path.write_bytes((root / SCRIPTS[-1]).read_bytes())
    (root / "test_kernels/mine.py").write_text("mine\n")
    result = run(folder)
    result.stdout.fnmatch_lines(["7 passed, 3 unused (--snapshot-details lists them)"])
    result = run(folder, "--snapshot-details")
    result.stdout.fnmatch_lines(
        [
            "unused: __pypto_snapshots__/test_gone/test_x.py",
            "unused: __pypto_snapshots__/test_kernels/test_doubled.gone.py",
            "unused: __pypto_snapshots__/test_kernels/test_old.py",
        ]
    )
    for part in (("-k", "doubled"), ("test_kernels.py::test_doubled",)):  # of a part nobody knows
        result = run(folder, "--snapshot-update", "--snapshot-details", *part)
        result.stdout.no_fnmatch_line("*test_kernels/test_old.py")
        assert all(path.exists() for path in old[:2])
    result = run(folder, "--snapshot-update", "--snapshot-details")
    result.stdout.fnmatch_lines(["removed: __pypto_snapshots__/test_kernels/test_old.py"])
    assert scripts(folder) == sorted([*SCRIPTS, "test_kernels/mine.py"])


def test_a_skipped_test_keeps_its_snapshot(folder):
    run(folder, "--snapshot-update")
    path = folder.path / "test_kernels.py"
    path.write_text(path.read_text().replace("def test_doubled", "@pytest.mark.skip\ndef test_doubled"))
    run(folder, "--snapshot-update").assert_outcomes(passed=3, skipped=1)
    assert scripts(folder) == SCRIPTS


@pytest.mark.parametrize(
    "plugins", [("other", "pypto_tmpl.pytest_plugin"), ("pypto_tmpl.pytest_plugin", "other")]
)
def test_options_of_another_plugin_hold_here_too(folder, plugins):
    """syrupy has the same options, whichever plugin is loaded first."""
    folder.makepyfile(
        other="""
        def pytest_addoption(parser):
            group = parser.getgroup("other")
            group.addoption("--snapshot-update", action="store_true", dest="update_snapshots")
            group.addoption("--snapshot-details", action="store_true", dest="details")
        """
    )
    arguments = [word for name in plugins for word in ("-p", name)]
    result = folder.runpytest_inprocess(*arguments, "--snapshot-update", "--snapshot-details")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(
        ["0 passed, 7 written", "written: __pypto_snapshots__/test_kernels/test_doubled.py"]
    )


@pytest.mark.slow
def test_snapshots_among_the_workers_of_xdist(folder):
    run(folder, "--snapshot-update")
    root = folder.path / "__pypto_snapshots__/test_kernels"
    (root / "test_old.py").write_bytes((root / "test_doubled.py").read_bytes())
    (root / "test_doubled.py").write_text("mine\n")
    (root / "test_bare[16].py").unlink()
    result = run(folder, "-n", "2", "--snapshot-update", "--snapshot-details", inprocess=False)
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        [
            "*error?not-generated?*",
            "5 passed, 1 failed, 1 written, 1 removed",
            "written: *test_bare[[]16].py",
            "removed: *test_old.py",
        ]
    )
    assert scripts(folder) == SCRIPTS


def test_kernels_run_against_their_golden_functions(folder):
    (folder.path / "test_kernels.py").unlink()
    folder.makepyfile(test_runs=RUNS)
    result = run(folder)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*does not match golden*"])
    assert not (folder.path / "build_output").exists()


@pytest.mark.parametrize("value", ["3", "doubled.specialize().functions", "pl"])
def test_what_has_no_program_is_a_type_error(folder, value):
    folder.makepyfile(
        test_kernels=f"import pypto.language as pl\nfrom kernels import doubled\n"
        f"def test_it(pypto_snapshot):\n    assert pypto_snapshot == {value}\n"
    )
    result = run(folder)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*TypeError: pypto_snapshot is compared with a value of type *"])
    result.stdout.no_fnmatch_line("*fixture.py*")  # the line of the test is what to look at


def test_loading_the_plugin_imports_no_torch():
    code = (
        "import sys, pytest, pypto_tmpl.pytest_plugin\n"
        "print(sorted({'torch', 'numpy', 'jinja2', 'msgspec', 'pypto_tmpl.ir'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_swapped_arguments_are_told_with_what_was_expected(folder):
    folder.makepyfile(kernels=KERNELS + SCALED, test_kernels=SWAPPED)
    result = run(folder)
    result.assert_outcomes(failed=4)
    misplaced = "parameter 'x' gets bfloat16[16, 1] of spec 'y'; expected float32[16, 64]"
    lines = [
        "arguments: the specs are not in the order of the parameters of 'scaled'",
        f"   = {misplaced}",
        "   = parameter 'y' gets float32[16, 64] of spec 'x'; expected bfloat16[16, 1]",
        "   = parameter 'y' gets float32[16, 64] of spec 'out'; expected bfloat16[16, 1]",
        "   = parameter 'out' gets bfloat16[16, 1] of spec 'y'; expected float32[16, 64]",
        "arguments: wrong kind of argument for 'specs' and 'golden_fn'",
        *(f"   = {text}" for text in SWAPPED_KINDS),
        "arguments: wrong kind of argument for 'kernel' and 'specs'",
    ]
    found = result.stdout.lines
    assert [line for line in lines if line not in found] == []
