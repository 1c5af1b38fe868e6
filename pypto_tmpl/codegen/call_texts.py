"""Texts that macros have made of calls, for calls that are the same in all that their macros have asked for.

Programs have many calls that are alike, the stages of one program most of all. What every macro is told of a
call is its key; the rest is worked out when a macro asks, and the answers tell calls of one key apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Key: TypeAlias = tuple[Hashable, ...]
Question: TypeAlias = tuple[str, int]  # a fact, and the position of the operand that it is one of

MAX_TEXTS = 8192  # kept at a time: some megabytes


@dataclass(slots=True)
class Asked:
    """A macro asks this next: what it has made, or asks then, by the answer."""

    question: Question
    after: dict[Hashable, Asked | str] = field(default_factory=dict)

    def told(self, answer: Callable[[Question], Hashable]) -> str | None:
        """The text of a call that gives these answers, None where no macro has got them."""
        found = self.after.get(answer(self.question))
        while isinstance(found, Asked):
            found = found.after.get(answer(found.question))
        return found


class CallTexts:
    """The texts of calls by their keys, and by questions and answers in the order in which macros ask."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Asked | str] = {}
        self._count = 0

    def find(self, key: Key) -> Asked | str | None:
        """The text of calls of a key, or what has to be asked first; None where no macro has made one."""
        return self._known.get(key)

    def keep(self, key: Key, answers: Mapping[Question, Hashable], text: str) -> None:
        """Note what a macro has made of a call, after it has got these answers, in this order."""
        step: Hashable
        if self._count >= MAX_TEXTS:
            self._known.clear()
            self._count = 0
        self._count += 1
        place, step = self._known, key
        for question, given in answers.items():
            asked = place.setdefault(step, Asked(question))
            if isinstance(asked, str) or asked.question != question:
                return  # it asks for something else than it did, so that nothing tells what it does now
            place, step = asked.after, given
        place[step] = text
