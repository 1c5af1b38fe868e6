"""Printing and parsing is the identity on generated IR, its loop carries typed like their initial values.

What text cannot carry is not generated: types of calls that are no right side of an assignment (except where
they follow from the op), dtypes of loop variables with variable bounds, results of several values whose types
differ from what is yielded, attribute kinds that share a spelling.
"""

from typing import Any

from drawn_examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pypto_tmpl.language as pl
from pypto_tmpl import ir

S = ir.Span.unknown()
D, K = ir.DataType, ir.AttrKind
INTS = [D.INDEX, D.INT8, D.INT32, D.INT64, D.UINT16]
FLOATS = [D.FP16, D.BF16, D.FP32]
NAMES = ["x", "y", "acc", "t__ssa_v0", "self", "pl", "lambda", "ü", "x_1", "M"]
ARITHMETIC = [ir.Add, ir.Sub, ir.Mul, ir.FloorDiv, ir.FloorMod, ir.FloatDiv, ir.Min, ir.Max, ir.Pow]
BITWISE = [ir.BitAnd, ir.BitOr, ir.BitXor, ir.BitShiftLeft, ir.BitShiftRight]
COMPARISONS = [ir.Eq, ir.Ne, ir.Lt, ir.Le, ir.Gt, ir.Ge]
OPS = ["tile.future", "tensor.lambda", "system.other", "pld.tile.other", "array.not"]
UNKNOWN = ir.UnknownType()
TASK = ir.ScalarType(D.TASK_ID)


