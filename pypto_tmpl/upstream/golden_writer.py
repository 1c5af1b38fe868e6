"""Files for the test runner of a device (``pypto.runtime.golden_writer``), which is not here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from pypto_tmpl.runtime.refusals import refuse
from pypto_tmpl.upstream.tensor_spec import SCALAR_CTYPE_MAP, ScalarSpec, TensorSpec

_NEEDS = "writes golden.py for the test runner of a device, which is not here"
_INSTEAD = "golden.run(..., save_data=True) keeps inputs and goldens in data/, golden_data= reads them"


def generate_golden_source(
    tensor_specs: list[TensorSpec],
    golden_fn: Callable[..., Any] | None,
    rtol: float,
    atol: float,
    *,
    compute_golden_src: str | None = None,
    scalar_specs: list[ScalarSpec] | None = None,
    data_dir: Path | None = None,
    use_data_files: bool = False,
) -> NoReturn:
    """Refused: nothing here reads such a file."""
    refuse("generate_golden_source", _NEEDS, _INSTEAD)


def write_golden(
    tensor_specs: list[TensorSpec],
    golden_fn: Callable[..., Any],
    output_path: Path,
    rtol: float = 1e-05,
    atol: float = 1e-05,
    scalar_specs: list[ScalarSpec] | None = None,
    data_dir: Path | str | None = None,
) -> NoReturn:
    """Refused: nothing here reads such a file."""
    refuse("write_golden", _NEEDS, _INSTEAD)


__all__ = ["SCALAR_CTYPE_MAP", "generate_golden_source", "write_golden"]
