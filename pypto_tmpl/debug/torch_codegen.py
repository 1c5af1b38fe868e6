"""The script generator's public face."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.formatting import format_script
from pypto_tmpl.codegen.script import PreambleMode, generator
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.overlays import Folder


def torch_codegen(
    node: ir.Program | ir.Function,
    check_shapes: bool = False,
    *,
    format: bool = False,
    preamble: PreambleMode = "used",
    template_dirs: Folder | Sequence[Folder] = (),
    trace: bool | TraceSelection = False,
) -> str:
    """Executable Python/PyTorch text for a program or function at any stage of the pass pipeline.

    ``check_shapes`` adds checks of the type, dtype and static extents of every assigned tensor or tile, and
    of the dtype of every parameter. ``format`` runs the pinned black over the text. ``preamble`` emits the
    run-time helpers that the script uses, or all of them ("full"). Templates in ``template_dirs``, a folder
    or several, come before the project's own; a program that has ops of theirs is read under
    ``pypto_tmpl.overlays.using_templates``. ``trace`` makes the script record the values that it computes,
    all or a selection, in ``_TRACE``; ``Trace.of(namespace, script)`` takes them from there.

    Raises: TypeError for another kind of node; ValueError (UnsupportedProgramError) that lists every
    operator, dtype and node that no script can be made of, with function, variable and source line.
    """
    if not isinstance(node, ir.Program | ir.Function):
        raise TypeError(f"torch_codegen takes a Program or a Function, got {type(node).__name__}")
    if preamble not in ("used", "full"):
        raise ValueError(f"preamble is 'used' or 'full', got {preamble!r}")
    selection = TraceSelection() if trace is True else trace or None
    text = generator(template_dirs).script(node, check_shapes, preamble, selection)
    return format_script(text) if format else text
