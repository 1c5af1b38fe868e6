"""What the package offers, and what it does not import for it."""

import subprocess
import sys

import pytest

import pypto_tmpl.debug


def test_every_name_is_there():
    for name in pypto_tmpl.debug.__all__:
        assert getattr(pypto_tmpl.debug, name).__name__ == name or name == "Comparator"
    assert set(pypto_tmpl.debug.__all__) == {
        *pypto_tmpl.debug._HOMES,
        "emit_script",
        "torch_codegen",
        "TraceSelection",
    }
    with pytest.raises(AttributeError, match="module 'pypto_tmpl.debug' has no attribute 'unheard_of'"):
        _ = pypto_tmpl.debug.unheard_of


def test_emitting_a_script_imports_no_torch():
    code = "import sys; from pypto_tmpl.debug import torch_codegen; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
