"""The reference of all ops, generated from the op table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from pypto_tmpl.cli.ops_text import driver, layout, orchestration, pto, region, sample_texts, signature, state
from pypto_tmpl.ops import OpEntry, OpTable
from pypto_tmpl.ops.signatures import call_of

_HEAD = """\
<!-- Generated from templates/ops/ by `pypto-tmpl ops docs --write`; changes made here are lost. -->

# Ops

Every registered op: what it takes, for which element dtypes its text is right, which valid region its
result has, and the text emitted for its samples (operands stand under their own names; what they do
not tell of the result is in angle brackets). A *no-op* leaves no text in a script; a *refused* op
stops generation with the reason.
"""


def ops_page(table: OpTable, template_dirs: Sequence[Path] | None) -> str:
    """The whole page."""
    lines = [_HEAD]
    for namespace, entries in groupby(sorted(table.values(), key=_order), key=lambda entry: entry.namespace):
        lines.append(f"## {namespace}\n")
        for entry in entries:
            lines += _section(table, entry, template_dirs)
    return "\n".join(lines)


def _order(entry: OpEntry) -> tuple[str, str]:
    return entry.namespace, entry.name


def _section(table: OpTable, entry: OpEntry, template_dirs: Sequence[Path] | None) -> Iterator[str]:
    mark = "" if entry.is_executable else f" ({state(entry)})"
    yield f"### {entry.name}{mark}\n\n`{signature(entry)}`\n\n{_one_line(entry.summary)}\n"
    call = call_of(entry)
    facts = {
        "Refused": entry.refused,
        "Dtypes": ", ".join(entry.dtypes) if entry.is_executable else None,
        "Region": region(entry) if entry.is_executable else None,
        "Writes": ", ".join(entry.writes),
        "Is operand": entry.returns,
        "Workspace": ", ".join(operand.name for operand in entry.operands if operand.scratch),
        "Written": ", ".join(f"`{name}`" for name in entry.dsl),
        "Called with": " or ".join(f"`({text})`" for text in call.signature) if entry.dsl else None,
        "Must hold": ", ".join(f"`{requirement}`" for requirement in call.requires),
        "Becomes": ", ".join(f"`{name}`" for name in entry.lowered_names),
        "In `.pto`": pto(entry),
        "Tiles lie": layout(entry),
        "In orchestration": orchestration(entry),
        "In the driver": driver(entry),
        "Formerly": ", ".join(f"`{name}`" for name in entry.aliases),
        "Notes": entry.notes,
        "Unverified": entry.unverified,
    }
    listed = [f"- {title}: {_one_line(fact)}" for title, fact in facts.items() if fact]
    if listed:
        yield "\n".join(listed) + "\n"
    if entry.is_executable and entry.samples:
        shown = [
            f"# {sample}\n{text}" if sample else text
            for sample, text in sample_texts(table, entry, template_dirs)
        ]
        yield "```python\n" + "\n".join(shown) + "\n```\n"


def _one_line(text: str) -> str:
    return " ".join(text.split())
