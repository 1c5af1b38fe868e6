"""Where builds go."""

from __future__ import annotations

import os
from datetime import datetime
from itertools import count
from pathlib import Path

from pypto_tmpl.codegen.names import identifier
from pypto_tmpl.files import FileError

BASE_VARIABLE = "PYPTO_PROG_BUILD_DIR"
DEFAULT_BASE = "build_output"


def make_build_directory(program: str, output_dir: Path | None = None) -> Path:
    """Create the directory of a build and return its absolute path.

    It is ``output_dir``, which may exist, or ``<base>/<program>_<YYYYmmdd_HHMMSS>``, which is always a new
    one: a second build of the same second gets ``_2``. The base is PYPTO_PROG_BUILD_DIR if set, else
    ``build_output`` in the working directory. Raises FileError where it cannot be made.
    """
    if output_dir is not None:
        _make(output_dir, "output_dir")
        return output_dir.resolve()
    base = Path(os.environ.get(BASE_VARIABLE) or DEFAULT_BASE)
    where = BASE_VARIABLE if os.environ.get(BASE_VARIABLE) else "the working directory's"
    _make(base, where)
    stem = f"{identifier(program)}_{datetime.now():%Y%m%d_%H%M%S}"
    for number in count(1):
        build = base / (stem if number == 1 else f"{stem}_{number}")
        try:
            build.mkdir()
        except FileExistsError:
            continue
        except OSError as error:
            raise _refused(build, where, error) from None
        return build.resolve()
    raise AssertionError("unreachable")


def _make(folder: Path, where: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(folder, where, error) from None


def _refused(folder: Path, where: str, error: OSError) -> FileError:
    return FileError(
        f"the build directory {folder} cannot be made ({where}): {error.strerror or error}",
        notes=[f"set output_dir in compile_cfg, or {BASE_VARIABLE}, to where builds may go"],
    )
