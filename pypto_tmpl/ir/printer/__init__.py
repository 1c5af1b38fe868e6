"""IR as text of the language, byte for byte upstream's (spec: DSL, 12)."""

from pypto_tmpl.ir.printer.pieces import PrintError
from pypto_tmpl.ir.printer.program import (
    ProgramPrinter,
    python_print,
    python_print_type,
    register_format_callback,
    type_text,
)

__all__ = [
    "PrintError",
    "ProgramPrinter",
    "python_print",
    "python_print_type",
    "register_format_callback",
    "type_text",
]
