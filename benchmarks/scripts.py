"""Lines of scripts, of the program and of the helpers, over a corpus of real dumps.

    python benchmarks/scripts.py [--corpus DIR] [--preamble script|import] [--check-shapes] [--format]

DIR holds dumps/ (default: $PYPTO_TMPL_CORPUS, else tests/corpus). Formatting is slow, and left out without
--format.
"""

import argparse
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pypto_tmpl import ir  # noqa: E402
from pypto_tmpl.debug import torch_codegen  # noqa: E402

HELPERS = "\n# Run-time helpers follow"
IS_MIXED = "_cross_core_rt"  # what scripts with pipes between cores name


def row(name: str, counts: Sequence[int]) -> str:
    """How many scripts, and their median, mean and largest number of lines."""
    if not counts:
        return f"{name:28}{0:8}"
    figures = f"{statistics.median(counts):9.0f}{statistics.mean(counts):9.0f}{max(counts):9}"
    return f"{name:28}{len(counts):8}{figures}"


def main() -> None:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=layout)
    default = os.environ.get("PYPTO_TMPL_CORPUS", ROOT / "tests/corpus")
    parser.add_argument("--corpus", type=Path, default=default)
    parser.add_argument("--preamble", choices=("script", "import"), default="script")
    parser.add_argument("--check-shapes", action="store_true")
    parser.add_argument("--format", action="store_true")
    options = parser.parse_args()
    whole: list[int] = []
    program: list[int] = []
    plain: list[int] = []
    mixed: list[int] = []
    for path in sorted(Path(options.corpus, "dumps").glob("*/*/*.msgpack")):
        node = ir.deserialize_from_file(str(path))
        script = torch_codegen(node, options.check_shapes, format=options.format, preamble=options.preamble)
        text, _, helpers = script.partition(HELPERS)
        whole.append(script.count("\n"))
        program.append(text.count("\n"))
        (mixed if IS_MIXED in script else plain).append(helpers.count("\n") + bool(helpers))
    print(f"{'lines':28}{'scripts':>8}{'median':>9}{'mean':>9}{'largest':>9}")
    print(row("whole script", whole))
    print(row("program", program))
    print(row("helpers, without pipes", plain))
    print(row("helpers, with pipes", mixed))
    print(f"share of program lines: {sum(program) / sum(whole):.1%}")


if __name__ == "__main__":
    main()
