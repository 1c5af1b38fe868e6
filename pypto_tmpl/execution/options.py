"""The debug options of emitted scripts: what there is, and setting them from outside."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.codegen.preamble import load_preamble
from pypto_tmpl.errors import PyptoTmplError, allowed_note

_START = re.compile(r"_OPTIONS\.start\(\"(?P<name>\w+)\", (?P<default>[^)]+)\)")
_WORDS = {"true": True, "on": True, "false": False, "off": False, "none": None}


class OptionError(PyptoTmplError, ValueError):
    """An option that scripts do not have, or a value that it cannot have."""

    slug = "script-option"


@dataclass(frozen=True, slots=True)
class ScriptOption:
    """An option of scripts: its name in the record ``_OPTIONS``, and what it does."""

    name: str
    default: bool | int | None
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it when a script starts."""
        return f"PYPTO_TMPL_{self.name.upper()}"

    def parse(self, text: str) -> bool | float | None:
        """The value that a text such as ``1``, ``true`` or ``0.5`` stands for.   Raises: OptionError."""
        try:
            value = _WORDS[text.lower()] if text.lower() in _WORDS else ast.literal_eval(text)
        except (SyntaxError, ValueError):
            value = text
        self.check(value)
        return bool(value) if isinstance(self.default, bool) else value

    def check(self, value: object) -> None:
        """Refuse a value of another kind.   Raises: OptionError."""
        if isinstance(self.default, bool):
            fits, wanted = value in (True, False), "true or false"
        elif self.default is None:
            fits, wanted = value is None or type(value) is int, "an integer or none"
        else:
            fits, wanted = isinstance(value, int | float) and value > 0, "a number of seconds above 0"
        if not fits:
            raise OptionError(f"option {self.name!r} is {wanted}, not {value!r}")


def script_options() -> Mapping[str, ScriptOption]:
    """All options by name, as the run-time helpers declare them."""
    return {option.name: option for option in _declared()}


def _declared() -> Iterator[ScriptOption]:
    for helper in load_preamble().helpers.values():
        start = _START.search(helper.text)
        if start is not None and helper.name == f"_{start['name'].upper()}":
            comment = [line[2:] for line in helper.text.splitlines() if line.startswith("# ")]
            yield ScriptOption(start["name"], ast.literal_eval(start["default"]), " ".join(comment))


def find_option(name: str) -> ScriptOption:
    """The option of a name.   Raises: OptionError with all names."""
    options = script_options()
    if name not in options:
        note = allowed_note("options", list(options), name)
        raise OptionError(f"scripts have no option {name!r}", notes=[note])
    return options[name]


def set_options(namespace: Mapping[str, Any], **values: Any) -> None:
    """Set debug options of a script that has been executed; one that it has no use for has no effect.

    Raises: OptionError for an option that there is not, or a value that it cannot have.
    """
    for name, value in values.items():
        find_option(name).check(value)
    for name, value in values.items():
        if "_OPTIONS" in namespace:
            setattr(namespace["_OPTIONS"], name, value)


def set_options_of_later_scripts(texts: Mapping[str, str]) -> None:
    """Set options, given as texts, for scripts that start from now on, also in workers: by the environment.

    Raises: OptionError for an option that there is not, or a value that it cannot have.
    """
    values = {find_option(name): find_option(name).parse(text) for name, text in texts.items()}
    for option, value in values.items():
        os.environ[option.variable] = "" if value is None else str(int(value) if value is True else value)
