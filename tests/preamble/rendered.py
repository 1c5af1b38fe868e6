"""Run-time helpers as plain Python: the files in templates/preamble, cut at their marker comments."""

import linecache
import re
import textwrap
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "templates" / "preamble"
MARKER = re.compile(
    r"^\{# helper: (\w+)(?:\s+needs: ([\w,\s]+?))?(?:\s+imports: ([\w,. ]+?))?\s+#\}\n", re.MULTILINE
)


def read_helpers(*topics: str) -> dict[str, tuple[list[str], list[str], str]]:
    """Helpers of the files of these topics, or of all: {name: (needs, imported modules, text)}."""
    helpers = {}
    for topic in topics or all_topics():
        _, *fields = MARKER.split((FOLDER / f"{topic}.py.jinja").read_text(encoding="utf-8"))
        for name, needs, imports, text in zip(*[iter(fields)] * 4, strict=True):
            helpers[name] = (_items(needs), _items(imports), text.strip())
    return helpers


def all_topics() -> list[str]:
    """Topics in the order in which scripts carry them."""
    lines = (FOLDER / "ORDER").read_text(encoding="utf-8").splitlines()
    return [topic for line in lines if (topic := line.partition("#")[0].strip())]


def render(helpers: dict[str, tuple[list[str], list[str], str]], *names: str) -> str:
    """Text of a script with the named helpers and all that they need, in the order of the files."""
    wanted: set[str] = set()
    rest = list(names)
    while rest:
        name = rest.pop()
        if name not in wanted:
            wanted.add(name)
            rest += helpers[name][0]
    chosen = [helper for name, helper in helpers.items() if name in wanted]
    imports = sorted({module for _, modules, _ in chosen for module in modules})
    head = "\n".join(f"import {module}" for module in imports)
    return "\n\n\n".join([head, *(text for _, _, text in chosen)]).lstrip() + "\n"


def load(text: str, name: str) -> dict[str, Any]:
    """Execute script text under a name that tracebacks and linecache know; return its namespace."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": "script"}
    exec(compile(text, name, "exec"), namespace)
    return namespace


def _items(text: str | None) -> list[str]:
    return [item.strip() for item in (text or "").split(",") if item.strip()]


class Script:
    """A script of the helpers of some topics, what they need, and hand-written functions."""

    def __init__(self, topics: tuple[str, ...], body: str = "", name: str = "<script>") -> None:
        self.name = name
        helpers = render(read_helpers(), *read_helpers(*topics))
        self.text = f"{helpers}\n\n{textwrap.dedent(body).strip()}\n"
        self.namespace = load(self.text, name)

    def __getitem__(self, name: str) -> Any:
        return self.namespace[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.namespace[name] = value

    def line(self, text: str) -> str:
        """A line as reports name it, found by its text, which must stand in the script once."""
        numbers = [n for n, line in enumerate(self.text.splitlines(), 1) if line.strip() == text]
        assert len(numbers) == 1, f"{text!r} stands {len(numbers)} times in the script"
        return f"{self.name}:{numbers[0]}: {text}"