class Writer:
    """Draws the statements of one function, with the variables that are visible."""

    def __init__(self, draw: Any, dimensions: list[ir.Var], callees: list[ir.Function]) -> None:
        self.draw = draw
        self.dimensions = dimensions
        self.callees = callees
        self.visible: list[ir.Var] = []
        self.bases = [ir.Var(name, ir.PtrType(), S) for name in ("mem_0", "x")]

    def pick(self, options: Any) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def flag(self) -> bool:
        return self.draw(st.booleans())

    def count(self, most: int) -> int:
        return self.draw(st.integers(0, most))

    # scalars

    def variables(self, *dtypes: ir.DataType) -> list[ir.Var]:
        found = [v for v in self.visible if isinstance(v.type, ir.ScalarType)]
        return [v for v in found if v.type.dtype in dtypes]

    def integer(self, dtype: ir.DataType, depth: int = 2) -> ir.Expr:
        known = self.variables(dtype)
        kind = self.pick(["const", "var", "binary", "unary", "cast"] if depth > 0 else ["const", "var"])
        if kind == "var" and known:
            return self.pick(known)
        if kind == "binary":
            operands = self.integer(dtype, depth - 1), self.integer(dtype, depth - 1)
            return self.pick(ARITHMETIC + BITWISE)(*operands, dtype, S)
        if kind == "unary":
            return self.pick([ir.Neg, ir.Abs, ir.BitNot])(self.integer(dtype, depth - 1), dtype, S)
        if kind == "cast":
            return ir.Cast(self.integer(self.pick(INTS), depth - 1), dtype, S)
        return ir.ConstInt(self.draw(st.integers(-(2**63), 2**63 - 1)), dtype, S)

    def real(self, dtype: ir.DataType, depth: int = 2) -> ir.Expr:
        known = self.variables(dtype)
        kind = self.pick(["const", "var", "binary", "cast"] if depth > 0 else ["const", "var"])
        if kind == "var" and known:
            return self.pick(known)
        if kind == "binary":
            return self.pick(ARITHMETIC)(self.real(dtype, depth - 1), self.real(dtype, depth - 1), dtype, S)
        if kind == "cast":
            return ir.Cast(self.integer(D.INDEX, depth - 1), dtype, S)
        return ir.ConstFloat(self.draw(st.floats(allow_nan=False)), dtype, S)

    def truth(self, depth: int = 2) -> ir.Expr:
        known = self.variables(D.BOOL)
        kind = self.pick(["const", "var", "compare", "logic", "not"] if depth > 0 else ["const", "var"])
        if kind == "var" and known:
            return self.pick(known)
        if kind == "compare":
            make, dtype = self.pick([(self.integer, D.INT32), (self.integer, D.INDEX), (self.real, D.FP32)])
            return self.pick(COMPARISONS)(make(dtype, depth - 1), make(dtype, depth - 1), D.BOOL, S)
        if kind == "logic":
            return self.pick([ir.And, ir.Or])(self.truth(depth - 1), self.truth(depth - 1), D.BOOL, S)
        if kind == "not":
            return ir.Not(self.truth(depth - 1), D.BOOL, S)
        return ir.ConstBool(self.flag(), S)

    def scalar(self) -> ir.Expr:
        make, dtypes = self.pick([(self.integer, INTS), (self.real, FLOATS), (None, [])])
        return self.truth() if make is None else make(self.pick(dtypes))

    def value(self) -> ir.Expr:
        kind = self.pick(["scalar", "var", "tuple"])
        if kind == "var" and self.visible:
            return self.pick(self.visible)
        if kind == "tuple":
            return ir.MakeTuple([self.integer(D.INDEX, 1) for _ in range(self.count(3))], S)
        return self.scalar()

    # types

    def extent(self) -> Any:
        kind = self.pick(["int", "dimension", "expression"])
        if kind == "int":
            return self.draw(st.integers(-1, 2000))
        known = [*self.dimensions, *self.variables(D.INDEX)]
        if kind == "expression" or not known:
            return self.integer(self.pick([D.INDEX, D.INT32]), 1)
        return self.pick(known)

    def extents(self) -> list[Any]:
        return [self.extent() for _ in range(self.count(2))]

    def memref(self) -> ir.MemRef | None:
        if self.flag():
            return None
        offset = self.integer(self.pick([D.INT64, D.INDEX]), 1)
        slot = self.integer(D.INDEX, 1) if self.flag() else None
        bases = [*self.bases, *(v for v in self.visible if isinstance(v.type, ir.PtrType))]
        return ir.MemRef(
            self.pick(bases),
            offset,
            self.count(4096),
            is_pinned=self.flag(),
            slots=1 + self.count(3),
            slot=slot,
        )

    def tensor(self) -> ir.Type:
        view = None
        if self.flag():
            layout, pad = self.pick(ir.TensorLayout), self.pick(ir.PadValue)
            view = ir.TensorView(self.extents(), layout, self.extents(), pad)
        cls = self.pick([ir.TensorType, ir.TensorType, ir.DistributedTensorType])
        return cls(self.extents(), self.pick([*INTS, *FLOATS]), self.memref(), view)

    def tile(self) -> ir.Type:
        view = None
        if self.flag():
            layouts = self.pick(ir.TileLayout), self.pick(ir.TileLayout)
            start = self.extent() if self.flag() else None
            view = ir.TileView(
                self.extents(), self.extents(), start, *layouts, self.pick([512, 1024, 32]),
                self.pick(ir.PadValue), self.pick(ir.CompactMode),
            )  # fmt: skip
        space = self.pick([None, *ir.MemorySpace])
        memref = None if space is None else self.memref()
        return ir.TileType(self.extents(), self.pick([*INTS, *FLOATS]), memref, view, space)

    def type(self, depth: int = 1) -> ir.Type:
        kind = self.pick(["scalar", "tensor", "tile", "array", "marker", "tuple"])
        if kind == "tensor":
            return self.tensor()
        if kind == "tile":
            return self.tile()
        if kind == "array":
            return ir.ArrayType(self.pick([D.INT32, D.BOOL, D.TASK_ID]), 1 + self.count(8))
        if kind == "marker":
            return self.pick([ir.PtrType, ir.UnknownType, ir.CommCtxType, ir.AsyncEventType])()
        if kind == "tuple" and depth > 0:
            return ir.TupleType([self.type(depth - 1) for _ in range(self.count(2))])
        return ir.ScalarType(self.pick([*INTS, *FLOATS, D.BOOL, D.TASK_ID]))

    # attributes

    def attribute(self) -> tuple[ir.AttrKind, Any]:
        plain = {
            K.BOOL: st.booleans(),
            K.INT: st.integers(-(2**31), 2**31 - 1),
            K.FLOAT: st.floats(allow_nan=False),
            K.STR: st.text(st.characters(exclude_categories=("Cs",)), max_size=6),
            K.DATA_TYPE: st.sampled_from([D.FP32, D.INT4, D.FP8E8M0]),
            K.MEMORY_SPACE: st.sampled_from(ir.MemorySpace),
            K.TENSOR_LAYOUT: st.sampled_from(ir.TensorLayout),
            K.TILE_LAYOUT: st.sampled_from(ir.TileLayout),
            K.PAD_VALUE: st.sampled_from(ir.PadValue),
            K.ARG_DIRECTION: st.sampled_from(ir.ArgDirection),
            K.ARG_DIRECTIONS: st.lists(st.sampled_from(ir.ArgDirection), max_size=2).map(tuple),
            K.INT32S: st.lists(st.integers(-5, 5), min_size=1, max_size=2).map(tuple),
        }
        kind = self.pick([*plain, K.VARS, K.EXPR])
        if kind is K.VARS and self.visible:
            return kind, (*[None] * self.count(1), self.pick(self.visible))
        if kind in plain:
            return kind, self.draw(plain[kind])
        return K.EXPR, self.scalar() if self.flag() else None

    def attrs(self, *more: tuple[str, ir.AttrKind, Any]) -> ir.AttrMap:
        keys = self.draw(st.lists(st.sampled_from(["new", "mark", "_x"]), unique=True, max_size=2))
        return ir.AttrMap.of_stored([*more, *((key, *self.attribute()) for key in keys)])

    # calls

    def call(self, type_: ir.Type) -> ir.Expr:
        kind = self.pick(["op", "op", "function", "submit"])
        args = [self.value() for _ in range(self.count(2))]
        directions = ("arg_directions", K.ARG_DIRECTIONS, tuple(self.pick(ir.ArgDirection) for _ in args))
        attrs = self.attrs(directions) if self.flag() else self.attrs()
        callees = [f for f in self.callees if len(f.params) == len(args)]
        if kind == "function" and callees:
            return ir.Call(ir.GlobalVar(self.pick(callees).name), args, None, attrs, type_, S)
        if kind == "submit" and callees:
            core_num = self.integer(D.INDEX, 1) if self.flag() else None
            deps = [v for v in self.visible if v.type == TASK][:1]
            op = ir.GlobalVar(self.pick(callees).name)
            launch = (
                core_num,
                core_num is not None and self.flag(),
                self.flag(),
                self.truth() if self.flag() else None,
            )
            return ir.Submit(op, args, deps, None, attrs, type_, S, *launch)
        return ir.Call(ir.Op(self.pick(OPS)), args, self.attrs(), attrs, type_, S)

    # statements

    def variable(self, type_: ir.Type) -> ir.Var:
        return ir.Var(self.pick(NAMES), type_, S)

    def show(self, *variables: ir.Var) -> None:
        self.visible += variables

    def assign(self, _: int) -> ir.Stmt:
        if self.flag():
            value = self.scalar()
            var = self.variable(value.type)
        else:
            known = [v for v in self.visible if type(v) is ir.Var]
            var = self.pick(known) if known and self.flag() else self.variable(self.type())
            value = self.call(var.type)
        if all(var is not known for known in self.visible):
            self.show(var)
        return ir.AssignStmt(var, value, S)

    def effect(self, _: int) -> ir.Stmt:
        args = [self.value() for _ in range(self.count(2))]
        return ir.EvalStmt(ir.Call(ir.Op(self.pick(OPS)), args, self.attrs(), self.attrs(), UNKNOWN, S), S)

    def result(self, _: int) -> ir.Stmt:
        return ir.ReturnStmt([self.value() for _ in range(self.count(2))], S)

    def body(self, depth: int, last: Any = None) -> ir.Stmt:
        makers = [self.assign, self.assign, self.effect, self.result]
        if depth > 0:
            makers += [self.branch, self.loop, self.carried, self.repeat, self.scope]
        stmts = []
        for _ in range(self.count(3)):
            stmt = self.pick(makers)(depth - 1)
            ir.attach_leading_comments(
                stmt, self.draw(st.lists(st.sampled_from(["one", " two", "# 3"]), max_size=1))
            )
            stmts.append(stmt)
        if last is not None:
            stmts.append(last())
        return stmts[0] if len(stmts) == 1 else ir.SeqStmts(stmts, S)

    def enclosed(self, make: Any) -> Any:
        """What ``make`` draws, without the names that it defines."""
        before = list(self.visible)
        try:
            return make()
        finally:
            self.visible = before

    def yielded(self, types: list[ir.Type]) -> Any:
        def make() -> ir.Stmt:
            values = []
            for type_ in types:
                known = [v for v in self.visible if v.type == type_]
                values.append(self.pick(known) if known else ir.Var("free", UNKNOWN, S))
            return ir.YieldStmt(values, S)

        return make

    def branch(self, depth: int) -> ir.Stmt:
        condition = self.truth()
        types = [v.type for v in self.visible[: self.count(2)]]
        if not types:
            then = self.body(depth)
            return ir.IfStmt(condition, then, self.body(depth) if self.flag() else None, [], S)
        sides = [self.enclosed(lambda: self.body(depth, self.yielded(types))) for _ in range(2)]
        results = [self.variable(type_) for type_ in types]
        self.show(*results)
        return ir.IfStmt(condition, *sides, results, S)

    def bounds(self) -> list[ir.Expr]:
        if self.flag():
            return [ir.ConstInt(self.count(9), D.INT32, S) for _ in range(3)]
        return [self.integer(D.INDEX, 1) for _ in range(2)] + [ir.ConstInt(self.pick([1, 2]), D.INDEX, S)]

    def loop_of(
        self, bounds: list[ir.Expr], body: Any, carried: list[ir.IterArg], results: list[ir.Var]
    ) -> ir.Stmt:
        is_int32 = all(isinstance(b, ir.ConstInt) and b.dtype == D.INT32 for b in bounds)
        loop_var = self.variable(ir.ScalarType(D.INT32 if is_int32 else D.INDEX))
        kind = self.pick(ir.ForKind)
        stages = [("pipeline_stages", K.INT, 1 + self.count(3))] if kind is ir.ForKind.Pipeline else []
        attrs = self.attrs(*stages)
        self.show(loop_var)
        return ir.ForStmt(loop_var, *bounds, carried, body(), results, S, kind, attrs)

    def loop(self, depth: int) -> ir.Stmt:
        return self.loop_of(self.bounds(), lambda: self.body(depth), [], [])

    def carry(self) -> tuple[list[ir.IterArg], list[ir.Var]]:
        starts = self.visible[: 1 + self.count(2)]
        carried = [ir.IterArg(self.pick(NAMES), v.type, v, S) for v in starts]
        return carried, [self.variable(v.type) for v in starts]

    def carried(self, depth: int) -> ir.Stmt:
        bounds, (carried, results) = self.bounds(), self.carry()
        if not carried:
            return self.loop(depth)

        def inside() -> ir.Stmt:
            self.show(*carried)
            return self.body(depth, self.yielded([arg.type for arg in carried]))

        found = self.enclosed(lambda: self.loop_of(bounds, inside, carried, results))
        self.show(*results)
        return found

    def repeat(self, depth: int) -> ir.Stmt:
        carried, results = self.carry()
        if not carried or self.flag():
            return ir.WhileStmt(self.truth(), [], self.body(depth), [], S)

        def inside() -> ir.Stmt:
            self.show(*carried)
            condition = self.truth()
            body = self.body(depth, self.yielded([arg.type for arg in carried]))
            return ir.WhileStmt(condition, carried, body, results, S)

        found = self.enclosed(inside)
        self.show(*results)
        return found

    def scope(self, depth: int) -> ir.Stmt:
        attrs, name = self.attrs(), self.pick(["", "hint"])
        kind = self.pick(["core", "host", "cluster", "runtime", "spmd", "split"])
        core_num = self.integer(D.INDEX, 1)
        known = {"name_hint": name, "body": self.body(depth), "span": S, "attrs": attrs}
        match kind:
            case "core":
                return ir.InCoreScopeStmt(self.pick(ir.SplitMode), **known)
            case "host":
                levels = [level for level in ir.Level if level is not ir.Level.CORE_GROUP]
                return ir.HierarchyScopeStmt(self.pick(levels), self.pick([None, *ir.Role]), **known)
            case "cluster":
                return ir.ClusterScopeStmt(**known)
            case "runtime":
                return ir.RuntimeScopeStmt(self.flag(), **known)
            case "spmd":
                return ir.SpmdScopeStmt(core_num, self.flag(), **known)
        # A symbol beside a lane index of its name would mean that index, as vector splitting leaves it.
        lane = ir.Var(self.pick(NAMES[:-1]), ir.ScalarType(D.INDEX), S)
        index = ir.AssignStmt(lane, ir.Call(ir.Op("tile.get_subblock_idx"), [], lane.type, S), S)
        rest = known["body"].stmts if isinstance(known["body"], ir.SeqStmts) else [known["body"]]
        known["body"] = ir.SeqStmts([index, *rest], S) if rest else index
        return ir.SplitAivScopeStmt(self.pick(ir.SplitMode), **known)

    def function(self, name: str) -> ir.Function:
        params = []
        for _ in range(self.count(3)):
            var = self.variable(self.type())
            is_scalar = isinstance(var.type, ir.ScalarType)
            if is_scalar and var.name_hint == "M":
                var = ir.Var("N", var.type, S)  # an INDEX parameter called M is the dimension M
            directions = [d for d in ir.ParamDirection if d is not ir.ParamDirection.InOut or not is_scalar]
            params.append((var, self.pick(directions)))
            self.show(var)
        returns = [self.type() for _ in range(self.count(2))]
        kind = self.pick(
            [ir.FunctionType.AIV, ir.FunctionType.InCore]
        )  # split regions stand alone in kernels
        attrs = self.attrs()
        return ir.Function(name, params, returns, self.body(2), S, kind, attrs=attrs)


