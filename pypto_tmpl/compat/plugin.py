"""The pytest plugin: imports are answered before the first conftest file is imported."""

from pypto_tmpl.compat.imports import install


def pytest_load_initial_conftests() -> None:
    """Answer the imports of the test run."""
    install()
