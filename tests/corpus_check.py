"""Check the package against a corpus of real dumps.

A corpus has ``programs/<name>.py`` (kernel, ``make_inputs`` and ``golden``) and
``dumps/<name>/<backend>/<NN_stage>.msgpack|.py``. The checks:

* ``wire``: decoding a .msgpack and encoding it again gives the same bytes.
* ``print``: the IR of a .msgpack prints as the .py beside it.
* ``text``: a .py prints again as it was, and its IR equals that of the .msgpack beside it, if any.
* ``run``: the script emitted for a dump computes what the program's golden function does, where it has one.

``known.json`` in a corpus says what cannot hold there, and why: ``{program: {check: {"from": stage,
"to": stage, "why": ...}}}``, where ``text`` excuses only the comparison with the .msgpack.

One line is printed for every failure; the last line is OK/TOTAL. Exit status: 0 if all hold, 1 if
one does not or nothing was checked, 2 on wrong usage.
"""

import argparse
import ast
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from process_pool import run_all

SUFFIXES = {"wire": ".msgpack", "print": ".msgpack", "text": ".py", "run": ".py"}
SECONDS_PER_DUMP = 60.0

# Where an output starts all zero it is filled with this, so that cells that must stay unwritten show.
OUTPUT_FILL = 9

Tensors = dict[str, torch.Tensor]


def default_corpus() -> Path:
    """Return the corpus that PYPTO_TMPL_CORPUS names, else the small one of this repository."""
    named = os.environ.get("PYPTO_TMPL_CORPUS")
    return Path(named) if named else Path(__file__).resolve().parent / "corpus"


@dataclass(frozen=True, slots=True)
class Dump:
    """One dump file of a corpus."""

    corpus: Path
    label: str  # <program>/<backend>/<NN_stage>.<suffix>

    @property
    def path(self) -> Path:
        return self.corpus / "dumps" / self.label

    @property
    def program(self) -> str:
        return self.label.split("/")[0]

    @property
    def program_path(self) -> Path:
        return self.corpus / "programs" / f"{self.program}.py"

    @property
    def stage_number(self) -> int:
        return int(self.path.name.split("_")[0])

    def is_excused(self, check: str) -> bool:
        """Tell whether the corpus says that ``check`` cannot hold for this dump."""
        known = _known(self.corpus).get(self.program, {}).get(check)
        return known is not None and known["from"] <= self.stage_number <= known.get("to", self.stage_number)

    def __str__(self) -> str:
        return self.label


@cache
def _known(corpus: Path) -> dict[str, Any]:
    path = corpus / "known.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def find_dumps(corpus: Path, suffix: str, only: str = "") -> list[Dump]:
    """Return the dumps with this suffix whose label contains ``only``, in order of their labels."""
    root = corpus / "dumps"
    labels = sorted(path.relative_to(root).as_posix() for path in root.glob(f"*/*/*{suffix}"))
    return [Dump(corpus, label) for label in labels if only in label]


@dataclass(frozen=True, slots=True)
class Program:
    """What a corpus program says about running it: all but the kernel."""

    entry: str
    outputs: list[str]
    make_inputs: Callable[[], Tensors]
    golden: Callable[[Tensors], None] | None  # none for programs that are only read


@cache
def load_program(path: Path) -> Program:
    """Return the program's data, running only the top-level statements that these need.

    Kernels and ``pypto`` imports are thus left out: nothing but torch has to be there.
    """
    definitions = dict(_top_level_definitions(ast.parse(path.read_text(encoding="utf-8"))))
    needed: set[str] = set()
    pending = ["ENTRY", "OUTPUTS", "make_inputs", "golden"]
    while pending:
        name = pending.pop()
        if name in definitions and name not in needed:
            needed.add(name)
            names = [node.id for node in ast.walk(definitions[name]) if isinstance(node, ast.Name)]
            pending += [used for used in names if used not in needed]
    body = [statement for name, statement in definitions.items() if name in needed]
    namespace: dict[str, Any] = {"__name__": f"corpus_program_{path.stem}"}
    module = ast.fix_missing_locations(ast.Module(body, type_ignores=[]))
    exec(compile(module, str(path), "exec"), namespace)
    return Program(
        entry=namespace["ENTRY"],
        outputs=namespace["OUTPUTS"],
        make_inputs=namespace["make_inputs"],
        golden=namespace["golden"],
    )


