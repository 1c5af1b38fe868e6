"""The options of a script: choices of its generation that make it stricter, slower or more talkative.

A script carries nothing of an option that it was emitted without.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeAlias

from pypto_tmpl.errors import PyptoTmplError, allowed_note

OptionValue: TypeAlias = bool | float | None
_WORDS: Mapping[str, OptionValue] = {"true": True, "on": True, "false": False, "off": False, "none": None}
_STATED = re.compile(r'""".*?\nOptions: (?P<options>[^\n]+)\n""".*', re.DOTALL)


class OptionError(PyptoTmplError, ValueError):
    """An option that scripts do not have, a value that it cannot have, or a script emitted without it."""

    slug = "script-option"


@dataclass(frozen=True, slots=True)
class ScriptOptions:
    """What a script is emitted with; ``docs/options.md`` says what each of them does.

    Raises: OptionError for a value that an option cannot have.
    """

    pipe_wait_timeout_sec: float = 10
    mixed_kernel_timeout_sec: float = 30
    bounded_pipes: bool = False
    strict_leftovers: bool = False
    schedule_seed: int | None = None
    race_check: bool = False
    poison: bool = False
    packed_scales: bool = False
    source_map_file: bool = False
    storage: bool = False
    copy_yields: bool = False
    placed: bool = False
    ranks: int | None = None

    def __post_init__(self) -> None:
        for name, default in DEFAULTS.items():
            value = getattr(self, name)
            check_option(name, value)
            if isinstance(default, bool):
                object.__setattr__(self, name, bool(value))
            elif isinstance(value, float) and value.is_integer():
                object.__setattr__(self, name, int(value))  # equal options have equal texts

    def changed(self) -> dict[str, OptionValue]:
        """The options that are not as they are by default."""
        if self == EVERYTHING_OFF:
            return {}
        return {name: value for name, value in self.items() if value != DEFAULTS[name]}

    def items(self) -> Iterator[tuple[str, OptionValue]]:
        """Names and values in their order."""
        return ((name, getattr(self, name)) for name in DEFAULTS)


_FIELDS: Mapping[str, Any] = {field.name: field.default for field in fields(ScriptOptions)}
DEFAULTS: Mapping[str, OptionValue] = _FIELDS
GivenOptions: TypeAlias = ScriptOptions | Mapping[str, OptionValue] | None


def read_options(given: GivenOptions) -> ScriptOptions:
    """Options as a caller gives them; where none are given, those of the environment.

    Raises: OptionError for an option that there is not, or a value that it cannot have.
    """
    if given is None:
        return environment_options()
    if isinstance(given, ScriptOptions):
        return given
    for name in given:
        check_name(name)
    return ScriptOptions(**given)  # type: ignore[arg-type]  # its checks see to the kinds


def stored(given: GivenOptions, *, copy_yields: bool = False, placed: bool = False) -> ScriptOptions:
    """Options as a caller gives them, of a script whose tiles are views of bytes.   Raises: OptionError."""
    options = read_options(given)
    return replace(
        options,
        storage=True,
        copy_yields=copy_yields or options.copy_yields,
        placed=placed or options.placed,
    )


def environment_options() -> ScriptOptions:
    """The options that the environment sets by PYPTO_TMPL_<NAME>; an empty text is as good as none.

    Raises: OptionError for a text that is no value of its option.
    """
    texts = {name: os.environ.get(variable) for name, variable in _VARIABLES.items()}
    values = {name: parse_option(name, text, variable_of(name)) for name, text in texts.items() if text}
    return ScriptOptions(**values) if values else EVERYTHING_OFF  # type: ignore[arg-type]


def options_in(script: str) -> ScriptOptions:
    """The options that a script was emitted with, as its docstring says."""
    stated = _STATED.match(script)
    if stated is None:
        return EVERYTHING_OFF
    pairs = (text.split("=", 1) for text in stated["options"].split(", "))
    return read_options({name: ast.literal_eval(value) for name, value in pairs})


def variable_of(name: str) -> str:
    """The environment variable of an option."""
    return f"PYPTO_TMPL_{name.upper()}"


_VARIABLES: Mapping[str, str] = {name: variable_of(name) for name in DEFAULTS}


def constant_of(name: str) -> str:
    """The constant that a script with an option has for it."""
    return f"_{name.upper()}"


def check_name(name: str) -> None:
    """Refuse a name that no option has.   Raises: OptionError with all names."""
    if name not in DEFAULTS:
        raise OptionError(
            f"scripts have no option {name!r}", notes=[allowed_note("options", list(DEFAULTS), name)]
        )


def check_option(name: str, value: object, where: str = "") -> None:
    """Refuse a value of another kind than an option's.   Raises: OptionError."""
    default = DEFAULTS[name]
    if isinstance(default, bool):
        fits, wanted = value in (True, False), "true or false"
    elif default is None:
        fits, wanted = value is None or type(value) is int, "an integer or none"
    else:
        fits, wanted = isinstance(value, int | float) and value > 0, "a number of seconds above 0"
    if not fits:
        raise OptionError(f"option {name!r} is {wanted}, not {value!r}", where=where)


def parse_option(name: str, text: str, where: str = "") -> OptionValue:
    """The value that a text such as ``1``, ``true`` or ``0.5`` stands for.   Raises: OptionError."""
    value: object
    try:
        value = _WORDS[text.lower()] if text.lower() in _WORDS else ast.literal_eval(text)
    except (SyntaxError, ValueError):
        value = text
    check_name(name)
    check_option(name, value, where)
    return bool(value) if isinstance(DEFAULTS[name], bool) else value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class CommentChoice:
    """Which comments a script has: types of tiles and tensors behind what binds them, source lines above."""

    types: bool = False
    source_lines: bool = False


NO_COMMENTS = CommentChoice()
EVERYTHING_OFF = ScriptOptions()
EVERYTHING_ON = ScriptOptions(
    **{name: True for name, default in DEFAULTS.items() if default is False}, schedule_seed=0, ranks=2
)
