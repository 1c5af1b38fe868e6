"""The site of the documentation, made by Sphinx: make docs.

Pages are the Markdown files of this folder, as they read in the repository. README, CHANGELOG and
CONTRIBUTING, which stand above it, become pages too; links to other files become their names.
"""

from __future__ import annotations

import posixpath
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parent.parent
TOP_PAGES = {"index": "README.md", "changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>[^)#\s:]+)(?P<anchor>#[^)]*)?\)")
_CODE = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)

project = "pypto_tmpl"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = "pypto_tmpl"
html_copy_source = False
myst_heading_anchors = 4
autodoc_member_order = "alphabetical"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 100
highlight_language = "text"


def read_page(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the files that stand above this folder into their pages, and let links lead to pages."""
    folder = f"docs/{posixpath.dirname(page)}"
    if page in TOP_PAGES:
        folder = ""
        source[0] = (ROOT / TOP_PAGES[page]).read_text(encoding="utf-8") + "\n" + source[0]
    parts = _CODE.split(source[0])  # every second part is code
    source[0] = "".join(
        part if number % 2 else _LINK.sub(lambda link: _linked(link, folder, page), part)
        for number, part in enumerate(parts)
    )


def _linked(link: re.Match[str], folder: str, page: str) -> str:
    """A link as it is seen from its page. Raises ExtensionError where there is no such file."""
    path = posixpath.normpath(posixpath.join(folder, link["target"]))
    if not (ROOT / path).exists():
        raise ExtensionError(f"{page}: it links to {path!r}, and there is no such file")
    pages = {file: f"{name}.md" for name, file in TOP_PAGES.items()}
    target = pages.get(path)
    if target is None and path.startswith("docs/") and path.endswith(".md"):
        target = path.removeprefix("docs/")
    if target is None:
        return link["text"] if link["text"].startswith("`") else f"{link['text']} (`{path}`)"
    return (
        f"[{link['text']}]({posixpath.relpath(target, posixpath.dirname(page) or '.')}{link['anchor'] or ''})"
    )


def skip_names_of_others(
    app: Sphinx, kind: str, name: str, item: object, skip: bool, options: Any
) -> bool | None:
    """Leave out what a package only shows: the IR's classes stand on the page of the IR alone."""
    home = getattr(item, "__module__", None) or ""
    return True if app.env.docname != "api/ir" and home.startswith("pypto_tmpl.ir.") else None


def part_terms(app: Sphinx, kind: str, name: str, item: object, options: Any, lines: list[str]) -> None:
    """Part lines with a hanging indent by blank lines: in the source they read as a list without that."""
    for number in range(len(lines) - 1, 0, -1):
        above, line = lines[number - 1], lines[number]
        if above.startswith(" ") and line[:1] not in ("", " "):
            lines.insert(number, "")


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls first."""
    for page in (ROOT / "docs/api").glob("*.md"):
        module = import_module(f"pypto_tmpl.{page.stem}")
        for name in getattr(module, "__all__", ()):  # autodoc finds no names that are imported on use
            vars(module)[name] = getattr(module, name)
    app.connect("source-read", read_page)
    app.connect("autodoc-skip-member", skip_names_of_others)
    app.connect("autodoc-process-docstring", part_terms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
