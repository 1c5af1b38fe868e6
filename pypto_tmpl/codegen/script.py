"""From IR to the text of a script: the entry point of the code generator."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from pypto_tmpl import ir
from pypto_tmpl.codegen.environment import OpMacros, TemplateMacros, create_environment, render
from pypto_tmpl.codegen.functions import FunctionEmitter
from pypto_tmpl.codegen.handovers import HandoverWarning, handover_warnings
from pypto_tmpl.codegen.kernels import GroupMeta
from pypto_tmpl.codegen.known_ops import KnownOps
from pypto_tmpl.codegen.marks import Marks, NoMarks
from pypto_tmpl.codegen.op_checks import check_ops
from pypto_tmpl.codegen.options import (
    EVERYTHING_OFF,
    EVERYTHING_ON,
    NO_COMMENTS,
    CommentChoice,
    OptionError,
    ScriptOptions,
    constant_of,
    read_options,
)
from pypto_tmpl.codegen.pipe_use import EVERY_USE, pipe_use
from pypto_tmpl.codegen.preamble import (
    Preamble,
    PreambleError,
    PreambleSelection,
    Variant,
    load_preamble,
)
from pypto_tmpl.codegen.record import Script, ScriptFunction
from pypto_tmpl.codegen.script_code import code_in
from pypto_tmpl.codegen.script_context import ScriptContext
from pypto_tmpl.codegen.tracing import TraceSelection
from pypto_tmpl.codegen.unsupported import UnsupportedProgramError
from pypto_tmpl.errors import Diagnostic
from pypto_tmpl.ops import OpTable, forget_changed, load_table
from pypto_tmpl.overlays import Folder, State, all_folders
from pypto_tmpl.resources import template_root

_AT_MODULE_LEVEL = re.compile(r"^(?:def |class )?([A-Za-z_]\w*)(?=[ (:]| *=)", re.MULTILINE)
PreambleMode = Literal["script", "import", "full"]
PREAMBLE_MODES: tuple[PreambleMode, ...] = get_args(PreambleMode)
_FIRST_ENTRIES = (ir.FunctionType.Orchestration, ir.FunctionType.Opaque)


class Generator:
    """The templates of one set of folders, loaded once and used for any number of scripts."""

    def __init__(self, template_dirs: Sequence[Path]) -> None:
        self.environment = create_environment(template_dirs)
        self.table: OpTable = load_table(template_dirs)
        self._template_dirs = tuple(template_dirs)
        self.is_own = self._template_dirs == (template_root(),)  # without a user's templates
        self._preambles: dict[Variant, Preamble] = {}
        self.preamble: Preamble = self.preamble_of(Variant(EVERYTHING_ON))
        macros = OpMacros(self.table, self.environment)
        check_ops(self.table, macros, self.preamble, template_dirs[:-1])
        self.ops = KnownOps(self.table, macros)
        self.expressions: Any = TemplateMacros(self.environment, "script/expressions.py.jinja")
        self.statements: Any = TemplateMacros(self.environment, "script/statements.py.jinja")
        self.module_names = frozenset(_module_names(self.preamble))

    def preamble_of(self, variant: Variant) -> Preamble:
        """The helpers as a script of that variant has them."""
        if variant not in self._preambles:
            self._preambles[variant] = load_preamble(self._template_dirs, variant)
        return self._preambles[variant]

    def script(
        self,
        node: ir.Program | ir.Function,
        *,
        check_shapes: bool = False,
        preamble: PreambleMode = "script",
        trace: TraceSelection | None = None,
        options: ScriptOptions | None = None,
        takes_notes: bool = False,
        needs_lines: bool = True,
        warns: bool = False,
        comments: CommentChoice = NO_COMMENTS,
    ) -> Script:
        """The unformatted script of ``node``, with the environment's options if none are given.

        It ``takes_notes`` of what launches ask of the run time, and ``warns`` of each tensor that cores hand
        over unordered. Who ``needs_lines`` not, gets a record that says nothing of lines and functions.
        ``comments`` are those that it makes of types and source lines.
        Raises: UnsupportedProgramError listing all obstacles.
        """
        has_marks = needs_lines or takes_notes or comments.types  # which stand where lines are known by
        marks = Marks(takes_notes=takes_notes) if has_marks else NoMarks()
        builder = ScriptBuilder(self, node, check_shapes, trace, marks, read_options(options), comments)
        script = builder.build(preamble)
        for message in handover_warnings(builder.kernels, self.table) if warns else ():
            warnings.warn(message, HandoverWarning, stacklevel=4)
        return script

    def function_names(self, node: ir.Program | ir.Function) -> Mapping[str, str]:
        """The names that the functions of ``node`` have in any script of it."""
        return ScriptBuilder(self, node, False, None, Marks(), EVERYTHING_OFF).function_names


def generator(template_dirs: Folder | Sequence[Folder] = ()) -> Generator:
    """The generator of the given template folders, else of those in use, before the project's own.

    A template that has changed is read again. Raises TemplateFolderError for a folder that does not exist.
    """
    folders = all_folders(template_dirs)
    return _generator(folders, forget_changed(folders))


@lru_cache(maxsize=8)
def _generator(folders: tuple[Path, ...], state: State) -> Generator:
    return Generator(folders)


class ScriptBuilder(ScriptContext):
    """Has the functions of one script emitted, and joins them with the helpers that they use."""

    generator: Generator

    def build(self, mode: PreambleMode) -> Script:
        """The script with its record."""
        texts = {function.name: FunctionEmitter(self, function).emit() for function in self.functions}
        if self.unsupported:
            raise UnsupportedProgramError(self.unsupported)
        functions = [text.rstrip() for name in self._reading_order() for text in texts[name]]
        codes = {name: [*map(code_in, parts)] for name, parts in texts.items()}
        names_in = self.generator.preamble.names_in_code
        used = {name for parts in codes.values() for code in parts for name in names_in(code)}
        carried = None if mode == "import" else self._carried(codes, used, mode)
        imported = () if carried else self._imported(used)
        helpers = [helper.rstrip() for helper in carried.segments] if carried else []
        marked = render(
            self.generator.environment,
            "script/module.py.jinja",
            {
                "title": _one_line(self.title),
                "options": list(self.changed.items()),
                "imports": sorted({*(carried.imports if carried else ()), "torch"}),
                "imported": imported,
                "helpers": helpers,
                "needs_one_namespace": bool(imported or helpers or len(functions) > 1),
                "groups": [(name, self._meta_items(meta)) for name, meta in self.groups.items()],
                "trace": self.trace,
                "functions": functions,
            },
        )
        return self._record(marked, carried)

    def _reading_order(self) -> list[str]:
        """Names of the functions: entries first, each with what it calls behind it, in order of first use."""
        called = {
            launch.op.name
            for name, facts in self.kernels.facts.items()
            for launch in facts.function_calls
            if launch.op.name != name
        }
        entries = sorted(
            (function for function in self.functions if function.name not in called),
            key=lambda function: function.func_type not in _FIRST_ENTRIES,
        )
        ordered: dict[str, None] = {}
        pending = [function.name for function in reversed([*entries, *self.functions])]
        while pending:
            name = pending.pop()
            if name not in ordered:
                ordered[name] = None
                launches = self.kernels.facts[name].function_calls
                callees = (launch.op.name for launch in launches if self.kernels.callee(launch) is not None)
                pending += reversed([*callees])
        return list(ordered)

    def _carried(
        self, codes: Mapping[str, Sequence[str]], used: set[str], mode: PreambleMode
    ) -> PreambleSelection:
        """The helpers that the script brings along, with a constant for each of its options."""
        if mode == "full":
            return self.generator.preamble_of(Variant(self.options)).full()
        preamble = self.generator.preamble_of(self._variant(codes, used))
        used = used & preamble.names
        if self.groups:
            used = {*used, "_GROUP_META"}
        if self.trace is not None:
            used = {*used, "_TRACE"}
        constants = {constant_of(name) for name in self.changed}
        return preamble.closure({*used, *constants})

    def _variant(self, codes: Mapping[str, Sequence[str]], used: set[str]) -> Variant:
        """What the helpers of this script need to be."""
        has_edges = "_past_edge" in used or self.notes_edges
        is_plain = self.trace is None and self.changed.keys() <= {"storage"}
        pipes = pipe_use(codes, used, self.kernels, self.groups) if is_plain else EVERY_USE
        has_ranks = self.host.function is not None
        return Variant(self.options, has_edges, self.has_free_extents, pipes=pipes, has_ranks=has_ranks)

    def _imported(self, used: set[str]) -> list[str]:
        """The helpers that the script takes from ``pypto_tmpl.preamble``, which has the project's own.

        Raises: OptionError for a script with options, or one that records; PreambleError for a user's helper.
        """
        if self.trace is not None or self.changed:
            what = "options" if self.changed else "a trace"
            raise OptionError(f"a script with {what} carries its helpers: preamble='script' or 'full'")
        preamble = self.generator.preamble
        for helper in (preamble.helpers[name] for name in preamble.closure(used).names):
            if not helper.is_own:
                what = f"the helper {helper.name!r} is a user's, and no part of pypto_tmpl.preamble"
                note = "use preamble='script'"
                raise PreambleError([Diagnostic("foreign-helper", what, str(helper.location), (note,))])
        return sorted(used - {"_GROUP_META"})

    def _record(self, marked: str, carried: PreambleSelection | None) -> Script:
        found = self.marks.taken_out(marked)
        functions = tuple(
            ScriptFunction(
                mark.name, mark.function.name, mark.function.func_type.name, line, line + mark.length - 1
            )
            for line, mark in found.functions.items()
        )
        return Script(
            found.text,
            self.function_names,
            functions,
            carried.names if carried else (),
            min(found.functions, default=0),
            found.statements,
            found.heads,
            {line: stmt.span for line, stmt in found.statements.items() if stmt.span.is_valid()},
            () if self.trace is None else tuple(self.trace.sites),
            self.marks.notes,
            ready=_ready(found.text, carried),
            is_own=self.generator.is_own and not self.has_foreign_text,
        )

    def _meta_items(self, meta: GroupMeta) -> list[tuple[str, object]]:
        value = [] if meta.value is None else [("value", meta.value)]
        return [
            ("aic", self.function_names.get(meta.aic) if meta.aic is not None else None),
            ("aiv", self.function_names.get(meta.aiv) if meta.aiv is not None else None),
            ("split", meta.split),
            ("dual_aiv_dispatch", meta.dual_aiv_dispatch),
            ("lane1_writes", meta.lane1_writes),
            *value,
        ]


def _ready(text: str, carried: PreambleSelection | None) -> tuple[int, int]:
    """Where the helpers stand, if all are the project's own, whose texts are as black writes them."""
    if carried is None or not carried.segments or not carried.is_own:
        return 0, 0
    first, last = carried.segments[0].rstrip(), carried.segments[-1].rstrip()
    return text.rfind(first), text.rfind(last) + len(last)


def _one_line(text: str) -> str:
    """``text`` fit for a docstring: no line breaks, quotes, backslashes or blanks at its ends."""
    return "".join(c if c.isprintable() and c not in '\\"' else "?" for c in text).strip()


def _module_names(preamble: Preamble) -> Iterator[str]:
    """Names that the helpers take at module level: their own, those they define beside them, and imports."""
    for helper in preamble.helpers.values():
        yield helper.name
        yield from _AT_MODULE_LEVEL.findall(helper.text)
        for module in helper.imports:
            yield module.rpartition(" ")[2].partition(".")[0]
