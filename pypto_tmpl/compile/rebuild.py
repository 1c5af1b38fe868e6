"""Making the C++ of a build again from ``.pto`` texts that were edited since."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from pypto_tmpl.backend import BackendType, facts_of
from pypto_tmpl.compile.assembler import Assembler, PtoasNotFoundError, find_ptoas
from pypto_tmpl.compile.streams import PTOAS
from pypto_tmpl.files import write_text
from pypto_tmpl.runtime.manifest import Manifest
from pypto_tmpl.streams.orchestration import own_part

VARIABLE = "PYPTO_REBUILD_FROM_PTO"
_BETWEEN = re.compile(
    r"(?<=// --- ptoas-generated code ---\n).*?(?=// --- Kernel entry point ---\n)", re.DOTALL
)


def rebuild_from_texts(build: Path, manifest: Manifest) -> Manifest:
    """Assemble the texts that are newer than their C++, and put that into the entries of their kernels.

    Nothing is done without an assembler, or where PYPTO_REBUILD_FROM_PTO says so. Returns the manifest, which
    is written where a file has changed. Raises PtoasError for a text that the assembler refuses.
    """
    texts = [path for path in sorted(build.rglob(f"{PTOAS}/*.pto")) if _is_newer(path)]
    if not texts or os.environ.get(VARIABLE, "").strip().lower() in ("0", "false", "no"):
        return manifest
    try:
        assembler = Assembler(find_ptoas(), facts_of(BackendType[manifest.backend]).ptoas_flags)
    except PtoasNotFoundError:
        return manifest
    for text in texts:
        made = assembler.run(text)
        for path in (text, made, *_entered(text.parent.parent, own_part(made.read_text(encoding="utf-8")))):
            manifest = manifest.with_file(build, path.relative_to(build).as_posix())
    manifest.write(build)
    return manifest


def _is_newer(text: Path) -> bool:
    made = text.with_suffix(".cpp")
    return not made.is_file() or text.stat().st_mtime_ns > made.stat().st_mtime_ns


def _entered(folder: Path, body: str) -> Iterator[Path]:
    """The entries of kernels that are in a unit, with its code written into them.

    The folder is that of a build, or of one chip of a build for several.
    """
    for path in sorted((folder / "kernels").glob("*/*.cpp")):
        if re.search(rf"\bvoid\s+{re.escape(path.stem)}\s*\(", body):
            before = path.read_text(encoding="utf-8")
            write_text(path, _BETWEEN.sub(lambda _: f"{body}\n\n", before, count=1))
            yield path
