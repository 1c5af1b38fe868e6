"""Text of scope statements (spec: DSL, 6 and 12.8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from pypto_tmpl.ir.attrs import SCOPE_LISTS, AttrKind
from pypto_tmpl.ir.base import Stmt
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import Level, SplitMode
from pypto_tmpl.ir.expr import Call
from pypto_tmpl.ir.leaves import Var
from pypto_tmpl.ir.printer.destinations import DestinationPrinter
from pypto_tmpl.ir.printer.pieces import (
    Mention,
    Piece,
    Pieces,
    PrintError,
    Role,
    bracketed,
    joined,
    option,
    string_text,
)
from pypto_tmpl.ir.printer.spellings import BLOCK_INDEX_OP, LANE_INDEX_OP
from pypto_tmpl.ir.printer.statements import (
    Block,
    flat_statements,
    index_assigned,
    task_of,
)
from pypto_tmpl.ir.scalar_types import ScalarType
from pypto_tmpl.ir.span import Span
from pypto_tmpl.ir.stmt import (
    ClusterScopeStmt,
    CommDomainScopeStmt,
    HierarchyScopeStmt,
    InCoreScopeStmt,
    RuntimeScopeStmt,
    ScopeStmt,
    SeqStmts,
    SplitAivScopeStmt,
    SpmdScopeStmt,
)
from pypto_tmpl.ir.walking import walk

_METHODS: dict[type, str] = {
    InCoreScopeStmt: "_in_core",
    HierarchyScopeStmt: "_hierarchy",
    ClusterScopeStmt: "_cluster",
    RuntimeScopeStmt: "_runtime",
    SpmdScopeStmt: "_spmd",
    SplitAivScopeStmt: "_split_aiv",
    CommDomainScopeStmt: "_comm_domain",
}

# Attributes that are keywords of the scope, in the order in which these are written.
_AT_KEYWORDS = {
    **{name: (keyword, AttrKind.VARS) for name, keyword in SCOPE_LISTS.items()},
    "allow_early_resolve": ("allow_early_resolve", AttrKind.BOOL),
    "windowize": ("windowize", AttrKind.BOOL),
}
_SPMD_KEYWORDS = {
    "allow_early_resolve": ("allow_early_resolve", AttrKind.BOOL),
    "predicate": ("predicate", AttrKind.EXPR),
    "manual_dep_edges": ("deps", AttrKind.VARS),
}
_SPMD_LOOP_ATTRS = frozenset({"allow_early_resolve", "predicate"})
_HINT_SUFFIX = "_spmd"  # added to the name of an Spmd scope whose in-core scope the reader makes


class SpmdLoop(NamedTuple):
    """An Spmd scope that reads ``for index in pl.spmd(...)``."""

    loop_var: Var
    in_core: InCoreScopeStmt
    hidden: tuple[Stmt, ...]  # statements that the form stands for
    body: Stmt


class ScopePrinter(DestinationPrinter):
    """Scopes."""

    def scope(self, node: ScopeStmt, block: Block) -> Pieces:
        method = _METHODS.get(type(node))
        if method is None:
            raise PrintError(f"no text for a scope of class {type(node).__name__}")
        pieces: Pieces = getattr(self, method)(node, block)
        return pieces

    def _in_core(self, node: InCoreScopeStmt, block: Block) -> Pieces:
        options = (f"level={self.enum(Level.CORE_GROUP)}", *self._optimizations(node))
        hidden = ("slot_num",) if _has_slots(node) else ()
        return self._with("at", (*options, *self._keywords_of(node, _AT_KEYWORDS, hidden)), node, block)

    def _hierarchy(self, node: HierarchyScopeStmt, block: Block) -> Pieces:
        if node.level is Level.CORE_GROUP:
            raise PrintError("a HierarchyScopeStmt of level CORE_GROUP would read as an InCoreScopeStmt")
        options = [f"level={self.enum(node.level)}"]
        if node.role is not None:
            options.append(f"role={self.enum(node.role)}")
        return self._with("at", (*options, *self._keywords_of(node, _AT_KEYWORDS)), node, block)

    def _cluster(self, node: ClusterScopeStmt, block: Block) -> Pieces:
        return self._with("cluster", self._keywords_of(node), node, block)

    def _runtime(self, node: RuntimeScopeStmt, block: Block) -> Pieces:
        mode = (f"mode={self.prefix}.ScopeMode.MANUAL",) if node.manual else ()
        return self._with("scope", (*mode, *self._keywords_of(node)), node, block)

    def _spmd(self, node: SpmdScopeStmt, block: Block) -> Pieces:
        options: list[Piece] = [self.expr(node.core_num)]
        if node.sync_start:
            options.append("sync_start=True")
        loop = _spmd_loop(node)
        in_core = _inline_body(node) if loop is None else loop.in_core
        optimizations = () if in_core is None else self._optimizations(in_core)
        options += self._keywords_of(node, _SPMD_KEYWORDS, first=optimizations)
        if loop is None:
            if in_core is not None:
                yield self.comments(in_core, block)
            yield self._with("spmd", options, node, block, node.body if in_core is None else in_core.body)
            return
        for hidden in loop.hidden:
            yield self.comments(hidden, block)
        yield f"{block.indent}for "
        yield self.define(loop.loop_var)
        yield f" in {self.prefix}.spmd("
        yield joined(options)
        yield "):\n"
        yield self.statements(loop.body, block.inner(block.targets))

    def _split_aiv(self, node: SplitAivScopeStmt, block: Block) -> Pieces:
        first, *rest = flat_statements(node.body) or [node.body]
        lane = index_assigned(first, LANE_INDEX_OP)
        if lane is not None:
            self.lanes.add(id(lane))
            yield self.comments(first, block)
        yield f"{block.indent}for "
        yield self.define(lane or Var("_lane", ScalarType(DataType.INDEX), Span.unknown()))
        yield f" in {self.prefix}.split_aiv("
        yield joined((str(node.count), f"mode={self.enum(node.split)}", *self._keywords_of(node)))
        yield "):\n"
        outer, self.split = self.split, node.split
        body = node.body if lane is None else SeqStmts(rest, Span.unknown())
        yield self.statements(body, block.inner(block.targets))
        self.split = outer

    def _comm_domain(self, node: CommDomainScopeStmt, block: Block) -> Pieces:
        """A comment, which leaves out the name: the language has no form for this scope, reading loses it."""
        devices = f"[{', '.join(map(str, node.devices))}]" if node.devices else "all"
        slots = bracketed([Mention(slot.base, Role.LABEL) for slot in node.slots])
        yield f"{block.indent}# pld.comm_domain: "
        attrs = [option("attrs", self.attributes(node.attrs, node.attrs))] if node.attrs else []
        yield joined(("devices=" + devices, option("slots", slots), *attrs))
        yield "\n"
        yield self.statements(node.body, block)

    def _with(
        self,
        name: str,
        options: Iterable[Piece],
        node: ScopeStmt,
        block: Block,
        body: Stmt | None = None,
    ) -> Pieces:
        yield f"{block.indent}with {self.prefix}.{name}("
        yield joined(options)
        yield ")"
        task = task_of(node)
        if task is not None:
            yield " as "
            yield self.define(task)
        yield ":\n"
        yield self.statements(body or node.body, block.inner(block.targets))

    def _optimizations(self, node: InCoreScopeStmt) -> Pieces:
        found: list[Piece] = []
        if node.split is not SplitMode.NONE:
            found.append(f"{self.prefix}.split({self.enum(node.split)})")
        if _has_slots(node):
            found.append(f"{self.prefix}.cross_core_slot(slot_num={node.attrs['slot_num']})")
        if found:
            yield option("optimizations", bracketed(found))

    def _keywords_of(
        self,
        node: ScopeStmt,
        known: Mapping[str, tuple[str, AttrKind]] = MappingProxyType({}),
        hidden: Iterable[str] = (),
        first: Iterable[Piece] = (),
    ) -> Pieces:
        """Name hint and attributes of a scope; those without a keyword of their own as ``attrs={...}``."""
        attrs, kinds = node.attrs, node.attrs.kinds
        written = {
            key for key, (_, kind) in known.items() if kinds.get(key) is kind and attrs[key] is not None
        }
        if node.name_hint:
            yield "name_hint=" + string_text(node.name_hint, '"')
        yield from first
        for key, (name, kind) in known.items():
            if key in written:
                is_condition = kind is AttrKind.EXPR
                yield option(
                    name, self.predicate(attrs[key]) if is_condition else self.value(key, kind, attrs[key])
                )
        written |= set(hidden) | ({"task_id_var"} if task_of(node) else set())
        left = [key for key in attrs if key not in written]
        if left:
            yield option("attrs", self.attributes(attrs, left))


def _has_slots(node: InCoreScopeStmt) -> bool:
    return node.attrs.kinds.get("slot_num") is AttrKind.INT


def _spmd_loop(node: SpmdScopeStmt) -> SpmdLoop | None:
    """The loop form of an Spmd scope, None where reading that form would give another scope."""
    in_core = _implied_in_core(node)
    if in_core is None or not _SPMD_LOOP_ATTRS.issuperset(node.attrs):
        return None
    first, *rest = flat_statements(in_core.body) or [in_core]
    index = index_assigned(first, BLOCK_INDEX_OP)
    if index is None:
        return None
    return SpmdLoop(index, in_core, (in_core, first), SeqStmts(rest, Span.unknown()))


def _implied_in_core(node: SpmdScopeStmt) -> InCoreScopeStmt | None:
    """The InCore scope that is the body of an Spmd scope, where it tells nothing that the latter does not."""
    body = flat_statements(node.body)
    if len(body) != 1 or not isinstance(body[0], InCoreScopeStmt):
        return None
    in_core = body[0]
    hints = (node.name_hint, in_core.name_hint)
    has_derived_hint = hints in (("", ""), (in_core.name_hint + _HINT_SUFFIX, in_core.name_hint))
    has_own_attrs = any(key != "slot_num" for key in in_core.attrs)
    return in_core if has_derived_hint and not has_own_attrs else None


def _inline_body(node: SpmdScopeStmt) -> InCoreScopeStmt | None:
    """The InCore scope that the reader makes around the body of ``with pl.spmd(...) as tid``.

    It makes one for a body that reads the block index, or where there are optimizations.
    """
    in_core = _implied_in_core(node) if task_of(node) is not None else None
    if in_core is None or in_core.split is not SplitMode.NONE or _has_slots(in_core):
        return in_core
    body = flat_statements(in_core.body)
    if len(body) == 1 and isinstance(body[0], (InCoreScopeStmt, HierarchyScopeStmt)):
        return None
    inner = list(walk(in_core.body))
    reads_index = any(isinstance(found, Call) and found.op.name == BLOCK_INDEX_OP for found in inner)
    hides_index = any(
        isinstance(found, SpmdScopeStmt) for found in inner
    )  # a loop over blocks names it alone
    return in_core if reads_index and not hides_index else None
