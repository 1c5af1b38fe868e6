"""Names that stand for hardware or for code that runs on it: there to be imported, not to be used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn, TypeVar

from pypto_tmpl.errors import PyptoTmplError


class RefusedError(PyptoTmplError, NotImplementedError):
    """A name of PyPTO was used for which there is nothing here."""

    slug = "refused"


def refuse(name: str, needs: str, instead: str = "", error: type[PyptoTmplError] = RefusedError) -> NoReturn:
    """Raise an error: ``name`` ``needs`` something; ``instead`` says what there is."""
    raise error(f"{name} {needs}", notes=[instead] if instead else [])


class Refused:
    """Base of classes that can be imported and asked for in ``isinstance``, and not made.

    ``needs`` says what is missing, ``instead`` what there is.
    """

    needs: ClassVar[str]
    instead: ClassVar[str] = ""
    error: ClassVar[type[PyptoTmplError]] = RefusedError

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse(type(self).__name__, self.needs, self.instead, self.error)


R = TypeVar("R", bound=Refused)


def with_members(names: str) -> Callable[[type[R]], type[R]]:
    """Give a class the members of PyPTO's, named in one text; called on the class they refuse as it does."""

    def decorate(cls: type[R]) -> type[R]:
        for name in names.split():
            setattr(cls, name, _refusing(f"{cls.__name__}.{name}", cls))
        return cls

    return decorate


def _refusing(shown: str, cls: type[Refused]) -> Callable[..., NoReturn]:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        refuse(shown, cls.needs, cls.instead, cls.error)

    return call
