"""The ``pypto-tmpl`` command."""

from pypto_tmpl.cli.group import main

__all__ = ["main"]
