"""Making the script of a program that is to be run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.codegen.options import stored
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.script import generator
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.execution.entry import Entry, describe_entry, functions_of
from pypto_tmpl.execution.large_ops import has_large_ops


@dataclass(frozen=True, slots=True)
class ProgramScript:
    """A program with its script."""

    node: ir.Program | ir.Function
    script: Script
    is_stored: bool = False  # its tiles are views of the bytes where they are placed

    def entry(self, function: ir.Function) -> Entry:
        """What a caller has to know of one of the functions."""
        return describe_entry(function, self.script.names[function.name])

    def large(self) -> tuple[str, ...]:
        """The functions, as the script calls them, whose ops are so large that several threads pay."""
        return tuple(self.script.names[f.name] for f in functions_of(self.node) if has_large_ops(f.body))


def make_script(
    node: ir.Program | ir.Function,
    *,
    check_shapes: bool = False,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
    takes_notes: bool = False,
    storage: bool = False,
    copy_yields: bool = False,
    placed: bool = False,
) -> ProgramScript:
    """The script of a program, with the options of the environment; with ``storage`` its tiles have places.

    Where nobody has planned the copies of what it yields, these are to ``copy_yields``; one is ``placed``
    if its tiles have addresses though all are 0.
    Raises UnsupportedProgramError listing all that has no meaning here.
    """
    maker = generator(template_dirs)
    options = stored(None, copy_yields=copy_yields, placed=placed) if storage else None
    script = maker.script(
        node, check_shapes=check_shapes, trace=trace, takes_notes=takes_notes, options=options
    )
    return ProgramScript(node, script, storage)
