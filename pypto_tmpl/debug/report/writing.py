"""From results to a file: a page that needs nothing else, or plain data."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from pypto_tmpl.debug.report.headline import Headline, headline
from pypto_tmpl.debug.report.page_data import PageData, change_counts
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult, jsonable
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import JSON_MARK, check_place, is_record, is_report_page, write_generated
from pypto_tmpl.overlays import all_folders

PAGE, DATA = (".html", ".htm"), ".json"
FOLDER = "report"
STYLES = ("page.css", "code.css", "errors.css")
SCRIPTS = ("elements.js", "code.js", "diff.js", "errors.js", "stage.js", "keys.js", "start.js")


class ReportError(PyptoTmplError, ValueError):
    """A report cannot be written in the form that its name asks for."""

    slug = "report"


def is_page(path: Path) -> bool:
    """True for the name of a page, False for that of plain data. Raises ReportError for another name."""
    if path.suffix.lower() in (*PAGE, DATA):
        return path.suffix.lower() in PAGE
    raise ReportError(f"a report is a .html or .json file, got {path.name!r}")


def check_report(path: Path) -> bool:
    """What ``is_page`` tells, before the work is done. Raises what ``write_report`` would."""
    found = is_page(path)
    check_place(path, is_report_page if found else is_record)
    return found


def write_report(
    path: Path,
    result: ValidationResult,
    rerun: Rerun,
    *,
    title: str = "",
    divergence: Divergence | None = None,
    notes: Sequence[tuple[str, str]] = (),
    template_dirs: Sequence[Path] = (),
    again: bool = False,
) -> None:
    """Write what was found, whole or not at all: a page for ``.html``, plain data for ``.json``.

    ``rerun`` gives the command for a stage and a tensor ("" for all). Texts and pictures are in the page as
    far as the results hold them (``Options.keep_for_report``). ``divergence`` says what is wrong first,
    ``notes`` are labels and texts to stand with it. Templates in ``template_dirs`` come first.
    Raises ReportError for another name, FileError where the file cannot be written, ForeignFileError for one
    that is no report (unless the caller has just written it and does so ``again``).
    """
    if is_page(path):
        head = headline(result, rerun, divergence, notes)
        text = page_text(result, rerun, head, title=title, template_dirs=template_dirs)
        page = text.encode("utf-8", "replace")
        write_generated(path, page, is_report_page, force=again, make_folders=True)
    else:
        found = {} if divergence is None else {"first_divergence": divergence.as_dict()}
        data = JSON_MARK | result.as_dict() | jsonable(found)
        write_generated(path, json.dumps(data, indent=1) + "\n", is_record, force=again, make_folders=True)


def page_text(
    result: ValidationResult,
    rerun: Rerun,
    head: Headline | None = None,
    *,
    title: str = "",
    template_dirs: Sequence[Path] = (),
) -> str:
    """The HTML of the page."""
    environment = _environment(all_folders(template_dirs))
    head = head or headline(result, rerun)
    data = PageData(rerun, head.marks).build(result)
    script, style = (_joined(environment, names) for names in (SCRIPTS, STYLES))
    rows = [stage | dict(zip(("new", "gone"), change_counts(stage), strict=True)) for stage in data["stages"]]
    return environment.get_template(f"{FOLDER}/page.html.jinja").render(
        title=title or _title(result),
        headline=head,
        rows=rows,
        total=result.total,
        script=Markup(script),
        style=Markup(style),
        policy=f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}",
        data=Markup(json_in_html(data)),
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


def _title(result: ValidationResult) -> str:
    if not result.stages:
        return "Validation"
    stage = result.stages[0].stage
    return stage.name if result.total == 1 else f"Validation of {stage.path.parent.name}"
