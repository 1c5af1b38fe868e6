"""Where the files that are not Python modules lie."""

from functools import cache
from pathlib import Path


def is_installed() -> bool:
    """Whether the templates are package data of an installed wheel, which no command writes into."""
    return template_root().parent == Path(__file__).resolve().parent


@cache
def template_root() -> Path:
    """Return the absolute path of the templates folder.

    In a wheel it is package data (``pypto_tmpl/templates``); in a checkout, and so in an editable
    install, it stands beside the package.
    Raises: FileNotFoundError when neither place has it.
    """
    package = Path(__file__).resolve().parent
    candidates = (package / "templates", package.parent / "templates")
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    looked_in = " or ".join(str(candidate) for candidate in candidates)
    raise FileNotFoundError(f"no templates folder: expected {looked_in}; reinstall pypto-tmpl")
