"""Sets of members of an enum, under upstream's methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Generic, Self, TypeVar

M = TypeVar("M", bound=Enum)


class MemberSet(Generic[M]):
    """A set of enum members, listed in the order of their values; it can change, so it has no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, members: Iterable[M] = ()) -> None:
        self._members = set(members)

    def insert(self, member: M) -> None:
        """Put a member in."""
        self._members.add(member)

    def remove(self, member: M) -> None:
        """Take a member out, if it is in."""
        self._members.discard(member)

    def contains(self, member: M) -> bool:
        """Whether a member is in."""
        return member in self._members

    def contains_all(self, other: Iterable[M]) -> bool:
        """Whether all members of another set are in."""
        return self._members.issuperset(other)

    def union_with(self, other: Iterable[M]) -> Self:
        """A set of the members of both."""
        return type(self)(self._members.union(other))

    def intersection(self, other: Iterable[M]) -> Self:
        """A set of what both have."""
        return type(self)(self._members.intersection(other))

    def difference(self, other: Iterable[M]) -> Self:
        """A set of what only this one has."""
        return type(self)(self._members.difference(other))

    def empty(self) -> bool:
        """Whether nothing is in."""
        return not self._members

    def to_list(self) -> list[M]:
        """The members, in the order of their values."""
        return sorted(self._members, key=lambda member: member.value)

    def __contains__(self, member: object) -> bool:
        return member in self._members

    def __iter__(self) -> Iterator[M]:
        return iter(self.to_list())

    def __len__(self) -> int:
        return len(self._members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemberSet) and self._members == other._members

    def __repr__(self) -> str:
        return f"{type(self).__name__}({{{', '.join(member.name for member in self)}}})"
