"""``pypto-tmpl hunt``: find a compiler's faults by programs that are drawn."""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from pypto_tmpl.cli import colours

if TYPE_CHECKING:
    from pypto_tmpl.hunt.hunting import Progress
    from pypto_tmpl.hunt.options import Options
    from pypto_tmpl.hunt.record import Record

INTERRUPTED = 130
DRAWN_FOR_COVERAGE = 2000


@click.command(
    epilog="""\b
Examples:
  pypto-tmpl hunt found --programs 2000
  pypto-tmpl hunt found --seconds 3600 --kind mixed --kind tiles
  pypto-tmpl hunt found --compiler "python tools/pypto_dump.py"
  pypto-tmpl hunt found --resume --programs 20000
  pypto-tmpl hunt found --coverage

\b
A compiler other than `ours` is a command that is run as
  CMD PROGRAM.py OUT --backend Ascend910B|Ascend950
and leaves a folder passes_dump somewhere in OUT.

\b
Exit codes: 0 nothing is wrong; 1 faults were found; 2 wrong usage, or no compiler; 130 interrupted, and
what was found until then is in the folder.
"""
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path, file_okay=False))
@click.option("--compiler", default="ours", show_default=True, metavar="CMD", help="What compiles.")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Draw only such programs (may be repeated)."
)
@click.option("--programs", type=click.IntRange(1), metavar="N", help="How many programs (default: no end).")
@click.option("--seconds", type=click.FloatRange(0, min_open=True), metavar="S", help="How long to draw.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Which programs.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Worker processes (default: the cores).")
@click.option("--resume", is_flag=True, help="Go on with the hunt in DIR.")
@click.option("--coverage", is_flag=True, help="Print which ops and passes the programs have reached.")
@click.option(
    "--ignore",
    "ignored",
    multiple=True,
    metavar="PATTERN",
    help="Only count faults of such a signature, as in 'MemoryReuse / values / *' (may be repeated).",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    metavar="S",
    help="How long a program may take to be compiled and judged.",
)
@click.option(
    "--shrink-seconds",
    type=click.FloatRange(0),
    default=90.0,
    show_default=True,
    metavar="S",
    help="Seconds of processor time to make the program of a fault smaller.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print the last line only.")
@click.pass_context
def hunt(context: click.Context, /, **given: Any) -> None:
    """Draw programs, compile them, judge every stage, and write what is wrong to DIR, as small as can be."""
    from pypto_tmpl.hunt.hunting import hunt as run

    options = _options(given)
    record: Record | None = None
    interrupted = False
    with _Shown(options.programs, given["quiet"]) as shown:
        try:
            record = run(given["folder"], options, again=given["resume"], progress=shown.tell)
        except KeyboardInterrupt:
            interrupted = True
    if given["coverage"] and record is not None:
        from pypto_tmpl.hunt.coverage import coverage_lines

        click.echo("\n".join(coverage_lines(record.coverage, record.programs)))
    click.echo(_last_line(shown, given["folder"], interrupted, record))
    context.exit(INTERRUPTED if interrupted else 1 if record is not None and record.found else 0)


def _options(given: dict[str, Any]) -> Options:
    from pypto_tmpl.hunt.compilers import compiler_of
    from pypto_tmpl.hunt.options import Options

    programs = given["programs"]
    if programs is None and given["seconds"] is None and given["coverage"]:
        programs = DRAWN_FOR_COVERAGE
    chosen = {"kinds": given["kinds"]} if given["kinds"] else {}
    return Options(
        compiler=compiler_of(given["compiler"], given["time_limit"]),
        seed=given["seed"],
        programs=programs,
        seconds=given["seconds"],
        time_limit=given["time_limit"],
        shrink_seconds=given["shrink_seconds"],
        ignored=given["ignored"],
        jobs=given["jobs"],
        **chosen,
    )


class _Shown:
    """A bar on standard error where that is a terminal, and a line on standard output for each fault."""

    def __init__(self, programs: int | None, quiet: bool) -> None:
        self.programs = programs
        self.quiet = quiet
        self.last: Progress | None = None
        self.bar: Any = None

    def __enter__(self) -> _Shown:
        if sys.stderr.isatty() and not self.quiet:
            from rich.console import Console
            from rich.progress import Progress as Bar

            self.bar = Bar(
                console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
            )
            self.task = self.bar.add_task("hunting", total=self.programs)
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def tell(self, progress: Progress) -> None:
        """Show how far the hunt has come."""
        if progress.fault is not None:
            if not self.quiet:
                self._say(progress)
            return
        self.last = progress
        if self.bar is not None:
            said = f"{progress.rate:.1f} programs a second, {progress.faults} faults"
            if progress.shrinking:
                said += f", {progress.shrinking} being shrunk"
            self.bar.update(self.task, completed=progress.programs, description=said)

    def _say(self, progress: Progress) -> None:
        assert progress.fault is not None
        if self.bar is not None:
            self.bar.stop()
        found = progress.fault
        shown = colours.verdict("fault", False)
        click.echo(f"{shown} {found.fault.headline}: {found.folder} ({found.fault.statements[1]} statements)")
        if self.bar is not None:
            self.bar.start()


def _last_line(shown: _Shown, folder: Path, interrupted: bool, record: Record | None) -> str:
    progress = shown.last
    count, seconds, rate = (
        (0, 0.0, 0.0) if progress is None else (progress.programs, progress.seconds, progress.rate)
    )
    faults = len(record.found) if record is not None else 0 if progress is None else progress.faults
    said = f"{count} programs in {seconds:.1f} s, {rate:.1f} programs a second: {faults} "
    said += f"fault{'' if faults == 1 else 's'}; {folder / 'index.html'}"
    ignored = sum(record.ignored.values()) if record is not None else 0
    if ignored:
        said += f"\n{ignored} programs met what is ignored, or a known limit of the compiler"
    return f"interrupted\n{said}" if interrupted else said
