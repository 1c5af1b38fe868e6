"""Operator calls: what the macro of an op gets to see."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.known_ops import KnownOp, KnownOps
from pypto_tmpl.codegen.operands import CallError, Operand, bind_attributes, bind_operands
from pypto_tmpl.codegen.packed import is_packed
from pypto_tmpl.codegen.poison import Suspect, suspects
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.errors import closest
from pypto_tmpl.ir.attrs import AttrKind
from pypto_tmpl.ir.verifier.outputs import ATOMIC_ADD_DTYPES
from pypto_tmpl.ops import KwargSpec, OpEntry
from pypto_tmpl.ops import facts as op_facts
from pypto_tmpl.ops.blocks import may_have_block

_TYPED = (ir.ShapedType, ir.ScalarType)  # what has a dtype
_LITERALS = (ir.ConstInt, ir.ConstFloat, ir.ConstBool)

# Scales of these layouts lie in memory in blocks; some ops know how, or look at extents only.
_PACKED = (ir.TensorLayout.MX_A_ZZ, ir.TensorLayout.MX_B_NN)


class OperatorCalls:
    """Turns operator calls of one function into expressions through the op table's macros."""

    def __init__(
        self,
        ops: KnownOps,
        context: Context,
        variables: Variables,
        values: Values,
        expressions: Expressions,
        valid: ValidRegions,
    ) -> None:
        self._ops = ops
        self._context, self._macros = context, context.macros
        self._variables, self._values, self._expressions = variables, values, expressions
        self._valid = valid
        self.suspects: list[Suspect] = []  # of the statement being emitted

    def emit(self, call: ir.Call) -> str:
        """The expression for ``call``; obstacles are reported and give a placeholder."""
        known = self._ops.find(call.op.name)
        operands = [self._operand(arg) for arg in call.args]  # their obstacles count in any case
        if known is None or not known.is_executable:
            return self._without_macro(call, None if known is None else known.entry)
        if not (self._dtypes_are_supported(call, known) and self._may_write(call, known)):
            return str(self._macros.nothing())
        if not (known.unpacks or self._is_by_row_and_column(call)):
            return str(self._macros.nothing())
        if not known.writes_late:
            self._read_before(call, known, operands)
        if known.heeds_start:
            for arg, operand in zip(call.args, operands, strict=True):
                operand.edge = self._edge(arg, call)
        entry = known.entry
        try:
            bound = bind_operands(entry, operands)
            attributes = bind_attributes(
                entry,
                self._keywords(call, known) if call.kwargs else {},
                asked=partial(self._fact, known, call),
                in_kernel=self._context.in_kernel,
            )
        except CallError as error:
            self._context.report(error.what, call.span)
            return str(self._macros.nothing())
        text = self._ops.macros.call(entry, bound, attributes)
        if self._context.script.options.poison:
            self._suspect(known, call, operands, attributes.result)
        return text

    def _fact(self, known: KnownOp, call: ir.Call, name: str) -> Any:
        """What the macro of an op asks of a call beyond operands and keywords."""
        match name:
            case "result":
                return self._facts("", call, is_result=True)
            case "device":
                return self._variables.device
            case "source_is_written":
                return self._values.is_written(call)
            case "may_be_negative":
                return self._may_be_negative(known.entry, call)
            case "is_inside":
                return self._values.is_plain_window(call)
            case "may_be_view":
                return self._values.may_be_view(call)
        return self._context.script.options.poison

    def check_noop(self, call: ir.Call) -> None:
        """Report what an op without effect cannot have: it emits nothing, but nothing goes unnoticed."""
        known = self._ops.find(call.op.name)
        assert known is not None
        entry = known.entry
        if len(call.args) > len(entry.operands):
            taken = len(entry.operands)
            self._context.report(
                f"{entry.name} takes {taken} operands, the call has {len(call.args)}", call.span
            )
        try:
            self._keywords(call, known)
        except CallError as error:
            self._context.report(error.what, call.span)

    def _without_macro(self, call: ir.Call, entry: OpEntry | None) -> str:
        if entry is None:
            self._context.report(f"operator {call.op.name!r} is not in the op table", call.span)
        elif entry.refused is not None:
            self._context.report(f"operator {call.op.name!r} is refused: {entry.refused}", call.span)
        return str(self._macros.nothing())

    def _dtypes_are_supported(self, call: ir.Call, known: KnownOp) -> bool:
        scratch = known.scratch
        args = [arg for at, arg in enumerate(call.args) if at < len(scratch) and not scratch[at]]
        wrong: dict[str, ir.Expr] = {}
        for node in (call, *args):
            type_ = node.type
            if not known.takes(type_) and isinstance(type_, _TYPED):
                wrong.setdefault(type_.dtype.name, node)
        for name, node in wrong.items():
            if self._context.check_dtype(node):
                self._context.report(f"operator {call.op.name!r} on dtype {name}", call.span)
        return not wrong

    def _may_write(self, call: ir.Call, known: KnownOp) -> bool:
        """Whether a store has the part it writes and a target that can be added to; reported if not."""
        if known.lays and not _has_its_block(call):
            self._context.report(f"operator {call.op.name!r} writes more than its tile has", call.span)
            return False
        if "atomic" not in known.keywords:
            return True
        if call.kwargs.get("atomic") != ir.AtomicType.Add or not isinstance(call.type, ir.ShapedType):
            return True
        name = call.type.dtype.name
        if name in ATOMIC_ADD_DTYPES:
            return True
        self._context.report(f"operator {call.op.name!r} adds atomically to {name}", call.span)
        return False

    def _read_before(self, call: ir.Call, known: KnownOp, operands: list[Operand]) -> None:
        """Have operands copied that may show cells which the call writes: they are read before."""
        entry = known.entry
        position = entry.operand_names.index(entry.writes[0])
        if position >= len(operands):
            return
        target, named = call.args[position], dict(zip(entry.operand_names, operands, strict=False))
        is_laid = "shapes" not in named and not is_packed(target.type)  # the source itself at the offsets
        offsets = named.get("offsets", named.get("offset")) if is_laid else None
        for at, (name, arg) in enumerate(zip(entry.operand_names, call.args, strict=False)):
            if name in entry.writes or known.scratch[at] or not isinstance(arg.type, ir.ShapedType):
                continue
            if self._values.may_share(arg, target):
                text = self._macros.apart(operands[at], operands[position], offsets)
                operands[at] = operands[at].copied(str(text))
            if known.lays and ("shapes" in named or not self._values.edges.is_loaded(arg)):
                operands[at].edge = self._edge(arg, call)

    def _is_by_row_and_column(self, call: ir.Call) -> bool:
        """Whether no operand lies packed in memory where the op expects rows; if one does, it is reported."""
        for arg in call.args:
            view = arg.type.tensor_view if isinstance(arg.type, ir.TensorType) else None
            if view is not None and view.layout in _PACKED:
                what = f"operator {call.op.name!r} on a tensor in layout {view.layout.name}, which is packed"
                self._context.report(f"{what} in memory: only tile.load and tile.store know how", call.span)
                return False
        return True

    def _keywords(self, call: ir.Call, known: KnownOp) -> Mapping[str, Any]:
        specs = known.keywords
        for key in call.kwargs:
            if key not in specs:
                guess = closest(key, specs)
                hint = f", did you mean {guess!r}?" if guess else ""
                raise CallError(f"operator {call.op.name!r} has no keyword {key!r}{hint}")
        return {key: _plain(call, key, specs[key]) for key in call.kwargs}

    def _operand(self, arg: ir.Expr) -> Operand:
        if isinstance(arg, ir.MakeTuple):
            items = [self._expressions.expr(element) for element in arg.elements]
            return Operand(self._macros.list_of(items), items=items)
        return self._facts(self._expressions.operand(arg), arg)

    def _facts(self, text: str, node: ir.Expr, *, is_result: bool = False) -> Operand:
        type_ = node.type
        if isinstance(type_, ir.ScalarType):
            is_literal = isinstance(node, _LITERALS)
            return Operand(text, dtype_name=type_.dtype.name, is_literal=is_literal)
        if not isinstance(type_, ir.ShapedType):
            return Operand(text)
        is_popped = is_result and op_facts.of_value(node).pipe_end == "pop"
        return Operand.shaped(
            text,
            type_,
            lambda: [self._expressions.expr(dim) for dim in type_.shape],
            lambda: None if is_popped else self._valid.region(node),  # no region before the run
        )

    def _edge(self, arg: ir.Expr, call: ir.Call) -> Operand | None:
        """The cells before which nothing of an operand's tensor lies, for macros, if there are any."""
        try:
            starts = self._values.edges.starts(arg)
        except CallError as error:
            self._context.report(error.what, call.span)
            return None
        if starts is None:
            return None
        items = [self._expressions.expr(start) for start in starts]
        return Operand(self._macros.list_of(items), items=items)

    def _may_be_negative(self, entry: OpEntry, call: ir.Call) -> bool:
        """Whether an index of the element that a call names is not known to count from the start."""
        if "indices" not in entry.operand_names:
            return False
        indices = call.args[entry.operand_names.index("indices")]
        return isinstance(indices, ir.MakeTuple) and any(
            self._values.bounds.of(index)[0] < 0 for index in indices.elements
        )

    def _suspect(self, known: KnownOp, call: ir.Call, operands: list[Operand], result: Operand) -> None:
        """Note the operands of ``call`` whose padding its result must not show."""
        if any(map(self._values.is_fresh, call.args)) or any(map(self._values.is_partial, call.args)):
            self.suspects += suspects(
                known.entry,
                call.args,
                operands,
                result,
                self._values.is_fresh,
                self._values.is_partial,
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
