"""Operator calls: what the macro of an op gets to see."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from pypto_tmpl import ir
from pypto_tmpl.codegen.call_texts import Key, Question
from pypto_tmpl.codegen.context import Context
from pypto_tmpl.codegen.expressions import Expressions
from pypto_tmpl.codegen.known_ops import KnownOp, KnownOps
from pypto_tmpl.codegen.lazy import lazy
from pypto_tmpl.codegen.operands import CallError, Operand, bind_attributes, bind_operands
from pypto_tmpl.codegen.packed import is_packed
from pypto_tmpl.codegen.poison import Suspect, suspects
from pypto_tmpl.codegen.rank_launches import RankLaunches
from pypto_tmpl.codegen.type_keys import type_key
from pypto_tmpl.codegen.valid_regions import ValidRegions
from pypto_tmpl.codegen.values import Values
from pypto_tmpl.codegen.variables import Variables
from pypto_tmpl.domains.errors import DomainError
from pypto_tmpl.errors import closest
from pypto_tmpl.ir.attrs import ENUM_KINDS, AttrKind
from pypto_tmpl.ir.verifier.outputs import ATOMIC_ADD_DTYPES
from pypto_tmpl.ops import KwargSpec, OpEntry
from pypto_tmpl.ops.blocks import may_have_block

_TYPED = (ir.ShapedType, ir.ScalarType)  # what has a dtype
_LITERALS = frozenset({ir.ConstInt, ir.ConstFloat, ir.ConstBool})
_PLAIN = frozenset(
    {bool, int, float, str, ir.DataType, *ENUM_KINDS}
)  # keywords whose values tell all of them
_EDGES = ("manual_dep_edges", "compiler_manual_dep_edges")
MAY_WRITE: Question = ("may_write", -1)

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
        parts = self._parts(call)  # their obstacles count in any case
        if known is None or not known.is_executable:
            return self._without_macro(call, None if known is None else known.entry)
        key = self._key(call, parts) if self._may_be_known else None
        texts = self._ops.texts
        found = None if key is None else texts.find(key)
        if isinstance(found, str):
            return found
        facts = CallFacts(self, known, call)
        if found is not None and (text := found.told(facts.answer)) is not None:
            return text
        reported = len(self._context.script.unsupported)
        text = self._made(facts, parts)
        if key is not None and len(self._context.script.unsupported) == reported:
            texts.keep(key, facts.answers, text)
        return text

    @lazy
    def _may_be_known(self) -> bool:
        """Whether the macros of the function's calls are told no more than keys and answers hold."""
        is_plain = not (
            self._context.on_host or self._context.runs_tasks
        )  # where calls of one text may differ by what they are bound to
        return is_plain and not self._context.script.options.poison and not self._values.edges.has_any

    def _key(self, call: ir.Call, parts: list[str | list[str]]) -> Key | None:
        """What the macro of a call is told in any case; None where some of that tells calls not apart."""
        key: list[Any] = [call.op.name, self._context.in_kernel, type_key(call.type)]
        for arg, part in zip(call.args, parts, strict=True):
            if isinstance(part, list):
                key.append(tuple(part))
            else:
                key += (part, type_key(arg.type), type(arg) in _LITERALS)
        for name, value in call.kwargs.items():
            kind = type(value)
            if kind not in _PLAIN:
                return None
            key += (name, kind, str(value) if kind is float else value)  # 0.0 == -0.0
        return tuple(key)

    def into(self, call: ir.Call, destination: str) -> str | None:
        """The expression that writes the result of a call into a tile, None where it has no such form.

        ``emit`` has reported what obstacles the call has.
        """
        known = self._ops.find(call.op.name)
        if known is None or "into" not in known.entry.macros:
            return None
        parts = [self._part(arg) for arg in call.args]
        key = self._key(call, parts) if self._may_be_known else None
        key = None if key is None else (destination, *key)
        found = None if key is None else self._ops.texts.find(key)
        facts = CallFacts(self, known, call)
        text = found if isinstance(found, str) else None if found is None else found.told(facts.answer)
        if text is None:
            operands = [facts.operand(at, part) for at, part in enumerate(parts)]
            attributes = bind_attributes(
                known.entry,
                self._keywords(call, known) if call.kwargs else {},
                asked=facts.asked,
                in_kernel=self._context.in_kernel,
                destination=destination,
            )
            text = self._ops.macros.into(known.entry, bind_operands(known.entry, operands), attributes)
            if key is not None:
                self._ops.texts.keep(key, facts.answers, text)
        return text or None

    def _made(self, facts: CallFacts, parts: list[str | list[str]]) -> str:
        """What the macro of an op makes of a call."""
        known, call = facts.known, facts.call
        if known.is_of_host and not self._context.on_host:
            what = f"operator {call.op.name!r}, of which only host orchestrators have the runtime"
            self._context.report(what, call.span)
            return str(self._macros.nothing())
        if not (self._dtypes_are_supported(call, known) and (known.writes_freely or facts.answer(MAY_WRITE))):
            return str(self._macros.nothing())
        if not (known.unpacks or self._is_by_row_and_column(call)):
            return str(self._macros.nothing())
        operands = [facts.operand(at, part) for at, part in enumerate(parts)]
        if not known.writes_late:
            self._read_before(facts, operands)
        if known.heeds_start:
            for arg, operand in zip(call.args, operands, strict=True):
                operand.edge = self._edge(arg, call)
        entry = known.entry
        try:
            bound = bind_operands(entry, operands)
            attributes = bind_attributes(
                entry,
                self._keywords(call, known) if call.kwargs else {},
                asked=facts.asked,
                in_kernel=self._context.in_kernel,
            )
        except CallError as error:
            self._context.report(error.what, call.span)
            return str(self._macros.nothing())
        text = self._ops.macros.call(entry, bound, attributes)
        if self._context.script.options.poison:
            self._suspect(known, call, operands, attributes.result)
        return text

    def fact(self, known: KnownOp, call: ir.Call, question: Question) -> Hashable:
        """What a call is asked for beyond operands and keywords."""
        name, at = question
        match name:
            case "shape":
                type_ = (call.args[at] if at >= 0 else call).type
                return tuple(self._expressions.exprs(type_.shape if isinstance(type_, ir.ShapedType) else ()))
            case "region":
                if at < 0 and known.is_pop:
                    return None  # it is not known before the run
                region = self._valid.region(call.args[at] if at >= 0 else call)
                return None if region is None else (region[0], *region[1])
            case "may_write":
                return self._may_write(call, known)
            case "shares":
                return self._values.may_share(call.args[at], call.args[known.target])
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
            case "destination":
                return None  # it is told to the macros that write into one
            case "on_host":
                return self._context.on_host
            case "on_ranks":
                return self._context.script.host.function is not None
            case "awaited_tasks":
                return self._awaited_tasks(call) if self._context.runs_tasks else None
            case "devices":
                return self._devices(call)
            case "submitted":
                return self._submitted(call)
            case "dispatched_to":
                device = call.attrs.get("device")
                return None if device is None else self._expressions.alone(device)
        return self._context.script.options.poison

    def _awaited_tasks(self, call: ir.Call) -> str:
        """Text of the tasks that a call of an op names as those before it."""
        tasks = [task for key in _EDGES for task in call.attrs.get(key, ())]
        return str(self._macros.list_of([self._expressions.alone(task) for task in tasks]))

    def _submitted(self, call: ir.Call) -> tuple[str, ...]:
        """Texts of the function and the arguments of what a call submits; none where that is no call."""
        submitted = self._context.script.kernels.facts[self._context.function.name].submitted.get(id(call))
        if submitted is None:
            return ()
        texts = [self._expressions.alone(arg) for arg in submitted.args]
        return RankLaunches(self._context, self._expressions).submitted(call, submitted, texts)

    def _devices(self, call: ir.Call) -> str | None:
        """Text of the devices of the allocation that a call makes, None for all."""
        try:
            devices = self._context.script.host.devices_of(self._context.current_variable)
        except DomainError as error:
            self._context.report(error.what, error.node.span)
            return None
        return None if devices is None else str(self._macros.list_of([*map(self._macros.literal, devices)]))

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

    def _read_before(self, facts: CallFacts, operands: list[Operand]) -> None:
        """Have operands copied that may show cells which the call writes: they are read before."""
        known, call = facts.known, facts.call
        entry, position = known.entry, known.target
        if position >= len(operands):
            return
        target, named = call.args[position], dict(zip(entry.operand_names, operands, strict=False))
        is_laid = "shapes" not in named and not is_packed(target.type)  # the source itself at the offsets
        offsets = named.get("offsets", named.get("offset")) if is_laid else None
        for at, (name, arg) in enumerate(zip(entry.operand_names, call.args, strict=False)):
            if name in entry.writes or known.scratch[at] or not isinstance(arg.type, ir.ShapedType):
                continue
            if facts.answer(("shares", at)):
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

    def _parts(self, call: ir.Call) -> list[str | list[str]]:
        """The texts of the operands; who launches calls waits for those that write tensors which it reads."""
        parts = [self._part(arg) for arg in call.args]
        context = self._context
        if not (context.on_host or context.runs_tasks) or self._values.is_window(call):
            return parts
        settled = self._macros.settled if context.on_host else self._macros.ready
        for at, (arg, part) in enumerate(zip(call.args, parts, strict=True)):
            is_waited_for = isinstance(arg.type, ir.TensorType) and isinstance(part, str)
            if is_waited_for and not (context.on_host and isinstance(arg.type, ir.DistributedTensorType)):
                parts[at] = str(settled(part))
        return parts

    def _part(self, arg: ir.Expr) -> str | list[str]:
        """The text of an operand, of a tuple those of its elements."""
        if type(arg) is ir.Var:
            return self._expressions.read(arg)
        if type(arg) is ir.MakeTuple:
            return self._expressions.exprs(arg.elements)
        return self._expressions.operand(arg)

    def tuple_operand(self, items: list[str]) -> Operand:
        """An operand that is a tuple, as macros see it."""
        return Operand(self._macros.list_of(items), items=items)

    def _edge(self, arg: ir.Expr, call: ir.Call) -> Operand | None:
        """The cells before which nothing of an operand's tensor lies, for macros, if there are any."""
        try:
            starts = self._values.edges.starts(arg)
        except CallError as error:
            self._context.report(error.what, call.span)
            return None
        if starts is None:
            return None
        return self.tuple_operand([self._expressions.expr(start) for start in starts])

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


