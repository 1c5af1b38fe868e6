"""Run-time helpers as plain Python: the files in templates/preamble, rendered and cut at their markers."""

import linecache
import textwrap
from pathlib import Path
from typing import Any

from pypto_tmpl.codegen.options import DEFAULTS, EVERYTHING_OFF, EVERYTHING_ON, ScriptOptions, constant_of
from pypto_tmpl.codegen.preamble import Preamble, Variant, load_preamble

FOLDER = Path(__file__).resolve().parents[2] / "templates" / "preamble"


def preamble(options: ScriptOptions = EVERYTHING_OFF, **variant: Any) -> Preamble:
    """The helpers of a script with these options."""
    return load_preamble([FOLDER.parent], Variant(options, **variant))


def read_helpers(*topics: str, options: ScriptOptions = EVERYTHING_OFF) -> dict[str, str]:
    """Texts of the helpers of the files of these topics, or of all, by name."""
    return {
        name: helper.text.strip()
        for name, helper in preamble(options).helpers.items()
        if not topics or helper.location.file.name.removesuffix(".py.jinja") in topics
    }


def all_topics() -> list[str]:
    """Topics in the order in which scripts carry them."""
    lines = (FOLDER / "ORDER").read_text(encoding="utf-8").splitlines()
    return [topic for line in lines if (topic := line.partition("#")[0].strip())]


def render(*names: str, body: str = "", options: ScriptOptions = EVERYTHING_OFF) -> str:
    """Text of a script: imports, functions, and behind them the named helpers with all that they need."""
    chosen = preamble(options).closure(names)
    head = "\n".join(f"import {module}" for module in chosen.imports)
    parts = [head, textwrap.dedent(body).strip(), *(text.strip() for text in chosen.segments)]
    return "\n\n\n".join(part for part in parts if part) + "\n"


def load(text: str, name: str) -> dict[str, Any]:
    """Execute script text under a name that tracebacks and linecache know; return its namespace."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, name, "exec"), namespace)
    return namespace


class Script:
    """A script of hand-written functions, the helpers of some topics, and what they need.

    One that is `switchable` was emitted with every option, of which none is on yet.
    """

    def __init__(
        self, topics: tuple[str, ...], body: str = "", name: str = "<script>", switchable: bool = False
    ) -> None:
        self.name = name
        options = EVERYTHING_ON if switchable else EVERYTHING_OFF
        constants = map(constant_of, DEFAULTS) if switchable else ()
        names = [*read_helpers(*topics, options=options), *constants]
        self.text = render(*names, body=body, options=options)
        self.namespace = load(self.text, name)
        for option, value in DEFAULTS.items() if switchable else ():
            self.namespace[constant_of(option)] = value

    def __getitem__(self, name: str) -> Any:
        return self.namespace[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.namespace[name] = value

    def line(self, text: str) -> str:
        """A line as reports name it, found by its text, which must stand in the script once."""
        numbers = [n for n, line in enumerate(self.text.splitlines(), 1) if line.strip() == text]
        assert len(numbers) == 1, f"{text!r} stands {len(numbers)} times in the script"
        return f"{self.name}:{numbers[0]}: {text}"
