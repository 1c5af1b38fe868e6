"""Texts that are no HTML, from the templates of reports."""

from __future__ import annotations

from typing import Any

import jinja2

from pypto_tmpl.overlays import all_folders


def rendered_text(template: str, **facts: Any) -> str:
    """A text from a template, in which nothing is escaped."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(all_folders()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template(template).render(**facts)