def _top_level_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name with a statement that binds only it; ``A, B = 1, 2`` is taken apart."""
    for statement in tree.body:
        match statement:
            case ast.FunctionDef() | ast.ClassDef():
                yield statement.name, statement
            case ast.Import() | ast.ImportFrom():
                for alias in statement.names:
                    single = ast.Import([alias])
                    if isinstance(statement, ast.ImportFrom):
                        single = ast.ImportFrom(statement.module, [alias], statement.level)
                    yield alias.asname or alias.name.split(".")[0], single
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=True):
                    yield ast.unparse(target), ast.Assign([target], value)
            case ast.Assign(targets=[ast.Name(id=name)]):
                yield name, statement


def prepared_inputs(program: Program) -> Tensors:
    """Return fresh arguments for the entry, outputs that start all zero filled with OUTPUT_FILL."""
    tensors = program.make_inputs()
    for name in program.outputs:
        if not tensors[name].any():
            tensors[name].fill_(OUTPUT_FILL)
    return tensors


def tolerance(dtype: torch.dtype) -> dict[str, float]:
    """Return the tolerance of a comparison with golden: integers are exact, bfloat16 is coarse."""
    if dtype == torch.bfloat16:
        return {"rtol": 1.6e-2, "atol": 2e-3}
    if dtype.is_floating_point:
        return {"rtol": 2e-3, "atol": 2e-3}
    return {"rtol": 0.0, "atol": 0.0}


def compare_with_golden(program: Program, entry: Callable[..., object]) -> str | None:
    """Call ``entry`` on the program's arguments; return how the outcome differs from golden, or None."""
    got = prepared_inputs(program)
    want = {name: tensor.clone() for name, tensor in got.items()}
    untouched = {name: tensor.clone() for name, tensor in got.items() if name not in program.outputs}
    assert program.golden is not None
    program.golden(want)
    entry(*got.values())
    for name, before in untouched.items():
        if not _same_values(got[name], before):
            return f"input {name} was changed"
    for name in program.outputs:
        if why := tensor_difference(got[name], want[name]):
            return f"{name}: {why}"
    return None


