"""Making the script of a program that is to be run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pypto_tmpl import ir
from pypto_tmpl.codegen.script import ScriptBuilder, generator
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.execution.entry import Entry, describe_entry, functions_of
from pypto_tmpl.execution.large_ops import has_large_ops


@dataclass(frozen=True, slots=True)
class Script:
    """A program with its script, and the names that its functions have there."""

    node: ir.Program | ir.Function
    text: str
    names: Mapping[str, str]

    def entry(self, function: ir.Function) -> Entry:
        """What a caller has to know of one of the functions."""
        return describe_entry(function, self.names[function.name])

    def large(self) -> tuple[str, ...]:
        """The functions, as the script calls them, whose ops are so large that several threads pay."""
        return tuple(self.names[f.name] for f in functions_of(self.node) if has_large_ops(f.body))


def make_script(
    node: ir.Program | ir.Function,
    *,
    check_shapes: bool = False,
    template_dirs: Sequence[Path] = (),
    trace: TraceSelection | None = None,
) -> Script:
    """The script of a program. Raises UnsupportedProgramError listing all that has no meaning here."""
    builder = ScriptBuilder(generator(template_dirs), node, check_shapes=check_shapes, trace=trace)
    return Script(node, builder.build("used"), builder.function_names)
