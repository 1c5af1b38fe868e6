"""The debug options of emitted scripts: what there is, and setting them from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pypto_tmpl.codegen.options import (
    DEFAULTS,
    EVERYTHING_ON,
    OptionError,
    OptionValue,
    check_name,
    check_option,
    constant_of,
    parse_option,
    variable_of,
)
from pypto_tmpl.codegen.preamble import Variant, load_preamble

__all__ = ["OptionError", "ScriptOption", "script_options", "set_options", "set_options_of_later_scripts"]


@dataclass(frozen=True, slots=True)
class ScriptOption:
    """An option of scripts: its name, how scripts are without it, and what it does."""

    name: str
    default: OptionValue
    meaning: str

    @property
    def variable(self) -> str:
        """The environment variable that sets it for scripts that are emitted."""
        return variable_of(self.name)


def script_options() -> Mapping[str, ScriptOption]:
    """All options by name; what they do stands at their constants among the run-time helpers."""
    helpers = load_preamble(variant=Variant(EVERYTHING_ON)).helpers
    return {
        name: ScriptOption(name, default, _comment(helpers[constant_of(name)].text))
        for name, default in DEFAULTS.items()
    }


def _comment(text: str) -> str:
    return " ".join(line[2:] for line in text.splitlines() if line.startswith("# "))


def set_options(namespace: Mapping[str, Any], **values: Any) -> None:
    """Set debug options of a script that has been executed, which it must have been emitted with.

    A timeout can be set where the script waits. All of the values are set or none.
    Raises: OptionError for an option that there is not, or that the script was emitted without, or a value
    that it cannot have.
    """
    for name, value in values.items():
        check_name(name)
        check_option(name, value)
        if constant_of(name) not in namespace:
            raise OptionError(f"the script was emitted without the option {name!r}", notes=[_remedy(name)])
    for name, value in values.items():
        namespace[constant_of(name)] = value  # type: ignore[index]


def _remedy(name: str) -> str:
    if DEFAULTS[name] is not None and not isinstance(DEFAULTS[name], bool):
        return "it has no lanes that wait"
    value = 0 if DEFAULTS[name] is None else True
    return f"emit it with torch_codegen(..., options={{{name!r}: {value}}}), or gen --option {name}={value}"


@contextmanager
def options_of_scripts(**values: OptionValue) -> Iterator[None]:
    """Let scripts that are emitted inside the block have options; those of None are left as they are."""
    texts = {
        variable_of(name): str(int(v) if v is True else v) for name, v in values.items() if v is not None
    }
    before = {variable: os.environ.get(variable) for variable in texts}
    os.environ.update(texts)
    try:
        yield
    finally:
        for variable, text in before.items():
            if text is None:
                del os.environ[variable]
            else:
                os.environ[variable] = text


def set_options_of_later_scripts(texts: Mapping[str, str]) -> None:
    """Set options, given as texts, for scripts emitted from now on, also in workers: by the environment.

    Raises: OptionError for an option that there is not, or a value that it cannot have.
    """
    values = {name: parse_option(name, text) for name, text in texts.items()}
    for name, value in values.items():
        os.environ[variable_of(name)] = "" if value is None else str(int(value) if value is True else value)
