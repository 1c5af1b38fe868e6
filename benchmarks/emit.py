"""Milliseconds to emit programs of growing size, to show that the cost grows linearly.

    python benchmarks/emit.py [--profile]

Each form is emitted at 1,000, 10,000 and 50,000 statements, without formatting; the last column is the
cost of a statement at the largest size against that at the smallest: about 1 if the growth is linear.
"""

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from codegen.builders import (
    AIV,
    U,
    assign,
    binary,
    call,
    carry,
    evaluate,
    for_loop,
    function,
    if_,
    load,
    program,
    ret,
    scalar,
    seq,
    store,
    tensor,
    tile,
    yields,
)

from pypto_tmpl import ir
from pypto_tmpl.debug import torch_codegen

SIZES = (1_000, 10_000, 50_000)
x, out, n = tensor("x", [64, 64]), tensor("out", [64, 64]), scalar("n")


def straight(size: int) -> ir.Program:
    """One function of tile arithmetic, every statement with a name of its own."""
    t = tile("t__ssa_v0", [64, 64], valid=[n, 64])
    body = [assign(t, load(x, [0, 0], [64, 64], [n, 64]))]
    for k in range(size - 2):
        new = tile(f"t__ssa_v{k + 1}", [64, 64], valid=[n, 64])
        body.append(assign(new, binary("tile.add", t, t)))
        t = new
    return program(function("main", [x, out, n], *body, ret(store(t, [0, 0], out)), type=AIV))


def one_name(size: int) -> ir.Program:
    """One function in which every variable has the same hint."""
    value = scalar("v")
    body = [assign(value, n)]
    for _ in range(size - 2):
        new = scalar("v")
        body.append(assign(new, value + 1))
        value = new
    return program(function("main", [n], *body, ret(value)))


def loops(size: int) -> ir.Program:
    """Loops with carries and branches, five statements each."""
    body, value = [], n
    for _ in range(size // 5):
        a, p, r, i = carry("a", value), scalar("p"), scalar("r"), scalar("i")
        branch = if_(ir.gt(i, 1), seq(yields(a + i)), yields(a), [p])
        body.append(for_loop(i, 4, branch, yields(p), carries=[a], results=[r]))
        value = r
    return program(function("main", [n], *body, ret(value)))


def lanes(size: int) -> ir.Program:
    """Two-lane scopes whose names live on, four statements each."""
    body = []
    for _ in range(size // 4):
        a, b = scalar("a"), scalar("b")
        body += [
            ir.SplitAivScopeStmt(ir.SplitMode.NONE, body=seq(assign(a, n + 1), assign(b, a * 2)), span=U),
            assign(n, a + b),
        ]
    return program(function("main", [n], *body, ret(n)))


def many_functions(size: int) -> ir.Program:
    """Functions of ten statements that a main function calls."""
    functions, calls = [], []
    for k in range(size // 11):
        t = tile("t", [64, 64])
        body = [
            assign(t, load(x, [0, 0], [64, 64])),
            *(assign(t, binary("tile.add", t, t)) for _ in range(8)),
        ]
        functions.append(function(f"kernel_{k}", [x, out], *body, evaluate(store(t, [0, 0], out)), type=AIV))
        calls.append(evaluate(call(f"kernel_{k}", [x, out])))
    return program(*functions, function("main", [x, out], *calls))


FORMS: list[Callable[[int], ir.Program]] = [straight, one_name, loops, lanes, many_functions]


def milliseconds(node: ir.Program) -> float:
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        torch_codegen(node, check_shapes=True)
        best = min(best, time.process_time() - start)
    return best * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--profile", action="store_true", help="where the time of the largest straight one goes"
    )
    options = parser.parse_args()
    torch_codegen(straight(10))  # templates are loaded once per process
    print(f"{'form':16}" + "".join(f"{size:>10,}" for size in SIZES) + f"{'us each':>10}{'growth':>8}")
    for form in FORMS:
        found = [milliseconds(form(size)) for size in SIZES]
        growth = (found[-1] / SIZES[-1]) / (found[0] / SIZES[0])
        each = found[-1] / SIZES[-1] * 1e3
        print(f"{form.__name__:16}" + "".join(f"{ms:10.0f}" for ms in found) + f"{each:10.1f}{growth:8.2f}")
    if options.profile:
        profile = cProfile.Profile()
        node = straight(SIZES[-1])
        profile.runcall(torch_codegen, node)
        pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
