"""The script generator's public face."""

from __future__ import annotations

from collections.abc import Sequence

from pypto_tmpl import ir
from pypto_tmpl.codegen.layout import formatted
from pypto_tmpl.codegen.options import CommentChoice, GivenOptions, read_options, stored
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.script import PREAMBLE_MODES, PreambleMode, generator
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.overlays import Folder


def torch_codegen(
    node: ir.Program | ir.Function,
    check_shapes: bool = False,
    *,
    format: bool = False,
    preamble: PreambleMode = "script",
    template_dirs: Folder | Sequence[Folder] = (),
    trace: bool | TraceSelection = False,
    options: GivenOptions = None,
    comments: bool = False,
    source_comments: bool = False,
    storage: bool = False,
) -> str:
    """Executable Python/PyTorch text for a program or function at any stage of the pass pipeline.

    ``check_shapes`` adds checks of the type, dtype and static extents of every assigned tensor or tile, and
    of the dtype of every parameter. ``format`` runs the pinned black over the text. ``preamble`` tells where
    the run-time helpers are: those that it uses stand in the script, behind the program ("script"), or all of
    them do ("full"), or it takes them from ``pypto_tmpl.preamble`` ("import"). Templates in
    ``template_dirs``, a folder or several, come before the project's own; a program that has ops of theirs is
    read under ``pypto_tmpl.overlays.using_templates``. ``trace`` makes the script record the values that it
    computes, all or a selection, in ``_TRACE``; ``Trace.of(namespace, script, node)`` takes them from there.
    ``comments`` has the lines that bind a tile or tensor end in its type, where that fits and no check says
    it; ``source_comments`` has the source line of a statement stand above it. With ``storage`` tiles are
    views of the bytes where the program has placed them, which is the option of that name. ``options``, such
    as ``{"poison": True}``, are those of docs/options.md; without them the environment's.
    ``emit_script`` gives the same text with all that is known of it.

    Raises: TypeError for another kind of node; OptionError; ValueError (UnsupportedProgramError) that lists
    every operator, dtype and node that no script can be made of, with function, variable and source line.
    """
    choice, given = CommentChoice(comments, source_comments), stored(options) if storage else options
    script = _script(node, check_shapes, preamble, template_dirs, trace, given, choice, needs_lines=False)
    return formatted(script).text if format else script.text


def emit_script(
    node: ir.Program | ir.Function,
    check_shapes: bool = False,
    *,
    format: bool = False,
    preamble: PreambleMode = "script",
    template_dirs: Folder | Sequence[Folder] = (),
    trace: bool | TraceSelection = False,
    options: GivenOptions = None,
    comments: bool = False,
    source_comments: bool = False,
    storage: bool = False,
) -> Script:
    """What ``torch_codegen`` makes of a program, with all that is known of the text.

    That is which lines the functions have and what each line was made from, the helpers that the script
    carries, where its program begins and where it records values. Arguments and errors are the same.
    """
    choice, given = CommentChoice(comments, source_comments), stored(options) if storage else options
    script = _script(node, check_shapes, preamble, template_dirs, trace, given, choice, needs_lines=True)
    return formatted(script) if format else script


def _script(
    node: ir.Program | ir.Function,
    check_shapes: bool,
    preamble: PreambleMode,
    template_dirs: Folder | Sequence[Folder],
    trace: bool | TraceSelection,
    options: GivenOptions,
    comments: CommentChoice,
    *,
    needs_lines: bool,
) -> Script:
    if not isinstance(node, ir.Program | ir.Function):
        raise TypeError(f"torch_codegen takes a Program or a Function, got {type(node).__name__}")
    if preamble not in PREAMBLE_MODES:
        raise ValueError(f"preamble is one of {', '.join(map(repr, PREAMBLE_MODES))}, got {preamble!r}")
    selection = TraceSelection() if trace is True else trace or None
    return generator(template_dirs).script(
        node,
        check_shapes=check_shapes,
        preamble=preamble,
        trace=selection,
        options=read_options(options),
        needs_lines=needs_lines,
        warns=True,
        comments=comments,
    )
