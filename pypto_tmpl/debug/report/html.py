"""What pages have in common: templates that escape, styles and scripts inside, and a strict policy."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pypto_tmpl.overlays import all_folders

FOLDER = "report"


def rendered(
    template: str,
    data: Mapping[str, Any],
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    template_dirs: Sequence[Path] = (),
    **facts: Any,
) -> str:
    """The HTML of a page that needs nothing else, from files of the folder of reports.

    The template gets ``data`` as JSON that its script reads, its ``script``, its ``style``, the ``policy``
    that admits just these two, and ``facts``. Templates in ``template_dirs`` come first.
    """
    environment = _environment(all_folders(template_dirs))
    script, style = _joined(environment, scripts), _joined(environment, styles)
    return environment.get_template(f"{FOLDER}/{template}").render(
        data=Markup(json_in_html(data)),
        script=Markup(script),
        style=Markup(style),
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}",
        **facts,
    )


def _environment(folders: Sequence[Path]) -> jinja2.Environment:
    """Unlike that of scripts, it escapes whatever is not marked as markup."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )


def _joined(environment: jinja2.Environment, names: Sequence[str]) -> str:
    """Files as one text, framed by line ends; their own text is not a template."""
    assert environment.loader is not None
    parts = [environment.loader.get_source(environment, f"{FOLDER}/{name}")[0] for name in names]
    return "\n" + "\n".join(part.strip("\n") for part in parts) + "\n"


def _digest(text: str) -> str:
    """The source that the page's own policy allows: text with this digest, and nothing else."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def json_in_html(data: Mapping[str, Any]) -> str:
    """JSON that no HTML parser sees a tag or comment in, and that JavaScript reads as it is."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "backslashreplace").decode()
