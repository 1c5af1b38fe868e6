"""The command's entry point: global options, subcommands imported when they are used, clean errors."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pypto_tmpl import __version__

# name -> (module, function, help); the help stands here so that listing it imports nothing.
SUBCOMMANDS = {
    "gen": ("pypto_tmpl.cli.gen", "gen", "Emit the PyTorch script of a dump."),
    "print": ("pypto_tmpl.cli.printing", "print_dump", "Print a dump as text, or convert between its forms."),
    "diff": ("pypto_tmpl.cli.printing", "diff", "Say where two dumps differ."),
    "args": ("pypto_tmpl.cli.args", "args", "List or show the arguments of tasks that a run dumped."),
    "snapshot": ("pypto_tmpl.cli.snapshot", "snapshot", "Compare or update the committed golden scripts."),
    "exec": ("pypto_tmpl.cli.scripts", "execute", "Run a script written for PyPTO, unmodified."),
    "run": ("pypto_tmpl.cli.run", "run", "Run a kernel file under the golden harness."),
    "validate": ("pypto_tmpl.cli.validate", "validate", "Run every stage of a pass dump against goldens."),
    "trace": ("pypto_tmpl.cli.trace", "trace", "Record the values of a dump's statements, or compare two."),
    "bisect": ("pypto_tmpl.cli.bisect", "bisect", "Find the first stage and statement that are wrong."),
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


class LazyGroup(click.Group):
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

    def invoke(self, ctx: click.Context) -> Any:
        """Run the subcommand; an error of the project becomes its text on stderr and exit code 2."""
        from pypto_tmpl.errors import PyptoTmplError

        try:
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


@click.group(cls=LazyGroup, epilog="Example: pypto-tmpl ops show tile.matmul_acc")
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
