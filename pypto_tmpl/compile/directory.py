"""Where builds go."""

from __future__ import annotations

import os
from datetime import datetime
from itertools import count
from pathlib import Path

from pypto_tmpl.codegen.names import identifier

BASE_VARIABLE = "PYPTO_PROG_BUILD_DIR"
DEFAULT_BASE = "build_output"


def make_build_directory(program: str, output_dir: Path | None = None) -> Path:
    """Create the directory of a build and return its absolute path.

    It is ``output_dir``, which may exist, or ``<base>/<program>_<YYYYmmdd_HHMMSS>``, which is always a new
    one: a second build of the same second gets ``_2``. The base is PYPTO_PROG_BUILD_DIR if set, else
    ``build_output`` in the working directory.
    """
    if output_dir is not None:
        output_dir.mkdir(parents=True, exist_ok=True)
        return output_dir.resolve()
    base = Path(os.environ.get(BASE_VARIABLE) or DEFAULT_BASE)
    base.mkdir(parents=True, exist_ok=True)
    stem = f"{identifier(program)}_{datetime.now():%Y%m%d_%H%M%S}"
    for number in count(1):
        build = base / (stem if number == 1 else f"{stem}_{number}")
        try:
            build.mkdir()
        except FileExistsError:
            continue
        return build.resolve()
    raise AssertionError("unreachable")
