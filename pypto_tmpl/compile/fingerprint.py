"""Which state of the code generator made a script."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from pypto_tmpl.resources import template_root

_SOURCES = ("codegen", "ops")
_REPORTS = "report"  # templates of pages, which no script is made of


@cache
def generator_fingerprint() -> str:
    """Digest of the templates and of the code that fills them in: another one may emit another text."""
    package = Path(__file__).resolve().parent.parent
    root = template_root()
    files = [path for path in root.rglob("*") if path.is_file() and root / _REPORTS not in path.parents]
    files += [path for name in _SOURCES for path in (package / name).glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
