"""Check the op table against recorded inputs and outputs of an independent model of the instructions.

Every record becomes IR, with the recorded operand and result types, then a script; what that gives is
compared with the recorded numbers in the cells that are defined. One line is printed for every op that
fails, with the reason of its first failure. The last lines:

* ``adopted``: records of what the specification leaves open and the project decided to have likewise;
* ``no``: records that contradict the specification, checked against the value that it gives;
* OK/TOTAL: records that agree with the specification.

Exit status: 0 if all hold, 1 if one does not or nothing was checked, 2 on wrong usage.
"""

import argparse
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

import torch
from oracle_calls import results_of
from oracle_records import Record, disagreement, load_records
from process_pool import run_all

SECONDS_PER_RECORD = 60.0
STANDINGS = ("adopted", "no", "yes")


def default_oracle() -> Path:
    """The oracle that PYPTO_TMPL_ORACLE names, else the one beside the repository, else its own sample."""
    named = os.environ.get("PYPTO_TMPL_ORACLE")
    if named:
        return Path(named)
    tests = Path(__file__).resolve().parent
    beside = tests.parents[1] / "shared" / "oracle"
    return beside if beside.is_dir() else tests / "oracle"


def failure_reason(record: Record) -> str | None:
    """How the op's emitted script differs from the record, an exception included, or None."""
    try:
        results = results_of(record)
        for name, got in results.items():
            if why := _difference(record, name, got):
                return f"{name}: {why}"
    except (Exception, SystemExit) as error:
        lines = str(error).strip().splitlines() or [""]
        return f"{type(error).__name__}: {' '.join(lines[:2])}"[:300]
    return None


def _difference(record: Record, name: str, got: object) -> str | None:
    value = record.outputs[name]
    if not isinstance(got, torch.Tensor):
        return f"a {type(got).__name__} instead of a tensor"
    want, cells = record.expected(value), record.defined_cells(value)
    if record.op in ("tile.slice", "tile.extract") and name != "input":
        window = tuple(slice(0, extent) for extent in got.shape)  # what they give is smaller than the buffer
        if bool(cells.sum() != cells[window].sum()):
            return f"shape {[*got.shape]}, want {value.valid}"
        want, cells = want[window], cells[window]
    return disagreement(got, want, cells, record.compare)


def _worker_start() -> None:
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--oracle", type=Path, default=default_oracle(), help="default: %(default)s")
    parser.add_argument("--op", action="append", metavar="NAME", help="only this op (may be repeated)")
    parser.add_argument("--all-failures", action="store_true", help="a line for every record that fails")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--seconds", type=float, default=SECONDS_PER_RECORD, help="limit of a record")
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error("--jobs must be at least 1")
    if not (options.oracle / "manifest.yaml").is_file():
        parser.error(f"{options.oracle} holds no manifest.yaml")

    records = [record for record in load_records(options.oracle.resolve()) if record.standing is not None]
    known = {record.op for record in records}
    wanted = {name if "." in name else f"tile.{name}" for name in options.op or known}
    if unknown := wanted - known:
        parser.error(f"the oracle has no record of {', '.join(sorted(unknown))}")
    records = [record for record in records if record.op in wanted]
    if not records:
        print("0/0")
        return 1
    began = time.perf_counter()
    jobs = min(options.jobs, len(records))
    reasons = run_all(failure_reason, records, jobs, options.seconds, _worker_start)
    failures = report(records, reasons, every=options.all_failures)
    print(f"{time.perf_counter() - began:.1f} s with {jobs} processes")
    for standing in STANDINGS:
        total = sum(record.standing == standing for record in records)
        figure = f"{total - failures[standing]}/{total}"
        print(figure if standing == "yes" else f"{standing}: {figure}")
    return 1 if failures.total() else 0


def report(records: list[Record], reasons: object, *, every: bool) -> Counter[str]:
    """Print what fails, per op or per record; how many records fail of each standing."""
    failures: Counter[str] = Counter()
    by_op: defaultdict[str, list[tuple[Record, str]]] = defaultdict(list)
    totals = Counter(record.op for record in records)
    for record, reason in zip(records, reasons, strict=True):
        if reason is None:
            continue
        failures[record.standing or ""] += 1
        by_op[record.op].append((record, reason))
        if every:
            print(f"{record.op} {record.id} ({record.standing}): {reason}", flush=True)
    for op, failed in sorted(by_op.items()):
        first, reason = failed[0]
        print(f"{op}: {len(failed)} of {totals[op]} fail; {first.id}: {reason}", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
