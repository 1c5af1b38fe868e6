"""Operator calls: what the macro of an op gets to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pypto_tmpl import ir
from pypto_tmpl.codegen.bounds import IntegerBounds
from pypto_tmpl.codegen.edges import Edges, Starts
from pypto_tmpl.codegen.environment import OpMacros
from pypto_tmpl.codegen.filters import TORCH_NAMES
from pypto_tmpl.codegen.operands import CallError, Operand, bind_attributes, bind_operands
from pypto_tmpl.codegen.packed import is_packed
from pypto_tmpl.codegen.regions import POPS
from pypto_tmpl.errors import closest
from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.verifier.outputs import ATOMIC_ADD_DTYPES
from pypto_tmpl.ops import KwargSpec, OpEntry, OpTable
from pypto_tmpl.ops.blocks import may_have_block

_READ_FIRST = frozenset({"matmul", "matmul_mx"})  # families whose ops compute before they write
_LAID = frozenset({"tile.store", "tile.assemble", "tensor.assemble"})  # write the cells of a source
# Families and single ops whose macros leave out the cells before a value's tensor.
_HEEDS_START = frozenset(
    {"arg_reduce", "matmul", "matmul_mx", "padding", "partial", "reduce", "scatter"}
    | {"tensor.gather_compare", "tile.fillpad", "tile.gather_compare", "tile.mscatter"}
)
_LITERALS = (ir.ConstInt, ir.ConstFloat, ir.ConstBool)

# Scales of these layouts lie in memory in blocks; these ops know how, or look at the extents only.
_PACKED = (ir.TensorLayout.MX_A_ZZ, ir.TensorLayout.MX_B_NN)
_UNPACKING = frozenset({"tile.load", "tile.store", "tensor.dim"})


class CallSource(Protocol):
    """What the op emitter needs of the function emitter."""

    macros: Any
    in_kernel: bool

    @property
    def device(self) -> str | None: ...
    def expr(self, node: ir.Expr) -> str: ...
    def operand(self, node: ir.Expr) -> str: ...
    def region(self, node: ir.Expr) -> tuple[str, list[str]] | None: ...
    def report(self, what: str, span: ir.Span) -> None: ...
    def check_dtype(self, node: ir.Expr) -> bool: ...
    def is_written(self, call: ir.Call) -> bool: ...
    def may_share(self, left: ir.Expr, right: ir.Expr) -> bool: ...
    def is_plain_window(self, call: ir.Call) -> bool: ...
    def may_be_view(self, call: ir.Call) -> bool: ...
    @property
    def bounds(self) -> IntegerBounds: ...
    @property
    def edges(self) -> Edges: ...
    def suspect(self, entry: OpEntry, call: ir.Call, operands: list[Operand], result: Operand) -> None: ...


@dataclass(frozen=True, slots=True)
class _KnownOp:
    """What the table says of an op, looked up once."""

    entry: OpEntry
    family: str
    keywords: Mapping[str, KwargSpec]
    heeds_start: bool
    writes_late: bool  # it reads all of its operands before it writes, or writes none

    @classmethod
    def of(cls, entry: OpEntry, family: str) -> _KnownOp:
        heeds_start = not _HEEDS_START.isdisjoint((family, entry.name))
        writes_late = not entry.writes or family in _READ_FIRST
        return cls(entry, family, {spec.name: spec for spec in entry.kwargs}, heeds_start, writes_late)


class OpEmitter:
    """Turns operator calls into expressions through the op table's macros."""

    def __init__(self, table: OpTable, macros: OpMacros) -> None:
        self.table = table
        self.macros = macros
        self._known: dict[str, _KnownOp] = {}

    def emit(self, source: CallSource, call: ir.Call) -> str:
        """The expression for ``call``; obstacles are reported and give a placeholder."""
        known = self._known_op(call.op.name)
        operands = [self._operand(source, arg) for arg in call.args]  # their obstacles count in any case
        if known is None or not known.entry.is_executable:
            return self._without_macro(source, call, None if known is None else known.entry)
        entry = known.entry
        if not (self._dtypes_are_supported(source, call, entry) and self._may_write(source, call)):
            return str(source.macros.nothing())
        if not self._is_by_row_and_column(source, call):
            return str(source.macros.nothing())
        if not known.writes_late:
            self._read_before(source, call, entry, operands)
        if known.heeds_start:
            for arg, operand in zip(call.args, operands, strict=True):
                starts = source.edges.starts(arg)
                operand.edge = None if starts is None else _edge(source, starts)
        result = self._facts(source, "", call, is_result=True)
        try:
            bound = bind_operands(entry, operands)
            attributes = bind_attributes(
                entry,
                self._keywords(call, known),
                result=result,
                in_kernel=source.in_kernel,
                device=source.device,
                source_is_written=source.is_written(call),
                may_be_negative=_may_be_negative(source, entry, call),
                is_inside=source.is_plain_window(call),
                may_be_view=source.may_be_view(call),
            )
        except CallError as error:
            source.report(error.what, call.span)
            return str(source.macros.nothing())
        text = self.macros.call(entry, bound, attributes)
        source.suspect(entry, call, operands, result)
        return text

    def check_noop(self, source: CallSource, call: ir.Call) -> None:
        """Report what an op without effect cannot have: it emits nothing, but nothing goes unnoticed."""
        known = self._known_op(call.op.name)
        assert known is not None
        entry = known.entry
        if len(call.args) > len(entry.operands):
            taken = len(entry.operands)
            source.report(f"{entry.name} takes {taken} operands, the call has {len(call.args)}", call.span)
        try:
            self._keywords(call, known)
        except CallError as error:
            source.report(error.what, call.span)

    def _without_macro(self, source: CallSource, call: ir.Call, entry: OpEntry | None) -> str:
        if entry is None:
            source.report(f"operator {call.op.name!r} is not in the op table", call.span)
        elif entry.refused is not None:
            source.report(f"operator {call.op.name!r} is refused: {entry.refused}", call.span)
        return str(source.macros.nothing())

    def _dtypes_are_supported(self, source: CallSource, call: ir.Call, entry: OpEntry) -> bool:
        wrong: dict[str, ir.Expr] = {}
        operands = zip(entry.operands, call.args, strict=False)
        for node in (call, *(arg for operand, arg in operands if not operand.scratch)):
            type_ = node.type
            if isinstance(type_, ir.ShapedType):
                if type_.dtype.name not in entry.dtypes:
                    wrong.setdefault(type_.dtype.name, node)
            elif isinstance(type_, ir.ScalarType) and type_.dtype.name not in TORCH_NAMES:
                wrong.setdefault(type_.dtype.name, node)
        for name, node in wrong.items():
            if source.check_dtype(node):
                source.report(f"operator {call.op.name!r} on dtype {name}", call.span)
        return not wrong

    def _may_write(self, source: CallSource, call: ir.Call) -> bool:
        """Whether a store has the part it writes and a target that can be added to; reported if not."""
        if call.op.name == "tile.store" and not _has_its_block(call):
            source.report(f"operator {call.op.name!r} writes more than its tile has", call.span)
            return False
        if call.kwargs.get("atomic") != ir.AtomicType.Add or not isinstance(call.type, ir.ShapedType):
            return True
        name = call.type.dtype.name
        if name in ATOMIC_ADD_DTYPES:
            return True
        source.report(f"operator {call.op.name!r} adds atomically to {name}", call.span)
        return False

    def _read_before(
        self, source: CallSource, call: ir.Call, entry: OpEntry, operands: list[Operand]
    ) -> None:
        """Have operands copied that may show cells which the call writes: they are read before."""
        position = entry.operand_names.index(entry.writes[0])
        if position >= len(operands):
            return
        target, named = call.args[position], dict(zip(entry.operand_names, operands, strict=False))
        is_laid = "shapes" not in named and not is_packed(target.type)  # the source itself at the offsets
        offsets = named.get("offsets", named.get("offset")) if is_laid else None
        for at, (name, arg) in enumerate(zip(entry.operand_names, call.args, strict=False)):
            if name in entry.writes or entry.operands[at].scratch or not isinstance(arg.type, ir.ShapedType):
                continue
            if source.may_share(arg, target):
                text = source.macros.apart(operands[at], operands[position], offsets)
                operands[at] = operands[at].copied(str(text))
            starts = source.edges.starts(arg) if entry.name in _LAID else None
            if starts is not None and ("shapes" in named or not source.edges.is_loaded(arg)):
                operands[at].edge = _edge(source, starts)

    def _is_by_row_and_column(self, source: CallSource, call: ir.Call) -> bool:
        """Whether no operand lies packed in memory where the op expects rows; if one does, it is reported."""
        if call.op.name in _UNPACKING:
            return True
        for arg in call.args:
            view = arg.type.tensor_view if isinstance(arg.type, ir.TensorType) else None
            if view is not None and view.layout in _PACKED:
                what = f"operator {call.op.name!r} on a tensor in layout {view.layout.name}, which is packed"
                source.report(f"{what} in memory: only tile.load and tile.store know how", call.span)
                return False
        return True

    def _known_op(self, name: str) -> _KnownOp | None:
        known = self._known.get(name)
        if known is None and (entry := self.table.get(name)) is not None:
            known = self._known[name] = _KnownOp.of(entry, self.table.family_of(name))
        return known

    def _keywords(self, call: ir.Call, known: _KnownOp) -> Mapping[str, Any]:
        specs = known.keywords
        for key in call.kwargs:
            if key not in specs:
                guess = closest(key, specs)
                hint = f", did you mean {guess!r}?" if guess else ""
                raise CallError(f"operator {call.op.name!r} has no keyword {key!r}{hint}")
        return {key: _plain(call, key, specs[key]) for key in call.kwargs}

    def _operand(self, source: CallSource, arg: ir.Expr) -> Operand:
        if isinstance(arg, ir.MakeTuple):
            items = [source.expr(element) for element in arg.elements]
            return Operand(source.macros.list_of(items), items=items)
        return self._facts(source, source.operand(arg), arg)

    def _facts(self, source: CallSource, text: str, node: ir.Expr, *, is_result: bool = False) -> Operand:
        type_ = node.type
        if isinstance(type_, ir.ScalarType):
            is_literal = isinstance(node, _LITERALS)
            return Operand(text, dtype_name=type_.dtype.name, is_literal=is_literal)
        if not isinstance(type_, ir.ShapedType):
            return Operand(text)
        is_popped = is_result and isinstance(node, ir.Call) and node.op.name in POPS
        space = type_.memory_space if isinstance(type_, ir.TileType) else None
        view = type_.tensor_view if isinstance(type_, ir.TensorType) else None
        return Operand.shaped(
            text,
            type_.dtype.name,
            len(type_.shape),
            space.name if space is not None else None,
            lambda: [source.expr(dim) for dim in type_.shape],
            lambda: None if is_popped else source.region(node),  # no region before the run
            layout=view.layout.name if view is not None else None,
        )