class CallFacts:
    """One call as its macro sees it: what that asks for is worked out then, and noted."""

    __slots__ = ("_calls", "answers", "call", "known")

    def __init__(self, calls: OperatorCalls, known: KnownOp, call: ir.Call) -> None:
        self._calls, self.known, self.call = calls, known, call
        self.answers: dict[Question, Hashable] = {}

    def answer(self, question: Question) -> Any:
        """What is the case, which is asked of the function once."""
        if question not in self.answers:
            self.answers[question] = self._calls.fact(self.known, self.call, question)
        return self.answers[question]

    def asked(self, name: str) -> Any:
        """What the macro asks of the call as a whole."""
        return self._shaped(-1, "", self.call) if name == "result" else self.answer((name, -1))

    def operand(self, at: int, part: str | list[str]) -> Operand:
        """An operand, given its text or those of its elements."""
        if isinstance(part, str):
            return self._shaped(at, part, self.call.args[at])
        return self._calls.tuple_operand(part)

    def _shaped(self, at: int, text: str, node: ir.Expr) -> Operand:
        type_ = node.type
        if isinstance(type_, ir.ScalarType):
            return Operand(text, dtype_name=type_.dtype.name, is_literal=type(node) in _LITERALS)
        if not isinstance(type_, ir.ShapedType):
            return Operand(text)
        return Operand.shaped(text, type_, lambda: list(self.answer(("shape", at))), lambda: self._region(at))

    def _region(self, at: int) -> tuple[str, list[str]] | None:
        found = self.answer(("region", at))
        return None if found is None else (found[0], list(found[1:]))


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
