"""``python -m debug.faults --seed 1 --out DIR``: write the thirty faults of a seed as dump directories."""

import argparse
from pathlib import Path

from debug.faults import draw


def main() -> None:
    parser = argparse.ArgumentParser(prog="debug.faults", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where to write them; without it they are listed"
    )
    options = parser.parse_args()
    for fault in draw(options.seed):
        print(f"{fault.name}  {fault.stage}  {fault.function}:{fault.line}  {fault.how}  ({fault.outcome})")
        if options.out is not None:
            fault.write(options.out / fault.name)


if __name__ == "__main__":
    main()
