"""Imports of the harness under upstream's names."""

import importlib
import sys

import pytest

from pypto_tmpl import compat
from pypto_tmpl import golden as ours


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """No module of that name is known before or after."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "golden"]:
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
        "it answers: pypto, pypto.ir, pypto.language, pypto.language.distributed, "
        "golden, golden.runner, golden.spec, golden.validation"
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
