"""Which programs run on the bytes of their tiles: the choices of users, in one place."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeGuard, get_args

from pypto_tmpl.errors import allowed_note

StorageChoice: TypeAlias = Literal["planned", "on", "off", "both"]
STORAGE_CHOICES: tuple[StorageChoice, ...] = get_args(StorageChoice)
DEFAULT: StorageChoice = "both"  # values first, then bytes: each sees faults that the other does not


def check_choice(value: object) -> StorageChoice:
    """The choice that a value is. Raises ValueError for another one."""
    if not _is_choice(value):
        note = allowed_note("choices", STORAGE_CHOICES, str(value))
        raise ValueError(f"storage is {value!r}; {note}")
    return value


def _is_choice(value: object) -> TypeGuard[StorageChoice]:
    return value in STORAGE_CHOICES
