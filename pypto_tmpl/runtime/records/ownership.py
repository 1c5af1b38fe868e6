"""Which files of an earlier run may be replaced: those of the form that the records have."""

from __future__ import annotations

from pathlib import Path

from pypto_tmpl.generated import Mark, check_place, has_no_mark, is_report_page, json_in


def same_form(text: str) -> Mark:
    """Files like ``text``: a page of this project, JSON with the same keys, a table with the same columns."""
    new = json_in(text.encode())

    def is_like(data: bytes) -> bool:
        if is_report_page(text.encode()):
            return is_report_page(data)
        if not isinstance(new, dict):
            return data.split(b"\n", 1)[0] == text.encode().split(b"\n", 1)[0]
        old = json_in(data)
        return isinstance(old, dict) and old.keys() == new.keys()

    return is_like


def is_dump_index(data: bytes) -> bool:
    """The index of dumped arguments."""
    found = json_in(data)
    return isinstance(found, dict) and found.keys() >= {"run_dir", "bin_format", "bin_file", "simulated"}


def check_dump(index: Path, data: Path) -> None:
    """Refuse to dump where other files would be lost; bytes of cells are known by the index that names them.

    Raises ForeignFileError.
    """
    check_place(index, is_dump_index)
    found = json_in(index.read_bytes()) if index.is_file() else None
    if not found or found["bin_file"] != data.name:
        check_place(data, has_no_mark)
