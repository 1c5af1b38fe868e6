"""Programs at random: the script computes what an interpreter of the IR does."""

from codegen.builders import (
    BOOL,
    TASK,
    U,
    as_expr,
    assign,
    call,
    carry,
    evaluate,
    function,
    if_,
    program,
    ret,
    run,
    scalar,
    submit,
)
from codegen.interpreter import Interpreter
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

HINTS = ["x", "x_1", "acc", "i", "x", "class", "y__ssa_v0"]
PAIR = ir.TupleType([scalar("a").type, scalar("b").type])


class Maker:
    """Draws statements; ``names`` are the variables that can be read where the next one stands."""

    def __init__(self, data: st.DataObject) -> None:
        self.data = data
        self.budget = data.draw(st.integers(5, 40), label="statements")

    def pick(self, options):
        return self.data.draw(st.sampled_from(options))

    def var(self) -> ir.Var:
        return scalar(self.pick(HINTS))

    def expr(self, names, depth=2) -> ir.Expr:
        kind = self.pick(["name", "name", "number", "sum"] if depth else ["name", "number"])
        if kind == "name":
            return self.pick(names)
        if kind == "number":
            return as_expr(self.data.draw(st.integers(-5, 5)))
        cls = self.pick([ir.Add, ir.Sub, ir.Mul, ir.Min, ir.Max])
        total = cls(self.expr(names, depth - 1), self.expr(names, depth - 1), names[0].type.dtype, U)
        return ir.mod(total, as_expr(101))  # values stay small in loops

    def condition(self, names) -> ir.Expr:
        cls = self.pick([ir.Lt, ir.Eq, ir.Gt])
        return cls(ir.mod(self.expr(names, 1), as_expr(5)), self.expr(names, 0), BOOL, U)

    def block(self, names, mutable, *, in_loop=False, depth=0) -> list[ir.Stmt]:
        """Some statements; ``names`` grows by what they define."""
        stmts: list[ir.Stmt] = []
        for _ in range(self.data.draw(st.integers(1, 4))):
            if self.budget <= 0:
                break
            self.budget -= 1
            kinds = ["assign", "assign", "rebind", "call", "submit", "tuple"]
            if depth < 3:
                kinds += ["if", "if results", "for", "for carries", "while", "scope", "region", "predicate"]
            if in_loop:
                kinds.append("jump")
            stmts += getattr(self, "_" + self.pick(kinds).replace(" ", "_"))(names, mutable, in_loop, depth)
        return stmts

    def body(self, names, mutable, depth, in_loop=False) -> list[ir.Stmt]:
        """A block of its own: what it defines ends with it, unless it is a mutable variable."""
        return self.block(list(names), mutable, in_loop=in_loop, depth=depth + 1)

    def _assign(self, names, mutable, in_loop, depth):
        var, value = self.var(), self.expr(names)
        names.append(var)
        return [assign(var, value)]

    def _rebind(self, names, mutable, in_loop, depth):
        return [assign(self.pick(mutable), self.expr(names))]

    def _call(self, names, mutable, in_loop, depth):
        var, pair = self.var(), ir.Var("pair", PAIR, U)
        args = [self.expr(names, 1), self.expr(names, 1)]
        names.append(var)
        return [
            assign(pair, call("two", args, PAIR)),
            assign(var, ir.TupleGetItemExpr(pair, self.pick([0, 1]), U)),
        ]

    def _submit(self, names, mutable, in_loop, depth):
        result = ir.Var("result", ir.TupleType([*PAIR.types, TASK]), U)
        var = self.var()
        launch = submit("two", [self.expr(names, 1), self.expr(names, 1)], result.type)
        names.append(var)
        return [
            assign(result, launch),
            evaluate(launch),
            assign(var, ir.TupleGetItemExpr(result, self.pick([0, 1]), U)),
        ]

    def _tuple(self, names, mutable, in_loop, depth):
        var = self.var()
        made = ir.MakeTuple([self.expr(names, 1), self.expr(names, 1)], U)
        names.append(var)
        return [assign(var, ir.TupleGetItemExpr(made, self.pick([0, 1]), U))]

    def _jump(self, names, mutable, in_loop, depth):
        jump = self.pick([ir.BreakStmt(U), ir.ContinueStmt(U)])
        return [if_(self.condition(names), jump)]

    def _if(self, names, mutable, in_loop, depth):
        then = ir.SeqStmts(self.body(names, mutable, depth, in_loop), U)
        other = (
            ir.SeqStmts(self.body(names, mutable, depth, in_loop), U) if self.pick([True, False]) else None
        )
        return [if_(self.condition(names), then, other)]

    def _yielding(self, names, mutable, count, depth, carries=()) -> ir.Stmt:
        """A body that ends in a yield, often of the carries in another order."""
        inner = list(names)
        stmts = self.block(inner, mutable, depth=depth + 1)
        values = [self.expr(self.pick([inner, carries or inner]), 1) for _ in range(count)]
        return ir.SeqStmts([*stmts, ir.YieldStmt(values, U)], U)

    def _if_results(self, names, mutable, in_loop, depth):
        results = [self.var() for _ in range(self.pick([1, 2, 3]))]
        branches = [self._yielding(names, mutable, len(results), depth) for _ in range(2)]
        stmt = if_(self.condition(names), *branches, results)
        names += results
        return [stmt]

    def _loop_parts(self, names, mutable, depth, *more):
        carries = [carry(self.pick(HINTS), self.expr(names, 1)) for _ in range(self.pick([1, 2, 3, 3]))]
        body = self._yielding([*names, *carries, *more], mutable, len(carries), depth, carries)
        return carries, body, [self.var() for _ in carries]

    def _for(self, names, mutable, in_loop, depth):
        var = self.var()
        body = ir.SeqStmts(self.body([*names, var], mutable, depth, in_loop=True), U)
        return [ir.ForStmt(var, as_expr(0), as_expr(self.pick([0, 1, 3])), as_expr(1), [], body, [], U)]

    def _for_carries(self, names, mutable, in_loop, depth):
        var = self.var()
        carries, body, results = self._loop_parts(names, mutable, depth, var)
        start, step = self.pick([(0, 1), (1, 2), (4, -1)])
        stop = ir.mod(self.expr(names, 1), as_expr(5))
        stmt = ir.ForStmt(var, as_expr(start), stop, as_expr(step), carries, body, results, U)
        names += results
        return [stmt]

    def _while(self, names, mutable, in_loop, depth):
        carries, body, results = self._loop_parts(names, mutable, depth)
        count, last = carry("count", 0), scalar("last")
        *stmts, last_yield = body.stmts
        body = ir.SeqStmts([*stmts, ir.YieldStmt([*last_yield.value, count + 1], U)], U)
        stop = ir.Lt(count, as_expr(self.pick([0, 1, 4])), BOOL, U)
        stmt = ir.WhileStmt(stop, [*carries, count], body, [*results, last], U)
        names += [*results, last]
        return [stmt]

    def _scope(self, names, mutable, in_loop, depth):
        task = ir.Var("task", TASK, U)
        wrap = self.pick(
            [
                lambda b: ir.RuntimeScopeStmt(body=b, span=U, attrs={"task_id_var": task}),
                lambda b: ir.InCoreScopeStmt(body=b, span=U),
                lambda b: ir.HierarchyScopeStmt(ir.Level.CHIP, body=b, span=U),
                lambda b: ir.SpmdScopeStmt(self.pick([1, 2]), body=b, span=U),
            ]
        )
        # What a scope defines is visible after it.
        return [wrap(ir.SeqStmts(self.block(names, mutable, depth=depth + 1), U))]

    def _region(self, names, mutable, in_loop, depth):
        body = ir.SeqStmts(self.block(names, mutable, depth=depth + 1), U)
        return [ir.SplitAivScopeStmt(ir.SplitMode.NONE, body=body, span=U)]

    def _predicate(self, names, mutable, in_loop, depth):
        body = ir.SeqStmts(self.body(names, mutable, depth), U)
        return [ir.RuntimeScopeStmt(body=body, span=U, attrs={"predicate": self.condition(names)})]


