"""Where emitted scripts are kept, and which files are such scripts; imports little, since pytest loads it."""

from __future__ import annotations

import os
from pathlib import Path

from pypto_tmpl.generated import is_script, is_stream_text

TEST_FOLDER = "__pypto_snapshots__"  # beside test files: the scripts of tests, which are no cases


def has_mark(data: bytes) -> bool:
    """Whether a file is a script or text that was emitted."""
    return is_script(data) or is_stream_text(data)


def is_emitted(path: Path) -> bool:
    """Whether a file is a script or text with the mark of this project, and no link."""
    try:
        return not path.is_symlink() and path.is_file() and has_mark(path.read_bytes())
    except OSError:  # what cannot be read cannot be known
        return False


def remove_emitted(paths: list[Path]) -> None:
    """Remove scripts that were found to belong to nothing, and no file that has become another's since."""
    for path in paths:
        if is_emitted(path):
            path.unlink()


def in_ci() -> bool:
    """Whether the environment says that this is a CI; ``CI=false`` and the like say that it is not."""
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off", "n", "f")
