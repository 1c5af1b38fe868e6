"""``pypto-tmpl ops``: what the op table holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import click

from pypto_tmpl.cli.completion import op_names
from pypto_tmpl.cli.group import Settings, SuggestingGroup
from pypto_tmpl.cli.ops_evidence import find_evidence
from pypto_tmpl.cli.ops_text import driver, layout, orchestration, pto, region, sample_texts, signature, state
from pypto_tmpl.ops import OpEntry, OpTable, load_table

# Namespaces of what kernels do after all passes.
_OF_KERNELS = ("tile", "pld.tile", "prefetch", "system", "pld.system")


@click.group(cls=SuggestingGroup)
def ops() -> None:
    """Look into the op table.

    \b
    pypto-tmpl ops list --namespace tile     the tile ops
    pypto-tmpl ops show tile.matmul_acc      one op, with its macro and the text it emits
    pypto-tmpl ops status                    how many ops are executable, and what tests them
    pypto-tmpl ops new tile.clamp01 --family elementwise    begin an entry and its macro
    pypto-tmpl ops docs --write              bring docs/ops.md up to date
    pypto-tmpl ops stubs --write             bring the .pyi files of the ops up to date
    pypto-tmpl ops schema --write            bring templates/op_table.schema.json up to date
    """


@ops.command("list", epilog="Example: pypto-tmpl ops list --family reduce --namespace tile")
@click.option("--family", metavar="F", help="Only the ops of this file of the table.")
@click.option("--namespace", metavar="N", help="Only the ops of this namespace, such as tile.")
@click.pass_obj
def list_ops(settings: Settings, family: str | None, namespace: str | None) -> None:
    """List the ops by name: how each is emitted, and what it does."""
    table = _table(settings)
    _check_choice(family, table.families, "family")
    _check_choice(namespace, {entry.namespace for entry in table.values()}, "namespace")
    chosen = [
        entry
        for name, entry in table.items()
        if family in (None, table.family_of(name)) and namespace in (None, entry.namespace)
    ]
    width = max((len(entry.name) for entry in chosen), default=0)
    for entry in chosen:
        click.echo(f"{entry.name:<{width}}  {state(entry):<10}  {entry.summary}")


@ops.command(epilog="Example: pypto-tmpl ops show tile.row_sum")
@click.argument("name", shell_complete=op_names)
@click.pass_obj
def show(settings: Settings, name: str) -> None:
    """Show one op: its entry, the macro that emits it and the text emitted for each sample."""
    table = _table(settings)
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
        for given, text in sample_texts(table, entry, settings.template_dirs):
            click.echo(f"  {given}\n      {text}")


@ops.command(epilog="Example: pypto-tmpl ops status --namespace tile")
@click.option("--namespace", metavar="N", help="Only the ops of this namespace, such as tile.")
@click.pass_obj
def status(settings: Settings, namespace: str | None) -> None:
    """Count the ops of each namespace, and say what each op is tested by.

    Per op: its samples, its hand-written references and the recorded oracle cases that are checked. A zero
    comes with its reason, or with MISSING. References and cases are known in the repository only; elsewhere
    they are shown as a dash. In the end, the ops of kernels that have no .pto text.
    """
    table = _table(settings)
    _check_choice(namespace, {entry.namespace for entry in table.values()}, "namespace")
    entries = [entry for entry in table.values() if namespace in (None, entry.namespace)]
    for line in (*_namespace_lines(entries), "", *_evidence_lines(table, entries), "", *_text_lines(entries)):
        click.echo(line.rstrip())


def _text_lines(entries: Iterable[OpEntry]) -> Iterator[str]:
    """How many ops have ``.pto`` text, and those in the namespaces of kernels that have none."""
    entries = list(entries)
    with_text = sum(entry.pto_spec is not None for entry in entries)
    yield f"{with_text} ops have .pto text; these have none, and are lowered, of orchestrations, or refused:"
    kernel_ops = [entry for entry in entries if entry.namespace in _OF_KERNELS]
    yield from (f"  {entry.name}" for entry in kernel_ops if entry.pto_spec is None)


def _namespace_lines(entries: Iterable[OpEntry]) -> Iterator[str]:
    states = ("executable", "no-op", "refused")
    counts = Counter((entry.namespace, state(entry)) for entry in entries)
    namespaces = sorted({namespace for namespace, _ in counts})
    width = max(map(len, (*namespaces, "namespace")))
    yield f"{'namespace':<{width}}  {'ops':>5}" + "".join(f"  {title:>10}" for title in states)
    rows = [(namespace, [counts[namespace, title] for title in states]) for namespace in namespaces]
    rows.append(("total", [sum(column) for column in zip(*(row for _, row in rows), strict=True)] or [0] * 3))
    for title, row in rows:
        yield f"{title:<{width}}  {sum(row):>5}" + "".join(f"  {count:>10}" for count in row)


def _evidence_lines(table: OpTable, entries: Iterable[OpEntry]) -> Iterator[str]:
    from pypto_tmpl import resources

    evidence = find_evidence(resources.template_root().parent)
    entries = list(entries)
    width = max((len(entry.name) for entry in entries), default=0)
    yield f"{'op':<{width}}  samples  references  oracle  reason of a zero"
    sums = [0, 0, 0]
    for entry in entries:
        counts = evidence.counts(entry)
        sums = [total + (count or 0) for total, count in zip(sums, counts, strict=True)]
        samples, references, cases = ("-" if count is None else str(count) for count in counts)
        reasons = "; ".join(evidence.reasons(entry))
        yield f"{entry.name:<{width}}  {samples:>7}  {references:>10}  {cases:>6}  {reasons}"
    yield f"{'total':<{width}}  {sums[0]:>7}  {sums[1]:>10}  {sums[2]:>6}"


@ops.command(epilog="Example: pypto-tmpl ops new tile.clamp01 --family elementwise")
@click.argument("name")
@click.option("--family", metavar="F", required=True, help="The file of the table that gets the op.")
@click.pass_obj
def new(settings: Settings, name: str, family: str) -> None:
    """Begin an op: add a stub entry and a stub macro to a family, or begin the family.

    The files lie in the first --template-dir, else among the project's own in a checkout. A name that the
    table has is refused, and what the files hold already stays.
    """
    from pypto_tmpl import resources
    from pypto_tmpl.cli.ops_new import write_stub

    if not settings.template_dirs:
        _require_checkout(
            "ops new", "pypto-tmpl --template-dir DIR ops new ... writes into a folder of yours"
        )
    folders = settings.template_dirs or (resources.template_root(),)
    for path in write_stub(name, family, folders[0], folders):
        click.echo(f"wrote {path}", err=True)


@ops.command(epilog="Example: pypto-tmpl ops docs --check")
@click.option("--write", is_flag=True, help="Rewrite docs/ops.md instead of printing.")
@click.option("--check", is_flag=True, help="Only say whether docs/ops.md is up to date; exit code 1 if not.")
@click.pass_context
def docs(context: click.Context, write: bool, check: bool) -> None:
    """Print the reference of all ops, generated from the table."""
    from pypto_tmpl import resources
    from pypto_tmpl.cli.ops_docs import ops_page
    from pypto_tmpl.generated import is_made_of_table, write_generated

    if write and check:
        raise click.UsageError("--write and --check exclude each other")
    if write or check:
        _require_checkout("docs/ops.md", "pypto-tmpl ops docs prints the page")
    folders = context.obj.template_dirs
    page = ops_page(_table(context.obj), folders)
    path = resources.template_root().parent / "docs" / "ops.md"
    if write:
        write_generated(path, page, is_made_of_table, make_folders=True)
        click.echo(f"wrote {path}", err=True)
    elif not check:
        click.echo(page, nl=False)
    elif not path.is_file() or path.read_text(encoding="utf-8") != page:
        click.echo(f"{path} is out of date; run: pypto-tmpl ops docs --write", err=True)
        context.exit(1)


@ops.command(epilog="Example: pypto-tmpl ops stubs --check")
@click.option("--write", is_flag=True, help="Rewrite the stub files.")
@click.option("--check", is_flag=True, help="Only say whether they are up to date; exit code 1 if not.")
@click.pass_context
def stubs(context: click.Context, write: bool, check: bool) -> None:
    """The .pyi files of the op namespaces (pl.*, pl.tile.*, pld.*), generated from the table."""
    from pypto_tmpl.language.namespaces.stubs import stale_stubs, write_stubs

    if write == check:
        raise click.UsageError("give one of --write and --check")
    if write:
        _require_checkout("the stub files", "those of an installed package are up to date")
    paths = write_stubs() if write else stale_stubs()
    for path in paths:
        click.echo(f"wrote {path}" if write else f"{path} is out of date", err=True)
    if check and paths:
        click.echo("run: pypto-tmpl ops stubs --write", err=True)
        context.exit(1)


@ops.command(epilog="Example: pypto-tmpl ops schema > op_table.schema.json")
@click.option("--write", is_flag=True, help="Rewrite the committed schema instead of printing it.")
def schema(write: bool) -> None:
    """Print the JSON schema of the op table's files."""
    from pypto_tmpl.ops.schema import schema_text, write_schema

    if write:
        _require_checkout("op_table.schema.json", "pypto-tmpl ops schema prints it")
        click.echo(f"wrote {write_schema()}", err=True)
    else:
        click.echo(schema_text(), nl=False)


