"""``--option NAME[=VALUE]``: options of the scripts that a command emits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pypto_tmpl.codegen.options import ScriptOptions

_Command = TypeVar("_Command", bound=Callable[..., Any])


def script_option(command: _Command) -> _Command:
    """Give a command the option; it gets the texts as ``script_options``."""
    return click.option(
        "--option",
        "script_options",
        multiple=True,
        metavar="NAME[=VALUE]",
        help="Debug option of the scripts (see `pypto-tmpl options`). May be given several times.",
    )(command)


def given_options(texts: tuple[str, ...]) -> ScriptOptions:
    """The options of the environment, and the given ones instead of those.   Raises: OptionError."""
    from pypto_tmpl.codegen.options import environment_options, parse_option, read_options

    values = {name: parse_option(name, text) for name, text in _pairs(texts)}
    return read_options({**environment_options().changed(), **values})


def set_script_options(texts: tuple[str, ...]) -> None:
    """Set options for all scripts that are emitted from now on, by the environment.   Raises: OptionError."""
    from pypto_tmpl.execution.options import set_options_of_later_scripts

    set_options_of_later_scripts(dict(_pairs(texts)))


def _pairs(texts: tuple[str, ...]) -> list[tuple[str, str]]:
    """Names and values; a name alone switches its option on."""
    parts = (text.partition("=") for text in texts)
    return [(name, value if equals else "true") for name, equals, value in parts]
