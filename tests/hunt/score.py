"""Hunt for each of the seeded faults, one at a time, and print which were found, how soon and how small.

    python tests/hunt/score.py [--seconds 360] [--only TEXT] [--jobs 1] [--every 2 --from 0]

A fault counts as found when a report names the pass that it was put into, with a smaller program than was
drawn. Time is that of processors, whatever else the machine does: 360 seconds are 3 minutes on 2 cores.
Programs are of all kinds, as a hunt draws them.
"""

import argparse
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from hunt.seeded import FAULTS, Seeded

from pypto_tmpl.hunt.hunting import Progress, hunt
from pypto_tmpl.hunt.options import Options
from pypto_tmpl.hunt.record import Found

_HEAD = (
    "| pass | fault | kind | found as | processor | clock | programs | statements |\n" + "| --- " * 8 + "|"
)
_TICKS = os.sysconf("SC_CLK_TCK")


class _Enough(Exception):
    """The seeded fault was found, or it has taken too long."""


@dataclass(slots=True)
class Score:
    """What a hunt for one fault came to; ``others`` are reports that name another pass."""

    report: Found | None = None
    processor: float = 0.0
    clock: float = 0.0
    programs: int = 0
    others: list[str] = field(default_factory=list)

    @property
    def is_good(self) -> bool:
        """Whether the fault was found, and the program made smaller."""
        drawn, shrunk = self.report.fault.statements if self.report is not None else (0, 0)
        return shrunk < drawn


def score(fault: Seeded, seconds: float, jobs: int) -> Score:
    """Hunt for a fault up to the first report that names its pass, for so many seconds of processors."""
    began, used = time.monotonic(), time.process_time()
    folder = Path(tempfile.mkdtemp(prefix="hunt-score-"))
    found = Score()

    def tell(progress: Progress) -> None:
        found.processor = time.process_time() - used + _processor_time(executor)
        found.programs = max(found.programs, progress.programs)
        report = progress.fault if found.report is None else None  # what is cut short is not shrunk
        if report is not None and report.fault.finding.pass_name == fault.stage:
            found.report = report
        elif report is not None:
            found.others.append(str(report.fault.finding.signature))
        if found.report is not None or found.processor > seconds:
            raise _Enough

    # Forked, since the fault is in this process: what executes has to have it, too.
    context = multiprocessing.get_context("fork")
    with fault.at_work(), ProcessPoolExecutor(jobs, mp_context=context) as executor:
        options = Options(executor=executor, shrink_seconds=60, time_limit=120, jobs=jobs, batch=4)
        try:
            hunt(folder, options, progress=tell)
        except _Enough:
            pass
        finally:
            executor.shutdown(cancel_futures=True)
    shutil.rmtree(folder)
    found.clock = time.monotonic() - began
    return found


def _processor_time(executor: ProcessPoolExecutor) -> float:
    """Seconds that the workers have computed."""
    total = 0
    for pid in list(executor._processes or ()):
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        total += int(text[11]) + int(text[12])  # in the program, and in the system
    return total / _TICKS


def row(fault: Seeded, found: Score) -> str:
    """The line of the table."""
    report = found.report
    told, counts = "not found", ""
    if report is not None:
        wrong, op = report.fault.finding.wrong, report.fault.finding.op
        told = f"{wrong}, `{op}`" if op else wrong
        counts = "{1} of {0}".format(*report.fault.statements)
    times = f"{found.processor:.0f} s | {found.clock:.0f} s | {found.programs}"
    return f"| {fault.stage} | {fault.name} | {fault.kind} | {told} | {times} | {counts} |"


def main(arguments: list[str] | None = None) -> int:
    """Print the table, as a command. Returns 0 if at least 21 of 24 were found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=360.0, help="of processors, for each fault")
    parser.add_argument("--only", default="", help="part of a name, or of a pass")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1, help="only each Nth fault")
    parser.add_argument("--from", type=int, default=0, dest="first", help="from this one on")
    given = parser.parse_args(arguments)
    chosen = [fault for fault in FAULTS if given.only in f"{fault.name} {fault.stage}"]
    chosen = chosen[given.first :: given.every]
    sizes, good = [], {True: 0, False: 0}
    print(_HEAD)
    for fault in chosen:
        found = score(fault, given.seconds, given.jobs)
        print(row(fault, found), flush=True)
        for signature in found.others:
            print(f"    besides: {signature}", file=sys.stderr, flush=True)
        good[fault.was_missed] += found.is_good
        if found.report is not None:
            sizes.append(found.report.fault.statements[1])
    proof = [fault for fault in chosen if not fault.was_missed]
    print(f"\n{good[False]} of {len(proof)}, and {good[True]} of {len(chosen) - len(proof)} missed before")
    print(f"statements in the median: {median(sizes) if sizes else 0:g}")
    return int(good[False] * 24 < 21 * len(proof))


if __name__ == "__main__":
    sys.exit(main())
