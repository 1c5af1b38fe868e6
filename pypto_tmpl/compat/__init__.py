"""Running code written for PyPTO: its imports are answered with this project's modules.

``python -m pytest -p pypto_tmpl.compat`` does so for a test suite.
"""

from pypto_tmpl.compat.imports import (
    ANSWERED,
    answered_names,
    answering,
    install,
    installed_pypto,
    uninstall,
)
from pypto_tmpl.compat.plugin import pytest_load_initial_conftests
from pypto_tmpl.compat.scripts import run_script, script_result

__all__ = [
    "ANSWERED",
    "answered_names",
    "answering",
    "install",
    "installed_pypto",
    "pytest_load_initial_conftests",
    "run_script",
    "script_result",
    "uninstall",
]
