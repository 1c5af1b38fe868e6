"""What of a script's text is code."""

from __future__ import annotations

import re
from functools import lru_cache

# Comments and strings. What begins with one of a few characters is found fast; which it was is asked then.
_SAID = re.compile(
    r"""["'\#](?:(?<=\#)[^\n]*
    | (?<=")(?:""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3} | [^"\\\n]*(?:\\.[^"\\\n]*)*")
    | (?<=')(?:''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'{3} | [^'\\\n]*(?:\\.[^'\\\n]*)*'))""",
    re.VERBOSE | re.DOTALL,
)
# Of a string with code in it.
_MAY_HOLD_CODE = re.compile(r"""["'](?:(?<=[fF]["'])|(?<=[fF].["']))""", re.DOTALL)


@lru_cache(maxsize=512)
def code_in(text: str) -> str:
    """A text without its comments, and with empty strings in the place of those in which no code stands."""
    return _SAID.sub(_without_saying if _MAY_HOLD_CODE.search(text) else "''", text)


def _without_saying(found: re.Match[str]) -> str:
    """Nothing in the place of a comment or string, but a string with code in it stays."""
    start = found.start()
    has_code = found[0][0] != "#" and "f" in found.string[max(start - 2, 0) : start].lower()
    return found[0] if has_code else "''"
