"""Which state of the code generator made a script."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path

from pypto_tmpl.overlays import PARTS, State, all_folders, state_of

_SOURCES = ("codegen", "ops")
_REPORTS = "report"  # templates of pages, which no script is made of


def generator_fingerprint() -> str:
    """Digest of the templates in use and of the code that fills them in: with another the text may differ."""
    folders = all_folders()
    return _fingerprint(folders, state_of(folders))


@lru_cache(maxsize=4)
def _fingerprint(folders: tuple[Path, ...], state: State) -> str:
    package = Path(__file__).resolve().parent.parent
    own = folders[-1]
    files = [path for path in own.rglob("*") if path.is_file() and own / _REPORTS not in path.parents]
    files += [path for folder in folders[:-1] for part in PARTS for path in (folder / part).glob("*.*")]
    files += [path for name in _SOURCES for path in (package / name).glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
