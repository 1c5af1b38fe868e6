"""Imports of the harness under upstream's names."""

import importlib
import subprocess
import sys
import types

import pytest

from pypto_tmpl import compat
from pypto_tmpl import golden as ours


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """No module of that name is known before or after."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("golden", "pypto")]:
        monkeypatch.delitem(sys.modules, name)
    yield
    compat.uninstall()


def test_the_harness_is_one_module_under_both_names():
    with compat.answering():
        import golden
        from golden import RunResult, ScalarSpec, TensorSpec, ratio_allclose, run, run_jit  # noqa: F401
        from golden.runner import run as same
        from golden.spec import TensorSpec as same_spec
        from golden.validation import ratio_reldiff, topk_pair_compare, validate_golden  # noqa: F401

    assert golden is ours
    assert same is ours.run
    assert same_spec is ours.TensorSpec
    assert ours.__spec__.name == ours.__name__ == "pypto_tmpl.golden"
    assert "golden" not in sys.modules


def test_importing_a_module_leaves_the_function_of_its_name() -> None:
    """The import system would set the module in the place of the function, were it not loaded before."""
    with compat.answering():
        import pypto.debug.torch_codegen
        import pypto.ir.compile

        assert pypto.ir.compile is importlib.import_module("pypto_tmpl.compile.api").compile
        assert pypto.debug.torch_codegen is importlib.import_module("pypto_tmpl.debug").torch_codegen
        assert sys.modules["pypto.ir.compile"].compile is pypto.ir.compile


def test_every_answer_exists():
    with compat.answering():
        for name, target in compat.ANSWERED.items():
            assert importlib.import_module(name) is importlib.import_module(target)


def test_everything_the_package_exports():
    assert sorted(ours.__all__) == [
        "RunResult", "ScalarSpec", "TensorSpec", "error_distribution", "mapped_pool_ratio_allclose",
        "ratio_allclose", "ratio_reldiff", "run", "run_jit", "topk_pair_compare", "validate_golden",
    ]  # fmt: skip


def test_a_name_that_is_not_answered_says_so():
    with compat.answering():
        with pytest.raises(ModuleNotFoundError) as caught:
            importlib.import_module("golden.debugging")
        with pytest.raises(ImportError, match="nonsense"):
            from golden import nonsense  # noqa: F401
    assert str(caught.value) == (
        "pypto_tmpl does not answer the import of 'golden.debugging'; "
        "below golden it answers: golden.runner, golden.spec, golden.validation; "
        "did you mean 'golden.runner'?"
    )
    assert caught.value.name == "golden.debugging"


def test_a_folder_of_that_name_does_not_get_in_the_way(tmp_path, monkeypatch):
    (tmp_path / "golden").mkdir()
    (tmp_path / "golden/__init__.py").write_text("raise RuntimeError('theirs')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with compat.answering():
        assert importlib.import_module("golden") is ours


def test_installing_twice_and_undoing_it():
    finders = list(sys.meta_path)
    compat.install()
    compat.install()
    assert len(sys.meta_path) == len(finders) + 1
    with compat.answering():
        pass
    assert importlib.import_module("golden") is ours  # still installed
    compat.uninstall()
    assert sys.meta_path == finders


def test_other_modules_are_left_alone():
    with compat.answering(), pytest.raises(ModuleNotFoundError, match="No module named 'goldenrod'"):
        importlib.import_module("goldenrod")


IMPORTS = """
import pypto
import pypto.language as pl
import pypto.language.distributed as pld
from pypto import DataType, backend, ir
from pypto.backend import BackendType, reset_for_testing, set_backend_type
from pypto.debug import torch_codegen, validate_pass_ir_codegen_results
from pypto.ir import CompiledProgram, compile
from pypto.ir.compiled_program import CompiledProgram as same
from pypto.ir.distributed_compiled_program import DistributedConfig
from pypto.ir.instruments import make_roundtrip_instrument
from pypto.ir.pass_manager import OptimizationStrategy, PassDumpLevel, PassManager
from pypto.ir.printer import python_print
from pypto.passes import PassContext, VerificationLevel, convert_to_ssa
from pypto.pypto_core import passes
from pypto.pypto_core.passes import IRProperty, IRPropertySet
from pypto.runtime import RunConfig, execute_compiled, pto_isa_include_dir, run
"""


def test_what_kernels_and_tests_import():
    names = {}
    with compat.answering():
        exec(IMPORTS, names)
    from pypto_tmpl import ir, language, passes

    assert names["pl"] is language
    assert names["passes"] is passes
    assert names["IRProperty"] is ir.IRProperty
    assert names["PassManager"] is ir.PassManager
    assert names["ir"] is ir
    assert names["DataType"] is ir.DataType
    assert names["CompiledProgram"] is names["same"]
    assert names["DistributedConfig"](device_ids=[0, 1]).num_sub_workers == 0
    assert isinstance(names["pto_isa_include_dir"](), str)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from pypto import logs", "cannot import name 'logs'"),
        ("import pypto.ir.builder", "does not answer the import of 'pypto.ir.builder'"),
        ("from pypto.language import auto_incore", "cannot import name 'auto_incore'"),
    ],
)
def test_what_does_not_exist_is_named(statement, message):
    with compat.answering(), pytest.raises(ImportError, match=message):
        exec(statement)


def test_an_attribute_that_does_not_exist_is_named():
    with compat.answering():
        from pypto import ir

        with pytest.raises(AttributeError, match="module 'pypto_tmpl.ir' has no attribute 'nonsense'"):
            ir.nonsense  # noqa: B018


def test_packages_are_attributes_of_their_parent():
    code = (
        "from pypto_tmpl import compat; compat.install(); import pypto\n"
        "assert pypto.language.jit and pypto.ir.DataType is pypto.DataType and pypto.debug.torch_codegen\n"
        "assert pypto.passes.PassPipeline and pypto.ir.pass_manager.PassManager is pypto.ir.PassManager\n"
        "pypto.logs"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == "AttributeError: module 'pypto_tmpl' has no attribute 'logs'"


def test_the_names_are_listed():
    names = compat.answered_names()
    assert {"add", "load", "program"} <= set(names["pypto.language"])
    assert {"DT_FP32", "LogLevel", "ir", "log_info"} <= set(names["pypto"])
    assert not {"Any", "find_face"} & set(names["pypto"])
    assert {"AIC", "IRBuilder", "Var", "make_call"} <= set(names["pypto.ir"])
    assert {"PartialCodegenError", "generate"} <= set(names["pypto.backend.pto_backend"])
    assert {"window", "DistributedTensor"} <= set(names["pypto.language.distributed"])
    assert list(names) == list(compat.ANSWERED)
    assert {"jit", "program", "Tensor", "spmd"} <= set(names["pypto.language"])
    assert {"run", "run_jit"} <= set(names["golden"])
    for target, found in zip(compat.ANSWERED.values(), names.values(), strict=True):
        module = importlib.import_module(target)
        assert all(hasattr(module, name) for name in found)


def test_pypto_itself_is_left_alone(tmp_path, monkeypatch):
    (tmp_path / "pypto").mkdir()
    (tmp_path / "pypto/__init__.py").write_text("theirs = True\n")
    monkeypatch.setattr("site.getsitepackages", lambda: [str(tmp_path)])
    monkeypatch.syspath_prepend(tmp_path)
    assert compat.installed_pypto() == str(tmp_path / "pypto/__init__.py")
    assert not compat.install()
    assert importlib.import_module("pypto").theirs
    del sys.modules["pypto"]


def test_pypto_that_is_already_imported_is_left_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "pypto", types.ModuleType("pypto"))
    assert compat.installed_pypto() == "in this process"
    assert not compat.install()


def test_what_drives_several_cards_can_be_imported():
    names = {}
    with compat.answering():
        exec(
            "from pypto.ir.distributed_compiled_program import DistributedCompiledProgram as Program\n"
            "from pypto.runtime import DistributedWorker, TensorSpec\nfrom golden import TensorSpec as Own",
            names,
        )
    assert not isinstance(1, names["Program"])
    with pytest.raises(TypeError, match="DistributedWorker takes DistributedCompiledPrograms, got int"):
        names["DistributedWorker"]([1], config=None)
    assert names["TensorSpec"] is names["Own"]
