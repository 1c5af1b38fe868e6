"""From results to a file: a page that needs nothing else, or plain data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pypto_tmpl.debug.report.attached import SCRIPTS as EXTRA_SCRIPTS
from pypto_tmpl.debug.report.attached import STYLES as EXTRA_STYLES
from pypto_tmpl.debug.report.attached import Attached
from pypto_tmpl.debug.report.headline import Headline, headline
from pypto_tmpl.debug.report.html import rendered
from pypto_tmpl.debug.report.page_data import PageData, change_counts
from pypto_tmpl.debug.search.divergence import Divergence
from pypto_tmpl.debug.validate.results import Rerun, ValidationResult, jsonable
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.generated import JSON_MARK, check_place, is_record, is_report_page, write_generated

PAGE, DATA = (".html", ".htm"), ".json"
STYLES = ("page.css", "code.css", "errors.css")
SCRIPTS = ("elements.js", "code.js", "diff.js", "errors.js", "stage.js", "theme.js", "keys.js", "start.js")


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
    attached: Attached | None = None,
) -> None:
    """Write what was found, whole or not at all: a page for ``.html``, plain data for ``.json``.

    ``rerun`` gives the command for a stage and a tensor ("" for all). Texts and pictures are in the page as
    far as the results hold them (``Options.keep_for_report``). ``divergence`` says what is wrong first,
    ``notes`` are labels and texts to stand with it, ``attached`` is what a page shows besides. Templates in
    ``template_dirs`` come first.
    Raises ReportError for another name, FileError where the file cannot be written, ForeignFileError for one
    that is no report (unless the caller has just written it and does so ``again``).
    """
    if is_page(path):
        shown = attached or Attached()
        head = headline(result, rerun, divergence, [*notes, *shown.facts])
        text = page_text(result, rerun, head, title=title, template_dirs=template_dirs, attached=shown)
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
    attached: Attached | None = None,
) -> str:
    """The HTML of the page."""
    head = head or headline(result, rerun)
    shown = attached or Attached()
    data = PageData(rerun, head.marks, shown).build(result)
    has_extras = bool(data["extras"])
    rows = [stage | dict(zip(("new", "gone"), change_counts(stage), strict=True)) for stage in data["stages"]]
    return rendered(
        "page.html.jinja",
        data,
        styles=(*STYLES, *EXTRA_STYLES) if has_extras else STYLES,
        scripts=(*SCRIPTS[:-1], *EXTRA_SCRIPTS, SCRIPTS[-1]) if has_extras else SCRIPTS,
        template_dirs=template_dirs,
        title=title or shown.title or _title(result),
        headline=head,
        rows=rows,
        extras=data["extras"],
        total=result.total,
    )


def _title(result: ValidationResult) -> str:
    if not result.stages:
        return "Validation"
    stage = result.stages[0].stage
    return stage.name if result.total == 1 else f"Validation of {stage.path.parent.name}"
