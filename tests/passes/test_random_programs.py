"""Programs at random compute the same before and after passes, by an interpreter of the IR."""

import os

from codegen.builders import Inline, U, as_expr, assign, call, carry, function, program, ret, scalar
from codegen.interpreter import Interpreter
from codegen.test_random_programs import HINTS, PAIR, Maker
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pypto_tmpl import ir, passes
from pypto_tmpl.ir.pass_order import PREFIX
from pypto_tmpl.passes.properties import verify_or_throw, with_checks

P = ir.IRProperty
COUNT = int(os.environ.get("PYPTO_TMPL_RANDOM_PROGRAMS", "40"))
SETTINGS = settings(
    max_examples=COUNT,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


class KernelMaker(Maker):
    """Draws kernels: jumps out of loops with carries too, no scope that is left out or runs twice."""

    is_helper = False

    def _loop_parts(self, names, mutable, depth, *more):
        carries = [carry(self.pick(HINTS), self.expr(names, 1)) for _ in range(self.pick([1, 2, 3]))]
        inner = [*names, *carries, *more]
        stmts = self.block(inner, mutable, in_loop=True, depth=depth + 1)
        values = [self.expr(self.pick([inner, carries]), 1) for _ in carries]
        body = ir.SeqStmts([*stmts, ir.YieldStmt(values, U)], U)
        return carries, body, [self.var() for _ in carries]

    def _for(self, names, mutable, in_loop, depth):
        """Some loops are unrolled; those have no jumps of their own."""
        if self.pick([True, False]):
            return super()._for(names, mutable, in_loop, depth)
        var = self.var()
        body = ir.SeqStmts(self.body([*names, var], mutable, depth), U)
        bounds = as_expr(0), as_expr(self.pick([0, 1, 3])), as_expr(1)
        return [ir.ForStmt(var, *bounds, [], body, [], U, ir.ForKind.Unroll)]

    def _call(self, names, mutable, in_loop, depth):
        """Some calls are of the Inline function; a variable changes before the results of these are read."""
        if self.is_helper or self.pick([True, False]):
            return super()._call(names, mutable, in_loop, depth)
        if self.pick([True, False]):
            var = self.var()
            lines = [
                assign(var, ir.add(self._element(names), ir.mul(self.expr(names, 1), self._element(names))))
            ]
            names.append(var)
            return lines
        pair, results = ir.Var("pair", PAIR, U), [self.var(), self.pick(mutable)]
        args = [self.pick(mutable), self.expr(names, 1)]
        reads = [assign(var, ir.TupleGetItemExpr(pair, k, U)) for k, var in enumerate(results)]
        names.append(results[0])
        changed = self._rebind(names[:-1], mutable, in_loop, depth)
        return [assign(pair, call("helper", args, PAIR)), *changed, *reads]

    def _element(self, names):
        """One result of a call inside of another expression, perhaps of another such call."""
        first = self._element(names) if self.pick([True, False, False]) else self.expr(names, 1)
        given = call("helper", [first, self.expr(names, 1)], PAIR)
        return ir.TupleGetItemExpr(given, self.pick([0, 1]), U)

    def helper(self):
        """An Inline function that may assign its parameters."""
        params = [self.var(), self.var()]
        own = [*params]
        self.is_helper, self.budget = True, 4
        body = self.block(own, params, depth=2)
        return function("helper", params, *body, ret(self.pick(own), self.pick(own)), type=Inline)

    def _while(self, names, mutable, in_loop, depth):
        """A continue would leave the count as it was, so that the loop went on for ever."""
        (made,) = super()._while(names, mutable, in_loop, depth)
        count = made.iter_args[-1]
        *stmts, last = made.body.stmts
        counted = scalar("counted")
        names[-1:] = [counted]
        body = ir.SeqStmts(
            [assign(counted, counted + 1), *stmts, ir.YieldStmt([*last.value[:-1], count], U)], U
        )
        stop = ir.lt(counted, made.condition.right)
        start = assign(counted, 0)
        return [start, ir.WhileStmt(stop, made.iter_args, body, made.return_vars, U)]

    def _scope(self, names, mutable, in_loop, depth):
        body = ir.SeqStmts(self.block(names, mutable, depth=depth + 1), U)
        return [self.pick([ir.RuntimeScopeStmt, ir.InCoreScopeStmt])(body=body, span=U)]

    def _predicate(self, names, mutable, in_loop, depth):
        return self._scope(names, mutable, in_loop, depth)


def random_kernel(data: st.DataObject) -> ir.Program:
    maker = KernelMaker(data)
    params = [maker.var(), maker.var()]
    helpers = KernelMaker(data).helper()
    mutable = [maker.var() for _ in range(3)]
    names = [*params, *mutable]
    starts = [assign(var, k) for k, var in enumerate(mutable)]
    body = maker.block(names, mutable)
    while maker.budget > 0:
        body += maker.block(names, mutable)
    a, b = scalar("x"), scalar("x")
    two = function("two", [a, b], ret(a - b, a + b * 2))
    kind = ir.FunctionType.InCore
    main = function("main", params, *starts, *body, ret(*names), type=kind)
    return program(main, two, helpers)


def check_passes(node: ir.Program, x: int, y: int) -> None:
    """Every pass on the result of the one before it keeps what the program computes and the IR's rules."""
    expected = Interpreter(node).call("main", [x, y])
    known = {P.UseAfterDef, P.TypeChecked, P.BreakContinueValid, P.ArrayNotEscaped, P.PipelineLoopValid}
    for name in PREFIX:
        pass_ = passes.make_pass(name)
        after = pass_(node)
        known |= set(with_checks(pass_.get_produced_properties()))
        if after is not node:
            verify_or_throw(known, after)
            assert Interpreter(after).call("main", [x, y]) == expected, name
        node = after


@SETTINGS
@given(st.data(), st.integers(-9, 9), st.integers(-9, 9))
def test_every_pass_keeps_what_a_program_computes(data, x, y):
    check_passes(random_kernel(data), x, y)