def random_program(data: st.DataObject) -> ir.Program:
    maker = Maker(data)
    params = [maker.var(), maker.var()]
    mutable = [maker.var() for _ in range(3)]
    names = [*params, *mutable]
    starts = [assign(var, k) for k, var in enumerate(mutable)]
    body = maker.block(names, mutable)
    while maker.budget > 0:
        body += maker.block(names, mutable)
    a, b = scalar("x"), scalar("x")
    two = function("two", [a, b], ret(a - b, a + b * 2))
    return program(function("main", params, *starts, *body, ret(*names)), two)


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
)
@given(st.data(), st.integers(-9, 9), st.integers(-9, 9))
def test_a_script_computes_what_the_ir_says(data, x, y):
    node = random_program(data)
    expected = Interpreter(node).call("main", [x, y])
    text = torch_codegen(node)
    assert run(text)["main"](x, y) == expected


def test_the_interpreter_itself():
    """Fibonacci, a while, a branch and a break, by hand."""
    a, b, i, c = carry("a", 0), carry("b", 1), scalar("i"), carry("c", 1)
    results = [scalar("p"), scalar("q"), scalar("r"), scalar("s")]
    fibonacci = ir.ForStmt(
        i, as_expr(0), as_expr(5), as_expr(1), [a, b], ir.YieldStmt([b, a + b], U), results[:2], U
    )
    doubling = ir.WhileStmt(ir.lt(c, 100), [c], ir.YieldStmt([c * 2], U), [results[2]], U)
    stop = ir.ForStmt(
        i,
        as_expr(0),
        as_expr(9),
        as_expr(1),
        [],
        if_(ir.gt(i, 3), ir.BreakStmt(U), assign(results[3], i)),
        [],
        U,
    )
    node = program(function("main", [], fibonacci, doubling, stop, ret(*results)))
    assert Interpreter(node).call("main", []) == (5, 8, 128, 3)
