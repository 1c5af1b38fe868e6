"""The command's entry point: global options, subcommands imported when they are used, clean errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pypto_tmpl import __version__
from pypto_tmpl.cli.colours import are_refused

INTERRUPTED = 130

# name -> (module, function, help); the help stands here so that listing it imports nothing.
SUBCOMMANDS = {
    "gen": ("pypto_tmpl.cli.gen", "gen", "Emit the PyTorch script of a dump."),
    "print": ("pypto_tmpl.cli.printing", "print_dump", "Print a dump as text, or convert between its forms."),
    "diff": ("pypto_tmpl.cli.printing", "diff", "Say where two dumps differ."),
    "passes": ("pypto_tmpl.cli.passes", "passes", "List the passes with what they require and produce."),
    "lower": ("pypto_tmpl.cli.passes", "lower", "Run passes on a program, up to one of them."),
    "compile": (
        "pypto_tmpl.cli.compiling",
        "compile_file",
        "Compile a kernel file or dump into a build directory.",
    ),
    "report": ("pypto_tmpl.cli.report", "report", "Show a build directory in one page."),
    "memory": ("pypto_tmpl.cli.memory", "memory", "Show which bytes the tiles of kernels take, and when."),
    "export-kernel-insight": (
        "pypto_tmpl.cli.export_insight",
        "export_kernel_insight",
        "Write how long the statements of a build's kernels take.",
    ),
    "args": ("pypto_tmpl.cli.args", "args", "List or show the arguments of tasks that a run dumped."),
    "snapshot": ("pypto_tmpl.cli.snapshot", "snapshot", "Compare or update the committed golden scripts."),
    "exec": ("pypto_tmpl.cli.scripts", "execute", "Run a script written for PyPTO, unmodified."),
    "run": ("pypto_tmpl.cli.run", "run", "Run a kernel file under the golden harness."),
    "validate": ("pypto_tmpl.cli.validate", "validate", "Run every stage of a pass dump against goldens."),
    "trace": ("pypto_tmpl.cli.trace", "trace", "Record the values of a dump's statements, or compare two."),
    "bisect": ("pypto_tmpl.cli.bisect", "bisect", "Find the first stage and statement that are wrong."),
    "hunt": ("pypto_tmpl.cli.hunt", "hunt", "Draw programs, compile and judge them; shrink what is wrong."),
    "options": ("pypto_tmpl.cli.options", "options", "List the debug options that scripts have."),
    "ops": ("pypto_tmpl.cli.ops", "ops", "Look into the op table: list, show, status, new, docs, schema."),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """What the global options say; subcommands get it with ``@click.pass_obj``."""

    user_template_dirs: tuple[Path, ...] = ()

    @property
    def template_dirs(self) -> tuple[Path, ...] | None:
        """The template folders in order of precedence; none for just the project's own."""
        if not self.user_template_dirs:
            return None
        from pypto_tmpl.resources import template_root

        return (*self.user_template_dirs, template_root())


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end the command with exit code 130, wherever it comes: 1 says that something differs."""
    try:
        yield
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        raise click.exceptions.Exit(INTERRUPTED) from None


class SuggestingGroup(click.Group):
    """A group that says what a mistyped subcommand may have been meant to be."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand and its arguments. Raises UsageError for an unknown one."""
        typed = args[0]
        if not typed.startswith("-") and typed not in self.list_commands(ctx):
            close = get_close_matches(typed, self.list_commands(ctx), cutoff=0.6)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            ctx.fail(f"No such command {typed!r}.{hint}")
        return super().resolve_command(ctx, args)


class LazyGroup(SuggestingGroup):
    """A group that imports a subcommand when it runs, and reports the project's errors without traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the subcommands."""
        return sorted({*SUBCOMMANDS, *self.commands})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the subcommand; an unknown name gives none."""
        if name not in SUBCOMMANDS:
            return super().get_command(ctx, name)
        module, function, _ = SUBCOMMANDS[name]
        command: click.Command = getattr(import_module(module), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the subcommands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUBCOMMANDS[name][2]) for name in sorted(SUBCOMMANDS)])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the arguments; an interruption has an exit code of its own from here on."""
        with interruptible():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; an error of the project becomes its text on stderr and exit code 2."""
        from pypto_tmpl.errors import PyptoTmplError

        try:
            with interruptible():
                return super().invoke(ctx)
        except PyptoTmplError as error:
            click.echo(str(error), err=True)
            ctx.exit(2)
        except BrokenPipeError:
            raise  # whoever reads the output has had enough of it: click ends in silence
        except OSError as error:
            where = str(error.filename) if error.filename is not None else ""
            found = PyptoTmplError(error.strerror or str(error), slug="system", where=where)
            click.echo(str(found), err=True)
            ctx.exit(2)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Example: pypto-tmpl ops show tile.matmul_acc
Completion of commands, options, ops, passes and cases: eval "$(_PYPTO_TMPL_COMPLETE=bash_source pypto-tmpl)"
Colours are for terminals only; NO_COLOR=1 turns them off.
""",
)
@click.version_option(__version__, prog_name="pypto-tmpl")
@click.option(
    "--template-dir",
    "template_dirs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    multiple=True,
    metavar="DIR",
    help="Folder whose templates and op-table files come before the project's own, one file at a time. "
    "May be given several times; earlier folders come first.",
)
@click.pass_context
def main(context: click.Context, template_dirs: tuple[Path, ...]) -> None:
    """Turn PyPTO tile IR into self-contained PyTorch scripts."""
    if template_dirs:
        from pypto_tmpl.overlays import using_templates

        context.with_resource(using_templates(template_dirs, everywhere=True))
    context.obj = Settings(template_dirs)
    if are_refused():
        context.color = False
