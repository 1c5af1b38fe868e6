"""``pypto-tmpl ops``: what the op table holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import click

from pypto_tmpl.cli.group import Settings
from pypto_tmpl.ops import OpEntry, OpTable, load_table


@click.group()
def ops() -> None:
    """Look into the op table.

    \b
    pypto-tmpl ops list --namespace tile     the tile ops
    pypto-tmpl ops show tile.matmul_acc      one op, with its macro and the text it emits
    pypto-tmpl ops status                    how many ops are executable
    pypto-tmpl ops schema --write            bring templates/op_table.schema.json up to date
    """


@ops.command("list", epilog="Example: pypto-tmpl ops list --family reduce --namespace tile")
@click.option("--family", metavar="F", help="Only the ops of this file of the table.")
@click.option("--namespace", metavar="N", help="Only the ops of this namespace, such as tile.")
@click.pass_obj
def list_ops(settings: Settings, family: str | None, namespace: str | None) -> None:
    """List the ops by name: how each is emitted, and what it does."""
    table = load_table(settings.template_dirs)
    _check_choice(family, table.families, "family")
    _check_choice(namespace, {entry.namespace for entry in table.values()}, "namespace")
    chosen = [
        entry
        for name, entry in table.items()
        if family in (None, table.family_of(name)) and namespace in (None, entry.namespace)
    ]
    width = max((len(entry.name) for entry in chosen), default=0)
    for entry in chosen:
        click.echo(f"{entry.name:<{width}}  {_state(entry):<10}  {entry.summary}")


@ops.command(epilog="Example: pypto-tmpl ops show tile.row_sum")
@click.argument("name")
@click.pass_obj
def show(settings: Settings, name: str) -> None:
    """Show one op: its entry, the macro that emits it and the text emitted for each sample."""
    table = load_table(settings.template_dirs)
    entry = table[name]
    click.echo("\n".join(_entry_lines(table, entry)))
    source = table.macro_source(entry.name)
    if source is None:
        return
    macro = table.macro(entry.name)
    assert macro is not None
    click.echo(f"\nmacro ({macro.location}):\n{source}")
    if entry.samples:
        click.echo("\nsamples:")
        for line in _sample_lines(settings, table, entry):
            click.echo(line)


@ops.command(epilog="Example: pypto-tmpl ops status")
@click.pass_obj
def status(settings: Settings) -> None:
    """Count the ops of each namespace: executable, without effect, refused."""
    table = load_table(settings.template_dirs)
    states = ("executable", "no-op", "refused")
    counts = Counter((entry.namespace, _state(entry)) for entry in table.values())
    namespaces = sorted({namespace for namespace, _ in counts})
    width = max(map(len, (*namespaces, "namespace")))
    click.echo(f"{'namespace':<{width}}  {'ops':>5}" + "".join(f"  {state:>10}" for state in states))
    rows = [(namespace, [counts[namespace, state] for state in states]) for namespace in namespaces]
    rows.append(("total", [sum(column) for column in zip(*(row for _, row in rows), strict=True)] or [0] * 3))
    for title, row in rows:
        click.echo(f"{title:<{width}}  {sum(row):>5}" + "".join(f"  {count:>10}" for count in row))


@ops.command(epilog="Example: pypto-tmpl ops schema > op_table.schema.json")
@click.option("--write", is_flag=True, help="Rewrite the committed schema instead of printing it.")
def schema(write: bool) -> None:
    """Print the JSON schema of the op table's files."""
    from pypto_tmpl.ops.schema import schema_text, write_schema

    if write:
        click.echo(f"wrote {write_schema()}", err=True)
    else:
        click.echo(schema_text(), nl=False)


def _check_choice(value: str | None, known: Iterable[str], title: str) -> None:
    if value is None or value in known:
        return
    from pypto_tmpl.errors import allowed_note

    note = allowed_note("known", sorted(known), value)
    raise click.UsageError(f"no {title} {value!r} in the op table; {note}")


def _state(entry: OpEntry) -> str:
    if entry.refused is not None:
        return "refused"
    return "no-op" if entry.is_noop else "executable"


def _signature(entry: OpEntry) -> str:
    parts = []
    for operand in entry.operands:
        kinds = " | ".join(operand.kinds)
        parts.append(f"{operand.name}: {kinds}{' = None' if operand.optional else ''}")
    if entry.kwargs:
        parts.append("*")
    for kwarg in entry.kwargs:
        default = f" = {kwarg.default!r}" if kwarg.has_default else "" if kwarg.required else " = None"
        parts.append(f"{kwarg.name}: {kwarg.type}{default}")
    return f"{entry.name}({', '.join(parts)})"


def _entry_lines(table: OpTable, entry: OpEntry) -> Iterator[str]:
    yield _signature(entry)
    yield f"  {entry.summary}"
    facts = {
        "entry": f"{table.location(entry.name)}, family {table.family_of(entry.name)}",
        "refused": entry.refused,
        "emit": entry.emit,
        "with": ", ".join(f"{name}: {value!r}" for name, value in entry.constants.items()),
        "uses": ", ".join(entry.uses),
        "dtypes": ", ".join(entry.dtypes) if entry.is_executable else None,
        "region": _region(entry),
        "writes": ", ".join(entry.writes),
        "returns": entry.returns,
        "scratch": ", ".join(operand.name for operand in entry.operands if operand.scratch),
        "dsl": ", ".join(entry.dsl),
        "lowers to": ", ".join(entry.lowers_to),
        "aliases": ", ".join(entry.aliases),
        "notes": entry.notes,
        "unverified": entry.unverified,
    }
    yield from (f"  {title + ':':<12}{fact}" for title, fact in facts.items() if fact)


def _region(entry: OpEntry) -> str | None:
    from pypto_tmpl.ops.rules import VALID_RULES, carries_region_of, resolve_result

    rule = resolve_result(entry).valid
    if carries_region_of(entry) is not None:
        return f"that of operand {rule}"
    meaning = VALID_RULES.get(rule or "")
    return f"{rule}: {meaning}" if meaning else rule


def _sample_lines(settings: Settings, table: OpTable, entry: OpEntry) -> Iterator[str]:
    from pypto_tmpl.codegen.environment import OpMacros, create_environment
    from pypto_tmpl.codegen.samples import emit_sample

    macros = OpMacros(table, create_environment(settings.template_dirs))
    for sample in entry.samples:
        yield f"  {', '.join(f'{name}={value}' for name, value in sample.items())}"
        yield f"      {emit_sample(macros, entry, sample)}"
