"""Hypothesis strategies for IR: every node and type class, every stored attribute type, shared nodes.

What they make satisfies the constructors, not the verifier: names may clash, variables may be free, a yield
may stand anywhere. Floats that the wire format changes (integral ones among attributes) and NaN, which
equals nothing, are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from pypto_tmpl import ir
from pypto_tmpl.ir.attrs import ENUM_KINDS, INT32_MAX, INT32_MIN, AttrKind, AttrMap

IDENTIFIERS = st.from_regex(r"[a-z_][a-z0-9_]{0,6}", fullmatch=True)
TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
INT64 = st.integers(-(2**63), 2**63 - 1)
UINT64 = st.integers(0, 2**64 - 1)
INT32 = st.integers(INT32_MIN, INT32_MAX)
FLOATS = st.floats(allow_nan=False)
FRACTIONS = FLOATS.filter(lambda value: not value.is_integer())

DTYPES = [
    v for k, v in vars(ir.DataType).items() if isinstance(v, ir.DataType) and not k.startswith("DEFAULT")
]
INT_DTYPES = [dtype for dtype in DTYPES if dtype.is_int()]


def _subclasses(base: type) -> list[type]:
    found = [c for c in vars(ir).values() if isinstance(c, type) and issubclass(c, base) and c is not base]
    return sorted(found, key=lambda c: c.__name__)


class Source:
    """Draws IR; what was drawn before may be drawn again, as the same object."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any], names: st.SearchStrategy[str]) -> None:
        self.draw = draw
        self.names = names
        self.drawn: list[ir.Expr] = []

    # values

    def pick(self, options: list[Any]) -> Any:
        return self.draw(st.sampled_from(options))

    def member(self, enum: type) -> Any:
        return self.pick(list(enum))  # type: ignore[call-overload]

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def some(self, make: Callable[[int], Any], depth: int, low: int = 0, high: int = 2) -> list[Any]:
        return [make(depth) for _ in range(self.draw(st.integers(low, high)))]

    def maybe(self, make: Callable[[int], Any], depth: int) -> Any:
        return make(depth) if self.flag() else None

    def span(self) -> ir.Span:
        if self.flag():
            return ir.Span.unknown()
        line, column = self.draw(st.integers(-1, 300)), self.draw(st.integers(-1, 300))
        return ir.Span(self.draw(TEXT), line, column, self.pick([-1, line]), self.pick([-1, column]))

    def op(self) -> ir.Op:
        if self.flag():
            return ir.GlobalVar(self.draw(self.names))
        return ir.Op(self.pick(["tile.add", "tensor.create", "system.sync_all"]))

    # types

    def type(self, depth: int) -> ir.Type:
        simple = ["marker", "scalar", "array"]
        kind = self.pick(simple if depth <= 0 else [*simple, "tensor", "distributed", "tile", "tuple"])
        made: ir.Type = getattr(self, f"{kind}_type")(depth - 1)
        return made

    def marker_type(self, _: int) -> ir.Type:
        plain = [c for c in _subclasses(ir.Type) if not ir.fields_of(c) and c is not ir.ShapedType]
        return self.pick(plain)()

    def scalar_type(self, _: int) -> ir.ScalarType:
        return ir.ScalarType(self.pick([*DTYPES, ir.DataType(0x35), ir.DataType(0xFE)]))

    def array_type(self, _: int) -> ir.ArrayType:
        dtype = self.pick([*INT_DTYPES, ir.DataType.BOOL, ir.DataType.TASK_ID])
        return ir.ArrayType(dtype, self.draw(st.integers(1, 2**40)))

    def tuple_type(self, depth: int) -> ir.TupleType:
        return ir.TupleType(self.some(self.type, depth))

    def shape(self, depth: int) -> tuple[list[Any], ir.DataType]:
        dtype = self.pick(DTYPES)
        shape = self.some(self.extent, depth)
        return [*shape, 2] if dtype == ir.DataType.FP4 else shape, dtype

    def extent(self, depth: int) -> Any:
        return self.draw(st.integers(-1, 256)) if self.flag() else self.expr(depth)

    def tensor_view(self, depth: int) -> ir.TensorView:
        stride, valid = self.some(self.extent, depth), self.some(self.extent, depth)
        return ir.TensorView(stride, self.member(ir.TensorLayout), valid, self.member(ir.PadValue))

    def tile_view(self, depth: int) -> ir.TileView:
        return ir.TileView(
            self.some(self.extent, depth),
            self.some(self.extent, depth),
            self.maybe(self.extent, depth),
            self.member(ir.TileLayout),
            self.member(ir.TileLayout),
            self.pick([512, 1024, 32, 0, 2**64 - 1]),
            self.member(ir.PadValue),
            self.member(ir.CompactMode),
        )

    def tensor_type(self, depth: int) -> ir.TensorType:
        shape, dtype = self.shape(depth)
        return ir.TensorType(
            shape, dtype, self.maybe(self.memref, depth), self.maybe(self.tensor_view, depth)
        )

    def distributed_type(self, depth: int) -> ir.DistributedTensorType:
        shape, dtype = self.shape(depth)
        return ir.DistributedTensorType(
            shape,
            dtype,
            self.maybe(self.memref, depth),
            self.maybe(self.tensor_view, depth),
            self.maybe(self.window_buffer, depth),
        )

    def tile_type(self, depth: int) -> ir.TileType:
        shape, dtype = self.shape(depth)
        space = self.pick([None, *ir.MemorySpace])
        memref = None if space is None else self.maybe(self.memref, depth)
        return ir.TileType(shape, dtype, memref, self.maybe(self.tile_view, depth), space)

    # attributes

    def attrs(self, depth: int) -> AttrMap:
        keys = self.draw(st.lists(self.names, max_size=3, unique=True))
        entries = []
        for key in keys:
            kind = self.pick(list(AttrKind)) if key != "arg_directions" else AttrKind.ARG_DIRECTIONS
            entries.append((key, kind, () if key == "arg_directions" else self.attr_value(kind, depth)))
        return AttrMap.of_stored(entries)

    def attr_value(self, kind: AttrKind, depth: int) -> Any:
        enums = {found: enum for enum, found in ENUM_KINDS.items()}
        if kind in enums:
            return self.member(enums[kind])
        match kind:
            case AttrKind.VAR:
                return self.maybe(self.var, depth)
            case AttrKind.EXPR:
                return self.maybe(self.expr, depth)
            case AttrKind.VARS:
                return tuple(self.maybe(self.var, depth) for _ in range(self.draw(st.integers(0, 2))))
            case AttrKind.ARG_DIRECTIONS:
                return tuple(self.draw(st.lists(st.sampled_from(ir.ArgDirection), max_size=3)))
            case AttrKind.INT32S:
                return tuple(self.draw(st.lists(INT32, max_size=3)))
            case AttrKind.DATA_TYPE:
                return self.pick(DTYPES)
        return self.draw({"bool": st.booleans(), "int": INT32, "float": FRACTIONS, "str": TEXT}[kind.value])

    # expressions

    def expr(self, depth: int) -> Any:
        """Any expression; about every third is one that was drawn before."""
        if self.drawn and self.draw(st.integers(0, 2)) == 0:
            return self.pick(self.drawn)
        makers = LEAF_EXPRESSIONS if depth <= 0 else EXPRESSIONS
        made = makers[self.pick(list(makers))](self, depth - 1)
        self.drawn.append(made)
        return made

    def var(self, depth: int) -> Any:
        """A variable of any class, new or drawn before."""
        known = [expr for expr in self.drawn if isinstance(expr, ir.Var)]
        if known and self.flag():
            return self.pick(known)
        makers = {cls: make for cls, make in EXPRESSIONS.items() if issubclass(cls, ir.Var)}
        made = makers[self.pick(list(makers) if depth > 0 else [ir.Var])](self, depth - 1)
        self.drawn.append(made)
        return made

    def plain_var(self, depth: int) -> ir.Var:
        return ir.Var(self.draw(self.names), self.type(depth), self.span())

    def iter_arg(self, depth: int) -> ir.IterArg:
        return ir.IterArg(self.draw(self.names), self.type(depth), self.expr(depth), self.span())

    def memref(self, depth: int) -> ir.MemRef:
        return ir.MemRef(
            self.var(depth),
            self.expr(depth),
            self.draw(UINT64),
            span=self.span(),
            is_pinned=self.flag(),
            slots=self.draw(st.integers(1, 2**64 - 1)),
            slot=self.maybe(self.expr, depth),
        )

    def window_buffer(self, depth: int) -> ir.WindowBuffer:
        return ir.WindowBuffer(self.var(depth), self.expr(depth), self.flag(), self.flag(), self.span())

    def const_int(self, _: int) -> ir.ConstInt:
        return ir.ConstInt(self.draw(INT64), self.pick(DTYPES), self.span())

    def const_float(self, _: int) -> ir.ConstFloat:
        return ir.ConstFloat(self.draw(FLOATS), self.pick(DTYPES), self.span())

    def const_bool(self, _: int) -> ir.ConstBool:
        return ir.ConstBool(self.flag(), self.span())

    def scalar_op(self, base: type, *operands: Any) -> Any:
        return self.pick(_subclasses(base))(*operands, self.pick(DTYPES), self.span())

    def call(self, depth: int) -> ir.Call:
        attrs, kwargs = self.attrs(depth), self.attrs(depth)
        return ir.Call(self.op(), self.some(self.expr, depth), kwargs, attrs, self.type(depth), self.span())

    def submit(self, depth: int) -> ir.Submit:
        core_num = self.maybe(lambda _: ir.ConstInt(self.draw(INT64), self.pick(INT_DTYPES), self.span()), 0)
        return ir.Submit(
            self.op(),
            self.some(self.expr, depth),
            self.some(self.expr, depth),
            self.attrs(depth),
            self.attrs(depth),
            self.type(depth),
            self.span(),
            core_num,
            core_num is not None and self.flag(),
            self.flag(),
            self.maybe(self.expr, depth),
        )

    def make_tuple(self, depth: int) -> ir.MakeTuple:
        return ir.MakeTuple(self.some(self.expr, depth), self.span())

    def tuple_item(self, depth: int) -> ir.TupleGetItemExpr:
        parts = self.some(self.expr, depth, low=1)
        index = self.draw(st.integers(0, len(parts) - 1))
        return ir.TupleGetItemExpr(ir.MakeTuple(parts, self.span()), index, self.span())

    # statements

    def stmt(self, depth: int) -> Any:
        makers = LEAF_STATEMENTS if depth <= 0 else STATEMENTS
        made = makers[self.pick(list(makers))](self, depth - 1)
        if not isinstance(made, ir.SeqStmts):
            ir.attach_leading_comments(made, self.draw(st.lists(TEXT, max_size=2)))
        return made

    def scope(self, cls: Any, depth: int, *args: Any) -> Any:
        body, attrs = self.stmt(depth), self.attrs(depth)
        return cls(*args, self.draw(self.names), body, self.span(), attrs=attrs)

    def for_stmt(self, depth: int) -> ir.ForStmt:
        start, stop, step = (self.expr(depth) for _ in range(3))
        return ir.ForStmt(
            self.var(depth),
            start,
            stop,
            step,
            self.some(self.iter_arg, depth),
            self.stmt(depth),
            self.some(self.var, depth),
            self.span(),
            self.member(ir.ForKind),
            self.attrs(depth),
        )

    def while_stmt(self, depth: int) -> ir.WhileStmt:
        carried, result = self.some(self.iter_arg, depth), self.some(self.var, depth)
        self.drawn += carried
        return ir.WhileStmt(self.expr(depth), carried, self.stmt(depth), result, self.span())

    def if_stmt(self, depth: int) -> ir.IfStmt:
        then, orelse = self.stmt(depth), self.maybe(self.stmt, depth)
        return ir.IfStmt(self.expr(depth), then, orelse, self.some(self.var, depth), self.span())

    def comm_domain(self, depth: int) -> ir.CommDomainScopeStmt:
        slots = self.some(self.window_buffer, depth)
        self.drawn += slots
        devices = self.draw(st.lists(st.integers(0, 300), max_size=2))
        made: ir.CommDomainScopeStmt = self.scope(ir.CommDomainScopeStmt, depth, devices, slots)
        return made

    # functions

    def function(self, depth: int, name: str | None = None) -> ir.Function:
        params = [(self.var(depth), self.member(ir.ParamDirection)) for _ in range(self.pick([0, 1, 2]))]
        free = [ir.FunctionType.Opaque, ir.FunctionType.Spmd, ir.FunctionType.Inline]
        kind = self.member(ir.FunctionType)
        return ir.Function(
            self.draw(self.names) if name is None else name,
            params,
            self.some(self.type, depth),
            self.stmt(depth),
            self.span(),
            kind,
            self.pick([None, *ir.Level]) if kind in free else None,
            self.pick([None, *ir.Role]) if kind in free else None,
            self.attrs(depth),
            self.flag(),
        )

    def program(self, depth: int) -> ir.Program:
        names = self.draw(st.lists(self.names.filter(bool), max_size=3, unique=True))
        functions = [self.function(depth, name) for name in names]
        return ir.Program(functions, self.draw(self.names), self.span())


