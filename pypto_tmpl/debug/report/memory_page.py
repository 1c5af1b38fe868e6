"""A page on what kernels use of the memories of their cores: addresses against statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pypto_tmpl.debug.report.html import rendered
from pypto_tmpl.generated import check_place, is_report_page, write_generated

STYLES = ("page.css", "memory.css")
SCRIPTS = (
    "elements.js",
    "theme.js",
    "memory_text.js",
    "memory_picture.js",
    "memory_view.js",
    "memory.js",
)


def check_memory_page(path: Path) -> None:
    """Refuse a place where a file of somebody else would be lost. Raises ForeignFileError."""
    check_place(path, is_report_page)


def write_memory_page(path: Path, data: Mapping[str, Any], *, title: str, backend: str) -> None:
    """Write the page, whole or not at all. Raises ForeignFileError, FileError.

    ``data`` is plain: ``kernels``, each with ``name``, ``statements`` (text and source line), ``loops`` (the
    first and last statement) and ``spaces``. These have bytes (``limit``, ``used``, ``unshared``, ``peak``)
    and ``buffers`` with ``start``, ``size``, ``first`` and ``last`` statement, and ``tiles`` with the same.
    """
    text = memory_page_text(data, title=title, backend=backend)
    write_generated(path, text.encode("utf-8", "replace"), is_report_page, make_folders=True)


def memory_page_text(data: Mapping[str, Any], *, title: str, backend: str) -> str:
    """The HTML of the page."""
    kernels = [(kernel["name"], *_fullest(kernel["spaces"])) for kernel in data["kernels"]]
    return rendered(
        "memory.html.jinja",
        data,
        styles=STYLES,
        scripts=SCRIPTS,
        title=title,
        backend=backend,
        kernels=kernels,
    )


def _fullest(spaces: Sequence[Mapping[str, Any]]) -> tuple[str, float]:
    """The memory of which the largest part is used, and that part; 0 where no limit is known."""
    shares = [(space["used"] / space["limit"], space["space"]) for space in spaces if space["limit"]]
    share, name = max(shares, key=lambda one: one[0], default=(0.0, ""))
    return name, share
