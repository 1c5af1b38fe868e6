"""Running code written for PyPTO: its imports are answered with this project's modules."""

from pypto_tmpl.compat.imports import ANSWERED, answering, install, uninstall
from pypto_tmpl.compat.scripts import run_script

__all__ = ["ANSWERED", "answering", "install", "run_script", "uninstall"]