def _same_values(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Tell whether two tensors hold exactly the same values; a NaN is the same as a NaN."""
    both_nan = left.isnan() & right.isnan()
    return bool(((left == right) | both_nan).all())


def tensor_difference(got: torch.Tensor, want: torch.Tensor) -> str | None:
    """Return how ``got`` differs from ``want``, beyond the tolerance of its dtype, or None."""
    if got.dtype != want.dtype:
        return f"dtype {got.dtype}, want {want.dtype}"
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, want {list(want.shape)}"
    if not got.dtype.is_floating_point:
        # Not through float64, which cannot tell neighbouring 64-bit integers apart.
        bad = got != want
    else:
        bad = ~torch.isclose(got.double(), want.double(), **tolerance(got.dtype))
    count = int(bad.sum())
    if not count:
        return None
    difference = (got.double() - want.double()).abs()
    worst = float(difference[bad].nan_to_num(float("inf")).max())
    first = [int(position) for position in bad.nonzero()[0]]
    return (
        f"{count} of {bad.numel()} cells differ, max abs diff {worst:.3e}; "
        f"first at {first}: {got[tuple(first)].item()}, want {want[tuple(first)].item()}"
    )


def text_difference(got: str, want: str) -> str | None:
    """Return where two texts first differ, or None; line ends at the end of the text do not count."""
    got_lines, want_lines = got.rstrip("\n").split("\n"), want.rstrip("\n").split("\n")
    for number, (left, right) in enumerate(zip(got_lines, want_lines, strict=False), start=1):
        if left != right:
            column = len(os.path.commonprefix([left, right]))
            window = slice(max(0, column - 40), column + 60)
            return f"line {number} column {column + 1}: got {left[window]!r}, want {right[window]!r}"
    if len(got_lines) != len(want_lines):
        return f"got {len(got_lines)} lines, want {len(want_lines)}"
    return None


def check_wire(dump: Dump) -> str | None:
    from pypto_tmpl import ir

    raw = dump.path.read_bytes()
    again = ir.serialize(ir.deserialize(raw))
    if again == raw:
        return None
    at = len(os.path.commonprefix([again, raw]))
    return f"bytes differ from offset {at} on ({len(raw)} decoded, {len(again)} encoded)"


def check_print(dump: Dump) -> str | None:
    from pypto_tmpl import ir

    text = ir.python_print(ir.deserialize_from_file(str(dump.path)), format=False)
    return text_difference(text, dump.path.with_suffix(".py").read_text(encoding="utf-8"))


def check_text(dump: Dump) -> str | None:
    import pypto_tmpl.language as pl
    from pypto_tmpl import ir

    node = pl.loads(str(dump.path))
    again = ir.python_print(node, format=False)
    if why := text_difference(again, dump.path.read_text(encoding="utf-8")):
        return f"printed again: {why}"
    binary = dump.path.with_suffix(".msgpack")
    if not binary.exists() or dump.is_excused("text"):
        return None
    if ir.structural_equal(node, ir.deserialize_from_file(str(binary))):
        return None
    return f"not structurally equal to {binary.name}"


def check_run(dump: Dump) -> str | None:
    import pypto_tmpl.language as pl
    from pypto_tmpl import ir
    from pypto_tmpl.debug import torch_codegen

    if dump.is_excused("run") or load_program(dump.program_path).golden is None:
        return None
    is_text = dump.path.suffix == ".py"
    node = pl.loads(str(dump.path)) if is_text else ir.deserialize_from_file(str(dump.path))
    return run_script(torch_codegen(node, check_shapes=True), dump)


def run_script(script: str, dump: Dump) -> str | None:
    """Execute an emitted script and compare its entry function with the program's golden."""
    program = load_program(dump.program_path)
    namespace: dict[str, Any] = {"__name__": "emitted_script"}
    exec(compile(script, f"<emitted {dump.label}>", "exec"), namespace)
    if program.entry not in namespace:
        return f"the script defines no {program.entry}"
    return compare_with_golden(program, namespace[program.entry])


CHECKS: Mapping[str, Callable[[Dump], str | None]] = {
    "wire": check_wire,
    "print": check_print,
    "text": check_text,
    "run": check_run,
}


def failure_reason(what: str, dump: Dump) -> str | None:
    """Return why the check fails on the dump, an exception included, or None where it holds."""
    try:
        return CHECKS[what](dump)
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {lines[0]}"[:300]


def _worker_start() -> None:
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)


def _worker_task(task: tuple[str, Dump]) -> str | None:
    return failure_reason(*task)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=list(CHECKS))
    parser.add_argument("--corpus", type=Path, default=default_corpus(), help="default: %(default)s")
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="part of <program>/<backend>/<dump>")
    parser.add_argument("--source", choices=["py", "msgpack"], help="dumps that run reads (default: py)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--seconds", type=float, default=SECONDS_PER_DUMP, help="limit of a dump")
    options = parser.parse_args(arguments)
    if options.source and options.what != "run":
        parser.error("--source goes with run only")
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")

    suffix = f".{options.source}" if options.source else SUFFIXES[options.what]
    dumps = find_dumps(options.corpus.resolve(), suffix, options.only)
    if not dumps:
        print(f"no {suffix} dump under {options.corpus / 'dumps'} has {options.only!r} in its path")
        return 1
    began = time.perf_counter()
    tasks = [(options.what, dump) for dump in dumps]
    jobs = min(options.jobs, len(tasks))
    reasons = run_all(_worker_task, tasks, jobs, options.seconds, _worker_start)
    failed = 0
    for dump, reason in zip(dumps, reasons, strict=True):
        if reason is not None:
            failed += 1
            print(f"{dump}: {reason}", flush=True)
    print(f"{options.what} {suffix}: {time.perf_counter() - began:.1f} s with {jobs} processes")
    print(f"{len(dumps) - failed}/{len(dumps)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