Maker = Callable[[Source, int], Any]

LEAF_EXPRESSIONS: dict[type, Maker] = {
    ir.Var: Source.plain_var,
    ir.ConstInt: Source.const_int,
    ir.ConstFloat: Source.const_float,
    ir.ConstBool: Source.const_bool,
}


EXPRESSIONS: dict[type, Maker] = {
    **LEAF_EXPRESSIONS,
    ir.IterArg: Source.iter_arg,
    ir.MemRef: Source.memref,
    ir.WindowBuffer: Source.window_buffer,
    ir.Call: Source.call,
    ir.Submit: Source.submit,
    ir.MakeTuple: Source.make_tuple,
    ir.TupleGetItemExpr: Source.tuple_item,
    ir.BinaryExpr: lambda s, depth: s.scalar_op(ir.BinaryExpr, s.expr(depth), s.expr(depth)),
    ir.UnaryExpr: lambda s, depth: s.scalar_op(ir.UnaryExpr, s.expr(depth)),
}

LEAF_STATEMENTS: dict[type, Maker] = {
    ir.BreakStmt: lambda source, _: ir.BreakStmt(source.span()),
    ir.ContinueStmt: lambda source, _: ir.ContinueStmt(source.span()),
    ir.InlineStmt: lambda s, _: ir.InlineStmt(s.draw(TEXT), ir.InlineLanguage.Python, s.span()),
    ir.YieldStmt: lambda s, depth: ir.YieldStmt(s.some(s.expr, depth), s.span()),
    ir.ReturnStmt: lambda s, depth: ir.ReturnStmt(s.some(s.expr, depth), s.span()),
    ir.EvalStmt: lambda s, depth: ir.EvalStmt(s.expr(depth), s.span()),
    ir.AssignStmt: lambda s, depth: ir.AssignStmt(s.var(depth), s.expr(depth), s.span()),
}

