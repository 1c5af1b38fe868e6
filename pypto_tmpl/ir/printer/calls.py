"""Text of op calls, function calls and submits (spec: DSL, 12.6)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from keyword import iskeyword

from pypto_tmpl.ir.attrs import AttrKind, AttrMap
from pypto_tmpl.ir.base import Expr
from pypto_tmpl.ir.dtypes import DataType
from pypto_tmpl.ir.enums import SplitMode
from pypto_tmpl.ir.expr import Call, GlobalVar, Op, Submit
from pypto_tmpl.ir.leaves import ConstFloat, ConstInt
from pypto_tmpl.ir.printer import spellings as spelled
from pypto_tmpl.ir.printer.attributes import AttributePrinter
from pypto_tmpl.ir.printer.expressions import BODY, TYPED, Place, is_constant
from pypto_tmpl.ir.printer.pieces import Piece, Pieces, PrintError, bracketed, joined, number_text, option
from pypto_tmpl.ir.scalar_types import TupleType
from pypto_tmpl.ir.types import TensorType


class CallPrinter(AttributePrinter):
    """Calls; ``split`` is the mode of the enclosing split_aiv scope, ``called`` the callees so far."""

    split: SplitMode | None = None
    called: set[str]

    def call(self, node: Call, place: Place = BODY) -> Pieces:
        if isinstance(node.op, GlobalVar):
            name, arguments = self._callee(node.op), self._function_arguments(node, place)
        else:
            name, arguments = self._op_name(node), self._op_arguments(node, place)
        yield name + "("
        yield joined(arguments)
        yield ")"

    def submit(self, node: Submit, place: Place = BODY) -> Pieces:
        yield f"{self.prefix}.{'submit' if node.core_num is None else 'spmd_submit'}("
        yield joined(self._submit_arguments(node, place))
        yield ")"

    def _callee(self, op: Op) -> str:
        """``self.f`` in a program, ``f`` outside of one."""
        self.called.add(op.name)
        return ("self." if self.in_program else "") + function_name(op.name)

    def _op_name(self, node: Call) -> str:
        name = node.op.name
        if name == spelled.REMOTE_LOAD_OP and node.kwargs.get(spelled.PADDING_KEYWORD) is True:
            return spelled.PADDED_REMOTE_LOAD
        if name == "tensor.add" and len(node.args) == 2 and is_constant(node.args[1]):
            # Not where the other operand is no tensor: tensor.adds is not read for one.
            name = "tensor.adds" if isinstance(node.args[0].type, TensorType) else name
        return _spelled_op(name, self.prefix)

    def _function_arguments(self, node: Call, place: Place) -> Pieces:
        for arg in node.args:
            yield self.expr(arg, place)
        for key in node.kwargs:
            yield self.keyword(key, node.kwargs, node.op.name)
        device = node.attrs.get("device")
        if isinstance(device, Expr):
            yield option("device", self.expr(device, place))
        yield from self._callee_attrs(node.attrs, hidden={"device"} if isinstance(device, Expr) else ())

    def _submit_arguments(self, node: Submit, place: Place) -> Pieces:
        yield self._callee(node.op)
        for arg in node.args:
            yield self.expr(arg, place)
        for key in node.kwargs:
            yield self.keyword(key, node.kwargs, node.op.name)
        if node.deps:
            yield option("deps", bracketed(self.expr(dep, place) for dep in node.deps))
        has_dumps = node.attrs.kinds.get("dump_vars") is AttrKind.VARS
        if has_dumps:
            yield option("dumps", self.value("dump_vars", AttrKind.VARS, node.attrs["dump_vars"]))
        if node.core_num is not None:
            yield option("core_num", self.expr(node.core_num, place))
        if node.sync_start:
            yield "sync_start=True"
        if node.allow_early_resolve:
            yield "allow_early_resolve=True"
        if node.predicate is not None:
            yield option("predicate", self.predicate(node.predicate, place))
        yield from self._callee_attrs(node.attrs, hidden={"dump_vars"} if has_dumps else ())

    def predicate(self, condition: Expr, place: Place = BODY) -> Pieces:
        """A dispatch condition; the parentheses are part of its spelling."""
        yield "("
        yield self.expr(condition, place)
        yield ")"

    def _callee_attrs(self, attrs: AttrMap, hidden: Iterable[str] = ()) -> Pieces:
        """``attrs={...}`` of a call of a function: the argument directions first."""
        keys = sorted((key for key in attrs if key not in hidden), key=lambda key: key != "arg_directions")
        if keys:
            yield option("attrs", self.attributes(attrs, keys))

    def _attrs(self, attrs: AttrMap, hidden: Iterable[str] = ()) -> Pieces:
        """``attrs={...}`` of an op, in their order; nothing when every entry is written elsewhere."""
        keys = [key for key in attrs if key not in hidden]
        if keys:
            yield option("attrs", self.attributes(attrs, keys, of_op=True))

    def _op_arguments(self, node: Call, place: Place) -> Pieces:
        name = node.op.name
        if name == spelled.SYNC_ALL_OP and node.kwargs.get("mode") == "soft":
            yield from self._soft_sync_arguments(node, place)
        elif name == spelled.TASK_DUMMY_OP:
            yield from self._task_dummy_arguments(node, place)
        elif name in spelled.FULL_OPS and len(node.args) == 2:
            yield from self._full_arguments(node, place)
        elif name in spelled.REINTERPRET_OPS and len(node.args) == 2:
            yield self.expr(node.args[0], place)
            yield from self._keywords(node)
            yield option("shape", self.expr(node.args[1], place))
            yield from self._attrs(node.attrs)
        else:
            for index, arg in enumerate(node.args):
                yield self._operand_text(node, index, arg, place)
            yield from self._keywords(node)
            yield from self._attrs(node.attrs)

    def _operand_text(self, node: Call, index: int, arg: Expr, place: Place) -> Piece:
        name = node.op.name
        if name in spelled.ALLOC_OPS and index == 0 and isinstance(arg, ConstInt):
            space = self.memory_space(arg.value) if arg.dtype == DataType.INDEX else None
            return space or self.expr(arg, place)
        if name in spelled.GATHER_ROW_OPS and index == 5:
            return option("valid_shape", self.expr(arg, place))
        if name == spelled.MGATHER_OP and index >= 2:
            return option(
                "valid_shape" if isinstance(arg.type, TupleType) else "scratch", self.expr(arg, place)
            )
        return self.expr(arg, place)

    def _keywords(self, node: Call, hidden: Iterable[str] = ()) -> Pieces:
        for key, value in node.kwargs.items():
            if key not in hidden and not self._is_implied(node, key, value):
                yield self.keyword(key, node.kwargs, node.op.name)

    def _is_implied(self, node: Call, key: str, value: object) -> bool:
        """True for a keyword that the reader takes from the surroundings or from the op's spelling."""
        name = node.op.name
        if name == spelled.WINDOW_ALLOC_OP:
            return key == "name"  # the target of the assignment
        if name == spelled.REMOTE_LOAD_OP:
            return key == spelled.PADDING_KEYWORD and value is True
        if self.split is None or name not in spelled.SPLIT_OPS or key != "split":
            return False
        return value == self.split.value

    def _full_arguments(self, node: Call, place: Place) -> Pieces:
        shape, value = node.args
        yield self.expr(shape, place)
        yield from self._keywords(node)
        if isinstance(value, (ConstInt, ConstFloat)) and value.dtype == node.kwargs.get("dtype"):
            yield option("value", number_text(value.value))
        else:
            yield option("value", self.expr(value, TYPED if is_constant(value) else place))
        yield from self._attrs(node.attrs)

    def _soft_sync_arguments(self, node: Call, place: Place) -> Pieces:
        yield 'mode="soft"'
        yield from self._keywords(node, hidden={"mode"})
        if node.args:
            yield option("gm_workspace", self.expr(node.args[0], place))
            yield option("used_cores", self.expr(node.args[1], place) if len(node.args) > 1 else "0")
        for extra in node.args[2:]:
            raise PrintError(f"{node.op.name} takes two operands, a third is {extra!r}")
        yield from self._attrs(node.attrs)

    def _task_dummy_arguments(self, node: Call, place: Place) -> Pieces:
        for arg in node.args:
            yield self.expr(arg, place)
        yield from self._keywords(node)
        has_deps = node.attrs.kinds.get("manual_dep_edges") is AttrKind.VARS
        is_usual = has_deps and node.attrs.get("dummy_task") is True
        if is_usual:
            deps = self.value("manual_dep_edges", AttrKind.VARS, node.attrs["manual_dep_edges"])
            yield option("deps", deps)
        yield from self._attrs(node.attrs, hidden={"dummy_task", "manual_dep_edges"} if is_usual else ())


def function_name(name: str) -> str:
    """The name; PrintError for one that cannot be written."""
    if not name.isidentifier() or iskeyword(name):
        raise PrintError(f"function name {name!r} is no identifier")
    return name


@cache
def _spelled_op(name: str, prefix: str) -> str:
    """``pl.tensor.and_`` for the op tensor.and; PrintError for a name that is none in Python."""
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts) or any(iskeyword(part) for part in parts[:-1]):
        raise PrintError(f"op name {name!r} cannot be written")
    if iskeyword(parts[-1]):
        name += "_"
    return name if parts[0] == "pld" else f"{prefix}.{name}"
