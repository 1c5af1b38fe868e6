"""The template folders: which file stands for which name, and its text with plain line ends."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pypto_tmpl.errors import Location, PyptoTmplError, shown_path

HELPER_MARKER = re.compile(r"\{#-?\s*helper:\s*(?P<name>\w+)(?P<rest>.*?)-?#\}", re.DOTALL)
_IDENTIFIER = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


class SourceFileError(PyptoTmplError, ValueError):
    """A file of a template folder that cannot be read as text."""

    slug = "template-file"


def read_text(path: Path) -> str:
    """The file's text; CR LF and CR line ends become LF, a byte-order mark is dropped.

    Raises: SourceFileError for a file that is not UTF-8 or cannot be read.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise SourceFileError(f"the file cannot be read: {error.strerror}", where=shown_path(path)) from None
    except UnicodeDecodeError as error:
        where = Location(path, data[: error.start].count(b"\n") + 1)
        raise SourceFileError(f"the file is not UTF-8: {error.reason}", where=str(where)) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def template_files(template_dirs: Sequence[Path], folder: str, suffix: str) -> dict[str, Path]:
    """Stem → file for ``<dir>/<folder>/*<suffix>``, by stem; of equal stems the earliest folder's wins."""
    found: dict[str, Path] = {}
    for directory in reversed(template_dirs):
        for path in (directory / folder).glob(f"*{suffix}"):
            found[path.name.removesuffix(suffix)] = path
    return dict(sorted(found.items()))


def helper_names(template_dirs: Sequence[Path]) -> frozenset[str]:
    """Names of all preamble helpers, without checking the files that hold them."""
    files = template_files(template_dirs, "preamble", ".py.jinja").values()
    return frozenset(marker["name"] for path in files for marker in HELPER_MARKER.finditer(read_text(path)))


def identifiers(text: str) -> set[str]:
    """The names that occur in ``text``, attribute names after a dot left out."""
    return set(_IDENTIFIER.findall(text))
