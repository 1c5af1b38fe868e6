"""Run the passes on the programs of a corpus, and what they make, also under schedules.

    python tests/pipeline_check.py CORPUS [--only NAME] [--until PASS] [--seeds N] [--planner NAME]

A corpus is what ``corpus_check.py`` says. Each program is lowered from its recorded frontend, pass by pass
of the Default strategy as far as these exist. What every pass that changes it makes must compute what the
golden function does; stages in which cores work together must do so with pipes as deep as they declare,
without races, and in whatever order a seed draws. One line is printed for every failure; the last line is
OK/TOTAL.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpus_check import Dump, compare_with_golden, find_dumps, load_program

from pypto_tmpl import backend, ir, passes
from pypto_tmpl.debug import set_options, torch_codegen
from pypto_tmpl.ir.pass_manager import OptimizationStrategy
from pypto_tmpl.passes.settings import MemoryPlanner
from pypto_tmpl.passes.strategies import pass_names

STRICT = {
    "bounded_pipes": True,
    "race_check": True,
    "schedule_seed": 0,
    "pipe_wait_timeout_sec": 20,
    "mixed_kernel_timeout_sec": 60,
}
FRONTEND = "00_frontend.msgpack"


def lowered(
    node: ir.Program, until: str, planner: MemoryPlanner = MemoryPlanner.PYPTO
) -> Iterator[tuple[str, ir.Program]]:
    """What each pass makes of a program that it changes, up to ``until``."""
    for name in pass_names(OptimizationStrategy.Default, planner):
        with passes.PassContext(memory_planner=planner):
            after = passes.make_pass(name)(node)
        if after is not node:
            yield name, after
        node = after
        if name == until:
            return


def failure(node: ir.Program, dump: Dump, seeds: int) -> str | None:
    """Why a stage does not compute what the program should, None if it does."""
    program = load_program(dump.corpus / "programs" / f"{dump.program}.py")
    groups = [f for f in node.functions.values() if f.func_type is ir.FunctionType.Group]
    runs = [(_namespace(node, {}, dump), None)]
    if groups:
        strict = _namespace(node, STRICT, dump)
        runs += [(strict, seed) for seed in range(seeds)]
    for namespace, seed in runs:
        if seed is not None:
            set_options(namespace, schedule_seed=seed)
        try:
            why = compare_with_golden(program, namespace[program.entry])
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
        if why is not None:
            return why if seed is None else f"schedule {seed}: {why}"
    return None


def _namespace(node: ir.Program, options: dict[str, object], dump: Dump) -> dict[str, Any]:
    namespace: dict[str, Any] = {}
    exec(compile(torch_codegen(node, options=options), dump.label, "exec"), namespace)
    return namespace


def check(
    dump: Dump, until: str, seeds: int, planner: MemoryPlanner = MemoryPlanner.PYPTO
) -> Iterator[tuple[str, str | None]]:
    """The stages of one program, each with what is wrong with it."""
    backend.reset_for_testing()
    backend.set_backend_type(backend.BackendType[dump.path.parent.name])
    node = ir.deserialize_from_file(str(dump.path))
    assert isinstance(node, ir.Program)
    label = dump.label.removesuffix(f"/{FRONTEND}")
    name = "frontend"
    try:
        for name, after in lowered(node, until, planner):
            yield f"{label} {name}", failure(after, dump, seeds)
    except Exception as error:
        yield f"{label} after {name}", f"{type(error).__name__}: {error}"


def main(arguments: list[str] | None = None) -> int:
    """Check a corpus, as a command. Returns 0 if everything holds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--only", default="", help="part of <program>/<backend>")
    parser.add_argument("--until", default="", help="the last pass")
    parser.add_argument("--seeds", type=int, default=5, help="how many schedules are drawn")
    parser.add_argument("--planner", choices=[*MemoryPlanner.__members__], default="PYPTO")
    given = parser.parse_args(arguments)
    good = total = 0
    for dump in find_dumps(given.corpus, ".msgpack", given.only):
        program = load_program(dump.corpus / "programs" / f"{dump.program}.py")
        if dump.path.name != FRONTEND or program.golden is None:
            continue
        for label, why in check(dump, given.until, given.seeds, MemoryPlanner[given.planner]):
            total += 1
            good += why is None
            if why is not None:
                print(f"{label}: {why.splitlines()[0]}", flush=True)
    print(f"{good}/{total}")
    return int(good < total or not total)


if __name__ == "__main__":
    sys.exit(main())
