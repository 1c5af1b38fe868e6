"""Hunt for each of the seeded faults, one at a time, and print which were found, how soon and how small.

    python tests/hunt/score.py [--seconds 180] [--only TEXT] [--jobs 2]

A fault counts as found when a report names the pass that it was put into. What a hunt without a seeded fault
finds is left out (KNOWN).
"""

import argparse
import multiprocessing
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hunt.seeded import FAULTS, Seeded

from pypto_tmpl.hunt.hunting import Progress, hunt
from pypto_tmpl.hunt.options import Options
from pypto_tmpl.hunt.record import Found

# Carries of kernels that are split over lanes (docs/hunting.md).
KNOWN = (
    "MemoryReuse / storage / tile.move",
    "MemoryReuse / storage / tile.add",
    "MemoryReuse / storage / tile.store",
    "* / text / *",
    "* / refused / *",
)


class _Enough(Exception):
    """The seeded fault was found."""


def score(fault: Seeded, seconds: float, jobs: int) -> tuple[Found | None, float]:
    """The report that names the pass of a fault, None if there is none, and after how many seconds."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="hunt-score-"))
    found: list[Found] = []

    def tell(progress: Progress) -> None:
        report = progress.fault
        if report is not None and report.fault.finding.pass_name == fault.stage:
            found.append(report)
            raise _Enough

    # Forked, since the fault is in this process: what executes has to have it, too.
    context = multiprocessing.get_context("fork")
    with fault.at_work(), ProcessPoolExecutor(jobs, mp_context=context) as executor:
        options = Options(
            seconds=seconds, executor=executor, shrink_seconds=45, ignored=KNOWN, jobs=jobs, batch=4
        )
        try:
            hunt(folder, options, progress=tell)
        except _Enough:
            pass
        finally:
            executor.shutdown(cancel_futures=True)
    shutil.rmtree(folder)
    return (found[0] if found else None), time.monotonic() - began


def main(arguments: list[str] | None = None) -> int:
    """Print the table, as a command. Returns 0 if at least 21 of 24 were found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=180.0, help="for each fault")
    parser.add_argument("--only", default="", help="part of a name, or of a pass")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    chosen = [fault for fault in FAULTS if given.only in f"{fault.name} {fault.stage}"]
    good = 0
    print("| pass | fault | kind | found as | after | statements |\n| --- | --- | --- | --- | --- | --- |")
    for fault in chosen:
        found, seconds = score(fault, given.seconds, given.jobs)
        good += found is not None
        told = ("not found", "", "")
        if found is not None:
            wrong, op = found.fault.finding.wrong, found.fault.finding.op
            counts = "{1} of {0}".format(*found.fault.statements)
            told = (f"{wrong}, `{op}`" if op else wrong, f"{seconds:.0f} s", counts)
        print(f"| {fault.stage} | {fault.name} | {fault.kind} | {' | '.join(told)} |", flush=True)
    print(f"{good}/{len(chosen)}")
    return int(good * len(FAULTS) < 21 * len(chosen))


if __name__ == "__main__":
    sys.exit(main())