def _table(settings: Settings) -> OpTable:
    """The table, with what the user's folders bring checked; commands that only look run no generator."""
    table = load_table(settings.template_dirs)
    if settings.user_template_dirs:
        from pypto_tmpl.codegen.script import generator

        generator()
    return table


def _require_checkout(what: str, instead: str) -> None:
    """Refuse to look for, or write, files of the project among those of an installed package."""
    from pypto_tmpl import resources

    if resources.is_installed():
        raise click.UsageError(
            f"{what}: this is an installed package, not a checkout of the project; {instead}"
        )


def _check_choice(value: str | None, known: Iterable[str], title: str) -> None:
    if value is None or value in known:
        return
    from pypto_tmpl.errors import allowed_note

    note = allowed_note("known", sorted(known), value)
    raise click.UsageError(f"no {title} {value!r} in the op table; {note}")


def _entry_lines(table: OpTable, entry: OpEntry) -> Iterator[str]:
    yield signature(entry)
    yield f"  {entry.summary}"
    facts = {
        "entry": f"{table.location(entry.name)}, family {table.family_of(entry.name)}",
        "refused": entry.refused,
        "emit": entry.emit,
        "into": entry.into,
        "with": ", ".join(f"{name}: {value!r}" for name, value in entry.constants.items()),
        "uses": ", ".join(entry.uses),
        "pto": pto(entry),
        "tiles lie": layout(entry),
        "orchestration": orchestration(entry),
        "driver": driver(entry),
        "dtypes": ", ".join(entry.dtypes) if entry.is_executable else None,
        "region": region(entry),
        "writes": ", ".join(entry.writes),
        "returns": entry.returns,
        "scratch": ", ".join(operand.name for operand in entry.operands if operand.scratch),
        "dsl": ", ".join(entry.dsl),
        "lowers to": ", ".join(entry.lowered_names),
        "aliases": ", ".join(entry.aliases),
        "notes": entry.notes,
        "unverified": entry.unverified,
    }
    yield from (f"  {title + ':':<12}{fact}" for title, fact in facts.items() if fact)