STATEMENTS: dict[type, Maker] = {
    **LEAF_STATEMENTS,
    ir.SeqStmts: lambda s, depth: ir.SeqStmts(s.some(s.stmt, depth, high=3), s.span()),
    ir.IfStmt: Source.if_stmt,
    ir.ForStmt: Source.for_stmt,
    ir.WhileStmt: Source.while_stmt,
    ir.InCoreScopeStmt: lambda s, depth: s.scope(ir.InCoreScopeStmt, depth, s.member(ir.SplitMode)),
    ir.ClusterScopeStmt: lambda s, depth: s.scope(ir.ClusterScopeStmt, depth),
    ir.HierarchyScopeStmt: lambda s, depth: s.scope(
        ir.HierarchyScopeStmt, depth, s.member(ir.Level), s.pick([None, *ir.Role])
    ),
    ir.SpmdScopeStmt: lambda s, depth: s.scope(ir.SpmdScopeStmt, depth, s.expr(depth), s.flag()),
    ir.SplitAivScopeStmt: lambda s, depth: s.scope(ir.SplitAivScopeStmt, depth, s.member(ir.SplitMode), 2),
    ir.RuntimeScopeStmt: lambda s, depth: s.scope(ir.RuntimeScopeStmt, depth, s.flag()),
    ir.CommDomainScopeStmt: Source.comm_domain,
}


@st.composite
def types(draw: Any, depth: int = 2, names: st.SearchStrategy[str] = IDENTIFIERS) -> Any:
    return Source(draw, names).type(depth)


@st.composite
def expressions(draw: Any, depth: int = 3, names: st.SearchStrategy[str] = IDENTIFIERS) -> Any:
    return Source(draw, names).expr(depth)


@st.composite
def statements(draw: Any, depth: int = 3, names: st.SearchStrategy[str] = IDENTIFIERS) -> Any:
    return Source(draw, names).stmt(depth)


@st.composite
def functions(draw: Any, depth: int = 3, names: st.SearchStrategy[str] = IDENTIFIERS) -> Any:
    return Source(draw, names).function(depth)


@st.composite
def programs(draw: Any, depth: int = 3, names: st.SearchStrategy[str] = IDENTIFIERS) -> Any:
    return Source(draw, names).program(depth)


def nodes(depth: int = 3, names: st.SearchStrategy[str] = IDENTIFIERS) -> st.SearchStrategy[Any]:
    """Any node that can stand alone."""
    return st.one_of(
        expressions(depth, names), statements(depth, names), functions(depth, names), programs(depth, names)
    )
