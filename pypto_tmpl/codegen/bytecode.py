"""Where compiled templates are kept between runs; going without is always an option."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

_FORM = 2  # of compiled templates: counts up when they are compiled, or their filters called, another way


class TolerantBytecodeCache(jinja2.FileSystemBytecodeCache):
    """A bytecode cache whose unreadable or unwritable files cost time only."""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read a compiled template; a file that is cut short or foreign counts as absent."""
        try:
            super().load_bytecode(bucket)
        except Exception:  # unpickling foreign bytes raises anything
            bucket.reset()

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template if the folder takes it."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def bytecode_cache(folder: Path | None = None) -> TolerantBytecodeCache | None:
    """The cache in ``folder``, by default the user's; none where the folder cannot be made."""
    try:
        folder = folder or user_cache_folder() / f"jinja-{jinja2.__version__}-{_FORM}"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # RuntimeError: no home folder
        return None
    return TolerantBytecodeCache(str(folder)) if os.access(folder, os.W_OK) else None


def user_cache_folder() -> Path:
    """The folder for files of this project that may be deleted at any time."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"], "pypto_tmpl")
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"], "pypto_tmpl", "Cache")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pypto_tmpl"
    return Path.home() / ".cache" / "pypto_tmpl"
