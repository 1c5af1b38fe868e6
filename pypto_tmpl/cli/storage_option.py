"""``--storage``: which programs run on the bytes of their tiles, for all commands that run programs."""

from __future__ import annotations

import click

from pypto_tmpl.storage.choices import DEFAULT, STORAGE_CHOICES

storage_option = click.option(
    "--storage",
    type=click.Choice(STORAGE_CHOICES),
    default=DEFAULT,
    show_default=True,
    help="Which programs run on the bytes of their tiles: those whose tiles have addresses, or places, or"
    " none; 'both' runs by values, too.",
)


def storage_words(storage: str) -> list[str]:
    """The words of a command line that repeat a choice; none for the default."""
    return [] if storage == DEFAULT else ["--storage", storage]
