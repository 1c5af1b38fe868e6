"""Look for inputs that crash or hang a reader: ``make fuzz SECONDS=3600``.

Dumps of tests/corpus are changed and read, printed, verified and written again by processes with limits
on time and memory. An input passes when it is read or refused with the reader's own error. Every other
outcome is printed once per place where it happens; its smallest input is written to tests/fuzz_inputs/,
where the tests read it from then on. Exit status 1 if there was any.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import sys
import time

from fuzz.inputs import FOUND, FOUND_SUFFIXES
from fuzz.runner import Finding, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=None, help="default: the time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    parser.add_argument("--first", type=int, default=0, metavar="INDEX", help="number of the first input")
    parser.add_argument("--minimise", type=float, default=60.0, metavar="SECONDS", help="limit per finding")
    options = parser.parse_args()
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"seed {seed}, {options.seconds:g} s, {options.jobs} processes", flush=True)
    began = time.monotonic()
    state = run(seed, options.seconds, options.jobs, _keep, options.first, options.minimise)
    found = sorted(state.findings.values(), key=lambda finding: finding.index)
    today = datetime.date.today().isoformat()
    print(
        f"{today}, Python {platform.python_version()}, seed {seed}, {time.monotonic() - began:.0f} s: "
        f"{state.tried} inputs, {len(found)} distinct failures"
    )
    for finding in found:
        print(f"  {finding.count:6} x {finding.failure.signature} (first: input {finding.index})")
    return 1 if found else 0


def _keep(finding: Finding) -> None:
    FOUND.mkdir(exist_ok=True)
    path = FOUND / (finding.name + FOUND_SUFFIXES[finding.kind])
    path.write_bytes(finding.data)
    print(f"--- input {finding.index}: {finding.failure.signature}\n    {path}", flush=True)
    print("    " + finding.failure.details.strip().replace("\n", "\n    ")[-1500:], flush=True)


if __name__ == "__main__":
    sys.exit(main())