def _edge(source: CallSource, starts: Starts) -> Operand:
    """The cells before which nothing of a value's tensor lies, as a macro takes them."""
    items = [source.expr(start) for start in starts]
    return Operand(source.macros.list_of(items), items=items)


def _may_be_negative(source: CallSource, entry: OpEntry, call: ir.Call) -> bool:
    """Whether an index of the element that a call names is not known to count from the start."""
    if "indices" not in entry.operand_names:
        return False
    indices = call.args[entry.operand_names.index("indices")]
    return isinstance(indices, ir.MakeTuple) and any(
        source.bounds.of(index)[0] < 0 for index in indices.elements
    )


def _has_its_block(call: ir.Call) -> bool:
    """Whether the extents that a store states, if it does, may be those of a part of its tile."""
    tile, shapes = call.args[0].type, call.args[-1]
    if len(call.args) < 4 or not isinstance(tile, ir.ShapedType) or not isinstance(shapes, ir.MakeTuple):
        return True
    return may_have_block(tile.shape, shapes.elements)


def _plain(call: ir.Call, key: str, spec: KwargSpec) -> Any:
    """A keyword's value as a template takes it: enums and coded options by name."""
    value, kind = call.kwargs[key], call.kwargs.kinds[key]
    if spec.type == "PadValue":
        return _pad_value(call, key, spec, value)
    if kind is AttrKind.DATA_TYPE or hasattr(value, "name"):
        return value.name
    if spec.values and isinstance(value, int):
        names = [name for name, code in spec.values.items() if code == value]
        if not names:
            codes = ", ".join(str(code) for code in spec.values.values())
            raise CallError(f"operator {call.op.name!r}: {key}={value} is none of {codes}")
        return names[0]
    if spec.type == "float" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value


def _pad_value(call: ir.Call, key: str, spec: KwargSpec, value: Any) -> str:
    """Name of a pad value; where an op needs one, "no padding" is none."""
    names = [pad.name for pad in ir.PadValue if not (spec.required and pad is ir.PadValue.null)]
    pad = value if isinstance(value, ir.PadValue) else None
    if pad is None or pad.name not in names:
        shown = pad.name if pad is not None else repr(value)
        raise CallError(f"operator {call.op.name!r}: {key}={shown} is none of {', '.join(names)}")
    return pad.name