@st.composite
def programs(draw: Any) -> ir.Program:
    """Programs of one to three functions, which share dynamic dimensions and call those before them."""
    dimensions = [ir.Var(name, ir.ScalarType(D.INDEX), S) for name in ("M", "ROWS")]
    functions: list[ir.Function] = []
    for name in ["f", "g", "main"][: draw(st.integers(1, 3))]:
        functions.append(Writer(draw, dimensions, functions).function(name))
    return ir.Program(functions, draw(st.sampled_from(["P", "ü"])), S)


thorough = settings(
    max_examples=examples(50), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@thorough
@given(programs())
def test_printing_and_parsing_is_the_identity(program: ir.Program) -> None:
    text = ir.python_print(program, format=False)
    parsed = pl.parse(text)
    difference = ir.structural_diff(parsed, program, enable_auto_mapping=True)
    assert difference is None, f"{difference}\n{text}"
    assert ir.python_print(parsed, format=False) == text


@thorough
@given(programs())
def test_the_explicit_text_parses_to_the_same_ir(program: ir.Program) -> None:
    text = ir.python_print(program, format=False, explicit_layout=True)
    for again in (text, ir.python_print(program, format=True)):
        assert ir.structural_diff(pl.parse(again), program, enable_auto_mapping=True) is None


@thorough
@given(programs())
def test_a_function_alone_parses_to_itself(program: ir.Program) -> None:
    for function in program.functions.values():
        text = "# pypto.program: P\n" + ir.python_print(function, format=False)
        assert ir.structural_diff(pl.parse(text), function, enable_auto_mapping=True) is None
