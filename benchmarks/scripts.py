"""Lines of scripts, of the program and of the helpers, over a corpus of real dumps.

    python benchmarks/scripts.py [--corpus DIR] [--preamble script|import] [--check-shapes] [--format]

DIR holds dumps/ (default: $PYPTO_TMPL_CORPUS, else tests/corpus). Formatting is slow, and left out without
--format. Then the committed golden scripts that import their helpers: how many of their lines, but for empty
ones, say something of the program (docstring, functions, tables of groups), and are no imports or guards.
"""

import argparse
import ast
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


def lines_of(node: ast.stmt, lines: Sequence[str]) -> int:
    """The lines of a statement that are not empty."""
    return sum(bool(line.strip()) for line in lines[node.lineno - 1 : node.end_lineno])


def report_goldens(folder: Path) -> None:
    """Lines of golden scripts that import their helpers, and the part of them that is the program."""
    lengths: list[int] = []
    program = frame = 0
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "from pypto_tmpl.preamble import" not in text:
            continue
        lines = text.splitlines()
        lengths.append(len(lines))
        for stmt in ast.parse(text).body:
            if isinstance(stmt, ast.Import | ast.ImportFrom | ast.If):
                frame += lines_of(stmt, lines)
            else:
                program += lines_of(stmt, lines)
    print(row("golden scripts", lengths))
    print(f"share of their program: {program / (program + frame):.1%}")


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
    report_goldens(ROOT / "golden_scripts")


if __name__ == "__main__":
    main()
