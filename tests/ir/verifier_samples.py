"""What the tests of the verifier share: variables, and how its findings read."""

from __future__ import annotations

from typing import Any

from ir.printer_samples import BOOL, call, evaluate, function, integer, loop, scalar, tensor

from pypto_tmpl import ir

P = ir.IRProperty
A = tensor("a")
X, N, FLAG = scalar("x"), scalar("n"), scalar("flag", BOOL)
WORK = evaluate(call("system.bar_all"))
ZERO, ONE = integer(0), integer(1)


def errors(node: ir.Stmt | ir.Function | ir.Program, *properties: ir.IRProperty) -> list[str]:
    """What the verifier says of a program, a function, or a body with the parameters a, x, n and flag."""
    if isinstance(node, ir.Stmt):
        node = function("f", [A, X, N, FLAG], node)
    return [str(found) for found in ir.verify(node, properties)]


def counted(body: ir.Stmt, *carries: tuple[ir.IterArg, ir.Var], **options: Any) -> ir.ForStmt:
    """A loop over 0..n with carries and their results."""
    args, results = [arg for arg, _ in carries], [result for _, result in carries]
    return loop(scalar("i"), ZERO, N, ONE, body, args, results, **options)


def doubled(var: ir.Var) -> ir.Call:
    return call("tensor.add", var, var, type=var.type)
