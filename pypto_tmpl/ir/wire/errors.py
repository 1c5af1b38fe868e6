"""The error of the wire format, and the fault it is made of while a blob is read."""

from __future__ import annotations

from collections.abc import Iterable

from pypto_tmpl.errors import PyptoTmplError, allowed_note

LONGEST_TEXT = 1000
"""Characters of a message, or of a place, that are shown; a blob may hold names of any length."""

LONGEST_GUESS = 60
"""Characters of a name up to which a similar one is looked for."""


class WireError(PyptoTmplError, ValueError):
    """Bytes that are no IR, or IR that has no bytes.

    ``where`` is the byte offset for malformed MessagePack, else the path of the field.
    """

    slug = "wire"

    @classmethod
    def of(cls, slug: str, what: str, where: str, notes: Iterable[str] = ()) -> WireError:
        """An error whose texts are no longer than can be read."""
        return cls(clipped(what), slug=slug, where=clipped(where), notes=notes)


def clipped(text: str) -> str:
    """``text``, its middle left out when it is long."""
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f"{text[:half]} ... {text[-half:]}"


def allowed(title: str, names: Iterable[str], wrong: object) -> str:
    """A note of what may stand in place of ``wrong``, with the name it was most likely meant to be."""
    guessable = wrong if isinstance(wrong, str) and len(wrong) <= LONGEST_GUESS else ""
    return allowed_note(title, list(names), guessable)


class Fault(Exception):
    """What is wrong in one decoded map; the reader adds where that map is and raises a WireError.

    ``steps`` lead from the map to the faulty value, innermost first.
    """

    def __init__(self, slug: str, what: str, *steps: str, notes: Iterable[str] = ()) -> None:
        super().__init__(what)
        self.slug = slug
        self.what = what
        self.steps = list(steps)
        self.notes = tuple(notes)

    def inside(self, step: str) -> Fault:
        """The same fault, seen from one level further out."""
        self.steps.append(step)
        return self


def wrong_kind(expected: str, value: object, *steps: str) -> Fault:
    """A fault saying what stands where ``expected`` should."""
    return Fault("wire-wrong-kind", f"expected {expected}, got {kind_name(value)}", *steps)


def with_article(name: str) -> str:
    """A class name as it stands in a sentence."""
    return f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}"


_KIND_NAMES: dict[type, str] = {
    type(None): "nil",
    bool: "a bool",
    int: "an integer",
    float: "a float",
    str: "a str",
    bytes: "a bin",
    list: "a list",
    dict: "a map",
}


def kind_name(value: object) -> str:
    """What MessagePack calls the kind of a decoded value."""
    return _KIND_NAMES.get(type(value), "an extension")
