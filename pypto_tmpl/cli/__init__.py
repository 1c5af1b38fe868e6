"""The ``pypto-tmpl`` command."""

import click

from pypto_tmpl import __version__


@click.group()
@click.version_option(__version__, prog_name="pypto-tmpl")
def main() -> None:
    """Turn PyPTO tile IR into self-contained PyTorch scripts."""
