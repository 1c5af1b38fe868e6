"""Formatting scripts that are written or shown, with one black version in one mode."""

from __future__ import annotations

from functools import lru_cache

from pypto_tmpl.errors import PyptoTmplError

LINE_LENGTH = 100


class FormatError(PyptoTmplError, ValueError):
    """black refuses the text: a template made something that is no Python."""

    slug = "format"


@lru_cache(maxsize=256)
def format_script(text: str, line_length: int = LINE_LENGTH) -> str:
    """``text`` as black formats it; formatter settings of the user or of a project folder do not count.

    Raises: FormatError naming the line that is no Python.
    """
    import black
    from black.mode import TargetVersion
    from black.parsing import InvalidInput

    mode = black.Mode(target_versions={TargetVersion.PY311}, line_length=line_length)
    try:
        return black.format_str(text, mode=mode)
    except InvalidInput as error:
        raise FormatError(f"the emitted text is no Python: {error}") from error
