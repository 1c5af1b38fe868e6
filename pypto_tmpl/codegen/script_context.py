"""What the functions of one script share, whoever joins their texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen.cut_tiles import CutTiles
from pypto_tmpl.codegen.groups import is_plain_group
from pypto_tmpl.codegen.host_programs import HostProgram
from pypto_tmpl.codegen.kernels import GroupMeta, KernelMap
from pypto_tmpl.codegen.known_ops import KnownOps
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.marks import Marks
from pypto_tmpl.codegen.names import NameTable
from pypto_tmpl.codegen.options import NO_COMMENTS, CommentChoice, ScriptOptions
from pypto_tmpl.codegen.origins import Origins
from pypto_tmpl.codegen.tracing import ScriptTrace, TraceSelection
from pypto_tmpl.codegen.unsupported import Unsupported
from pypto_tmpl.ir.carriers import TORCH_NAMES
from pypto_tmpl.ir.destinations import OP_NAMES
from pypto_tmpl.ops import OpTable
from pypto_tmpl.storage.destinations import as_assignments
from pypto_tmpl.storage.places import has_addresses


class Templates(Protocol):
    """What functions are made with."""

    table: OpTable
    ops: KnownOps
    expressions: Any
    statements: Any
    module_names: frozenset[str]


class ScriptContext:
    """What the functions of one script share: names, groups, options and the list of obstacles."""

    def __init__(
        self,
        generator: Templates,
        node: ir.Program | ir.Function,
        check_shapes: bool,
        trace: TraceSelection | None,
        marks: Marks,
        options: ScriptOptions,
        comments: CommentChoice = NO_COMMENTS,
    ) -> None:
        self.generator = generator
        self.kernels = KernelMap(_functions_of(node))
        if any(not OP_NAMES.isdisjoint(facts.op_names) for facts in self.kernels.facts.values()):
            node = as_assignments(node, generator.table)
            self.kernels = KernelMap(_functions_of(node))
        self.options, self.changed = options, options.changed()
        self.check_shapes = check_shapes
        self.comments = comments.types and not check_shapes  # checks say the types as well
        self.source_comments = comments.source_lines
        self.marks = marks
        self.trace = None if trace is None else ScriptTrace(trace)
        self.program = node if isinstance(node, ir.Program) else None
        self.functions = _functions_of(node)
        self.title = node.name
        self.carriers = TORCH_NAMES
        self.host = HostProgram(self.kernels.functions)
        self.unsupported: list[Unsupported] = []
        self.has_free_extents = False  # whether functions emitted so far compare extents that are no numbers
        self.has_foreign_text = False  # whether they have statements that a user wrote
        self.groups = dict(self._group_metas())
        self._scheduled = {name for name in self.groups if self._is_scheduled_by_name(name)}
        names = NameTable(generator.module_names)
        self.function_names = {f.name: names.unique(f.name) for f in self.functions}
        self.lane_names = {
            f.name: names.unique(generator.expressions.lane_function(self.function_names[f.name]))
            for f in self.functions
            if self.kernels.runs_on_two_lanes(f)
        }
        host = self.host.function
        self.host_program = (
            ""
            if host is None
            else names.unique(generator.expressions.host_program(self.function_names[host.name]))
        )
        own_names = (*self.function_names.values(), *self.lane_names.values(), self.host_program)
        self.reserved = generator.module_names.union(own_names)

    @lazy
    def origins(self) -> Origins:
        """Where the values of all functions come from."""
        return Origins(self.kernels, self.generator.table)

    @lazy
    def has_addresses(self) -> bool:
        """Whether tiles lie at addresses of their memories, or in allocations that nobody has placed."""
        return self.options.placed or has_addresses(self.functions)

    @lazy
    def notes_edges(self) -> bool:
        """Whether a tile that a load has cut at the edge of its tensor may be stored as it is."""
        return CutTiles(self.kernels, self.generator.table, self.origins.is_inside).any_stored()

    def _group_metas(self) -> Iterator[tuple[str, GroupMeta]]:
        """Metadata of the groups, and of vector kernels that run on two lanes without a cube kernel."""
        for function in self.functions:
            if function.func_type is ir.FunctionType.Group:
                aic, aiv = self.kernels.group_members(function)
                if aic is not None or aiv is not None:
                    yield function.name, self.kernels.meta(function.attrs, aic, aiv)
            elif self.kernels.is_scheduled_alone(function):
                yield function.name, self.kernels.meta(function.attrs, None, function)

    def _is_scheduled_by_name(self, name: str) -> bool:
        function = self.kernels.functions[name]
        return function.func_type is ir.FunctionType.AIV or is_plain_group(self.kernels, function)

    def is_scheduled(self, callee: str) -> bool:
        """True for a callee that the group scheduler runs from its metadata alone."""
        return callee in self._scheduled

    def name_group(self, hint: str) -> str:
        """A key of the group metadata for a cluster scope."""
        names = NameTable(self.groups)
        return names.unique(hint)


def _functions_of(node: ir.Program | ir.Function) -> list[ir.Function]:
    return list(node.functions.values()) if isinstance(node, ir.Program) else [node]
