"""The backend of the process."""

import pytest

from pypto_tmpl import backend
from pypto_tmpl.backend import BackendType


@pytest.fixture(autouse=True)
def fresh():
    backend.reset_for_testing()
    yield
    backend.reset_for_testing()


def test_a_backend_is_chosen_once():
    assert not backend.is_backend_configured()
    with pytest.raises(ValueError, match="Backend type not configured"):
        backend.get_backend_type()
    backend.set_backend_type(BackendType.Ascend950)
    backend.set_backend_type(BackendType.Ascend950)
    assert backend.get_backend_type() is BackendType.Ascend950
    message = "Backend type already set to Ascend950, cannot change to Ascend910B"
    with pytest.raises(ValueError, match=message):
        backend.set_backend_type(BackendType.Ascend910B)
    backend.reset_for_testing()
    assert not backend.is_backend_configured()


def test_what_is_no_backend():
    with pytest.raises(TypeError, match="a backend is one of BackendType.Ascend910B, BackendType.Ascend950"):
        backend.set_backend_type("Ascend910B")
