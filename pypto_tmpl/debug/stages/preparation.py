"""From the files of a stage to a script: text first, its binary companion where the text will not do."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pypto_tmpl.language as pl
from pypto_tmpl import ir
from pypto_tmpl.codegen.record import Script
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.debug.stages.dumps import StageContent
from pypto_tmpl.debug.stages.fingerprint import fingerprint
from pypto_tmpl.errors import PyptoTmplError
from pypto_tmpl.execution.entry import Entry, functions_of, select_entry
from pypto_tmpl.execution.load import script_name
from pypto_tmpl.execution.script import ProgramScript, make_script
from pypto_tmpl.execution.stacked import stacked_tensors
from pypto_tmpl.language.diagnostics import BufferTextError
from pypto_tmpl.language.limits import decode
from pypto_tmpl.ops import load_table
from pypto_tmpl.overlays import using_templates
from pypto_tmpl.storage.choices import StorageChoice
from pypto_tmpl.storage.destinations import as_assignments
from pypto_tmpl.storage.misfits import misfits
from pypto_tmpl.storage.places import FunctionPlaces
from pypto_tmpl.storage.stored import copies_yields, is_placed_at_0, is_stored

Node = ir.Program | ir.Function


class MisplacedError(PyptoTmplError, ValueError):
    """Tiles or allocations of a stage are where none can be: beyond a memory, outside of an allocation.

    ``found`` are the variables with their functions, and what is wrong with the place of each.
    """

    slug = "misplaced"

    def __init__(self, found: Sequence[tuple[ir.Function, ir.Var, str]]) -> None:
        super().__init__(
            "no run on bytes: a tile lies where it cannot", notes=[_misplaced(*one) for one in found]
        )
        self.found = tuple(found)

    def __reduce__(self) -> tuple[type[MisplacedError], tuple[Sequence[tuple[ir.Function, ir.Var, str]]]]:
        return type(self), (self.found,)


def _misplaced(function: ir.Function, var: ir.Var, what: str) -> str:
    place = var.span.to_string() if var.span.is_valid() else "no source line"
    return f"{what} (function {function.name!r}, variable {var.name_hint!r}, {place})"


class StageReadError(PyptoTmplError, ValueError):
    """No script can be had from the files of a stage; the text holds the reasons, whole."""

    slug = "stage"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of every stage: the entry if it is named, the names of the inputs, what to record.

    With ``print_companions`` the IR of a stage that was read from its companion comes as text, too. With
    ``companions_first`` texts are read only where there is no companion. ``storage`` says which programs
    run on the bytes of their tiles.
    """

    inputs: frozenset[str]
    entry: str | None = None
    template_dirs: tuple[Path, ...] = ()
    print_companions: bool = False
    companions_first: bool = False
    trace: TraceSelection | None = None
    storage: StorageChoice = "off"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A stage that can run; ``read_from`` is the file it was read from, ``note`` why not from the text.

    ``printed`` is the text of a companion, where that was asked for; ``large`` are the functions of the
    script that several threads pay for. A script ``is_stored`` if it runs on the bytes of its tiles;
    ``values`` is the one that does not, where both are to run. Tensors that are ``stacked`` hold the parts of
    all ranks.
    """

    script: Script
    program: str
    name: str
    entry: Entry
    read_from: str
    note: str
    is_from_text: bool
    identity: bytes
    seconds: float
    printed: str = ""
    large: tuple[str, ...] = ()
    is_stored: bool = False
    values: Script | None = None
    stacked: frozenset[str] = frozenset()

    def runs_like(self, other: Prepared) -> str:
        """Why the other need not run too: "IR" that is structurally equal, the same "script", or ""."""
        # equality of structure does not look at the names of parameters
        if not self.entry.is_called_like(other.entry):
            return ""
        return (
            "IR"
            if self.identity and self.identity == other.identity
            else "script"
            if self.script.text == other.script.text
            else ""
        )


def prepare(content: StageContent, request: Request) -> Prepared:
    """Read a stage, choose its entry and emit its script.

    Raises StageReadError, UnsupportedProgramError, MisplacedError and EntryError.
    """
    began = time.perf_counter()
    with _no_collection():
        emitted, note = emit_from_best(content, request)
        entry = select_entry(emitted.node, request.inputs, request.entry)
        is_from_text = not _is_read_from_companion(content, request) and not note
        return Prepared(
            script=emitted.script.without_ir(functions_of(emitted.node)),
            program=emitted.node.name,
            name=script_name(emitted.node.name, content.name),
            entry=emitted.entry(entry),
            large=emitted.large(),
            read_from=content.text_name if is_from_text else content.binary_name,
            note=note,
            is_from_text=is_from_text,
            identity=b"" if emitted.is_stored else fingerprint(emitted.node),
            seconds=time.perf_counter() - began,
            is_stored=emitted.is_stored,
            values=_values(emitted, request),
            stacked=stacked_tensors(functions_of(emitted.node)),
            printed=_printed_companion(content) if request.print_companions and not is_from_text else "",
        )


def read_again(prepared: Prepared, content: StageContent) -> Node:
    """The program that a script was emitted for, read once more from the file that it was read from.

    Writes of buffers are assignments in it.
    """
    with _no_collection():
        node = _read_text(content) if prepared.is_from_text else _read_binary(content)
        return as_assignments(node, load_table())


def read_program(content: StageContent) -> Node:
    """The program of a stage, from the text if that parses. Raises what reading the companion does."""
    try:
        return _read_binary(content) if content.text is None else _read_text(content)
    except PyptoTmplError:
        if content.binary is None:
            raise
        return _read_binary(content)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Trees of nodes hold no cycles worth a search, which takes a third of the time of reading."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def emit_from_best(content: StageContent, request: Request) -> tuple[ProgramScript, str]:
    """The script, and why it was not made from the text; "" where it was, or where there is no text."""
    with using_templates(request.template_dirs):
        return _emit_from_best(content, request)


def _emit_from_best(content: StageContent, request: Request) -> tuple[ProgramScript, str]:
    if _is_read_from_companion(content, request):
        return _emit(_read_binary(content), request, content.name), ""
    try:
        node = _read_text(content)
    except BufferTextError as error:
        return _emit_buffers(content, request, error)
    except Exception as error:
        return _emit_unreadable(content, request, error)
    try:
        return _emit(node, request, content.name), ""
    except PyptoTmplError as error:
        if content.binary is None:
            raise
        return _emit_unsupported(content, request, error)


def _is_read_from_companion(content: StageContent, request: Request) -> bool:
    """Whether the text does not count."""
    return content.text is None or (request.companions_first and content.binary is not None)


def _emit_buffers(
    content: StageContent, request: Request, error: BufferTextError
) -> tuple[ProgramScript, str]:
    """Use the companion of Buffer text, which is for people only: edits do not count."""
    if content.binary is None:
        what = f"{content.text_name} is Buffer text, and its companion is not there"
        raise StageReadError(f"{what}\n{_text_of(error)}") from None
    companion = _read_binary(content)
    note = "Buffer text is for people"
    if not _is_printed_from(content, companion):
        note += "; it differs from what the companion prints, and these edits do not count"
    return _emit(companion, request, content.name), note


def _emit_unreadable(content: StageContent, request: Request, error: Exception) -> tuple[ProgramScript, str]:
    """Use the companion of a text that does not parse, unless the text was edited."""
    problem = _text_of(error)
    if content.binary is None:
        raise StageReadError(f"{content.text_name} does not parse and has no companion\n{problem}") from None
    try:
        companion = _read_binary(content)
    except StageReadError as damage:
        raise StageReadError(f"{content.text_name} does not parse\n{problem}\n{damage.what}") from None
    if not _is_printed_from(content, companion):
        what = f"{content.text_name} was edited and does not parse; its companion was not run instead"
        raise StageReadError(f"{what}\n{problem}") from None
    note = f"the text does not parse ({_first_line(error)})"
    return _emit(companion, request, content.name), note


def _emit_unsupported(
    content: StageContent, request: Request, error: PyptoTmplError
) -> tuple[ProgramScript, str]:
    """Use the companion of a text that parses, but of which no script can be made."""
    try:
        companion = _read_binary(content)
        emitted = _emit(companion, request, content.name)
    except PyptoTmplError:
        raise error from None  # the text is what the user sees and edits
    note = f"the text cannot be emitted ({_first_line(error)})"
    if not _is_printed_from(content, companion):
        note += "; it differs from what the companion prints, and these edits do not count"
    return emitted, note


def _read_text(content: StageContent) -> Node:
    assert content.text is not None
    return pl.parse(decode(content.text, content.text_name), content.text_name)


def _read_binary(content: StageContent) -> Node:
    assert content.binary is not None
    try:
        node = ir.deserialize(content.binary)
    except PyptoTmplError as error:
        raise StageReadError(f"{content.binary_name} is damaged\n{error}") from None
    if not isinstance(node, Node):
        kind = type(node).__name__
        raise StageReadError(f"{content.binary_name} holds a {kind}, not a program or function")
    return node


def _is_printed_from(content: StageContent, companion: Node) -> bool:
    """True for a text that is what the printer writes for the companion, up to line ends."""
    assert content.text is not None
    text = content.text.decode("utf-8-sig", "replace")
    # Without a printed form there is nothing to compare with: that is no sign of an edit.
    printed = _printed(companion) or text
    return text.rstrip().splitlines() == printed.rstrip().splitlines()


def _printed_companion(content: StageContent) -> str:
    return _printed(_read_binary(content))


def _printed(node: Node) -> str:
    """The text of a program; "" where the printer has none for it."""
    try:
        return ir.python_print(node, format=False)
    except PyptoTmplError:
        return ""


def _emit(read: Node, request: Request, stage: str) -> ProgramScript:
    node = as_assignments(read, load_table())
    storage = is_stored(functions_of(node), request.storage, stage)
    if storage and (misplaced := list(_misfits(node))):
        raise MisplacedError(misplaced)
    return make_script(
        node,
        check_shapes=True,
        template_dirs=request.template_dirs,
        trace=request.trace,
        storage=storage,
        copy_yields=storage and copies_yields(stage),
        placed=storage and is_placed_at_0(functions_of(node), stage),
    )


def _misfits(node: Node) -> Iterator[tuple[ir.Function, ir.Var, str]]:
    for function in functions_of(node):
        for var, what in misfits(FunctionPlaces(function, load_table())):
            yield function, var, what


def _values(emitted: ProgramScript, request: Request) -> Script | None:
    """The script that computes with values, where it is to run besides the one that has places for them."""
    if request.storage != "both" or not emitted.is_stored:
        return None
    again = make_script(
        emitted.node, check_shapes=True, template_dirs=request.template_dirs, trace=request.trace
    )
    return again.script.without_ir(functions_of(emitted.node))


def _text_of(error: Exception) -> str:
    return str(error) if isinstance(error, PyptoTmplError) else f"{type(error).__name__}: {error}"


def _first_line(error: Exception) -> str:
    if isinstance(error, UnsupportedProgramError) and error.found:
        more = f", and {len(error.found) - 1} more" if len(error.found) > 1 else ""
        return f"{error.found[0]}{more}"
    if isinstance(error, PyptoTmplError):
        return f"{error.what} at {error.where}" if error.where else error.what
    return _text_of(error).splitlines()[0]
