"""What stops the emission of a kernel, said with function, variable and source line."""

from __future__ import annotations

from pypto_tmpl import ir
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.errors import PyptoTmplError


class PtoError(PyptoTmplError, ValueError):
    """A kernel that no ``.pto`` text can be made of; ``found`` lists what stands in the way."""

    slug = "pto"

    def __init__(self, found: tuple[Unsupported, ...] = ()) -> None:
        noun = "thing" if len(found) == 1 else "things"
        super().__init__(f"{len(found)} {noun} cannot become .pto text", notes=[str(item) for item in found])
        self.found = found

    def __reduce__(self) -> tuple[type[PtoError], tuple[tuple[Unsupported, ...]]]:
        return type(self), (self.found,)


class Obstacle(Exception):
    """Raised where the text of a statement cannot be made; the function and the variable are added above."""

    def __init__(self, what: str, span: ir.Span | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.span = span
        self.variable = ""
